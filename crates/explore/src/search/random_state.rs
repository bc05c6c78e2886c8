//! Every waiting state with the same probability.

use crate::rng::Rng;
use pleach_state::StateId;
use pleach_state::seams::{Searcher, View};
use rustc_hash::FxHashMap;

pub struct RandomState {
    states: Vec<StateId>,
    place: FxHashMap<StateId, usize>,
    rng: Rng,
}

impl RandomState {
    pub fn new(rng: Rng) -> RandomState {
        RandomState { states: Vec::new(), place: FxHashMap::default(), rng }
    }
}

impl Searcher for RandomState {
    fn select(&mut self, _: View) -> Option<StateId> {
        match self.states.len() {
            0 => None,
            n => Some(self.states[self.rng.below(n)]),
        }
    }
    fn update(&mut self, _: Option<StateId>, added: &[StateId], removed: &[StateId], _: View) {
        for &r in removed {
            let Some(at) = self.place.remove(&r) else { continue };
            self.states.swap_remove(at);
            if let Some(moved) = self.states.get(at) {
                self.place.insert(*moved, at);
            }
        }
        for &a in added {
            self.place.insert(a, self.states.len());
            self.states.push(a);
        }
    }
    fn name(&self) -> String {
        "random-state".into()
    }
}
