//! Given inputs first: as long as a state follows one of them, such a state is selected. What is left behind on the way
//! is then explored as the other searcher says.

use pleach_state::StateId;
use pleach_state::seams::{Age, Searcher, View};
use std::collections::BTreeMap;

/// A state that follows seeds.
struct Following {
    seeds: Vec<u32>,
    /// conjuncts of its path constraint that hold for them
    known: usize,
}

/// Wraps the searcher that is used when no seed is left.
pub struct SeedsFirst<S> {
    next: S,
    following: BTreeMap<StateId, Following>,
    started: bool,
}

impl<S: Searcher> SeedsFirst<S> {
    pub fn new(next: S) -> Self {
        SeedsFirst { next, following: BTreeMap::new(), started: false }
    }

    fn follow(&mut self, id: StateId, among: &[u32], known: usize, view: View) {
        let Some(state) = view.states.get(&id) else { return };
        let seeds = view.statistics.satisfied_seeds(state, among, known);
        if !seeds.is_empty() {
            self.following.insert(id, Following { seeds, known: state.path.len() });
        }
    }
}

impl<S: Searcher> Searcher for SeedsFirst<S> {
    fn select(&mut self, view: View) -> Option<StateId> {
        // The newest: one seed is followed to its end before the next.
        self.following.last_key_value().map(|(id, _)| *id).or_else(|| self.next.select(view))
    }

    fn update(&mut self, current: Option<StateId>, added: &[StateId], removed: &[StateId], view: View) {
        self.next.update(current, added, removed, view);
        let parent = match current.and_then(|id| self.following.remove(&id)) {
            Some(parent) => parent,
            None if !self.started => {
                self.started = true;
                Following { seeds: (0..view.statistics.seeds()).collect(), known: 0 }
            }
            None => {
                removed.iter().for_each(|id| drop(self.following.remove(id)));
                return;
            }
        };
        for id in current.iter().chain(added) {
            self.follow(*id, &parent.seeds, parent.known, view);
        }
        removed.iter().for_each(|id| drop(self.following.remove(id)));
    }

    fn selects_last(&self) -> Age {
        self.next.selects_last()
    }

    fn name(&self) -> String {
        format!("seeds, then {}", self.next.name())
    }
}
