//! What can go wrong below a query. It reaches the caller as [`Why`], never as a panic.

use crate::answer::Why;
use thiserror::Error;

#[derive(Debug, Error)]
pub enum SmtError {
    /// An engine limit: nothing here takes such a term.
    #[error("{0}")]
    Unsupported(String),
    /// The solver library refused a call.
    #[error("{0}")]
    Backend(String),
    /// An engine bug: evidence that does not hold, or back ends that disagree.
    #[error("engine bug: {0}")]
    Bug(String),
    #[error("query log: {0}")]
    Log(#[from] std::io::Error),
}

impl From<SmtError> for Why {
    fn from(error: SmtError) -> Why {
        match error {
            SmtError::Unsupported(what) => Why::Unsupported(what),
            other => Why::BackendError(other.to_string()),
        }
    }
}
