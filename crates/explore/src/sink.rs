//! Who is told what happens: the side that writes files and talks to people.

use crate::counters::Counters;
use pleach_state::{Cut, End, NodeId, State, Tree};
use std::time::Duration;

/// A path that has ended.
pub struct Ended<'a> {
    pub state: &'a State,
    pub end: &'a End,
    pub node: NodeId,
    /// the run is over its time or has all its tests: none for this path, unless it shows an error
    pub skip_test: bool,
}

/// How things stand.
pub struct Progress<'a> {
    pub counters: &'a Counters,
    pub states: usize,
    /// states evicted
    pub evicted: usize,
    /// of the execution tree
    pub nodes: usize,
    pub elapsed: Duration,
    /// of `max_time`; `None` without that limit
    pub time_left: Option<Duration>,
    /// what comes next may take long, and the run be ended in the middle of it
    pub long_ahead: bool,
}

/// Told by the loop, in order. `M` is the executor, which turns states into inputs.
pub trait Sink<M> {
    /// The number of the test written for the path; 0 when there is none.
    fn on_path_end(&mut self, machine: &mut M, ended: Ended) -> u32;
    /// The node got children.
    fn on_fork(&mut self, _node: NodeId, _tree: &Tree) {}
    /// Everything at and below the node is done.
    fn on_close(&mut self, _node: NodeId, _tree: &Tree) {}
    /// A state that covered something new goes into a merged one, whose test need not do so. The number of the test
    /// written for it; 0 when there is none.
    fn on_merged(&mut self, _machine: &mut M, _state: &State) -> u32 {
        0
    }
    /// A state was subsumed by the interpolant of `by`.
    fn on_pruned(&mut self, _state: &State, _by: NodeId) {}
    /// A subsumed state, explored anyway, reached something that the subsuming subtree did not: an internal error.
    fn on_unsound(&mut self, _machine: &mut M, _ended: Ended, _words: &str) {}
    /// Now and then, about as often as [`crate::RunConfig::progress_every`] asks.
    fn on_progress(&mut self, _machine: &mut M, _progress: Progress) {}
    /// The memory limit was reached and states were evicted: a chance to return freed memory.
    fn on_memory_pressure(&mut self) {}
    /// A reason to stop the run, for instance that nothing can be written any more.
    fn stop(&mut self) -> Option<Cut> {
        None
    }
}

/// Keeps nothing.
pub struct NoSink;
impl<M> Sink<M> for NoSink {
    fn on_path_end(&mut self, _: &mut M, _: Ended) -> u32 {
        0
    }
}
