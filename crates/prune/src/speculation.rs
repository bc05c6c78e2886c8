//! When a state that is not covered is worth exploring once without its path constraint: what that finds may cover it and many others.
//!
//! *Idea*: at a point where subtrees are known and still a state is not covered, the conditions ask for something that its path does not know. A point at
//! which speculation failed waits twice as long each time; altogether failures may cost half of what was executed.

use crate::point::Point;
use rustc_hash::FxHashMap;

/// Failures may cost so many instructions before anything else.
const START: u64 = 1_000_000;
/// A speculation may take so many instructions, and a part of what was executed so far.
const LIMIT: u64 = 100_000;
const PART: u64 = 4;

#[derive(Default)]
pub(crate) struct Speculations {
    pub on: bool,
    /// under way, one within the other
    pub nested: u32,
    points: FxHashMap<Point, Waiting>,
    /// instructions of those that failed
    failed: u64,
}

#[derive(Default)]
struct Waiting {
    /// states here that were not covered
    misses: u32,
    /// so many must be before the next attempt
    until: u32,
}

impl Speculations {
    /// A state at a known point is not covered: how many instructions may be spent on a speculation, if it is time for one.
    pub fn worth(&mut self, point: &Point, executed: u64) -> Option<u64> {
        if self.failed > START + executed / 2 {
            return None;
        }
        let w = match self.points.get_mut(point) {
            Some(w) => w,
            None => self.points.entry(point.clone()).or_default(),
        };
        w.misses += 1;
        if w.misses <= w.until {
            return None;
        }
        self.nested += 1;
        Some(LIMIT + executed / PART)
    }

    pub fn ended(&mut self, point: &Point, known: bool, instructions: u64) {
        self.nested = self.nested.saturating_sub(1);
        if !known {
            self.failed += instructions;
            if let Some(w) = self.points.get_mut(point) {
                w.until = w.misses * 2;
            }
        }
    }
}
