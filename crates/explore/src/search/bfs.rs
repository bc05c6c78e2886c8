//! Breadth first, at the level of forks: a state runs until it forks, its children queue up.

use pleach_state::StateId;
use pleach_state::seams::{Searcher, View};
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
        for r in removed {
            if self.queue.front() == Some(r) {
                self.queue.pop_front();
            } else {
                self.queue.retain(|s| s != r);
            }
        }
        self.queue.extend(added);
    }
    fn name(&self) -> String {
        "bfs".into()
    }
}
