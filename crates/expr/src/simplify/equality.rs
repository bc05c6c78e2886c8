//! Equality.
//!
//! *Canonical*: what is the same on both sides is gone; against a constant the operators that can be undone are undone;
//! words made of parts are compared part by part, so that independent parts stay independent.

use super::div::{constant_quotient, fits_signed};
use super::{ite, merged};
use crate::term::{Node, Op, TermId, Terms, mask};

pub(crate) fn eq(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    // rule eq-self: x == x → true
    if a == b {
        return Some(Terms::TRUE);
    }
    // rule eq-true: x == 1, one bit → x
    if b == Terms::TRUE {
        return Some(a);
    }
    // rule eq-false: x == 0, one bit → !x
    if b == Terms::FALSE {
        return Some(terms.not(a));
    }
    // rule eq-complement: x == ~x → false
    if terms.is_complement(a, b) {
        return Some(Terms::FALSE);
    }
    // rule eq-range: x == y, disjoint ranges → false
    // rule base-range: β == c, where no object lies → false
    if terms.width(a) <= 64 {
        let ((al, ah), (bl, bh)) = (terms.range(a), terms.range(b));
        if ah < bl || bh < al {
            return Some(Terms::FALSE);
        }
    }
    if terms.is_constant(b) {
        return with_constant(terms, a, b);
    }
    let found = both(terms, a, b).or_else(|| one_side(terms, a, b)).or_else(|| one_side(terms, b, a));
    found.or_else(|| with_chain(terms, a, b))
}

/// `x == y` where neither is a constant and one is a long chain of choices between constants.
fn with_chain(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    match (terms.op(a), terms.op(b)) {
        (Op::Ite, Op::Ite) => None,
        (Op::Ite, _) => merged::compare_chain(terms, a, b, |terms, arm| terms.eq(b, arm)),
        (_, Op::Ite) => merged::compare_chain(terms, b, a, |terms, arm| terms.eq(a, arm)),
        _ => None,
    }
}

/// Conjunction of the equalities of two parts.
fn parts(terms: &mut Terms, high: (TermId, TermId), low: (TermId, TermId)) -> TermId {
    let h = terms.eq(high.0, high.1);
    if h == Terms::FALSE {
        return h;
    }
    let l = terms.eq(low.0, low.1);
    terms.and(h, l)
}

/// `a == c`.
fn with_constant(terms: &mut Terms, a: TermId, c: TermId) -> Option<TermId> {
    // rule eq-ite: ite(d, k, x) == c → d | x == c where k = c, else !d & x == c
    if let Some(t) = ite::chain(terms, Op::Eq, a, c, true) {
        return Some(t);
    }
    let n = terms.node(a);
    let (x, y) = (n.arg_a(), n.arg_b());
    match n.op {
        Op::Add | Op::Sub | Op::Neg | Op::Mul => arithmetic(terms, n, c),
        // rule eq-not: ~x == c → x == ~c
        Op::Not => {
            let k = terms.not(c);
            Some(terms.eq(x, k))
        }
        Op::And | Op::Or | Op::Xor => bitwise(terms, n, c),
        // rule eq-zext: zext(x) == c → x == c, or false where c does not fit
        Op::ZExt => {
            let inner = terms.width(x);
            let k = terms.extract(c, 0, inner);
            if terms.zext(k, n.width) != c {
                return Some(Terms::FALSE);
            }
            Some(terms.eq(x, k))
        }
        // rule eq-sext: sext(x) == c → x == c, or false where c does not fit
        Op::SExt => {
            let inner = terms.width(x);
            match fits_signed(terms, c, inner) {
                Some(k) => Some(terms.eq(x, k)),
                None => Some(Terms::FALSE),
            }
        }
        // rule eq-udiv: x / d == 0 → x < d
        Op::UDiv if terms.is_zero(c) => {
            let (z, d) = constant_quotient(terms, a)?;
            let d = terms.constant(n.width, d);
            Some(terms.ult(z, d))
        }
        // rule eq-concat-constant: (x . y) == (c . d) → x == c & y == d
        Op::Concat => {
            let low = terms.width(y);
            let (h, l) = (terms.extract(c, low, n.width - low), terms.extract(c, 0, low));
            Some(parts(terms, (x, h), (y, l)))
        }
        _ => None,
    }
}

fn arithmetic(terms: &mut Terms, n: Node, c: TermId) -> Option<TermId> {
    let (x, y) = (n.arg_a(), n.arg_b());
    match n.op {
        // rule eq-add-constant: x + c == d → x == d - c
        Op::Add if terms.is_constant(y) => {
            let k = terms.sub(c, y);
            Some(terms.eq(x, k))
        }
        // rule eq-sub-constant: c - x == d → x == c - d
        Op::Sub if terms.is_constant(x) => {
            let k = terms.sub(x, c);
            Some(terms.eq(y, k))
        }
        // rule eq-sub-zero: x - y == 0 → x == y
        Op::Sub if terms.is_zero(c) => Some(terms.eq(x, y)),
        // rule eq-neg: -x == c → x == -c
        Op::Neg => {
            let k = terms.neg(c);
            Some(terms.eq(x, k))
        }
        // rule eq-mul-odd: x * c == d, c odd → x == d / c modulo 2^w
        Op::Mul if n.width <= 64 => {
            let odd = terms.as_const(y).filter(|k| k & 1 == 1)?;
            let value = terms.as_const(c)?;
            let k = terms.constant(n.width, value.wrapping_mul(inverse(odd)) & mask(n.width));
            Some(terms.eq(x, k))
        }
        _ => None,
    }
}

/// The inverse of an odd number modulo 2^64, by Newton's iteration: each step doubles the number of right bits.
fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    for _ in 0..6 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
    }
    x
}

fn bitwise(terms: &mut Terms, n: Node, c: TermId) -> Option<TermId> {
    let (x, y) = (n.arg_a(), n.arg_b());
    if terms.is_constant(y) {
        match n.op {
            // rule eq-xor-constant: x ^ c == d → x == c ^ d
            Op::Xor => {
                let k = terms.xor(y, c);
                return Some(terms.eq(x, k));
            }
            // rule eq-and-constant: x & c == d, d has a bit that c lacks → false
            Op::And if terms.and(y, c) != c => return Some(Terms::FALSE),
            // rule eq-or-constant: x | c == d, d lacks a bit of c → false
            Op::Or if terms.or(y, c) != c => return Some(Terms::FALSE),
            _ => return None,
        }
    }
    let zero = terms.is_zero(c);
    match n.op {
        // rule eq-xor-zero: x ^ y == 0 → x == y
        Op::Xor if zero => Some(terms.eq(x, y)),
        // rule eq-or-zero: x | y == 0 → x == 0 & y == 0
        Op::Or if zero => Some(parts(terms, (x, c), (y, c))),
        // rule eq-and-ones: x & y == -1 → x == -1 & y == -1
        Op::And if terms.is_ones(c) => Some(parts(terms, (x, c), (y, c))),
        _ => None,
    }
}

/// Both sides have the same operator.
fn both(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let (m, n) = (terms.node(a), terms.node(b));
    if m.op != n.op {
        return None;
    }
    let (ma, mb, na, nb) = (m.arg_a(), m.arg_b(), n.arg_a(), n.arg_b());
    match m.op {
        // rule eq-add-common: x + y == x + z → y == z
        // rule eq-base: β + y == β + z → y == z
        Op::Add | Op::Xor if ma == na => Some(terms.eq(mb, nb)),
        Op::Add | Op::Xor if ma == nb => Some(terms.eq(mb, na)),
        Op::Add | Op::Xor if mb == na => Some(terms.eq(ma, nb)),
        // rule eq-xor-common: x ^ y == x ^ z → y == z
        Op::Add | Op::Xor if mb == nb => Some(terms.eq(ma, na)),
        // rule eq-add-constants: x + c == y + d → x + (c - d) == y
        Op::Add if terms.is_constant(mb) && terms.is_constant(nb) => {
            let k = terms.sub(mb, nb);
            let x = terms.add(ma, k);
            Some(terms.eq(x, na))
        }
        // rule eq-sub-common: x - y == x - z → y == z
        Op::Sub if ma == na => Some(terms.eq(mb, nb)),
        // rule eq-sub-common-right: x - z == y - z → x == y
        Op::Sub if mb == nb => Some(terms.eq(ma, na)),
        // rule eq-nots: ~x == ~y → x == y
        // rule eq-negs: -x == -y → x == y
        Op::Not | Op::Neg => Some(terms.eq(ma, na)),
        // rule eq-zexts: zext(x) == zext(y) → x == y on the more bits
        // rule eq-sexts: sext(x) == sext(y) → x == y on the more bits
        Op::ZExt | Op::SExt => {
            let inner = terms.width(ma).max(terms.width(na));
            let (x, y) = if m.op == Op::ZExt {
                (terms.zext(ma, inner), terms.zext(na, inner))
            } else {
                (terms.sext(ma, inner), terms.sext(na, inner))
            };
            Some(terms.eq(x, y))
        }
        // rule eq-concats: (x . y) == (z . u), split alike → x == z & y == u
        Op::Concat if terms.width(mb) == terms.width(nb) => Some(parts(terms, (ma, na), (mb, nb))),
        _ => None,
    }
}

/// Rules of `a == b` that look into `a`.
fn one_side(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let n = terms.node(a);
    let (x, y) = (n.arg_a(), n.arg_b());
    match n.op {
        // rule eq-add-self: x + y == x → y == 0
        Op::Add | Op::Xor if x == b || y == b => {
            let zero = terms.zero(n.width);
            Some(terms.eq(if x == b { y } else { x }, zero))
        }
        // rule eq-sub-self: x - y == x → y == 0
        Op::Sub if x == b => {
            let zero = terms.zero(n.width);
            Some(terms.eq(y, zero))
        }
        // rule eq-not-bit: !x == y, one bit → !(x == y)
        Op::Not if n.width == 1 => Some(terms.ne(x, b)),
        // rule eq-ite-arm: ite(c, x, y) == x → c | y == x
        Op::Ite if y == b => {
            let e = terms.eq(n.arg_c(), b);
            Some(terms.or(x, e))
        }
        // rule eq-ite-arm-else: ite(c, x, y) == y → !c | x == y
        Op::Ite if n.arg_c() == b => {
            let e = terms.eq(y, b);
            Some(terms.implies(x, e))
        }
        // rule eq-concat-zext: (x . y) == zext(z), z within y → x == 0 & y == zext(z)
        Op::Concat => {
            let m = terms.node(b);
            let low = terms.width(y);
            if m.op != Op::ZExt || terms.width(m.arg_a()) > low {
                return None;
            }
            let zero = terms.zero(n.width - low);
            let z = terms.zext(m.arg_a(), low);
            Some(parts(terms, (x, zero), (y, z)))
        }
        _ => None,
    }
}
