//! A solver instance that keeps what was asserted: for callers whose conditions only grow.
//!
//! *Idea*: a condition that is asserted for good is translated and learnt from once; a check adds assumptions to it.
//! Nothing is split, cached or rewritten on the way. The caller reads the values of the terms it needs instead of a
//! model of everything.

use crate::answer::UnknownReason;
use crate::backend::{Conversation, conversation};
use crate::config::{BackendKind, SolverConfig};
use crate::error::SmtError;
use pleach_expr::{TermId, Terms};
use std::time::{Duration, Instant};

/// What a check found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Satisfiability {
    /// [`Session::value`] reads the assignment.
    Sat,
    Unsat,
    /// Proves nothing and excludes nothing.
    Unknown(UnknownReason),
}

pub struct Session {
    inner: Box<dyn Conversation>,
    checks: u64,
    time: Duration,
}

impl Session {
    /// With the limits of `config`; its links are not used.
    pub fn open(kind: BackendKind, config: &SolverConfig) -> Result<Session, SmtError> {
        Ok(Session { inner: conversation(kind, config)?, checks: 0, time: Duration::ZERO })
    }

    /// The condition holds from now on.
    pub fn assert(&mut self, terms: &Terms, condition: TermId) -> Result<(), SmtError> {
        let start = Instant::now();
        let done = self.inner.assert(terms, condition);
        self.time += start.elapsed();
        done
    }

    /// Can all that was asserted hold together with the assumptions?
    pub fn check(&mut self, terms: &Terms, assumptions: &[TermId]) -> Satisfiability {
        let start = Instant::now();
        self.checks += 1;
        let found = self.inner.check(terms, assumptions);
        self.time += start.elapsed();
        found.unwrap_or_else(|why| Satisfiability::Unknown(why.into()))
    }

    /// Time for each of the checks that follow.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) {
        self.inner.set_timeout(timeout);
    }

    /// After [`Satisfiability::Sat`]: the value of a term of at most 64 bits.
    pub fn value(&mut self, terms: &Terms, t: TermId) -> Result<u64, SmtError> {
        self.inner.value(terms, t)
    }

    pub fn checks(&self) -> u64 {
        self.checks
    }

    /// Spent in the library and in translating.
    pub fn time(&self) -> Duration {
        self.time
    }
}
