//! The one loop that steps states: select → step → what the step did.
//!
//! The run and everything outside of it (speculation, the checks of pruning and merging, cost samples, the re-execution
//! of evicted states) differ in which state is next and in what a fork, an end or a deferred query means to them.
//! [`Exploration`] is that difference. *Invariant*: during a step the state stays where its exploration keeps it, so
//! that a panic inside the step loses no path.

use crate::run::{Run, RunContext};
use crate::step::{Child, Step, Stepper};
use pleach_state::{End, State};

/// Decides about the states of one exploration. The loop calls `select`, `state`, `on_step`, one of the four methods for what
/// the step did, `after_step`; then again.
pub(crate) trait Exploration<M: Stepper> {
    /// Makes ready the state that is stepped next; false when the exploration is over.
    fn select(&mut self, run: &mut Run, ctx: &mut RunContext<M>) -> bool;
    /// The state that was selected, and how many blocks it may run.
    fn state<'a>(&'a mut self, run: &'a mut Run) -> (&'a mut State, u32);
    /// A step was taken; what it did comes next.
    fn on_step(&mut self, _run: &mut Run, _ctx: &mut RunContext<M>) {}
    /// The state ran for a while and continues.
    fn on_next(&mut self, run: &mut Run, ctx: &mut RunContext<M>);
    fn on_end(&mut self, run: &mut Run, end: End, ctx: &mut RunContext<M>);
    /// Its query ran out of budget.
    fn on_deferred(&mut self, run: &mut Run, ctx: &mut RunContext<M>);
    fn on_fork(&mut self, run: &mut Run, children: Vec<Child>, ctx: &mut RunContext<M>);
    /// The step and its effects are over.
    fn after_step(&mut self, _run: &mut Run, _ctx: &mut RunContext<M>) {}
}

impl Run {
    /// Explores until there is nothing more to select.
    pub(crate) fn drive<M: Stepper, E: Exploration<M>>(&mut self, exploration: &mut E, ctx: &mut RunContext<M>) {
        while exploration.select(self, ctx) {
            let (state, blocks) = exploration.state(self);
            let step = ctx.machine.step(state, blocks);
            exploration.on_step(self, ctx);
            match step {
                Step::Next => exploration.on_next(self, ctx),
                Step::End(end) => exploration.on_end(self, end, ctx),
                Step::Deferred => exploration.on_deferred(self, ctx),
                Step::Fork(children) => exploration.on_fork(self, children, ctx),
            }
            exploration.after_step(self, ctx);
        }
    }
}
