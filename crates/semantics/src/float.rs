//! Floating-point operators on terms.

use crate::integer::signed_min;
use pleach_expr::{TermId, Terms};
use pleach_ir::{FBinOp, FCastOp, FCmpOp, ScalarFn};

pub fn float_cmp(t: &mut Terms, op: FCmpOp, x: TermId, y: TermId) -> TermId {
    let nan_x = t.fisnan(x);
    let nan_y = t.fisnan(y);
    let unordered = t.or(nan_x, nan_y);
    let ordered = t.not(unordered);
    let base = match op {
        FCmpOp::False => return Terms::FALSE,
        FCmpOp::True => return Terms::TRUE,
        FCmpOp::Ord => return ordered,
        FCmpOp::Uno => return unordered,
        FCmpOp::Oeq | FCmpOp::Ueq => t.feq(x, y),
        FCmpOp::One | FCmpOp::Une => {
            let e = t.feq(x, y);
            t.not(e)
        }
        FCmpOp::Ogt | FCmpOp::Ugt => t.flt(y, x),
        FCmpOp::Oge | FCmpOp::Uge => t.fle(y, x),
        FCmpOp::Olt | FCmpOp::Ult => t.flt(x, y),
        FCmpOp::Ole | FCmpOp::Ule => t.fle(x, y),
    };
    match op {
        FCmpOp::Oeq | FCmpOp::Ogt | FCmpOp::Oge | FCmpOp::Olt | FCmpOp::Ole | FCmpOp::One => t.and(base, ordered),
        _ => t.or(base, unordered),
    }
}

pub fn float_bin(t: &mut Terms, op: FBinOp, x: TermId, y: TermId) -> TermId {
    match op {
        FBinOp::Add => t.fadd(x, y),
        FBinOp::Sub => t.fsub(x, y),
        FBinOp::Mul => t.fmul(x, y),
        FBinOp::Div => t.fdiv(x, y),
        FBinOp::Rem => t.frem(x, y),
    }
}

pub fn float_neg(t: &mut Terms, x: TermId) -> TermId {
    let w = t.width(x);
    let sign = signed_min(t, w);
    t.xor(x, sign)
}

/// `x` converted to a value of `to` bits.
pub fn float_cast(t: &mut Terms, op: FCastOp, x: TermId, to: u16) -> TermId {
    match op {
        FCastOp::Resize => t.fresize(x, to),
        FCastOp::ToSigned => t.fto_signed(x, to),
        FCastOp::ToUnsigned => t.fto_unsigned(x, to),
        FCastOp::FromSigned => t.ffrom_signed(x, to),
        FCastOp::FromUnsigned => t.ffrom_unsigned(x, to),
    }
}

pub fn float_scalar(t: &mut Terms, op: ScalarFn, w: u16, a: &[TermId]) -> Option<TermId> {
    let sign = signed_min(t, w);
    Some(match op {
        ScalarFn::FAbs => {
            let m = t.not(sign);
            t.and(a[0], m)
        }
        ScalarFn::FSqrt => t.fsqrt(a[0]),
        ScalarFn::FRint => t.fround(a[0], 0),
        ScalarFn::FRound => t.fround(a[0], 1),
        ScalarFn::FCeil => t.fround(a[0], 2),
        ScalarFn::FFloor => t.fround(a[0], 3),
        ScalarFn::FTrunc => t.fround(a[0], 4),
        ScalarFn::FCopySign => {
            let m = t.not(sign);
            let magnitude = t.and(a[0], m);
            let s = t.and(a[1], sign);
            t.or(magnitude, s)
        }
        ScalarFn::FMinNum | ScalarFn::FMaxNum => {
            let less = if op == ScalarFn::FMinNum { t.fle(a[0], a[1]) } else { t.fle(a[1], a[0]) };
            let nan_b = t.fisnan(a[1]);
            let first = t.or(less, nan_b);
            t.ite(first, a[0], a[1])
        }
        ScalarFn::IsFpClass => {
            let mask = t.as_const(a[1])?;
            fp_class(t, w, a[0], mask as u32)?
        }
        ScalarFn::Fma => t.ffma(a[0], a[1], a[2]),
        _ => return None,
    })
}

/// Whether the pattern `x` of `w` bits is in one of the classes of `mask`, numbered as in LLVM's `FPClassTest`.
fn fp_class(t: &mut Terms, w: u16, x: TermId, mask: u32) -> Option<TermId> {
    // bits of the exponent and of the fraction; a bit for the integer part stands between them in 80 bits
    let (exponent, fraction) = match w {
        16 => (5, 10),
        32 => (8, 23),
        64 => (11, 52),
        80 => (15, 63),
        128 => (15, 112),
        _ => return None,
    };
    let negative = t.extract(x, w - 1, 1);
    let exponent_bits = t.extract(x, w - 1 - exponent, exponent);
    let fraction_bits = t.extract(x, 0, fraction);
    let quiet = t.extract(x, fraction - 1, 1);
    let (no_exponent, no_fraction) = (t.constant(exponent, 0), t.constant(fraction, 0));
    let full = t.not(no_exponent);
    let (least, most) = (t.eq(exponent_bits, no_exponent), t.eq(exponent_bits, full));
    let whole = t.eq(fraction_bits, no_fraction);
    let (part, positive, loud) = (t.not(whole), t.not(negative), t.not(quiet));
    let (above, below) = (t.not(least), t.not(most));
    let middle = t.and(above, below);
    let classes: [[TermId; 3]; 10] = [
        [most, part, loud],
        [most, part, quiet],
        [most, whole, negative],
        [middle, middle, negative],
        [least, part, negative],
        [least, whole, negative],
        [least, whole, positive],
        [least, part, positive],
        [middle, middle, positive],
        [most, whole, positive],
    ];
    let mut any = Terms::FALSE;
    for (i, [a, b, c]) in classes.into_iter().enumerate() {
        if mask >> i & 1 == 1 {
            let all = t.and(a, b);
            let all = t.and(all, c);
            any = t.or(any, all);
        }
    }
    Some(any)
}
