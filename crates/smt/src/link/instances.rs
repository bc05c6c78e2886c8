//! Quantifiers replaced by their instances for what a query reads.
//!
//! *Idea*: where it is switched on, `∀ i < n. p(i)` becomes `p(t)` for each element `t` of an array that the rest of
//! the query reads. Instances read more, which takes a few rounds. *Invariant*: what is left follows from the query, so
//! that `Unsat` is right, and its core names constraints of the query. *Direction*: `Sat` may be wrong about
//! quantifiers: it is for explorations that may follow paths which do not exist, never for those that find errors.

use crate::answer::{Answer, Core};
use crate::evidence;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::{Op, Quantifier, SymbolKind, SymbolOrigin, TermId, Terms, facts};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// How often instances are looked for in instances.
const ROUNDS: usize = 12;
/// Instances of one query.
const MAX_INSTANCES: usize = 600;

pub struct Instances<S> {
    next: S,
    on: bool,
    queries: u64,
    refuted: u64,
}

/// A quantifier that holds, and where it reads: array, first index, and how far the next one is.
struct Kept {
    quantifier: Quantifier,
    origin: TermId,
    reads: Vec<(TermId, TermId, u64)>,
}

#[derive(Default)]
struct Weakened {
    /// with the constraint that each follows from
    clauses: Vec<(TermId, TermId)>,
    quantifiers: Vec<Kept>,
    fresh: u32,
}

impl<S: Solver> Instances<S> {
    pub fn new(next: S) -> Instances<S> {
        Instances { next, on: false, queries: 0, refuted: 0 }
    }
}

impl Weakened {
    fn add(&mut self, terms: &mut Terms, condition: TermId, origin: TermId) {
        for part in terms.conjuncts(condition) {
            if !terms.has(part, facts::HAS_FORALL) {
                self.clauses.push((part, origin));
                continue;
            }
            if let Some(quantifier) = terms.as_forall(part) {
                let reads = reads(terms, quantifier);
                self.quantifiers.push(Kept { quantifier, origin, reads });
                continue;
            }
            let n = terms.node(part);
            // SOUND: what is neither is left out, which allows more.
            if n.op == Op::Not
                && let Some(Quantifier { var, count, body }) = terms.as_forall(n.arg_a())
            {
                let width = terms.width(var);
                let name = format!("q{}", self.fresh);
                let origin_of = SymbolOrigin::Link(self.fresh);
                self.fresh += 1;
                let s = terms.symbols.intern(origin_of, SymbolKind::Bits(width), || name);
                let w = terms.var(s);
                let body = terms.substitute(body, &FxHashMap::from_iter([(var, w)]));
                let (inside, not) = (terms.ult(w, count), terms.not(body));
                self.add(terms, inside, origin);
                self.add(terms, not, origin);
            }
        }
    }

    /// Adds the instances for elements that clauses read, and for those that these instances read.
    fn add_instances(&mut self, terms: &mut Terms) {
        let mut done: FxHashSet<(usize, TermId)> = FxHashSet::default();
        let mut looked = 0;
        for _ in 0..ROUNDS {
            let roots: Vec<TermId> = self.clauses[looked..].iter().map(|c| c.0).collect();
            looked = self.clauses.len();
            let mut found: Vec<(TermId, TermId)> = Vec::new();
            for t in terms.reachable(&roots) {
                let n = terms.node(t);
                if n.op == Op::Read
                    && let Some(array) = variable(terms, n.arg_a())
                {
                    found.push((array, n.arg_b()));
                }
            }
            for (array, at) in found {
                for which in 0..self.quantifiers.len() {
                    let kept = &self.quantifiers[which];
                    let (Quantifier { var, count, body }, origin) = (kept.quantifier, kept.origin);
                    let Some(&(_, first, step)) = kept.reads.iter().find(|r| r.0 == array) else { continue };
                    let t = element(terms, at, first, step, terms.width(var));
                    if done.len() >= MAX_INSTANCES || !done.insert((which, t)) {
                        continue;
                    }
                    let inside = terms.ult(t, count);
                    let body = terms.substitute(body, &FxHashMap::from_iter([(var, t)]));
                    let instance = terms.implies(inside, body);
                    if instance != Terms::TRUE {
                        self.clauses.push((instance, origin));
                    }
                }
            }
            if self.clauses.len() == looked {
                return;
            }
        }
    }
}

/// Reads of array variables at indices that move by a constant with the bound variable.
fn reads(terms: &mut Terms, q: Quantifier) -> Vec<(TermId, TermId, u64)> {
    let mut found: Vec<(TermId, TermId, u64)> = Vec::new();
    for t in terms.reachable(&[q.body]) {
        let n = terms.node(t);
        let array = if n.op == Op::Read { variable(terms, n.arg_a()) } else { None };
        let Some(array) = array.filter(|a| found.iter().all(|f| f.0 != *a)) else { continue };
        let index = n.arg_b();
        let (first, second) = (terms.instance(q.var, index, 0), terms.instance(q.var, index, 1));
        let step = terms.sub(second, first);
        if let Some(step) = terms.as_const(step).filter(|k| *k > 0) {
            found.push((array, first, step));
        }
    }
    found
}

/// The array behind all writes.
fn variable(terms: &Terms, mut array: TermId) -> Option<TermId> {
    while terms.op(array) == Op::Store {
        array = terms.node(array).arg_a();
    }
    (terms.op(array) == Op::ArrayVar).then_some(array)
}

/// The element that an index is in: their distance from the first one, in steps.
fn element(terms: &mut Terms, at: TermId, first: TermId, step: u64, width: u16) -> TermId {
    let number = |terms: &mut Terms, i: TermId| {
        let w = terms.width(i);
        // All bytes of an element are in the same one.
        let rest = terms.linear(i).map_or(0, |(_, k)| k % step);
        let rest = terms.constant(w, rest);
        let i = terms.sub(i, rest);
        if step.is_power_of_two() {
            let by = terms.constant(w, u64::from(step.trailing_zeros()));
            terms.lshr(i, by)
        } else {
            let by = terms.constant(w, step);
            terms.udiv(i, by)
        }
    };
    let (a, b) = (number(terms, at), number(terms, first));
    let t = terms.sub(a, b);
    terms.resize_unsigned(t, width)
}

impl<S: Solver> Solver for Instances<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        if !self.on || !query.constraints.iter().any(|c| terms.has(*c, facts::HAS_FORALL)) {
            return self.next.check(terms, query);
        }
        self.queries += 1;
        let mut weakened = Weakened::default();
        for &c in query.constraints {
            weakened.add(terms, c, c);
        }
        weakened.add_instances(terms);
        let mut all: Vec<TermId> = weakened.clauses.iter().map(|c| c.0).collect();
        all.sort_unstable();
        all.dedup();
        match self.next.check(terms, &query.with(&all)) {
            Answer::Unsat(core) => {
                self.refuted += 1;
                let of = |t: &TermId| weakened.clauses.iter().find(|c| c.0 == *t).map(|c| c.1);
                let mut origins: Vec<TermId> = core.0.iter().filter_map(of).collect();
                origins.sort_unstable();
                origins.dedup();
                Answer::Unsat(Core::new(origins))
            }
            Answer::Sat(model) => {
                let keys = evidence::support(terms, query.constraints);
                Answer::Sat(Rc::new(evidence::project(terms, &keys, &model)))
            }
            unknown => unknown,
        }
    }

    fn stats(&self, out: &mut Stats) {
        if self.queries > 0 {
            out.add("instances.queries", self.queries);
            out.add("instances.refuted", self.refuted);
        }
        self.next.stats(out);
    }

    fn weaken_quantifiers(&mut self, on: bool) {
        self.on = on;
    }
}
