//! Time spent behind this link, by the monotonic clock.

use crate::answer::Answer;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::Terms;
use std::time::{Duration, Instant};

pub struct TimedLink<S> {
    next: S,
    name: &'static str,
    spent: Duration,
}

impl<S: Solver> TimedLink<S> {
    pub fn new(name: &'static str, next: S) -> TimedLink<S> {
        TimedLink { next, name, spent: Duration::ZERO }
    }
}

impl<S: Solver> Solver for TimedLink<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        let start = Instant::now();
        let answer = self.next.check(terms, query);
        self.spent += start.elapsed();
        answer
    }

    fn stats(&self, out: &mut Stats) {
        out.add_time(self.name, self.spent);
        self.next.stats(out);
    }
}
