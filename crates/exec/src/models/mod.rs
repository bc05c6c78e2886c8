//! Functions that the engine stands in for: intrinsics of KLEE and SV-COMP, allocation, ending the program.

pub mod alloc;
mod environment;
mod jump;
mod klee;
pub mod nondet;
mod output;
mod rounding;
mod rust;
mod sanitizer;
pub mod symbolic;
mod termination;
pub(crate) mod text;
mod unwind;

use crate::access::note;
use crate::flow::StepResult;
use crate::machine::Machine;
use pleach_ir::{Slot, Ty};
use pleach_memory::Value;
use pleach_state::{Access, State};

/// A call that a model answers.
pub(crate) struct Call<'a> {
    pub name: &'a str,
    pub args: &'a [(Value, Ty)],
    /// slots of the caller that take the result
    pub results: &'a [Slot],
}

pub(crate) type ModelFn = fn(&mut Machine, &mut State, &Call) -> StepResult<()>;

impl Call<'_> {
    pub fn arg(&self, i: usize) -> Value {
        self.args.get(i).map_or(Value::Int(0), |a| a.0)
    }
    pub fn width(&self, m: &Machine, i: usize) -> u16 {
        self.args.get(i).map_or(32, |a| m.width_of(a.1))
    }
    /// The result, if the caller takes one.
    pub fn give(&self, st: &mut State, v: Value) {
        if let Some(d) = self.results.first() {
            st.frame.regs[d.index()] = v;
        }
    }
}

pub use output::{OUTPUT, Output};

/// No effect; the result, if there is one, is 0.
fn nothing(_: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    note(st, || Access::Result(Value::Int(0)));
    call.give(st, Value::Int(0));
    Ok(())
}

/// A call that is an error.
pub(crate) const ERROR: ModelFn = nondet::error;

/// The model of a function. Intrinsics win over a body of the program; models of library functions do not.
pub(crate) fn find(name: &str, declaration: bool) -> Option<ModelFn> {
    if let Some(m) = klee::find(name).or_else(|| rust::find(name)) {
        return Some(m);
    }
    if !declaration {
        return None;
    }
    nondet::find(name)
        .or_else(|| alloc::find(name))
        .or_else(|| termination::find(name))
        .or_else(|| output::find(name))
        .or_else(|| environment::find(name))
        .or_else(|| jump::find(name))
        .or_else(|| rounding::find(name))
        .or_else(|| unwind::find(name))
        .or_else(|| sanitizer::find(name))
}

/// Functions of the C library that stay modelled when the library is linked: the heap, whole ranges of memory, the end
/// of the program, jumps, the floating-point environment.
pub const ALWAYS_MODELLED: &[&str] = &[
    "malloc",
    "calloc",
    "realloc",
    "free",
    "aligned_alloc",
    "memalign",
    "posix_memalign",
    "malloc_usable_size",
    "memcpy",
    "memmove",
    "memset",
    "abort",
    "__assert_fail",
    "exit",
    "_exit",
    "_Exit",
    "quick_exit",
    "atexit",
    "at_quick_exit",
    "on_exit",
    "__cxa_at_quick_exit",
    "__cxa_atexit",
    "__cxa_thread_atexit",
    "__cxa_thread_atexit_impl",
    "setjmp",
    "_setjmp",
    "sigsetjmp",
    "__sigsetjmp",
    "longjmp",
    "_longjmp",
    "siglongjmp",
    "fesetround",
    "fetestexcept",
];

/// Functions that are modelled as long as nothing else needs the C library; with the library its own code runs.
pub const MODELLED_WITHOUT_LIBC: &[&str] = &[
    "printf",
    "fprintf",
    "vprintf",
    "vfprintf",
    "dprintf",
    "perror",
    "fflush",
    "puts",
    "fputs",
    "fwrite",
    "putchar",
    "putc",
    "fputc",
    "_IO_putc",
    "__errno_location",
];

impl Machine {
    /// A C string that lies concretely in memory.
    pub(crate) fn c_string(&mut self, st: &mut State, p: Value) -> Option<String> {
        self.c_bytes(st, p).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Its bytes.
    pub(crate) fn c_bytes(&mut self, st: &mut State, p: Value) -> Option<Vec<u8>> {
        let Value::Ptr { obj, off } = p else { return None };
        let (contents, w) = st.memory.contents(obj)?;
        let mut bytes = Vec::new();
        let mut at = u64::try_from(off).ok()?;
        while at < w.len && bytes.len() < 4096 {
            match contents.read_concrete(w.start + at, 1)? {
                0 => return Some(bytes),
                b => bytes.push(b as u8),
            }
            at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn what_is_listed_is_modelled() {
        for name in super::ALWAYS_MODELLED.iter().chain(super::MODELLED_WITHOUT_LIBC) {
            assert!(super::find(name, true).is_some(), "{name}");
        }
    }
}
