//! Enumeration: a query over few assignments is decided by evaluating all of them, many at a time.
//!
//! *Idea*: two symbolic bytes have 65,536 values, five digits 100,000. To divide, look up or compute with floats for
//! each of them takes milliseconds; to solve for them takes seconds. Constraints on single bytes come first: they leave
//! each variable the values to try. *Invariant*: `Sat` after every constraint evaluated to true; `Unsat` after every
//! assignment was refuted by a constraint of the core. How many evaluations a query is worth depends on whether it has
//! operators that are hard to solve, not on time.

use super::decided::Decided;
use super::domain::TruthTables;
use crate::answer::{Answer, Core};
use crate::evidence;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::{Key, Lanes, Model, TermId, Terms, facts};
use std::cell::RefCell;
use std::rc::Rc;

/// Assignments that are evaluated at a time: their columns stay in the cache.
const LANES: usize = 1024;
/// Symbolic variables of a query.
const MAX_KEYS: usize = 8;
/// Operators times assignments: of a query without and with operators that are hard to solve. About 2 and 150 ms.
const WORK: u64 = 1 << 21;
const HARD_WORK: u64 = 1 << 27;
/// The same for queries that are evaluated one assignment after the other, because they have parts wider than 64 bits.
/// About 50 ms.
const SINGLE_WORK: u64 = 1 << 18;

pub struct Enumerate<S> {
    next: S,
    truths: Rc<RefCell<TruthTables>>,
    statistics: Decided,
}

/// The symbolic variables of a query with the values left to each.
struct Space {
    keys: Vec<Key>,
    values: Vec<Vec<u64>>,
    /// the constraints that left only these
    used: Vec<TermId>,
    /// those that are to be evaluated
    rest: Vec<TermId>,
    size: u64,
}

impl Space {
    fn of(terms: &mut Terms, constraints: &[TermId], truths: &mut TruthTables) -> Option<Space> {
        let keys = evidence::support(terms, constraints);
        if keys.is_empty() || keys.len() > MAX_KEYS {
            return None;
        }
        let (mut values, mut used, mut size) = (Vec::new(), Vec::new(), 1u64);
        for &key in &keys {
            let (left, by) = truths.left_to(terms, constraints, key)?;
            size = size.checked_mul(left.len() as u64)?;
            values.push(left);
            used.extend(by);
        }
        let rest = constraints.iter().copied().filter(|c| !used.contains(c)).collect();
        (size <= HARD_WORK).then_some(Space { keys, values, used, rest, size })
    }

    /// Fills the columns with the assignments from number `from` on; how many there are.
    fn fill(&self, lanes: &mut Lanes, from: u64) -> usize {
        let count = (self.size - from).min(LANES as u64);
        let mut below = 1;
        for (i, values) in self.values.iter().enumerate().rev() {
            let n = values.len() as u64;
            let column = lanes.key_mut(i);
            for (lane, slot) in (0..count).zip(column) {
                *slot = values[((from + lane) / below % n) as usize];
            }
            below *= n;
        }
        count as usize
    }

    fn model(&self, number: u64) -> Model {
        let mut model = Model::new();
        let mut below = 1;
        for (key, values) in self.keys.iter().zip(&self.values).rev() {
            let n = values.len() as u64;
            model.set(*key, values[(number / below % n) as usize]);
            below *= n;
        }
        model
    }
}

impl<S: Solver> Enumerate<S> {
    pub fn new(truths: &Rc<RefCell<TruthTables>>, next: S) -> Enumerate<S> {
        Enumerate { next, truths: truths.clone(), statistics: Decided::default() }
    }

    fn enumerate(&self, terms: &mut Terms, constraints: &[TermId]) -> Option<Answer> {
        let space = Space::of(terms, constraints, &mut self.truths.borrow_mut())?;
        let max_weight = HARD_WORK / space.size.max(1);
        let Some(lanes) = Lanes::new(terms, &space.rest, &space.keys, LANES, max_weight) else {
            return space.one_by_one(terms);
        };
        if !lanes.is_hard() && lanes.weight().saturating_mul(space.size) > WORK {
            return None;
        }
        space.many_at_a_time(terms, lanes)
    }
}

impl Space {
    /// `None` where a value cannot be computed.
    fn many_at_a_time(&self, terms: &Terms, mut lanes: Lanes) -> Option<Answer> {
        let mut refuting = vec![false; self.rest.len()];
        let mut from = 0;
        while from < self.size {
            let count = self.fill(&mut lanes, from);
            let mut alive: Vec<usize> = (0..count).collect();
            for (i, refutes) in refuting.iter_mut().enumerate() {
                let column = lanes.root(terms, i)?;
                let before = alive.len();
                alive.retain(|&lane| column[lane] != 0);
                *refutes |= alive.len() < before;
                if alive.is_empty() {
                    break;
                }
            }
            if let Some(&lane) = alive.first() {
                return Some(Answer::Sat(Rc::new(self.model(from + lane as u64))));
            }
            from += count as u64;
        }
        Some(self.refuted_by(&refuting))
    }

    /// The same with the evaluator, if that is little work.
    fn one_by_one(&self, terms: &Terms) -> Option<Answer> {
        let evaluable = |c: &TermId| !terms.has(*c, facts::HAS_FORALL | facts::HAS_BASE);
        let operators = terms.reachable(&self.rest).len() as u64;
        if operators.saturating_mul(self.size) > SINGLE_WORK || !self.rest.iter().all(evaluable) {
            return None;
        }
        let mut refuting = vec![false; self.rest.len()];
        for number in 0..self.size {
            let model = self.model(number);
            let mut refuted = false;
            for (&c, refutes) in self.rest.iter().zip(&mut refuting) {
                if terms.try_eval(c, &model)? == 0 {
                    (*refutes, refuted) = (true, true);
                    break;
                }
            }
            if !refuted {
                return Some(Answer::Sat(Rc::new(model)));
            }
        }
        Some(self.refuted_by(&refuting))
    }

    /// No assignment is left: the constraints that refuted one, and those that left only these.
    fn refuted_by(&self, refuting: &[bool]) -> Answer {
        let needed = self.rest.iter().zip(refuting).filter(|(_, r)| **r).map(|(c, _)| *c);
        Answer::Unsat(Core::new(needed.chain(self.used.iter().copied()).collect()))
    }
}

impl<S: Solver> Solver for Enumerate<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        let found = self.enumerate(terms, query.constraints);
        self.statistics.count(found).unwrap_or_else(|| self.next.check(terms, query))
    }

    fn stats(&self, out: &mut Stats) {
        self.statistics.stats(["enumerate.queries", "enumerate.sat", "enumerate.unsat"], out);
        self.next.stats(out);
    }
}
