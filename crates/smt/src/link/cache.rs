//! Answers by query, word for word.
//!
//! Terms are hash-consed, so equal constraint lists are equal queries. Memory is bounded by two generations: when the
//! young one is full it becomes the old one, and what is still queried moves back into the young one.

use crate::answer::{Answer, UnknownReason};
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::{TermId, Terms};
use rustc_hash::FxHashMap;

/// Ids kept in one generation (and at least as much again for models and cores).
const GENERATION: usize = 1 << 20;

type Generation = FxHashMap<Box<[TermId]>, Answer>;

pub struct Cache<S> {
    next: S,
    young: Generation,
    old: Generation,
    /// ids in `young`, one more for each entry
    weight: usize,
    /// of `young` and `old`
    bytes: [u64; 2],
    statistics: Statistics,
}

#[derive(Default)]
struct Statistics {
    queries: u64,
    hits: u64,
    turned: u64,
}

impl<S: Solver> Cache<S> {
    pub fn new(next: S) -> Cache<S> {
        Cache {
            next,
            young: Generation::default(),
            old: Generation::default(),
            weight: 0,
            bytes: [0; 2],
            statistics: Statistics::default(),
        }
    }

    fn insert(&mut self, key: Box<[TermId]>, answer: Answer) {
        self.weight += key.len() + 16;
        self.bytes[0] += bytes(key.len(), &answer);
        self.young.insert(key, answer);
        if self.weight > GENERATION {
            self.statistics.turned += 1;
            self.weight = 0;
            self.bytes = [0, self.bytes[0]];
            self.old = std::mem::take(&mut self.young);
        }
    }
}

/// What an entry takes, about: its key, the values of a model or the ids of a core.
pub(super) fn bytes(ids: usize, answer: &Answer) -> u64 {
    let evidence = match answer {
        Answer::Sat(model) => 16 * model.len(),
        Answer::Unsat(core) => 4 * core.0.len(),
        Answer::Unknown(_) => 0,
    };
    (64 + 4 * ids + evidence) as u64
}

impl<S: Solver> Solver for Cache<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.statistics.queries += 1;
        if let Some(answer) = self.young.get(query.constraints) {
            self.statistics.hits += 1;
            return answer.clone();
        }
        if let Some((key, answer)) = self.old.remove_entry(query.constraints) {
            self.statistics.hits += 1;
            self.bytes[1] -= bytes(key.len(), &answer);
            self.insert(key, answer.clone());
            return answer;
        }
        let answer = self.next.check(terms, query);
        // A time-out would be one again; other failures may pass.
        if matches!(answer, Answer::Sat(_) | Answer::Unsat(_) | Answer::Unknown(UnknownReason::Timeout)) {
            self.insert(query.constraints.into(), answer.clone());
        }
        answer
    }

    fn stats(&self, out: &mut Stats) {
        out.add("cache.queries", self.statistics.queries);
        out.add("cache.hits", self.statistics.hits);
        out.add("cache.generations", self.statistics.turned);
        out.add("cache.entries", (self.young.len() + self.old.len()) as u64);
        out.add("cache.bytes", self.bytes.iter().sum());
        self.next.stats(out);
    }
}
