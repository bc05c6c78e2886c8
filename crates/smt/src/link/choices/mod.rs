//! Long conditions, as merging makes them: comparisons with a long choice between constants, `n ≤ ite(c0, 0, ite(c1, 1,
//! …))`, and disjunctions within disjunctions, `c0 ∨ (d1 ∧ (c1 ∨ …))`.
//!
//! *Idea*: one case after the other is refuted by what is left of each term when the conditions before it are false. A
//! round of a merged scan is one case, so a proof has as many steps as the scan has rounds, where a solver searches.
//! *Invariant*: a model is returned only after every constraint evaluated to true under it; for `Unsat` see
//! [`search`]. *Direction*: gives up to the next link, at the latest when its effort is used up; the more often that
//! happens, the less effort it makes. *Checked by*: `tests/choices.rs`, against brute force.

mod search;

use super::decided::Decided;
use crate::answer::{Answer, Core};
use crate::evidence;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::arc::Arc;
use pleach_expr::{Model, Op, TermId, Terms, facts};
use rustc_hash::{FxHashMap, FxHashSet};
use search::{Search, SearchResult};
use std::rc::Rc;

/// Queries with shorter choices and conditions are left to the others.
const MIN_CASES: usize = 16;
/// Terms of a constraint that are looked at to see whether it is long.
const MAX_LOOK: usize = 256;
/// Steps of a search for one query: at most, and where they lead nowhere again and again.
const MAX_EFFORT: u32 = 1 << 18;
const MIN_EFFORT: u32 = 1 << 11;
/// Constraints of which it is known whether they are long.
const MAX_KNOWN: usize = 1 << 16;
/// Cores up to this size are made minimal by leaving out one constraint after the other.
const MINIMISED: usize = 6;

pub struct Choices<S> {
    next: S,
    decided: Decided,
    long: FxHashMap<TermId, bool>,
    effort: u32,
}

impl<S: Solver> Choices<S> {
    pub fn new(next: S) -> Choices<S> {
        Choices { next, decided: Decided::default(), long: FxHashMap::default(), effort: MAX_EFFORT }
    }

    fn is_long(&mut self, terms: &Terms, constraint: TermId) -> bool {
        if self.long.len() > MAX_KNOWN {
            self.long.clear();
        }
        *self.long.entry(constraint).or_insert_with(|| is_long(terms, constraint))
    }

    fn solve(&mut self, terms: &mut Terms, constraints: &[TermId]) -> Option<Answer> {
        if !constraints.iter().any(|c| self.is_long(terms, *c)) {
            return None;
        }
        let outcome = Search::new(terms, self.effort).run(constraints);
        let answer = match outcome {
            SearchResult::GivenUp => None,
            SearchResult::Unsat(reasons) => {
                let used = |i: usize| reasons >> i.min(63) & 1 == 1;
                let mut core: Vec<TermId> = Vec::new();
                core.extend(constraints.iter().enumerate().filter(|(i, _)| used(*i)).map(|(_, c)| *c));
                self.minimise(terms, &mut core);
                Some(Answer::Unsat(Core::new(core)))
            }
            SearchResult::Open(left) => {
                let model = model(terms, constraints, &left);
                evidence::satisfies(terms, constraints, &model).then(|| Answer::Sat(Rc::new(model)))
            }
        };
        self.effort = match answer {
            Some(_) => (self.effort * 2).min(MAX_EFFORT),
            None => (self.effort / 2).max(MIN_EFFORT),
        };
        answer
    }

    /// Pruning generalises by the core: a constraint less is worth another search.
    fn minimise(&self, terms: &mut Terms, core: &mut Vec<TermId>) {
        let mut i = 0;
        while core.len() <= MINIMISED && i < core.len() && core.len() > 1 {
            let left_out = core.remove(i);
            if !matches!(Search::new(terms, self.effort).run(core), SearchResult::Unsat(_)) {
                core.insert(i, left_out);
                i += 1;
            }
        }
    }
}

/// Many connectives, or a comparison with a choice of many cases.
fn is_long(terms: &Terms, constraint: TermId) -> bool {
    let (mut todo, mut seen) = (vec![constraint], FxHashSet::default());
    let mut connectives = 0;
    while let Some(t) = todo.pop() {
        if connectives >= 2 * MIN_CASES {
            return true;
        }
        if seen.len() == MAX_LOOK {
            return false;
        }
        if terms.has(t, facts::IS_ARRAY) || terms.has(t, facts::HAS_FORALL) || !seen.insert(t) {
            continue;
        }
        let n = terms.node(t);
        let connective = n.op == Op::Ite || (n.width == 1 && matches!(n.op, Op::And | Op::Or));
        connectives += usize::from(connective) * (1 + usize::from(n.width > 1));
        todo.extend(terms.args(t));
    }
    connectives >= 2 * MIN_CASES
}

/// A value from what is left of each symbolic variable.
fn model(terms: &mut Terms, constraints: &[TermId], left: &[(TermId, Arc)]) -> Model {
    let mut found = Model::new();
    for (x, arc) in left {
        if let Some(key) = evidence::variable(terms, *x) {
            found.set(key, arc.first);
        }
    }
    let keys = evidence::support(terms, constraints);
    evidence::project(terms, &keys, &found)
}

impl<S: Solver> Solver for Choices<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        let found = self.solve(terms, query.constraints);
        match self.decided.count(found) {
            Some(answer) => answer,
            None => self.next.check(terms, query),
        }
    }

    fn stats(&self, out: &mut Stats) {
        self.decided.stats(["choices.queries", "choices.sat", "choices.unsat"], out);
        self.next.stats(out);
    }
}
