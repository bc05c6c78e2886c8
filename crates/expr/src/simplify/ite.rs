//! If-then-else, and operators on constants that a condition chooses.

use crate::term::{Op, TermId, Terms, facts};

/// The longest chain of choices a comparison is pushed through.
const CHAIN: usize = 2048;

pub(crate) fn ite(terms: &mut Terms, c: TermId, a: TermId, b: TermId) -> Option<TermId> {
    let n = terms.node(c);
    // rule ite-not: ite(!c, x, y) → ite(c, y, x)
    if n.op == Op::Not {
        return Some(terms.ite(n.arg_a(), b, a));
    }
    if terms.has(a, facts::IS_ARRAY) {
        return nested(terms, c, a, b);
    }
    if terms.width(a) == 1
        && let Some(t) = condition(terms, c, a, b)
    {
        return Some(t);
    }
    if n.op == Op::Eq {
        // rule ite-eq: ite(x == y, x, y) → y
        if n.arg_a() == a && n.arg_b() == b {
            return Some(b);
        }
        // rule ite-eq-swapped: ite(x == y, y, x) → x
        if n.arg_a() == b && n.arg_b() == a {
            return Some(b);
        }
        // rule ite-eq-constant: ite(x == k, x, y) → ite(x == k, k, y)
        let (x, k) = (n.arg_a(), n.arg_b());
        let (x, k) = if terms.is_constant(x) { (k, x) } else { (x, k) };
        if x == a && terms.is_constant(k) {
            return Some(terms.ite(c, k, b));
        }
    }
    extension(terms, c, a, b).or_else(|| nested(terms, c, a, b)).or_else(|| arms(terms, c, a, b))
}

/// One-bit arms.
fn condition(terms: &mut Terms, c: TermId, a: TermId, b: TermId) -> Option<TermId> {
    // rule ite-or: ite(c, 1, y) → c | y, also for c in place of 1
    if a == Terms::TRUE || a == c {
        return Some(terms.or(c, b));
    }
    // rule ite-and: ite(c, x, 0) → c & x, also for c in place of 0
    if b == Terms::FALSE || b == c {
        return Some(terms.and(c, a));
    }
    let n = terms.not(c);
    // rule ite-and-not: ite(c, 0, y) → !c & y, also for !c in place of 0
    if a == Terms::FALSE || a == n {
        return Some(terms.and(n, b));
    }
    // rule ite-or-not: ite(c, x, 1) → !c | x, also for !c in place of 1
    if b == Terms::TRUE || b == n {
        return Some(terms.or(n, a));
    }
    // rule ite-equal: ite(c, x, !x) → c == x
    if terms.is_complement(a, b) {
        return Some(terms.eq(c, a));
    }
    None
}

/// Constant arms that are an extension of the condition.
fn extension(terms: &mut Terms, c: TermId, a: TermId, b: TermId) -> Option<TermId> {
    let width = terms.width(a);
    if terms.is_zero(b) {
        // rule ite-zext: ite(c, 1, 0) → zext(c)
        if terms.is_one(a) {
            return Some(terms.zext(c, width));
        }
        // rule ite-sext: ite(c, -1, 0) → sext(c)
        if terms.is_ones(a) {
            return Some(terms.sext(c, width));
        }
    }
    if terms.is_zero(a) {
        // rule ite-zext-not: ite(c, 0, 1) → zext(!c)
        if terms.is_one(b) {
            let n = terms.not(c);
            return Some(terms.zext(n, width));
        }
        // rule ite-sext-not: ite(c, 0, -1) → sext(!c)
        if terms.is_ones(b) {
            let n = terms.not(c);
            return Some(terms.sext(n, width));
        }
    }
    None
}

/// Choices within a choice.
fn nested(terms: &mut Terms, c: TermId, a: TermId, b: TermId) -> Option<TermId> {
    let n = terms.node(a);
    if n.op == Op::Ite {
        // rule ite-then-same: ite(c, ite(c, x, y), z) → ite(c, x, z)
        if n.arg_a() == c {
            return Some(terms.ite(c, n.arg_b(), b));
        }
        // rule ite-then-else: ite(c, ite(d, x, y), y) → ite(c & d, x, y)
        if n.arg_c() == b {
            let both = terms.and(c, n.arg_a());
            return Some(terms.ite(both, n.arg_b(), b));
        }
        // rule ite-then-then: ite(c, ite(d, x, y), x) → ite(c & !d, y, x)
        if n.arg_b() == b {
            let d = terms.not(n.arg_a());
            let both = terms.and(c, d);
            return Some(terms.ite(both, n.arg_c(), b));
        }
    }
    let m = terms.node(b);
    if m.op == Op::Ite {
        // rule ite-else-same: ite(c, x, ite(c, y, z)) → ite(c, x, z)
        if m.arg_a() == c {
            return Some(terms.ite(c, a, m.arg_c()));
        }
        // rule ite-else-then: ite(c, x, ite(d, x, y)) → ite(c | d, x, y)
        if m.arg_b() == a {
            let either = terms.or(c, m.arg_a());
            return Some(terms.ite(either, a, m.arg_c()));
        }
        // rule ite-else-else: ite(c, x, ite(d, y, x)) → ite(c | !d, x, y)
        if m.arg_c() == a {
            let d = terms.not(m.arg_a());
            let either = terms.or(c, d);
            return Some(terms.ite(either, a, m.arg_b()));
        }
    }
    None
}

/// What both arms have outermost moves out.
fn arms(terms: &mut Terms, c: TermId, a: TermId, b: TermId) -> Option<TermId> {
    let width = terms.width(a);
    // rule ite-base: ite(c, β + x, β + y) → β + ite(c, x, y)
    if let (Some((base, x)), Some((other, y))) = (terms.base_and_offset(a), terms.base_and_offset(b))
        && base == other
    {
        let zero = terms.zero(width);
        let offset = terms.ite(c, x.unwrap_or(zero), y.unwrap_or(zero));
        return Some(terms.add(base, offset));
    }
    let (m, n) = (terms.node(a), terms.node(b));
    for op in [Op::ZExt, Op::SExt] {
        let inner = match (m.op == op, n.op == op) {
            (true, true) if terms.width(m.arg_a()) == terms.width(n.arg_a()) => terms.width(m.arg_a()),
            (true, false) if terms.is_constant(b) => terms.width(m.arg_a()),
            (false, true) if terms.is_constant(a) => terms.width(n.arg_a()),
            _ => continue,
        };
        // rule ite-zexts: ite(c, zext(x), zext(y)) → zext(ite(c, x, y)); one arm may be a constant that fits
        // rule ite-sexts: ite(c, sext(x), sext(y)) → sext(ite(c, x, y)); one arm may be a constant that fits
        let (x, y) = (terms.extract(a, 0, inner), terms.extract(b, 0, inner));
        let extend = |terms: &mut Terms, t| if op == Op::ZExt { terms.zext(t, width) } else { terms.sext(t, width) };
        if extend(terms, x) == a && extend(terms, y) == b {
            let t = terms.ite(c, x, y);
            return Some(extend(terms, t));
        }
    }
    None
}

/// `a op b` where one is a constant and the other a choice between constants, or both are choices by one condition.
pub(crate) fn lift(terms: &mut Terms, op: Op, width: u16, a: TermId, b: TermId) -> Option<TermId> {
    // Sums, differences and masks of an extended condition are better kept as they are.
    let plain = matches!(op, Op::Add | Op::Sub | Op::And);
    let candidate = |t: TermId| match terms.op(t) {
        Op::Ite => true,
        Op::ZExt | Op::SExt => !plain && terms.width(terms.node(t).arg_a()) == 1,
        _ => false,
    };
    let (ca, cb) = (candidate(a), candidate(b));
    // rule lift-left: ite(c, k, l) op m → ite(c, k op m, l op m)
    // rule lift-right: m op ite(c, k, l) → ite(c, m op k, m op l)
    // rule lift-both: ite(c, k, l) op ite(c, m, n) → ite(c, k op m, l op n)
    let (c, (ka, kb), (la, lb)) = if ca && terms.is_constant(b) {
        let (c, k, l) = terms.choice(a)?;
        (c, (k, b), (l, b))
    } else if cb && terms.is_constant(a) {
        let (c, k, l) = terms.choice(b)?;
        (c, (a, k), (a, l))
    } else if ca && cb {
        let (c, k, l) = terms.choice(a)?;
        let (d, m, n) = terms.choice(b)?;
        if c != d {
            return None;
        }
        (c, (k, m), (l, n))
    } else {
        return None;
    };
    let k = terms.fold(op, width, &[ka, kb], 0)?;
    let l = terms.fold(op, width, &[la, lb], 0)?;
    Some(terms.ite(c, k, l))
}

/// `-x` or `~x` of a choice between constants.
pub(crate) fn lift_unary(terms: &mut Terms, op: Op, a: TermId) -> Option<TermId> {
    let n = terms.node(a);
    if !(n.op == Op::Ite || (op == Op::Neg && matches!(n.op, Op::ZExt | Op::SExt))) {
        return None;
    }
    // rule lift-unary: op ite(c, k, l) → ite(c, op k, op l)
    let (c, k, l) = terms.choice(a)?;
    let k = terms.fold(op, n.width, &[k], 0)?;
    let l = terms.fold(op, n.width, &[l], 0)?;
    Some(terms.ite(c, k, l))
}

/// `t op k` (or `k op t`) for a comparison and a chain of choices each with one constant arm.
pub(super) fn chain(terms: &mut Terms, op: Op, t: TermId, k: TermId, on_left: bool) -> Option<TermId> {
    let mut links: smallvec::SmallVec<[(TermId, TermId, bool); 8]> = Default::default();
    let mut rest = t;
    loop {
        let n = terms.node(rest);
        if n.op != Op::Ite {
            break;
        }
        match (terms.is_constant(n.arg_b()), terms.is_constant(n.arg_c())) {
            (true, false) => {
                links.push((n.arg_a(), n.arg_b(), true));
                rest = n.arg_c();
            }
            (false, true) => {
                links.push((n.arg_a(), n.arg_c(), false));
                rest = n.arg_b();
            }
            _ => break,
        }
        if links.len() > CHAIN {
            return None;
        }
    }
    if links.is_empty() {
        return None;
    }
    let compare = |terms: &mut Terms, x: TermId| {
        let (x, y) = if on_left { (x, k) } else { (k, x) };
        match op {
            Op::Eq => terms.eq(x, y),
            Op::Ult => terms.ult(x, y),
            _ => terms.slt(x, y),
        }
    };
    let mut result = compare(terms, rest);
    for (condition, arm, then) in links.into_iter().rev() {
        let taken = if then { condition } else { terms.not(condition) };
        result = if compare(terms, arm) == Terms::TRUE {
            terms.or(taken, result)
        } else {
            let not = terms.not(taken);
            terms.and(not, result)
        };
    }
    Some(result)
}
