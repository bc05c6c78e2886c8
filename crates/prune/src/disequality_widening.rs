//! Many comparisons of one form, as the values around the one that the path has.
//!
//! *Idea*: a sum that must differ from each of many numbers leaves pieces, which are no [`Arc`] together and take a
//! literal each; a piece is one, and the path is in one of them. *Invariant*: the result implies the condition given,
//! and the state at hand satisfies it. *Direction*: it may be stronger than needed, therefore only where there are
//! many.

use crate::matching::Matcher;
use crate::modular::{Form, Reading, Readings};
use pleach_expr::arc::Arc;
use pleach_expr::{Op, TermId, Terms, mask};
use pleach_state::seams::PathOracle;
use pleach_wp::Condition;
use std::collections::BTreeMap;
use std::rc::Rc;

/// More comparisons of one form than this are widened.
const MANY_COMPARISONS: usize = 16;

pub(crate) fn widen_disequalities(
    oracle: &mut dyn PathOracle,
    readings: &mut Readings,
    state: &mut Matcher,
    condition: &mut Condition,
) {
    if condition.literals.len() <= MANY_COMPARISONS {
        return;
    }
    let mut forms: BTreeMap<Rc<Form>, Vec<(TermId, Arc)>> = BTreeMap::new();
    for &l in &condition.literals {
        if let Some((form, arc)) = comparison(oracle.terms(), readings, l) {
            forms.entry(form).or_default().push((l, arc));
        }
    }
    for (form, comparisons) in forms.into_iter().filter(|(_, comparisons)| comparisons.len() > MANY_COMPARISONS) {
        let x = form.term(oracle.terms());
        let Some(t) = state.translate(oracle, x) else { continue };
        let Some(v) = oracle.terms().as_const(t) else { continue };
        let Some(piece) = around(v, form.width, comparisons.iter().map(|(_, arc)| *arc)) else { continue };
        // SOUND: the piece lies in each of the arcs.
        condition.literals.retain(|l| !comparisons.iter().any(|(m, _)| m == l));
        piece.write(oracle.terms(), x).into_iter().for_each(|l| condition.require(l));
    }
}

/// The consecutive values with `v` among them that are in all arcs; `None` if `v` is not in one.
fn around(v: u64, w: u16, arcs: impl Iterator<Item = Arc>) -> Option<Arc> {
    let m = mask(w);
    let (mut down, mut up) = (m, m);
    for a in arcs {
        if !a.contains(v, w) {
            return None;
        }
        if !a.is_full(w) {
            down = down.min(v.wrapping_sub(a.first) & m);
            up = up.min(a.last(w).wrapping_sub(v) & m);
        }
    }
    Some(Arc { first: v.wrapping_sub(down) & m, more: down.saturating_add(up).min(m) })
}

/// A comparison with a constant, or whether two terms are equal, as the values of a form.
fn comparison(terms: &Terms, readings: &mut Readings, l: TermId) -> Option<(Rc<Form>, Arc)> {
    match readings.read(terms, l) {
        Some(Reading::InRange(form, arc)) => return Some((form, arc)),
        Some(_) => return None,
        None => {}
    }
    let (not, eq) = match terms.node(l) {
        n if n.op == Op::Not => (true, terms.node(n.arg_a())),
        n => (false, n),
    };
    let w = terms.width(eq.arg_a());
    if eq.op != Op::Eq || !(2..=64).contains(&w) {
        return None;
    }
    let (a, b) = (terms.linear(eq.arg_a())?, terms.linear(eq.arg_b())?);
    let mut parts: BTreeMap<TermId, u64> = a.0.into_iter().collect();
    for (t, k) in b.0 {
        let e = parts.entry(t).or_insert(0);
        *e = e.wrapping_sub(k) & mask(w);
    }
    parts.retain(|_, k| *k != 0);
    let mut parts: Vec<(TermId, u64)> = parts.into_iter().collect();
    let mut equal = Arc { first: b.1.wrapping_sub(a.1) & mask(w), more: 0 };
    if parts.first()?.1 > 1 << (w - 1) {
        parts.iter_mut().for_each(|(_, k)| *k = k.wrapping_neg() & mask(w));
        equal = equal.mirrored(w);
    }
    let others = Arc { first: equal.first.wrapping_add(1) & mask(w), more: mask(w) - 1 };
    Some((Rc::new(Form { width: w, parts }), if not { others } else { equal }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_piece_around_a_value_is_in_all_arcs_and_ends_where_one_does() {
        let w = 3;
        let all: Vec<Arc> = (0..8).flat_map(|first| (0..8).map(move |more| Arc { first, more })).collect();
        for (&a, &b) in all.iter().flat_map(|a| all.iter().map(move |b| (a, b))) {
            for v in 0..8 {
                let inside = |x: u64| a.contains(x & 7, w) && b.contains(x & 7, w);
                let Some(piece) = around(v, w, [a, b].into_iter()) else {
                    assert!(!inside(v));
                    continue;
                };
                assert!(piece.contains(v, w));
                assert!((0..8).filter(|x| piece.contains(*x, w)).all(inside), "{a:?} {b:?} {v}: {piece:?}");
                let whole = a.is_full(w) && b.is_full(w);
                assert_eq!(piece.is_full(w), whole);
                assert!(
                    whole || !inside(piece.last(w) + 1) || a.meet(b, w) == pleach_expr::arc::Meet::Disjoint || {
                        // The arc itself goes on around, as far as its own beginning.
                        [a, b].iter().any(|c| !c.is_full(w) && c.last(w) == piece.last(w))
                    }
                );
            }
        }
    }
}
