//! Depth first: always the newest state, of siblings the first, or, as KLEE does it, the last.

use pleach_state::StateId;
use pleach_state::seams::{Searcher, View};
use rustc_hash::FxHashSet;

#[derive(Default)]
pub struct Dfs {
    stack: Vec<StateId>,
    last_sibling_first: bool,
}

impl Dfs {
    pub fn new(last_sibling_first: bool) -> Dfs {
        Dfs { stack: Vec::new(), last_sibling_first }
    }
}

impl Searcher for Dfs {
    fn select(&mut self, _: View) -> Option<StateId> {
        self.stack.last().copied()
    }
    fn update(&mut self, _: Option<StateId>, added: &[StateId], removed: &[StateId], _: View) {
        match removed {
            [] => {}
            [one] if self.stack.last() == Some(one) => {
                self.stack.pop();
            }
            _ => {
                let gone: FxHashSet<_> = removed.iter().collect();
                self.stack.retain(|s| !gone.contains(s));
            }
        }
        match self.last_sibling_first {
            true => self.stack.extend(added),
            false => self.stack.extend(added.iter().rev()),
        }
    }
    fn name(&self) -> String {
        "dfs".into()
    }
}
