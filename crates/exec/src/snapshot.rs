//! Steps that are no part of the run: what the machine counts and collects is put back afterwards.

use crate::address_dependence::AddressDependence;
use crate::config::Splitting;
use crate::coverage::Coverage;
use crate::dropped_alternatives::DroppedAlternatives;
use crate::machine::Machine;
use pleach_smt::Solver;
use pleach_state::StopPoints;

/// How things stood before.
pub struct ExecutorSnapshot {
    coverage: Coverage,
    instructions: u64,
    queries: u64,
    target_hits: usize,
    dropped: DroppedAlternatives,
    address_dependence: AddressDependence,
}

impl Machine {
    /// Coverage goes on from what it was, so that something new shows.
    pub fn snapshot(&self) -> ExecutorSnapshot {
        self.is_aside.set(true);
        ExecutorSnapshot {
            coverage: self.coverage.clone(),
            instructions: self.instructions,
            queries: self.queries,
            target_hits: self.target_hits.len(),
            dropped: self.dropped.clone(),
            address_dependence: self.address_dependence.clone(),
        }
    }

    pub fn restore_snapshot(&mut self, before: ExecutorSnapshot) {
        self.is_aside.set(false);
        pleach_state::seams::PathOracle::weaken_quantifiers(self, false);
        self.coverage = before.coverage;
        self.instructions = before.instructions;
        self.queries = before.queries;
        self.target_hits.truncate(before.target_hits);
        // SOUND: what was cut in a sub-exploration is not cut in the run.
        self.dropped = before.dropped;
        self.address_dependence = before.address_dependence;
    }
}

/// The run's own, while the executor works with another solver.
pub struct SetAside {
    solver: Box<dyn Solver>,
    splitting: Option<Splitting>,
    before: ExecutorSnapshot,
}

impl Machine {
    /// Steps are no part of the run, and have another solver and whole objects, until [`Machine::take_back`].
    pub fn set_aside(&mut self, solver: Box<dyn Solver>) -> SetAside {
        let solver = std::mem::replace(&mut self.solver, solver);
        SetAside { solver, splitting: self.model.set_splitting(None), before: self.snapshot() }
    }

    pub fn take_back(&mut self, aside: SetAside) {
        self.solver = aside.solver;
        self.model.set_splitting(aside.splitting);
        self.restore_snapshot(aside.before);
    }

    /// Where the next steps have to end early.
    pub fn stop_at(&mut self, points: Option<StopPoints>) {
        self.stop_points = points;
    }
}
