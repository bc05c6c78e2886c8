//! Subsumed states explored in a sub-exploration, to measure what subsumption saves.
//!
//! *Idea*: what a subsumed state would have cost is estimated from the subsuming subtree; its own path may have more
//! constraints and allow less. So the pruner now and then has one explored without pruning, up to a limit, and measures
//! the cost. *Direction*: nothing is learned but the cost; the state stays subsumed.

use crate::run::{Run, RunContext};
use crate::step::{Child, Stepper};
use crate::sub_exploration::{Admission, Origin, SubExploration};
use pleach_state::seams::Effort;
use pleach_state::{End, History, State};

/// An exploration without pruning, whose cost is all that counts.
struct CostSample {
    before: Effort,
    forks: u64,
    /// nothing was left
    ended: bool,
}

impl<M: Stepper> SubExploration<M> for CostSample {
    fn before_step(&mut self, run: &mut Run, _: &mut State, ctx: &mut RunContext<M>) -> Admission {
        let spent = ctx.machine.logic().effort().since(self.before);
        self.ended = ctx.wants_sample(spent, self.forks) && run.halt.reason().is_none();
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

impl<M> RunContext<'_, M> {
    fn wants_sample(&mut self, spent: Effort, forks: u64) -> bool {
        self.learners.pruner.cost_sampler().is_some_and(|s| s.wants_sample(spent, forks))
    }
}

impl Run {
    /// Explores the state for as long as the pruner wants to know more.
    pub(crate) fn sample_cost<M: Stepper>(&mut self, state: &State, ctx: &mut RunContext<M>) {
        if !ctx.wants_sample(Effort::default(), 0) {
            return;
        }
        ctx.machine.sub_exploration(true);
        let before = ctx.machine.logic().effort();
        let root = State { history: History::default(), ..state.clone() };
        let mut sample = CostSample { before, forks: 0, ended: true };
        self.drive_outside(root, &mut sample, ctx);
        let spent = ctx.machine.logic().effort().since(before);
        ctx.machine.sub_exploration(false);
        if let Some(sampler) = ctx.learners.pruner.cost_sampler() {
            sampler.sampled(spent, sample.forks, sample.ended);
        }
    }
}
