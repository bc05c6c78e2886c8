//! What the model of the operating system (`runtime/posix`) requires of the engine.

use super::text::Reads;
use super::{Call, ModelFn};
use crate::access::note;
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use crate::messages::ExecMessage;
use crate::overlap::Overlap;
use pleach_expr::{SymbolKind, SymbolOrigin, TermId};
use pleach_ir::format::Precision;
use pleach_ir::{GlobalId, Init, Symbol};
use pleach_memory::{Background, Contents, ObjectKind, Site, Value};
use pleach_semantics::address_of;
use pleach_state::{Access, Assumption, Cut, SizeBound, State};

pub(super) fn find(name: &str) -> Option<ModelFn> {
    Some(match name {
        "__pleach_unmodelled" => unmodelled,
        "__pleach_stopped" => stopped,
        "__pleach_unknown" => unknown,
        "__pleach_assume" => assume,
        "__pleach_assume_of" => assume_of,
        "__pleach_echoed" => echoed,
        "__pleach_printed" => printed,
        "__pleach_disjoint" => disjoint,
        "__pleach_reads" => reads_range,
        "__pleach_reads_text" => reads_text,
        "__pleach_own_memory" => own_memory,
        "__pleach_any_attributes" => any_attributes,
        _ => return None,
    })
}

/// `__pleach_unknown()`: any number; not an input of the test.
fn unknown(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let v = Value::Term(m.environment_value(st, 32));
    note(st, || Access::Fresh);
    call.give(st, v);
    Ok(())
}

/// `__pleach_assume(what)`: the path goes on, and every answer of the run says that it assumes this.
fn assume(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let mut reads = Reads::default();
    let what = m.told_text(st, call, 0, &mut reads).unwrap_or_else(|| "the environment is as modelled".into());
    m.assume_of_run(Assumption::Environment(what));
    reads.note(st, Access::Result(Value::Int(0)));
    Ok(())
}

/// `__pleach_assume_of(before, name, after)`: the same about something with a name.
fn assume_of(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let mut reads = Reads::default();
    let mut part = |i: usize| m.told_text(st, call, i, &mut reads);
    let (before, name, after) = (part(0), part(1).unwrap_or_else(|| "…".into()), part(2));
    let what = [before.unwrap_or_default(), name, after.unwrap_or_default()].concat();
    m.assume_of_run(Assumption::Environment(what));
    reads.note(st, Access::Result(Value::Int(0)));
    Ok(())
}

/// `__pleach_reads(bytes, n)`: the system reads `n` bytes.
fn reads_range(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let mut reads = Reads::default();
    m.read_range(st, call, 0, &[1], &mut reads)?;
    reads.note(st, Access::Result(Value::Int(0)));
    Ok(())
}

/// `__pleach_reads_text(text)`: the system reads a string.
fn reads_text(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let mut reads = Reads::default();
    m.read_text(st, call, 0, Precision::Unlimited, &mut reads)?;
    reads.note(st, Access::Result(Value::Int(0)));
    Ok(())
}

/// `__pleach_disjoint(to, n, from, m, who)`: the ranges that a function copies between have no byte in common.
fn disjoint(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let mut reads = Reads::default();
    if m.may_overlap(false) == Overlap::Error {
        m.require_disjoint_for(st, call, &mut reads)?;
    }
    reads.note(st, Access::Result(Value::Int(0)));
    Ok(())
}

/// `__pleach_own_memory(n)`: memory that is there from the beginning as the program sees it, so that it is no block to
/// free or to leak.
fn own_memory(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let w = call.width(m, 0);
    let n = m.concretize(st, call.arg(0), w, "the size of an argument")?;
    let contents = Contents::new(n, Background::Zero);
    let site = Site::new(st.frame.func.0, u32::MAX);
    let made = st.memory.allocate(n, 16, ObjectKind::Global, site, contents);
    let id = made.map_err(|_| Flow::cut(Cut::Memory))?;
    note(st, || Access::Alloc { obj: id, size: SizeBound::Exactly(n), zeroed: true, align: None });
    call.give(st, Value::ptr(id, 0));
    Ok(())
}

/// `__pleach_any_attributes()`: whether symbolic files have any attributes.
fn any_attributes(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let v = Value::Int(u64::from(m.config.rules.any_file_attributes));
    note(st, || Access::Result(v));
    call.give(st, v);
    Ok(())
}

/// `__pleach_unmodelled(number)`: the model of the operating system does not know a system call.
fn unmodelled(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let what = match m.concrete_number(st, call.arg(0)) {
        Some(n) => format!("system call {n} of Linux"),
        None => "a system call with a symbolic number".into(),
    };
    Err(Flow::cut(Cut::Unsupported(what)))
}

/// `__pleach_stopped(number)`: a signal without a handler stops the program until another one comes.
fn stopped(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let what = match m.concrete_number(st, call.arg(0)) {
        Some(n) => format!("a program stopped by signal {n}"),
        None => "a program stopped by a signal with a symbolic number".into(),
    };
    Err(Flow::cut(Cut::Unsupported(what)))
}

/// `__pleach_echoed()`: musl's stream for standard output, or null.
fn echoed(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let stream = m.program.globals.iter().position(|g| g.name == "__stdout_FILE" && g.init != Init::External);
    let v = match stream.filter(|_| m.config.echo) {
        Some(g) => address_of(&m.program, Symbol::Global(GlobalId(g as u32)), 0),
        None => Value::NULL,
    };
    note(st, || Access::Result(v));
    call.give(st, v);
    Ok(())
}

impl Machine {
    /// Any value: what the surroundings of the program decide and the engine does not model.
    pub(super) fn environment_value(&mut self, st: &mut State, bits: u16) -> TermId {
        let number = st.fresh_number();
        let origin = SymbolOrigin::Environment(number);
        let symbol = self.terms.symbols.intern(origin, SymbolKind::Bits(bits), || format!("environment!{number}"));
        self.terms.var(symbol)
    }

    /// The number that a value is in the path's test.
    pub(crate) fn example(&mut self, st: &mut State, v: Value) -> Option<u64> {
        let Value::Term(t) = v else { return self.concrete_number(st, v) };
        let address_free = self.substitute_addresses(st, t);
        let relevant = st.path.relevant(&mut self.terms, address_free);
        self.terms.try_eval(address_free, &relevant.model)
    }
}

/// `__pleach_printed(fd, bytes, n)`: the program writes to standard output or standard error. Symbolic bytes are shown
/// as the path's test has them; nothing is fixed by that.
fn printed(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    note(st, || Access::Result(Value::Int(0)));
    if !m.config.echo {
        return Ok(());
    }
    let (Some(fd), Some(n)) = (m.concrete_number(st, call.arg(0)), m.example(st, call.arg(2))) else { return Ok(()) };
    let (obj, off) = match call.arg(1) {
        Value::Ptr { obj, off } => (obj, off),
        p => {
            let Some(address) = m.example(st, p) else { return Ok(()) };
            let Some(obj) = st.memory.find(address) else { return Ok(()) };
            (obj, address.wrapping_sub(st.memory.address(obj)) as i64)
        }
    };
    let mut bytes = Vec::new();
    for at in (off as u64..).take(n as usize) {
        let Some((contents, w)) = st.memory.contents_mut(obj).filter(|(_, w)| at < w.len) else { break };
        bytes.push(match contents.read(&mut m.terms, w.start + at, 1, obj) {
            Value::Int(b) => b as u8,
            v => m.example(st, v).map_or(b'?', |b| b as u8),
        });
    }
    m.say(ExecMessage::Printed { to: fd as u8, bytes });
    Ok(())
}
