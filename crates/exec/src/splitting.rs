//! Splitting big objects.
//!
//! *Paper*: Memory §3.2.4. *Idea*: what the pieces of an object are is said by the memory model
//! (`pleach_memory::pieces`); here the path splits by the piece that an access lies in. *Deviations*: pieces are no
//! objects of their own; an access that straddles two of them is decided to one offset per path. *Direction*: loses
//! nothing; an access that may lie in more than 256 pieces is not split. *Checked by*: `resolution_check.rs`; the
//! fixtures about memory run with and without.

use crate::access::ResolvedLocation;
use crate::feasibility::{Feasibility, FeasibleSide};
use crate::flow::StepResult;
use crate::machine::Machine;
use pleach_expr::{TermId, Terms};
use pleach_memory::ObjId;
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
        let Some(access) = self.model.to_split(&st.memory, obj, off, n) else { return Ok(None) };
        let mut sides: Vec<(FeasibleSide, Option<End>)> = Vec::new();
        if let Some(place) = access.by_shape(&mut self.terms) {
            self.split_object(st, obj, access.piece);
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
            let (here, place) = access.at(&mut self.terms, at);
            match self.decide(st, here) {
                Feasibility::True => {
                    self.split_object(st, obj, access.piece);
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
        self.split_object(st, obj, access.piece);
        Err(self.split(st, sides, ForkKind::Other))
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
