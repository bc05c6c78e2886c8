//! What earlier queries have proved.
//!
//! *Idea*: if a goal is refuted by a path, its negation follows from the constraints in the core. A later query with
//! these constraints may use it instead of them: then a few constraints are enough, and a round of a scan costs the
//! same whatever number of rounds was before it. *Invariant*: a lemma follows from its premises, which are constraints
//! of the query; the core of an attempt has them in place of the lemma. *Direction*: an attempt that does not refute
//! says nothing.

use crate::answer::Core;
use crate::evidence;
use crate::query::Query;
use pleach_expr::arc::{Arc, Meet};
use pleach_expr::{Key, Op, SymbolId, TermId, Terms, facts};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Smaller queries are solved as they are.
const MIN_CONSTRAINTS: usize = 12;
/// Constraints that share a variable with the goal, of the first attempt and of the second.
pub(super) const NEWEST: [usize; 2] = [2, 8];
/// Constraints about one variable.
const MAX_SINGLE: usize = 16;
/// Lemmas of an attempt, for each largest premise, and in all.
const MAX_USED: usize = 3;
const PER_TERM: usize = 4;
const MAX_LEMMAS: usize = 4_096;
/// Width of indices of arrays.
const INDEX_BITS: u16 = 32;
/// Attempts that may fail, and for each that succeeded.
const FREE_FAILURES: u64 = 16;

#[derive(Clone)]
struct Lemma {
    fact: TermId,
    premises: Rc<[TermId]>,
}

#[derive(Default)]
pub(super) struct Lemmas {
    /// by their largest premise
    known: FxHashMap<TermId, Vec<Lemma>>,
    count: usize,
    succeeded: u64,
    failed: u64,
}

/// A query that a larger one contains, or that follows from it.
pub(super) struct Attempt {
    /// sorted, without duplicates
    pub constraints: Vec<TermId>,
    /// what is not in the query, with the constraints that it follows from
    lemmas: Vec<Lemma>,
}

impl Attempt {
    /// The core of the query, from that of the attempt.
    pub fn core(&self, found: &Core) -> Core {
        let mut all = Vec::new();
        for &t in found.0.iter() {
            match self.lemmas.iter().find(|l| l.fact == t) {
                // SOUND: the fact follows from its premises.
                Some(lemma) => all.extend(lemma.premises.iter()),
                None => all.push(t),
            }
        }
        Core::new(all)
    }

    /// A constraint that is false, or the negation of another one, where a lemma says what a sum is: most attempts are
    /// about the last cell of a buffer, and need no solver.
    pub fn contradiction(&self, terms: &mut Terms) -> Option<Core> {
        for lemma in &self.lemmas {
            let n = terms.node(lemma.fact);
            let Some(value) = (n.op == Op::Eq).then(|| terms.as_const(n.arg_b())).flatten() else { continue };
            let x = n.arg_a();
            let mut map = FxHashMap::from_iter([(x, n.arg_b())]);
            // An index has fewer bits than an address.
            if terms.width(x) > INDEX_BITS {
                let low = terms.extract(x, 0, INDEX_BITS);
                map.insert(low, terms.constant(INDEX_BITS, value));
            }
            for &c in self.constraints.iter().filter(|c| **c != lemma.fact) {
                let made = terms.substitute(c, &map);
                if made == c {
                    continue;
                }
                let other = terms.not(made);
                if made == Terms::FALSE {
                    return Some(self.core(&Core::new(vec![c, lemma.fact])));
                }
                if self.constraints.binary_search(&other).is_ok() {
                    return Some(self.core(&Core::new(vec![c, other, lemma.fact])));
                }
            }
        }
        None
    }
}

impl Lemmas {
    pub fn learn(&mut self, terms: &mut Terms, query: &Query, core: &Core) {
        let Some(goal) = query.goal.filter(|g| core.0.contains(g) && !terms.has(*g, facts::HAS_FORALL)) else { return };
        let premises: Rc<[TermId]> = core.0.iter().copied().filter(|c| *c != goal).collect();
        let Some(&largest) = premises.last() else { return };
        if self.count == MAX_LEMMAS {
            self.known.clear();
            self.count = 0;
        }
        let list = self.known.entry(largest).or_default();
        if list.len() == PER_TERM {
            list.remove(0);
            self.count -= 1;
        }
        list.push(Lemma { fact: terms.not(goal), premises });
        self.count += 1;
    }

    pub fn tried(&mut self, succeeded: bool) {
        *(if succeeded { &mut self.succeeded } else { &mut self.failed }) += 1;
    }

    /// The newest constraints that share a variable with the goal, those about one variable of these, and lemmas.
    pub fn attempt(&self, terms: &mut Terms, query: &Query, newest: usize) -> Option<Attempt> {
        let all = query.constraints;
        if all.len() < MIN_CONSTRAINTS || self.failed > FREE_FAILURES + self.succeeded {
            return None;
        }
        let goal = query.goal.filter(|g| !terms.has(*g, facts::HAS_FORALL))?;
        let lemmas = together(terms, goal, self.applicable(all));
        let mut constraints = vec![goal];
        let of_goal = terms.support(goal);
        let shares = |terms: &mut Terms, c: TermId| terms.support(c).iter().any(|k| of_goal.binary_search(k).is_ok());
        let plain: Vec<TermId> = all.iter().rev().copied().filter(|c| !terms.has(*c, facts::HAS_FORALL)).collect();
        constraints.extend(plain.iter().filter(|c| **c != goal && shares(terms, **c)).take(newest));
        let symbols: FxHashSet<SymbolId> = constraints.iter().flat_map(|c| symbols(terms, *c)).collect();
        let single = |c: &&TermId| matches!(*terms.support(**c), [k] if symbols.contains(&Key::symbol(k)));
        constraints.extend(plain.iter().filter(single).take(MAX_SINGLE));
        constraints.extend(lemmas.iter().map(|l| l.fact));
        constraints.sort_unstable();
        constraints.dedup();
        Some(Attempt { constraints, lemmas })
    }

    /// The newest lemmas that the constraints imply.
    fn applicable(&self, constraints: &[TermId]) -> Vec<Lemma> {
        let lists = constraints.iter().rev().filter_map(|c| self.known.get(c));
        let implied = |l: &&Lemma| evidence::is_subset(&l.premises, constraints);
        lists.flat_map(|l| l.iter().rev()).filter(implied).take(MAX_USED).cloned().collect()
    }
}

/// The lemmas, or what one of them and the goal leave of a term that both bound: often one value.
fn together(terms: &mut Terms, goal: TermId, lemmas: Vec<Lemma>) -> Vec<Lemma> {
    let Some((x, arc)) = Arc::of_unshifted(terms, goal) else { return lemmas };
    for lemma in &lemmas {
        let Some((_, other)) = Arc::of_unshifted(terms, lemma.fact).filter(|l| l.0 == x) else { continue };
        let Meet::Arc(common) = arc.meet(other, terms.width(x)) else { continue };
        if common.more > 0 {
            continue;
        }
        let fact = common.inside(terms, x);
        // SOUND: x has this value where the lemma and the goal hold.
        let premises = lemma.premises.iter().copied().chain([goal]).collect();
        return vec![Lemma { fact, premises }];
    }
    lemmas
}

fn symbols(terms: &mut Terms, t: TermId) -> Vec<SymbolId> {
    terms.support(t).iter().map(|k| k.symbol()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::SymbolKind;

    /// `k1 + k2 = end` in 64 bits, `s[k1 + k2 + 8] ≠ 0` with an index of 32 bits, and `s[19] = 0`.
    fn last_cell(end: u64) -> (Terms, Attempt, Rc<[TermId]>) {
        let mut t = Terms::new(64);
        let s = t.symbols.named("s", SymbolKind::Array { element: 8, len: 20 });
        let s = t.array_var(s);
        let [k1, k2] = ["k1", "k2"].map(|k| t.symbols.named(k, SymbolKind::Bits(32))).map(|k| t.var(k));
        let (wide1, wide2) = (t.zext(k1, 64), t.zext(k2, 64));
        let (sum, end) = (t.add(wide1, wide2), t.constant(64, end));
        let fact = t.eq(sum, end);
        let (eight, zero, last) = (t.constant(32, 8), t.constant(8, 0), t.constant(32, 19));
        let index = t.add(k1, k2);
        let index = t.add(index, eight);
        let (cell, end) = (t.read(s, index), t.read(s, last));
        let (is_end, ends) = (t.eq(cell, zero), t.eq(end, zero));
        let premises: Rc<[TermId]> = [t.ult(k1, last), t.ult(k2, last)].into();
        let goes_on = t.not(is_end);
        let mut constraints = vec![goes_on, ends, fact];
        constraints.sort_unstable();
        let lemma = Lemma { fact, premises: premises.clone() };
        let premises = premises.iter().copied().chain([goes_on, ends]).collect();
        (t, Attempt { constraints, lemmas: vec![lemma] }, premises)
    }

    #[test]
    fn a_sum_that_is_known_refutes_without_a_solver() {
        let (mut terms, attempt, wanted) = last_cell(11);
        let core = attempt.contradiction(&mut terms).expect("s[19] is 0 and is not");
        assert_eq!(core, Core::new(wanted.to_vec()));
        let (mut terms, attempt, _) = last_cell(10);
        assert!(attempt.contradiction(&mut terms).is_none(), "s[18] may be anything");
    }
}
