//! Output. Nothing is printed during analysis; the calls return what they would on success. Their arguments are not
//! interpreted, so that printing a symbolic value does not end the path.

use super::{Call, ModelFn};
use crate::access::note;
use crate::flow::Attempt;
use crate::machine::Machine;
use pleach_memory::Value;
use pleach_state::{Access, State};

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
    let bits = call.width(m, 2);
    note(st, || if call.name == "fwrite" { Access::Argument { index: 2, bits } } else { Access::Result(v) });
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
    note(st, || Access::Argument { index: 0, bits: 8 });
    call.give(st, v);
    Ok(())
}
