//! Whether pruning pays: the work it costs against the work of execution and the work it saved.
//!
//! *Idea*: everything is counted in units of about one executed instruction, so that decisions do not depend on the clock. While pruning has cost
//! more than its share, states are neither recorded nor compared. *Direction*: resting costs pruning, never soundness: a node below
//! which something was not recorded yields nothing.

use pleach_state::seams::Effort;

/// What may be spent before anything must have been gained: little where nothing is covered, more where much is.
const START: u64 = 1_000_000;
const PATIENCE: u64 = 8_000_000;
/// What much is: one state covered for so many that were not.
const SUCCESS: u64 = 12;
/// Before so many leaves nothing is held against pruning: a long first path costs much before there is anything to cover, and
/// what is saved may double with each leaf.
const TRIALS: u64 = 30;
/// Of the work done or saved, pruning may cost one part in so many.
const SHARE: u64 = 4;

/// Costs, in units.
pub const NODE: u64 = 80;
pub const STEP_BACK: u64 = 6;
pub const TIGHTEN: u64 = 100;
pub const LITERAL: u64 = 60;
pub const TRY: u64 = 30;
pub const TRY_LITERAL: u64 = 15;

/// What is executed beside instructions, in the same units.
const FORK: u64 = 300;
const QUERY: u64 = 500;

/// How comparing went so far.
#[derive(Clone, Copy, Debug)]
pub struct Record {
    pub covered: u64,
    /// states that were not although something was known at their point
    pub failed: u64,
    /// paths that ended, and covered states
    pub leaves: u64,
}

#[derive(Default)]
pub struct Budget {
    forks: u64,
    /// questions that pruning asked
    asked: u64,
    /// what covered states would have cost
    saved: u64,
    spent: u64,
    resting: bool,
}

impl Budget {
    pub fn forked(&mut self) {
        self.forks += 1;
    }

    pub fn saved(&mut self, work: u64) {
        self.saved = self.saved.saturating_add(work);
    }

    pub fn spend(&mut self, work: u64) {
        self.spent += work;
    }

    pub fn asked(&mut self, questions: u64) {
        self.asked += questions;
        self.spent += questions * QUERY;
    }

    /// Too much has been spent for what it brought, as of the last look.
    pub fn is_resting(&self) -> bool {
        self.resting
    }

    /// Looks again. Who rests does so until a part of it has been earned back.
    pub fn look(&mut self, effort: Effort, record: Record) {
        let queries = effort.queries.saturating_sub(self.asked);
        let done = effort.instructions + queries * QUERY + self.forks * FORK;
        let start = if record.covered * SUCCESS >= record.failed { PATIENCE } else { START };
        let allowed = start.saturating_add(done.saturating_add(self.saved) / SHARE);
        let limit = if self.resting { allowed / 8 * 7 } else { allowed };
        self.resting = self.spent > limit && record.leaves > TRIALS;
    }
}

/// What a subtree costs to explore: instructions and forks.
pub fn work(instructions: u64, forks: u64) -> u64 {
    instructions.saturating_add(forks * FORK)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_that_saves_nothing_ends() {
        let mut b = Budget::default();
        let mut effort = Effort::default();
        let mut worked = 0;
        for _ in 0..100_000 {
            effort.instructions += 1000;
            b.look(effort, Record { covered: 0, failed: 1, leaves: TRIALS + 1 });
            if !b.is_resting() {
                b.spend(1000);
                worked += 1000;
            }
        }
        assert!(worked < START + effort.instructions / SHARE + 1000 && worked > START);
        b.saved(u64::MAX);
        b.look(effort, Record { covered: 0, failed: 1, leaves: TRIALS + 1 });
        assert!(!b.is_resting());
    }
}
