//! What a modelled function reads of its arguments: strings and ranges, with the errors that reading them has.

use super::Call;
use crate::access::{AccessKind, AccessWords as _, ResolvedLocation, note};
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use pleach_expr::{TermId, Terms};
use pleach_ir::format::Precision;
use pleach_memory::{ObjId, Size, Value};
use pleach_state::trace::ArgumentRead;
use pleach_state::{Access, Cut, State};
use std::rc::Rc;

/// Of longer strings only those that end at a known place are looked at.
const MAX_SYMBOLIC: u64 = 4096;

/// What was read so far, for the history.
#[derive(Default)]
pub(crate) struct Reads {
    known: Vec<ArgumentRead>,
    /// arguments that decided how much
    fixed: Vec<(u32, u64)>,
    /// something depends on values that are not known
    opaque: bool,
}

impl Reads {
    /// Records the call: its result, and that what was read could be read. Without a record nothing is concluded across
    /// it.
    pub fn note(self, st: &mut State, result: Access) {
        if self.opaque {
            return;
        }
        note(st, || match (&self.known[..], &self.fixed[..]) {
            ([], []) => result,
            (reads, fixed) => Access::Reads { reads: reads.into(), fixed: fixed.into(), result: Rc::new(result) },
        });
    }

    /// The call rests on where these arguments point to and on the values of those.
    pub fn rests_on(&mut self, st: &State, call: &Call, pointers: &[usize], numbers: &[usize]) {
        for &i in pointers {
            match call.arg(i) {
                Value::Ptr { obj, off } if st.memory.get(obj).is_some_and(|o| (0..o.sure() as i64).contains(&off)) => {
                    let (argument, off) = (i as u32, off as u64);
                    self.known.push(ArgumentRead { argument, obj, off, bytes: 1, nul: false, told: None });
                }
                _ => self.opaque = true,
            }
        }
        for &i in numbers {
            match call.arg(i) {
                Value::Int(n) => self.fixed.push((i as u32, n)),
                _ => self.opaque = true,
            }
        }
    }

    /// The call depends on something that is not recorded.
    pub fn depend(&mut self) {
        self.opaque = true;
    }
}

impl Machine {
    /// The format of a call, if it is known; whoever comes to the call with another one reads something else.
    pub(super) fn read_format(
        &mut self,
        st: &mut State,
        call: &Call,
        arg: usize,
        reads: &mut Reads,
    ) -> Option<Vec<u8>> {
        let text = self.c_bytes(st, call.arg(arg))?;
        let constant = |obj: ObjId| self.program.globals.get(obj.0 as usize).is_some_and(|g| g.constant);
        match call.arg(arg) {
            Value::Ptr { obj, off } if constant(obj) => {
                let bytes = text.len() as u64 + 1;
                reads.known.push(ArgumentRead {
                    argument: arg as u32,
                    obj,
                    off: off as u64,
                    bytes,
                    nul: true,
                    told: None,
                });
            }
            _ => reads.opaque = true,
        }
        Some(text)
    }

    /// A string that the run repeats to the user: its bytes are part of what happened.
    pub(super) fn told_text(&mut self, st: &mut State, call: &Call, arg: usize, reads: &mut Reads) -> Option<String> {
        let text = self.c_bytes(st, call.arg(arg));
        match (call.arg(arg), &text) {
            (Value::Ptr { obj, off }, Some(text)) if !self.is_segment(st, obj) => {
                let told = Some(text.as_slice().into());
                let (off, bytes) = (off as u64, text.len() as u64 + 1);
                reads.known.push(ArgumentRead { argument: arg as u32, obj, off, bytes, nul: true, told });
            }
            _ => reads.opaque = true,
        }
        text.map(|text| String::from_utf8_lossy(&text).into_owned())
    }

    /// The string that argument `arg` points to is read up to its end or up to a number of bytes.
    pub(super) fn read_text(
        &mut self,
        st: &mut State,
        call: &Call,
        arg: usize,
        limit: Precision,
        reads: &mut Reads,
    ) -> StepResult<()> {
        let limit = match limit {
            Precision::Fixed(0) => return Ok(()),
            Precision::Fixed(n) => Some(n),
            Precision::Unlimited => None,
            Precision::Argument => return Err(beyond(call.name, "a precision that is an argument")),
        };
        let text = call.arg(arg);
        let known = matches!(text, Value::Ptr { .. });
        match self.place(st, text, 1, AccessKind::Read)? {
            ResolvedLocation::At { obj, off } => {
                let read = self.text_at(st, call.name, obj, off, limit)?;
                match read.filter(|_| known && !self.is_segment(st, obj)) {
                    Some((bytes, nul)) => {
                        reads.known.push(ArgumentRead { argument: arg as u32, obj, off, bytes, nul, told: None });
                    }
                    None => reads.opaque = true,
                }
                Ok(())
            }
            ResolvedLocation::Symbolic { obj, off } => {
                reads.opaque = true;
                self.text_within(st, call.name, obj, off, limit)
            }
            ResolvedLocation::Piece { obj, piece, off } => {
                reads.opaque = true;
                let start = self.terms.constant(self.terms.width(off), piece.start);
                let off = self.terms.add(off, start);
                self.text_within(st, call.name, obj, off, limit)
            }
        }
    }

    /// A string at a known place: how many bytes are read and whether the last one is its end; none if its bytes decide
    /// that.
    fn text_at(
        &mut self,
        st: &mut State,
        name: &str,
        obj: ObjId,
        off: u64,
        limit: Option<u64>,
    ) -> StepResult<Option<(u64, bool)>> {
        let size = match self.live_size(st, obj, AccessKind::Read)? {
            Size::Fixed(size) => size,
            size => {
                let off = self.terms.constant(self.pointer_bits(), off);
                self.text_in(st, obj, off, size, limit)?;
                return Ok(None);
            }
        };
        let end = limit.and_then(|n| off.checked_add(n)).map_or(size, |e| e.min(size));
        let mut ends = Terms::FALSE;
        let mut symbolic = 0;
        for at in off..end {
            match self.read_place(st, ResolvedLocation::At { obj, off: at }, 1) {
                Value::Int(0) => return Ok((symbolic == 0).then_some((at + 1 - off, true))),
                Value::Int(_) => {}
                byte => {
                    symbolic += 1;
                    if symbolic > MAX_SYMBOLIC {
                        return Err(beyond(name, "a long symbolic string"));
                    }
                    let here = self.is_nul(st, byte);
                    ends = self.terms.or(ends, here);
                }
            }
        }
        if limit.is_some_and(|n| n <= size - off) {
            return Ok(Some((end - off, false)));
        }
        if symbolic == 0 {
            return Err(self.out_of_bounds(st, obj, Some(size as i64), 1, AccessKind::Read));
        }
        self.require_text(st, ends, obj)?;
        Ok(None)
    }

    /// A string at any offset of an object.
    fn text_within(
        &mut self,
        st: &mut State,
        name: &str,
        obj: ObjId,
        off: TermId,
        limit: Option<u64>,
    ) -> StepResult<()> {
        let size = self.live_size(st, obj, AccessKind::Read)?;
        if size.capacity() > MAX_SYMBOLIC {
            return Err(beyond(name, "a string at a symbolic offset of a large object"));
        }
        self.text_in(st, obj, off, size, limit)
    }

    /// A string at an offset of an object ends within it.
    fn text_in(&mut self, st: &mut State, obj: ObjId, off: TermId, size: Size, limit: Option<u64>) -> StepResult<()> {
        let w = self.terms.width(off);
        let mut ends = match limit {
            Some(n) => size.within(&mut self.terms, off, n),
            None => Terms::FALSE,
        };
        for at in 0..size.capacity() {
            let byte = self.read_place(st, ResolvedLocation::At { obj, off: at }, 1);
            let nul = self.is_nul(st, byte);
            let k = self.terms.constant(w, at);
            let before = self.terms.ule(off, k);
            let inside = size.at_least(&mut self.terms, at + 1);
            let here = self.terms.and(nul, before);
            let here = self.terms.and(here, inside);
            ends = self.terms.or(ends, here);
        }
        self.require_text(st, ends, obj)
    }

    fn is_nul(&mut self, st: &mut State, byte: Value) -> TermId {
        let byte = self.term(st, byte, 8);
        let zero = self.terms.constant(8, 0);
        self.terms.eq(byte, zero)
    }

    fn require_text(&mut self, st: &mut State, ends: TermId, obj: ObjId) -> StepResult<()> {
        let what = self.describe(st, obj);
        self.require(st, ends, AccessKind::Read.oob(), || format!("read of a string that has no end within {what}"))
    }

    /// Reads the bytes that argument `arg` points to. Their number is the product of the arguments `factors`.
    pub(super) fn read_range(
        &mut self,
        st: &mut State,
        call: &Call,
        arg: usize,
        factors: &[usize],
        reads: &mut Reads,
    ) -> StepResult<()> {
        let w = factors.first().map_or(64, |i| call.width(self, *i));
        let mut bytes = self.terms.constant(w, 1);
        for &i in factors {
            let n = self.term(st, call.arg(i), w);
            bytes = self.terms.mul(bytes, n);
            match self.terms.as_const(n) {
                Some(n) => reads.fixed.push((i as u32, n)),
                None => reads.opaque = true,
            }
        }
        if self.terms.as_const(bytes).is_none() && self.range_end(st, call.arg(arg), bytes, AccessKind::Read)?.is_some()
        {
            return Ok(());
        }
        let bytes = Value::from_term(&self.terms, bytes);
        let n = self.concretize(st, bytes, w, "the number of bytes written")?;
        if n == 0 {
            return Ok(());
        }
        match self.place(st, call.arg(arg), n, AccessKind::Read)? {
            ResolvedLocation::At { obj, off }
                if matches!(call.arg(arg), Value::Ptr { .. }) && !self.is_segment(st, obj) =>
            {
                reads.known.push(ArgumentRead { argument: arg as u32, obj, off, bytes: n, nul: false, told: None });
            }
            _ => reads.opaque = true,
        }
        Ok(())
    }
}

/// A call that the model cannot answer; with the C library its code would run.
pub(super) fn beyond(name: &str, what: &str) -> Flow {
    Flow::cut(Cut::Unsupported(format!("`{name}` with {what}, without the C library (--libc=musl)")))
}
