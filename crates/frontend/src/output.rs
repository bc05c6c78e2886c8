//! Calls of functions that print: whether the engine's model does for them, or the C library's code has to run.

use crate::llvm::{Module, Opcode, Value};
use pleach_ir::format::{Conversion, Precision, Takes, conversions};
use pleach_load::OutputFunction;
use rustc_hash::FxHashSet;

/// Those of the functions that the program calls in a way that their model cannot answer, or has a pointer to.
pub(crate) fn beyond_the_model(whole: &Module<'_>, functions: &[OutputFunction]) -> FxHashSet<String> {
    let mut found = FxHashSet::default();
    for f in whole.functions() {
        let name = f.name();
        let Some(how) = functions.iter().find(|o| o.name == name) else { continue };
        if f.value().users().any(|user| !is_simple(f.value(), user, how)) {
            found.insert(name);
        }
    }
    found
}

fn is_simple(f: Value, user: Value, how: &OutputFunction) -> bool {
    let called = user.opcode() == Some(Opcode::LLVMCall) && user.operand(user.operand_count() - 1) == Some(f);
    let looked_at = !how.result && user.users().next().is_some();
    let argument = |i: Option<u32>| i.and_then(|i| user.operand(i));
    called
        && !looked_at
        && (how.format.is_none() || argument(how.format).is_some_and(|a| is_simple_format(a, how.list)))
        && (how.stream.is_none() || argument(how.stream).is_some_and(is_standard_stream))
}

fn is_simple_format(format: Value, list: bool) -> bool {
    let constant = format.constant_string();
    let all = constant.and_then(|text| conversions(text.split(|b| *b == 0).next().unwrap_or_default()));
    let simple = |c: &Conversion| match c.takes {
        Takes::Nothing | Takes::Scalar => true,
        Takes::Text => !list && c.precision != Precision::Argument,
        Takes::WideText | Takes::Count => false,
    };
    all.is_some_and(|all| all.iter().all(simple))
}

/// The value of `stdout` or `stderr`, or none at all (`fflush`).
fn is_standard_stream(stream: Value) -> bool {
    let variable = stream.operand(0).filter(|_| stream.opcode() == Some(Opcode::LLVMLoad));
    variable.is_some_and(|v| matches!(v.name().as_str(), "stdout" | "stderr"))
}
