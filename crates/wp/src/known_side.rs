//! A branch that decides whether a loop goes on, whose other side is known from another path.
//!
//! *Idea*: a path that decides such a branch explores one side, so that every state to be subsumed would have to go
//! round, or leave, at the same time. But what the other side needs may be known: a complete node at its start has an
//! interpolant. A state that goes there and satisfies that is subsumed by that node. *Invariant*: from a state that
//! satisfies the result, either the recorded side is taken and the rest of the trace goes as recorded, or the other
//! edge leads to the start of a block in a state that satisfies what is known there. *Direction*: the branch is required as
//! before where too much would have to be guarded.

use crate::condition::Condition;
use crate::transformer::WpTransformer;
use pleach_expr::TermId;
use pleach_ir::{BlockId, Function, Inst};
use pleach_state::trace::{Exit, Run};
use rustc_hash::FxHashMap;

/// Literals that one side needs; more are not worth a guard.
const FEW: usize = 8;

/// What is needed at the starts of blocks, in the activations of functions that are still there where a trace ends.
pub struct KnownSides {
    /// the least call depth from here to the end of the trace: what is deeper has returned
    pub lowest: u32,
    /// by call depth and block: literals, each alone
    pub needs: FxHashMap<(u32, BlockId), Vec<TermId>>,
}

impl WpTransformer<'_> {
    /// The path was in a caller here: what is deeper before is in another activation.
    pub(crate) fn enter_for_sides(&mut self, run: Run) {
        if let Some(sides) = &mut self.sides {
            sides.lowest = sides.lowest.min(run.depth);
        }
    }

    /// The other side of a branch is known: replaces the condition by what both sides need. `taken` is the condition
    /// under which the recorded side is taken. False: nothing was changed.
    pub(crate) fn known_side(&mut self, f: &Function, run: Run, inst: &Inst, taken: TermId) -> bool {
        let (Inst::Branch { edges, .. }, Exit::Side(s)) = (inst, run.exit) else { return false };
        let Some(sides) = self.sides.as_ref().filter(|k| run.depth <= k.lowest) else {
            return false;
        };
        let edge = f.edges[*edges as usize + usize::from(1 - s)];
        let Some(literals) = sides.needs.get(&(run.depth, edge.target)).cloned() else { return false };
        if self.condition.literals.len() > FEW || literals.len() > FEW {
            return false;
        }
        let here = self.replace_condition(Condition { literals, ..Condition::default() });
        let mut copies = f.copies[edge.copies.as_range()].iter().rev();
        let copied = copies.try_for_each(|c| self.assign_operand(f, run.depth, c.dst, c.src));
        let there = self.replace_condition(here).literals;
        if copied.is_err() {
            return false;
        }
        // What is not a literal is needed on both sides: stronger than necessary.
        let mut both = self.replace_condition(Condition::default());
        let here = std::mem::take(&mut both.literals);
        let untaken = self.terms.not(taken);
        for (guard, own, other) in [(taken, &here, &there), (untaken, &there, &here)] {
            for &l in own {
                let l = if other.contains(&l) { l } else { self.terms.implies(guard, l) };
                both.require(l);
            }
        }
        self.replace_condition(both);
        true
    }
}
