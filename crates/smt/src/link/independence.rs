//! Constraints without common symbolic variables are solved separately.
//!
//! *Invariant*: ⋀Q is satisfiable iff every group is; the groups' models list disjoint symbolic variables, so together
//! they are a model of Q, and a core of one group is a core of Q. A whole array overlaps with each of its cells.

use crate::answer::{Answer, UnknownReason};
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::{Key, Model, SymbolId, TermId, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

pub struct Independence<S> {
    next: S,
    /// scratch: which group first mentioned a symbolic variable
    owner: FxHashMap<Key, usize>,
    statistics: Statistics,
}

#[derive(Default)]
struct Statistics {
    queries: u64,
    split: u64,
    groups: u64,
}

impl<S: Solver> Independence<S> {
    pub fn new(next: S) -> Independence<S> {
        Independence { next, owner: FxHashMap::default(), statistics: Statistics::default() }
    }

    /// The group of each constraint, or nothing if there is one group only.
    fn groups(&mut self, terms: &mut Terms, constraints: &[TermId]) -> Option<Vec<Vec<TermId>>> {
        if constraints.len() < 2 || share_a_key(terms, constraints) {
            return None;
        }
        let supports: Vec<_> = constraints.iter().map(|&c| terms.support(c)).collect();
        let mut whole: FxHashSet<SymbolId> = FxHashSet::default();
        whole.extend(supports.iter().flat_map(|s| s.iter()).filter(|k| k.is_whole()).map(|k| k.symbol()));
        let mut parent: Vec<usize> = (0..constraints.len()).collect();
        let mut count = constraints.len();
        self.owner.clear();
        for (i, support) in supports.iter().enumerate() {
            for &key in support.iter() {
                let key = if whole.contains(&key.symbol()) { Key::new(key.symbol(), Key::WHOLE) } else { key };
                let j = *self.owner.entry(key).or_insert(i);
                let (a, b) = (find(&mut parent, i), find(&mut parent, j));
                if a != b {
                    parent[a.max(b)] = a.min(b);
                    count -= 1;
                    if count == 1 {
                        return None;
                    }
                }
            }
        }
        let mut groups: Vec<Vec<TermId>> = Vec::with_capacity(count);
        let mut at = vec![usize::MAX; constraints.len()];
        for (i, &c) in constraints.iter().enumerate() {
            let root = find(&mut parent, i);
            if at[root] == usize::MAX {
                at[root] = groups.len();
                groups.push(Vec::new());
            }
            groups[at[root]].push(c);
        }
        Some(groups)
    }
}

fn find(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

/// The cheap way to see that there is one group: all constraints mention the first symbolic variable of the newest one.
fn share_a_key(terms: &mut Terms, constraints: &[TermId]) -> bool {
    let Some(&newest) = constraints.last() else { return true };
    let Some(&key) = terms.support(newest).first() else { return false };
    constraints.iter().all(|&c| terms.support(c).binary_search(&key).is_ok())
}

impl<S: Solver> Solver for Independence<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.statistics.queries += 1;
        let Some(groups) = self.groups(terms, query.constraints) else {
            return self.next.check(terms, query);
        };
        self.statistics.split += 1;
        self.statistics.groups += groups.len() as u64;
        let mut joined = Model::new();
        let mut unknown: Option<UnknownReason> = None;
        // The group of the newest constraint decides most often.
        for group in groups.iter().rev() {
            match self.next.check(terms, &query.with(group)) {
                Answer::Sat(model) => {
                    for (k, v) in model.entries() {
                        joined.set(k, v);
                    }
                }
                unsat @ Answer::Unsat(_) => return unsat,
                Answer::Unknown(why) => unknown = Some(why),
            }
        }
        match unknown {
            Some(why) => Answer::Unknown(why),
            None => Answer::Sat(Rc::new(joined)),
        }
    }

    fn stats(&self, out: &mut Stats) {
        out.add("independence.queries", self.statistics.queries);
        out.add("independence.split", self.statistics.split);
        out.add("independence.groups", self.statistics.groups);
        self.next.stats(out);
    }
}
