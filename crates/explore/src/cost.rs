//! A state explored outside of the run, to measure what that costs.
//!
//! *Idea*: a sub-exploration without consequences, for as long as whoever asks wants to know more. *Direction*: nothing
//! is learned but the cost.

use crate::run::{Run, RunContext};
use crate::step::{Child, Stepper};
use crate::sub_exploration::{Admission, Origin, SubExploration};
use pleach_state::seams::Effort;
use pleach_state::{End, History, State};

/// Basic blocks of a step: between two of them nobody looks what it has cost.
const STEP_BLOCKS: u32 = 32;

/// What a sub-exploration has cost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cost {
    pub effort: Effort,
    pub forks: u64,
    /// instructions of the longest path
    pub longest: u64,
    /// nothing was left
    pub ended: bool,
}

struct Measuring<W> {
    before: Effort,
    forks: u64,
    /// instructions of the root's path, and most of any path
    began: u64,
    longest: u64,
    ended: bool,
    /// whether it goes on, by its cost so far
    wanted: W,
}

impl<M: Stepper, W: FnMut(&mut RunContext<M>, Effort, u64) -> bool> SubExploration<M> for Measuring<W> {
    fn step_blocks(&self, of_run: u32) -> u32 {
        of_run.min(STEP_BLOCKS)
    }
    fn before_step(&mut self, run: &mut Run, state: &mut State, ctx: &mut RunContext<M>) -> Admission {
        self.longest = self.longest.max(state.instructions - self.began);
        let spent = ctx.machine.logic().effort().since(self.before);
        self.ended = (self.wanted)(ctx, spent, self.forks) && run.halt.reason().is_none();
        if self.ended { Admission::Step } else { Admission::Stop }
    }
    fn on_next(&mut self, _: &mut Run, state: State, _: &mut RunContext<M>) -> Option<State> {
        Some(state)
    }
    fn on_end(&mut self, _: &mut Run, state: State, _: End, _: &mut RunContext<M>) {
        self.longest = self.longest.max(state.instructions - self.began);
    }
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
    /// Explores the state for as long as that is wanted.
    pub(crate) fn cost_of<M: Stepper>(
        &mut self,
        state: &State,
        wanted: impl FnMut(&mut RunContext<M>, Effort, u64) -> bool,
        ctx: &mut RunContext<M>,
    ) -> Cost {
        ctx.machine.sub_exploration(true);
        let before = ctx.machine.logic().effort();
        let root = State { history: History::default(), ..state.clone() };
        let began = root.instructions;
        let mut measuring = Measuring { before, forks: 0, began, longest: 0, ended: true, wanted };
        self.drive_outside(root, &mut measuring, ctx);
        let effort = ctx.machine.logic().effort().since(before);
        ctx.machine.sub_exploration(false);
        Cost { effort, forks: measuring.forks, longest: measuring.longest, ended: measuring.ended }
    }
}
