//! Keeping interpolants small: of all bounds on one linear form only the tightest stay.
//!
//! *Paper*: TracerX §5; techniques "Tightening". *Invariant*: the result implies the condition given, and the state at hand satisfies every
//! bound that replaces literals; where it does not, the literals stay as they were.

use crate::linear::{Reading, write};
use pleach_expr::TermId;
use pleach_state::State;
use pleach_state::seams::Logic;
use pleach_wp::Condition;

/// Beyond so many literals an interpolant is not worth its cost.
pub const MAX_LITERALS: usize = 256;

pub struct Context<'a> {
    pub logic: &'a mut dyn Logic,
    pub state: &'a State,
    /// a literal over locations holds in `state`
    pub holds: &'a mut dyn FnMut(&mut dyn Logic, &State, TermId) -> bool,
}

/// `x = c` as a signed number.
fn pinned(terms: &pleach_expr::Terms, l: TermId) -> Option<(TermId, i128)> {
    let n = terms.node(l);
    if n.op != pleach_expr::Op::Eq {
        return None;
    }
    let (x, c) = match (terms.as_const(n.arg_a()), terms.as_const(n.arg_b())) {
        (Some(c), None) => (n.arg_b(), c),
        (None, Some(c)) => (n.arg_a(), c),
        _ => return None,
    };
    Some((x, i128::from(pleach_expr::sign_extend(c, terms.width(x)))))
}

pub fn tighten(cx: &mut Context, condition: &mut Condition) {
    let literals = std::mem::take(&mut condition.literals);
    let mut reading = Reading::default();
    let mut comparisons = Vec::new();
    for l in literals {
        if reading.literal(cx.logic.terms(), l) {
            comparisons.push(l);
        } else {
            condition.require(l);
        }
    }
    if comparisons.is_empty() {
        return;
    }
    let equal: rustc_hash::FxHashMap<TermId, i128> =
        condition.literals.iter().filter_map(|&l| pinned(cx.logic.terms(), l)).collect();
    let mut tight = Vec::new();
    for (form, bounds) in &reading.bounds {
        // What an equation already says need not be said again.
        if let [((t, true), 1)] = form[..]
            && let Some(&v) = equal.get(&t)
            && bounds.lo.is_none_or(|lo| lo <= v)
            && bounds.hi.is_none_or(|hi| v <= hi)
        {
            continue;
        }
        match write(cx.logic.terms(), form, *bounds) {
            Some(ls) => tight.extend(ls),
            None => {
                comparisons.into_iter().for_each(|l| condition.require(l));
                return;
            }
        }
    }
    let all_hold = tight.iter().all(|&l| (cx.holds)(cx.logic, cx.state, l));
    if all_hold {
        // SOUND: bounds with their provisos imply the comparisons they were read from.
        tight.into_iter().for_each(|l| condition.require(l));
    } else {
        comparisons.into_iter().for_each(|l| condition.require(l));
    }
}
