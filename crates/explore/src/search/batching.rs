//! Stays with a chosen state for a number of instructions before asking again.
//!
//! *Deviation* from KLEE: no batches by time, which would make the order depend on the machine.

use pleach_state::StateId;
use pleach_state::seams::{Age, Searcher, View};

pub struct Batching {
    inner: Box<dyn Searcher>,
    batch: u64,
    /// the state, and how many instructions it had when it was chosen
    current: Option<(StateId, u64)>,
}

impl Batching {
    pub fn new(inner: Box<dyn Searcher>, batch: u64) -> Batching {
        Batching { inner, batch, current: None }
    }
}

impl Searcher for Batching {
    fn select(&mut self, view: View) -> Option<StateId> {
        if let Some((id, start)) = self.current
            && view.states.get(&id).is_some_and(|s| s.instructions - start <= self.batch)
        {
            return Some(id);
        }
        let id = self.inner.select(view)?;
        self.current = view.states.get(&id).map(|s| (id, s.instructions));
        Some(id)
    }
    fn update(&mut self, current: Option<StateId>, added: &[StateId], removed: &[StateId], view: View) {
        if let Some((id, start)) = self.current
            && removed.contains(&id)
        {
            // A fork does not end the batch: its first child goes on. One of which a single side goes on does: where
            // the solver returned unknown for the other, there may be more such queries ahead, and they take long.
            let heir = added.first().filter(|_| current == Some(id) && added.len() > 1);
            self.current = heir.map(|h| (*h, start));
        }
        self.inner.update(current, added, removed, view);
    }
    fn selects_last(&self) -> Age {
        self.inner.selects_last()
    }
    fn name(&self) -> String {
        format!("{} (batches of {} instructions)", self.inner.name(), self.batch)
    }
}
