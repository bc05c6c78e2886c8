//! Answers carry their evidence: a model, a core, or the reason why there is neither.

use pleach_expr::{Model, TermId};
use std::fmt;
use std::rc::Rc;

#[derive(Clone, Debug)]
pub enum Answer {
    /// An assignment that makes every constraint true.
    Sat(Rc<Model>),
    /// Constraints that cannot all be true.
    Unsat(Core),
    /// Proves nothing and excludes nothing.
    Unknown(UnknownReason),
}

/// A subset of the query's constraints, sorted, that is already unsatisfiable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Core(pub Rc<[TermId]>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnknownReason {
    Timeout,
    /// the caller allowed no longer search; with another limit there may be an answer
    Steps,
    Memory,
    Interrupted,
    /// The query holds something no back end takes.
    Unsupported(String),
    /// A back end failed, or its evidence did not hold.
    BackendError(String),
}

impl Answer {
    pub fn is_sat(&self) -> bool {
        matches!(self, Answer::Sat(_))
    }
    pub fn is_unsat(&self) -> bool {
        matches!(self, Answer::Unsat(_))
    }
    pub fn is_unknown(&self) -> bool {
        matches!(self, Answer::Unknown(_))
    }
    pub fn model(&self) -> Option<&Rc<Model>> {
        match self {
            Answer::Sat(model) => Some(model),
            _ => None,
        }
    }
    pub fn core(&self) -> Option<&[TermId]> {
        match self {
            Answer::Unsat(core) => Some(&core.0),
            _ => None,
        }
    }
    /// `sat`, `unsat` or `unknown`.
    pub fn verdict(&self) -> &'static str {
        match self {
            Answer::Sat(_) => "sat",
            Answer::Unsat(_) => "unsat",
            Answer::Unknown(_) => "unknown",
        }
    }
}

impl Core {
    /// Sorts the ids and drops duplicates.
    pub fn new(mut ids: Vec<TermId>) -> Core {
        ids.sort_unstable();
        ids.dedup();
        Core(ids.into())
    }
}

impl fmt::Display for UnknownReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnknownReason::Timeout => write!(f, "solver time-out"),
            UnknownReason::Steps => write!(f, "solver search too long"),
            UnknownReason::Memory => write!(f, "solver memory limit"),
            UnknownReason::Interrupted => write!(f, "interrupted"),
            UnknownReason::Unsupported(what) => write!(f, "unsupported by the solver: {what}"),
            UnknownReason::BackendError(what) => write!(f, "solver error: {what}"),
        }
    }
}
