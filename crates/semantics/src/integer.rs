//! Integer operators: on concrete values of at most 64 bits, and on terms.

use pleach_expr::{TermId, Terms, mask, sign_extend};
use pleach_ir::{BinOp, CmpOp};

/// `a op b` on `width` ≤ 64 bits; `None` where the operation is an error (division by zero, too wide a shift) or has
/// none.
#[inline(always)]
pub fn concrete(op: BinOp, width: u16, a: u64, b: u64) -> Option<u64> {
    let m = mask(width);
    Some(match op {
        BinOp::Add => a.wrapping_add(b) & m,
        BinOp::Sub => a.wrapping_sub(b) & m,
        BinOp::Mul => a.wrapping_mul(b) & m,
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Shl if b < u64::from(width) => (a << b) & m,
        BinOp::LShr if b < u64::from(width) => a >> b,
        BinOp::AShr if b < u64::from(width) => (sign_extend(a, width) >> b) as u64 & m,
        BinOp::UDiv if b != 0 => a / b,
        BinOp::URem if b != 0 => a % b,
        BinOp::SDiv if b != 0 && !(b == m && a == 1 << (width - 1)) => {
            sign_extend(a, width).wrapping_div(sign_extend(b, width)) as u64 & m
        }
        BinOp::SRem if b != 0 && !(b == m && a == 1 << (width - 1)) => {
            sign_extend(a, width).wrapping_rem(sign_extend(b, width)) as u64 & m
        }
        _ => return None,
    })
}

#[inline(always)]
pub fn compare(op: CmpOp, width: u16, a: u64, b: u64) -> bool {
    match op {
        CmpOp::Eq => a == b,
        CmpOp::Ne => a != b,
        CmpOp::Ult => a < b,
        CmpOp::Ule => a <= b,
        CmpOp::Ugt => a > b,
        CmpOp::Uge => a >= b,
        CmpOp::Slt => sign_extend(a, width) < sign_extend(b, width),
        CmpOp::Sle => sign_extend(a, width) <= sign_extend(b, width),
        CmpOp::Sgt => sign_extend(a, width) > sign_extend(b, width),
        CmpOp::Sge => sign_extend(a, width) >= sign_extend(b, width),
    }
}

pub fn bin_term(terms: &mut Terms, op: BinOp, a: TermId, b: TermId) -> TermId {
    match op {
        BinOp::Add => terms.add(a, b),
        BinOp::Sub => terms.sub(a, b),
        BinOp::Mul => terms.mul(a, b),
        BinOp::UDiv => terms.udiv(a, b),
        BinOp::SDiv => terms.sdiv(a, b),
        BinOp::URem => terms.urem(a, b),
        BinOp::SRem => terms.srem(a, b),
        BinOp::Shl => terms.shl(a, b),
        BinOp::LShr => terms.lshr(a, b),
        BinOp::AShr => terms.ashr(a, b),
        BinOp::And => terms.and(a, b),
        BinOp::Or => terms.or(a, b),
        BinOp::Xor => terms.xor(a, b),
    }
}

pub fn cmp_term(terms: &mut Terms, op: CmpOp, a: TermId, b: TermId) -> TermId {
    match op {
        CmpOp::Eq => terms.eq(a, b),
        CmpOp::Ne => terms.ne(a, b),
        CmpOp::Ult => terms.ult(a, b),
        CmpOp::Ule => terms.ule(a, b),
        CmpOp::Ugt => terms.ult(b, a),
        CmpOp::Uge => terms.ule(b, a),
        CmpOp::Slt => terms.slt(a, b),
        CmpOp::Sle => terms.sle(a, b),
        CmpOp::Sgt => terms.slt(b, a),
        CmpOp::Sge => terms.sle(b, a),
    }
}

/// The condition under which `a op b` overflows as signed (`signed`) or unsigned arithmetic.
pub fn overflow_term(terms: &mut Terms, op: BinOp, signed: bool, a: TermId, b: TermId) -> TermId {
    let w = terms.width(a);
    let wide = match op {
        BinOp::Mul => w * 2,
        _ => w + 1,
    };
    let (xa, xb) =
        if signed { (terms.sext(a, wide), terms.sext(b, wide)) } else { (terms.zext(a, wide), terms.zext(b, wide)) };
    let exact = bin_term(terms, op, xa, xb);
    let cut = terms.extract(exact, 0, w);
    let back = if signed { terms.sext(cut, wide) } else { terms.zext(cut, wide) };
    terms.ne(exact, back)
}

/// The smallest signed number of a width.
pub fn signed_min(terms: &mut Terms, width: u16) -> TermId {
    if width <= 64 {
        terms.constant(width, 1u64 << (width - 1))
    } else {
        let mut limbs = vec![0u64; usize::from(width).div_ceil(64)];
        limbs[usize::from(width - 1) / 64] = 1 << ((width - 1) % 64);
        terms.wide_constant(width, &limbs)
    }
}
