//! Division and remainder.

use crate::term::{Op, TermId, Terms, mask, sign_extend};

pub(crate) fn udiv(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let width = terms.width(a);
    // rule udiv-one: x / 1 → x
    if terms.is_one(b) {
        return Some(a);
    }
    // rule udiv-zero: x / 0 → -1
    if terms.is_zero(b) {
        return Some(terms.ones(width));
    }
    // rule udiv-power: x / 2^k → x >> k
    if let Some(k) = terms.power_of_two(b) {
        let k = terms.constant(width, u64::from(k));
        return Some(terms.lshr(a, k));
    }
    if !terms.is_constant(b) {
        return None;
    }
    // rule udiv-small: x / c, x < c → 0
    if width <= 64 && terms.as_const(b).is_some_and(|c| terms.range(a).1 < c) {
        return Some(terms.zero(width));
    }
    let n = terms.node(a);
    // rule udiv-zext: zext(x) / c → zext(x / c), or 0 where c does not fit
    if n.op == Op::ZExt {
        let inner = terms.width(n.arg_a());
        if terms.active_bits(b) > inner {
            return Some(terms.zero(width));
        }
        let c = terms.extract(b, 0, inner);
        let q = terms.udiv(n.arg_a(), c);
        return Some(terms.zext(q, width));
    }
    // rule udiv-udiv: (x / c) / d → x / (c * d), or 0 where the product does not fit
    if let (Some((x, c)), Some(d)) = (constant_quotient(terms, a), terms.as_const(b)) {
        return Some(match product(c, d, width) {
            Some(k) => {
                let k = terms.constant(width, k);
                terms.udiv(x, k)
            }
            None => terms.zero(width),
        });
    }
    None
}

/// `x` and `c` of `x / c`, where `c` is not 0 and has at most 64 bits. Numbers are written digit by digit with such
/// quotients.
pub(super) fn constant_quotient(terms: &Terms, t: TermId) -> Option<(TermId, u64)> {
    let n = terms.node(t);
    if n.op != Op::UDiv || n.width > 64 {
        return None;
    }
    terms.as_const(n.arg_b()).filter(|c| *c != 0).map(|c| (n.arg_a(), c))
}

/// If it fits.
pub(super) fn product(a: u64, b: u64, width: u16) -> Option<u64> {
    a.checked_mul(b).filter(|p| *p <= mask(width))
}

pub(crate) fn urem(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let width = terms.width(a);
    // rule urem-trivial: x % 1 → 0, x % x → 0, 0 % x → 0
    if terms.is_one(b) || a == b || terms.is_zero(a) {
        return Some(terms.zero(width));
    }
    // rule urem-zero: x % 0 → x
    if terms.is_zero(b) {
        return Some(a);
    }
    // rule urem-power: x % 2^k → zext(low(x))
    if let Some(k) = terms.power_of_two(b) {
        let low = terms.extract(a, 0, k);
        return Some(terms.zext(low, width));
    }
    // rule urem-small: x % c, x < c → x
    if width <= 64 && terms.as_const(b).is_some_and(|c| terms.range(a).1 < c) {
        return Some(a);
    }
    let (n, m) = (terms.node(a), terms.node(b));
    // rule urem-urem: (x % c) % d → x % d, d divides c
    if n.op == Op::URem
        && let (Some(c), Some(d)) = (terms.as_const(n.arg_b()), terms.as_const(b))
        && c.is_multiple_of(d)
    {
        return Some(terms.urem(n.arg_a(), b));
    }
    if n.op == Op::ZExt {
        let inner = terms.width(n.arg_a());
        // rule urem-zext: zext(x) % c → zext(x % c), or the left side where c does not fit
        if terms.is_constant(b) {
            if terms.active_bits(b) > inner {
                return Some(a);
            }
            let c = terms.extract(b, 0, inner);
            let r = terms.urem(n.arg_a(), c);
            return Some(terms.zext(r, width));
        }
        // rule urem-zext-both: zext(x) % zext(y) → zext(x % y)
        if m.op == Op::ZExt && terms.width(m.arg_a()) == inner {
            let r = terms.urem(n.arg_a(), m.arg_a());
            return Some(terms.zext(r, width));
        }
    }
    None
}

/// `c` cut to `inner` bits if sign extension brings it back.
pub(super) fn fits_signed(terms: &mut Terms, c: TermId, inner: u16) -> Option<TermId> {
    let width = terms.width(c);
    if let Some(v) = terms.as_const(c) {
        let kept = sign_extend(v & mask(inner), inner) as u64 & mask(width);
        return if kept == v { Some(terms.constant(inner, v)) } else { None };
    }
    let cut = terms.extract(c, 0, inner);
    if terms.sext(cut, width) == c { Some(cut) } else { None }
}

pub(crate) fn sdiv(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let width = terms.width(a);
    if width > 1 {
        // rule sdiv-one: x / 1 → x
        if terms.is_one(b) {
            return Some(a);
        }
        // rule sdiv-minus-one: x / -1 → -x
        if terms.is_ones(b) {
            return Some(terms.neg(a));
        }
    }
    // rule sdiv-nonnegative: x / y, both with sign 0 → x / y unsigned
    if terms.is_nonnegative(a) && terms.is_nonnegative(b) {
        return Some(terms.udiv(a, b));
    }
    let n = terms.node(a);
    // rule sdiv-sext: sext(x) / c → sext(x / c), c fits and is not 0 or -1
    if n.op == Op::SExt && terms.is_constant(b) && !terms.is_zero(b) {
        let inner = terms.width(n.arg_a());
        let c = fits_signed(terms, b, inner)?;
        let q = terms.sdiv(n.arg_a(), c);
        return Some(terms.sext(q, width));
    }
    None
}

pub(crate) fn srem(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let width = terms.width(a);
    // rule srem-trivial: x % 1 → 0, x % -1 → 0, x % x → 0, 0 % x → 0
    if terms.is_one(b) || terms.is_ones(b) || a == b || terms.is_zero(a) {
        return Some(terms.zero(width));
    }
    // rule srem-zero: x % 0 → x
    if terms.is_zero(b) {
        return Some(a);
    }
    // rule srem-nonnegative: x % y, both with sign 0 → x % y unsigned
    if terms.is_nonnegative(a) && terms.is_nonnegative(b) {
        return Some(terms.urem(a, b));
    }
    let n = terms.node(a);
    // rule srem-sext: sext(x) % c → sext(x % c), c fits
    if n.op == Op::SExt && terms.is_constant(b) {
        let inner = terms.width(n.arg_a());
        let c = fits_signed(terms, b, inner)?;
        let r = terms.srem(n.arg_a(), c);
        return Some(terms.sext(r, width));
    }
    None
}
