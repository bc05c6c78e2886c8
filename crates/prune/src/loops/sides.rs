//! What is known of the sides of loop tests that a path does not take.
//!
//! *Idea*: a loop whose test the path decides ends after a known number of rounds, and its interpolant would say so.
//! Where the other side of the test has a node that is complete, that node's interpolant may be needed there instead
//! ([`pleach_wp::KnownSides`]). *Invariant*: only interpolants of complete nodes at exactly that point are used, and
//! only those that speak of registers and of objects that are the same in every state. A state that satisfies one
//! reaches no error that the run does not find. *Direction*: may find none.

use crate::point::Point;
use crate::pruner::Interpolation;
use pleach_expr::{TermId, facts};
use pleach_ir::cfg::block_of;
use pleach_ir::{BlockId, FuncId, Inst, InstId};
use pleach_state::seams::PathOracle;
use pleach_state::trace::Exit;
use pleach_state::{NodeId, Phase, State, Trace};
use pleach_wp::{Condition, KnownSides, Loc};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;

/// Literals of an interpolant that is used so.
const FEW: usize = 6;
/// Interpolants of one point that are used.
const SEVERAL: usize = 3;

impl Interpolation {
    /// The sides that the trace does not take, of tests in activations that are there where it ends.
    pub(crate) fn known_sides(
        &mut self,
        trace: &Trace,
        end: &State,
        oracle: &mut dyn PathOracle,
    ) -> Option<KnownSides> {
        // SOUND: what else is part of a point is the same all along the trace, or allows less before.
        let plain = end.at_exit.is_empty() && end.forking && !matches!(end.phase, Phase::Exiting { .. });
        if !self.loops.on || !self.errors_only || !plain || self.is_paused() {
            return None;
        }
        let program = oracle.program();
        let mut lowest = end.call_depth();
        let sides = KnownSides { lowest, needs: FxHashMap::default() };
        let mut needs: FxHashMap<(u32, BlockId), Vec<TermId>> = FxHashMap::default();
        for run in trace.runs.iter().rev() {
            if run.depth > lowest {
                continue;
            }
            lowest = run.depth;
            let Exit::Side(s) = run.exit else { continue };
            let func = FuncId(run.func);
            let f = program.function(func);
            let Inst::Branch { edges, .. } = f.insts[run.to as usize - 1] else { continue };
            let [taken, other] = [s, 1 - s].map(|s| f.edges[edges as usize + usize::from(s)].target);
            let Some(from) = block_of(f, InstId(run.to - 1)) else { continue };
            let natural = self.loops.natural_loops(func, &program);
            let leaves_one = |l| natural.get(l).contains(taken) != natural.get(l).contains(other);
            if needs.contains_key(&(run.depth, other)) || !natural.innermost(from).is_some_and(leaves_one) {
                continue;
            }
            let place = (run.func, f.blocks[other.index()].first.0);
            if let Some(known) = Point::in_frame(end, run.depth, place).and_then(|p| self.known_at(&p, oracle)) {
                needs.insert((run.depth, other), known);
            }
        }
        (!needs.is_empty()).then_some(KnownSides { needs, ..sides })
    }

    /// What is known to be enough at a point: one of the interpolants with the fewest literals, the newest first.
    fn known_at(&mut self, point: &Point, oracle: &mut dyn PathOracle) -> Option<Vec<TermId>> {
        let mut known: Vec<(usize, Reverse<NodeId>, Vec<TermId>)> = Vec::new();
        for e in self.table.at_point(point) {
            let size = e.condition.literals.len();
            if size <= FEW && !self.loops.is_provisional(e.node) && self.is_plain(&e.condition, oracle) {
                known.push((size, Reverse(e.node), e.condition.literals.clone()));
            }
        }
        known.sort_unstable();
        known.truncate(SEVERAL);
        if self.audit_log.is_some() && !known.is_empty() {
            self.loops.used_sides.insert(point.place());
        }
        let mut known = known.into_iter().map(|k| k.2);
        let (first, second) = (known.next()?, known.next());
        let Some(second) = second.filter(|_| !first.is_empty()) else { return Some(first) };
        // SOUND: each single state satisfies one of them.
        let terms = oracle.terms();
        let each: Vec<TermId> = [first, second].into_iter().chain(known).map(|c| terms.and_all(&c)).collect();
        Some(vec![terms.or_all(&each)])
    }

    /// Literals over registers and objects that every state has.
    fn is_plain(&self, c: &Condition, oracle: &mut dyn PathOracle) -> bool {
        let only_literals = Condition { literals: c.literals.clone(), ..Condition::default() };
        let known = |l: &TermId, oracle: &mut dyn PathOracle| {
            !oracle.terms().has(*l, facts::HAS_BASE)
                && oracle.terms().support(*l).iter().all(|k| match self.locs.get(k.symbol()) {
                    Some(Loc::Reg { .. }) => true,
                    Some(Loc::Cell { obj, .. } | Loc::Size { obj }) => obj.0 < self.fixed,
                    None => false,
                })
        };
        *c == only_literals && c.literals.iter().all(|l| known(l, oracle))
    }
}
