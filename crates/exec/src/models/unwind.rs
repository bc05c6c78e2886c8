//! Unwinding: the callers of a frame are left until one has a landing pad. See `runtime/cxx` and the front end's
//! `exception`.

use super::{Call, ModelFn};
use crate::access::note;
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use pleach_ir::{Function, Inst, Opnd};
use pleach_memory::Value;
use pleach_state::{Access, ErrorKind, Exit, Frame, State};

pub(super) fn find(name: &str) -> Option<ModelFn> {
    Some(match name {
        "__pleach_unwind" => throw,
        "__pleach_resume" => unwind,
        "__pleach_pass_by" => pass_by,
        _ => return None,
    })
}

/// `__pleach_pass_by(none)`: a landing pad without a clause for the exception is passed by.
fn pass_by(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    match call.arg(0) {
        Value::Int(0) => Ok(()),
        _ => unwind(m, st, call),
    }
}

/// `__pleach_unwind()`: an exception is thrown. The state is kept, because nothing is left or cleaned up for one that
/// nobody catches.
fn throw(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    st.thrown = None;
    st.thrown = Some(std::rc::Rc::new(st.clone()));
    unwind(m, st, call)
}

fn unwind(m: &mut Machine, st: &mut State, _: &Call) -> StepResult<()> {
    let program = m.program.clone();
    let mut at = st.callers.as_deref();
    let depth = loop {
        match at {
            Some(c) if lands(program.function(c.frame.func), &c.frame) => break c.depth - 1,
            Some(c) => at = c.below.as_deref(),
            None => {
                if let Some(thrown) = st.thrown.take() {
                    note(st, || Access::Opaque);
                    let now = std::mem::replace(st, (*thrown).clone());
                    (st.id, st.node, st.depth, st.history) = (now.id, now.node, now.depth, now.history);
                }
                return Err(Flow::error(ErrorKind::Abort, "an exception is thrown and never caught"));
            }
        }
    };
    note(st, || Access::Opaque);
    let left = (st.frame.func, st.inst + 1, st.call_depth());
    m.leave_calls_above(st, depth);
    st.block = st.frame.block;
    st.inst = st.frame.inst;
    if let Some(flag) = program.function(st.frame.func).unwound {
        st.frame.regs[flag.index()] = Value::Int(1);
    }
    st.history.leave(left.0, left.1, left.2, Exit::Fall, st.inst);
    Err(Flow::Frame)
}

/// Whether the call that the frame waits for branches on how it ended.
fn lands(f: &Function, frame: &Frame) -> bool {
    let Some(flag) = f.unwound else { return false };
    let next = f.insts[frame.inst as usize..].iter().find(|i| !matches!(i, Inst::Mov { .. }));
    matches!(next, Some(Inst::Branch { cond, .. }) if *cond == Opnd::slot(flag))
}
