//! Literals from above that the proof does not need are dropped again.
//!
//! *Idea*: everything that holds from above and is kept by each round was added at once, because one literal may need
//! another. Of these, groups are left out, large ones first; what is still inductive without a group does not need it.
//! *Invariant*: the result comes from the same fixpoint as before, started with fewer literals. *Direction*: may keep
//! too many: the number of attempts is bounded.

use super::discharge::Discharged;
use super::from_above::FromAbove;
use crate::pruner::Interpolation;
use pleach_state::NodeId;
use pleach_state::seams::PathOracle;

/// Fixpoints that are computed to make one invariant smaller.
const ATTEMPTS: usize = 12;
/// With more ways round each fixpoint costs more than a smaller invariant is worth.
const LEAVES: usize = 24;

impl Interpolation {
    /// `found` is inductive with all literals of `kept`.
    pub(super) fn minimise(
        &mut self,
        root: NodeId,
        group: &[NodeId],
        leaves: &[NodeId],
        mut kept: FromAbove,
        mut found: Discharged,
        oracle: &mut dyn PathOracle,
    ) -> Discharged {
        if !self.loops.minimise || kept.is_empty() || leaves.len() > LEAVES {
            return found;
        }
        let relevant = self.loops.relevant.clone();
        let (mut size, mut left) = (kept.len().div_ceil(2), ATTEMPTS);
        loop {
            let mut at = 0;
            while at < kept.len() && left > 0 && !self.is_turn_over(oracle) {
                left -= 1;
                let end = (at + size).min(kept.len());
                let fewer: FromAbove = [&kept[..at], &kept[end..]].concat();
                match self.with_fewer(root, group, leaves, &fewer, oracle) {
                    Some(smaller) => {
                        self.loops.statistics.dropped += (kept.len() - fewer.len()) as u64;
                        (kept, found) = (fewer, smaller);
                    }
                    None => at = end,
                }
            }
            if size <= 1 || left == 0 || self.is_turn_over(oracle) {
                break;
            }
            size = size.div_ceil(2);
        }
        // What an attempt could not do says nothing of the loop.
        self.loops.relevant = relevant;
        found
    }

    /// The interpolants with these literals from above, if they become inductive.
    fn with_fewer(
        &mut self,
        root: NodeId,
        group: &[NodeId],
        leaves: &[NodeId],
        kept: &FromAbove,
        oracle: &mut dyn PathOracle,
    ) -> Option<Discharged> {
        let mut found = self.start(group, oracle);
        self.require_all(root, kept, &mut found, oracle).ok()?;
        self.strengthen(root, leaves, &mut found, oracle).ok()?;
        Some(found)
    }
}
