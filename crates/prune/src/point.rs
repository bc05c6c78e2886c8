//! Points of the program where states are compared: an instruction and the stack of call sites above it.

use pleach_state::State;

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Point(Vec<(u32, u32)>);

impl Point {
    pub fn of(state: &State) -> Point {
        let mut v = vec![(state.frame.func.0, state.inst)];
        let mut at = state.callers.as_deref();
        while let Some(c) = at {
            v.push((c.frame.func.0, c.frame.inst));
            at = c.below.as_deref();
        }
        Point(v)
    }
}
