//! Every waiting state with the same probability.

use crate::rng::Rng;
use pleach_state::StateId;
use pleach_state::seams::{Searcher, View};
use rustc_hash::FxHashMap;

/// Waiting states, to draw from.
#[derive(Default)]
pub(crate) struct SampledSet {
    states: Vec<StateId>,
    place: FxHashMap<StateId, usize>,
}

impl SampledSet {
    pub fn draw(&self, rng: &mut Rng) -> Option<StateId> {
        match self.states.len() {
            0 => None,
            n => Some(self.states[rng.below(n)]),
        }
    }

    pub fn update(&mut self, added: &[StateId], removed: &[StateId]) {
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
}

pub struct RandomState {
    states: SampledSet,
    rng: Rng,
}

impl RandomState {
    pub fn new(rng: Rng) -> RandomState {
        RandomState { states: SampledSet::default(), rng }
    }
}

impl Searcher for RandomState {
    fn select(&mut self, _: View) -> Option<StateId> {
        self.states.draw(&mut self.rng)
    }
    fn update(&mut self, _: Option<StateId>, added: &[StateId], removed: &[StateId], _: View) {
        self.states.update(added, removed);
    }
    fn name(&self) -> String {
        "random-state".into()
    }
}
