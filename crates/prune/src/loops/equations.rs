//! Linear equations between locations that hold in several states at once.
//!
//! *Idea*: the values of locations in a header's state and in those of its leaves are linear forms over the inputs of
//! the path. A combination of locations that adds up to one constant in all of these states is a guess at an invariant:
//! `i + j == n`, `2 * i == j`. All of them are the null space of a matrix. *Direction*: guesses only; each is tested
//! alone before it is used, and what one round does not keep is dropped.

use crate::modular::Form;
use pleach_expr::{TermId, Terms, sign_extend};
use std::collections::BTreeMap;

/// Coefficients beyond this are chance.
const LARGE: i128 = 1 << 10;
/// Numbers beyond this are not computed with.
const HUGE: i128 = 1 << 48;

/// One state's values of the places; `None` where it shows none.
pub(super) type Values = Vec<Option<TermId>>;

/// The equations over these places, all of one width, that hold in all of the states. `with_constant`: a sum may be any
/// constant; otherwise it is 0, as in what holds whatever the inputs are.
pub(super) fn equations(terms: &mut Terms, places: &[TermId], states: &[Values], with_constant: bool) -> Vec<TermId> {
    let mut widths: Vec<u16> = places.iter().map(|p| terms.width(*p)).collect();
    widths.sort_unstable();
    widths.dedup();
    let mut out = Vec::new();
    for w in widths.into_iter().filter(|w| (8..=64).contains(w)) {
        let known = |i: &usize| terms.width(places[*i]) == w && states.iter().all(|s| s[*i].is_some());
        let columns: Vec<usize> = (0..places.len()).filter(known).collect();
        if let Some(found) = of_width(terms, w, places, &columns, states, with_constant) {
            out.extend(found);
        }
    }
    out
}

fn of_width(
    terms: &mut Terms,
    w: u16,
    places: &[TermId],
    columns: &[usize],
    states: &[Values],
    with_constant: bool,
) -> Option<Vec<TermId>> {
    let (mut rows, mut constants) = (Vec::new(), Vec::new());
    for values in states {
        let mut of_atom: BTreeMap<TermId, Vec<i128>> = BTreeMap::new();
        let mut constant = Vec::new();
        for (at, i) in columns.iter().enumerate() {
            let (parts, k) = terms.linear(values[*i]?)?;
            constant.push(i128::from(sign_extend(k, w)));
            for (atom, k) in parts {
                of_atom.entry(atom).or_insert_with(|| vec![0; columns.len()])[at] = i128::from(sign_extend(k, w));
            }
        }
        rows.extend(of_atom.into_values());
        constants.push(constant);
    }
    let (first, rest) = constants.split_first()?;
    if with_constant {
        rows.extend(rest.iter().map(|c| c.iter().zip(first).map(|(a, b)| a - b).collect::<Vec<i128>>()));
    } else {
        rows.extend(constants.iter().cloned());
    }
    let mut out = Vec::new();
    for solution in null_space(rows, columns.len())? {
        let used = solution.iter().filter(|k| **k != 0).count();
        if used < 2 || solution.iter().any(|k| k.abs() > LARGE) {
            continue;
        }
        let total: i128 = solution.iter().zip(first).map(|(k, v)| k * v).sum();
        let parts = columns.iter().zip(&solution).filter(|(_, k)| **k != 0).map(|(i, k)| (places[*i], *k as u64));
        let sum = Form { width: w, parts: parts.collect() }.term(terms);
        let total = terms.constant(w, total as u64);
        out.push(terms.eq(sum, total));
    }
    Some(out)
}

/// Integer vectors, each with a column of its own, that span all solutions of `rows · x = 0`.
pub(crate) fn null_space(mut rows: Vec<Vec<i128>>, columns: usize) -> Option<Vec<Vec<i128>>> {
    let mut pivots: Vec<usize> = Vec::new();
    for column in 0..columns {
        let done = pivots.len();
        let Some(at) = (done..rows.len()).find(|r| rows[*r][column] != 0) else { continue };
        rows.swap(done, at);
        let pivot = rows[done].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            if i != done && row[column] != 0 {
                let (a, b) = (pivot[column], row[column]);
                row.iter_mut().zip(&pivot).for_each(|(x, p)| *x = *x * a - p * b);
                reduce(row)?;
            }
        }
        pivots.push(column);
    }
    let mut out = Vec::new();
    for free in (0..columns).filter(|c| !pivots.contains(c)) {
        // x[free] = scale; each pivot row gives its own column.
        let mut scale = 1i128;
        for (row, column) in rows.iter().zip(&pivots) {
            let p = row[*column];
            scale = scale.checked_mul(p / gcd(gcd(p, row[free]), p))?;
            if scale.abs() > HUGE {
                return None;
            }
        }
        let mut solution = vec![0; columns];
        solution[free] = scale;
        for (row, column) in rows.iter().zip(&pivots) {
            let (whole, p) = (row[free].checked_mul(scale)?, row[*column]);
            if whole % p != 0 {
                return None;
            }
            solution[*column] = -whole / p;
        }
        reduce(&mut solution)?;
        out.push(solution);
    }
    Some(out)
}

/// Divides by what all have in common; `None`: numbers became too large.
fn reduce(row: &mut [i128]) -> Option<()> {
    let d = row.iter().fold(0, |d, x| gcd(d, *x));
    if d > 1 {
        row.iter_mut().for_each(|x| *x /= d);
    }
    row.iter().all(|x| x.abs() <= HUGE).then_some(())
}

fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.abs(), b.abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::SymbolKind;

    #[test]
    fn null_spaces_are_solutions_and_all_of_them() {
        let rows = vec![vec![1, 1, 0, -1], vec![2, 2, 0, -2], vec![0, 3, 0, 6]];
        let found = null_space(rows.clone(), 4).expect("small numbers");
        assert_eq!(found.len(), 2, "four columns, two independent rows");
        for x in &found {
            assert!(rows.iter().all(|r| r.iter().zip(x).map(|(a, b)| a * b).sum::<i128>() == 0), "{x:?}");
            assert!(x.iter().any(|k| *k != 0));
        }
    }

    #[test]
    fn counters_are_related_by_their_first_values_and_steps() {
        let mut t = Terms::new(64);
        let mut var = |name: &str| {
            let s = t.symbols.named(name, SymbolKind::Bits(32));
            t.var(s)
        };
        let (i, j, n, input) = (var("i"), var("j"), var("n"), var("input"));
        let [zero, one, two] = [0, 1, 2].map(|k| t.constant(32, k));
        let less = t.sub(input, two);
        // i = 0, j = n, then i = 1, j = n - 2
        let states = [vec![Some(zero), Some(input), Some(input)], vec![Some(one), Some(less), Some(input)]];
        let found = equations(&mut t, &[i, j, n], &states, true);
        assert_eq!(found.len(), 1);
        let mut holds = |i, j, n| {
            let m = model(&[("i", i), ("j", j), ("n", n)], &mut t);
            t.eval(found[0], &m) == 1
        };
        assert!(holds(3, 4, 10) && holds(0, 7, 7) && !holds(3, 5, 10) && !holds(1, 1, 1));
    }

    #[test]
    fn without_a_constant_a_sum_is_zero() {
        let mut t = Terms::new(64);
        let mut var = |name: &str| {
            let s = t.symbols.named(name, SymbolKind::Bits(32));
            t.var(s)
        };
        let (j, k, n) = (var("i"), var("j"), var("n"));
        let [zero, one] = [0, 1].map(|k| t.constant(32, k));
        // j = 0, k = n = 1, then j = 1, k = 0
        let states = [vec![Some(zero), Some(one), Some(one)], vec![Some(one), Some(zero), Some(one)]];
        let found = equations(&mut t, &[j, k, n], &states, false);
        assert_eq!(found.len(), 1);
        let mut holds = |i, j, n| {
            let m = model(&[("i", i), ("j", j), ("n", n)], &mut t);
            t.eval(found[0], &m) == 1
        };
        assert!(holds(3, 4, 7) && !holds(0, 1, 2));
    }

    fn model(values: &[(&str, u64)], t: &mut Terms) -> pleach_expr::Model {
        let mut m = pleach_expr::Model::new();
        for (name, v) in values {
            let s = t.symbols.named(name, SymbolKind::Bits(32));
            m.set(pleach_expr::Key::new(s, 0), *v);
        }
        m
    }
}
