//! What is merged, and how.

use crate::guard::MergeMethod;
use crate::loops::{CLOSE_MERGE, OPEN_MERGE};
use pleach_state::State;

/// What makes states wait for each other.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum MergeScope {
    /// a loop in which a fork depends on the size of an object
    SizeDependent,
    /// every loop
    Loops,
    /// every call but that of the entry
    Functions,
    /// from [`OPEN_MERGE`](crate::OPEN_MERGE) to [`CLOSE_MERGE`](crate::CLOSE_MERGE)
    Marked,
}

/// A state passed a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MergeEvent {
    Open,
    Close,
    /// without having passed the other mark before
    StrayClose,
}

#[derive(Clone, Debug)]
pub struct MergeConfig {
    /// Default: through the tree.
    pub method: MergeMethod,
    /// Default: loops.
    pub scopes: Vec<MergeScope>,
    /// States that wait at one place at most; that number is merged before the others arrive. Default: 10,000.
    pub max_states: usize,
    /// Patterns of one group at most; with more it is merged through the tree. Default: 8.
    pub max_patterns: usize,
    /// Give loops up where merged states cost more than their members. Default: no.
    pub trials: bool,
    /// Merge also inside loops, states with equal stores. Default: no.
    pub incremental: bool,
    /// Merge also at the header of a loop, what one round has forked into. Default: yes.
    pub rounds: bool,
    /// Merge also where only some states have allocated an object. Not where leaks are looked for: whether the object
    /// is there would depend on the member. Default: yes.
    pub one_sided: bool,
    /// Check each merge by the solver. Default: no.
    pub check: bool,
    /// Who is told of marks. Default: nobody.
    pub on_mark: Option<fn(MergeEvent, &State)>,
}

impl Default for MergeConfig {
    fn default() -> MergeConfig {
        MergeConfig {
            method: MergeMethod::Tree,
            scopes: vec![MergeScope::Loops],
            max_states: 10_000,
            max_patterns: 8,
            trials: false,
            incremental: false,
            rounds: true,
            one_sided: true,
            check: false,
            on_mark: None,
        }
    }
}

impl MergeConfig {
    /// Functions that are marks: a step has to end after each call.
    pub fn marks(&self) -> Vec<&'static str> {
        let marked = self.scopes.contains(&MergeScope::Marked);
        [OPEN_MERGE, CLOSE_MERGE].into_iter().filter(|_| marked).collect()
    }
}
