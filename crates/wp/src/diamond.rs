//! A branch whose other side goes straight to where the trace ends: that side is not taken on this path, but what it
//! needs is known.
//!
//! *Idea*: without it, a branch that the path decides must be decided in the same way by every state that is to be
//! subsumed. With it, such a state needs on the other side what the end of the trace needs, so that states that differ
//! only in how a test came out can be subsumed by one interpolant. *Invariant*: from a state that satisfies the result,
//! either the recorded side is taken and the rest of the trace goes as recorded, or the other edge leads at once to the
//! end of the trace in a state that satisfies the condition given there. *Direction*: the branch is required as before
//! where both sides need different things.

use crate::condition::Condition;
use crate::transformer::WpTransformer;
use pleach_expr::TermId;
use pleach_ir::{BlockId, Edge, Function, Inst};
use pleach_state::State;
use pleach_state::trace::{Exit, Run};

/// Literals that only one side needs; more are not worth a guard.
const FEW: usize = 4;
/// Blocks that do nothing, one after the other.
const LONG: usize = 8;

/// The start of a block at which a trace ends, and what is needed there.
pub struct EndOfTrace {
    func: u32,
    depth: u32,
    block: BlockId,
    needs: Condition,
    /// a way there through blocks that do nothing counts as well
    through_empty: bool,
}

impl EndOfTrace {
    /// The state at the end of a trace; `None` if it is not at the start of a block.
    pub fn new(
        state: &State,
        program: &pleach_ir::Program,
        needs: &Condition,
        through_empty: bool,
    ) -> Option<EndOfTrace> {
        let f = program.function(state.frame.func);
        let at_start = f.blocks[state.block.index()].first.0 == state.inst;
        let (func, depth, block) = (state.frame.func.0, state.call_depth(), state.block);
        at_start.then(|| EndOfTrace { func, depth, block, needs: needs.clone(), through_empty })
    }

    /// The edges from this one to the end; `None` if it does not lead straight there.
    fn way(&self, f: &Function, first: Edge) -> Option<Vec<Edge>> {
        let mut way = vec![first];
        while let Some(last) = way.last()
            && last.target != self.block
        {
            let block = &f.blocks[last.target.index()];
            match f.insts[block.first.0 as usize] {
                Inst::Jump { edge } if self.through_empty && way.len() < LONG => way.push(edge),
                _ => return None,
            }
        }
        Some(way)
    }
}

impl WpTransformer<'_> {
    /// The other side of a branch goes straight to the end of the trace: replaces the condition by what both sides need.
    /// `taken` is the condition under which the recorded side is taken. False: nothing was changed.
    pub(crate) fn other_side(&mut self, f: &Function, run: Run, inst: &Inst, taken: TermId) -> bool {
        let (Inst::Branch { edges, .. }, Exit::Side(s)) = (inst, run.exit) else { return false };
        let Some(end) = &self.end else { return false };
        let edge = f.edges[*edges as usize + usize::from(1 - s)];
        if (run.func, run.depth) != (end.func, end.depth) {
            return false;
        }
        let Some(way) = end.way(f, edge) else { return false };
        let other = end.needs.clone();
        let here = self.replace_condition(other);
        let mut copies = way.iter().rev().flat_map(|e| f.copies[e.copies.as_range()].iter().rev());
        let copied = copies.try_for_each(|c| self.assign_operand(f, run.depth, c.dst, c.src));
        let rounds = self.cross_rounds(f, run, &way);
        let other = self.replace_condition(here);
        if copied.is_err()
            || rounds.is_err()
            || !self.condition.same_but_literals(&other)
            || !other.satisfiable.is_empty()
        {
            return false;
        }
        let only = |a: &Condition, b: &Condition| -> Vec<TermId> {
            a.literals.iter().copied().filter(|l| !b.literals.contains(l)).collect()
        };
        let (here, there) = (only(&self.condition, &other), only(&other, &self.condition));
        if here.len() + there.len() > FEW {
            return false;
        }
        let mut both = self.replace_condition(Condition::default());
        both.literals.retain(|l| !here.contains(l));
        other.rounds.iter().for_each(|r| both.require_rounds(*r));
        let untaken = self.terms.not(taken);
        for (guard, literals) in [(taken, here), (untaken, there)] {
            for l in literals {
                let guarded = self.terms.implies(guard, l);
                both.require(guarded);
            }
        }
        self.replace_condition(both);
        true
    }

    pub(crate) fn replace_condition(&mut self, new: Condition) -> Condition {
        self.live.forget();
        std::mem::replace(&mut self.condition, new)
    }
}
