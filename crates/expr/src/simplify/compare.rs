//! Order, unsigned and signed.
//!
//! *Canonical*: with a constant only the strict order is used; extensions are compared without the extending bits; the
//! signed order of terms with sign 0 is the unsigned one.

use super::div::{constant_quotient, fits_signed, product};
use super::{ite, merged};
use crate::term::{Node, Op, TermId, Terms, mask};

pub(crate) fn ult(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    less(terms, false, a, b)
}
pub(crate) fn slt(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    less(terms, true, a, b)
}
pub(crate) fn ule(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    less_equal(terms, false, a, b)
}
pub(crate) fn sle(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    less_equal(terms, true, a, b)
}

fn lt(terms: &mut Terms, signed: bool, a: TermId, b: TermId) -> TermId {
    if signed { terms.slt(a, b) } else { terms.ult(a, b) }
}
fn le(terms: &mut Terms, signed: bool, a: TermId, b: TermId) -> TermId {
    if signed { terms.sle(a, b) } else { terms.ule(a, b) }
}
fn least(terms: &mut Terms, signed: bool, width: u16) -> TermId {
    if signed { terms.signed_min(width) } else { terms.zero(width) }
}
fn greatest(terms: &mut Terms, signed: bool, width: u16) -> TermId {
    let l = least(terms, signed, width);
    terms.not(l)
}

/// Where a constant stands in the order of its width (at least two bits).
enum CommonPart {
    Least,
    SecondLeast,
    Inside,
    SecondGreatest,
    Greatest,
}

fn place(terms: &mut Terms, signed: bool, c: TermId) -> CommonPart {
    let width = terms.width(c);
    if let Some(v) = terms.as_const(c) {
        // the signed order is the unsigned one with the sign bit turned
        let v = if signed { v ^ 1 << (width - 1) } else { v };
        return match v {
            0 => CommonPart::Least,
            v if v == mask(width) => CommonPart::Greatest,
            1 => CommonPart::SecondLeast,
            v if v + 1 == mask(width) => CommonPart::SecondGreatest,
            _ => CommonPart::Inside,
        };
    }
    let (low, high, one) = (least(terms, signed, width), greatest(terms, signed, width), terms.one(width));
    if c == low {
        CommonPart::Least
    } else if c == high {
        CommonPart::Greatest
    } else if terms.sub(c, one) == low {
        CommonPart::SecondLeast
    } else if terms.add(c, one) == high {
        CommonPart::SecondGreatest
    } else {
        CommonPart::Inside
    }
}

fn less(terms: &mut Terms, signed: bool, a: TermId, b: TermId) -> Option<TermId> {
    // rule ult-self: x < x → false
    // rule slt-self: x <s x → false
    if a == b {
        return Some(Terms::FALSE);
    }
    if terms.width(a) == 1 {
        // rule ult-bit: x < y, one bit → !x & y
        // rule slt-bit: x <s y, one bit → x & !y
        let (p, q) = if signed { (b, a) } else { (a, b) };
        let n = terms.not(p);
        return Some(terms.and(n, q));
    }
    let found = if terms.is_constant(b) {
        below_constant(terms, signed, a, b)
    } else if terms.is_constant(a) {
        above_constant(terms, signed, a, b)
    } else {
        None
    };
    found.or_else(|| with_chain(terms, signed, true, a, b)).or_else(|| both(terms, signed, true, a, b))
}

/// `x < y` or `x <= y` where neither is a constant and one is a long chain of choices between constants.
fn with_chain(terms: &mut Terms, signed: bool, strict: bool, a: TermId, b: TermId) -> Option<TermId> {
    let compare = |terms: &mut Terms, x: TermId, y: TermId| {
        if strict { lt(terms, signed, x, y) } else { le(terms, signed, x, y) }
    };
    match (terms.op(a), terms.op(b)) {
        (Op::Const, _) | (_, Op::Const) | (Op::Ite, Op::Ite) => None,
        (Op::Ite, _) => merged::compare_chain(terms, a, b, |terms, arm| compare(terms, arm, b)),
        (_, Op::Ite) => merged::compare_chain(terms, b, a, |terms, arm| compare(terms, a, arm)),
        _ => None,
    }
}

/// The range of a choice is on one side of a constant.
fn choice_below(terms: &mut Terms, x: TermId, c: TermId) -> Option<TermId> {
    let c = terms.as_const(c).filter(|_| terms.op(x) == Op::Ite)?;
    match terms.range_of_choice(x) {
        (_, high) if high < c => Some(Terms::TRUE),
        (low, _) if low >= c => Some(Terms::FALSE),
        _ => None,
    }
}

/// `x < c`.
fn below_constant(terms: &mut Terms, signed: bool, x: TermId, c: TermId) -> Option<TermId> {
    let width = terms.width(x);
    match place(terms, signed, c) {
        // rule ult-least: x < 0 → false
        // rule slt-least: x <s min → false
        CommonPart::Least => return Some(Terms::FALSE),
        // rule ult-first: x < 1 → x == 0
        // rule slt-first: x <s min + 1 → x == min
        CommonPart::SecondLeast => {
            let low = least(terms, signed, width);
            return Some(terms.eq(x, low));
        }
        // rule ult-greatest: x < -1 → x != -1
        // rule slt-greatest: x <s max → x != max
        CommonPart::Greatest => return Some(terms.ne(x, c)),
        CommonPart::SecondGreatest | CommonPart::Inside => {}
    }
    // rule ult-choice: x < c, all that the choice x can be below c → true
    if !signed && let Some(t) = choice_below(terms, x, c) {
        return Some(t);
    }
    // rule ult-ite: ite(d, k, x) < c → d | x < c where k < c, else !d & x < c
    // rule slt-ite: the same, signed
    if let Some(t) = ite::chain(terms, if signed { Op::Slt } else { Op::Ult }, x, c, true) {
        return Some(t);
    }
    let n = terms.node(x);
    match n.op {
        Op::SExt => Some(sext_constant(terms, signed, n, c, true)),
        // rule ult-zext: zext(x) < c → x < c, or true where c does not fit
        Op::ZExt if !signed => {
            let inner = terms.width(n.arg_a());
            if terms.active_bits(c) > inner {
                return Some(Terms::TRUE);
            }
            let c = terms.extract(c, 0, inner);
            Some(terms.ult(n.arg_a(), c))
        }
        // rule ult-udiv: x / d < c → x < c * d, or true where the product does not fit
        Op::UDiv if !signed => {
            let ((y, d), k) = (constant_quotient(terms, x)?, terms.as_const(c)?);
            let Some(bound) = product(d, k, width) else { return Some(Terms::TRUE) };
            let bound = terms.constant(width, bound);
            Some(terms.ult(y, bound))
        }
        Op::Concat => concat_below(terms, signed, n, c),
        _ => None,
    }
}

/// `c < x`.
fn above_constant(terms: &mut Terms, signed: bool, c: TermId, x: TermId) -> Option<TermId> {
    let width = terms.width(x);
    match place(terms, signed, c) {
        // rule ult-above-greatest: -1 < x → false
        // rule slt-above-greatest: max <s x → false
        CommonPart::Greatest => return Some(Terms::FALSE),
        // rule ult-last: -2 < x → x == -1
        // rule slt-last: max - 1 <s x → x == max
        CommonPart::SecondGreatest => {
            let high = greatest(terms, signed, width);
            return Some(terms.eq(x, high));
        }
        // rule ult-above-least: 0 < x → x != 0
        // rule slt-above-least: min <s x → x != min
        CommonPart::Least => return Some(terms.ne(x, c)),
        CommonPart::SecondLeast | CommonPart::Inside => {}
    }
    // rule ult-choice-right: c < x, nothing that the choice x can be above c → false
    let one = terms.one(width);
    let next = terms.add(c, one);
    if !signed && let Some(t) = choice_below(terms, x, next) {
        return Some(terms.not(t));
    }
    // rule ult-ite-right: c < ite(d, k, x) → d | c < x where c < k, else !d & c < x
    // rule slt-ite-right: the same, signed
    if let Some(t) = ite::chain(terms, if signed { Op::Slt } else { Op::Ult }, x, c, false) {
        return Some(t);
    }
    let n = terms.node(x);
    match n.op {
        Op::SExt => Some(sext_constant(terms, signed, n, c, false)),
        // rule ult-zext-right: c < zext(x) → c < x, or false where c does not fit
        Op::ZExt if !signed => {
            let inner = terms.width(n.arg_a());
            if terms.active_bits(c) > inner {
                return Some(Terms::FALSE);
            }
            let c = terms.extract(c, 0, inner);
            Some(terms.ult(c, n.arg_a()))
        }
        // rule ult-udiv-right: c < x / d → (c + 1) * d <= x, or false where the product does not fit
        Op::UDiv if !signed => {
            let ((y, d), k) = (constant_quotient(terms, x)?, terms.as_const(c)?);
            let Some(bound) = k.checked_add(1).and_then(|k| product(d, k, width)) else { return Some(Terms::FALSE) };
            let bound = terms.constant(width, bound);
            Some(terms.ule(bound, y))
        }
        Op::Concat => concat_above(terms, signed, c, n),
        _ => None,
    }
}

/// `sext(x) < c` (`below`) or `c < sext(x)`.
fn sext_constant(terms: &mut Terms, signed: bool, n: Node, c: TermId, below: bool) -> TermId {
    let x = n.arg_a();
    let inner = terms.width(x);
    // rule ult-sext: sext(x) < c, c = sext(d) → x < d
    // rule slt-sext: sext(x) <s c, c = sext(d) → x <s d
    // rule ult-sext-right: c < sext(x), c = sext(d) → d < x
    // rule slt-sext-right: c <s sext(x), c = sext(d) → d <s x
    if let Some(d) = fits_signed(terms, c, inner) {
        return if below { lt(terms, signed, x, d) } else { lt(terms, signed, d, x) };
    }
    if signed {
        // rule slt-sext-far: sext(x) <s c, c beyond the range of x → c > 0; c <s sext(x) → c < 0
        let negative = terms.is_negative_constant(c);
        return if negative != below { Terms::TRUE } else { Terms::FALSE };
    }
    let zero = terms.zero(inner);
    if below {
        // rule ult-sext-gap: sext(x) < c, c in the gap → 0 <=s x
        terms.sle(zero, x)
    } else {
        // rule ult-sext-gap-right: c < sext(x), c in the gap → x <s 0
        terms.slt(x, zero)
    }
}

fn split(terms: &mut Terms, n: Node, c: TermId) -> (TermId, TermId) {
    let low = terms.width(n.arg_b());
    (terms.extract(c, low, n.width - low), terms.extract(c, 0, low))
}

/// `(x . y) < c`.
fn concat_below(terms: &mut Terms, signed: bool, n: Node, c: TermId) -> Option<TermId> {
    let (x, y) = (n.arg_a(), n.arg_b());
    let (high, low) = split(terms, n, c);
    // rule ult-concat-low: (x . k) < (c . d) → x <= c where k < d, else x < c
    // rule slt-concat-low: the same, signed in x
    if terms.is_constant(y) || terms.is_zero(low) {
        let smaller = terms.is_constant(y) && terms.ult(y, low) == Terms::TRUE;
        return Some(if smaller { le(terms, signed, x, high) } else { lt(terms, signed, x, high) });
    }
    // rule ult-concat-high: (k . y) < (c . d) → y < d where k = c, else k < c
    // rule slt-concat-high: the same, signed in k
    if terms.is_constant(x) {
        return Some(if x == high { terms.ult(y, low) } else { lt(terms, signed, x, high) });
    }
    None
}

/// `c < (x . y)`.
fn concat_above(terms: &mut Terms, signed: bool, c: TermId, n: Node) -> Option<TermId> {
    let (x, y) = (n.arg_a(), n.arg_b());
    let (high, low) = split(terms, n, c);
    // rule ult-concat-low-right: (c . d) < (x . k) → c <= x where d < k, else c < x
    // rule slt-concat-low-right: the same, signed in x
    if terms.is_constant(y) || terms.is_ones(low) {
        let smaller = terms.is_constant(y) && terms.ult(low, y) == Terms::TRUE;
        return Some(if smaller { le(terms, signed, high, x) } else { lt(terms, signed, high, x) });
    }
    // rule ult-concat-high-right: (c . d) < (k . y) → d < y where k = c, else c < k
    // rule slt-concat-high-right: the same, signed in k
    if terms.is_constant(x) {
        return Some(if x == high { terms.ult(low, y) } else { lt(terms, signed, high, x) });
    }
    None
}

/// Rules that look at both sides; `strict` says whether it is `<` or `<=`.
fn both(terms: &mut Terms, signed: bool, strict: bool, a: TermId, b: TermId) -> Option<TermId> {
    let order = |terms: &mut Terms, signed: bool, x: TermId, y: TermId| {
        if strict { lt(terms, signed, x, y) } else { le(terms, signed, x, y) }
    };
    if signed {
        match (terms.is_nonnegative(a), terms.is_nonnegative(b)) {
            // rule slt-nonnegative: x <s y, both with sign 0 → x < y
            // rule sle-nonnegative: x <=s y, both with sign 0 → x <= y
            (true, true) => return Some(order(terms, false, a, b)),
            // rule slt-signs: x <s c, x with sign 0, c < 0 → false; c <s x → true
            (true, false) if terms.is_negative_constant(b) => return Some(Terms::FALSE),
            (false, true) if terms.is_negative_constant(a) => return Some(Terms::TRUE),
            _ => {}
        }
    } else if terms.width(a) <= 64 {
        let ((al, ah), (bl, bh)) = (terms.range(a), terms.range(b));
        // rule ult-range: x < y, disjoint ranges → true or false
        // rule ule-range: x <= y, disjoint ranges → true or false
        if ah < bl || (!strict && ah == bl) {
            return Some(Terms::TRUE);
        }
        if al > bh || (strict && al == bh) {
            return Some(Terms::FALSE);
        }
    }
    let (m, n) = (terms.node(a), terms.node(b));
    if !matches!(m.op, Op::ZExt | Op::SExt) || !matches!(n.op, Op::ZExt | Op::SExt) {
        return None;
    }
    let (wa, wb) = (terms.width(m.arg_a()), terms.width(n.arg_a()));
    if m.op == n.op {
        // rule ult-zexts: zext(x) < zext(y) → x < y on the more bits
        // rule ult-sexts: sext(x) < sext(y) → x < y on the more bits
        // rule slt-sexts: sext(x) <s sext(y) → x <s y on the more bits
        // rule ule-zexts: zext(x) <= zext(y) → x <= y on the more bits
        // rule ule-sexts: sext(x) <= sext(y) → x <= y on the more bits
        // rule sle-sexts: sext(x) <=s sext(y) → x <=s y on the more bits
        let inner = wa.max(wb);
        let (x, y) = (extend(terms, m, inner), extend(terms, n, inner));
        return Some(order(terms, signed, x, y));
    }
    // rule slt-mixed: sext(x) <s zext(y) → the same on one bit more than y has
    // rule sle-mixed: sext(x) <=s zext(y) → the same on one bit more than y has
    if signed {
        let need = |op: Op, w: u16| if op == Op::ZExt { w + 1 } else { w };
        let inner = need(m.op, wa).max(need(n.op, wb));
        if inner < m.width {
            let (x, y) = (extend(terms, m, inner), extend(terms, n, inner));
            return Some(order(terms, true, x, y));
        }
    }
    None
}

/// The argument of an extension, extended in the same way to `width` bits.
fn extend(terms: &mut Terms, n: Node, width: u16) -> TermId {
    if n.op == Op::ZExt { terms.zext(n.arg_a(), width) } else { terms.sext(n.arg_a(), width) }
}

fn less_equal(terms: &mut Terms, signed: bool, a: TermId, b: TermId) -> Option<TermId> {
    // rule ule-self: x <= x → true
    // rule sle-self: x <=s x → true
    if a == b {
        return Some(Terms::TRUE);
    }
    let width = terms.width(a);
    if width == 1 {
        // rule ule-bit: x <= y, one bit → !x | y
        // rule sle-bit: x <=s y, one bit → x | !y
        let (p, q) = if signed { (b, a) } else { (a, b) };
        let n = terms.not(p);
        return Some(terms.or(n, q));
    }
    if terms.is_constant(b) {
        // rule ule-constant: x <= c → x < c + 1, or true where c is the greatest
        // rule sle-constant: x <=s c → x <s c + 1, or true where c is the greatest
        if matches!(place(terms, signed, b), CommonPart::Greatest) {
            return Some(Terms::TRUE);
        }
        let one = terms.one(width);
        let c = terms.add(b, one);
        return Some(lt(terms, signed, a, c));
    }
    if terms.is_constant(a) {
        // rule ule-constant-left: c <= x → c - 1 < x, or true where c is the least
        // rule sle-constant-left: c <=s x → c - 1 <s x, or true where c is the least
        if matches!(place(terms, signed, a), CommonPart::Least) {
            return Some(Terms::TRUE);
        }
        let one = terms.one(width);
        let c = terms.sub(a, one);
        return Some(lt(terms, signed, c, b));
    }
    with_chain(terms, signed, false, a, b).or_else(|| both(terms, signed, false, a, b))
}
