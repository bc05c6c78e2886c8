//! What the model of the operating system (`runtime/posix`) asks of the engine.

use super::{Call, ModelFn};
use crate::flow::{Attempt, Flow};
use crate::machine::Machine;
use pleach_expr::SymbolKind;
use pleach_memory::Value;
use pleach_state::{Cut, State};

/// How the names begin of unknowns that stand for what the system could be besides the model.
pub(crate) const SYSTEM: &str = "environment!";

pub(super) fn find(name: &str) -> Option<ModelFn> {
    Some(match name {
        "__pleach_unmodelled" => unmodelled,
        "__pleach_unknown" => unknown,
        "__pleach_assumed" => assumed,
        _ => return None,
    })
}

/// `__pleach_unknown()`: any number; not an input of the test.
fn unknown(m: &mut Machine, st: &mut State, call: &Call) -> Attempt<()> {
    let name = format!("{SYSTEM}{}", st.fresh);
    st.fresh += 1;
    let symbol = m.terms.symbols.intern(&name, SymbolKind::Bits(32));
    let v = Value::Term(m.terms.var(symbol));
    call.give(st, v);
    Ok(())
}

/// `__pleach_assumed(what)`: ends the path that stands for everything the model leaves out.
fn assumed(m: &mut Machine, st: &mut State, call: &Call) -> Attempt<()> {
    let what = m.c_string(st, call.arg(0)).unwrap_or_else(|| "the environment is as modelled".into());
    Err(Flow::cut(Cut::Concretized(what)))
}

/// `__pleach_unmodelled(number)`: the model of the operating system does not know a system call.
fn unmodelled(m: &mut Machine, st: &mut State, call: &Call) -> Attempt<()> {
    let what = match m.concrete_number(st, call.arg(0)) {
        Some(n) => format!("system call {n} of Linux"),
        None => "a system call with a symbolic number".into(),
    };
    Err(Flow::cut(Cut::Unsupported(what)))
}
