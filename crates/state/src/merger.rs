//! The seam of merging: which states wait where, which of them are ready, and one state for several.

use crate::frame::CallStack;
use crate::path::PathConstraint;
use crate::seams::{Effort, PathOracle};
use crate::state::State;
use crate::tree::NodeId;
use pleach_expr::TermId;
use pleach_ir::bitset::BitSet;
use pleach_ir::{BlockId, FuncId};
use std::rc::Rc;

/// Where a step ends although the state could go on: at the start of these blocks of a call, and after it has returned.
#[derive(Clone, Debug)]
pub struct StopPoints {
    pub func: FuncId,
    /// of the call stack
    pub depth: u32,
    pub blocks: Rc<BitSet>,
}

impl StopPoints {
    /// The state, which has just entered a block or returned, is at such a place.
    #[inline]
    pub fn is_at(&self, state: &State) -> bool {
        let depth = state.call_depth();
        depth < self.depth
            || depth == self.depth && state.frame.func == self.func && self.blocks.contains(state.block.index())
    }
}

/// A node got children.
pub struct Fork<'a> {
    pub node: NodeId,
    /// where it forked
    pub block: BlockId,
    /// the path constraint some time before
    pub before: &'a PathConstraint,
    /// those children that go on, and the condition of each
    pub children: &'a [(NodeId, TermId)],
    /// the function in which it forked, and who called it
    pub func: FuncId,
    pub callers: Option<&'a Rc<CallStack>>,
    /// the symbolic sizes of objects
    pub sizes: &'a [TermId],
}

/// A region of the tree in which states wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RegionId(pub u32);

/// States to merge.
pub struct Group {
    pub members: Vec<Box<State>>,
    /// the path constraint that all of them extend
    pub before: PathConstraint,
    /// where they go on
    pub outer: Option<RegionId>,
}

/// What a state costs that was explored for a while, in units of [`Effort::units`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrialCost {
    pub units: u64,
    pub instructions: u64,
    /// those of the longest path
    pub longest: u64,
    /// nothing was left to explore
    pub ended: bool,
}

/// Decides which states wait for each other, and makes one of several. Called by the run loop: `forked` when a node gets
/// children by a fork, `grew` when it gets one without; `arrived` after each step of a state that goes on, then `wait`
/// if it is to wait; `left` when a path ends or is subsumed; `ready` until there is nothing more, each group followed by
/// `partition`, and each part of it by `merge` and `resumed`, with a trial between them if one is wanted. *Contract*: a
/// state that waits is not stepped until it is handed out by `ready` or `take_waiting`.
pub trait Merger {
    /// Nothing is merged: the loop need not tell anything.
    fn is_off(&self) -> bool;
    /// Where the next step of the state at this leaf has to end.
    fn stop_points(&self, leaf: NodeId) -> Option<StopPoints>;
    fn forked(&mut self, fork: Fork, logic: &mut dyn PathOracle);
    fn grew(&mut self, node: NodeId, child: NodeId);
    /// Whether the state waits here for others.
    fn arrived(&mut self, state: &State) -> bool;
    fn wait(&mut self, state: Box<State>);
    fn left(&mut self, leaf: NodeId);
    /// The next group whose members need not wait any more; `all`: nor need the others, as nothing else is left to do.
    fn ready(&mut self, all: bool) -> Option<Group>;
    /// The group in parts that are merged separately.
    fn partition(&mut self, group: Group, _: &mut dyn PathOracle) -> Vec<Group> {
        vec![group]
    }
    /// One state for the group, without a node; `None` if that is refused, and counted.
    fn merge(&mut self, group: &Group, logic: &mut dyn PathOracle) -> Option<State>;
    /// After `merge`: whether it has to be tried out if merging pays, and how far members are explored for that.
    fn trial(&mut self, _: &Group, _: Effort) -> Option<u64> {
        None
    }
    /// How far the merged state is explored, if some members cost this much.
    fn trial_of_merged(&mut self, _: &Group, _: &[TrialCost]) -> Option<u64> {
        None
    }
    /// The merged state costs this much: false if the members go on separately.
    fn tried(&mut self, _: &Group, _: &[TrialCost], _: Option<TrialCost>) -> bool {
        true
    }
    /// A state of a group goes on.
    fn resumed(&mut self, state: &State, outer: Option<RegionId>);
    /// States that wait, for the end of the run.
    fn take_waiting(&mut self) -> Vec<Box<State>>;
    /// Statistics by name.
    fn statistics(&self) -> Vec<(String, u64)> {
        Vec::new()
    }
}

/// Merges nothing.
pub struct NoMerger;

impl Merger for NoMerger {
    fn is_off(&self) -> bool {
        true
    }
    fn stop_points(&self, _: NodeId) -> Option<StopPoints> {
        None
    }
    fn forked(&mut self, _: Fork, _: &mut dyn PathOracle) {}
    fn grew(&mut self, _: NodeId, _: NodeId) {}
    fn arrived(&mut self, _: &State) -> bool {
        false
    }
    fn wait(&mut self, _: Box<State>) {}
    fn left(&mut self, _: NodeId) {}
    fn ready(&mut self, _: bool) -> Option<Group> {
        None
    }
    fn merge(&mut self, _: &Group, _: &mut dyn PathOracle) -> Option<State> {
        None
    }
    fn resumed(&mut self, _: &State, _: Option<RegionId>) {}
    fn take_waiting(&mut self) -> Vec<Box<State>> {
        Vec::new()
    }
}
