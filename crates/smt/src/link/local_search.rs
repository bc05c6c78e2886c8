//! Local search: a few values for few symbolic variables, tried by evaluation.
//!
//! *Idea*: most satisfiable queries of programs are satisfied by values near the constants they mention, or by a recent
//! model with one variable changed. From such a model, take a violated constraint and try candidates for its variables;
//! keep the change that leaves the fewest constraints violated. The number of evaluations is bounded. *Invariant*: a
//! model is returned only after every constraint evaluated to true under it. Says `Sat` or nothing.

use crate::answer::Answer;
use crate::evidence;
use crate::link::recent::{RecentModels, width};
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::{Key, Model, Op, TermId, Terms, facts, mask};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Queries with more variables, constraints or operators are passed on.
const MAX_KEYS: usize = 6;
const MAX_CONSTRAINTS: usize = 64;
const MAX_OPERATORS: usize = 400;
/// Evaluations of single constraints for one query: at most, and where the search fails again and again.
const BUDGET: u32 = 300;
const LEAST_BUDGET: u32 = 40;
/// Constants of one constraint that are taken up.
const MAX_CONSTANTS: usize = 16;
/// Models to start from.
const STARTS: usize = 3;
/// Remembered constraints; beyond that they are looked at again.
const MAX_REMEMBERED: usize = 1 << 16;

/// What is to be known about a constraint.
#[derive(Clone)]
struct ConstraintSummary {
    constants: Rc<[u64]>,
    operators: usize,
}

pub struct LocalSearch<S> {
    next: S,
    traits: FxHashMap<TermId, ConstraintSummary>,
    recent: RecentModels,
    /// evaluations that are allowed now
    budget: u32,
    statistics: Statistics,
}

#[derive(Default)]
struct Statistics {
    queries: u64,
    tried: u64,
    evaluations: u64,
    sat: u64,
}

impl<S: Solver> LocalSearch<S> {
    pub fn new(next: S) -> LocalSearch<S> {
        LocalSearch {
            next,
            traits: FxHashMap::default(),
            recent: RecentModels::default(),
            budget: BUDGET,
            statistics: Statistics::default(),
        }
    }

    fn traits(&mut self, terms: &Terms, c: TermId) -> ConstraintSummary {
        if let Some(known) = self.traits.get(&c) {
            return known.clone();
        }
        if self.traits.len() > MAX_REMEMBERED {
            self.traits.clear();
        }
        let made = look(terms, c);
        self.traits.insert(c, made.clone());
        made
    }

    fn search(&mut self, terms: &mut Terms, constraints: &[TermId]) -> Option<Model> {
        if constraints.len() > MAX_CONSTRAINTS || constraints.iter().any(|&c| terms.has(c, facts::HAS_FORALL)) {
            return None;
        }
        let keys = evidence::support(terms, constraints);
        if keys.is_empty() || keys.len() > MAX_KEYS || keys.iter().any(|&k| width(terms, k).is_none()) {
            return None;
        }
        let mut values: Vec<u64> = (0..10).chain([u64::MAX, 16, 32, 64, 100, 128, 255]).collect();
        let mut operators = 0;
        for &c in constraints {
            let traits = self.traits(terms, c);
            operators += traits.operators;
            if operators > MAX_OPERATORS {
                return None;
            }
            for &v in traits.constants.iter() {
                values.extend([v, v.wrapping_add(1), v.wrapping_sub(1), v.wrapping_neg()]);
            }
        }
        // constants of the constraints first, those of the newest in front
        values.reverse();
        self.statistics.tried += 1;
        let mut budget = self.budget;
        let mut found = None;
        for start in self.recent.starts(&keys, STARTS) {
            let model = evidence::project(terms, &keys, &start);
            found = climb(terms, constraints, model, &values, &mut budget);
            if found.is_some() || budget == 0 {
                break;
            }
        }
        self.statistics.evaluations += u64::from(self.budget - budget);
        let next = if found.is_some() { 2 * self.budget } else { 3 * self.budget / 4 };
        self.budget = next.clamp(LEAST_BUDGET, BUDGET);
        found
    }
}

fn look(terms: &Terms, c: TermId) -> ConstraintSummary {
    let mut seen = FxHashSet::default();
    let mut constants = Vec::new();
    let mut todo = vec![c];
    while let Some(t) = todo.pop() {
        if seen.len() > MAX_OPERATORS || !seen.insert(t) {
            continue;
        }
        let n = terms.node(t);
        match n.op {
            Op::Const if n.width > 1 && constants.len() < MAX_CONSTANTS && !constants.contains(&n.value()) => {
                // signed constants of any width come out as numbers of 64 bits, to be cut to the variable's width
                constants.push(pleach_expr::sign_extend(n.value(), n.width) as u64);
            }
            // the place of a cell is not a value
            Op::Read if terms.op(n.arg_a()) == Op::ArrayVar && terms.op(n.arg_b()) == Op::Const => {}
            _ => todo.extend(terms.args(t)),
        }
    }
    constants.reverse();
    ConstraintSummary { constants: constants.into(), operators: seen.len() }
}

/// How many constraints are not true, but no more than `limit`.
fn violated(terms: &Terms, constraints: &[TermId], model: &Model, limit: usize, budget: &mut u32) -> usize {
    let mut count = 0;
    for &c in constraints.iter().rev() {
        *budget = budget.saturating_sub(1);
        if terms.try_eval(c, model) != Some(1) {
            count += 1;
            if count >= limit || *budget == 0 {
                return limit;
            }
        }
    }
    count
}

fn climb(
    terms: &mut Terms,
    constraints: &[TermId],
    mut model: Model,
    values: &[u64],
    budget: &mut u32,
) -> Option<Model> {
    let mut left = violated(terms, constraints, &model, constraints.len() + 1, budget);
    while left > 0 && *budget > 0 {
        let &wrong = constraints.iter().rev().find(|&&c| terms.try_eval(c, &model) != Some(1))?;
        let mut best: Option<(Key, u64)> = None;
        let keys = terms.support(wrong);
        'keys: for &key in keys.iter() {
            let old = model.get(key);
            let m = mask(width(terms, key).unwrap_or(64));
            let others: Vec<u64> = model.entries().iter().map(|(_, v)| *v).collect();
            for &v in others.iter().chain(values) {
                let v = v & m;
                if v == old {
                    continue;
                }
                model.set(key, v);
                *budget = budget.saturating_sub(1);
                if terms.try_eval(wrong, &model) == Some(1) {
                    let now = violated(terms, constraints, &model, left, budget);
                    if now < left {
                        (left, best) = (now, Some((key, v)));
                    }
                }
                if left == 0 || *budget == 0 {
                    break 'keys;
                }
            }
            model.set(key, old);
        }
        let (key, v) = best?;
        model.set(key, v);
    }
    (left == 0).then_some(model)
}

impl<S: Solver> Solver for LocalSearch<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.statistics.queries += 1;
        let proposed = self.search(terms, query.constraints);
        self.recent.answer(terms, query, proposed, &mut self.statistics.sat, &mut self.next)
    }

    fn stats(&self, out: &mut Stats) {
        out.add("local-search.queries", self.statistics.queries);
        out.add("local-search.tried", self.statistics.tried);
        out.add("local-search.evaluations", self.statistics.evaluations);
        out.add("local-search.sat", self.statistics.sat);
        self.next.stats(out);
    }
}
