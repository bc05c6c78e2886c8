//! Literals that must hold for any value of a fresh symbolic variable: turned into conditions on the locations alone.
//!
//! *Paper*: HeapInterp §V-A (slackening). *Idea*: with every location fixed to its value on this path the literal holds
//! for all values of the variable; then each equation is weakened to `≥` or `≤` as long as it still does. *Invariant*:
//! the result implies the literal for all values of the variable, and the state at hand satisfies it. *Direction*:
//! leaves the literal as it is where that fails.

use crate::matching::Matcher;
use pleach_expr::{TermId, Terms};
use pleach_state::State;
use pleach_state::seams::PathOracle;
use pleach_wp::{Condition, Locs};

const MAX_LOCATIONS: usize = 4;

pub fn slacken(oracle: &mut dyn PathOracle, state: &State, locs: &Locs, fixed: u32, condition: &mut Condition) {
    let literals = std::mem::take(&mut condition.literals);
    for l in literals {
        match without_fresh_variables(oracle, state, locs, fixed, l) {
            Some(parts) => parts.into_iter().for_each(|p| condition.require(p)),
            None => condition.require(l),
        }
    }
}

fn without_fresh_variables(
    oracle: &mut dyn PathOracle,
    state: &State,
    locs: &Locs,
    fixed: u32,
    l: TermId,
) -> Option<Vec<TermId>> {
    let support = oracle.terms().support(l);
    if support.iter().all(|k| locs.get(k.symbol()).is_some()) {
        return None;
    }
    let (known, _) = support.iter().copied().partition::<Vec<pleach_expr::Key>, _>(|k| locs.get(k.symbol()).is_some());
    if known.len() > MAX_LOCATIONS {
        return None;
    }
    // (location, relation): first all fixed to their values
    let mut parts: Vec<(TermId, TermId, TermId)> = Vec::new();
    for k in known {
        let x = oracle.terms().var(k.symbol());
        let v = Matcher::own(state, locs, fixed).translate(oracle, x)?;
        oracle.terms().as_const(v)?;
        let same = oracle.terms().eq(x, v);
        parts.push((x, v, same));
    }
    let implies = |oracle: &mut dyn PathOracle, parts: &[(TermId, TermId, TermId)]| {
        let mut all = Terms::TRUE;
        for p in parts {
            all = oracle.terms().and(all, p.2);
        }
        let claim = oracle.terms().implies(all, l);
        oracle.valid(claim)
    };
    if !implies(oracle, &parts) {
        return None;
    }
    for i in 0..parts.len() {
        let (x, v, same) = parts[i];
        let weaker = [Terms::TRUE, oracle.terms().sle(v, x), oracle.terms().sle(x, v)];
        for w in weaker {
            parts[i].2 = w;
            if implies(oracle, &parts) {
                break;
            }
            parts[i].2 = same;
        }
    }
    Some(parts.into_iter().map(|p| p.2).filter(|t| *t != Terms::TRUE).collect())
}
