//! Handlers of the undefined-behaviour sanitizer, which clang calls where one of its checks fails
//! (`-fsanitize=undefined` and its like): every call is an error, named as the sanitizer names it. The layout of what
//! they are told is that of LLVM's runtime.

use super::{Call, ModelFn};
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use pleach_memory::Value;
use pleach_state::{Detail, ErrorKind, State};

pub(super) fn find(name: &str) -> Option<ModelFn> {
    name.starts_with("__ubsan_handle_").then_some(handle as ModelFn)
}

fn handle(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    use ErrorKind as K;
    let check = call.name.trim_start_matches("__ubsan_handle_").trim_end_matches("_abort");
    // Where it happened comes first: a pointer and two numbers.
    let facts = m.pointer_bytes() + 8;
    let next = facts + m.pointer_bytes();
    let (kind, name, suffix) = match check {
        "type_mismatch_v1" => match m.byte_of(st, call.arg(0), next) {
            _ if m.is_null_here(st, call.arg(1)) => (K::Null, "null-pointer-use", "ptr.err"),
            Some(log) if m.address_here(st, call.arg(1)).is_some_and(|a| a & ((1 << log.min(63)) - 1) != 0) => {
                (K::User, "misaligned-pointer-use", "ptr.err")
            }
            _ => (K::OobRead, "insufficient-object-size", "ptr.err"),
        },
        "alignment_assumption" => (K::User, "alignment-assumption", "ptr.err"),
        "add_overflow" | "sub_overflow" | "mul_overflow" | "negate_overflow" => {
            match m.integer_type(st, call.arg(0), facts) {
                Some(false) => (K::User, "unsigned-integer-overflow", "overflow.err"),
                _ => (K::SignedOverflow, "signed-integer-overflow", "overflow.err"),
            }
        }
        "divrem_overflow" => match m.integer_type(st, call.arg(0), facts) {
            Some(_) => (K::DivZero, "integer division overflow", "overflow.err"),
            None => (K::User, "float-divide-by-zero", "div.err"),
        },
        "shift_out_of_bounds" => (K::Overshift, "shift out of bounds", "overflow.err"),
        "out_of_bounds" => (K::OobRead, "out-of-bounds-index", "ptr.err"),
        "builtin_unreachable" => (K::Unreachable, "unreachable-call", "unreachable_call.err"),
        "missing_return" => (K::Unreachable, "missing-return", "missing_return.err"),
        "vla_bound_not_positive" => (K::User, "non-positive-vla-index", "ptr.err"),
        "float_cast_overflow" => (K::User, "float-cast-overflow", "overflow.err"),
        "load_invalid_value" => (K::User, "load invalid value", "invalid_load.err"),
        "invalid_builtin" => (K::User, "invalid-builtin-use", "invalid_builtin_use.err"),
        "nonnull_return_v1" | "nullability_return_v1" => (K::User, "invalid-null-return", "nullable_attribute.err"),
        "nonnull_arg" | "nullability_arg" => (K::User, "invalid-null-argument", "nullable_attribute.err"),
        "function_type_mismatch" => (K::BadCall, "function-type-mismatch", "function_type_mismatch.err"),
        "pointer_overflow" => {
            let null = |m: &mut Machine, st: &mut State, i| m.is_null_here(st, call.arg(i));
            let what = match (null(m, st, 1), null(m, st, 2)) {
                (true, true) => "nullptr-with-offset",
                (true, false) => "nullptr-with-nonzero-offset",
                (false, true) => "nullptr-after-nonzero-offset",
                (false, false) => "pointer-overflow",
            };
            (K::User, what, "ptr.err")
        }
        "implicit_conversion" => match m.byte_of(st, call.arg(0), next + m.pointer_bytes()) {
            Some(1) => (K::User, "implicit-unsigned-integer-truncation", "implicit_truncation.err"),
            Some(0 | 2) => (K::User, "implicit-signed-integer-truncation", "implicit_truncation.err"),
            Some(3) => (K::User, "implicit-integer-sign-change", "implicit_conversion.err"),
            _ => (K::User, "implicit-signed-integer-truncation-or-sign-change", "implicit_conversion.err"),
        },
        _ => (K::User, "undefined-behavior", "exec.err"),
    };
    let message = format!("undefined behaviour, found by a check of the compiler: {name}");
    Err(Flow::error_with(kind, message, Detail::Sanitizer { check: name, suffix }))
}

impl Machine {
    fn byte_of(&mut self, st: &State, data: Value, at: u64) -> Option<u64> {
        let Value::Ptr { obj, off } = data else { return None };
        let (contents, w) = st.memory.contents(obj)?;
        contents.read_concrete(w.start.wrapping_add(at).wrapping_add(off as u64), 1)
    }

    /// Whether the type whose description is pointed to at `at` is a signed integer; none for other types.
    fn integer_type(&mut self, st: &mut State, data: Value, at: u64) -> Option<bool> {
        let Value::Ptr { obj, off } = data else { return None };
        let bytes = self.pointer_bytes() as usize;
        let (contents, w) = st.memory.contents_mut(obj)?;
        let at = w.start.wrapping_add(at).wrapping_add(off as u64);
        let described = contents.read(&mut self.terms, at, bytes, obj);
        let Value::Ptr { obj, off } = described else { return None };
        let (contents, w) = st.memory.contents(obj)?;
        let at = w.start.wrapping_add(off as u64);
        let kind = contents.read_concrete(at, 2)?;
        let info = contents.read_concrete(at + 2, 2)?;
        (kind == 0).then_some(info & 1 == 1)
    }

    /// An address as the path's test has it: the path ends here, so nothing is fixed by looking.
    fn address_here(&mut self, st: &mut State, v: Value) -> Option<u64> {
        match v {
            Value::Int(n) => Some(n),
            Value::Ptr { obj, off } => Some(st.memory.address(obj).wrapping_add(off as u64)),
            Value::Term(t) => {
                let address_free = self.substitute_addresses(st, t);
                let relevant = st.path.relevant(&mut self.terms, address_free);
                self.terms.try_eval(address_free, &relevant.model)
            }
            Value::Undef => None,
        }
    }

    fn is_null_here(&mut self, st: &mut State, v: Value) -> bool {
        self.address_here(st, v) == Some(0)
    }
}
