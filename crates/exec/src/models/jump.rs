//! `setjmp` and `longjmp`.
//!
//! `setjmp` keeps the registers of its call in the state and leaves the number of that copy in the buffer, so that a
//! copied buffer jumps as well. *Invariant*: the front end keeps the variables of a function that calls `setjmp` in
//! memory; a jump therefore finds them as they are now, as C says, and only values that nothing could change since come
//! from the copy.

use super::{Call, ModelFn};
use crate::access::{AccessKind, note};
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use pleach_memory::Value;
use pleach_state::{Access, CallStack, ErrorKind, Exit, Frame, JumpPoint, State};
use std::rc::Rc;

pub(super) fn find(name: &str) -> Option<ModelFn> {
    Some(match name {
        "setjmp" | "_setjmp" | "__setjmp" | "sigsetjmp" | "__sigsetjmp" => set_jump,
        "longjmp" | "_longjmp" | "siglongjmp" | "__longjmp_chk" => long_jump,
        _ => return None,
    })
}

/// Distinguishes a filled buffer from small numbers that a program leaves in memory.
const FILLED: u64 = 0x6a6d_0000;

fn set_jump(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let word = m.pointer_bytes();
    let buffer = m.place(st, call.arg(0), word, AccessKind::Write)?;
    let number = st.jump_points.len() as u64;
    m.write_place(st, buffer, word, Value::Int(FILLED + number));
    if st.frame.landing == 0 {
        st.frame.landing = number as u32 + 1;
    }
    let point = JumpPoint {
        landing: st.frame.landing,
        block: st.block,
        inst: st.inst,
        regs: st.frame.regs.clone(),
        result: call.results.first().copied(),
    };
    Rc::make_mut(&mut st.jump_points).push(Rc::new(point));
    call.give(st, Value::Int(0));
    Ok(())
}

fn long_jump(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let word = m.pointer_bytes();
    let buffer = m.place(st, call.arg(0), word, AccessKind::Read)?;
    let number = match m.read_place(st, buffer, word) {
        Value::Int(n) => n.checked_sub(FILLED).and_then(|n| st.jump_points.get(n as usize)).cloned(),
        _ => None,
    };
    let Some(point) = number else {
        return Err(Flow::error(ErrorKind::BadCall, format!("`{}` with a buffer that no setjmp filled", call.name)));
    };
    // A second return with zero would look like the first.
    let w = call.width(m, 1);
    let v = m.term(st, call.arg(1), w);
    let (zero, one) = (m.terms.constant(w, 0), m.terms.constant(w, 1));
    let is_zero = m.terms.eq(v, zero);
    let result = m.terms.ite(is_zero, one, v);
    let result = Value::from_term(&m.terms, result);

    let depth = depth_of(st, point.landing);
    let Some(depth) = depth else {
        let what = format!("`{}` to a call that has already returned", call.name);
        return Err(Flow::error(ErrorKind::BadCall, what));
    };
    note(st, || Access::Opaque);
    let left = (st.frame.func, st.inst + 1, st.call_depth());
    m.leave_calls_above(st, depth);
    st.frame.regs.clone_from(&point.regs);
    st.block = point.block;
    st.inst = point.inst + 1;
    if let Some(slot) = point.result {
        st.frame.regs[slot.index()] = result;
    }
    st.history.leave(left.0, left.1, left.2, Exit::Fall, st.inst);
    Err(Flow::Frame)
}

/// The depth of the active call with this number.
fn depth_of(st: &State, landing: u32) -> Option<u32> {
    if st.frame.landing == landing {
        return Some(st.call_depth());
    }
    let mut at = st.callers.as_deref();
    while let Some(c) = at {
        if c.frame.landing == landing {
            return Some(c.depth - 1);
        }
        at = c.below.as_deref();
    }
    None
}

impl Machine {
    /// Ends the calls above the one at `depth`, which becomes the top frame; their locals cease to exist.
    pub(crate) fn leave_calls_above(&mut self, st: &mut State, depth: u32) {
        while st.call_depth() > depth {
            for o in std::mem::take(&mut st.frame.locals) {
                st.memory.drop_local(o);
            }
            let Some(callers) = st.callers.take() else { return };
            let (frame, below) = take_frame(callers);
            st.frame = frame;
            st.callers = below;
        }
    }
}

/// The topmost suspended frame and those below it.
pub(crate) fn take_frame(callers: Rc<CallStack>) -> (Frame, Option<Rc<CallStack>>) {
    match Rc::try_unwrap(callers) {
        Ok(mut c) => (std::mem::replace(&mut c.frame, Frame::new(pleach_ir::FuncId(0), 0)), c.below.take()),
        Err(shared) => (shared.frame.clone(), shared.below.clone()),
    }
}
