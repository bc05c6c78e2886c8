//! Known cores.
//!
//! *Idea* (KLEE's counterexample cache): a query that contains a known unsatisfiable core is unsatisfiable.
//! *Invariant*: a core is returned only if it is a subset of the query.

use crate::answer::{Answer, Core};
use crate::evidence;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::{TermId, Terms};
use rustc_hash::FxHashMap;

/// Cores kept for each largest constraint, and in all.
const PER_TERM: usize = 32;
const MAX_CORES: usize = 50_000;

pub struct Cores<S> {
    next: S,
    /// by their largest constraint
    cores: FxHashMap<TermId, Vec<Core>>,
    count: usize,
    queries: u64,
    hits: u64,
}

impl<S: Solver> Cores<S> {
    pub fn new(next: S) -> Cores<S> {
        Cores { next, cores: FxHashMap::default(), count: 0, queries: 0, hits: 0 }
    }

    fn known(&self, constraints: &[TermId]) -> Option<Core> {
        if self.cores.is_empty() {
            return None;
        }
        let with = constraints.iter().rev().filter_map(|c| self.cores.get(c));
        with.flatten().find(|core| evidence::is_subset(&core.0, constraints)).cloned()
    }

    fn remember(&mut self, core: &Core) {
        let Some(&largest) = core.0.last() else { return };
        if self.count > MAX_CORES {
            self.cores.clear();
            self.count = 0;
        }
        let list = self.cores.entry(largest).or_default();
        if list.contains(core) {
            return;
        }
        self.count += 1;
        if list.len() == PER_TERM {
            list.remove(0);
            self.count -= 1;
        }
        list.push(core.clone());
    }
}

impl<S: Solver> Solver for Cores<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.queries += 1;
        if let Some(core) = self.known(query.constraints) {
            self.hits += 1;
            return Answer::Unsat(core);
        }
        let answer = self.next.check(terms, query);
        if let Answer::Unsat(core) = &answer {
            self.remember(core);
        }
        answer
    }

    fn stats(&self, out: &mut Stats) {
        out.add("cores.queries", self.queries);
        out.add("cores.unsat", self.hits);
        self.next.stats(out);
    }
}
