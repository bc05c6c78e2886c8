//! A second back end for what the first cannot answer, and first for quantified queries if it is better at them.

use crate::answer::{Answer, UnknownReason};
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::{Terms, facts};

pub struct Fallback<A, B> {
    first: A,
    second: B,
    /// the second is queried first where there are quantifiers
    quantifiers_second: bool,
    queries: u64,
    helped: u64,
}

impl<A: Solver, B: Solver> Fallback<A, B> {
    pub fn new(first: A, second: B, quantifiers_second: bool) -> Fallback<A, B> {
        Fallback { first, second, quantifiers_second, queries: 0, helped: 0 }
    }
}

/// Is it worth querying the other back end? A time-out would double the time that the user allowed.
fn hopeful(answer: &Answer) -> bool {
    matches!(answer, Answer::Unknown(UnknownReason::Unsupported(_) | UnknownReason::BackendError(_)))
}

impl<A: Solver, B: Solver> Solver for Fallback<A, B> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        let quantified = query.constraints.iter().any(|&c| terms.has(c, facts::HAS_FORALL));
        let swap = quantified && self.quantifiers_second;
        let answer = if swap { self.second.check(terms, query) } else { self.first.check(terms, query) };
        if !hopeful(&answer) {
            return answer;
        }
        self.queries += 1;
        let other = if swap { self.first.check(terms, query) } else { self.second.check(terms, query) };
        if other.is_unknown() {
            return answer;
        }
        self.helped += 1;
        other
    }

    fn stats(&self, out: &mut Stats) {
        out.add("fallback.queries", self.queries);
        out.add("fallback.answered", self.helped);
        self.first.stats(out);
        self.second.stats(out);
    }
}
