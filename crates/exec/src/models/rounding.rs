//! The floating-point environment: rounding is always to nearest, and which exceptions arithmetic raised is not known.

use super::{Call, ModelFn};
use crate::access::note;
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use pleach_memory::Value;
use pleach_state::{Access, Cut, State};

/// `FE_TONEAREST`
const TO_NEAREST: Value = Value::Int(0);

pub(super) fn find(name: &str) -> Option<ModelFn> {
    Some(match name {
        "fesetround" => set_round,
        "fetestexcept" => test_exceptions,
        _ => return None,
    })
}

fn set_round(_: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    if call.arg(0) != TO_NEAREST {
        return Err(Flow::cut(Cut::Unsupported("fesetround: rounding is to nearest".into())));
    }
    // The argument decides whether the path goes on: what is recorded must say so, which no entry does.
    note(st, || Access::Opaque);
    call.give(st, Value::Int(0));
    Ok(())
}

/// Any of the requested exceptions.
fn test_exceptions(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let requested = m.term(st, call.arg(0), 32);
    let raised = m.environment_value(st, 32);
    let t = m.terms.and(requested, raised);
    note(st, || Access::Opaque);
    let v = Value::from_term(&m.terms, t);
    call.give(st, v);
    Ok(())
}
