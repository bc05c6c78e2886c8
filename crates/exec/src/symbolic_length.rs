//! Copying and filling a range whose length is not known.
//!
//! *Idea*: where the range cannot be longer than a bound, byte i of it becomes `ite(i < n, new, old)`, for every i
//! below the bound: one path for all lengths. A length beyond either object is an error of its own. *Direction*: loses
//! nothing. Beyond the bound, or where pointers would be split into bytes, the caller concretises the length and
//! reports it.

use crate::access::{AccessKind, AccessWords as _, ResolvedLocation};
use crate::flow::{Flow, Step, StepResult};
use crate::machine::Machine;
use pleach_expr::{TermId, Terms};
use pleach_memory::{ObjId, Value};
use pleach_state::{End, ErrorKind, RangeStart, State};

/// Longer ranges are not written byte by byte.
const MAX_SYMBOLIC_LENGTH: u64 = 256;

/// One end of a copy.
pub(crate) struct RangeEnd {
    pub obj: ObjId,
    pub off: u64,
    /// bytes up to the end of the object
    pub room: u64,
}

impl RangeEnd {
    /// As a trace has it.
    pub fn start(&self, st: &State) -> RangeStart {
        let sized = st.memory.header(self.obj).is_some_and(|o| o.size().is_symbolic());
        RangeStart { obj: self.obj, off: self.off, sized }
    }
}

impl Machine {
    /// An end of a range of `n` bytes; `None` if the length must be decided first. Where the range does not fit, the
    /// path splits.
    pub(crate) fn range_end(
        &mut self,
        st: &mut State,
        p: Value,
        n: TermId,
        purpose: AccessKind,
    ) -> StepResult<Option<RangeEnd>> {
        self.range_end_or(st, p, n, purpose, purpose.oob())
    }

    /// The same where a range that does not fit is another error.
    pub(crate) fn range_end_or(
        &mut self,
        st: &mut State,
        p: Value,
        n: TermId,
        purpose: AccessKind,
        beyond: ErrorKind,
    ) -> StepResult<Option<RangeEnd>> {
        let Value::Ptr { obj, off } = p else { return Ok(None) };
        let w = self.terms.width(n);
        let size = match self.live_size(st, obj, purpose) {
            Ok(size) => size,
            // Nothing is touched by no bytes.
            Err(Flow::Stop(Step::End(End::Error(e)))) => {
                let zero = self.terms.constant(w, 0);
                let none = self.terms.eq(n, zero);
                self.require(st, none, e.kind, || e.message)?;
                return Ok(Some(RangeEnd { obj, off: 0, room: 0 }));
            }
            Err(other) => return Err(other),
        };
        let room = u64::try_from(off).ok().and_then(|o| size.capacity().checked_sub(o)).unwrap_or(0);
        let mut fits = Terms::TRUE;
        if w >= 64 || room <= pleach_expr::mask(w) {
            let most = self.terms.constant(w, room);
            fits = self.terms.ule(n, most);
        }
        if size.is_symbolic() {
            // SOUND: `fits` keeps the sum from wrapping around; its width holds the capacity.
            let wide = w.max(self.pointer_bits());
            let length = self.terms.zext(n, wide);
            let start = self.terms.constant(wide, off.max(0) as u64);
            let end = self.terms.add(start, length);
            let size = size.term(&mut self.terms, wide);
            let inside = self.terms.ule(end, size);
            // A range of no bytes may begin behind the end: nothing is touched.
            let zero = self.terms.constant(w, 0);
            let none = self.terms.eq(n, zero);
            let inside = self.terms.or(none, inside);
            fits = self.terms.and(fits, inside);
        }
        let what = self.describe(st, obj);
        self.require(st, fits, beyond, || {
            format!("{} of a range that goes on beyond the end of {what}", purpose.verb())
        })?;
        Ok(Some(RangeEnd { obj, off: off.max(0) as u64, room }))
    }

    /// How many bytes may be written one by one: none if the length can be larger than that.
    pub(crate) fn guarded_length(&mut self, st: &mut State, n: TermId, room: u64) -> Option<u64> {
        if room <= 16 {
            return Some(room);
        }
        let most = self.extreme(st, n, true)?.min(room);
        (most <= MAX_SYMBOLIC_LENGTH).then_some(most)
    }

    pub(crate) fn has_pointers(&self, st: &State, e: &RangeEnd, len: u64) -> bool {
        let Some((contents, w)) = st.memory.contents(e.obj) else { return false };
        let from = w.start + e.off;
        let inside = |at: u64, bytes: u8| at < from + len && at + u64::from(bytes) > from;
        contents.cells().any(|(at, b, v)| inside(at, b) && matches!(v, Value::Ptr { .. }))
    }

    /// `bytes[i]` where `i < n`, what is there elsewhere.
    pub(crate) fn write_guarded(&mut self, st: &mut State, to: &RangeEnd, n: TermId, bytes: &[Value]) {
        let w = self.terms.width(n);
        for (i, &new) in bytes.iter().enumerate() {
            let place = ResolvedLocation::At { obj: to.obj, off: to.off + i as u64 };
            let old = self.read_place(st, place, 1);
            if old == new {
                continue;
            }
            let (new, old) = (self.term(st, new, 8), self.term(st, old, 8));
            let i = self.terms.constant(w, i as u64);
            let inside = self.terms.ult(i, n);
            let byte = self.terms.ite(inside, new, old);
            let byte = Value::from_term(&self.terms, byte);
            self.write_place(st, place, 1, byte);
        }
    }
}
