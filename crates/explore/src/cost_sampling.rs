//! Covered states explored aside, to see what covering them saves.
//!
//! *Idea*: what a covered state would have cost is a guess from the subtree that covers it; its own path may know more
//! and allow less. So now and then the pruner has one explored without pruning, as far as it likes, and what that cost
//! is the truth. *Direction*: nothing is learned but the cost; the state is covered all the same.

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
