//! Re-checks the evidence of every answer: models by evaluation, cores by a solver of their own.

use crate::answer::{Answer, UnknownReason};
use crate::error::SmtError;
use crate::evidence;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::Terms;

pub struct Checking<S, O> {
    next: S,
    /// shares nothing with `next`
    oracle: O,
    models: u64,
    cores: u64,
    failures: u64,
}

impl<S: Solver, O: Solver> Checking<S, O> {
    pub fn new(next: S, oracle: O) -> Checking<S, O> {
        Checking { next, oracle, models: 0, cores: 0, failures: 0 }
    }

    fn verify(&mut self, terms: &mut Terms, query: &Query, answer: &Answer) -> Result<(), SmtError> {
        match answer {
            Answer::Sat(model) => {
                self.models += 1;
                // a copy, so that remembered values are not trusted either
                if evidence::violates(terms, query.constraints, &(**model).clone()) {
                    return Err(SmtError::Bug("a model does not satisfy its query".into()));
                }
                if !evidence::is_normal(terms, query, model) {
                    return Err(SmtError::Bug(
                        "a model does not list exactly the symbolic variables of its query".into(),
                    ));
                }
            }
            Answer::Unsat(core) => {
                self.cores += 1;
                if !core.0.is_sorted_by(|a, b| a < b) || !evidence::is_subset(&core.0, query.constraints) {
                    return Err(SmtError::Bug("a core is not a subset of its query".into()));
                }
                if self.oracle.check(terms, &query.with(&core.0)).is_sat() {
                    return Err(SmtError::Bug("a core is satisfiable".into()));
                }
            }
            Answer::Unknown(_) => {}
        }
        Ok(())
    }
}

impl<S: Solver, O: Solver> Solver for Checking<S, O> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        let answer = self.next.check(terms, query);
        match self.verify(terms, query, &answer) {
            Ok(()) => answer,
            Err(error) => {
                self.failures += 1;
                Answer::Unknown(UnknownReason::from(error))
            }
        }
    }

    fn stats(&self, out: &mut Stats) {
        out.add("checking.models", self.models);
        out.add("checking.cores", self.cores);
        out.add("checking.failures", self.failures);
        self.next.stats(out);
    }
}
