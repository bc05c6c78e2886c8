//! Points of the program where states are compared: an instruction and the stack of call sites above it.

use pleach_state::{Phase, State};

/// Equal points also agree on what else decides how the program goes on: whether it is ending, and whether forking is on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Point(Vec<(u32, u32)>);

impl Point {
    #[cfg(test)]
    pub fn test(n: u32) -> Point {
        Point(vec![(0, n)])
    }

    /// States with exit handlers, or outside the main phase, are not compared: what they do at the end is not in their frames.
    pub fn is_comparable(state: &State) -> bool {
        state.at_exit.is_empty() && state.phase == Phase::Main
    }

    pub fn of(state: &State) -> Point {
        let mut v = vec![(state.frame.func.0, state.inst)];
        let mut at = state.callers.as_deref();
        while let Some(c) = at {
            v.push((c.frame.func.0, c.frame.inst));
            at = c.below.as_deref();
        }
        v.push((u32::from(state.forking), u32::MAX));
        Point(v)
    }
}
