//! Disjunctions over one variable, as sets of ranges: `x = 3 ∨ x = 4 ∨ x = 5` is `3 ≤ x ≤ 5`.
//!
//! *Invariant*: the result is equivalent to the literal given. A range may wrap around: `first`, and how many values follow.

use pleach_expr::{Op, TermId, Terms, mask};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Range {
    first: u64,
    /// values after the first
    more: u64,
}

/// Merges the disjuncts of a literal that are ranges of one variable; `None` if there is nothing to gain.
pub fn merge(terms: &mut Terms, literal: TermId) -> Option<TermId> {
    let disjuncts = disjuncts(terms, literal);
    if disjuncts.len() < 2 {
        return None;
    }
    let mut rest = Terms::FALSE;
    let mut of: Option<TermId> = None;
    let mut ranges: Vec<Range> = Vec::new();
    for d in &disjuncts {
        match range(terms, *d) {
            Some((x, r)) if of.is_none_or(|o| o == x) => {
                of = Some(x);
                ranges.push(r);
            }
            _ => rest = terms.or(rest, *d),
        }
    }
    let x = of?;
    let w = terms.width(x);
    let before = ranges.len();
    let merged = union(ranges, w);
    if merged.len() >= before {
        return None;
    }
    let mut out = rest;
    for r in merged {
        let t = write(terms, x, r, w);
        out = terms.or(out, t);
    }
    Some(out)
}

fn disjuncts(terms: &mut Terms, literal: TermId) -> Vec<TermId> {
    let mut out = Vec::new();
    let mut todo = vec![literal];
    while let Some(t) = todo.pop() {
        let n = terms.node(t);
        match n.op {
            Op::Or if n.width == 1 => todo.extend([n.arg_b(), n.arg_a()]),
            Op::Not if terms.op(n.arg_a()) == Op::And => {
                let m = terms.node(n.arg_a());
                let (a, b) = (terms.not(m.arg_a()), terms.not(m.arg_b()));
                todo.extend([b, a]);
            }
            _ => out.push(t),
        }
        if out.len() > 64 {
            break;
        }
    }
    out
}

/// A condition `x ∈ range` with constant ends.
fn range(terms: &Terms, t: TermId) -> Option<(TermId, Range)> {
    let n = terms.node(t);
    let (x, y) = (n.arg_a(), n.arg_b());
    let w = |t: TermId| terms.width(t);
    match n.op {
        Op::Eq => {
            let (v, c) = constant_side(terms, x, y)?;
            Some((v, Range { first: c, more: 0 }))
        }
        Op::Not => {
            let (v, r) = range(terms, x)?;
            let m = mask(w(v));
            (r.more < m)
                .then(|| (v, Range { first: r.first.wrapping_add(r.more).wrapping_add(1) & m, more: m - r.more - 1 }))
        }
        Op::Ult | Op::Ule | Op::Slt | Op::Sle => {
            let width = w(x);
            if width > 64 {
                return None;
            }
            let m = mask(width);
            let low = if matches!(n.op, Op::Slt | Op::Sle) { 1u64 << (width - 1) } else { 0 };
            let high = low.wrapping_sub(1) & m;
            let strict = u64::from(matches!(n.op, Op::Ult | Op::Slt));
            match (terms.as_const(x), terms.as_const(y)) {
                (None, Some(c)) => {
                    let span = c.wrapping_sub(low) & m;
                    if span < strict {
                        return None;
                    }
                    let (v, k) = shifted(terms, x);
                    Some((v, Range { first: low.wrapping_sub(k) & m, more: span - strict }))
                }
                (Some(c), None) => {
                    let span = high.wrapping_sub(c) & m;
                    if span < strict {
                        return None;
                    }
                    let (v, k) = shifted(terms, y);
                    Some((v, Range { first: c.wrapping_add(strict).wrapping_sub(k) & m, more: span - strict }))
                }
                _ => None,
            }
        }
        _ => None,
    }
}

/// `v + k` taken apart.
fn shifted(terms: &Terms, t: TermId) -> (TermId, u64) {
    let n = terms.node(t);
    match (n.op, terms.as_const(n.arg_b())) {
        (Op::Add, Some(k)) => (n.arg_a(), k),
        _ => (t, 0),
    }
}

fn constant_side(terms: &Terms, x: TermId, y: TermId) -> Option<(TermId, u64)> {
    match (terms.as_const(x), terms.as_const(y)) {
        (None, Some(c)) => Some((x, c)),
        (Some(c), None) => Some((y, c)),
        _ => None,
    }
}

fn union(mut ranges: Vec<Range>, w: u16) -> Vec<Range> {
    let m = mask(w);
    loop {
        let mut changed = false;
        'pairs: for i in 0..ranges.len() {
            for j in 0..ranges.len() {
                if i == j {
                    continue;
                }
                let (a, b) = (ranges[i], ranges[j]);
                // b begins inside a or right after it.
                let gap = b.first.wrapping_sub(a.first) & m;
                if gap <= a.more || (gap == a.more + 1 && a.more < m) {
                    let more = a.more.max(gap.saturating_add(b.more)).min(m);
                    ranges[i] = Range { first: a.first, more };
                    ranges.remove(j);
                    changed = true;
                    break 'pairs;
                }
            }
        }
        if !changed {
            return ranges;
        }
    }
}

fn write(terms: &mut Terms, x: TermId, r: Range, w: u16) -> TermId {
    let m = mask(w);
    if r.more >= m {
        return Terms::TRUE;
    }
    let last = r.first.wrapping_add(r.more) & m;
    let sign = 1u64 << (w - 1);
    let c = |terms: &mut Terms, v: u64| terms.constant(w, v);
    if r.more == 0 {
        let k = c(terms, r.first);
        return terms.eq(x, k);
    }
    // Half-open in one of the two orders reads best; otherwise shift the range to 0.
    if r.first == sign {
        let k = c(terms, last);
        return terms.sle(x, k);
    }
    if last == sign.wrapping_sub(1) {
        let k = c(terms, r.first);
        return terms.sle(k, x);
    }
    let k = c(terms, r.first.wrapping_neg() & m);
    let moved = terms.add(x, k);
    let most = c(terms, r.more);
    terms.ule(moved, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::{Key, Model, SymbolKind};

    #[test]
    fn merged_disjunctions_mean_the_same() {
        let mut t = Terms::new(64);
        let s = t.symbols.intern("x", SymbolKind::Bits(8));
        let x = t.var(s);
        for a in [0u64, 1, 3, 127, 128, 200, 255] {
            for b in [0u64, 2, 4, 126, 129, 201, 254] {
                let (ka, kb) = (t.constant(8, a), t.constant(8, b));
                let e = t.eq(x, ka);
                let forms = [t.eq(x, kb), t.ult(x, kb), t.slt(kb, x), t.sle(x, kb), t.ne(x, kb), t.ule(kb, x)];
                for f in forms {
                    let lit = t.or(e, f);
                    let Some(m) = merge(&mut t, lit) else { continue };
                    for v in 0..=255u64 {
                        let mut model = Model::new();
                        model.set(Key::new(s, 0), v);
                        assert_eq!(t.eval(lit, &model), t.eval(m, &model), "{a} {b} {v}");
                    }
                }
            }
        }
    }
}
