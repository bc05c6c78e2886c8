//! KLEE's intrinsics.

use super::{Call, ModelFn, nondet, nothing, symbolic};
use crate::access::{AccessKind, note, renote};
use crate::config::SizeMode;
use crate::feasibility::Feasibility;
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use crate::messages::ExecMessage;
use pleach_expr::Terms;
use pleach_memory::Value;
use pleach_state::seams::PathOracle;
use pleach_state::{Access, Cut, Detail, ErrorKind, ForkKind, InputType, Origin, State};
use std::rc::Rc;

pub(super) fn find(name: &str) -> Option<ModelFn> {
    Some(match name {
        "klee_make_symbolic" => symbolic::make_symbolic,
        "klee_int" => int,
        "klee_range" => range,
        "klee_choose" => choose,
        "klee_assume" => assume,
        "klee_prefer_cex" | "klee_posix_prefer_cex" => prefer,
        "klee_silent_exit" => nondet::silent,
        "klee_abort" => abort,
        "klee_assert_fail" => super::termination::assert_fail,
        "klee_report_error" => report_error,
        "klee_get_obj_size" => object_size,
        "klee_print_expr" => print_expr,
        "klee_print_range" => print_range,
        "klee_is_symbolic" => is_symbolic,
        "klee_is_replay" => nothing,
        "klee_get_errno" => errno,
        "klee_warning" | "klee_warning_once" => warning,
        "klee_mark_global" | "klee_open_merge" | "klee_close_merge" | "klee_alias_function" => nothing,
        "klee_check_memory_access" => check_access,
        "klee_set_forking" => set_forking,
        "klee_stack_trace" => stack_trace,
        "klee_define_fixed_object" => fixed_object,
        n if n.starts_with("klee_get_value") => get_value,
        _ => return None,
    })
}

/// `klee_get_errno()`: without the C library the one number, else anything, as it may be before a call of KLEE's.
fn errno(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let v = match m.program.library {
        false => m.read(st, Value::ptr(m.errno_object(), 0), 4, 0)?,
        true => Value::Term(m.environment_value(st, 32)),
    };
    call.give(st, v);
    Ok(())
}

/// `klee_prefer_cex(object, condition)`: a wish for the test. It may change the values a prediction was made with, so
/// that it is heeded only where nothing is predicted.
fn prefer(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    note(st, || Access::Result(Value::Int(0)));
    if m.config.rules.heed_preferences {
        let w = call.width(m, 1);
        let t = m.term(st, call.arg(1), w);
        let zero = m.terms.constant(w, 0);
        let c = m.terms.ne(t, zero);
        Rc::make_mut(&mut st.preferences).push(c);
    }
    Ok(())
}

fn input_name(m: &mut Machine, st: &mut State, p: Value, otherwise: &str) -> String {
    m.c_string(st, p).filter(|s| !s.is_empty()).unwrap_or_else(|| otherwise.to_string())
}

const INT: InputType = InputType::Scalar { name: "int", bits: 32, signed: true };

fn int(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let name = input_name(m, st, call.arg(0), "int");
    let t = m.new_scalar(st, &name, 32, Origin::MakeSymbolic, INT);
    call.give(st, Value::Term(t));
    Ok(())
}

/// `klee_range(begin, end, name)`: begin ≤ x < end. One possible value is no input; where that depends on the path, it
/// splits.
fn range(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let lo = m.term(st, call.arg(0), 32);
    let hi = m.term(st, call.arg(1), 32);
    let nonempty = m.terms.slt(lo, hi);
    m.require(st, nonempty, ErrorKind::User, || "klee_range is given an empty range".into())?;
    let one = m.terms.constant(32, 1);
    let next = m.terms.add(lo, one);
    let single = m.terms.eq(next, hi);
    match m.decide(st, single) {
        Feasibility::True => {
            note(st, || Access::FreshRange);
            let v = Value::from_term(&m.terms, lo);
            call.give(st, v);
            return Ok(());
        }
        Feasibility::False => {}
        Feasibility::Both(yes, no) => return Err(m.split(st, vec![(yes, None), (no, None)], ForkKind::Other)),
        Feasibility::OtherUnknown { side, why, holds } => return Err(m.split_with_unknown(st, side, None, holds, &why)),
    }
    let name = input_name(m, st, call.arg(2), "range");
    let x = m.new_scalar(st, &name, 32, Origin::MakeSymbolic, INT);
    renote(st, Access::FreshRange);
    let above = m.terms.sle(lo, x);
    let below = m.terms.slt(x, hi);
    let both = m.terms.and(above, below);
    m.assume(st, both)?;
    let v = Value::from_term(&m.terms, x);
    call.give(st, v);
    Ok(())
}

/// `klee_choose(n)`: any number below n.
fn choose(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let w = call.width(m, 0);
    let n = m.term(st, call.arg(0), w);
    let zero = m.terms.constant(w, 0);
    let some = m.terms.ne(n, zero);
    m.require(st, some, ErrorKind::User, || "klee_choose(0) has nothing to choose from".into())?;
    let ty = InputType::Scalar { name: "unsigned long", bits: w, signed: false };
    let x = m.new_scalar(st, "klee_choose", w, Origin::MakeSymbolic, ty);
    renote(st, Access::FreshBelow);
    let below = m.terms.ult(x, n);
    m.assume(st, below)?;
    call.give(st, Value::Term(x));
    Ok(())
}

fn assume(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let c = m.truth(st, call);
    match m.is_satisfiable(st, c) {
        Ok(Some(side)) => {
            // An assumption that cannot hold is an error. So the history tells one that was implied, which must stay
            // implied elsewhere, from any other, which must stay satisfiable.
            let implied = m.entails(st, c);
            if side.address_free != Terms::TRUE {
                m.add(st, side);
            }
            note(st, || if implied { Access::Assert } else { Access::AssumeElseFail });
            Ok(())
        }
        Ok(None) => {
            let why = "klee_assume is given a condition that cannot hold here";
            Err(Flow::error_with(ErrorKind::User, why, Detail::Assumption))
        }
        Err(why) => Err(Flow::cut(Cut::Solver(why.to_string()))),
    }
}

fn abort(_: &mut Machine, _: &mut State, _: &Call) -> StepResult<()> {
    Err(Flow::error(ErrorKind::Abort, "klee_abort() is called"))
}

/// `klee_report_error(file, line, message, suffix)`
fn report_error(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let message = m.c_string(st, call.arg(2)).unwrap_or_else(|| "the program reports an error".into());
    let suffix = m.c_string(st, call.arg(3)).unwrap_or_default();
    Err(Flow::error_with(ErrorKind::User, message, Detail::Reported(suffix)))
}

fn object_size(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    use crate::access::ResolvedLocation;
    let (ResolvedLocation::At { obj, .. }
    | ResolvedLocation::Symbolic { obj, .. }
    | ResolvedLocation::Piece { obj, .. }) = m.place(st, call.arg(0), 0, AccessKind::Read)?;
    let size = m.size_value(st, obj);
    call.give(st, size);
    Ok(())
}

fn print_expr(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let label = m.c_string(st, call.arg(0)).unwrap_or_default();
    let w = call.width(m, 1);
    let t = m.term(st, call.arg(1), w);
    let text = match m.terms.as_const(t) {
        Some(n) => n.to_string(),
        None => m.terms.show(t),
    };
    m.say(ExecMessage::Note(format!("{label}:{text}")));
    nothing(m, st, call)
}

fn print_range(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let label = m.c_string(st, call.arg(0)).unwrap_or_default();
    let w = call.width(m, 1);
    let text = match m.concrete_number(st, call.arg(1)) {
        Some(n) => format!("{n}"),
        None => {
            let t = m.term(st, call.arg(1), w);
            let low = m.extreme(st, t, false);
            let high = m.extreme(st, t, true);
            match (low, high) {
                (Some(l), Some(h)) => format!("between {l} and {h}"),
                _ => "unknown".into(),
            }
        }
    };
    m.say(ExecMessage::Note(format!("{label}:{text}")));
    nothing(m, st, call)
}

fn is_symbolic(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let v = match call.arg(0) {
        Value::Term(t) => !m.terms.is_constant(t),
        _ => false,
    };
    call.give(st, Value::Int(u64::from(v)));
    Ok(())
}

fn warning(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let text = m.string_argument(st, call.arg(0))?;
    let text = format!("{}: {text}", m.program.function(st.frame.func).name);
    if call.name.ends_with("_once") {
        m.warn_once(text);
    } else {
        m.warn(text);
    }
    note(st, || Access::Result(Value::Int(0)));
    Ok(())
}

fn check_access(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let w = call.width(m, 1);
    if let Value::Term(n) = call.arg(1)
        && m.config.sizes.mode != SizeMode::Any
        && m.range_end(st, call.arg(0), n, AccessKind::Read)?.is_some()
    {
        return Ok(());
    }
    let n = m.concretize(st, call.arg(1), w, "the size given to klee_check_memory_access")?;
    m.place(st, call.arg(0), n, AccessKind::Read).map(|_| ())
}

fn set_forking(_: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    st.forking = call.arg(0) != Value::Int(0);
    Ok(())
}

fn stack_trace(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let program = m.program.clone();
    let lines: Vec<String> = st
        .stack(&program)
        .iter()
        .map(|l| format!("{} ({}:{})", program.function(l.func).name, program.path(l.span), l.span.line))
        .collect();
    m.say(ExecMessage::Note(format!("stack: {}", lines.join(" <- "))));
    nothing(m, st, call)
}

fn fixed_object(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let a = m.concretize(st, call.arg(0), m.pointer_bits(), "an address given to klee_define_fixed_object")?;
    let w = call.width(m, 1);
    let n = m.concretize(st, call.arg(1), w, "a size given to klee_define_fixed_object")?;
    let site = pleach_memory::Site::new(st.frame.func.0, st.inst);
    st.memory.place(a, n, site);
    Ok(())
}

/// One possible value; the path goes on with it.
fn get_value(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let w = call.width(m, 0);
    let n = m.concretize(st, call.arg(0), w, "a value asked for with klee_get_value")?;
    call.give(st, Value::Int(n));
    Ok(())
}

impl Machine {
    /// The smallest or largest value of a term on this path (unsigned), by bisection.
    pub(crate) fn extreme(&mut self, st: &mut State, t: pleach_expr::TermId, largest: bool) -> Option<u64> {
        let w = self.terms.width(t);
        if w > 64 {
            return None;
        }
        let (mut lo, mut hi) = (0u64, pleach_expr::mask(w));
        while lo < hi {
            let mid = lo + (hi - lo) / 2;
            let c = if largest {
                let k = self.terms.constant(w, mid);
                self.terms.ult(k, t)
            } else {
                let k = self.terms.constant(w, mid);
                self.terms.ule(t, k)
            };
            match (self.is_satisfiable(st, c).ok()?.is_some(), largest) {
                (true, true) => lo = mid + 1,
                (false, true) => hi = mid,
                (true, false) => hi = mid,
                (false, false) => lo = mid + 1,
            }
        }
        Some(lo)
    }
}

#[cfg(test)]
mod tests {
    use pleach_ir::klee::{INTERFACE, VALUES};

    #[test]
    fn the_whole_interface_is_modelled() {
        let values = VALUES.iter().map(|v| format!("klee_get_value{v}"));
        for name in INTERFACE.iter().map(|n| format!("klee_{n}")).chain(values) {
            assert!(super::find(&name).is_some(), "{name}");
        }
    }
}
