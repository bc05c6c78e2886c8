//! Concatenation.
//!
//! *Canonical*: nested to the right (`a . (b . c)`); neighbouring constants and neighbouring extracts of one term are
//! one; leading zeros are a zero extension and extensions stand outermost.

use crate::term::{Op, TermId, Terms};

pub(crate) fn concat(terms: &mut Terms, hi: TermId, lo: TermId) -> Option<TermId> {
    let width = terms.width(hi) + terms.width(lo);
    let n = terms.node(hi);
    match n.op {
        // rule concat-zero: 0 . x → zext(x)
        Op::Const | Op::Wide if terms.is_zero(hi) => return Some(terms.zext(lo, width)),
        // rule concat-right: (x . y) . z → x . (y . z)
        Op::Concat => {
            let rest = terms.concat(n.arg_b(), lo);
            return Some(terms.concat(n.arg_a(), rest));
        }
        // rule concat-zext: zext(x) . y → zext(x . y)
        Op::ZExt => {
            let inner = terms.concat(n.arg_a(), lo);
            return Some(terms.zext(inner, width));
        }
        // rule concat-sext: sext(x) . y → sext(x . y)
        Op::SExt => {
            let inner = terms.concat(n.arg_a(), lo);
            return Some(terms.sext(inner, width));
        }
        _ => {}
    }
    if let Some(t) = choices(terms, hi, lo) {
        return Some(t);
    }
    // rule concat-adjacent: x[j..] . x[i..j] → x[i..]
    if let Some(t) = adjacent(terms, hi, lo) {
        return Some(t);
    }
    let m = terms.node(lo);
    match m.op {
        Op::Concat => {
            // rule concat-adjacent-inner: x[j..] . (x[i..j] . y) → x[i..] . y
            if let Some(t) = adjacent(terms, hi, m.arg_a()) {
                return Some(terms.concat(t, m.arg_b()));
            }
            // rule concat-constants: k . (l . x) → kl . x
            if terms.is_constant(hi) && terms.is_constant(m.arg_a()) {
                let k = terms.concat(hi, m.arg_a());
                return Some(terms.concat(k, m.arg_b()));
            }
            None
        }
        // rule concat-constant-zext: k . zext(x) → (k . 0) . x
        Op::ZExt if terms.is_constant(hi) => {
            let zero = terms.zero(m.width - terms.width(m.arg_a()));
            let k = terms.concat(hi, zero);
            Some(terms.concat(k, m.arg_a()))
        }
        _ => None,
    }
}

/// The one extract that two neighbouring extracts make.
fn adjacent(terms: &mut Terms, hi: TermId, lo: TermId) -> Option<TermId> {
    let (h, l) = (terms.node(hi), terms.node(lo));
    if h.op == Op::Extract && l.op == Op::Extract && h.a == l.a && h.b == l.b + u32::from(l.width) {
        return Some(terms.extract(h.arg_a(), l.b as u16, h.width + l.width));
    }
    None
}

/// Constants chosen by one condition.
fn choices(terms: &mut Terms, hi: TermId, lo: TermId) -> Option<TermId> {
    let is_choice = |t: TermId| {
        let n = terms.node(t);
        n.op == Op::Ite && terms.is_constant(n.arg_b()) && terms.is_constant(n.arg_c())
    };
    let (h, l) = (is_choice(hi), is_choice(lo));
    let (x, y) = (terms.node(hi), terms.node(lo));
    let (c, then, other) = match (h, l) {
        // rule concat-ite-high: ite(c, k, l) . m → ite(c, k . m, l . m)
        (true, false) if terms.is_constant(lo) => (x.arg_a(), (x.arg_b(), lo), (x.arg_c(), lo)),
        // rule concat-ite-low: m . ite(c, k, l) → ite(c, m . k, m . l)
        (false, true) if terms.is_constant(hi) => (y.arg_a(), (hi, y.arg_b()), (hi, y.arg_c())),
        // rule concat-ite-both: ite(c, k, l) . ite(c, m, n) → ite(c, k . m, l . n)
        (true, true) if x.a == y.a => (x.arg_a(), (x.arg_b(), y.arg_b()), (x.arg_c(), y.arg_c())),
        _ => return None,
    };
    let (k, l) = (terms.concat(then.0, then.1), terms.concat(other.0, other.1));
    Some(terms.ite(c, k, l))
}
