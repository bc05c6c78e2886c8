//! Sampling: random values for the symbolic variables of large queries, tried by evaluation.
//!
//! *Idea*: where inputs go through a digest, a checksum or a cipher, no solver finds a value with a certain byte, but
//! one value in 256 has it. From the models of such queries that were answered last, some variables are drawn anew,
//! with a bounded number of evaluated operators. *Invariant*: a model is returned only after every constraint evaluated
//! to true under it. Says `Sat` or nothing. The draws are those of a fixed seed.

use crate::answer::Answer;
use crate::evidence;
use crate::link::recent::{RecentModels, width};
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::{Key, Model, TermId, Terms, facts, mask};
use rustc_hash::FxHashSet;

/// Smaller queries are the solver's.
const LEAST_OPERATORS: usize = 400;
const MAX_OPERATORS: usize = 40_000;
const MAX_KEYS: usize = 256;
/// Operators to evaluate for one query: where samples help, and where they failed again and again.
const BUDGET: usize = 2_000_000;
const LEAST_BUDGET: usize = 100_000;
/// Models to start from.
const STARTS: usize = 4;

pub struct Sample<S> {
    next: S,
    recent: RecentModels,
    budget: usize,
    random: u64,
    tried: u64,
    sat: u64,
}

impl<S: Solver> Sample<S> {
    pub fn new(next: S) -> Sample<S> {
        Sample {
            next,
            recent: RecentModels::default(),
            budget: BUDGET,
            random: 0x9E37_79B9_7F4A_7C15,
            tried: 0,
            sat: 0,
        }
    }

    fn draw(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    fn find(&mut self, terms: &mut Terms, constraints: &[TermId]) -> Option<Model> {
        if constraints.iter().any(|&c| terms.has(c, facts::HAS_FORALL)) {
            return None;
        }
        let size = operators(terms, constraints);
        if !(LEAST_OPERATORS..=MAX_OPERATORS).contains(&size) {
            return None;
        }
        let keys = evidence::support(terms, constraints);
        if keys.is_empty() || keys.len() > MAX_KEYS || keys.iter().any(|&k| width(terms, k).is_none()) {
            return None;
        }
        self.tried += 1;
        let starts = self.recent.starts(&keys, STARTS);
        let starts: Vec<Model> = starts.iter().map(|m| evidence::project(terms, &keys, m)).collect();
        let found = (0..self.budget / size).find_map(|i| {
            let model = self.varied(terms, &keys, &starts[i % starts.len()]);
            evidence::satisfies(terms, constraints, &model).then_some(model)
        });
        let next = if found.is_some() { 2 * self.budget } else { self.budget / 2 };
        self.budget = next.clamp(LEAST_BUDGET, BUDGET);
        found
    }

    /// One variable drawn anew, or about half of them.
    fn varied(&mut self, terms: &Terms, keys: &[Key], start: &Model) -> Model {
        let mut model = Model::new();
        start.entries().into_iter().for_each(|(k, v)| model.set(k, v));
        let (only, which) = (self.draw().is_multiple_of(2), self.draw() as usize % keys.len());
        for (i, &key) in keys.iter().enumerate() {
            if i == which || !only && self.draw() & (1 << 40) != 0 {
                let value = self.draw() & mask(width(terms, key).unwrap_or(64));
                model.set(key, value);
            }
        }
        model
    }
}

/// Distinct operators of all constraints, or a little more than [`MAX_OPERATORS`].
fn operators(terms: &Terms, constraints: &[TermId]) -> usize {
    let mut seen = FxHashSet::default();
    let mut todo = constraints.to_vec();
    while let Some(t) = todo.pop() {
        if seen.len() > MAX_OPERATORS {
            break;
        }
        if !terms.is_constant(t) && seen.insert(t) {
            todo.extend(terms.args(t));
        }
    }
    seen.len()
}

impl<S: Solver> Solver for Sample<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        let proposed = self.find(terms, query.constraints);
        self.recent.answer(terms, query, proposed, &mut self.sat, &mut self.next)
    }

    fn stats(&self, out: &mut Stats) {
        out.add("random-sampling.tried", self.tried);
        out.add("random-sampling.sat", self.sat);
        self.next.stats(out);
    }
}
