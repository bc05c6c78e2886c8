//! How long states may wait for those that are still in a loop.
//!
//! *Idea*: who waits covers nothing. A loop with many rounds, or one whose rounds fork into others, may keep all states
//! of a run waiting until its limit. So a region has a part of the work done so far to come to its end; what was spent
//! on those that did not is taken off the next ones. A loop that was abandoned is tried again with twice as much. Work
//! is counted in units that do not depend on the clock. *Direction*: decides what is merged, never what is found: the
//! states of an abandoned region go on separately, nothing is explored twice.

use pleach_ir::FuncId;
use pleach_ir::loops::LoopId;
use rustc_hash::FxHashMap;

/// What regions that are abandoned may cost at the start of a run, and one part of the work done in addition.
const START: u64 = 2_000_000;
const SHARE: u64 = 4;
/// The part of what is left that one region may cost.
const PART: u64 = 2;
/// With less than this no region is opened.
const LEAST: u64 = 20_000;

#[derive(Default, Debug)]
pub(crate) struct WaitBudget {
    /// work done until the last fork
    now: u64,
    /// spent on regions that were abandoned
    lost: u64,
    /// by loop: what its next region has to be given
    wanted: FxHashMap<(FuncId, LoopId), u64>,
    pub abandoned: u64,
}

impl WaitBudget {
    pub fn is_at(&mut self, now: u64) {
        self.now = now;
    }

    pub fn now(&self) -> u64 {
        self.now
    }

    /// When a region that begins now is abandoned; none if it is not worth beginning.
    pub fn until(&self, of_loop: (FuncId, LoopId)) -> Option<u64> {
        let part = (START + self.now / SHARE).checked_sub(self.lost)? / PART;
        let wanted = self.wanted.get(&of_loop).copied().unwrap_or(LEAST);
        (part >= wanted).then_some(self.now + part)
    }

    pub fn abandon(&mut self, of_loop: (FuncId, LoopId), began: u64) {
        let spent = self.now - began;
        self.lost += spent;
        self.wanted.insert(of_loop, 2 * spent);
        self.abandoned += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOP: (FuncId, LoopId) = (FuncId(0), LoopId(0));

    #[test]
    fn what_was_lost_is_a_part_of_the_work() {
        let mut p = WaitBudget::default();
        let mut done = 0;
        for _ in 0..1_000 {
            // The same loop again and again, never to its end.
            done += 100_000;
            p.is_at(done);
            if let Some(until) = p.until(LOOP) {
                assert!(until > done);
                p.is_at(until);
                p.abandon(LOOP, done);
                done = until;
            }
        }
        assert!(p.abandoned > 1 && p.lost <= START + done / SHARE);
    }

    #[test]
    fn a_loop_is_tried_again_with_more() {
        let mut p = WaitBudget::default();
        let first = p.until(LOOP).expect("at the start");
        p.is_at(first);
        p.abandon(LOOP, 0);
        assert_eq!(p.until(LOOP), None);
        let other = (FuncId(0), LoopId(1));
        assert!(p.until(other).is_some(), "another loop has not been tried");
        p.is_at(first * 40);
        assert!(p.until(LOOP).is_some_and(|until| until - first * 40 >= 2 * first));
    }
}
