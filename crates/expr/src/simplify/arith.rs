//! Addition, subtraction, negation.
//!
//! *Canonical*: a base stands outermost on the left (`β + offset`), else a constant outermost on the right; so pointers
//! into one object cancel, and constant steps of an induction variable add up.

use crate::term::{Op, TermId, Terms};

pub(crate) fn neg(terms: &mut Terms, a: TermId) -> Option<TermId> {
    let n = terms.node(a);
    let (x, y) = (n.arg_a(), n.arg_b());
    match n.op {
        // rule neg-bit: -x, one bit → x
        _ if n.width == 1 => Some(a),
        // rule neg-neg: -(-x) → x
        Op::Neg => Some(x),
        // rule neg-sub: -(x - y) → y - x
        Op::Sub => Some(terms.sub(y, x)),
        // rule neg-not: -(~x) → x + 1
        Op::Not => {
            let one = terms.one(n.width);
            Some(terms.add(x, one))
        }
        // rule neg-add-constant: -(x + c) → (-c) - x
        Op::Add if terms.is_constant(y) => {
            let c = terms.neg(y);
            Some(terms.sub(c, x))
        }
        // rule neg-mul-constant: -(x * c) → x * (-c)
        Op::Mul if terms.is_constant(y) => {
            let c = terms.neg(y);
            Some(terms.mul(x, c))
        }
        _ => None,
    }
}

/// `x` and `c` of `x + c` that is not a pointer.
fn plus_constant(terms: &Terms, t: TermId) -> Option<(TermId, TermId)> {
    let n = terms.node(t);
    if n.op == Op::Add && terms.is_constant(n.arg_b()) { Some((n.arg_a(), n.arg_b())) } else { None }
}

pub(crate) fn add(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    // rule add-zero: x + 0 → x
    if terms.is_zero(b) {
        return Some(a);
    }
    // rule add-bit: x + y, one bit → x ^ y
    if terms.width(a) == 1 {
        return Some(terms.xor(a, b));
    }
    if let Some(t) = add_base(terms, a, b) {
        return Some(t);
    }
    if terms.is_constant(b) {
        let n = terms.node(a);
        match n.op {
            // rule add-constants: (x + c) + d → x + (c + d)
            Op::Add if terms.is_constant(n.arg_b()) => {
                let c = terms.add(n.arg_b(), b);
                return Some(terms.add(n.arg_a(), c));
            }
            // rule add-sub-constant: (c - x) + d → (c + d) - x
            Op::Sub if terms.is_constant(n.arg_a()) => {
                let c = terms.add(n.arg_a(), b);
                return Some(terms.sub(c, n.arg_b()));
            }
            // rule add-not-constant: ~x + c → (c - 1) - x
            Op::Not => {
                let ones = terms.ones(n.width);
                let c = terms.add(b, ones);
                return Some(terms.sub(c, n.arg_a()));
            }
            _ => return None,
        }
    }
    // rule add-self: x + x → x * 2
    if a == b {
        let two = terms.constant(terms.width(a), 2);
        return Some(terms.mul(a, two));
    }
    // rule add-complement: x + ~x → -1
    if terms.is_complement(a, b) {
        return Some(terms.ones(terms.width(a)));
    }
    if let Some(t) = super::bitwise::disjoint(terms, a, b) {
        // rule add-disjoint: (x . 0) + zext(y), y as wide as the zeros → x . y
        return Some(t);
    }
    add_one_side(terms, a, b).or_else(|| add_one_side(terms, b, a))
}

/// Rules of `a + b` that look into `a`.
fn add_one_side(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    // rule add-constant-out: (x + c) + y → (x + y) + c
    if let Some((x, c)) = plus_constant(terms, a) {
        let s = terms.add(x, b);
        return Some(terms.add(s, c));
    }
    let n = terms.node(a);
    match n.op {
        // rule add-neg: (-x) + y → y - x
        Op::Neg => Some(terms.sub(b, n.arg_a())),
        // rule add-cancel: (x - y) + y → x
        Op::Sub if n.arg_b() == b => Some(n.arg_a()),
        _ => None,
    }
}

/// Sums with a base. The result is interned at once: this is the canonical form, whatever the ids say.
fn add_base(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let (base, offset, rest) = match (terms.base_and_offset(a), terms.base_and_offset(b)) {
        (None, None) => return None,
        (Some((x, offset)), None) => (x, offset, b),
        (None, Some((y, offset))) => (y, offset, a),
        (Some((x, offset)), Some((y, _))) if x <= y => (x, offset, b),
        (Some(_), Some((y, offset))) => (y, offset, a),
    };
    // rule add-base: (β + x) + y → β + (x + y)
    let offset = match offset {
        None => rest,
        Some(o) => terms.add(o, rest),
    };
    if terms.is_zero(offset) {
        return Some(base);
    }
    Some(terms.intern(Op::Add, terms.width(base), base.0, offset.0, 0))
}

pub(crate) fn sub(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let width = terms.width(a);
    // rule sub-self: x - x → 0
    if a == b {
        return Some(terms.zero(width));
    }
    // rule sub-constant: x - c → x + (-c)
    if terms.is_constant(b) {
        let n = terms.neg(b);
        return Some(terms.add(a, n));
    }
    // rule sub-bit: x - y, one bit → x ^ y
    if width == 1 {
        return Some(terms.xor(a, b));
    }
    // rule sub-zero: 0 - x → -x
    if terms.is_zero(a) {
        return Some(terms.neg(b));
    }
    // rule sub-ones: -1 - x → ~x
    if terms.is_ones(a) {
        return Some(terms.not(b));
    }
    sub_base(terms, a, b).or_else(|| sub_cancel(terms, a, b)).or_else(|| sub_constants(terms, a, b))
}

fn sub_base(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let (base, x) = terms.base_and_offset(a)?;
    let width = terms.width(a);
    match terms.base_and_offset(b) {
        // rule sub-base: (β + x) - (β + y) → x - y
        Some((other, y)) if other == base => {
            let zero = terms.zero(width);
            Some(terms.sub(x.unwrap_or(zero), y.unwrap_or(zero)))
        }
        Some(_) => None,
        // rule sub-from-base: (β + x) - y → β + (x - y)
        None => {
            let offset = match x {
                Some(x) => terms.sub(x, b),
                None => terms.neg(b),
            };
            Some(terms.add(base, offset))
        }
    }
}

/// What stands on both sides goes away.
fn sub_cancel(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let (m, n) = (terms.node(a), terms.node(b));
    let (ma, mb, na, nb) = (m.arg_a(), m.arg_b(), n.arg_a(), n.arg_b());
    match (m.op, n.op) {
        // rule sub-add-left: (x + y) - x → y
        (Op::Add, _) if ma == b => Some(mb),
        (Op::Add, _) if mb == b => Some(ma),
        // rule sub-sub-left: (x - y) - x → -y
        (Op::Sub, _) if ma == b => Some(terms.neg(mb)),
        // rule sub-add-right: x - (x + y) → -y
        (_, Op::Add) if na == a => Some(terms.neg(nb)),
        (_, Op::Add) if nb == a => Some(terms.neg(na)),
        // rule sub-sub-right: x - (x - y) → y
        (_, Op::Sub) if na == a => Some(nb),
        // rule sub-common: (x + y) - (x + z) → y - z
        (Op::Add, Op::Add) if ma == na => Some(terms.sub(mb, nb)),
        (Op::Add, Op::Add) if ma == nb => Some(terms.sub(mb, na)),
        (Op::Add, Op::Add) if mb == na => Some(terms.sub(ma, nb)),
        (Op::Add, Op::Add) if mb == nb => Some(terms.sub(ma, na)),
        // rule sub-neg: x - (-y) → x + y
        (_, Op::Neg) => Some(terms.add(a, na)),
        _ => None,
    }
}

/// Constants move out.
fn sub_constants(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    // rule sub-constant-out: (x + c) - y → (x - y) + c
    if let Some((x, c)) = plus_constant(terms, a) {
        let s = terms.sub(x, b);
        return Some(terms.add(s, c));
    }
    // rule sub-constant-out-right: x - (y + c) → (x - y) + (-c)
    if let Some((y, c)) = plus_constant(terms, b) {
        let s = terms.sub(a, y);
        let c = terms.neg(c);
        return Some(terms.add(s, c));
    }
    let (m, n) = (terms.node(a), terms.node(b));
    // rule sub-constant-sub: x - (c - y) → (x + y) + (-c)
    if n.op == Op::Sub && terms.is_constant(n.arg_a()) {
        let s = terms.add(a, n.arg_b());
        let c = terms.neg(n.arg_a());
        return Some(terms.add(s, c));
    }
    // rule sub-not-constant: c - ~x → x + (c + 1)
    if n.op == Op::Not && terms.is_constant(a) {
        let one = terms.one(n.width);
        let c = terms.add(a, one);
        return Some(terms.add(n.arg_a(), c));
    }
    // rule sub-sub-constant: (c - x) - y → c - (x + y)
    if m.op == Op::Sub && terms.is_constant(m.arg_a()) {
        let s = terms.add(m.arg_b(), b);
        return Some(terms.sub(m.arg_a(), s));
    }
    None
}
