//! Multiplication.

use crate::term::{Op, TermId, Terms};

pub(crate) fn mul(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    // rule mul-zero: x * 0 → 0
    if terms.is_zero(b) {
        return Some(b);
    }
    // rule mul-one: x * 1 → x
    if terms.is_one(b) {
        return Some(a);
    }
    let width = terms.width(a);
    // rule mul-bit: x * y, one bit → x & y
    if width == 1 {
        return Some(terms.and(a, b));
    }
    if terms.is_constant(b) {
        // rule mul-minus-one: x * -1 → -x
        if terms.is_ones(b) {
            return Some(terms.neg(a));
        }
        // rule mul-power: x * 2^k → x << k
        if let Some(k) = terms.power_of_two(b) {
            let k = terms.constant(width, u64::from(k));
            return Some(terms.shl(a, k));
        }
        let n = terms.node(a);
        match n.op {
            // rule mul-constants: (x * c) * d → x * (c * d)
            Op::Mul if terms.is_constant(n.arg_b()) => {
                let c = terms.mul(n.arg_b(), b);
                return Some(terms.mul(n.arg_a(), c));
            }
            // rule mul-add-constant: (x + c) * d → x * d + c * d
            Op::Add if terms.is_constant(n.arg_b()) => {
                let c = terms.mul(n.arg_b(), b);
                let x = terms.mul(n.arg_a(), b);
                return Some(terms.add(x, c));
            }
            // rule mul-neg-constant: (-x) * c → x * (-c)
            Op::Neg => {
                let c = terms.neg(b);
                return Some(terms.mul(n.arg_a(), c));
            }
            _ => return None,
        }
    }
    mul_one_side(terms, a, b).or_else(|| mul_one_side(terms, b, a))
}

fn mul_one_side(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let n = terms.node(a);
    match n.op {
        // rule mul-constant-out: (x * c) * y → (x * y) * c
        Op::Mul if terms.is_constant(n.arg_b()) => {
            let p = terms.mul(n.arg_a(), b);
            Some(terms.mul(p, n.arg_b()))
        }
        // rule mul-neg: (-x) * y → -(x * y)
        Op::Neg => {
            let p = terms.mul(n.arg_a(), b);
            Some(terms.neg(p))
        }
        // rule mul-choice: zext(c) * y, c one bit → ite(c, y, 0)
        Op::ZExt if terms.width(n.arg_a()) == 1 => {
            let zero = terms.zero(n.width);
            Some(terms.ite(n.arg_a(), b, zero))
        }
        _ => None,
    }
}
