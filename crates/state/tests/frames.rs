//! The walk over the frames of a state.

use pleach_ir::FuncId;
use pleach_state::access_path::frames;
use pleach_state::{CallStack, State};
use std::rc::Rc;

#[test]
fn frames_from_the_top_with_their_depths() {
    let mut state = State::placeholder();
    assert_eq!(frames(&state).map(|(depth, _)| depth).collect::<Vec<_>>(), [0]);
    for depth in 1..=3 {
        let mut frame = state.frame.clone();
        frame.func = FuncId(10 + depth);
        let below = state.callers.take();
        state.callers = Some(Rc::new(CallStack { frame, depth, below }));
    }
    state.frame.func = FuncId(20);
    let found: Vec<(u32, u32)> = frames(&state).map(|(depth, f)| (depth, f.func.0)).collect();
    assert_eq!(found, [(3, 20), (2, 13), (1, 12), (0, 11)]);
    assert_eq!(state.call_depth(), 3);
}
