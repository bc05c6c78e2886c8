//! Subsumed states explored in a sub-exploration, to measure what subsumption saves.
//!
//! *Idea*: what a subsumed state would have cost is estimated from the subsuming subtree; its own path may have more
//! constraints and allow less. So the pruner now and then has one explored without pruning, up to a limit, and measures
//! the cost. *Direction*: nothing is learned but the cost; the state stays subsumed.

use crate::run::{Run, RunContext};
use crate::step::{Step, Stepper};
use pleach_state::seams::Effort;
use pleach_state::{State, Trace};

impl Run {
    /// Explores the state for as long as the pruner wants to know more.
    pub(crate) fn sample_cost<M: Stepper>(&mut self, state: &State, ctx: &mut RunContext<M>) {
        if !ctx.pruner.wants_sample(Effort::default(), 0) {
            return;
        }
        ctx.machine.sub_exploration(true);
        let before = ctx.machine.logic().effort();
        let root = State { recording: false, at_join: false, origin: None, trace: Trace::default(), ..state.clone() };
        let (mut waiting, mut forks) = (vec![root], 0);
        let mut ended = true;
        while let Some(mut state) = waiting.pop() {
            let spent = ctx.machine.logic().effort().since(before);
            ended = ctx.pruner.wants_sample(spent, forks) && self.halt.reason().is_none();
            if !ended {
                break;
            }
            let depth = state.depth + 1;
            match ctx.machine.step(&mut state, self.config.step_blocks) {
                Step::Next => waiting.push(state),
                // What a deferred state would have cost shows in what its query has cost.
                Step::End(_) | Step::Deferred => {}
                Step::Fork(children) => {
                    forks += children.len() as u64;
                    let going = children.into_iter().filter(|c| c.end.is_none());
                    waiting.extend(going.map(|c| State { depth, ..c.state }));
                }
            }
        }
        let spent = ctx.machine.logic().effort().since(before);
        ctx.machine.sub_exploration(false);
        ctx.pruner.sampled(spent, forks, ended);
    }
}
