//! Recent models and known cores.
//!
//! *Idea* (KLEE's counterexample cache): a model of one path often satisfies the next query too, which evaluation tells in
//! less than a microsecond; and a query that contains a known unsatisfiable core is unsatisfiable.
//! *Invariant*: a model is returned only after every constraint evaluated to true under it; a core only if it is a subset
//! of the query.

use crate::answer::{Answer, Core};
use crate::evidence;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::{Key, Model, TermId, Terms};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::rc::Rc;

/// Models tried regardless of what they mention.
const RECENT: usize = 32;
/// Models kept for each unknown, and unknowns of the newest constraint that are looked up.
const PER_KEY: usize = 8;
const KEYS: usize = 4;
/// Unknowns with models of their own; beyond that the index starts anew.
const MAX_KEYS: usize = 4_096;
/// Cores kept for each largest constraint, and in all.
const PER_TERM: usize = 32;
const MAX_CORES: usize = 50_000;

pub struct Models<S> {
    next: S,
    recent: VecDeque<Rc<Model>>,
    by_key: FxHashMap<Key, VecDeque<Rc<Model>>>,
    /// by their largest constraint
    cores: FxHashMap<TermId, Vec<Core>>,
    core_count: usize,
    figures: Figures,
}

#[derive(Default)]
struct Figures {
    queries: u64,
    model_hits: u64,
    core_hits: u64,
    tried: u64,
}

impl<S: Solver> Models<S> {
    pub fn new(next: S) -> Models<S> {
        Models {
            next,
            recent: VecDeque::new(),
            by_key: FxHashMap::default(),
            cores: FxHashMap::default(),
            core_count: 0,
            figures: Figures::default(),
        }
    }

    fn known_core(&self, constraints: &[TermId]) -> Option<Core> {
        if self.cores.is_empty() {
            return None;
        }
        let with = constraints.iter().rev().filter_map(|c| self.cores.get(c));
        with.flatten().find(|core| evidence::is_subset(&core.0, constraints)).cloned()
    }

    fn known_model(&mut self, terms: &mut Terms, constraints: &[TermId]) -> Option<Rc<Model>> {
        let newest = terms.support(*constraints.last()?);
        let mut tried: SmallVec<[*const Model; 64]> = SmallVec::new();
        let listed = newest.iter().take(KEYS).filter_map(|k| self.by_key.get(k)).flatten();
        for model in listed.chain(&self.recent) {
            if tried.contains(&Rc::as_ptr(model)) {
                continue;
            }
            tried.push(Rc::as_ptr(model));
            if evidence::satisfies(terms, constraints, model) {
                self.figures.tried += tried.len() as u64;
                return Some(model.clone());
            }
        }
        self.figures.tried += tried.len() as u64;
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

    fn remember_core(&mut self, core: &Core) {
        let Some(&largest) = core.0.last() else { return };
        if self.core_count > MAX_CORES {
            self.cores.clear();
            self.core_count = 0;
        }
        let list = self.cores.entry(largest).or_default();
        if list.contains(core) {
            return;
        }
        self.core_count += 1;
        if list.len() == PER_TERM {
            list.remove(0);
            self.core_count -= 1;
        }
        list.push(core.clone());
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
        self.figures.queries += 1;
        if let Some(model) = self.known_model(terms, query.constraints) {
            self.figures.model_hits += 1;
            return Answer::Sat(fitted(terms, query.constraints, model));
        }
        if let Some(core) = self.known_core(query.constraints) {
            self.figures.core_hits += 1;
            return Answer::Unsat(core);
        }
        let answer = self.next.check(terms, query);
        match &answer {
            Answer::Sat(model) => self.remember(model),
            Answer::Unsat(core) => self.remember_core(core),
            Answer::Unknown(_) => {}
        }
        answer
    }

    fn stats(&self, out: &mut Stats) {
        out.add("models.queries", self.figures.queries);
        out.add("models.sat", self.figures.model_hits);
        out.add("models.unsat", self.figures.core_hits);
        out.add("models.tried", self.figures.tried);
        self.next.stats(out);
    }
}
