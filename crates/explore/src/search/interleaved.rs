//! Several strategies, used in turn. Each knows all states.

use pleach_state::StateId;
use pleach_state::seams::{Age, Searcher, View};

pub struct Interleaved {
    all: Vec<Box<dyn Searcher>>,
    next: usize,
}

impl Interleaved {
    pub fn new(all: Vec<Box<dyn Searcher>>) -> Interleaved {
        Interleaved { all, next: 0 }
    }
}

impl Searcher for Interleaved {
    fn select(&mut self, view: View) -> Option<StateId> {
        let turn = self.next;
        self.next = (turn + 1) % self.all.len().max(1);
        self.all.get_mut(turn)?.select(view)
    }
    fn update(&mut self, current: Option<StateId>, added: &[StateId], removed: &[StateId], view: View) {
        for s in &mut self.all {
            s.update(current, added, removed, view);
        }
    }
    fn selects_last(&self) -> Age {
        self.all.first().map_or(Age::Oldest, |s| s.selects_last())
    }
    fn name(&self) -> String {
        self.all.iter().map(|s| s.name()).collect::<Vec<_>>().join(",")
    }
}
