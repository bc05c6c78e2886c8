//! Breadth first, at the level of forks: a state runs until it forks, its children queue up.

use pleach_state::StateId;
use pleach_state::seams::{Age, Searcher, View};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

#[derive(Default)]
pub struct Bfs {
    queue: VecDeque<StateId>,
}

impl Searcher for Bfs {
    fn select(&mut self, _: View) -> Option<StateId> {
        self.queue.front().copied()
    }
    fn update(&mut self, _: Option<StateId>, added: &[StateId], removed: &[StateId], _: View) {
        match removed {
            [] => {}
            [one] if self.queue.front() == Some(one) => {
                self.queue.pop_front();
            }
            _ => {
                let gone: FxHashSet<_> = removed.iter().collect();
                self.queue.retain(|s| !gone.contains(s));
            }
        }
        self.queue.extend(added);
    }
    fn selects_last(&self) -> Age {
        Age::Newest
    }
    fn name(&self) -> String {
        "bfs".into()
    }
}
