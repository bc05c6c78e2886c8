//! And and or of conditions: two comparisons of one term with constants.

use crate::term::{Op, TermId, Terms};

/// `term op constant`. The builder writes bounds as strict ones only.
#[derive(Clone, Copy)]
struct Bound {
    term: TermId,
    constant: TermId,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Equal,
    Different,
    Below { signed: bool },
    Above { signed: bool },
}

fn bound(terms: &Terms, t: TermId) -> Option<Bound> {
    let n = terms.node(t);
    let signed = n.op == Op::Slt;
    match n.op {
        Op::Eq if terms.is_constant(n.arg_b()) => {
            Some(Bound { term: n.arg_a(), constant: n.arg_b(), kind: Kind::Equal })
        }
        Op::Not => {
            let m = terms.node(n.arg_a());
            if m.op == Op::Eq && terms.is_constant(m.arg_b()) {
                return Some(Bound { term: m.arg_a(), constant: m.arg_b(), kind: Kind::Different });
            }
            None
        }
        Op::Ult | Op::Slt if terms.is_constant(n.arg_b()) => {
            Some(Bound { term: n.arg_a(), constant: n.arg_b(), kind: Kind::Below { signed } })
        }
        Op::Ult | Op::Slt if terms.is_constant(n.arg_a()) => {
            Some(Bound { term: n.arg_b(), constant: n.arg_a(), kind: Kind::Above { signed } })
        }
        _ => None,
    }
}

/// The bound with the constant `c` in place of its term.
fn holds(terms: &mut Terms, b: Bound, c: TermId) -> bool {
    let t = match b.kind {
        Kind::Equal => terms.eq(c, b.constant),
        Kind::Different => terms.ne(c, b.constant),
        Kind::Below { signed: false } => terms.ult(c, b.constant),
        Kind::Below { signed: true } => terms.slt(c, b.constant),
        Kind::Above { signed: false } => terms.ult(b.constant, c),
        Kind::Above { signed: true } => terms.slt(b.constant, c),
    };
    t == Terms::TRUE
}

fn less(terms: &mut Terms, signed: bool, x: TermId, y: TermId) -> bool {
    let t = if signed { terms.slt(x, y) } else { terms.ult(x, y) };
    t == Terms::TRUE
}

pub(super) fn and(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let (x, y) = (bound(terms, a)?, bound(terms, b)?);
    if x.term != y.term {
        return None;
    }
    match (x.kind, y.kind) {
        // rule and-equal-bound: x == c & p(x) → x == c where p(c), else false
        (Kind::Equal, _) => Some(if holds(terms, y, x.constant) { a } else { Terms::FALSE }),
        (_, Kind::Equal) => Some(if holds(terms, x, y.constant) { b } else { Terms::FALSE }),
        // rule and-different-bound: x != c & x < d, c not below d → x < d
        (Kind::Different, _) if !holds(terms, y, x.constant) => Some(b),
        (_, Kind::Different) if !holds(terms, x, y.constant) => Some(a),
        // rule and-below: x < c & x < d → x < min(c, d)
        (Kind::Below { signed }, Kind::Below { signed: s }) if signed == s => {
            Some(if less(terms, signed, x.constant, y.constant) { a } else { b })
        }
        // rule and-above: c < x & d < x → max(c, d) < x
        (Kind::Above { signed }, Kind::Above { signed: s }) if signed == s => {
            Some(if less(terms, signed, x.constant, y.constant) { b } else { a })
        }
        (Kind::Below { signed }, Kind::Above { signed: s }) if signed == s => {
            between(terms, signed, x.term, y.constant, x.constant)
        }
        (Kind::Above { signed }, Kind::Below { signed: s }) if signed == s => {
            between(terms, signed, x.term, x.constant, y.constant)
        }
        _ => None,
    }
}

/// `low < x & x < high`.
fn between(terms: &mut Terms, signed: bool, x: TermId, low: TermId, high: TermId) -> Option<TermId> {
    // rule and-between-none: c < x & x < d, d <= c + 1 → false
    if !less(terms, signed, low, high) {
        return Some(Terms::FALSE);
    }
    let one = terms.one(terms.width(x));
    let next = terms.add(low, one);
    if next == high {
        return Some(Terms::FALSE);
    }
    // rule and-between-one: c < x & x < c + 2 → x == c + 1
    let after = terms.add(next, one);
    if after == high { Some(terms.eq(x, next)) } else { None }
}

pub(super) fn or(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    let (x, y) = (bound(terms, a)?, bound(terms, b)?);
    if x.term != y.term {
        return None;
    }
    match (x.kind, y.kind) {
        // rule or-different-bound: x != c | p(x) → true where p(c), else x != c
        (Kind::Different, _) => Some(if holds(terms, y, x.constant) { Terms::TRUE } else { a }),
        (_, Kind::Different) => Some(if holds(terms, x, y.constant) { Terms::TRUE } else { b }),
        // rule or-equal-bound: x == c | p(x), p(c) → p(x)
        (Kind::Equal, _) if holds(terms, y, x.constant) => Some(b),
        (_, Kind::Equal) if holds(terms, x, y.constant) => Some(a),
        // rule or-below: x < c | x < d → x < max(c, d)
        (Kind::Below { signed }, Kind::Below { signed: s }) if signed == s => {
            Some(if less(terms, signed, x.constant, y.constant) { b } else { a })
        }
        // rule or-above: c < x | d < x → min(c, d) < x
        (Kind::Above { signed }, Kind::Above { signed: s }) if signed == s => {
            Some(if less(terms, signed, x.constant, y.constant) { a } else { b })
        }
        // rule or-between: x < c | d < x, d < c → true
        (Kind::Below { signed }, Kind::Above { signed: s })
            if signed == s && less(terms, signed, y.constant, x.constant) =>
        {
            Some(Terms::TRUE)
        }
        (Kind::Above { signed }, Kind::Below { signed: s })
            if signed == s && less(terms, signed, x.constant, y.constant) =>
        {
            Some(Terms::TRUE)
        }
        _ => None,
    }
}
