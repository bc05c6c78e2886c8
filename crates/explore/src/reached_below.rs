//! What was reached below every node, so that a subsumed subtree, explored anyway, can be compared with the subsuming
//! one.
//!
//! *Invariant*: for a complete node, the set holds every block and error place below it; a subsumed node has those of
//! its subsuming node. *Direction*: it sees a pruning that lost something within the limit of the second exploration;
//! it proves nothing beyond.

use pleach_ir::Program;
use pleach_state::pruner::{Interpolator, Pruner};
use pleach_state::reached_set::{Blocks, Reached};
use pleach_state::seams::PathOracle;
use pleach_state::{End, NodeId, State, Tree};
use rustc_hash::FxHashMap;
use std::rc::Rc;

pub(crate) struct ReachedBelow {
    program: Rc<Program>,
    blocks: Rc<Blocks>,
    below: FxHashMap<NodeId, Reached>,
    /// a state was taken as subsumed: what is reached below one node may be found below another
    assumed: bool,
}

impl ReachedBelow {
    pub fn new(program: Rc<Program>) -> ReachedBelow {
        let blocks = Rc::new(Blocks::new(&program));
        ReachedBelow { program, blocks, below: FxHashMap::default(), assumed: false }
    }

    pub fn known(&self, node: NodeId) -> Option<(Rc<Blocks>, Reached)> {
        let mut known = self.below.get(&node)?.clone();
        if self.assumed {
            self.below.values().for_each(|r| known.union_with(r));
        }
        Some((self.blocks.clone(), known))
    }

    fn at(&mut self, node: NodeId) -> &mut Reached {
        self.below.entry(node).or_insert_with(|| Reached::new(&self.blocks))
    }

    fn note(&mut self, node: NodeId, state: &State) {
        let (program, blocks) = (self.program.clone(), self.blocks.clone());
        self.at(node).note(&program, &blocks, state);
    }

    fn note_place(&mut self, node: NodeId, state: &State) {
        let here = self.blocks.number(state.frame.func, state.block);
        self.at(node).blocks.insert(here);
    }
}

impl Interpolator for ReachedBelow {
    fn open(&mut self, node: NodeId, state: &mut State, tree: &Tree) {
        // The way to the node lies below its parent.
        self.note(tree.node(node).parent, state);
        self.note_place(node, state);
    }

    fn merged(&mut self, state: &mut State, leaves: &mut [Box<State>], _: &Tree) {
        // What was entered on the way to here lies below the leaves.
        leaves.iter().for_each(|leaf| self.note(leaf.node, leaf));
        self.note_place(state.node, state);
    }

    fn ended(&mut self, state: &mut State, end: &End, _: &mut dyn PathOracle) {
        self.note(state.node, state);
        let program = self.program.clone();
        self.at(state.node).note_end(&program, state, end);
    }

    fn on_subsumed(&mut self, state: &mut State, by: NodeId, _: &mut dyn PathOracle) {
        self.note(state.node, state);
        let known = self.at(by).clone();
        self.at(state.node).union_with(&known);
    }

    fn close(&mut self, node: NodeId, tree: &Tree, _: &mut dyn PathOracle) {
        for &parent in tree.parents(node) {
            let mine = self.at(node).clone();
            self.at(parent).union_with(&mine);
        }
    }
}

/// The technique, and before it, where the pruning is checked, the table of what was reached: both hear of every node.
pub(crate) struct Learners<'a> {
    pub pruner: &'a mut dyn Pruner,
    pub reached: Option<ReachedBelow>,
}

impl Learners<'_> {
    /// The state is taken as subsumed.
    pub fn assume(&mut self, state: Box<State>, by: NodeId, logic: &mut dyn PathOracle) {
        if let Some(r) = &mut self.reached {
            r.assumed = true;
            r.note(state.node, &state);
        }
        if let Some(a) = self.pruner.assumptions() {
            a.on_assumed(state, by, logic);
        }
    }
}

impl Interpolator for Learners<'_> {
    fn open(&mut self, node: NodeId, state: &mut State, tree: &Tree) {
        self.reached.iter_mut().for_each(|r| r.open(node, state, tree));
        self.pruner.open(node, state, tree);
    }
    fn merged(&mut self, state: &mut State, leaves: &mut [Box<State>], tree: &Tree) {
        self.reached.iter_mut().for_each(|r| r.merged(state, leaves, tree));
        self.pruner.merged(state, leaves, tree);
    }
    fn ended(&mut self, state: &mut State, end: &End, logic: &mut dyn PathOracle) {
        self.reached.iter_mut().for_each(|r| r.ended(state, end, logic));
        self.pruner.ended(state, end, logic);
    }
    fn on_subsumed(&mut self, state: &mut State, by: NodeId, logic: &mut dyn PathOracle) {
        self.reached.iter_mut().for_each(|r| r.on_subsumed(state, by, logic));
        self.pruner.on_subsumed(state, by, logic);
    }
    fn close(&mut self, node: NodeId, tree: &Tree, logic: &mut dyn PathOracle) {
        self.reached.iter_mut().for_each(|r| r.close(node, tree, logic));
        self.pruner.close(node, tree, logic);
    }
}
