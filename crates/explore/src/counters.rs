//! What happened so far. Deterministic: nothing here depends on the clock.

use pleach_state::Cut;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Counters {
    pub steps: u64,
    /// LLVM instructions over all paths, shared prefixes once
    pub instructions: u64,
    /// times a state was replaced by more than one
    pub forks: u64,
    pub completed: u64,
    pub errored: u64,
    pub cut: u64,
    pub pruned: u64,
    /// terminated silently (no test)
    pub silent: u64,
    /// states that went into a merged one, and those that they became
    pub merged: u64,
    pub merged_into: u64,
    pub tests: u64,
    /// times a state was evicted because the memory limit was reached
    pub evicted: u64,
    /// times a state was deferred because a query ran out of its budget
    pub deferred: u64,
    pub states_peak: u64,
    pub deepest: u32,
    /// every reason why paths were only partially explored, with their number
    pub cuts: BTreeMap<Cut, u64>,
    /// the share of the tree that is done, each fork dividing its node's share evenly
    pub progress_share: f64,
    /// with [`crate::RunConfig::check_pruning`]
    pub rechecked: crate::subsumption_recheck::Rechecked,
    /// with [`crate::RunConfig::check_merging`]
    pub rechecked_merges: crate::merge_recheck::RecheckedMerges,
    pub speculated: crate::speculate::Speculated,
}

impl Counters {
    /// Paths that ended, in whatever way.
    pub fn paths(&self) -> u64 {
        self.completed + self.errored + self.cut + self.pruned + self.silent
    }

    /// Every feasible path was followed to its end.
    pub fn is_complete(&self) -> bool {
        self.cuts.is_empty()
    }

    /// Every feasible path was followed to its end or to the bound on rounds.
    pub fn is_complete_within_rounds(&self) -> bool {
        self.cuts.keys().all(|cut| matches!(cut, Cut::Unwind(_)))
    }

    /// The bound on rounds, if it cut paths.
    pub fn rounds(&self) -> Option<u32> {
        self.cuts.keys().find_map(|cut| if let Cut::Unwind(n) = cut { Some(*n) } else { None })
    }
}
