//! A state comes to a point where a node is still open: whether it is taken as subsumed by that.

use super::Revoked;
use crate::matching::Matcher;
use crate::point::Point;
use crate::pruner::Interpolation;
use pleach_expr::SymbolId;
use pleach_state::seams::PathOracle;
use pleach_state::{NodeId, State};
use pleach_wp::Locs;

/// Open nodes at one point that a state is compared with, the nearest first.
const NEAREST: usize = 4;
/// What assumptions may cost that turn out not to hold: at first, and for each unit of execution.
const AT_FIRST: u64 = 10_000_000;
const SHARE: u64 = 4;
/// What the discharge of one group may always cost.
const AT_LEAST: u64 = 2_000_000;

impl Interpolation {
    /// The state may be taken as subsumed by a node that is not complete.
    pub(crate) fn may_assume(&self, state: &State) -> bool {
        self.loops.on
            && self.speculations.nested == 0
            // SOUND: what a leaf below a merged node needs would have to go to all of its parents.
            && self.open.get(&state.node).is_some_and(|o| !o.below_merge)
            && self.loops.revoked.get(&state.node) != Some(&Revoked::NotInductive)
    }

    /// Assumptions that failed have not cost more than their share: exploration and proof take turns.
    pub(super) fn has_turn(&self, oracle: &dyn PathOracle) -> bool {
        self.loops.wasted <= AT_FIRST + SHARE * self.budget.executed(oracle.effort())
    }

    /// A group is about to be discharged: what that may cost.
    pub(super) fn begin_turn(&mut self, oracle: &dyn PathOracle) {
        let effort = oracle.effort();
        let left = (AT_FIRST + SHARE * self.budget.executed(effort)).saturating_sub(self.loops.wasted);
        self.loops.turn = Some((self.budget.mark(effort), left.max(AT_LEAST)));
    }

    /// The discharge under way has cost too much.
    pub(super) fn is_turn_over(&self, oracle: &dyn PathOracle) -> bool {
        self.loops.turn.is_some_and(|(mark, left)| self.budget.since(mark, oracle.effort()) > left)
    }

    /// The state is back at a header whose loop it went round once, twice, four times, …: that an open node subsumes it
    /// would say more than that a complete one does, which may only know of the last round.
    pub(crate) fn comes_back(&mut self, state: &State, oracle: &dyn PathOracle) -> bool {
        self.loops.on
            && self.loops.is_at_header(state, &oracle.program())
            && !self.loops.revoked.contains_key(&state.node)
            && self.loops.open_at.get(&Point::of(state)).is_some_and(|at| at.len().is_power_of_two())
    }

    /// An open node at the state's point that will probably subsume it.
    pub(crate) fn open_node_for(&mut self, state: &State, oracle: &mut dyn PathOracle) -> Option<NodeId> {
        if !self.may_assume(state) || !self.has_turn(oracle) {
            return None;
        }
        // Every way round comes by a header. What lies between differs in what the round has decided so far.
        if !self.loops.is_at_header(state, &oracle.program()) {
            return None;
        }
        let point = Point::of(state);
        let at = self.loops.open_at.get(&point)?;
        let rounds = at.len();
        if self.loops.patience.get(&point).is_some_and(|p| rounds < *p) {
            return None;
        }
        let candidates: Vec<NodeId> = at.iter().rev().take(NEAREST).copied().collect();
        let again = self.loops.revoked.contains_key(&state.node);
        candidates.into_iter().find(|n| self.may_subsume(*n, &point, state, rounds, again, oracle))
    }

    fn may_subsume(
        &mut self,
        node: NodeId,
        point: &Point,
        state: &State,
        rounds: usize,
        again: bool,
        oracle: &mut dyn PathOracle,
    ) -> bool {
        let Some(open) = self.open.get_mut(&node) else { return false };
        if open.needs.is_err() || open.provisional.iter().any(|(_, part)| part.is_err()) {
            return false;
        }
        if let Some(known) = self.loops.known.get(&node) {
            return Matcher::new(state, &self.locs, self.fixed).meets(oracle, known);
        }
        if again {
            return false;
        }
        // Now and then a loop is given the chance to go on in the same way, whatever decided its first rounds.
        let refused = self.loops.refused.entry(point.clone()).or_default();
        let chance = rounds.is_power_of_two() && (rounds > 1 || (*refused + 1).is_power_of_two());
        let other = open.state.clone();
        let relevant = self.loops.relevant.get(point);
        let same =
            relevant.is_none_or(|r| r.iter().all(|s| same_value(&self.locs, self.fixed, *s, state, &other, oracle)));
        *refused += u64::from(!same);
        chance || same
    }
}

/// The location has the same value in both states, as far as they show it.
fn same_value(locs: &Locs, fixed: u32, location: SymbolId, a: &State, b: &State, oracle: &mut dyn PathOracle) -> bool {
    let var = oracle.terms().var(location);
    let mut value = |s: &State| Matcher::own(s, locs, fixed).translate(oracle, var);
    value(a) == value(b)
}
