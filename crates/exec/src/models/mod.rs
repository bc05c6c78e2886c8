//! Functions that the engine stands in for: intrinsics of KLEE and SV-COMP, allocation, ending the program.

mod alloc;
mod end;
mod klee;
mod nondet;
mod output;
mod symbolic;

use crate::flow::Attempt;
use crate::machine::Machine;
use pleach_ir::{Slot, Ty};
use pleach_memory::Value;
use pleach_state::State;

/// A call that a model answers.
pub(crate) struct Call<'a> {
    pub name: &'a str,
    pub args: &'a [(Value, Ty)],
    /// slots of the caller that take the result
    pub results: &'a [Slot],
}

pub(crate) type ModelFn = fn(&mut Machine, &mut State, &Call) -> Attempt<()>;

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

/// A call that is an error.
pub(crate) const ERROR: ModelFn = nondet::error;

/// The model of a function. Intrinsics win over a body of the program; models of library functions do not.
pub(crate) fn find(name: &str, declaration: bool) -> Option<ModelFn> {
    if let Some(m) = klee::find(name) {
        return Some(m);
    }
    if !declaration {
        return None;
    }
    nondet::find(name).or_else(|| alloc::find(name)).or_else(|| end::find(name)).or_else(|| output::find(name))
}

impl Machine {
    /// A C string that lies concretely in memory.
    pub(crate) fn c_string(&mut self, st: &mut State, p: Value) -> Option<String> {
        let Value::Ptr { obj, off } = p else { return None };
        let o = st.memory.get(obj)?;
        let mut bytes = Vec::new();
        let mut at = u64::try_from(off).ok()?;
        while at < o.size && bytes.len() < 4096 {
            match o.contents.read_concrete(at, 1)? {
                0 => return Some(String::from_utf8_lossy(&bytes).into_owned()),
                b => bytes.push(b as u8),
            }
            at += 1;
        }
        None
    }
}
