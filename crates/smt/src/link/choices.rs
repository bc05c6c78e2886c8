//! Comparisons with a long choice between constants: `n ≤ ite(c0, 0, ite(c1, 1, …))`, as a merged loop counter is one.
//!
//! *Idea*: the cases of the choice are refuted one after the other, by the values that each term has left when the
//! conditions of the cases before it are false. A round of a merged scan is one case, so a proof has as many steps as
//! the scan has rounds, where a solver searches. *Invariant*: the arcs contain all values that the constraints and the
//! conditions so far allow; a case is refuted only where nothing is in common with them. *Direction*: gives up to the
//! next link; it never answers `Sat`.

use super::decided::Decided;
use crate::answer::{Answer, Core};
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::arc::{Arc, Meet};
use pleach_expr::{Op, TermId, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

/// Shorter choices are left to the others.
const MIN_CASES: usize = 16;
/// Terms of a goal above its choice that are looked at.
const MAX_ABOVE: usize = 32;

pub struct Choices<S> {
    next: S,
    decided: Decided,
}

impl<S: Solver> Choices<S> {
    pub fn new(next: S) -> Choices<S> {
        Choices { next, decided: Decided::default() }
    }
}

/// What is left of terms.
struct Arcs(FxHashMap<TermId, Arc>);

impl Arcs {
    /// Takes a condition into account, as far as it compares terms with constants; false if it cannot hold.
    fn assume(&mut self, terms: &mut Terms, condition: TermId) -> bool {
        for part in terms.conjuncts(condition) {
            let Some((x, arc)) = Arc::of_unshifted(terms, part) else { continue };
            let Some(before) = self.0.insert(x, arc) else { continue };
            let common = match before.meet(arc, terms.width(x)) {
                Meet::Nothing => return false,
                Meet::Arc(common) => common,
                // SOUND: two pieces are no arc; the wider one contains them.
                Meet::Disjoint => before,
            };
            self.0.insert(x, common);
        }
        true
    }

    /// Some part of the condition has no value in common with what is left.
    fn exclude(&self, terms: &mut Terms, condition: TermId) -> bool {
        terms.conjuncts(condition).into_iter().any(|part| {
            part == Terms::FALSE
                || Arc::of_unshifted(terms, part).is_some_and(|(x, arc)| {
                    self.0.get(&x).is_some_and(|left| left.meet(arc, terms.width(x)) == Meet::Nothing)
                })
        })
    }
}

/// The first case of a choice: its condition, its constant, and the other cases.
fn case(terms: &mut Terms, choice: TermId) -> Option<(TermId, TermId, TermId)> {
    let n = terms.node(choice);
    if n.op != Op::Ite {
        return None;
    }
    let [c, yes, no] = *terms.args(choice) else { return None };
    match (terms.is_constant(yes), terms.is_constant(no)) {
        (true, _) => Some((c, yes, no)),
        (false, true) => Some((terms.not(c), no, yes)),
        _ => None,
    }
}

/// A long choice in the goal.
fn long_choice(terms: &mut Terms, goal: TermId) -> Option<TermId> {
    let (mut todo, mut seen) = (vec![goal], FxHashSet::default());
    while let Some(t) = todo.pop() {
        if terms.op(t) == Op::Ite && terms.width(t) > 1 {
            let mut rest = t;
            for _ in 0..MIN_CASES {
                rest = case(terms, rest)?.2;
            }
            return Some(t);
        }
        if seen.len() == MAX_ABOVE {
            return None;
        }
        if seen.insert(t) {
            todo.extend(terms.args(t));
        }
    }
    None
}

/// Constraints that exclude every case of the choice in the goal.
fn refutation(terms: &mut Terms, constraints: &[TermId], goal: TermId) -> Option<Vec<TermId>> {
    let choice = long_choice(terms, goal)?;
    let mut arcs = Arcs(FxHashMap::default());
    let mut used = vec![goal];
    for &c in constraints.iter().filter(|c| **c != goal) {
        if Arc::of_unshifted(terms, c).is_some() {
            used.push(c);
            if !arcs.assume(terms, c) {
                return Some(used);
            }
        }
    }
    let mut rest = choice;
    while let Some((condition, value, others)) = case(terms, rest) {
        let here = terms.substitute(goal, &FxHashMap::from_iter([(choice, value)]));
        if !arcs.exclude(terms, here) && !arcs.exclude(terms, condition) {
            return None;
        }
        let otherwise = terms.not(condition);
        if !arcs.assume(terms, otherwise) {
            return Some(used);
        }
        rest = others;
    }
    let here = terms.is_constant(rest).then(|| terms.substitute(goal, &FxHashMap::from_iter([(choice, rest)])))?;
    arcs.exclude(terms, here).then_some(used)
}

impl<S: Solver> Solver for Choices<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        if let Some(goal) = query.goal {
            // SOUND: `used` excludes all cases of a choice that its goal is about; the cases are exhaustive.
            let found = refutation(terms, query.constraints, goal).map(|used| Answer::Unsat(Core::new(used)));
            if let Some(answer) = self.decided.count(found) {
                return answer;
            }
        }
        self.next.check(terms, query)
    }

    fn stats(&self, out: &mut Stats) {
        self.decided.stats(["choices.queries", "choices.sat", "choices.unsat"], out);
        self.next.stats(out);
    }
}
