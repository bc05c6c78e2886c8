//! Steps that are no part of the run: what the machine counts and collects is put back afterwards.

use crate::beside::Beside;
use crate::coverage::Coverage;
use crate::machine::Machine;
use crate::placement::Placements;

/// How things stood before.
pub struct Aside {
    coverage: Coverage,
    instructions: u64,
    queries: u64,
    arrivals: usize,
    beside: Beside,
    placements: Placements,
}

impl Machine {
    /// Coverage goes on from what it was, so that something new shows.
    pub fn go_aside(&self) -> Aside {
        Aside {
            coverage: self.coverage.clone(),
            instructions: self.instructions,
            queries: self.queries,
            arrivals: self.arrivals.len(),
            beside: self.beside.clone(),
            placements: self.placements.clone(),
        }
    }

    pub fn come_back(&mut self, before: Aside) {
        self.coverage = before.coverage;
        self.instructions = before.instructions;
        self.queries = before.queries;
        self.arrivals.truncate(before.arrivals);
        // SOUND: what was cut aside is not cut in the run.
        self.beside = before.beside;
        self.placements = before.placements;
    }
}
