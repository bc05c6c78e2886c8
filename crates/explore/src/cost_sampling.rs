//! Subsumed states explored in a sub-exploration, to measure what subsumption saves.
//!
//! *Idea*: what a subsumed state would have cost is estimated from the subsuming subtree; its own path may have more
//! constraints and allow less. So the pruner now and then has one explored without pruning, up to a limit, and measures
//! the cost. *Direction*: nothing is learned but the cost; the state stays subsumed.

use crate::run::{Run, RunContext};
use crate::step::Stepper;
use pleach_state::State;
use pleach_state::seams::Effort;

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
        let cost = self.cost_of(state, |ctx, spent, forks| ctx.wants_sample(spent, forks), ctx);
        if let Some(sampler) = ctx.learners.pruner.cost_sampler() {
            sampler.sampled(cost.effort, cost.forks, cost.ended);
        }
    }
}
