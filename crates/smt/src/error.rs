//! What can go wrong below a query. It reaches the caller as [`UnknownReason`], never as a panic.

use crate::answer::UnknownReason;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum SmtError {
    /// An engine limit: nothing here takes such a term.
    #[error("{0}")]
    Unsupported(String),
    /// The solver library refused a call.
    #[error("{0}")]
    Backend(String),
    /// What comes before the search would take more than the query's budget.
    #[error("a query larger than its budget")]
    Large,
    /// An engine bug: evidence that does not hold, or back ends that disagree.
    #[error("engine bug: {0}")]
    Bug(String),
    #[error("query log: {0}")]
    Log(#[from] std::io::Error),
}

impl From<SmtError> for UnknownReason {
    fn from(error: SmtError) -> UnknownReason {
        match error {
            SmtError::Unsupported(what) => UnknownReason::Unsupported(what),
            SmtError::Large => UnknownReason::Steps,
            other => UnknownReason::BackendError(other.to_string()),
        }
    }
}
