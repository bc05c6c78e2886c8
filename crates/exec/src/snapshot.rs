//! Steps that are no part of the run: what the machine counts and collects is put back afterwards.

use crate::address_dependence::AddressDependence;
use crate::coverage::Coverage;
use crate::dropped_alternatives::DroppedAlternatives;
use crate::machine::Machine;

/// How things stood before.
pub struct ExecutorSnapshot {
    coverage: Coverage,
    instructions: u64,
    queries: u64,
    arrivals: usize,
    beside: DroppedAlternatives,
    placements: AddressDependence,
}

impl Machine {
    /// Coverage goes on from what it was, so that something new shows.
    pub fn snapshot(&self) -> ExecutorSnapshot {
        self.is_aside.set(true);
        ExecutorSnapshot {
            coverage: self.coverage.clone(),
            instructions: self.instructions,
            queries: self.queries,
            arrivals: self.arrivals.len(),
            beside: self.beside.clone(),
            placements: self.placements.clone(),
        }
    }

    pub fn restore_snapshot(&mut self, before: ExecutorSnapshot) {
        self.is_aside.set(false);
        self.coverage = before.coverage;
        self.instructions = before.instructions;
        self.queries = before.queries;
        self.arrivals.truncate(before.arrivals);
        // SOUND: what was cut aside is not cut in the run.
        self.beside = before.beside;
        self.placements = before.placements;
    }
}
