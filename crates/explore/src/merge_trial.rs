//! A merged state explored next to some of its members, to measure whether merging pays.
//!
//! *Idea*: some members are explored in sub-explorations, each up to a limit. If they end, what all members would cost
//! is known, and the merged state is explored for a part of that. *Direction*: nothing is learned but the cost; whether
//! it is merged is the [`Merger`](pleach_state::Merger)'s decision.

use crate::run::{Run, RunContext};
use crate::step::Stepper;
use pleach_state::{Group, State, TrialCost};

/// Members that are explored.
const SAMPLED: usize = 3;

impl Run {
    /// Whether the group is merged, as far as cost decides it.
    pub(crate) fn merging_pays<M: Stepper>(&mut self, merged: &State, group: &Group, ctx: &mut RunContext<M>) -> bool {
        let Some(limit) = ctx.merger.trial(group, ctx.machine.logic().effort()) else { return true };
        let last = group.members.len() - 1;
        let mut sampled = vec![0, last / 2, last];
        sampled.dedup();
        sampled.truncate(SAMPLED);
        let costs: Vec<TrialCost> = sampled.iter().map(|m| self.try_out(&group.members[*m], limit, ctx)).collect();
        let own = ctx.merger.trial_of_merged(group, &costs).map(|limit| self.try_out(merged, limit, ctx));
        ctx.merger.tried(group, &costs, own)
    }

    fn try_out<M: Stepper>(&mut self, state: &State, limit: u64, ctx: &mut RunContext<M>) -> TrialCost {
        let cost = self.cost_of(state, |_, spent, forks| spent.units(forks) < limit, ctx);
        let (units, instructions) = (cost.effort.units(cost.forks), cost.effort.instructions);
        TrialCost { units, instructions, longest: cost.longest, ended: cost.ended }
    }
}
