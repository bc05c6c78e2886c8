//! Disjunctions over one variable, as sets of ranges: `x = 3 ∨ x = 4 ∨ x = 5` is `3 ≤ x ≤ 5`.
//!
//! *Invariant*: the result is equivalent to the literal given.

use pleach_expr::arc::Arc;
use pleach_expr::{Op, TermId, Terms, mask};

/// Merges the disjuncts of a literal that are ranges of one variable; `None` if there is nothing to gain.
pub fn merge(terms: &mut Terms, literal: TermId) -> Option<TermId> {
    let disjuncts = disjuncts(terms, literal);
    if disjuncts.len() < 2 {
        return None;
    }
    let mut rest = Terms::FALSE;
    let mut of: Option<TermId> = None;
    let mut ranges: Vec<Arc> = Vec::new();
    for d in &disjuncts {
        match Arc::of_unshifted(terms, *d) {
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
        let t = r.inside(terms, x);
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

fn union(mut ranges: Vec<Arc>, w: u16) -> Vec<Arc> {
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
                    ranges[i] = Arc { first: a.first, more };
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

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::{Key, Model, SymbolKind};

    #[test]
    fn merged_disjunctions_mean_the_same() {
        let mut t = Terms::new(64);
        let s = t.symbols.named("x", SymbolKind::Bits(8));
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
