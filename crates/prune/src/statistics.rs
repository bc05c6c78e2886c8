//! What pruning did and what it cost, for the summary.

use crate::matching::{DecisionCounts, MatchFailure};
use std::collections::BTreeMap;
use std::time::Duration;

#[derive(Default)]
pub struct Statistics {
    pub subsumption_checks: u64,
    pub subsumed: u64,
    /// paths that went on to their end
    pub ended: u64,
    pub missed_binding: u64,
    pub missed_literal: u64,
    pub missed_rounds: u64,
    /// literals decided by comparing states with conditions
    pub decided: DecisionCounts,
    /// interpolants by their number of conjuncts
    pub sizes: BTreeMap<usize, u64>,
    /// nodes that were not recorded because pruning did not pay
    pub declined: u64,
    pub no_interpolant: BTreeMap<&'static str, u64>,
    pub times: Times,
}

/// Time by part; what the solver took of it is also counted on its own.
#[derive(Default)]
pub struct Times {
    pub record: Duration,
    pub propagate: Duration,
    pub compare: Duration,
    pub solver: Duration,
}

impl Statistics {
    pub fn missed(&mut self, failure: MatchFailure) {
        match failure {
            MatchFailure::Binding => self.missed_binding += 1,
            MatchFailure::Literal => self.missed_literal += 1,
            MatchFailure::Rounds => self.missed_rounds += 1,
        }
    }

    /// Paths that ended, and subsumed states.
    pub fn leaves(&self) -> u64 {
        self.subsumed + self.ended
    }

    /// Conjuncts of all interpolants, of the one in the middle, and of the largest.
    fn literals(&self) -> (u64, u64, u64) {
        let all: u64 = self.sizes.values().sum();
        let total = self.sizes.iter().map(|(size, n)| *size as u64 * n).sum();
        let mut before = 0;
        let median = self.sizes.iter().find(|(_, n)| {
            before += **n;
            before * 2 >= all
        });
        (total, median.map_or(0, |m| *m.0 as u64), self.sizes.keys().last().map_or(0, |m| *m as u64))
    }

    pub fn list(&self, entries: usize, evicted: u64) -> Vec<(String, u64)> {
        let (literals, median, largest) = self.literals();
        let mut v: Vec<(String, u64)> = [
            ("subsumption-checks", self.subsumption_checks),
            ("subsumed", self.subsumed),
            ("missed-binding", self.missed_binding),
            ("missed-literal", self.missed_literal),
            ("missed-rounds", self.missed_rounds),
            ("decided-by-values", self.decided.values),
            ("decided-by-model", self.decided.model),
            ("decided-by-solver", self.decided.solver),
            ("entries", entries as u64),
            ("evicted", evicted),
            ("literals", literals),
            ("median", median),
            ("largest", largest),
            ("skipped-forks", self.declined),
        ]
        .map(|(name, n)| (name.to_owned(), n))
        .into();
        v.extend(self.no_interpolant.iter().map(|(k, n)| (format!("no-interpolant: {k}"), *n)));
        v
    }

    pub fn times(&self) -> Vec<(String, Duration)> {
        let t = &self.times;
        let parts = [("record", t.record), ("propagate", t.propagate), ("compare", t.compare), ("solver", t.solver)];
        parts.map(|(name, d)| (format!("prune.{name}"), d)).into()
    }
}
