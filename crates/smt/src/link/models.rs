//! Recent models.
//!
//! *Idea* (KLEE's counterexample cache): a model of one path often satisfies the next query too, which evaluation tells
//! in less than a microsecond. *Invariant*: a model is returned only after every constraint evaluated to true under it.

use crate::answer::Answer;
use crate::evidence;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::{Key, Model, TermId, Terms};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::rc::Rc;

/// Models tried regardless of what they mention.
const RECENT: usize = 16;
/// Models tried for one query.
const TRIES: usize = 16;
/// Models kept for each symbolic variable, and variables of the newest constraint that are looked up.
const PER_KEY: usize = 8;
const KEYS: usize = 4;
/// Symbolic variables with models of their own; beyond that the index starts anew.
const MAX_KEYS: usize = 4_096;

pub struct Models<S> {
    next: S,
    recent: VecDeque<Rc<Model>>,
    by_key: FxHashMap<Key, VecDeque<Rc<Model>>>,
    statistics: Statistics,
}

#[derive(Default)]
struct Statistics {
    queries: u64,
    hits: u64,
    tried: u64,
}

impl<S: Solver> Models<S> {
    pub fn new(next: S) -> Models<S> {
        Models { next, recent: VecDeque::new(), by_key: FxHashMap::default(), statistics: Statistics::default() }
    }

    fn known_model(&mut self, terms: &mut Terms, constraints: &[TermId]) -> Option<Rc<Model>> {
        let newest = terms.support(*constraints.last()?);
        let mut tried: SmallVec<[*const Model; TRIES]> = SmallVec::new();
        let listed = newest.iter().take(KEYS).filter_map(|k| self.by_key.get(k)).flatten();
        for model in listed.chain(&self.recent) {
            if tried.len() == TRIES {
                break;
            }
            if tried.contains(&Rc::as_ptr(model)) {
                continue;
            }
            tried.push(Rc::as_ptr(model));
            if evidence::satisfies(terms, constraints, model) {
                self.statistics.tried += tried.len() as u64;
                return Some(model.clone());
            }
        }
        self.statistics.tried += tried.len() as u64;
        None
    }

    fn remember(&mut self, model: &Rc<Model>) {
        self.recent.push_front(model.clone());
        self.recent.truncate(RECENT);
        if self.by_key.len() > MAX_KEYS {
            self.by_key.clear();
        }
        let mut entries = model.entries();
        entries.truncate(PER_KEY * KEYS);
        for (key, _) in entries {
            let list = self.by_key.entry(key).or_default();
            list.push_front(model.clone());
            list.truncate(PER_KEY);
        }
    }
}

/// `model` in the normal form of the query.
fn fitted(terms: &mut Terms, constraints: &[TermId], model: Rc<Model>) -> Rc<Model> {
    let keys = evidence::support(terms, constraints);
    let same = model.len() == keys.len() && keys.iter().all(|&k| model.contains(k));
    if same { model } else { Rc::new(evidence::project(terms, &keys, &model)) }
}

impl<S: Solver> Solver for Models<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.statistics.queries += 1;
        if let Some(model) = self.known_model(terms, query.constraints) {
            self.statistics.hits += 1;
            return Answer::Sat(fitted(terms, query.constraints, model));
        }
        let answer = self.next.check(terms, query);
        if let Answer::Sat(model) = &answer {
            self.remember(model);
        }
        answer
    }

    fn stats(&self, out: &mut Stats) {
        out.add("models.queries", self.statistics.queries);
        out.add("models.sat", self.statistics.hits);
        out.add("models.tried", self.statistics.tried);
        self.next.stats(out);
    }
}
