//! Output. Nothing is printed during analysis; the calls return what they would on success. What they read of memory is
//! checked; the numbers they print are not looked at, so that printing a symbolic value does not fork.

use super::text::{Reads, beyond};
use super::{Call, ModelFn};
use crate::access::note;
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use pleach_ir::format::{Precision, Takes, conversions};
use pleach_memory::Value;
use pleach_state::{Access, ErrorKind, State};

/// A function that prints, and where its arguments are.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    pub name: &'static str,
    pub format: Option<usize>,
    /// the arguments are a list
    pub list: bool,
    pub stream: Option<usize>,
    /// the model's result is the real one
    pub result: bool,
}

const fn formatted(name: &'static str, format: usize, list: bool, stream: Option<usize>) -> Output {
    Output { name, format: Some(format), list, stream, result: false }
}

const fn output(name: &'static str, stream: Option<usize>, result: bool) -> Output {
    Output { name, format: None, list: false, stream, result }
}

/// The functions whose model stands in for calls of the simple kind: see `Library::output` of the front end.
pub const OUTPUT: &[Output] = &[
    formatted("printf", 0, false, None),
    formatted("fprintf", 1, false, Some(0)),
    formatted("vprintf", 0, true, None),
    formatted("vfprintf", 1, true, Some(0)),
    formatted("dprintf", 1, false, None),
    formatted("__printf_chk", 1, false, None),
    formatted("__fprintf_chk", 2, false, Some(0)),
    formatted("__vfprintf_chk", 2, true, Some(0)),
    output("puts", None, false),
    output("fputs", Some(1), false),
    output("fwrite", Some(3), true),
    output("putchar", None, true),
    output("putc", Some(1), true),
    output("fputc", Some(1), true),
    output("_IO_putc", Some(1), true),
];

pub(super) fn find(name: &str) -> Option<ModelFn> {
    Some(match name {
        "puts" | "fputs" | "perror" => text,
        "fwrite" => items,
        "fflush" => flush,
        "putchar" | "putc" | "fputc" | "_IO_putc" => same,
        _ if OUTPUT.iter().any(|o| o.name == name) => print,
        _ => return None,
    })
}

impl Machine {
    fn warn_of_output(&mut self, name: &str) {
        self.warn_once(format!("the output of `{name}` is not modelled: it prints nothing and returns success"));
    }
}

/// What is said to be read by the format is read.
fn print(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let Some(how) = OUTPUT.iter().find(|o| o.name == call.name) else { return Ok(()) };
    m.warn_of_output(call.name);
    let format = how.format.unwrap_or_default();
    let mut reads = Reads::default();
    let Some(text) = m.read_format(st, call, format, &mut reads) else {
        return Err(beyond(call.name, "a format that is not known"));
    };
    let Some(all) = conversions(&text) else { return Err(beyond(call.name, "a conversion that is not modelled")) };
    let mut next = format + 1;
    for c in all {
        next += usize::from(c.width_argument) + usize::from(c.precision == Precision::Argument);
        if how.list {
            match c.takes {
                Takes::Nothing | Takes::Scalar => continue,
                _ => return Err(beyond(call.name, "a list of arguments to read from")),
            }
        }
        let last = if c.takes == Takes::Nothing { next } else { next + 1 };
        if call.args.len() < last {
            let (asked, given) = (last - format - 1, call.args.len() - format - 1);
            return Err(Flow::error(
                ErrorKind::BadCall,
                format!("the format of `{}` asks for {asked} arguments or more, but {given} are given", call.name),
            ));
        }
        match c.takes {
            Takes::Nothing => {}
            Takes::Scalar => m.mind_unwritten(st, call.arg(next), "what is printed")?,
            // Both C libraries print something for a null pointer.
            Takes::Text if call.arg(next) == Value::NULL => reads.depend(),
            Takes::Text => m.read_text(st, call, next, c.precision, &mut reads)?,
            Takes::WideText => return Err(beyond(call.name, "a string of wide characters")),
            Takes::Count => return Err(beyond(call.name, "%n")),
        }
        next = last;
    }
    let done = Value::Int(1);
    reads.note(st, Access::Result(done));
    call.give(st, done);
    Ok(())
}

/// A whole string. Only `perror` takes none.
fn text(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    m.warn_of_output(call.name);
    let mut reads = Reads::default();
    if call.name == "perror" && call.arg(0) == Value::NULL {
        reads.depend();
    } else {
        m.read_text(st, call, 0, Precision::Unlimited, &mut reads)?;
    }
    let done = Value::Int(1);
    reads.note(st, Access::Result(done));
    call.give(st, done);
    Ok(())
}

/// `fwrite`: a number of items of one size.
fn items(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    m.warn_of_output(call.name);
    let mut reads = Reads::default();
    m.read_range(st, call, 0, &[1, 2], &mut reads)?;
    let bits = call.width(m, 2);
    reads.note(st, Access::Argument { index: 2, bits });
    call.give(st, call.arg(2));
    Ok(())
}

fn flush(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    m.warn_of_output(call.name);
    super::nothing(m, st, call)
}

/// The character that was written.
fn same(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    m.mind_unwritten(st, call.arg(0), "what is printed")?;
    let w = call.width(m, 0);
    let t = m.term(st, call.arg(0), w);
    let byte = m.terms.extract(t, 0, 8);
    let r = m.terms.zext(byte, w);
    let v = Value::from_term(&m.terms, r);
    note(st, || Access::Argument { index: 0, bits: 8 });
    call.give(st, v);
    Ok(())
}
