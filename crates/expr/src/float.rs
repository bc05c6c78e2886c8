//! Float operators on bit patterns of 32 and 64 bits, by the machine's own arithmetic, which is IEEE 754 to nearest
//! even; the other formats are in [`crate::wide_float`].
//!
//! Results that are not a number are the one quiet NaN that SMT-LIB knows. A conversion to an integer that does not fit
//! (or of a NaN) gives `1 << (w - 1)`, as x86 does for signed targets: the operators are total, so that evaluation is.

use crate::term::Op;
use crate::wide_float;

const NAN32: u32 = 0x7fc0_0000;
const NAN64: u64 = 0x7ff8_0000_0000_0000;

/// The arguments of an operator: patterns of `width` bits each; `mode` is the rounding mode where there is one.
pub(crate) struct Operands {
    pub width: u16,
    pub a: u128,
    pub b: u128,
    pub c: u128,
    pub mode: u32,
}

/// The value of float operator `op` with a result of `width` bits; `None` for widths the machine does not have.
pub(crate) fn apply(op: Op, width: u16, x: &Operands) -> Option<u128> {
    match op {
        Op::FFromSigned | Op::FFromUnsigned => from_integer(op == Op::FFromSigned, width, x),
        _ => match x.width {
            32 if machine(op, width) => single(op, width, x),
            64 if machine(op, width) => double(op, width, x),
            _ => wide_float::apply(op, width, x),
        },
    }
}

/// Whether the machine's types suffice: all but conversions to another format.
fn machine(op: Op, width: u16) -> bool {
    op != Op::FResize || width == 32 || width == 64
}

fn from_integer(signed: bool, width: u16, x: &Operands) -> Option<u128> {
    if x.width > 128 || x.width == 0 {
        return None;
    }
    let s = 128 - u32::from(x.width);
    let integer = ((x.a << s) as i128) >> s;
    match (width, signed) {
        (32, true) => Some(u128::from((integer as f32).to_bits())),
        (32, false) => Some(u128::from((x.a as f32).to_bits())),
        (64, true) => Some(u128::from((integer as f64).to_bits())),
        (64, false) => Some(u128::from((x.a as f64).to_bits())),
        _ => wide_float::from_integer(signed, width, x),
    }
}

fn pack32(f: f32) -> u128 {
    u128::from(if f.is_nan() { NAN32 } else { f.to_bits() })
}

fn pack64(f: f64) -> u128 {
    u128::from(if f.is_nan() { NAN64 } else { f.to_bits() })
}

fn single(op: Op, width: u16, x: &Operands) -> Option<u128> {
    let [a, b, c] = [x.a, x.b, x.c].map(|v| f32::from_bits(v as u32));
    Some(match op {
        Op::FAdd => pack32(a + b),
        Op::FSub => pack32(a - b),
        Op::FMul => pack32(a * b),
        Op::FDiv => pack32(a / b),
        Op::FRem => pack32(a % b),
        Op::FSqrt => pack32(a.sqrt()),
        Op::FFma => pack32(a.mul_add(b, c)),
        // every f32 is an f64, and rounding to an integer of one gives a value of the other
        Op::FRound => pack32(round(f64::from(a), x.mode)? as f32),
        Op::FEq => u128::from(a == b),
        Op::FLt => u128::from(a < b),
        Op::FLe => u128::from(a <= b),
        Op::FIsNan => u128::from(a.is_nan()),
        Op::FResize if width == 64 => pack64(f64::from(a)),
        Op::FResize if width == 32 => pack32(a),
        Op::FToSigned => to_signed(f64::from(a), width)?,
        Op::FToUnsigned => to_unsigned(f64::from(a), width)?,
        _ => return None,
    })
}

fn double(op: Op, width: u16, x: &Operands) -> Option<u128> {
    let [a, b, c] = [x.a, x.b, x.c].map(|v| f64::from_bits(v as u64));
    Some(match op {
        Op::FAdd => pack64(a + b),
        Op::FSub => pack64(a - b),
        Op::FMul => pack64(a * b),
        Op::FDiv => pack64(a / b),
        Op::FRem => pack64(a % b),
        Op::FSqrt => pack64(a.sqrt()),
        Op::FFma => pack64(a.mul_add(b, c)),
        Op::FRound => pack64(round(a, x.mode)?),
        Op::FEq => u128::from(a == b),
        Op::FLt => u128::from(a < b),
        Op::FLe => u128::from(a <= b),
        Op::FIsNan => u128::from(a.is_nan()),
        Op::FResize if width == 32 => pack32(a as f32),
        Op::FResize if width == 64 => pack64(a),
        Op::FToSigned => to_signed(a, width)?,
        Op::FToUnsigned => to_unsigned(a, width)?,
        _ => return None,
    })
}

fn round(a: f64, mode: u32) -> Option<f64> {
    Some(match mode {
        0 => a.round_ties_even(),
        1 => a.round(),
        2 => a.ceil(),
        3 => a.floor(),
        4 => a.trunc(),
        _ => return None,
    })
}

fn to_signed(a: f64, width: u16) -> Option<u128> {
    if width == 0 || width > 128 {
        return None;
    }
    let t = a.trunc();
    let limit = 2f64.powi(i32::from(width) - 1);
    if t >= -limit && t < limit { Some(cut(t as i128 as u128, width)) } else { Some(1 << (width - 1)) }
}

fn to_unsigned(a: f64, width: u16) -> Option<u128> {
    if width == 0 || width > 128 {
        return None;
    }
    let t = a.trunc();
    if t >= 0.0 && t < 2f64.powi(i32::from(width)) { Some(cut(t as u128, width)) } else { Some(1 << (width - 1)) }
}

fn cut(v: u128, width: u16) -> u128 {
    if width >= 128 { v } else { v & ((1 << width) - 1) }
}
