//! A solver instance kept over many queries.
//!
//! *Idea*: constraints are assumptions, so that the instance keeps what it learnt and every term is translated once. An
//! instance pays for all it ever took in (each satisfying assignment assigns all of it), so it is given up for a fresh
//! one when it has become much larger than what a query needs. The rule counts terms, not time: answers do not depend
//! on the clock.

use super::effort::Effort;
use super::encode::Encoder;
use super::{Check, Engine, Limits, Verdict};
use crate::answer::{Answer, Core, UnknownReason};
use crate::error::SmtError;
use crate::evidence;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::Terms;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The names of a back end's statistics.
pub struct Names {
    queries: &'static str,
    sat: &'static str,
    unsat: &'static str,
    unknown: &'static str,
    rebuilt: &'static str,
    encoded: &'static str,
    bad_models: &'static str,
    time: &'static str,
}

macro_rules! names {
    ($prefix:literal) => {
        Names {
            queries: concat!($prefix, ".queries"),
            sat: concat!($prefix, ".sat"),
            unsat: concat!($prefix, ".unsat"),
            unknown: concat!($prefix, ".unknown"),
            rebuilt: concat!($prefix, ".rebuilt"),
            encoded: concat!($prefix, ".encoded-terms"),
            bad_models: concat!($prefix, ".bad-models"),
            time: concat!($prefix, ".time"),
        }
    };
}

pub static BITWUZLA: Names = names!("bitwuzla");
pub static Z3: Names = names!("z3");

/// An instance may grow to this many terms, or to [`GROWTH`] times its first query.
const FLOOR: usize = 4_000;
const GROWTH: usize = 8;
/// After this many checks it is dropped if it has grown beyond twice its first query, or is small enough to make anew:
/// every check also tidies up what the earlier ones left behind. Measured: 1,000 queries on one variable each take 0.2
/// s of processor time with 10 to 50 checks, 0.5 s with 200, 2.6 s without a limit; queries that share their terms do
/// not mind.
const CHECKS: u32 = 32;
const CHEAP: usize = 1_000;

#[derive(Default)]
struct Statistics {
    queries: u64,
    sat: u64,
    unsat: u64,
    unknown: u64,
    rebuilt: u64,
    encoded: u64,
    bad_models: u64,
    time: Duration,
}

pub struct Incremental<E: Engine> {
    limits: Limits,
    names: &'static Names,
    instance: Option<Encoder<E>>,
    /// size of the instance after its first query
    first: usize,
    /// queries put to the instance
    checks: u32,
    statistics: Statistics,
}

impl<E: Engine> Incremental<E> {
    pub fn new(limits: Limits, names: &'static Names) -> Incremental<E> {
        Incremental { limits, names, instance: None, first: 0, checks: 0, statistics: Statistics::default() }
    }

    /// Has an instance of this size become dearer than a fresh one?
    fn worn(&self, size: usize) -> bool {
        let strayed = size > 2 * self.first || size <= CHEAP;
        size > FLOOR.max(GROWTH * self.first) || self.checks >= CHECKS && strayed
    }

    fn solve(&mut self, terms: &mut Terms, query: &Query) -> Result<Answer, SmtError> {
        if self.instance.as_ref().is_some_and(|i| self.worn(i.size())) {
            self.statistics.rebuilt += 1;
            self.instance = None;
            self.checks = 0;
        }
        self.checks += 1;
        let instance = match &mut self.instance {
            Some(i) => i,
            none => none.insert(Encoder::new(E::open(&self.limits)?)),
        };
        let before = instance.size();
        let new = before == 0;
        let steps = &self.limits.steps;
        instance.effort = Effort::default();
        instance.allowed = steps.limit.get();
        let mut assumptions = Vec::with_capacity(query.constraints.len());
        for &c in query.constraints {
            assumptions.push(instance.constraint(terms, c)?);
        }
        self.statistics.encoded += (instance.size() - before) as u64;
        if new {
            self.first = instance.size();
        }
        // What comes before the search is part of the budget.
        let ahead = instance.effort.steps();
        let limit = steps.limit.get();
        steps.taken.set(steps.taken.get() + ahead);
        steps.limit.set(limit.map(|n| n - n.min(ahead)));
        let how = if ahead > 0 { Check::Large } else { Check::Usual };
        let verdict = instance.engine.check(&assumptions, how);
        steps.limit.set(limit);
        match verdict? {
            Verdict::Unsat(failed) => {
                let core: Vec<_> = failed.into_iter().map(|i| query.constraints[i]).collect();
                Ok(Answer::Unsat(Core::new(core)))
            }
            Verdict::Unknown(why) => Ok(Answer::Unknown(why)),
            Verdict::Sat => {
                let model = instance.model(terms, query.constraints)?;
                if evidence::violates(terms, query.constraints, &model) {
                    self.statistics.bad_models += 1;
                    return Err(SmtError::Backend("the model does not satisfy the query".into()));
                }
                Ok(Answer::Sat(Rc::new(model)))
            }
        }
    }
}

impl<E: Engine> Solver for Incremental<E> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        let start = Instant::now();
        let solved = self.solve(terms, query);
        // What was not handed over has left no trace in the instance.
        let handed_over = !matches!(solved, Err(SmtError::Large));
        if !handed_over {
            // As if it had been used up: larger budgets come as late as for a search.
            let steps = &self.limits.steps;
            steps.taken.set(steps.taken.get().saturating_add(steps.limit.get().unwrap_or(0)));
        }
        let answer = solved.unwrap_or_else(|error| Answer::Unknown(UnknownReason::from(error)));
        let f = &mut self.statistics;
        f.queries += 1;
        match &answer {
            Answer::Sat(_) => f.sat += 1,
            Answer::Unsat(_) => f.unsat += 1,
            Answer::Unknown(_) => {
                f.unknown += 1;
                // An instance that was stopped or failed half-way is not trusted with the next query.
                if handed_over {
                    self.instance = None;
                }
            }
        }
        f.time += start.elapsed();
        answer
    }

    fn stats(&self, out: &mut Stats) {
        let (f, n) = (&self.statistics, self.names);
        out.add(n.queries, f.queries);
        out.add(n.sat, f.sat);
        out.add(n.unsat, f.unsat);
        out.add(n.unknown, f.unknown);
        out.add(n.rebuilt, f.rebuilt);
        out.add(n.encoded, f.encoded);
        out.add(n.bad_models, f.bad_models);
        out.add_time(n.time, f.time);
    }
}
