//! Exploration outside the run: depth first from one state, with the run's executor and nothing of its bookkeeping.
//!
//! Speculation, the check of the pruning, cost samples and the re-execution of evicted states step states that are no
//! part of the run. They differ in which states go on and in what is done at an end or a fork; [`SubExploration`] is
//! that difference, and [`Run::drive`] the one loop. *Invariant*: the exploration neither adds to [`Run::states`] nor
//! counts paths; what a sub-exploration does to the tree, it does itself.

use crate::drive::Exploration;
use crate::run::{Run, RunContext};
use crate::step::{Child, Stepper};
use pleach_state::{End, NodeId, State};

/// Whether a state is stepped.
pub(crate) enum Admission {
    Step,
    /// the state is done, the others go on
    Done,
    /// the rest is not explored
    Stop,
}

/// Where a state stood before its step, which a fork consumes.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    pub node: NodeId,
    pub depth: u32,
}

/// Decides about the states of one exploration outside the run. Methods are called in the order of the exploration:
/// `before_step` before each step, then one of the others for what the step did.
pub(crate) trait SubExploration<M: Stepper> {
    /// Basic blocks that a step executes at most, where the run's are `of_run`.
    fn step_blocks(&self, of_run: u32) -> u32 {
        of_run
    }
    fn before_step(&mut self, run: &mut Run, state: &mut State, ctx: &mut RunContext<M>) -> Admission;
    /// The state ran for a while; it goes on if it is returned.
    fn on_next(&mut self, run: &mut Run, state: State, ctx: &mut RunContext<M>) -> Option<State>;
    fn on_end(&mut self, run: &mut Run, state: State, end: End, ctx: &mut RunContext<M>);
    /// Its query ran out of budget; it goes on with a larger one if it is returned.
    fn on_deferred(&mut self, run: &mut Run, state: State, ctx: &mut RunContext<M>) -> Option<State>;
    /// The children that go on, the next one last.
    fn on_fork(
        &mut self,
        run: &mut Run,
        origin: Origin,
        parent: State,
        children: Vec<Child>,
        ctx: &mut RunContext<M>,
    ) -> Vec<State>;
}

/// The states of an exploration outside the run, the next one last.
struct DepthFirst<'a, M> {
    waiting: Vec<State>,
    origin: Origin,
    sub: &'a mut dyn SubExploration<M>,
}

impl<M: Stepper> Exploration<M> for DepthFirst<'_, M> {
    fn select(&mut self, run: &mut Run, ctx: &mut RunContext<M>) -> bool {
        while let Some(state) = self.waiting.last_mut() {
            match self.sub.before_step(run, state, ctx) {
                Admission::Step => {
                    self.origin = Origin { node: state.node, depth: state.depth };
                    return true;
                }
                Admission::Done => drop(self.waiting.pop()),
                Admission::Stop => return false,
            }
        }
        false
    }
    fn state<'a>(&'a mut self, run: &'a mut Run) -> (&'a mut State, u32) {
        (self.waiting.last_mut().expect("selected"), self.sub.step_blocks(run.config.step_blocks))
    }
    fn on_next(&mut self, run: &mut Run, ctx: &mut RunContext<M>) {
        let state = self.waiting.pop().expect("stepped");
        self.waiting.extend(self.sub.on_next(run, state, ctx));
    }
    fn on_end(&mut self, run: &mut Run, end: End, ctx: &mut RunContext<M>) {
        let state = self.waiting.pop().expect("stepped");
        self.sub.on_end(run, state, end, ctx);
    }
    fn on_deferred(&mut self, run: &mut Run, ctx: &mut RunContext<M>) {
        let state = self.waiting.pop().expect("stepped");
        self.waiting.extend(self.sub.on_deferred(run, state, ctx));
    }
    fn on_fork(&mut self, run: &mut Run, children: Vec<Child>, ctx: &mut RunContext<M>) {
        let state = self.waiting.pop().expect("stepped");
        self.waiting.extend(self.sub.on_fork(run, self.origin, state, children, ctx));
    }
}

impl Run {
    /// Explores depth first from `root` until nothing is left or the sub-exploration stops.
    pub(crate) fn drive_outside<M: Stepper>(
        &mut self,
        root: State,
        sub: &mut dyn SubExploration<M>,
        ctx: &mut RunContext<M>,
    ) {
        let origin = Origin { node: root.node, depth: root.depth };
        self.drive(&mut DepthFirst { waiting: vec![root], origin, sub }, ctx);
    }
}
