//! A merged state explored next to some of its members, to measure whether merging pays.
//!
//! *Idea*: some members are explored in sub-explorations, each up to a limit. If they end, what all members would cost
//! is known, and the merged state is explored for a part of that. *Direction*: nothing is learned but the cost; whether
//! it is merged is the [`Merger`](pleach_state::Merger)'s decision.

use crate::run::{Run, RunContext};
use crate::step::{Child, Stepper};
use crate::sub_exploration::{Admission, Origin, SubExploration};
use pleach_state::seams::Effort;
use pleach_state::{End, Group, History, State, TrialCost};

/// Members that are explored.
const SAMPLED: usize = 3;

/// An exploration whose cost is all that counts.
struct Trial {
    before: Effort,
    limit: u64,
    forks: u64,
    /// nothing was left
    ended: bool,
}

impl<M: Stepper> SubExploration<M> for Trial {
    fn before_step(&mut self, run: &mut Run, _: &mut State, ctx: &mut RunContext<M>) -> Admission {
        let spent = ctx.machine.logic().effort().since(self.before).units(self.forks);
        self.ended = spent < self.limit && run.halt.reason().is_none();
        if self.ended { Admission::Step } else { Admission::Stop }
    }
    fn on_next(&mut self, _: &mut Run, state: State, _: &mut RunContext<M>) -> Option<State> {
        Some(state)
    }
    fn on_end(&mut self, _: &mut Run, _: State, _: End, _: &mut RunContext<M>) {}
    /// What a deferred state would have cost shows in what its query has cost.
    fn on_deferred(&mut self, _: &mut Run, _: State, _: &mut RunContext<M>) -> Option<State> {
        None
    }
    fn on_fork(
        &mut self,
        _: &mut Run,
        origin: Origin,
        _: State,
        children: Vec<Child>,
        _: &mut RunContext<M>,
    ) -> Vec<State> {
        self.forks += children.len() as u64;
        let going = children.into_iter().filter(|c| c.end.is_none());
        going.map(|c| State { depth: origin.depth + 1, ..c.state }).collect()
    }
}

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
        ctx.machine.sub_exploration(true);
        let before = ctx.machine.logic().effort();
        let root = State { history: History::default(), ..state.clone() };
        let mut trial = Trial { before, limit, forks: 0, ended: true };
        self.drive_outside(root, &mut trial, ctx);
        let spent = ctx.machine.logic().effort().since(before);
        ctx.machine.sub_exploration(false);
        TrialCost { units: spent.units(trial.forks), instructions: spent.instructions, ended: trial.ended }
    }
}
