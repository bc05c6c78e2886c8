//! SV-COMP's inputs and assumptions.

use super::{Call, ModelFn};
use crate::access::note;
use crate::flow::{Flow, Step, StepResult};
use crate::machine::Machine;
use pleach_expr::Terms;
use pleach_memory::Value;
use pleach_state::{Access, End, ErrorKind, InputType, Leaks, Origin, State};

/// Result types by the name after `__VERIFIER_nondet_`: C type, bits (0: those of a pointer), signed.
///
/// Those of `runtime/replay/nondet.inc`. A pointer is any number of its width: it may be null, wild, or mean any
/// object.
const TYPES: &[(&str, &str, u16, bool)] = &[
    ("bool", "_Bool", 8, false),
    ("_Bool", "_Bool", 8, false),
    ("char", "char", 8, true),
    ("schar", "signed char", 8, true),
    ("uchar", "unsigned char", 8, false),
    ("unsigned_char", "unsigned char", 8, false),
    ("short", "short", 16, true),
    ("ushort", "unsigned short", 16, false),
    ("unsigned_short", "unsigned short", 16, false),
    ("int", "int", 32, true),
    ("uint", "unsigned int", 32, false),
    ("unsigned", "unsigned int", 32, false),
    ("unsigned_int", "unsigned int", 32, false),
    ("long", "long", 0, true),
    ("ulong", "unsigned long", 0, false),
    ("unsigned_long", "unsigned long", 0, false),
    ("longlong", "long long", 64, true),
    ("ulonglong", "unsigned long long", 64, false),
    ("loff_t", "long long", 64, true),
    ("size_t", "size_t", 0, false),
    ("u8", "unsigned char", 8, false),
    ("u16", "unsigned short", 16, false),
    ("u32", "unsigned int", 32, false),
    ("U32", "unsigned int", 32, false),
    ("u64", "unsigned long long", 64, false),
    ("S8", "signed char", 8, true),
    ("s8", "signed char", 8, true),
    ("s16", "short", 16, true),
    ("s32", "int", 32, true),
    ("s64", "long long", 64, true),
    ("sector_t", "unsigned long", 0, false),
    ("pthread_t", "unsigned long", 0, false),
    ("float", "float", 32, true),
    ("double", "double", 64, true),
    ("long_long", "long long", 64, true),
    ("unsigned_long_long", "unsigned long long", 64, false),
    ("ssize_t", "ssize_t", 0, true),
    ("ptrdiff_t", "ptrdiff_t", 0, true),
    ("S16", "short", 16, true),
    ("S32", "int", 32, true),
    ("S64", "long long", 64, true),
    ("U8", "unsigned char", 8, false),
    ("U16", "unsigned short", 16, false),
    ("U64", "unsigned long long", 64, false),
    ("int8_t", "signed char", 8, true),
    ("int16_t", "short", 16, true),
    ("int32_t", "int", 32, true),
    ("int64_t", "long long", 64, true),
    ("uint8_t", "unsigned char", 8, false),
    ("uint16_t", "unsigned short", 16, false),
    ("uint32_t", "unsigned int", 32, false),
    ("uint64_t", "unsigned long long", 64, false),
    ("pointer", "void *", 0, false),
    ("ptr", "void *", 0, false),
    ("voidp", "void *", 0, false),
    ("charp", "char *", 0, false),
    ("pchar", "char *", 0, false),
    ("const_char_pointer", "const char *", 0, false),
    ("int128", "__int128", 128, true),
    ("uint128", "unsigned __int128", 128, false),
    ("u128", "unsigned __int128", 128, false),
];

/// The message about the absolute value of the smallest number.
pub const ABS_OVERFLOW: &str = "signed overflow in an absolute value";

pub(super) fn find(name: &str) -> Option<ModelFn> {
    if name.strip_prefix("__VERIFIER_nondet_").is_some_and(|ty| TYPES.iter().any(|t| t.0 == ty)) {
        return Some(nondet);
    }
    Some(match name {
        "__VERIFIER_nondet_memory" => super::symbolic::nondet_memory,
        "__VERIFIER_assume" => assume,
        "llvm.lane.check" | "llvm.lane.check.write" => lane,
        "llvm.abs.check" => abs,
        "__VERIFIER_assert" => assert,
        "__VERIFIER_error" | "reach_error" => error,
        "__VERIFIER_atomic_begin" | "__VERIFIER_atomic_end" => super::nothing,
        _ => return None,
    })
}

fn nondet(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let ty = call.name.trim_start_matches("__VERIFIER_nondet_");
    let Some(&(_, name, bits, signed)) = TYPES.iter().find(|t| t.0 == ty) else { return Ok(()) };
    let bits = if bits == 0 { m.pointer_bits() } else { bits };
    let input = InputType::Scalar { name, bits, signed };
    let t = m.new_scalar(st, call.name, bits, Origin::Nondet, input);
    // The declared result may be narrower than the C type (`_Bool` is returned as i1).
    let w = m.result_width(st, call).unwrap_or(bits);
    if name == "_Bool" {
        let one = m.terms.constant(bits, 1);
        let ok = m.terms.ule(t, one);
        m.assume(st, ok)?;
    }
    if call.results.len() > 1 {
        // A wide result comes back in pieces, the low one first.
        let mut at = 0;
        for d in call.results {
            let f = m.program.function(st.frame.func);
            let w = m.width_of(f.slots[d.index()].ty);
            let part = m.terms.extract(t, at, w);
            st.frame.regs[d.index()] = Value::from_term(&m.terms, part);
            at += w;
        }
        return Ok(());
    }
    let t = m.terms.resize_unsigned(t, w);
    let v = Value::from_term(&m.terms, t);
    call.give(st, v);
    Ok(())
}

fn assume(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let c = m.truth(st, call);
    m.assume(st, c)?;
    note(st, || Access::Assume);
    Ok(())
}

fn assert(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let c = m.truth(st, call);
    m.require(st, c, ErrorKind::Assert, || "the assertion does not hold".into())?;
    note(st, || Access::Assert);
    Ok(())
}

pub(super) fn error(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    // The program ends here. Where the call itself is no violation, blocks that are left are one.
    if m.config.leaks == Leaks::Unfreed && !m.config.error_functions.iter().any(|f| f == call.name) {
        m.require_nothing_lost(st)?;
    }
    Err(Flow::error(ErrorKind::Assert, format!("{}() is reached", call.name)))
}

impl Machine {
    /// The first argument as a condition.
    pub(super) fn truth(&mut self, st: &mut State, call: &Call) -> pleach_expr::TermId {
        let w = call.width(self, 0);
        let t = self.term(st, call.arg(0), w);
        let zero = self.terms.constant(w, 0);
        self.terms.ne(t, zero)
    }

    /// The width of the slot that takes the result.
    pub(super) fn result_width(&self, st: &State, call: &Call) -> Option<u16> {
        let d = call.results.first()?;
        let f = self.program.function(st.frame.func);
        Some(self.width_of(f.slots[d.index()].ty))
    }
}

/// Ends the path without a test.
pub(super) fn silent(_: &mut Machine, _: &mut State, _: &Call) -> StepResult<()> {
    Err(Flow::Stop(Step::End(End::Silent)))
}

/// The front end checks whether a vector has a lane. The absolute value of the smallest number: overflow, where that is
/// looked for. KLEE sees it where the number is known.
fn abs(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    let fits = m.term(st, call.arg(0), 1);
    let checked = m.config.check_signed_overflow && call.arg(1) == Value::Int(0);
    let seen = m.config.rules.check_known_abs && fits == Terms::FALSE;
    if !checked && !seen {
        return super::nothing(m, st, call);
    }
    m.require(st, fits, ErrorKind::SignedOverflow, || ABS_OVERFLOW.into())?;
    note(st, || Access::Assert);
    Ok(())
}

fn lane(m: &mut Machine, st: &mut State, call: &Call) -> StepResult<()> {
    // In KLEE's view a write beyond the lanes has no effect.
    if m.config.rules.ignore_lane_writes && call.name.ends_with("write") {
        return super::nothing(m, st, call);
    }
    let inside = m.term(st, call.arg(0), 1);
    m.require(st, inside, ErrorKind::OobRead, || "an access to a lane that the vector does not have".into())?;
    note(st, || Access::Assert);
    Ok(())
}
