//! Points of the program where states are compared: an instruction and the stack of call sites above it.

use pleach_ir::{FuncId, InstId};
use pleach_memory::Value;
use pleach_state::access_path::frames;
use pleach_state::{Phase, State};

/// Equal points also agree on what else decides how the program goes on: whether it is ending, and whether forking is
/// on.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Point(Vec<(u32, u32)>);

impl Point {
    #[cfg(test)]
    pub fn test(n: u32) -> Point {
        Point(vec![(0, n)])
    }

    /// States with exit handlers that are not known or take an argument, or before `main`, are not compared: what they
    /// do then is not in their frames.
    pub fn is_comparable(state: &State) -> bool {
        state
            .at_exit
            .iter()
            .all(|h| h.handler.is_concrete() && h.argument == Value::Int(0) && !h.thread && h.status.is_none())
            && !matches!(state.phase, Phase::Constructor(_))
    }

    /// Another place, by function and instruction, in the state's frame at this depth; `None` if that is of another
    /// function.
    pub fn in_frame(state: &State, depth: u32, place: (u32, u32)) -> Option<Point> {
        let inner = frames(state).position(|(d, f)| d == depth && f.func.0 == place.0)?;
        let mut point = Point::of(state);
        point.0.drain(..inner);
        point.0[0] = place;
        Some(point)
    }

    /// The instruction, by function and number.
    pub fn place(&self) -> (u32, u32) {
        self.0[0]
    }

    /// Equal only for equal points.
    pub fn numbers(&self) -> Vec<u64> {
        let words = self.0.iter().map(|(a, b)| u64::from(*a) << 32 | u64::from(*b));
        std::iter::once(self.0.len() as u64).chain(words).collect()
    }

    /// The instruction, if it is in the first function, and nothing else decides how the program goes on.
    pub fn alone(&self) -> Option<(FuncId, InstId)> {
        match self.0[..] {
            [(func, inst), (1, u32::MAX)] => Some((FuncId(func), InstId::new(inst as usize))),
            _ => None,
        }
    }

    pub fn of(state: &State) -> Point {
        let mut v = vec![(state.frame.func.0, state.inst)];
        v.extend(frames(state).skip(1).map(|(_, f)| (f.func.0, f.inst)));
        v.push((u32::from(state.forking), u32::MAX));
        for h in state.at_exit.iter() {
            match h.handler {
                Value::Ptr { obj, off } => v.extend([(obj.0, u32::MAX - 1), (off as u32, (off >> 32) as u32)]),
                Value::Int(n) => v.extend([(n as u32, u32::MAX - 2), (0, (n >> 32) as u32)]),
                _ => {}
            }
            v.push((u32::from(h.quick), u32::MAX - 4));
        }
        if let Phase::Exiting { next, quick, .. } = state.phase {
            v.extend([(next, u32::MAX - 3), (u32::from(quick), u32::MAX - 5)]);
        }
        Point(v)
    }
}
