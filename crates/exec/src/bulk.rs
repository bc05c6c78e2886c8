//! Copying and filling ranges of memory.

use crate::access::{AccessKind, ResolvedLocation, note, size_bound};
use crate::flow::StepResult;
use crate::machine::Machine;
use crate::multi_target_access::ResolvedAccess;
use crate::overlap::Overlap;
use pleach_expr::TermId;
use pleach_ir::Inst;
use pleach_memory::constant_offsets::Offsets;
use pleach_memory::symbolic::trailing_zeros;
use pleach_memory::{ObjId, Value};
use pleach_state::{Access, State};

/// Bytes at symbolic offsets between two polls of the limits.
const SOME: u64 = 256;
/// A length that is a choice between more constants than this is concretised.
const MAX_LENGTHS: usize = 64;

impl Machine {
    pub(crate) fn bulk(&mut self, consts: &[Value], st: &mut State, inst: &Inst) -> StepResult<()> {
        match *inst {
            Inst::MemCopy { mov, dst, src, len, len_width } => {
                let n = self.value(st, consts, len, len_width);
                let d = self.value(st, consts, dst, self.pointer_bits());
                let s = self.value(st, consts, src, self.pointer_bits());
                self.copy_bytes(st, d, s, (n, len_width), self.may_overlap(mov))
            }
            Inst::MemSet { dst, byte, len, len_width } => {
                let n = self.value(st, consts, len, len_width);
                let d = self.value(st, consts, dst, self.pointer_bits());
                let b = self.value(st, consts, byte, 8);
                self.fill_bytes(st, d, b, n, len_width)
            }
            _ => unreachable!("dispatched by family"),
        }
    }

    /// `memmove`; a length that is not known is decided first, unless the range is short.
    pub(crate) fn copy_bytes(
        &mut self,
        st: &mut State,
        d: Value,
        s: Value,
        (n, w): (Value, u16),
        overlap: Overlap,
    ) -> StepResult<()> {
        for v in [d, s, n] {
            self.mind_unwritten(st, v, "the range of a copy")?;
        }
        if let Value::Term(t) = n
            && let Some(access) = self.copy_guarded(st, d, s, t, overlap)?
        {
            note(st, || access);
            return Ok(());
        }
        let n = self.each_length(st, n, w, "the length of a memory copy")?;
        if n == 0 {
            note(st, || Access::Empty);
            return Ok(());
        }
        let (from, to) = self.locate_ranges(st, s, d, n)?;
        if overlap == Overlap::Error {
            self.require_disjoint(st, &to, &from, n)?;
        }
        let (from, to) = match (from, to) {
            (ResolvedAccess::One(from), ResolvedAccess::One(to)) => (from, to),
            (from, to) => {
                self.copy_may_point_to(st, &from, &to, n);
                return Ok(());
            }
        };
        match (from, to) {
            (ResolvedLocation::At { obj: so, off: soff }, ResolvedLocation::At { obj: dobj, off: doff }) => {
                let access = Access::Copy { to: dobj, to_off: doff, from: so, from_off: soff, len: n };
                self.note_bulk(st, &[dobj, so], access);
                self.copy_contents(st, (dobj, doff), (so, soff), n);
                Ok(())
            }
            _ => {
                self.note_copy(st, to, from, n);
                // A symbolic offset on one side: byte by byte, all reads before the writes.
                let mut bytes: Vec<Value> = Vec::new();
                for i in 0..n {
                    if i % SOME == SOME - 1 && self.terms.brake.pulled() {
                        return Ok(());
                    }
                    bytes.push(self.read_byte(st, from, i));
                }
                for (i, b) in bytes.into_iter().enumerate() {
                    if i as u64 % SOME == SOME - 1 && self.terms.brake.pulled() {
                        return Ok(());
                    }
                    let at = self.shifted(to, i as u64);
                    self.write_place(st, at, 1, b);
                }
                Ok(())
            }
        }
    }

    /// One length on this path. As states with different lengths become one, so one with a choice between few of them
    /// is split again; else others are cut.
    fn each_length(&mut self, st: &mut State, n: Value, w: u16, what: &str) -> StepResult<u64> {
        let choice = if let Value::Term(t) = n { Offsets::of(&self.terms, t) } else { None };
        match choice {
            Some(lengths) if lengths.leaves(&|_| true).len() <= MAX_LENGTHS => self.each_value(st, n, w, what),
            _ => self.concretize(st, n, w, what),
        }
    }

    /// Copies `n` bytes that both objects have, from `so` to `dobj`, at these offsets.
    pub(crate) fn copy_contents(
        &mut self,
        st: &mut State,
        (dobj, doff): (ObjId, u64),
        (so, soff): (ObjId, u64),
        n: u64,
    ) {
        let Some((source, sw)) = st.memory.contents(so) else { return };
        let mut snapshot = source.clone();
        if let Some((target, dw)) = st.memory.contents_mut(dobj) {
            let (to, from) = (dw.start + doff, sw.start + soff);
            target.copy_from(&mut self.terms, to, &mut snapshot, from, n, so);
        }
        // Bytes that were decided in the snapshot are decided in the source as well.
        let decided = st.memory.contents(so).is_some_and(|(source, _)| !source.same_backgrounds(&snapshot));
        if decided && let Some((source, _)) = st.memory.contents_mut(so) {
            source.adopt_backgrounds(&snapshot);
        }
    }

    /// A copy whose length is not known; `None` if it must be decided first.
    fn copy_guarded(
        &mut self,
        st: &mut State,
        d: Value,
        s: Value,
        n: TermId,
        overlap: Overlap,
    ) -> StepResult<Option<Access>> {
        let Some(n) = self.open_length(st, n) else { return Ok(None) };
        let Some(from) = self.range_end(st, s, n, AccessKind::Read)? else { return Ok(None) };
        let Some(to) = self.range_end(st, d, n, AccessKind::Write)? else { return Ok(None) };
        if overlap == Overlap::Error
            && let Some((to, from)) = self.offsets_in_one(d, s)
        {
            self.require_far(st, to, from, n)?;
        }
        let Some(most) = self.guarded_length(st, n, from.room.min(to.room)) else { return Ok(None) };
        if self.has_pointers(st, &from, most) || self.has_pointers(st, &to, most) {
            return Ok(None);
        }
        let access = Access::CopyUpTo { to: to.start(st), from: from.start(st), most };
        let disjoint = !self.is_segment(st, to.obj) && !self.is_segment(st, from.obj);
        let from = ResolvedLocation::At { obj: from.obj, off: from.off };
        let bytes: Vec<Value> = (0..most).map(|i| self.read_byte(st, from, i)).collect();
        self.write_guarded(st, &to, n, &bytes);
        Ok(Some(if disjoint { access } else { Access::Opaque }))
    }

    fn fill_guarded(&mut self, st: &mut State, d: Value, byte: Value, n: TermId) -> StepResult<Option<Access>> {
        let Some(n) = self.open_length(st, n) else { return Ok(None) };
        let Some(to) = self.range_end(st, d, n, AccessKind::Write)? else { return Ok(None) };
        let Some(most) = self.guarded_length(st, n, to.room) else { return Ok(None) };
        if self.has_pointers(st, &to, most) {
            return Ok(None);
        }
        self.write_guarded(st, &to, n, &vec![byte; most as usize]);
        let disjoint = !self.is_segment(st, to.obj);
        Ok(Some(if disjoint { Access::FillUpTo { to: to.start(st), most } } else { Access::Opaque }))
    }

    /// The length as the path knows it, if that is no number.
    fn open_length(&mut self, st: &mut State, n: TermId) -> Option<TermId> {
        let address_free = self.substitute_addresses(st, n);
        self.terms.as_const(address_free).is_none().then_some(address_free)
    }

    fn note_copy(&mut self, st: &mut State, to: ResolvedLocation, from: ResolvedLocation, len: u64) {
        let mut whole = len.is_power_of_two() && len <= 8;
        let mut parts = |place: ResolvedLocation| match place {
            ResolvedLocation::At { obj, off } => (obj, Some(off)),
            ResolvedLocation::Symbolic { obj, off } => {
                whole &= u64::from(trailing_zeros(&self.terms, off)) >= u64::from(len.trailing_zeros());
                (obj, None)
            }
            ResolvedLocation::Piece { obj, .. } => {
                whole = false;
                (obj, None)
            }
        };
        let ((to, to_off), (from, from_off)) = (parts(to), parts(from));
        let from_size = size_bound(st, from);
        self.note_bulk(st, &[to, from], Access::CopyWithin { to, to_off, from, from_off, from_size, len, whole });
    }

    /// What happens in a segment may happen to any member.
    fn note_bulk(&mut self, st: &mut State, objects: &[ObjId], access: Access) {
        let disjoint = objects.iter().all(|o| !self.is_segment(st, *o));
        note(st, || if disjoint { access } else { Access::Opaque });
    }

    fn read_byte(&mut self, st: &mut State, place: ResolvedLocation, i: u64) -> Value {
        let at = self.shifted(place, i);
        self.read_place(st, at, 1)
    }

    pub(crate) fn shifted(&mut self, place: ResolvedLocation, i: u64) -> ResolvedLocation {
        match place {
            ResolvedLocation::At { obj, off } => ResolvedLocation::At { obj, off: off + i },
            ResolvedLocation::Symbolic { obj, off } => {
                let k = self.terms.constant(self.terms.width(off), i);
                ResolvedLocation::Symbolic { obj, off: self.terms.add(off, k) }
            }
            ResolvedLocation::Piece { obj, piece, off } => {
                let k = self.terms.constant(self.terms.width(off), i);
                ResolvedLocation::Piece { obj, piece, off: self.terms.add(off, k) }
            }
        }
    }

    pub(crate) fn fill_bytes(&mut self, st: &mut State, d: Value, byte: Value, n: Value, w: u16) -> StepResult<()> {
        if let Value::Term(t) = n
            && let Some(access) = self.fill_guarded(st, d, byte, t)?
        {
            note(st, || access);
            return Ok(());
        }
        let n = self.each_length(st, n, w, "the length of a memory fill")?;
        if n == 0 {
            note(st, || Access::Empty);
            return Ok(());
        }
        let place = match self.locate_range(st, d, n, AccessKind::Write)? {
            ResolvedAccess::One(place) => place,
            to => {
                self.fill_may_point_to(st, &to, byte, n);
                return Ok(());
            }
        };
        match place {
            ResolvedLocation::At { obj, off } => {
                self.note_bulk(st, &[obj], Access::Fill { obj, off, len: n });
                if let Some((contents, w)) = st.memory.contents_mut(obj) {
                    contents.fill(&mut self.terms, w.start + off, n, byte);
                }
            }
            place => {
                let (ResolvedLocation::At { obj, .. }
                | ResolvedLocation::Symbolic { obj, .. }
                | ResolvedLocation::Piece { obj, .. }) = place;
                self.note_bulk(st, &[obj], Access::FillWithin { obj, len: n });
                for i in 0..n {
                    if i % SOME == SOME - 1 && self.terms.brake.pulled() {
                        return Ok(());
                    }
                    let at = self.shifted(place, i);
                    self.write_place(st, at, 1, byte);
                }
            }
        }
        Ok(())
    }
}
