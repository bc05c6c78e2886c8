//! What the loop needs of an executor.

use pleach_ir::Span;
use pleach_state::State;
use pleach_state::seams::{PathOracle, SearchMetrics};
pub use pleach_state::{Child, Step};

/// Runs states. `step` neither schedules nor prunes.
pub trait Stepper: SearchMetrics {
    /// Runs the state for up to `budget` blocks, or until it forks or ends.
    fn step(&mut self, state: &mut State, budget: u32) -> Step;
    /// Where the next steps have to end early.
    fn stop_at(&mut self, _: Option<pleach_state::StopPoints>) {}
    /// Instructions executed by all steps so far.
    fn instructions(&self) -> u64;
    /// Where in the source the state is.
    fn span(&self, state: &State) -> Span;
    /// For techniques that query states.
    fn logic(&mut self) -> &mut dyn PathOracle;
    /// Steps from here on (until `false`) are no part of the run: coverage and instructions are counted separately and
    /// dropped.
    fn sub_exploration(&mut self, _on: bool) {}
    /// Blocks that were entered so far, including those of the current sub-exploration.
    fn blocks_covered(&self) -> u64;
    /// Brings the [`SearchMetrics`] up to date; called after every step, so cheap when nothing has changed.
    fn refresh(&mut self) {}
}
