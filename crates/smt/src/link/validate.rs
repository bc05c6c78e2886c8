//! Both back ends answer; they must not contradict each other.

use crate::answer::{Answer, UnknownReason};
use crate::error::SmtError;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::Terms;

pub struct Validate<A, B> {
    main: A,
    other: B,
    queries: u64,
    /// the other one had no answer
    open: u64,
    disagreements: u64,
}

impl<A: Solver, B: Solver> Validate<A, B> {
    pub fn new(main: A, other: B) -> Validate<A, B> {
        Validate { main, other, queries: 0, open: 0, disagreements: 0 }
    }
}

impl<A: Solver, B: Solver> Solver for Validate<A, B> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.queries += 1;
        let answer = self.main.check(terms, query);
        let other = self.other.check(terms, query);
        match (&answer, &other) {
            (Answer::Sat(_), Answer::Unsat(_)) | (Answer::Unsat(_), Answer::Sat(_)) => {
                self.disagreements += 1;
                let text = format!("back ends disagree: {} and {}", answer.verdict(), other.verdict());
                Answer::Unknown(UnknownReason::from(SmtError::Bug(text)))
            }
            (_, Answer::Unknown(_)) => {
                self.open += 1;
                answer
            }
            (Answer::Unknown(_), _) => other,
            _ => answer,
        }
    }

    fn stats(&self, out: &mut Stats) {
        out.add("validate.queries", self.queries);
        out.add("validate.one-sided", self.open);
        out.add("validate.disagreements", self.disagreements);
        self.main.stats(out);
        self.other.stats(out);
    }
}
