//! Constants among the constraints: `false` decides, `true` goes away, and nothing is satisfiable.

use crate::answer::{Answer, Core};
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::{Model, Terms};
use std::rc::Rc;

pub struct Trivial<S> {
    next: S,
    empty: Rc<Model>,
    queries: u64,
    answered: u64,
}

impl<S: Solver> Trivial<S> {
    pub fn new(next: S) -> Trivial<S> {
        Trivial { next, empty: Rc::default(), queries: 0, answered: 0 }
    }
}

impl<S: Solver> Solver for Trivial<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.queries += 1;
        // Constraints are sorted, and `false` and `true` are the first two terms of every table.
        let rest = match *query.constraints {
            [Terms::FALSE, ..] => {
                self.answered += 1;
                return Answer::Unsat(Core::new(vec![Terms::FALSE]));
            }
            [Terms::TRUE, ref rest @ ..] => rest,
            ref all => all,
        };
        if rest.is_empty() {
            self.answered += 1;
            return Answer::Sat(self.empty.clone());
        }
        self.next.check(terms, &Query { constraints: rest, ..*query })
    }

    fn stats(&self, out: &mut Stats) {
        out.add("chain.queries", self.queries);
        out.add("trivial.answered", self.answered);
        self.next.stats(out);
    }
}
