//! What files about single paths need to know of them; kept only where such files are wanted.

use crate::state::State;
use pleach_ir::{BlockId, FuncId};
use std::rc::Rc;

/// A branch that was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BranchDecision {
    pub taken: bool,
    /// the other side was possible, too
    pub free: bool,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct BranchLog {
    /// conditional branches, in order
    pub decisions: Vec<BranchDecision>,
    /// blocks that no path had entered before this one
    pub covered: Vec<(FuncId, BlockId)>,
}

impl State {
    /// Changes the record, if there is one.
    pub fn record(&mut self, change: impl FnOnce(&mut BranchLog)) {
        if let Some(record) = &mut self.record {
            change(Rc::make_mut(record));
        }
    }

    /// What was covered above a fork is shown by one test, not by one for each side.
    pub fn clear_new_coverage(&mut self) {
        self.covered_new = false;
        self.record(|r| r.covered.clear());
    }
}
