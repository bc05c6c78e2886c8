//! Equations between places and products of two of them, guessed from how much they changed since the loop was entered.

use super::candidates::Candidate;
use super::places::{LoopLocation, Values};
use super::{AtHeader, InductionState};
use crate::loops::null_space;
use pleach_expr::{Model, TermId, Terms, sign_extend};
use pleach_state::State;

/// Places of equations, and of products.
const PLACES: usize = 8;
const FACTORS: usize = 4;
/// Coefficients beyond this are chance.
const LARGE: i128 = 1 << 10;
/// Values beyond this say nothing of products.
const HUGE: i64 = 1 << 20;

/// The monomials of a header: registers and words of 32 and 64 bits that it writes, and the others it reads.
fn monomials(at: &AtHeader, values: &Values, terms: &Terms) -> Vec<(Vec<LoopLocation>, u16)> {
    let width = |p: &LoopLocation| terms.width(values[p]);
    let changes = |p: &LoopLocation| match p {
        LoopLocation::Register(r) => at.written.iter().any(|(w, _)| w == r),
        LoopLocation::Word { .. } => true,
        LoopLocation::Array(_) => false,
    };
    let number = |p: &LoopLocation| !matches!(p, LoopLocation::Array(_)) && matches!(width(p), 32 | 64);
    let mut places: Vec<LoopLocation> = values.keys().copied().filter(number).collect();
    places.sort_unstable();
    places.sort_by_key(|p| !changes(p));
    places.truncate(PLACES);
    let mut out: Vec<(Vec<LoopLocation>, u16)> = Vec::new();
    out.extend(places.iter().filter(|p| changes(p)).map(|p| (vec![*p], width(p))));
    for (i, a) in places.iter().enumerate().take(FACTORS).filter(|(_, p)| changes(p)) {
        for b in places.iter().take(FACTORS).skip(i).filter(|b| width(b) == width(a)) {
            out.push((vec![*a, *b], width(a)));
        }
    }
    out
}

/// The value under the model of the path.
fn under_model(state: &State, t: TermId, terms: &mut Terms) -> Option<i64> {
    let mut model = Model::new();
    for k in terms.support(t).iter() {
        if k.is_whole() {
            return None;
        }
        model.set(*k, state.path.model_value(*k));
    }
    let width = terms.width(t);
    terms.try_eval(t, &model).map(|v| sign_extend(v, width))
}

/// How much each monomial changed; the monomials are those of the header's first sample.
pub(super) fn row(at: &mut AtHeader, now: &Values, entry: &Values, state: &State, terms: &mut Terms) {
    if at.monomials.is_none() {
        at.monomials = Some(monomials(at, entry, terms));
    }
    let all = at.monomials.clone().unwrap_or_default();
    let mut row = Vec::new();
    for (places, _) in &all {
        let mut value = |values: &Values| {
            let mut product = 1i128;
            for p in places {
                let v = under_model(state, *values.get(p)?, terms)?;
                if places.len() > 1 && v.abs() > HUGE {
                    return None;
                }
                product *= i128::from(v);
            }
            Some(product)
        };
        let change = value(now).zip(value(entry)).map(|(a, b)| a - b);
        row.push(change);
    }
    if at.rows.len() < 64 && !at.rows.contains(&row) {
        at.rows.push(row);
    }
}

/// What the samples have in common: linear equations, and those with one product if there are enough samples.
pub(super) fn guess(at: &AtHeader) -> Vec<Candidate> {
    let all = at.monomials.clone().unwrap_or_default();
    let mut out = Vec::new();
    for width in [32, 64] {
        let linear: Vec<usize> = (0..all.len()).filter(|i| all[*i].1 == width && all[*i].0.len() == 1).collect();
        let products = (0..all.len()).filter(|i| all[*i].1 == width && all[*i].0.len() > 1);
        let with_product = products.map(|i| linear.iter().copied().chain([i]).collect());
        let sets: Vec<Vec<usize>> = std::iter::once(linear.clone()).chain(with_product).collect();
        for columns in sets {
            let of = |r: &Vec<Option<i128>>| columns.iter().map(|i| r[*i]).collect::<Option<Vec<i128>>>();
            let rows: Vec<Vec<i128>> = at.rows.iter().filter_map(of).collect();
            // As many samples as coefficients, at least.
            if columns.len() < 2 || rows.len() < columns.len() {
                continue;
            }
            for solution in null_space(rows, columns.len()).unwrap_or_default() {
                let used = solution.iter().filter(|k| **k != 0).count();
                if used < 2 || solution.iter().any(|k| k.abs() > LARGE) {
                    continue;
                }
                let parts = columns.iter().zip(&solution).filter(|(_, k)| **k != 0);
                let parts = parts.map(|(i, k)| (all[*i].0.clone(), *k as i64)).collect();
                let equation = Candidate::Equation(parts);
                if !out.contains(&equation) {
                    out.push(equation);
                }
            }
        }
    }
    out
}

impl InductionState {
    /// Adds the equations that the samples show.
    pub(super) fn add_equations(&mut self) {
        for at in self.headers.values_mut() {
            let more = guess(at);
            at.equations = more;
        }
    }
}
