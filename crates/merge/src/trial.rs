//! Whether merging pays, loop by loop, measured while the run goes on.
//!
//! *Idea*: where a loop is left for the first time by several states, some of them are explored for a while. If they
//! end, all of them together cost about as much as they do times the number of states. The merged state is then
//! explored for a part of that. It executes at least what one member executes, each instruction at a higher cost. If
//! that comes to more than all members cost, the loop is given up: from then on its states go on separately. Everything
//! is counted in units of work, so that decisions do not depend on the clock. Trials may cost one part in `SHARE` of
//! the work done. *Direction*: decides what is merged, never what is found.

use pleach_ir::FuncId;
use pleach_ir::loops::LoopId;
use pleach_state::TrialCost;
use pleach_state::seams::Effort;
use rustc_hash::{FxHashMap, FxHashSet};

/// What trials may cost at the start of a run, and one part of the work done in addition.
const START: u64 = 30_000;
const SHARE: u64 = 12;
/// What one trial may cost at least, or there is none; and at most, as a part of what is left.
const LEAST: u64 = 1_000;
const PART: u64 = 2;
/// The part of what the members cost for which the merged state is explored.
const SAMPLE: u64 = 8;
/// A loop that paid is tried again when it was merged this many times as often.
const AGAIN: u64 = 8;

/// A loop is given up for more than this; with less at stake, only the states of the trial go on separately. They also
/// do if all of them cost less, but only until they have cost `TRIFLES` together: many small groups are a large one.
const TRIFLE: u64 = 25_000;
const TRIFLES: u64 = 100_000;

type LoopKey = (FuncId, LoopId);
/// How many constraints are behind the rounds of a pattern: those who found something and those who came to the end
/// leave a loop by the same way, and what follows differs. `None`: no pattern.
type Exit = Option<usize>;

#[derive(Clone, Copy, Default, Debug)]
struct Known {
    merges: u64,
    /// the number of merges at which there is another trial
    next: u64,
    given_up: bool,
}

#[derive(Default, Debug)]
pub(crate) struct Trials {
    exits: FxHashMap<(LoopKey, Exit), Known>,
    /// all of whose exits are given up
    loops: FxHashSet<LoopKey>,
    /// the loop that the current group left
    pub of: Option<LoopKey>,
    pub exit: Exit,
    /// what may be spent on the current trial
    allowed: u64,
    pub spent: u64,
    /// what groups cost that went on separately without a trial of the merged state
    trifles: u64,
    pub trials: u64,
    /// without an answer: members that did not end, or a limit before the merged state cost as much
    pub open: u64,
    pub given_up: u64,
}

/// What all members cost, from some of them; `None` if that is not known.
pub(crate) fn separately(members: usize, sampled: &[TrialCost]) -> Option<u64> {
    let all_ended = !sampled.is_empty() && sampled.iter().all(|c| c.ended);
    let sum: u64 = sampled.iter().map(|c| c.units).sum();
    all_ended.then(|| (sum / sampled.len() as u64).saturating_mul(members as u64))
}

/// What all members cost, as far as the merged state came: none of them ended, each instruction costs what it did.
fn separately_so_far(members: usize, sampled: &[TrialCost], merged: TrialCost) -> u64 {
    let (units, longest) = sampled.iter().fold((0, 0), |(u, l), c| (u + c.units, l + c.longest));
    let all = u128::from(units) * u128::from(merged.longest) * members as u128 / u128::from(longest.max(1));
    u64::try_from(all).unwrap_or(u64::MAX)
}

/// What the merged state costs at least: it executes what the longest path of a member executes. Others of its paths
/// may be merged behind the next loop.
fn together(sampled: &[TrialCost], merged: TrialCost) -> u64 {
    let longest = sampled.iter().map(|c| c.longest).max().unwrap_or(0);
    if merged.ended || merged.instructions >= longest {
        return merged.units;
    }
    let units = u128::from(merged.units) * u128::from(longest) / u128::from(merged.instructions.max(1));
    u64::try_from(units).unwrap_or(u64::MAX)
}

impl Trials {
    pub fn is_given_up(&self, of_loop: LoopKey) -> bool {
        self.loops.contains(&of_loop)
    }

    /// The loop of the current group is given up.
    pub fn is_over(&self) -> bool {
        self.of.is_some_and(|l| self.is_given_up(l))
    }

    /// What leaves the loop as the current group does is given up.
    pub fn is_exit_over(&self) -> bool {
        self.is_over() || self.of.is_some_and(|l| self.exits.get(&(l, self.exit)).is_some_and(|k| k.given_up))
    }

    /// Names and figures, for the summary.
    pub fn lines(&self) -> Vec<(String, u64)> {
        let all = [
            ("trials", self.trials),
            ("trials_open", self.open),
            ("loops_given_up", self.given_up),
            ("trial_units", self.spent),
        ];
        all.map(|(name, n)| (name.to_owned(), n)).to_vec()
    }

    /// The current loop is left like that: it is not given up before that is tried.
    pub fn has_exit(&mut self, exit: Exit) {
        if let Some(of_loop) = self.of {
            self.exits.entry((of_loop, exit)).or_default();
        }
    }

    /// How far each of three members is explored.
    pub fn begin(&mut self, effort: Effort) -> Option<u64> {
        let known = self.exits.entry((self.of?, self.exit)).or_default();
        known.merges += 1;
        if known.merges <= known.next {
            return None;
        }
        let left = (START + effort.units(0).saturating_sub(self.spent) / SHARE).checked_sub(self.spent)?;
        self.allowed = left / PART;
        let each = self.allowed / 2 / 3;
        (each >= LEAST).then_some(each)
    }

    /// How far the merged state is explored: for a part of what the members cost, or as far as a member if that is not
    /// known. Not at all if they cost next to nothing.
    pub fn limit_of_merged(&self, members: usize, sampled: &[TrialCost]) -> Option<u64> {
        match separately(members, sampled) {
            Some(all) if all <= TRIFLE && self.trifles + all <= TRIFLES => None,
            Some(all) => Some((all / SAMPLE).clamp(LEAST, self.allowed)),
            None => Some(self.allowed / 2 / 3),
        }
    }

    /// Whether the current group is merged.
    pub fn end(&mut self, members: usize, sampled: &[TrialCost], merged: Option<TrialCost>) -> bool {
        let Some(of_loop) = self.of else { return true };
        self.trials += 1;
        self.spent += sampled.iter().chain(&merged).map(|c| c.units).sum::<u64>();
        let known = self.exits.entry((of_loop, self.exit)).or_default();
        let loss = match (separately(members, sampled), merged) {
            // They cost next to nothing.
            (Some(all), None) => {
                self.trifles += all;
                known.next = known.merges;
                return false;
            }
            (Some(all), Some(m)) => Some(together(sampled, m).saturating_sub(all)),
            (None, Some(m)) if m.ended => Some(0),
            // What it loses in a sample, it loses again and again.
            (None, Some(m)) => {
                let loss = m.units.saturating_sub(separately_so_far(members, sampled, m));
                self.open += 1;
                Some(loss * SAMPLE)
            }
            (None, None) => {
                self.open += 1;
                None
            }
        };
        known.next = known.merges * if loss == Some(0) { AGAIN } else { 2 };
        // Others leave the same loop where more follows.
        known.given_up = loss.is_some_and(|l| l > TRIFLE);
        if known.given_up && self.exits.iter().all(|(key, k)| key.0 != of_loop || k.given_up) {
            self.loops.insert(of_loop);
            self.given_up += 1;
        }
        loss.is_none_or(|l| l == 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ended, with a thousand units and half as many instructions.
    const ENDED: TrialCost = TrialCost { units: 1_000, instructions: 500, longest: 500, ended: true };

    fn begun() -> Trials {
        let mut t = Trials { of: Some((FuncId(0), LoopId(0))), ..Trials::default() };
        assert!(t.begin(Effort::default()).is_some());
        t
    }

    fn merged(units: u64, instructions: u64, ended: bool) -> Option<TrialCost> {
        Some(TrialCost { units, instructions, longest: instructions, ended })
    }

    #[test]
    fn a_merged_state_that_costs_more_than_its_members_gives_the_loop_up() {
        let mut t = begun();
        assert_eq!(t.limit_of_merged(100, &[ENDED; 3]), Some(100_000 / SAMPLE));
        // A fifth of what a member executes, for a quarter of what all members cost.
        assert!(!t.end(100, &[ENDED; 3], merged(26_000, 100, false)));
        assert!(t.is_given_up((FuncId(0), LoopId(0))) && !t.is_given_up((FuncId(0), LoopId(1))));
        assert_eq!((t.trials, t.open, t.given_up, t.spent), (1, 0, 1, 29_000));
    }

    #[test]
    fn a_merged_state_that_costs_less_goes_on() {
        let mut t = begun();
        assert!(t.end(100, &[ENDED; 3], merged(25_000, 200, false)), "half of it for a quarter");
        assert!((0..7).all(|_| t.begin(Effort::default()).is_none()), "it is known for a while");
        let more = Effort { instructions: SHARE * START, ..Effort::default() };
        assert!(t.begin(more).is_some());
        assert!(begun().end(100, &[ENDED; 3], merged(99_000, 10, true)), "it ended");
        assert!(!begun().end(100, &[ENDED; 3], merged(101_000, 10, true)), "too late");
    }

    #[test]
    fn the_other_exit_of_a_loop_goes_on() {
        let mut t = Trials { of: Some((FuncId(0), LoopId(0))), exit: Some(1), ..Trials::default() };
        t.has_exit(None);
        t.has_exit(Some(1));
        assert!(t.begin(Effort::default()).is_some());
        assert!(!t.end(100, &[ENDED; 3], merged(26_000, 100, false)));
        assert!(t.is_exit_over() && !t.is_over());
        t.exit = None;
        assert!(!t.is_exit_over());
        assert!(!t.end(100, &[ENDED; 3], merged(26_000, 100, false)));
        assert!(t.is_over() && t.given_up == 1);
    }

    #[test]
    fn a_trifle_does_not_give_the_loop_up() {
        let mut t = begun();
        assert!(!t.end(100, &[ENDED; 3], merged(24_000, 100, false)), "20,000 more than separately");
        assert!(!t.is_given_up((FuncId(0), LoopId(0))));
    }

    #[test]
    fn what_the_paths_of_a_member_share_is_executed_once() {
        // A member has ten paths, each as long as what the merged state executed for a quarter of what all cost.
        let member = TrialCost { units: 1_000, instructions: 5_000, longest: 500, ended: true };
        assert!(begun().end(100, &[member; 3], merged(25_000, 500, false)));
        assert!(!begun().end(100, &[member; 3], merged(25_000, 100, false)), "a fifth of it");
    }

    #[test]
    fn what_is_not_known_is_merged() {
        let mut t = begun();
        let long = TrialCost { units: 20_000, instructions: 1, longest: 1, ended: false };
        assert!(t.end(10, &[ENDED, ENDED, long], None));
        assert_eq!((t.open, t.given_up), (1, 0));
        assert!(t.begin(Effort::default()).is_none(), "there is no other trial at once");
    }

    #[test]
    fn members_without_an_end_are_compared_by_instruction() {
        // Each instruction of a member costs 10 units.
        let member = TrialCost { units: 2_000, instructions: 200, longest: 200, ended: false };
        let mut t = begun();
        assert_eq!(t.limit_of_merged(20, &[member; 3]), Some(t.allowed / 6));
        assert!(t.end(20, &[member; 3], merged(1_990, 10, false)), "199 units for what costs 20 members 200");
        let mut t = begun();
        assert!(!t.end(20, &[member; 3], merged(2_010, 10, false)));
        assert!(!t.is_given_up((FuncId(0), LoopId(0))), "a trifle");
        let mut t = begun();
        assert!(!t.end(20, &[member; 3], merged(9_000, 10, false)));
        assert!(t.is_given_up((FuncId(0), LoopId(0))));
        assert!(begun().end(20, &[member; 3], merged(9_000, 10, true)), "it ended, and they did not");
    }

    #[test]
    fn members_that_cost_next_to_nothing_go_on() {
        let mut t = begun();
        assert_eq!(t.limit_of_merged(20, &[ENDED; 3]), None);
        assert!(!t.end(20, &[ENDED; 3], None));
        assert_eq!((t.open, t.given_up), (0, 0));
        assert!(t.begin(Effort::default()).is_some(), "with more of them it may be different");
    }

    #[test]
    fn trials_cost_a_part_of_the_work() {
        let mut t = begun();
        t.spent = START;
        t.exits.clear();
        assert_eq!(t.begin(Effort::default()), None);
        let long = Effort { instructions: 100 * START, ..Effort::default() };
        assert!(t.begin(long).is_some_and(|each| 6 * PART * each <= 100 * START / SHARE));
    }
}
