//! Shifts. A shift by a constant becomes a concatenation or an extension of an extract.

use crate::bits;
use crate::term::{Op, TermId, Terms};

/// A constant amount, at most the width.
fn amount(terms: &Terms, b: TermId) -> Option<u16> {
    let width = terms.width(b);
    let v = terms.constant_limbs(b)?;
    Some(bits::to_u64(&v).map_or(width, |n| n.min(u64::from(width)) as u16))
}

pub(crate) fn shl(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    // rule shl-of-zero: 0 << x → 0
    if terms.is_zero(a) {
        return Some(a);
    }
    let width = terms.width(a);
    match amount(terms, b)? {
        // rule shl-zero: x << 0 → x
        0 => Some(a),
        // rule shl-out: x << k, k >= width → 0
        k if k >= width => Some(terms.zero(width)),
        k => {
            let n = terms.node(a);
            // rule shl-add-constant: (x + c) << k → (x << k) + (c << k)
            if n.op == Op::Add && terms.is_constant(n.arg_b()) {
                let x = terms.shl(n.arg_a(), b);
                let c = terms.shl(n.arg_b(), b);
                return Some(terms.add(x, c));
            }
            // rule shl-constant: x << k → low(x) . 0
            let low = terms.extract(a, 0, width - k);
            let zero = terms.zero(k);
            Some(terms.concat(low, zero))
        }
    }
}

pub(crate) fn lshr(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    // rule lshr-of-zero: 0 >> x → 0
    if terms.is_zero(a) {
        return Some(a);
    }
    let width = terms.width(a);
    match amount(terms, b)? {
        // rule lshr-zero: x >> 0 → x
        0 => Some(a),
        // rule lshr-out: x >> k, k >= width → 0
        k if k >= width => Some(terms.zero(width)),
        // rule lshr-constant: x >> k → zext(high(x))
        k => {
            let high = terms.extract(a, k, width - k);
            Some(terms.zext(high, width))
        }
    }
}

pub(crate) fn ashr(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    // rule ashr-of-sign: 0 >> x → 0, -1 >> x → -1
    if terms.is_zero(a) || terms.is_ones(a) {
        return Some(a);
    }
    let width = terms.width(a);
    match amount(terms, b)? {
        // rule ashr-zero: x >> 0 → x
        0 => Some(a),
        // rule ashr-constant: x >> k → sext(high(x)), at least the sign bit
        k => {
            let k = k.min(width - 1);
            let high = terms.extract(a, k, width - k);
            Some(terms.sext(high, width))
        }
    }
}
