//! `memcpy`, and functions that copy strings, between ranges that overlap.
//!
//! A copy of a range onto itself is let through: the compiler writes `*p = *q` so, and there it is allowed.

use crate::access::{AccessKind, ResolvedLocation};
use crate::flow::StepResult;
use crate::machine::Machine;
use crate::models::{Call, text::Reads};
use crate::multi_target_access::ResolvedAccess;
use pleach_expr::{TermId, Terms};
use pleach_memory::{ObjId, Value};
use pleach_semantics::disjoint;
use pleach_state::{ErrorKind, State};

/// Whether the ranges of a copy may have bytes in common.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overlap {
    Allowed,
    Error,
}

impl Machine {
    /// `mov`: of `memmove`. KLEE's `memcpy` goes from byte to byte.
    pub(crate) fn may_overlap(&self, mov: bool) -> Overlap {
        if mov || !self.config.rules.check_overlap { Overlap::Allowed } else { Overlap::Error }
    }

    /// The ranges of `n` bytes at these places do not overlap.
    pub(crate) fn require_disjoint(
        &mut self,
        st: &mut State,
        to: &ResolvedAccess,
        from: &ResolvedAccess,
        n: u64,
    ) -> StepResult<()> {
        let (to, from) = match (to, from) {
            (ResolvedAccess::One(to), ResolvedAccess::One(from)) => (self.offset_in(*to), self.offset_in(*from)),
            (to, from) => return self.require_disjoint_targets(st, to, from, n),
        };
        if to.0 != from.0 {
            return Ok(());
        }
        let n = self.terms.constant(self.pointer_bits(), n);
        self.require_far(st, to.1, from.1, n)
    }

    /// The offsets lie in one object.
    pub(crate) fn require_far(&mut self, st: &mut State, to: TermId, from: TermId, n: TermId) -> StepResult<()> {
        let ok = disjoint(&mut self.terms, to, from, n);
        self.require(st, ok, ErrorKind::Overlap, || "memcpy between ranges that overlap".into())
    }

    /// Through pointers with multiple targets: wherever both are in one object.
    fn require_disjoint_targets(
        &mut self,
        st: &mut State,
        to: &ResolvedAccess,
        from: &ResolvedAccess,
        n: u64,
    ) -> StepResult<()> {
        let n = self.terms.constant(self.pointer_bits(), n);
        for (to_guard, to_obj, to_off) in self.goals(to) {
            for (from_guard, from_obj, from_off) in self.goals(from) {
                if to_obj == from_obj {
                    let both = self.terms.and(to_guard, from_guard);
                    let separate = disjoint(&mut self.terms, to_off, from_off, n);
                    let ok = self.terms.implies(both, separate);
                    self.require(st, ok, ErrorKind::Overlap, || "memcpy between ranges that overlap".into())?;
                }
            }
        }
        Ok(())
    }

    fn goals(&mut self, located: &ResolvedAccess) -> Vec<(TermId, ObjId, TermId)> {
        match located {
            ResolvedAccess::One(place) => {
                let (obj, off) = self.offset_in(*place);
                vec![(Terms::TRUE, obj, off)]
            }
            ResolvedAccess::MayPointTo { targets, .. } => targets.to_vec(),
        }
    }

    /// The object, and the offset in it as a term.
    fn offset_in(&mut self, place: ResolvedLocation) -> (ObjId, TermId) {
        let w = self.pointer_bits();
        match place {
            ResolvedLocation::At { obj, off } => (obj, self.terms.constant(w, off)),
            ResolvedLocation::Symbolic { obj, off } => (obj, off),
            ResolvedLocation::Piece { obj, piece, off } => {
                let start = self.terms.constant(w, piece.start);
                (obj, self.terms.add(off, start))
            }
        }
    }

    /// The arguments `to, n, from, m, who` of a call are ranges without a byte in common.
    pub(crate) fn require_disjoint_for(&mut self, st: &mut State, call: &Call, reads: &mut Reads) -> StepResult<()> {
        let w = self.pointer_bits();
        let mut ends = Vec::new();
        for i in [0, 2] {
            ends.push(match call.arg(i) {
                Value::Ptr { obj, off } => (obj, self.terms.constant(w, off as u64)),
                _ => {
                    reads.depend();
                    let purpose = if i == 0 { AccessKind::Write } else { AccessKind::Read };
                    let place = self.place(st, call.arg(i), 1, purpose)?;
                    self.offset_in(place)
                }
            });
        }
        let [(to_obj, to), (from_obj, from)] = ends[..] else { return Ok(()) };
        reads.rests_on(st, call, &[0, 2], &[1, 3]);
        if to_obj != from_obj {
            return Ok(());
        }
        let [n, m] = [1, 3].map(|i| self.term(st, call.arg(i), w));
        let (ahead, behind) = (self.terms.sub(from, to), self.terms.sub(to, from));
        let (before, after) = (self.terms.ule(n, ahead), self.terms.ule(m, behind));
        let ok = self.terms.and(before, after);
        let who = self.c_string(st, call.arg(4)).unwrap_or_else(|| "a copy".into());
        self.require(st, ok, ErrorKind::Overlap, || format!("{who} between ranges that overlap"))
    }

    /// Both pointers are into one object: their offsets.
    pub(crate) fn offsets_in_one(&mut self, d: Value, s: Value) -> Option<(TermId, TermId)> {
        match (d, s) {
            (Value::Ptr { obj, off: to }, Value::Ptr { obj: other, off: from }) if obj == other => {
                let w = self.pointer_bits();
                Some((self.terms.constant(w, to as u64), self.terms.constant(w, from as u64)))
            }
            _ => None,
        }
    }
}
