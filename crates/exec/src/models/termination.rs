//! Termination of the program, intended or not.

use super::{Call, ModelFn};
use crate::access::note;
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use pleach_ir::Range;
use pleach_memory::Value;
use pleach_state::{Access, AtExit, Detail, ErrorKind, Leaks, State};
use std::rc::Rc;

pub(super) fn find(name: &str) -> Option<ModelFn> {
    Some(match name {
        "abort" => abort_by_signal,
        "__pleach_aborted" | "llvm.trap" | "llvm.debugtrap" | "llvm.ubsantrap" => abort,
        "__pleach_killed" => killed,
        "__assert_fail" | "__assert_rtn" | "__assert" | "_assert" | "__assert_perror_fail" => assert_fail,
        "exit" | "quick_exit" => exit,
        "_exit" | "_Exit" => immediate_exit,
        "atexit" | "at_quick_exit" => atexit,
        "__cxa_at_quick_exit" | "on_exit" => atexit,
        "__cxa_atexit" | "__cxa_thread_atexit" | "__cxa_thread_atexit_impl" => atexit,
        "__errno_location" => errno,
        _ => return None,
    })
}

/// Where the program may have a handler of the signal, the model of the system sends it.
fn abort_by_signal(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let body = |name: &str| m.program.function_named(name).filter(|f| !m.program.function(*f).is_declaration());
    match (body("__sigaction"), body("__pleach_abort")) {
        (Some(_), Some(raises)) => {
            note(st, || Access::Opaque);
            m.enter_function(st, raises, &[], Rc::new([]), Range::default());
            Err(Flow::Frame)
        }
        _ => abort(m, st, call),
    }
}

fn abort(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    m.lost_before_abort(st)?;
    let what = if call.name.contains("abort") { "abort() is called" } else { "a trap is reached" };
    Err(Flow::error(ErrorKind::Abort, what))
}

/// `__pleach_killed(number)`: a signal without a handler ends the program. Replay reads the number in the message.
fn killed(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    m.lost_before_abort(st)?;
    Err(match m.status(st, call.arg(0)) {
        Some(n) => Flow::error(ErrorKind::Abort, format!("signal {n} ends the program")),
        None => Flow::error(ErrorKind::Abort, "a signal ends the program"),
    })
}

pub(super) fn assert_fail(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    m.lost_before_abort(st)?;
    let i = if call.name == "__assert_rtn" { 3 } else { 0 };
    Err(match m.c_string(st, call.arg(i)) {
        Some(s) => {
            Flow::error_with(ErrorKind::Assert, format!("the assertion `{s}` does not hold"), Detail::Assertion(s))
        }
        None => Flow::error(ErrorKind::Assert, "an assertion does not hold"),
    })
}

fn exit(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    m.mind_unwritten(st, call.arg(0), "the exit status")?;
    let s = m.status(st, call.arg(0));
    m.tell_handlers(st, call.arg(0));
    Err(m.begin_exit(st, s, call.name == "quick_exit"))
}

fn immediate_exit(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    m.mind_unwritten(st, call.arg(0), "the exit status")?;
    let s = m.status(st, call.arg(0));
    Err(m.finish(st, s))
}

impl Machine {
    /// On request, lost memory also counts when the program aborts.
    pub(super) fn lost_before_abort(&mut self, st: &mut State) -> StepResult<()> {
        if self.config.leaks == Leaks::LostAnyway { self.require_nothing_lost(st) } else { Ok(()) }
    }
}

fn atexit(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let argument = if call.name.starts_with("at") { Value::Int(0) } else { call.arg(1) };
    let handler = m.handler(st, call.arg(0))?;
    let (thread, quick) = (call.name.starts_with("__cxa_thread"), call.name.contains("quick"));
    let all = Rc::make_mut(&mut st.at_exit);
    let below = if thread { all.len() } else { all.iter().position(|h| h.thread).unwrap_or(all.len()) };
    let status = (call.name == "on_exit").then_some(Value::Undef);
    all.insert(below, AtExit { handler, argument, thread, quick, status });
    if handler == call.arg(0) && argument == Value::Int(0) && !thread && status.is_none() {
        note(st, || Access::AtExit(handler));
    }
    call.give(st, Value::Int(0));
    Ok(())
}

impl Machine {
    /// The function that is to run at the end: one of several is decided now.
    fn handler(&mut self, st: &mut State, v: Value) -> StepResult<Value> {
        let Value::Term(t) = v else { return Ok(v) };
        let func = self.resolve_call(st, t)?;
        Ok(pleach_semantics::address_of(&self.program, pleach_ir::Symbol::Function(func), 0))
    }
}

/// One `errno` per path.
fn errno(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let place = Value::ptr(m.errno_object(), 0);
    note(st, || Access::Result(place));
    call.give(st, place);
    Ok(())
}
