//! Checks that the front end inserted: undefined behaviour that the surrounding instructions do not show.

use crate::flow::StepResult;
use crate::machine::Machine;
use pleach_ir::{CheckKind, Opnd};
use pleach_memory::Value;
use pleach_state::{ErrorKind, State};

impl Machine {
    pub(crate) fn check_inst(
        &mut self,
        consts: &[Value],
        st: &mut State,
        kind: CheckKind,
        cond: Opnd,
    ) -> StepResult<()> {
        let v = self.value(st, consts, cond, 1);
        let ok = self.term(st, v, 1);
        let (error, message) = described(kind);
        self.require(st, ok, error, || message.into())
    }
}

/// The error of a check that fails.
fn described(kind: CheckKind) -> (ErrorKind, &'static str) {
    match kind {
        CheckKind::DivZero => (ErrorKind::DivZero, "division by zero"),
        CheckKind::Overshift => (ErrorKind::Overshift, "shift by the width of the value or more, or by less than zero"),
        CheckKind::SignedOverflow => (ErrorKind::SignedOverflow, "signed overflow: the result does not fit"),
        CheckKind::ShiftBase => (ErrorKind::SignedOverflow, "signed overflow in a left shift"),
        CheckKind::InvalidValue => (
            ErrorKind::InvalidValue,
            "the value that is read is none of its type: a _Bool other than 0 and 1, or an enumeration",
        ),
        CheckKind::VlaBound => (ErrorKind::VlaBound, "the size of a variable-length array is not positive"),
        CheckKind::FloatCast => {
            (ErrorKind::FloatCast, "a floating-point value that the integer type cannot hold is converted to it")
        }
        CheckKind::Builtin => {
            (ErrorKind::InvalidBuiltin, "zero is passed to a builtin that counts zeros and has no result for it")
        }
        CheckKind::Poison => (
            ErrorKind::Poison,
            "a constant without a value is used: the compiler folded an operation that is undefined",
        ),
    }
}
