//! When a state that is not subsumed is worth exploring once without its path constraint: the interpolant found may
//! subsume it and many others.
//!
//! *Idea*: at a point with interpolants where a state is still not subsumed, the interpolants require something that
//! its path does not imply. Where a speculation failed, the next one at the same instruction (under whatever callers)
//! waits twice as long; altogether failures may cost half of what was executed.

use pleach_state::State;
use rustc_hash::FxHashMap;

/// Failures may always cost this many instructions.
const START: u64 = 1_000_000;
/// A speculation may take this many instructions, and a part of what was executed so far.
const LIMIT: u64 = 100_000;
const PART: u64 = 4;
/// States to let pass after many failures.
const LONGEST: u32 = 15;

#[derive(Default)]
pub(crate) struct Speculations {
    pub on: bool,
    /// under way, one within the other
    pub nested: u32,
    /// by function and instruction
    places: FxHashMap<(u32, u32), Waiting>,
    /// instructions of those that failed
    failed: u64,
}

/// States to let pass before the next attempt, and how many they were the last time.
#[derive(Default)]
struct Waiting {
    left: u32,
    last: u32,
}

fn place(state: &State) -> (u32, u32) {
    (state.frame.func.0, state.inst)
}

impl Speculations {
    /// A state at a known point is not subsumed: how many instructions may be spent on a speculation, if it is time for
    /// one.
    pub fn worth(&mut self, state: &State, executed: u64) -> Option<u64> {
        if self.failed > START + executed / 2 {
            return None;
        }
        let w = self.places.entry(place(state)).or_default();
        if w.left > 0 {
            w.left -= 1;
            return None;
        }
        self.nested += 1;
        Some(LIMIT + executed / PART)
    }

    pub fn ended(&mut self, state: &State, known: bool, instructions: u64) {
        self.nested = self.nested.saturating_sub(1);
        let w = self.places.entry(place(state)).or_default();
        w.last = if known { 0 } else { (w.last * 2 + 1).min(LONGEST) };
        w.left = w.last;
        if !known && self.nested == 0 {
            self.failed += instructions;
        }
    }
}
