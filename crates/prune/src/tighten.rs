//! Keeping interpolants small: of all bounds on one linear form only the tightest stay.
//!
//! *Paper*: TracerX §5; techniques "Tightening". *Idea*: comparisons with constants are arcs of modular forms
//! ([`crate::modular`]), exactly; comparisons of two terms are read over the integers, with provisos
//! ([`crate::linear`]). *Invariant*: the result implies the condition given, and the state at hand satisfies every
//! bound that replaces literals; where it does not, the literals stay as they were.

use crate::linear::{Reading, Written};
use crate::modular::{Arcs, MIN_SUMMANDS, Readings};
use crate::pointer_literals::{globals, merge_places};
use pleach_expr::{Op, TermId, Terms};
use pleach_state::State;
use pleach_state::seams::PathOracle;
use pleach_wp::{Condition, Locs};
use rustc_hash::FxHashMap;

/// An interpolant of more literals than this is not worth its cost.
pub const MAX_LITERALS: usize = 256;

pub struct Context<'a> {
    pub oracle: &'a mut dyn PathOracle,
    pub state: &'a State,
    pub locs: &'a Locs,
    /// objects with ids below this are the same in every state
    pub fixed: u32,
    pub written: &'a mut Written,
    pub readings: &'a mut Readings,
    /// a literal over locations holds in `state`
    pub holds: &'a mut dyn FnMut(&mut dyn PathOracle, TermId) -> bool,
}

pub fn tighten(cx: &mut Context, condition: &mut Condition) {
    globals(cx.oracle.terms(), cx.state, cx.fixed, condition);
    crate::offset_literals::by_offset(cx, condition);
    for _ in 0..3 {
        merge(cx, condition);
        if !propagate(cx.oracle.terms(), cx.locs, condition) {
            break;
        }
    }
    merge_places(cx.oracle.terms(), cx.fixed, condition);
}

/// A location and the constant that an equation gives it.
fn equation(terms: &Terms, l: TermId) -> Option<(TermId, TermId)> {
    let n = terms.node(l);
    let (a, b) = (n.arg_a(), n.arg_b());
    match n.op {
        Op::Eq if terms.op(a) == Op::Var && terms.is_constant(b) => Some((a, b)),
        Op::Eq if terms.op(b) == Op::Var && terms.is_constant(a) => Some((b, a)),
        _ => None,
    }
}

/// Replaces locations that an equation fixes by their constants in everything else the condition says; true if a
/// literal changed.
///
/// SOUND: under the equation both forms mean the same, and the equation stays.
fn propagate(terms: &mut Terms, locs: &Locs, condition: &mut Condition) -> bool {
    let known: FxHashMap<TermId, TermId> = condition.literals.iter().filter_map(|&l| equation(terms, l)).collect();
    if known.is_empty() {
        return false;
    }
    let mut changed = false;
    for s in std::mem::take(&mut condition.sums) {
        match s.substitute(terms, locs, &known) {
            Some(new) if new.parts.len() >= MIN_SUMMANDS => condition.sums.push(new),
            _ => {
                s.literals(terms).into_iter().for_each(|l| condition.require(l));
                changed = true;
            }
        }
    }
    let mut replacing = terms.replacing(&known);
    for l in std::mem::take(&mut condition.literals) {
        let new = match equation(terms, l) {
            Some((x, c)) if known.get(&x) == Some(&c) => l,
            _ => terms.substitute_by(l, &mut replacing),
        };
        changed |= new != l;
        condition.require(new);
    }
    condition.substitute_pointers(terms, &known);
    changed
}

/// One literal for all comparisons of one form.
fn merge(cx: &mut Context, condition: &mut Condition) {
    let (mut arcs, mut integers) = (Arcs::default(), Reading::default());
    let (mut comparisons, mut others) = (Vec::new(), Vec::new());
    for mut l in std::mem::take(&mut condition.literals) {
        let terms = cx.oracle.terms();
        if matches!(terms.op(l), Op::Or | Op::Not)
            && let Some(m) = crate::ranges::merge(terms, l)
        {
            l = m;
        }
        if arcs.literal(terms, cx.readings, l) {
            continue;
        }
        if integers.literal(terms, l) {
            comparisons.push(l);
        } else {
            others.push(l);
        }
    }
    if !comparisons.is_empty() {
        let tight: Option<Vec<Vec<TermId>>> =
            integers.bounds.iter().map(|(form, b)| cx.written.write(cx.oracle.terms(), form, *b)).collect();
        // What was there before holds as it did.
        let mut fits = |l: TermId| comparisons.contains(&l) || (cx.holds)(cx.oracle, l);
        match tight.map(|t| t.concat()).filter(|t| t.iter().all(|&l| fits(l))) {
            // SOUND: bounds with their provisos imply the comparisons they were read from.
            Some(tight) => {
                others.extend(tight.into_iter().filter(|&l| !arcs.literal(cx.oracle.terms(), cx.readings, l)));
            }
            None => others.extend(comparisons),
        }
    }
    for l in arcs.write(cx.oracle.terms(), cx.readings, cx.locs, condition).into_iter().chain(others) {
        condition.require(l);
    }
}
