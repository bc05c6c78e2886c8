//! How many queries no link answered, and how far the back ends searched for them: a measure of the solver's work that
//! is the same in every run, as time is not.

use crate::answer::Answer;
use crate::backend::Steps;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::Terms;
use std::cell::Cell;
use std::rc::Rc;

/// Stands before the back end and counts.
pub struct BackendCounter<S> {
    next: S,
    seen: Rc<Cell<u64>>,
}

/// Stands at the front of the chain and tells.
pub struct ChainCounters<S> {
    next: S,
    seen: Rc<Cell<u64>>,
    steps: Rc<Steps>,
    reads_bases: bool,
}

impl<S: Solver> BackendCounter<S> {
    pub fn new(seen: &Rc<Cell<u64>>, next: S) -> BackendCounter<S> {
        BackendCounter { next, seen: Rc::clone(seen) }
    }
}

impl<S: Solver> ChainCounters<S> {
    pub fn new(seen: Rc<Cell<u64>>, steps: Rc<Steps>, reads_bases: bool, next: S) -> ChainCounters<S> {
        ChainCounters { next, seen, steps, reads_bases }
    }
}

impl<S: Solver> Solver for BackendCounter<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.seen.set(self.seen.get() + 1);
        self.next.check(terms, query)
    }

    fn stats(&self, out: &mut Stats) {
        self.next.stats(out);
    }
}

impl<S: Solver> Solver for ChainCounters<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.next.check(terms, query)
    }

    fn stats(&self, out: &mut Stats) {
        self.next.stats(out);
    }

    fn hard_queries(&self) -> u64 {
        self.seen.get()
    }

    fn reads_bases(&self) -> bool {
        self.reads_bases
    }

    fn search_steps(&self) -> u64 {
        self.steps.taken.get()
    }

    fn limit_steps(&mut self, steps: Option<u64>) {
        self.steps.limit.set(steps);
    }

    fn weaken_quantifiers(&mut self, on: bool) {
        self.next.weaken_quantifiers(on);
    }
}
