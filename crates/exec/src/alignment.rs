//! Accesses at addresses that their type does not allow.
//!
//! *Idea*: a load or store says what its address must be a multiple of. Every object lies at a multiple of 16, so that
//! the offset decides, except for objects with a smaller guaranteed alignment: those may have another address, where
//! the access is misaligned. These address layouts are cut like others that are not explored (`address_dependence.rs`).
//! Functions of the C library are not looked at.

use crate::access::{AccessKind, AccessWords as _, ResolvedLocation};
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use crate::multi_target_access::ResolvedAccess;
use pleach_expr::{TermId, Terms};
use pleach_memory::symbolic::trailing_zeros;
use pleach_memory::{ObjId, ObjectKind, Value};
use pleach_state::{ErrorKind, State};

/// What an access needs.
#[derive(Clone, Copy)]
pub(crate) struct Wanted {
    pub bytes: u64,
    pub purpose: AccessKind,
    /// the address is a multiple of 2^align
    pub align: u8,
}

impl Machine {
    /// Where an access goes, if its address is aligned.
    pub(crate) fn locate_aligned(&mut self, st: &mut State, p: Value, wanted: Wanted) -> StepResult<ResolvedAccess> {
        let located = self.find(st, p, wanted.bytes, wanted.purpose)?;
        if wanted.align > 0 {
            self.require_aligned(st, &located, wanted)?;
        }
        self.record_located(st, &located, wanted.bytes);
        Ok(located)
    }

    fn require_aligned(&mut self, st: &mut State, located: &ResolvedAccess, wanted: Wanted) -> StepResult<()> {
        match located {
            ResolvedAccess::One(ResolvedLocation::At { obj, off }) => {
                let address = st.memory.address(*obj).wrapping_add(*off);
                if address & ((1 << wanted.align) - 1) != 0 {
                    return Err(Flow::error(ErrorKind::Misaligned, self.misaligned(st, *obj, Some(*off), wanted)));
                }
                self.mind_alignment(st, *obj, wanted.align)
            }
            ResolvedAccess::One(ResolvedLocation::Symbolic { obj, off }) => {
                self.aligned_under(st, Terms::TRUE, *obj, *off, wanted)
            }
            ResolvedAccess::One(ResolvedLocation::Piece { obj, piece, off }) => {
                let start = self.terms.constant(self.terms.width(*off), piece.start);
                let off = self.terms.add(*off, start);
                self.aligned_under(st, Terms::TRUE, *obj, off, wanted)
            }
            ResolvedAccess::MayPointTo { targets, .. } => {
                for &(guard, obj, off) in targets.iter() {
                    self.aligned_under(st, guard, obj, off, wanted)?;
                }
                Ok(())
            }
        }
    }

    /// Where the guard holds, the offset is aligned.
    fn aligned_under(
        &mut self,
        st: &mut State,
        guard: TermId,
        obj: ObjId,
        off: TermId,
        wanted: Wanted,
    ) -> StepResult<()> {
        let low = st.memory.address(obj) & ((1 << wanted.align) - 1);
        if low != 0 || trailing_zeros(&self.terms, off) < u16::from(wanted.align) {
            let low = self.terms.constant(self.terms.width(off), low);
            let sum = self.terms.add(off, low);
            let bits = self.terms.extract(sum, 0, wanted.align.into());
            let zero = self.terms.constant(wanted.align.into(), 0);
            let aligned = self.terms.eq(bits, zero);
            let ok = self.terms.implies(guard, aligned);
            if ok != Terms::TRUE {
                let message = self.misaligned(st, obj, self.terms.as_const(off), wanted);
                self.require(st, ok, ErrorKind::Misaligned, || message)?;
            }
        }
        self.mind_alignment(st, obj, wanted.align)
    }

    fn misaligned(&self, st: &State, obj: ObjId, off: Option<u64>, wanted: Wanted) -> String {
        let what = self.describe(st, obj);
        let at = off.map_or_else(|| format!("in {what}"), |off| format!("at offset {off} of {what}"));
        let (verb, bytes) = (wanted.purpose.verb(), wanted.bytes);
        format!("{verb} of {bytes} bytes {at}, whose address is no multiple of {}", 1 << wanted.align)
    }

    /// An object that is promised less alignment may lie where the access is wrong.
    fn mind_alignment(&mut self, st: &mut State, obj: ObjId, align: u8) -> StepResult<()> {
        let Some(o) = st.memory.header(obj) else { return Ok(()) };
        if o.align >= 1 << align || matches!(o.kind, ObjectKind::Fixed | ObjectKind::Segment) {
            return Ok(());
        }
        if self.config.fixed_layout {
            return Ok(());
        }
        let what = self.describe(st, obj);
        self.depend_on_place(st, &format!("where {what} lies in memory, which decides whether an access is aligned"))
    }
}
