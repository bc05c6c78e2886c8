//! Depth first: always the newest state, of siblings the first.

use pleach_state::StateId;
use pleach_state::seams::{Searcher, View};

#[derive(Default)]
pub struct Dfs {
    stack: Vec<StateId>,
}

impl Searcher for Dfs {
    fn select(&mut self, _: View) -> Option<StateId> {
        self.stack.last().copied()
    }
    fn update(&mut self, _: Option<StateId>, added: &[StateId], removed: &[StateId], _: View) {
        for r in removed {
            if self.stack.last() == Some(r) {
                self.stack.pop();
            } else {
                self.stack.retain(|s| s != r);
            }
        }
        self.stack.extend(added.iter().rev());
    }
    fn name(&self) -> String {
        "dfs".into()
    }
}
