//! Terms as polynomials over what is no sum and no product: a solver for bit-vectors does not multiply out.

use pleach_expr::{Op, TermId, Terms, mask};
use std::collections::BTreeMap;

/// Larger polynomials are not computed with.
const LARGE: usize = 64;
const DEPTH: u32 = 12;

/// Coefficients by product of atoms.
type Polynomial = BTreeMap<Vec<TermId>, u64>;

/// Both have the same value whatever their atoms are; false also where that does not show.
pub(super) fn are_equal(a: TermId, b: TermId, terms: &Terms) -> bool {
    if terms.width(a) != terms.width(b) || terms.width(a) > 64 {
        return false;
    }
    let (a, b) = (of(a, terms, DEPTH), of(b, terms, DEPTH));
    a.is_some() && a == b
}

fn of(t: TermId, terms: &Terms, depth: u32) -> Option<Polynomial> {
    let ones = mask(terms.width(t));
    let depth = depth.checked_sub(1)?;
    if let Some(k) = terms.as_const(t) {
        return Some(scaled(Polynomial::from([(Vec::new(), 1)]), k, ones));
    }
    let (parts, k) = terms.linear(t)?;
    let mut out = scaled(Polynomial::from([(Vec::new(), 1)]), k, ones);
    for (atom, k) in parts {
        let n = terms.node(atom);
        let of_atom = match n.op {
            Op::Mul => product(&of(n.arg_a(), terms, depth)?, &of(n.arg_b(), terms, depth)?, ones)?,
            Op::Concat => match doubled(atom, terms) {
                Some((of_what, times)) => scaled(of(of_what, terms, depth)?, 1 << times, ones),
                None => Polynomial::from([(vec![atom], 1)]),
            },
            _ => Polynomial::from([(vec![atom], 1)]),
        };
        for (monomial, x) in scaled(of_atom, k, ones) {
            add(&mut out, monomial, x, ones);
        }
    }
    (out.len() <= LARGE).then_some(out)
}

/// A term shifted by a constant: its low bits and zeros behind them.
fn doubled(t: TermId, terms: &Terms) -> Option<(TermId, u16)> {
    let n = terms.node(t);
    let (high, low) = (terms.node(n.arg_a()), n.arg_b());
    let cut = high.op == Op::Extract && high.b == 0 && terms.width(high.arg_a()) == terms.width(t);
    (cut && terms.as_const(low) == Some(0)).then(|| (high.arg_a(), terms.width(low)))
}

fn add(to: &mut Polynomial, monomial: Vec<TermId>, k: u64, ones: u64) {
    let sum = to.get(&monomial).copied().unwrap_or(0).wrapping_add(k) & ones;
    if sum == 0 {
        to.remove(&monomial)
    } else {
        to.insert(monomial, sum)
    };
}

fn scaled(p: Polynomial, by: u64, ones: u64) -> Polynomial {
    p.into_iter().map(|(m, k)| (m, k.wrapping_mul(by) & ones)).filter(|(_, k)| *k != 0).collect()
}

fn product(a: &Polynomial, b: &Polynomial, ones: u64) -> Option<Polynomial> {
    let mut out = Polynomial::new();
    for (x, j) in a {
        for (y, k) in b {
            let mut monomial = [&x[..], &y[..]].concat();
            monomial.sort_unstable();
            add(&mut out, monomial, j.wrapping_mul(*k) & ones, ones);
        }
    }
    (out.len() <= LARGE).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::SymbolKind;

    #[test]
    fn squares_are_multiplied_out() {
        let mut t = Terms::new(64);
        let mut var = |name: &str| {
            let s = t.symbols.named(name, SymbolKind::Bits(32));
            t.var(s)
        };
        let (x, y) = (var("x"), var("y"));
        let (one, two) = (t.constant(32, 1), t.constant(32, 2));
        let next = t.add(x, one);
        let square = t.mul(next, next);
        let (xx, twice) = (t.mul(x, x), t.mul(two, x));
        let sum = t.add(xx, twice);
        let same = t.add(sum, one);
        assert!(are_equal(square, same, &t));
        assert!(!are_equal(square, sum, &t));
        let (a, b) = (t.mul(x, y), t.mul(y, x));
        assert!(are_equal(a, b, &t));
        assert!(!are_equal(a, xx, &t));
    }
}
