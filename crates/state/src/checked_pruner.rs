//! Checks a pruner: keeps what was reached below every node, so that a subsumed subtree, explored anyway, can be
//! compared with the subsuming one.
//!
//! *Invariant*: for a complete node, the set holds every block and error place below it; a subsumed node has those of
//! its subsuming node. *Direction*: it sees a pruning that lost something within the limit of the second exploration;
//! it proves nothing beyond.

use crate::outcome::End;
use crate::reached_set::{Blocks, Reached};
use crate::seams::{Effort, PathOracle, PruneDecision, Pruner};
use crate::state::State;
use crate::tree::{NodeId, Tree};
use pleach_ir::Program;
use rustc_hash::FxHashMap;
use std::rc::Rc;

pub struct CheckedPruner<'a> {
    inner: &'a mut dyn Pruner,
    program: Rc<Program>,
    blocks: Blocks,
    below: FxHashMap<NodeId, Reached>,
}

impl<'a> CheckedPruner<'a> {
    pub fn new(inner: &'a mut dyn Pruner, program: Rc<Program>) -> CheckedPruner<'a> {
        let blocks = Blocks::new(&program);
        CheckedPruner { inner, program, blocks, below: FxHashMap::default() }
    }

    fn at(&mut self, node: NodeId) -> &mut Reached {
        self.below.entry(node).or_insert_with(|| Reached::new(&self.blocks))
    }

    fn note(&mut self, node: NodeId, state: &State) {
        let (program, blocks) = (self.program.clone(), std::mem::take(&mut self.blocks));
        self.below.entry(node).or_insert_with(|| Reached::new(&blocks)).note(&program, &blocks, state);
        self.blocks = blocks;
    }
}

impl Pruner for CheckedPruner<'_> {
    fn check_subsumed(&mut self, state: &mut State, tree: &Tree, logic: &mut dyn PathOracle) -> PruneDecision {
        self.inner.check_subsumed(state, tree, logic)
    }

    fn open(&mut self, node: NodeId, state: &mut State, tree: &Tree) {
        // The way to the node lies below its parent.
        self.note(tree.node(node).parent, state);
        let here = self.blocks.number(state.frame.func, state.block);
        self.at(node).blocks.insert(here);
        self.inner.open(node, state, tree);
    }

    fn merged(&mut self, state: &mut State, leaves: &mut [Box<State>], tree: &Tree) {
        // What was entered on the way to here lies below the leaves.
        leaves.iter().for_each(|leaf| self.note(leaf.node, leaf));
        let here = self.blocks.number(state.frame.func, state.block);
        self.at(state.node).blocks.insert(here);
        self.inner.merged(state, leaves, tree);
    }

    fn ended(&mut self, state: &mut State, end: &End, logic: &mut dyn PathOracle) {
        self.note(state.node, state);
        let program = self.program.clone();
        self.at(state.node).note_end(&program, state, end);
        self.inner.ended(state, end, logic);
    }

    fn wants_sample(&mut self, effort: Effort, forks: u64) -> bool {
        self.inner.wants_sample(effort, forks)
    }

    fn sampled(&mut self, effort: Effort, forks: u64, ended: bool) {
        self.inner.sampled(effort, forks, ended);
    }

    fn on_subsumed(&mut self, state: &mut State, by: NodeId, logic: &mut dyn PathOracle) {
        self.note(state.node, state);
        let known = self.at(by).clone();
        self.at(state.node).union_with(&known);
        self.inner.on_subsumed(state, by, logic);
    }

    fn on_assumed(&mut self, state: Box<State>, by: NodeId) {
        self.note(state.node, &state);
        self.inner.on_assumed(state, by);
    }

    fn take_reopened(&mut self, all: bool) -> Vec<Box<State>> {
        self.inner.take_reopened(all)
    }

    fn close(&mut self, node: NodeId, tree: &Tree, logic: &mut dyn PathOracle) {
        for &parent in tree.parents(node) {
            let mine = self.at(node).clone();
            self.at(parent).union_with(&mine);
        }
        self.inner.close(node, tree, logic);
    }

    fn speculated(&mut self, state: &State, known: bool, instructions: u64) {
        self.inner.speculated(state, known, instructions);
    }

    fn known_below(&self, node: NodeId) -> Option<(&Blocks, &Reached)> {
        self.below.get(&node).map(|r| (&self.blocks, r))
    }

    fn times(&self) -> Vec<(String, std::time::Duration)> {
        self.inner.times()
    }

    fn statistics(&self) -> Vec<(String, u64)> {
        self.inner.statistics()
    }
}
