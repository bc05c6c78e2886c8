//! Not, and, or, exclusive or, on words; what holds of conditions only is in `condition`.
//!
//! *Canonical*: a constant stands outermost; masks of one run of ones are extracts; words put together from parts by
//! shifting and or-ing are concatenations.

use super::condition;
use crate::term::{Op, TermId, Terms};

pub(crate) fn not(terms: &mut Terms, a: TermId) -> Option<TermId> {
    let n = terms.node(a);
    let (x, y) = (n.arg_a(), n.arg_b());
    match n.op {
        // rule not-not: ~~x → x
        Op::Not => Some(x),
        // rule not-ult: !(x < y) → y <= x
        Op::Ult => Some(terms.ule(y, x)),
        // rule not-ule: !(x <= y) → y < x
        Op::Ule => Some(terms.ult(y, x)),
        // rule not-slt: !(x <s y) → y <=s x
        Op::Slt => Some(terms.sle(y, x)),
        // rule not-sle: !(x <=s y) → y <s x
        Op::Sle => Some(terms.slt(y, x)),
        // rule not-neg: ~(-x) → x + -1
        Op::Neg => {
            let ones = terms.ones(n.width);
            Some(terms.add(x, ones))
        }
        // rule not-add-constant: ~(x + c) → ~c - x
        Op::Add if terms.is_constant(y) => {
            let c = terms.not(y);
            Some(terms.sub(c, x))
        }
        // rule not-sub-constant: ~(c - x) → x + ~c
        Op::Sub if terms.is_constant(x) => {
            let c = terms.not(x);
            Some(terms.add(y, c))
        }
        // rule not-xor-constant: ~(x ^ c) → x ^ ~c
        Op::Xor if terms.is_constant(y) => {
            let c = terms.not(y);
            Some(terms.xor(x, c))
        }
        _ => None,
    }
}

pub(crate) fn and(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    // rule and-same: x & x → x
    // rule and-ones: x & -1 → x
    if a == b || terms.is_ones(b) {
        return Some(a);
    }
    // rule and-zero: x & 0 → 0
    if terms.is_zero(b) {
        return Some(b);
    }
    // rule and-complement: x & ~x → 0
    if terms.is_complement(a, b) {
        return Some(terms.zero(terms.width(a)));
    }
    if terms.width(a) == 1
        && let Some(t) = condition::and(terms, a, b)
    {
        return Some(t);
    }
    if terms.is_constant(b) {
        return constants(terms, Op::And, a, b).or_else(|| mask(terms, a, b)).or_else(|| parts(terms, Op::And, a, b));
    }
    absorb(terms, Op::And, a, b)
        .or_else(|| absorb(terms, Op::And, b, a))
        .or_else(|| constant_out(terms, Op::And, a, b))
        .or_else(|| constant_out(terms, Op::And, b, a))
        .or_else(|| zexts(terms, Op::And, a, b))
}

pub(crate) fn or(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    // rule or-same: x | x → x
    // rule or-zero: x | 0 → x
    if a == b || terms.is_zero(b) {
        return Some(a);
    }
    // rule or-ones: x | -1 → -1
    if terms.is_ones(b) {
        return Some(b);
    }
    // rule or-complement: x | ~x → -1
    if terms.is_complement(a, b) {
        return Some(terms.ones(terms.width(a)));
    }
    if terms.width(a) == 1
        && let Some(t) = condition::or(terms, a, b)
    {
        return Some(t);
    }
    if terms.is_constant(b) {
        return constants(terms, Op::Or, a, b).or_else(|| parts(terms, Op::Or, a, b));
    }
    absorb(terms, Op::Or, a, b)
        .or_else(|| absorb(terms, Op::Or, b, a))
        .or_else(|| constant_out(terms, Op::Or, a, b))
        .or_else(|| constant_out(terms, Op::Or, b, a))
        // rule or-disjoint: (x . 0) | zext(y), y as wide as the zeros → x . y
        .or_else(|| disjoint(terms, a, b))
        .or_else(|| zexts(terms, Op::Or, a, b))
}

pub(crate) fn xor(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let width = terms.width(a);
    // rule xor-same: x ^ x → 0
    if a == b {
        return Some(terms.zero(width));
    }
    // rule xor-zero: x ^ 0 → x
    if terms.is_zero(b) {
        return Some(a);
    }
    // rule xor-ones: x ^ -1 → ~x
    if terms.is_ones(b) {
        return Some(terms.not(a));
    }
    // rule xor-complement: x ^ ~x → -1
    if terms.is_complement(a, b) {
        return Some(terms.ones(width));
    }
    // rule xor-bit: x ^ y, one bit → !(x == y)
    if width == 1 {
        return Some(terms.ne(a, b));
    }
    if terms.is_constant(b) {
        return constants(terms, Op::Xor, a, b).or_else(|| parts(terms, Op::Xor, a, b));
    }
    xor_one_side(terms, a, b)
        .or_else(|| xor_one_side(terms, b, a))
        .or_else(|| constant_out(terms, Op::Xor, a, b))
        .or_else(|| constant_out(terms, Op::Xor, b, a))
        // rule xor-disjoint: (x . 0) ^ zext(y), y as wide as the zeros → x . y
        .or_else(|| disjoint(terms, a, b))
        .or_else(|| zexts(terms, Op::Xor, a, b))
}

fn xor_one_side(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let n = terms.node(a);
    match n.op {
        // rule xor-not: ~x ^ y → ~(x ^ y)
        Op::Not => {
            let x = terms.xor(n.arg_a(), b);
            Some(terms.not(x))
        }
        // rule xor-cancel: (x ^ y) ^ x → y
        Op::Xor if n.arg_a() == b => Some(n.arg_b()),
        Op::Xor if n.arg_b() == b => Some(n.arg_a()),
        _ => None,
    }
}

fn apply(terms: &mut Terms, op: Op, a: TermId, b: TermId) -> TermId {
    match op {
        Op::And => terms.and(a, b),
        Op::Or => terms.or(a, b),
        _ => terms.xor(a, b),
    }
}

/// `a op c` where `a` has a constant.
fn constants(terms: &mut Terms, op: Op, a: TermId, c: TermId) -> Option<TermId> {
    let n = terms.node(a);
    if n.op == op && terms.is_constant(n.arg_b()) {
        // rule and-constants: (x & c) & d → x & (c & d)
        // rule or-constants: (x | c) | d → x | (c | d)
        // rule xor-constants: (x ^ c) ^ d → x ^ (c ^ d)
        let k = apply(terms, op, n.arg_b(), c);
        return Some(apply(terms, op, n.arg_a(), k));
    }
    // rule xor-not-constant: ~x ^ c → x ^ ~c
    if op == Op::Xor && n.op == Op::Not {
        let k = terms.not(c);
        return Some(terms.xor(n.arg_a(), k));
    }
    None
}

fn constant_out(terms: &mut Terms, op: Op, a: TermId, b: TermId) -> Option<TermId> {
    let n = terms.node(a);
    if n.op == op && terms.is_constant(n.arg_b()) {
        // rule and-constant-out: (x & c) & y → (x & y) & c
        // rule or-constant-out: (x | c) | y → (x | y) | c
        // rule xor-constant-out: (x ^ c) ^ y → (x ^ y) ^ c
        let x = apply(terms, op, n.arg_a(), b);
        return Some(apply(terms, op, x, n.arg_b()));
    }
    None
}

/// `x & mask` with one run of ones.
fn mask(terms: &mut Terms, a: TermId, c: TermId) -> Option<TermId> {
    let (lo, hi) = terms.run_of_ones(c)?;
    // rule and-mask: x & (ones in i..j) → zext(x[i..j] . 0)
    let width = terms.width(a);
    let mut t = terms.extract(a, lo, hi - lo);
    if lo > 0 {
        let zero = terms.zero(lo);
        t = terms.concat(t, zero);
    }
    Some(terms.zext(t, width))
}

/// `x op c` part by part, where `x` is made of parts and the constant leaves one of them simple.
fn parts(terms: &mut Terms, op: Op, a: TermId, c: TermId) -> Option<TermId> {
    let n = terms.node(a);
    let split = match n.op {
        Op::Concat => terms.width(n.arg_b()),
        Op::ZExt => terms.width(n.arg_a()),
        _ => return None,
    };
    let (high, low) = (terms.extract(c, split, n.width - split), terms.extract(c, 0, split));
    if n.op == Op::ZExt {
        // rule and-zext-constant: zext(x) & c → zext(x & low(c))
        // rule or-zext-constant: zext(x) | c → high(c) . (x | low(c))
        // rule xor-zext-constant: zext(x) ^ c → high(c) . (x ^ low(c))
        let x = apply(terms, op, n.arg_a(), low);
        return Some(if op == Op::And { terms.zext(x, n.width) } else { terms.concat(high, x) });
    }
    let simple = |t: TermId| terms.is_zero(t) || terms.is_ones(t);
    let constant = terms.is_constant(n.arg_a()) || terms.is_constant(n.arg_b());
    if !(simple(high) || simple(low) || constant) {
        return None;
    }
    // rule and-concat-constant: (x . y) & c → (x & high(c)) . (y & low(c)), one part trivial
    // rule or-concat-constant: (x . y) | c → (x | high(c)) . (y | low(c)), one part trivial
    // rule xor-concat-constant: (x . y) ^ c → (x ^ high(c)) . (y ^ low(c)), one part trivial
    let x = apply(terms, op, n.arg_a(), high);
    let y = apply(terms, op, n.arg_b(), low);
    Some(terms.concat(x, y))
}

/// `x op y`, `y` of the dual operator or of the same one, mentioning `x`.
fn absorb(terms: &mut Terms, op: Op, x: TermId, y: TermId) -> Option<TermId> {
    let n = terms.node(y);
    if n.op != Op::And && n.op != Op::Or {
        return None;
    }
    let (p, q) = (n.arg_a(), n.arg_b());
    if p == x || q == x {
        // rule and-absorb: x & (x | y) → x
        // rule or-absorb: x | (x & y) → x
        // rule and-again: x & (x & y) → x & y
        // rule or-again: x | (x | y) → x | y
        return Some(if n.op == op { y } else { x });
    }
    let rest = if terms.is_complement(x, p) {
        q
    } else if terms.is_complement(x, q) {
        p
    } else {
        return None;
    };
    if n.op != op {
        // rule and-absorb-complement: x & (~x | y) → x & y
        // rule or-absorb-complement: x | (~x & y) → x | y
        return Some(apply(terms, op, x, rest));
    }
    // rule and-again-complement: x & (~x & y) → 0
    // rule or-again-complement: x | (~x | y) → -1
    let width = terms.width(x);
    Some(if op == Op::And { terms.zero(width) } else { terms.ones(width) })
}

/// `x op y` of two zero extensions: the operator on the narrower words.
fn zexts(terms: &mut Terms, op: Op, a: TermId, b: TermId) -> Option<TermId> {
    let (m, n) = (terms.node(a), terms.node(b));
    if m.op != Op::ZExt || n.op != Op::ZExt {
        return None;
    }
    let (wa, wb) = (terms.width(m.arg_a()), terms.width(n.arg_a()));
    // rule and-zexts: zext(x) & zext(y) → zext(x & y) on the fewer bits
    // rule or-zexts: zext(x) | zext(y) → zext(x | y) on the more bits
    // rule xor-zexts: zext(x) ^ zext(y) → zext(x ^ y) on the more bits
    let inner = if op == Op::And { wa.min(wb) } else { wa.max(wb) };
    let x = terms.resize_unsigned(m.arg_a(), inner);
    let y = terms.resize_unsigned(n.arg_a(), inner);
    let t = apply(terms, op, x, y);
    Some(terms.zext(t, m.width))
}

/// The concatenation that a sum (or, exclusive or) of terms without a common bit is: one has as many low zeros as the
/// other has bits.
pub(super) fn disjoint(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let width = terms.width(a);
    let (high, low, split) = {
        let (za, zb) = (terms.trailing_zeros(a), terms.trailing_zeros(b));
        if za > 0 && terms.active_bits(b) <= za {
            (a, b, terms.active_bits(b))
        } else if zb > 0 && terms.active_bits(a) <= zb {
            (b, a, terms.active_bits(a))
        } else {
            return None;
        }
    };
    if split == 0 || split >= width {
        return None;
    }
    let h = terms.extract(high, split, width - split);
    let l = terms.extract(low, 0, split);
    Some(terms.concat(h, l))
}
