//! The seams of pruning: which states are subsumed, what is learned from complete subtrees, what subsumption saves.
//!
//! A technique that prunes implements [`Subsumption`] and [`Interpolator`] over tables that both share, and [`Pruner`],
//! which holds the two together. The run loop calls, for each node of the tree: [`Interpolator::open`], or
//! [`Interpolator::merged`] where several leaves went into it; for a leaf [`Interpolator::ended`] or
//! [`Interpolator::on_subsumed`]; last [`Interpolator::close`], children before parents.

use crate::outcome::End;
use crate::seams::{Effort, PathOracle};
use crate::state::State;
use crate::tree::{NodeId, Tree};
use pleach_ir::Program;

/// What becomes of a state that is about to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PruneDecision {
    Continue,
    /// worth a node of its own, so that others can be compared with it
    NewNode,
    /// everything below is known from this node
    Subsumed(NodeId),
    /// everything below will be known from this node, which is not complete yet; see [`Assumptions`]
    Assumed(NodeId),
    /// the same state is explored from this node
    Visited(NodeId),
    /// may be worth exploring without its path constraint, for at most this many instructions; otherwise as `NewNode`
    Speculate(u64),
}

/// Which states need not be explored?
pub trait Subsumption {
    /// Called before each step of a state. *Contract*: `Subsumed(n)` only if node `n` is closed and not tainted, and
    /// the state reaches no block and no error that was not reached below `n`. The state may be changed in its record
    /// of what it executed, and in nothing else.
    fn check_subsumed(&mut self, state: &mut State, tree: &Tree, logic: &mut dyn PathOracle) -> PruneDecision;
    /// The speculation that the last `check_subsumed` requested has ended: whether everything was known, and what it
    /// cost in instructions. The state is as it was then. Another `check_subsumed` of it follows if all was known.
    fn speculated(&mut self, _: &State, _known: bool, _instructions: u64) {}
}

/// Learns from the tree as it grows and closes.
pub trait Interpolator {
    /// `state` stands at the new node, which is its own. *Contract*: it may take the state's record of what was
    /// executed since the node above, and leaves an empty one.
    fn open(&mut self, node: NodeId, state: &mut State, tree: &Tree);
    /// `state` stands at a new node, which these leaves went into. They close after it. *Contract*: as for `open`; what
    /// is learned at the node is passed on to all leaves, or they learn nothing.
    fn merged(&mut self, state: &mut State, _leaves: &mut [Box<State>], tree: &Tree) {
        self.open(state.node, state, tree);
    }
    /// The path of the state ended at its node. Not called for paths that end when it is too late to learn.
    fn ended(&mut self, _: &mut State, _: &End, _: &mut dyn PathOracle) {}
    /// The state was subsumed by `by`, as the last `check_subsumed` said.
    fn on_subsumed(&mut self, _: &mut State, _by: NodeId, _: &mut dyn PathOracle) {}
    /// Everything below the node is done. *Contract*: nothing is learned of a tainted node, below which a path was cut.
    fn close(&mut self, node: NodeId, tree: &Tree, logic: &mut dyn PathOracle);
}

/// Takes states as subsumed by nodes that are not complete yet, and is to discharge that assumption or to revoke it.
/// *Contract*: `check_subsumed` says `Assumed(n)` only where [`Pruner::assumptions`] is there. When the root closes and
/// nothing is opened again, no assumption is left that does not hold.
pub trait Assumptions {
    /// The state is taken as subsumed by `by`, as the last `check_subsumed` said. Its leaf closes as a subsumed one.
    fn on_assumed(&mut self, state: Box<State>, by: NodeId, logic: &mut dyn PathOracle);
    /// States whose assumption does not hold, to be explored after all. Called after each `close`: the leaves of these
    /// states and all nodes above them, the closing node included, are open again. `all`: nothing else is left to do,
    /// or the run ends: every assumption that is not discharged is revoked.
    fn take_reopened(&mut self, all: bool) -> Vec<Box<State>>;
    /// No leaf is taken as subsumed, and nobody asks for what is learned but to subsume states.
    fn are_settled(&self) -> bool;
    /// The state is the side of a branch that leaves a loop.
    fn leaves_loop(&mut self, state: &State, program: &Program) -> bool;
}

/// What becomes of a state of a proof by induction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InductionStep {
    Continue,
    /// it is one of the states that its loop is explored from
    Covered,
    /// the attempt proves nothing
    GiveUp,
}

/// How one pass of a proof by induction ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PassEnd {
    /// all of its states ended without harm, or were covered
    Complete,
    /// one did not
    Failed,
    /// it cost too much
    Limit,
}

/// What follows a pass.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterPass {
    Again,
    /// no execution of the program, however often its loops go round, ends in harm
    Proved,
    GaveUp,
}

/// Proves the whole program at once: at the start of each loop a state stands for all rounds. The passes are explored
/// outside the run, from its initial states.
pub trait Induction {
    /// What an attempt may cost now, in units of effort, if one is due after this much.
    fn due(&mut self, spent: u64) -> Option<u64>;
    /// An attempt begins, from these states.
    fn begin(&mut self, _roots: &[State]) {}
    /// Called before each step of a state. *Contract*: `Covered` only if the state is one of those that an earlier
    /// state of the same path stands for, which has made a step since.
    fn arrive(&mut self, state: &mut State, logic: &mut dyn PathOracle) -> InductionStep;
    /// A path that ends so does no harm.
    fn is_harmless(&mut self, end: &End) -> bool;
    /// *Contract*: `Proved` only after a complete pass in which nothing had to be made more general.
    fn after_pass(&mut self, end: PassEnd, logic: &mut dyn PathOracle) -> AfterPass;
}

/// Measures what subsumption saves: a subsumed state is now and then explored without pruning, and stays subsumed.
pub trait CostSampler {
    /// The last `check_subsumed` subsumed a state. Whether to explore it, or to go on with that after this effort and
    /// this number of forks.
    fn wants_sample(&mut self, spent: Effort, forks: u64) -> bool;
    /// That was explored, to the end or not. Called once after `wants_sample` was true, before `on_subsumed`.
    fn sampled(&mut self, spent: Effort, forks: u64, ended: bool);
}

/// A technique that prunes.
pub trait Pruner: Subsumption + Interpolator {
    /// Who answers for assumptions, if there may be any.
    fn assumptions(&mut self) -> Option<&mut dyn Assumptions> {
        None
    }
    /// Who proves by induction, if anyone does.
    fn induction(&mut self) -> Option<&mut dyn Induction> {
        None
    }
    /// What it learns speaks of the rounds that loops have left, so that a path that was cut by the bound on them
    /// teaches something. *Contract*: a state with more rounds left than such a path had is not subsumed by what was
    /// learned.
    fn knows_rounds(&self) -> bool {
        false
    }
    /// Who measures what is saved, if anyone does.
    fn cost_sampler(&mut self) -> Option<&mut dyn CostSampler> {
        None
    }
    /// What the run has cost so far, in units of [`Effort`], with what the pruner does itself.
    fn run_cost(&self, effort: Effort, forks: u64) -> u64 {
        effort.units(forks)
    }
    /// Statistics by name.
    fn statistics(&self) -> Vec<(String, u64)> {
        Vec::new()
    }
    /// Time spent, by part.
    fn times(&self) -> Vec<(String, std::time::Duration)> {
        Vec::new()
    }
}

/// Subsumes nothing and learns nothing.
pub struct NoPruner;

impl Subsumption for NoPruner {
    fn check_subsumed(&mut self, _: &mut State, _: &Tree, _: &mut dyn PathOracle) -> PruneDecision {
        PruneDecision::Continue
    }
}

impl Interpolator for NoPruner {
    fn open(&mut self, _: NodeId, _: &mut State, _: &Tree) {}
    fn close(&mut self, _: NodeId, _: &Tree, _: &mut dyn PathOracle) {}
}

impl Pruner for NoPruner {}
