//! Panics of Rust programs: a call into `core::panicking` is an error, with the text that the program would print.
//!
//! The text is read from memory as far as it is there: parts that are symbolic, or whose type formats itself by code,
//! are shown as `…`. How the compiler lays out a format is its own business (`fmt::Arguments` of Rust 1.93 and later);
//! where the bytes make no sense, the name of the function stands for the text.

use super::{Call, ModelFn};
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use pleach_ir::rust::panic_function;
use pleach_memory::Value;
use pleach_state::{ErrorKind, State};

const UNKNOWN: &str = "…";
const LONGEST: u64 = 4096;

pub(super) fn find(name: &str) -> Option<ModelFn> {
    panic_function(name).map(|_| panic as ModelFn)
}

fn panic(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    m.lost_before_abort(st)?;
    let function = panic_function(call.name).unwrap_or_default();
    let known = |text: &String| text.chars().any(char::is_alphanumeric);
    let text = text(m, st, call, function);
    Err(Flow::error(
        ErrorKind::Abort,
        match text {
            Some(text) if known(&text) => format!("the program panics: {text}"),
            Some(_) => "the program panics".into(),
            None => format!("the program panics ({function})"),
        },
    ))
}

fn text(m: &Machine, st: &State, call: &Call, function: &str) -> Option<String> {
    if let Some(what) = function.strip_prefix("panic_const_") {
        return Some(arithmetic(what));
    }
    match function {
        "panic" | "panic_nounwind" | "panic_nounwind_nobacktrace" | "panic_str_2015" => {
            string(st, call.arg(0), call.arg(1))
        }
        "panic_explicit" => Some("explicit panic".into()),
        "panic_fmt" | "panic_nounwind_fmt" => formatted(m, st, call.arg(0), call.arg(1)),
        "panic_display" => string(st, word(st, call.arg(0), 0)?, word(st, call.arg(0), 8)?),
        "panic_bounds_check" => {
            let (index, length) = (in_words(call.arg(0)), in_words(call.arg(1)));
            Some(format!("index out of bounds: the len is {length} but the index is {index}"))
        }
        "assert_failed" | "assert_failed_inner" => {
            let operator = if call.arg(0) == Value::Int(0) { "==" } else { "!=" };
            Some(format!("assertion `left {operator} right` failed"))
        }
        _ => None,
    }
}

/// As the compiler words it.
fn arithmetic(what: &str) -> String {
    let verb = |operation: &str| match operation {
        "add" => "add".to_owned(),
        "sub" => "subtract".into(),
        "mul" => "multiply".into(),
        "div" => "divide".into(),
        "rem" => "calculate the remainder".into(),
        "neg" => "negate".into(),
        "shl" => "shift left".into(),
        "shr" => "shift right".into(),
        other => other.replace('_', " "),
    };
    match (what, what.strip_suffix("_overflow")) {
        ("div_by_zero", _) => "attempt to divide by zero".into(),
        ("rem_by_zero", _) => "attempt to calculate the remainder with a divisor of zero".into(),
        (_, Some(operation)) => format!("attempt to {} with overflow", verb(operation)),
        _ => what.replace('_', " "),
    }
}

fn in_words(v: Value) -> String {
    if let Value::Int(n) = v { n.to_string() } else { UNKNOWN.into() }
}

/// A number of bytes that are known, little-endian.
fn number(st: &State, at: Value, offset: u64, bytes: u64) -> Option<u128> {
    let Value::Ptr { obj, off } = at else { return None };
    let (contents, w) = st.memory.contents(obj)?;
    let off = u64::try_from(off).ok()?.checked_add(offset)?;
    if off.checked_add(bytes)? > w.len {
        return None;
    }
    (0..bytes).rev().try_fold(0u128, |n, i| Some(n << 8 | u128::from(contents.read_concrete(w.start + off + i, 1)?)))
}

/// A number or pointer of eight bytes.
fn word(st: &State, at: Value, offset: u64) -> Option<Value> {
    if let Some(n) = number(st, at, offset, 8) {
        return Some(Value::Int(n as u64));
    }
    let Value::Ptr { obj, off } = at else { return None };
    let (contents, w) = st.memory.contents(obj)?;
    let off = u64::try_from(off).ok()?.checked_add(offset)?;
    if off.checked_add(8)? > w.len { None } else { contents.read_cell(w.start + off, 8) }
}

fn string(st: &State, at: Value, length: Value) -> Option<String> {
    let Value::Int(length) = length else { return None };
    let byte = |i| number(st, at, i, 1).map(|b| b as u8);
    let bytes: Option<Vec<u8>> = (0..length.min(LONGEST)).map(byte).collect();
    Some(String::from_utf8_lossy(&bytes?).into_owned())
}

/// `fmt::Arguments`: a text, whose length is in the second word, or a template and the arguments it is filled with.
fn formatted(m: &Machine, st: &State, template: Value, arguments: Value) -> Option<String> {
    if let Value::Int(n) = arguments
        && n & 1 == 1
    {
        return string(st, template, Value::Int(n >> 1));
    }
    let byte = |at: u64, n: u64| number(st, template, at, n);
    let (mut out, mut at, mut next) = (String::new(), 0, 0);
    while at < LONGEST {
        let piece = byte(at, 1)? as u64;
        at += 1;
        match piece {
            0 => return Some(out),
            1..=0x80 => {
                let length = if piece == 0x80 { byte(at, 2)? as u64 } else { piece };
                at += if piece == 0x80 { 2 } else { 0 };
                let bytes: Option<Vec<u8>> = (at..at + length).map(|i| byte(i, 1).map(|b| b as u8)).collect();
                out += &String::from_utf8_lossy(&bytes?);
                at += length;
            }
            0xC0..=0xFF => {
                let has = |bit: u64| piece >> bit & 1 == 1;
                at += 4 * u64::from(has(0)) + 2 * u64::from(has(1)) + 2 * u64::from(has(2));
                if has(3) {
                    next = byte(at, 2)? as u64;
                    at += 2;
                }
                // Other than plain forms are not imitated.
                let plain = piece & 0b11_0111 == 0;
                let text = argument(m, st, arguments, next).filter(|_| plain);
                out += &text.unwrap_or_else(|| UNKNOWN.into());
                next += 1;
            }
            _ => return None,
        }
    }
    None
}

/// An argument is a pointer to the value and a function that formats it, whose name has the type.
fn argument(m: &Machine, st: &State, arguments: Value, index: u64) -> Option<String> {
    let (value, function) = (word(st, arguments, 16 * index)?, word(st, arguments, 16 * index + 8)?);
    let Value::Ptr { obj, off: 0 } = function else { return None };
    let name = &m.program.function(m.function_at(obj)?).name;
    let (ty, debug) = formatter(name)?;
    let unsigned = |bytes| number(st, value, 0, bytes).map(|n| n.to_string());
    let signed = |bytes: u64| {
        let unused = 128 - 8 * bytes as u32;
        number(st, value, 0, bytes).map(|n| ((n << unused) as i128 >> unused).to_string())
    };
    match ty {
        "h" => unsigned(1),
        "t" => unsigned(2),
        "m" => unsigned(4),
        "y" | "j" => unsigned(8),
        "o" => unsigned(16),
        "a" => signed(1),
        "s" => signed(2),
        "l" => signed(4),
        "x" | "i" => signed(8),
        "n" => signed(16),
        "b" => number(st, value, 0, 1).map(|n| (n == 1).to_string()),
        "Re" => {
            let text = string(st, word(st, value, 0)?, word(st, value, 8)?)?;
            Some(if debug { format!("{text:?}") } else { text })
        }
        _ => None,
    }
}

/// The mangled type that a function formats; `true`: for debugging.
fn formatter(name: &str) -> Option<(&str, bool)> {
    let (before, debug) = match name.split_once("7Display3fmt") {
        Some((before, _)) => (before, false),
        None => (name.split_once("5Debug3fmt")?.0, true),
    };
    // `NtB9_`: the module of the trait, which was named before.
    let (before, _) = before.strip_suffix('_')?.rsplit_once("NtB")?;
    let path = if before.ends_with("Re") { 2 } else { 1 };
    Some((before.get(before.len().checked_sub(path)?..)?, debug))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_of_formatters() {
        assert_eq!(formatter("_RNvXsi_NtNtNtCsgEmfK2I1SDS_4core3fmt3num3impjNtB9_7Display3fmt"), Some(("j", false)));
        assert_eq!(formatter("_RNvXs1d_NtCsgEmfK2I1SDS_4core3fmtReNtB6_5Debug3fmtCs1_7program"), Some(("Re", true)));
        assert_eq!(formatter("main"), None);
    }

    #[test]
    fn words_of_the_compiler() {
        assert_eq!(arithmetic("add_overflow"), "attempt to add with overflow");
        assert_eq!(arithmetic("div_by_zero"), "attempt to divide by zero");
        assert_eq!(arithmetic("async_fn_resumed"), "async fn resumed");
    }
}
