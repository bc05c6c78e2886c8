//! Why an execution is not followed.

use std::fmt;

/// Beyond it nothing is known: a target may be reached there.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum CutReason {
    /// a loop iterates more often than this
    Unwind(u32),
    /// a call that is nested too deeply to be inlined
    Inline(String),
    /// a function without a body and without a meaning of its own
    External(String),
    /// what the executor has and this crate does not
    Unsupported(String),
    /// too many nodes
    GraphSize,
}

impl CutReason {
    /// What the user can move: iterations and depth of calls.
    pub fn is_bound(&self) -> bool {
        matches!(self, CutReason::Unwind(_) | CutReason::Inline(_))
    }

    /// Nothing is followed beyond it. Beyond the others execution continues with any result.
    pub fn ends_path(&self) -> bool {
        matches!(self, CutReason::Unwind(_) | CutReason::GraphSize)
    }
}

impl fmt::Display for CutReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CutReason::Unwind(k) => write!(f, "a loop may iterate more than {k} times (--unwind)"),
            CutReason::Inline(name) => write!(f, "a call of {name} is not inlined (--inline)"),
            CutReason::External(name) => write!(f, "{name} has no body"),
            CutReason::Unsupported(what) => write!(f, "unsupported: {what}"),
            CutReason::GraphSize => write!(f, "the unwound graph is too large"),
        }
    }
}
