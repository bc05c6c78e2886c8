//! Differences: comparisons of symbolic variables with constants and with each other, `x ≤ c`, `x − y ≤ c`, `x = y +
//! c`, `x ≠ y`.
//!
//! *Idea*: most branches of programs compare a variable with a constant or with another variable. Read as integers,
//! such constraints are bounds on differences: a graph without negative cycles has a solution, a negative cycle is a
//! core. Disequalities, disjunctions, wrap-around and the two readings of a term are case distinctions, a bounded
//! number of them. *Invariant*: a model is returned only after every constraint evaluated to true under it; a core
//! follows from forms that follow from its constraints. Constraints of other kinds are left out on the way to `Unsat`,
//! and checked by the evaluation on the way to `Sat`. *Checked by*: `tests/difference.rs`, against brute force.

mod forms;
mod graph;
mod reasons;
mod search;

use crate::answer::{Answer, Core};
use crate::evidence;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use forms::{Form, Forms};
use pleach_expr::{Model, TermId, Terms, mask};
use reasons::CONSTRAINTS;
use search::{RewriteResult, Search};
use std::rc::Rc;

/// Cores up to this size are made minimal by leaving out one constraint after the other.
const MINIMISED: usize = 12;

pub struct Difference<S> {
    next: S,
    forms: Forms,
    search: Search,
    statistics: Statistics,
}

#[derive(Default)]
struct Statistics {
    queries: u64,
    sat: u64,
    unsat: u64,
    given_up: u64,
    /// the integers did not satisfy the constraints
    missed: u64,
    splits: u64,
}

impl<S: Solver> Difference<S> {
    pub fn new(next: S) -> Difference<S> {
        Difference { next, forms: Forms::default(), search: Search::new(), statistics: Statistics::default() }
    }

    fn solve(&mut self, terms: &mut Terms, constraints: &[TermId]) -> Option<Answer> {
        if constraints.len() > CONSTRAINTS {
            return None;
        }
        self.forms.forget_if_full();
        let mut all: Vec<(Form, u8)> = Vec::with_capacity(constraints.len());
        for (i, &c) in constraints.iter().enumerate() {
            all.push((self.forms.of(terms, c), i as u8));
        }
        if all.iter().all(|(f, _)| matches!(f, Form::Open)) {
            return None;
        }
        let outcome = self.search.run(&self.forms, &all);
        self.statistics.splits += u64::from(self.search.splits);
        self.search.learn(!matches!(outcome, RewriteResult::GivenUp));
        match outcome {
            RewriteResult::GivenUp => {
                self.statistics.given_up += 1;
                None
            }
            RewriteResult::Unsat(reasons) => {
                let mut core: Vec<(Form, u8)> = reasons.constraints().map(|i| all[i].clone()).collect();
                // Without case distinctions the core is one negative cycle.
                if self.search.splits > 0 {
                    self.minimise(&mut core);
                }
                self.statistics.unsat += 1;
                Some(Answer::Unsat(Core::new(core.iter().map(|(_, i)| constraints[usize::from(*i)]).collect())))
            }
            RewriteResult::Sat => {
                let model = self.model(terms, constraints);
                if !evidence::satisfies(terms, constraints, &model) {
                    self.statistics.missed += 1;
                    return None;
                }
                self.statistics.sat += 1;
                Some(Answer::Sat(Rc::new(model)))
            }
        }
    }

    fn minimise(&mut self, core: &mut Vec<(Form, u8)>) {
        if core.len() > MINIMISED {
            return;
        }
        let mut i = 0;
        while i < core.len() && core.len() > 1 {
            let left_out = core.remove(i);
            match self.search.run(&self.forms, core) {
                RewriteResult::Unsat(_) => {}
                _ => {
                    core.insert(i, left_out);
                    i += 1;
                }
            }
        }
    }

    fn model(&mut self, terms: &mut Terms, constraints: &[TermId]) -> Model {
        let mut found = Model::new();
        for &a in &self.search.atoms {
            let atom = self.forms.atom(a);
            if let Some(key) = atom.key {
                found.set(key, self.search.value(a) as u64 & mask(atom.width));
            }
        }
        let keys = evidence::support(terms, constraints);
        evidence::project(terms, &keys, &found)
    }
}

impl<S: Solver> Solver for Difference<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.statistics.queries += 1;
        match self.solve(terms, query.constraints) {
            Some(answer) => answer,
            None => self.next.check(terms, query),
        }
    }

    fn stats(&self, out: &mut Stats) {
        out.add("difference.queries", self.statistics.queries);
        out.add("difference.sat", self.statistics.sat);
        out.add("difference.unsat", self.statistics.unsat);
        out.add("difference.given-up", self.statistics.given_up);
        out.add("difference.missed", self.statistics.missed);
        out.add("difference.splits", self.statistics.splits);
        self.next.stats(out);
    }
}
