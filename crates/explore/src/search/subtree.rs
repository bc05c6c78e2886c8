//! Completes subtrees: chooses where little is left to do, and stays until it is done.
//!
//! *Paper*: TracerX §4, the third step of the random strategy. *Idea*: a subtree yields an interpolant when its last
//! path ends. Of a few states drawn at random the one is taken whose end would complete the most nodes above it; then
//! everything below it is explored depth first, whatever other strategies do there. One that does not end is left after
//! a while, which is mostly short and now and then long (Luby's sequence): small subtrees are completed everywhere, and
//! large ones in the end.

use crate::rng::Rng;
use crate::search::random_state::SampledSet;
use pleach_state::seams::{Searcher, View};
use pleach_state::{NodeId, StateId, Tree};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

/// States considered for a choice.
const SAMPLE: usize = 16;
/// Nodes considered above a state.
const HEIGHT: u32 = 64;
/// Steps that a subtree may take, times a number of the sequence.
const LUBY_UNIT: u64 = 64;

pub struct Subtree {
    states: SampledSet,
    /// states of the subtree at hand, the next one last; those that are not `open` are gone
    stack: VecDeque<StateId>,
    open: FxHashSet<StateId>,
    /// subtrees chosen so far
    chosen: u64,
    /// steps that are left
    left: u64,
    rng: Rng,
}

impl Subtree {
    pub fn new(rng: Rng) -> Subtree {
        let (states, stack, open) = Default::default();
        Subtree { states, stack, open, chosen: 0, left: 0, rng }
    }

    /// The next state of the subtree at hand.
    fn next(&mut self) -> Option<StateId> {
        while self.stack.pop_back_if(|s| !self.open.contains(s)).is_some() {}
        self.stack.back().copied()
    }
}

/// 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 …, from the first on.
fn luby(i: u64) -> u64 {
    let mut k = 1;
    while (1u64 << k) - 1 < i {
        k += 1;
    }
    if (1u64 << k) - 1 == i { 1 << (k - 1) } else { luby(i - (1 << (k - 1)) + 1) }
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
        if let Some(next) = self.next()
            && self.left > 0
        {
            self.left -= 1;
            return Some(next);
        }
        self.chosen += 1;
        self.left = LUBY_UNIT * luby(self.chosen);
        let mut best: Option<(u32, u32, StateId)> = None;
        for _ in 0..SAMPLE {
            let id = self.states.draw(&mut self.rng)?;
            let Some(state) = view.states.get(&id) else { continue };
            let rank = (completes(view.tree, state.node), state.depth, id);
            best = best.max(Some(rank));
        }
        let (_, _, id) = best?;
        self.stack = VecDeque::from([id]);
        self.open = FxHashSet::from_iter([id]);
        Some(id)
    }
    fn update(&mut self, current: Option<StateId>, added: &[StateId], removed: &[StateId], _: View) {
        self.states.update(added, removed);
        let below = current.filter(|c| self.open.contains(c));
        if below.is_some() {
            self.open.extend(added);
            match self.next() == below {
                true => self.stack.extend(added.iter().rev()),
                // Somebody else's step: it must not change what is next.
                false => added.iter().for_each(|s| self.stack.push_front(*s)),
            }
        }
        removed.iter().for_each(|s| {
            self.open.remove(s);
        });
    }
    fn name(&self) -> String {
        "subtree".into()
    }
}
