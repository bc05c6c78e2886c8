//! Completes subtrees: chooses where little is left to do, and stays until it is done.
//!
//! *Paper*: TracerX §4, the third step of the random strategy. *Idea*: a subtree yields an interpolant when its last path ends. Of a few states drawn at
//! random the one is taken whose end would complete the most nodes above it; then everything below its parent is
//! explored depth first.

use crate::rng::Rng;
use crate::search::random_state::Drawn;
use pleach_state::seams::{Searcher, View};
use pleach_state::{NodeId, StateId, Tree};

/// States looked at for a choice.
const SAMPLE: usize = 16;
/// Nodes looked at above a state.
const HEIGHT: u32 = 64;

pub struct Subtree {
    states: Drawn,
    /// states of the subtree at hand, the next one last
    stack: Vec<StateId>,
    rng: Rng,
}

impl Subtree {
    pub fn new(rng: Rng) -> Subtree {
        Subtree { states: Drawn::default(), stack: Vec::new(), rng }
    }
}

/// How many nodes would be complete if the leaf's path ended now.
fn completes(tree: &Tree, leaf: NodeId) -> u32 {
    let mut at = leaf;
    for n in 1..=HEIGHT {
        let parent = tree.node(at).parent;
        if at == NodeId::ROOT || tree.node(parent).open > 1 {
            return n;
        }
        at = parent;
    }
    HEIGHT
}

impl Searcher for Subtree {
    fn select(&mut self, view: View) -> Option<StateId> {
        if let Some(&next) = self.stack.last() {
            return Some(next);
        }
        let mut best: Option<(u32, u32, StateId)> = None;
        for _ in 0..SAMPLE {
            let id = self.states.draw(&mut self.rng)?;
            let Some(state) = view.states.get(&id) else { continue };
            let rank = (completes(view.tree, state.node), state.depth, id);
            best = best.max(Some(rank));
        }
        let (_, _, id) = best?;
        self.stack.push(id);
        Some(id)
    }
    fn update(&mut self, current: Option<StateId>, added: &[StateId], removed: &[StateId], _: View) {
        self.states.update(added, removed);
        let below = current.is_some_and(|c| self.stack.contains(&c));
        self.stack.retain(|s| !removed.contains(s));
        if below {
            self.stack.extend(added.iter().rev());
        }
    }
    fn name(&self) -> String {
        "subtree".into()
    }
}
