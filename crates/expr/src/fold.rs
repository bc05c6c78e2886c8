//! The value of an operator on known arguments: used by the builder on constants and by the evaluator under a model.

use crate::bits::{self, Limbs};
use crate::float;
use crate::term::{Op, mask, sign_extend};
use std::cmp::Ordering;

/// An operator with everything about it but its arguments: result width, widths of the first two arguments, and the
/// number a node carries in place of its second argument (lowest extracted bit, rounding mode).
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    pub op: Op,
    pub width: u16,
    pub a: u16,
    pub b: u16,
    pub immediate: u32,
}

/// Result and arguments of at most 64 bits. `None` for leaves, arrays, quantifiers, and floats the machine does not
/// have.
#[inline]
pub(crate) fn narrow(s: Shape, a: u64, b: u64, c: u64) -> Option<u64> {
    let w = s.width;
    let v = match s.op {
        Op::Not => !a,
        Op::And => a & b,
        Op::Or => a | b,
        Op::Xor => a ^ b,
        Op::Neg => a.wrapping_neg(),
        Op::Add => a.wrapping_add(b),
        Op::Sub => a.wrapping_sub(b),
        Op::Mul => a.wrapping_mul(b),
        Op::UDiv => a.checked_div(b).unwrap_or(u64::MAX),
        Op::URem => a.checked_rem(b).unwrap_or(a),
        Op::SDiv => {
            let (x, y) = (sign_extend(a, w), sign_extend(b, w));
            if y == 0 { if x < 0 { 1 } else { u64::MAX } } else { x.wrapping_div(y) as u64 }
        }
        Op::SRem => {
            let (x, y) = (sign_extend(a, w), sign_extend(b, w));
            if y == 0 { a } else { x.wrapping_rem(y) as u64 }
        }
        Op::Shl => {
            if b >= u64::from(w) {
                0
            } else {
                a << b
            }
        }
        Op::LShr => {
            if b >= u64::from(w) {
                0
            } else {
                a >> b
            }
        }
        Op::AShr => (sign_extend(a, w) >> b.min(63)) as u64,
        Op::Eq => u64::from(a == b),
        Op::Ult => u64::from(a < b),
        Op::Ule => u64::from(a <= b),
        Op::Slt => u64::from(sign_extend(a, s.a) < sign_extend(b, s.a)),
        Op::Sle => u64::from(sign_extend(a, s.a) <= sign_extend(b, s.a)),
        Op::Concat => a << s.b | b,
        Op::Extract => a >> s.immediate,
        Op::ZExt => a,
        Op::SExt => sign_extend(a, s.a) as u64,
        Op::Ite => {
            if a != 0 {
                b
            } else {
                c
            }
        }
        op if op.is_float() => {
            let x =
                float::Operands { width: s.a, a: u128::from(a), b: u128::from(b), c: u128::from(c), mode: s.immediate };
            float::apply(op, w, &x)? as u64
        }
        _ => return None,
    };
    Some(v & mask(w))
}

/// Any widths.
pub(crate) fn wide(s: Shape, a: &[u64], b: &[u64], c: &[u64]) -> Option<Limbs> {
    let w = s.width;
    let truth = |x: bool| Some(bits::from_u64(u64::from(x), 1));
    let amount = || bits::to_u64(b).map_or(u32::MAX, |n| n.min(u64::from(u32::MAX)) as u32);
    Some(match s.op {
        Op::Not => bits::not(a, w),
        Op::And => bits::zip(a, b, |x, y| x & y),
        Op::Or => bits::zip(a, b, |x, y| x | y),
        Op::Xor => bits::zip(a, b, |x, y| x ^ y),
        Op::Neg => bits::neg(a, w),
        Op::Add => bits::add(a, b, w),
        Op::Sub => bits::sub(a, b, w),
        Op::Mul => bits::mul(a, b, w),
        Op::UDiv => bits::udivrem(a, b, w).0,
        Op::URem => bits::udivrem(a, b, w).1,
        Op::SDiv => bits::sdivrem(a, b, w).0,
        Op::SRem => bits::sdivrem(a, b, w).1,
        Op::Shl => bits::shl(a, amount(), w),
        Op::LShr => bits::lshr(a, amount(), w),
        Op::AShr => bits::ashr(a, amount(), w),
        Op::Eq => return truth(a == b),
        Op::Ult => return truth(bits::compare(a, b) == Ordering::Less),
        Op::Ule => return truth(bits::compare(a, b) != Ordering::Greater),
        Op::Slt => return truth(bits::compare_signed(a, b, s.a) == Ordering::Less),
        Op::Sle => return truth(bits::compare_signed(a, b, s.a) != Ordering::Greater),
        Op::Concat => bits::concat(a, b, s.b, w),
        Op::Extract => bits::extract(a, s.immediate, w),
        Op::ZExt => bits::resize(a, w),
        Op::SExt => bits::sext(a, s.a, w),
        Op::Ite => {
            if bits::is_zero(a) {
                Limbs::from_slice(c)
            } else {
                Limbs::from_slice(b)
            }
        }
        op if op.is_float() && s.a <= 128 && w <= 128 => {
            let x = float::Operands {
                width: s.a,
                a: bits::to_u128(a),
                b: bits::to_u128(b),
                c: bits::to_u128(c),
                mode: s.immediate,
            };
            bits::from_u128(float::apply(op, w, &x)?, w)
        }
        _ => return None,
    })
}
