//! Splitting big objects.
//!
//! *Paper*: Memory §3.2.4. *Idea*: an object that is accessed at a symbolic offset and is larger than the threshold
//! gets pieces, each with contents of its own (`Contents::split`); the path splits by the piece that the access lies
//! in, so that terms speak of one piece only. The piece is read off an offset that is a choice between constants, and
//! named by the high bits of one whose low bits are known. *Invariant*: pieces are adjacent and together the object:
//! addresses, bounds and concrete accesses are as before. *Deviations*: pieces are no objects of their own; an access
//! that straddles two of them is decided to one offset per path. *Direction*: loses nothing; an access that may lie in
//! more than 256 pieces is not split. *Checked by*: `resolution_check.rs`; the fixtures about memory run with and
//! without.

use crate::access::ResolvedLocation;
use crate::feasibility::{Feasibility, FeasibleSide};
use crate::flow::StepResult;
use crate::machine::Machine;
use pleach_expr::{TermId, Terms};
use pleach_memory::constant_offsets::Offsets;
use pleach_memory::known_bits::low_bits;
use pleach_memory::{ObjId, Window};
use pleach_state::{End, ForkKind, State};

const MAX_PIECES: usize = 256;

impl Machine {
    /// The piece of a big object that an access within bounds lies in; where there are several, the path splits.
    /// `None`: it is not split.
    pub(crate) fn piece(
        &mut self,
        st: &mut State,
        obj: ObjId,
        off: TermId,
        n: u64,
    ) -> StepResult<Option<ResolvedLocation>> {
        let Some(splitting) = self.config.splitting else { return Ok(None) };
        let size = st.memory.get(obj).map_or(0, |o| o.capacity());
        if size <= splitting.threshold || n > splitting.piece {
            return Ok(None);
        }
        let mut sides: Vec<(FeasibleSide, Option<End>)> = Vec::new();
        if let Some(place) = self.piece_by_shape(obj, off, n, splitting.piece, size) {
            self.split_object(st, obj, splitting.piece);
            return Ok(Some(place));
        }
        let mut rest = Terms::TRUE;
        loop {
            let side = match self.is_satisfiable(st, rest) {
                Ok(Some(side)) => side,
                Ok(None) => break,
                Err(_) => return Ok(None),
            };
            let model = self.model_for(st, &side, off);
            let Some(at) = self.terms.try_eval(off, &model) else { return Ok(None) };
            let (here, place) = self.piece_at(obj, off, n, at, splitting.piece, size);
            match self.decide(st, here) {
                Feasibility::True => {
                    self.split_object(st, obj, splitting.piece);
                    return Ok(Some(place));
                }
                Feasibility::Both(yes, _) => sides.push((yes, None)),
                _ => return Ok(None),
            }
            if sides.len() > MAX_PIECES {
                return Ok(None);
            }
            let not = self.terms.not(here);
            rest = self.terms.and(rest, not);
        }
        self.split_object(st, obj, splitting.piece);
        Err(self.split(st, sides, ForkKind::Other))
    }

    /// The piece with the offset `at`, or that offset alone where the access would straddle two; when, and the place.
    fn piece_at(
        &mut self,
        obj: ObjId,
        off: TermId,
        n: u64,
        at: u64,
        piece: u64,
        size: u64,
    ) -> (TermId, ResolvedLocation) {
        let w = self.terms.width(off);
        let start = at - at % piece;
        let len = piece.min(size - start);
        if at + n > start + len {
            let k = self.terms.constant(w, at);
            return (self.terms.eq(off, k), ResolvedLocation::At { obj, off: at });
        }
        let k = self.terms.constant(w, start);
        let inner = self.terms.sub(off, k);
        let here = match self.number_of_piece(off, n, piece) {
            Some(number) => {
                let k = self.terms.constant(self.terms.width(number), start / piece);
                self.terms.eq(number, k)
            }
            None => self.within(len, inner, n),
        };
        (here, ResolvedLocation::Piece { obj, piece: Window { start, len }, off: inner })
    }

    /// The high bits of an offset say which piece it lies in, where its low bits keep the access from lying in two.
    /// They are the same term for all fields of an element, so that the path decides once for all of them.
    fn number_of_piece(&mut self, off: TermId, n: u64, piece: u64) -> Option<TermId> {
        let w = self.terms.width(off);
        let (bits, low) = low_bits(&self.terms, off);
        let step = 1u64 << bits.min(32);
        let low = low & (step - 1);
        let shift = piece.trailing_zeros() as u16;
        if !piece.is_power_of_two() || step > piece || low + n > step || shift >= w {
            return None;
        }
        let k = self.terms.constant(w, low);
        let element = self.terms.sub(off, k);
        Some(self.terms.extract(element, shift, w - shift))
    }

    /// The piece of an offset that is a choice between constants, of which those within the object lie in one.
    fn piece_by_shape(&mut self, obj: ObjId, off: TermId, n: u64, piece: u64, size: u64) -> Option<ResolvedLocation> {
        let leaves = Offsets::of(&self.terms, off)?.leaves(&|k| k.checked_add(n).is_some_and(|end| end <= size));
        let start = leaves.first()? / piece * piece;
        let len = piece.min(size - start);
        if leaves.iter().any(|k| *k < start || k + n > start + len) {
            return None;
        }
        let k = self.terms.constant(self.terms.width(off), start);
        let inner = self.terms.sub(off, k);
        Some(ResolvedLocation::Piece { obj, piece: Window { start, len }, off: inner })
    }

    fn split_object(&mut self, st: &mut State, obj: ObjId, piece: u64) {
        if let Some(o) = st.memory.get_mut(obj)
            && !o.contents.has_parts()
        {
            o.contents.split(piece, &mut self.terms.brake);
            self.resolved.split += 1;
            self.resolved.pieces += o.capacity().div_ceil(piece);
            self.resolved.largest_split = self.resolved.largest_split.max(o.capacity());
        }
    }
}
