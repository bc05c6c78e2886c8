//! Output. Nothing is printed during analysis; the calls return what they would on success. Their arguments are not
//! interpreted, so that printing a symbolic value does not end the path.

use super::{Call, ModelFn};
use crate::flow::Attempt;
use crate::machine::Machine;
use pleach_memory::Value;
use pleach_state::State;

pub(super) fn find(name: &str) -> Option<ModelFn> {
    Some(match name {
        "printf" | "fprintf" | "vprintf" | "vfprintf" | "dprintf" | "__printf_chk" | "__fprintf_chk" | "perror"
        | "fflush" | "puts" | "fputs" | "fwrite" | "__vfprintf_chk" => done,
        "putchar" | "putc" | "fputc" | "_IO_putc" => same,
        _ => return None,
    })
}

fn done(m: &mut Machine, st: &mut State, call: &Call) -> Attempt<()> {
    m.warn_once(format!("the output of `{}` is not modelled: it prints nothing and returns success", call.name));
    let v = match call.name {
        "fwrite" => call.arg(2),
        "fflush" => Value::Int(0),
        _ => Value::Int(1),
    };
    if v.is_concrete() && call.name != "fwrite" {
        crate::access::note(st, || pleach_state::Access::Result(v));
    }
    call.give(st, v);
    Ok(())
}

/// The character that was written.
fn same(m: &mut Machine, st: &mut State, call: &Call) -> Attempt<()> {
    let w = call.width(m, 0);
    let t = m.term(st, call.arg(0), w);
    let byte = m.terms.extract(t, 0, 8);
    let r = m.terms.zext(byte, w);
    let v = Value::from_term(&m.terms, r);
    call.give(st, v);
    Ok(())
}
