//! A random walk from the root of the execution tree, at each fork into one of the subtrees that are still open.
//!
//! *Paper*: KLEE (OSDI'08) §3.4. *Idea*: states high in the tree, with few constraints and much freedom, are favoured,
//! and a loop that forks a state at every turn does not drown the others.

use crate::rng::Rng;
use pleach_state::seams::{Age, Searcher, View};
use pleach_state::{NodeId, StateId};
use rustc_hash::FxHashMap;

/// At most this many walks are tried; then any state is taken.
const WALKS: u32 = 16;

pub struct RandomPath {
    at: FxHashMap<NodeId, StateId>,
    /// needed on removal, when the state is gone
    node: FxHashMap<StateId, NodeId>,
    rng: Rng,
}

impl RandomPath {
    pub fn new(rng: Rng) -> RandomPath {
        RandomPath { at: FxHashMap::default(), node: FxHashMap::default(), rng }
    }

    fn walk(&mut self, view: View) -> Option<StateId> {
        let mut node = NodeId::ROOT;
        loop {
            if let Some(&state) = self.at.get(&node) {
                return Some(state);
            }
            let open = || view.tree.children(node).filter(|c| view.tree.node(*c).is_open());
            node = match open().count() {
                0 => return None,
                1 => open().next()?,
                n => open().nth(self.rng.below(n))?,
            };
        }
    }
}

impl Searcher for RandomPath {
    fn select(&mut self, view: View) -> Option<StateId> {
        // A walk may end at a leaf whose state was evicted.
        let found = (0..WALKS).find_map(|_| self.walk(view));
        found.or_else(|| match view.states.len() {
            0 => None,
            n => view.states.keys().nth(self.rng.below(n)).copied(),
        })
    }
    fn update(&mut self, _: Option<StateId>, added: &[StateId], removed: &[StateId], view: View) {
        for r in removed {
            if let Some(n) = self.node.remove(r) {
                self.at.remove(&n);
            }
        }
        for a in added {
            let Some(state) = view.states.get(a) else { continue };
            self.node.insert(*a, state.node);
            self.at.insert(state.node, *a);
        }
    }
    /// The shorter a path is, the more likely.
    fn selects_last(&self) -> Age {
        Age::Newest
    }
    fn name(&self) -> String {
        "random-path".into()
    }
}
