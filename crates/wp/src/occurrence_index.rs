//! Which locations a condition mentions, and in which of its terms, kept while it is propagated backward.
//!
//! *Idea*: a step changes few terms of many. Those are found by the location it writes, and no other is visited. What
//! simplification removes is noticed only on the next look-up. *Invariant*: if `known`, every term of the condition
//! (but for its sums) stands under each of its locations.

use crate::condition::Condition;
use crate::location::{Loc, Locs};
use pleach_expr::{Op, SymbolId, TermId, Terms};
use pleach_memory::ObjId;
use rustc_hash::FxHashMap;

#[derive(Default)]
pub(crate) struct OccurrenceIndex {
    of: FxHashMap<SymbolId, Vec<TermId>>,
    /// those that are bytes of an object
    cells: FxHashMap<ObjId, Vec<SymbolId>>,
    known: bool,
}

impl OccurrenceIndex {
    /// The condition changed in a way that the index does not track.
    pub fn forget(&mut self) {
        self.known = false;
    }

    pub fn is_known(&self) -> bool {
        self.known
    }

    fn learn(&mut self, terms: &mut Terms, locs: &Locs, condition: &Condition) {
        if !self.known {
            self.of.clear();
            self.cells.clear();
            self.known = true;
            condition.terms().for_each(|t| self.add(terms, locs, t));
        }
    }

    /// The condition now has this term as well.
    pub fn add(&mut self, terms: &mut Terms, locs: &Locs, t: TermId) {
        if !self.known {
            return;
        }
        for k in terms.support(t).iter() {
            let list = self.of.entry(k.symbol()).or_default();
            if list.is_empty()
                && let Some(Loc::Cell { obj, .. }) = locs.get(k.symbol())
            {
                self.cells.entry(obj).or_default().push(k.symbol());
            }
            if list.last() != Some(&t) {
                list.push(t);
            }
        }
    }

    fn remove(&mut self, locs: &Locs, s: SymbolId) -> Vec<TermId> {
        if let Some(Loc::Cell { obj, .. }) = locs.get(s)
            && let Some(cells) = self.cells.get_mut(&obj)
        {
            cells.retain(|c| *c != s);
        }
        self.of.remove(&s).unwrap_or_default()
    }

    /// The terms that change when these variables are replaced, with what they become; they stand under their new
    /// locations.
    pub fn replaced(
        &mut self,
        terms: &mut Terms,
        locs: &Locs,
        condition: &Condition,
        map: &FxHashMap<TermId, TermId>,
    ) -> FxHashMap<TermId, TermId> {
        let mut changed = FxHashMap::default();
        for var in map.keys() {
            let symbol = SymbolId(terms.node(*var).a);
            let list = self.remove(locs, symbol);
            changed.extend(list.into_iter().filter(|t| condition.has(*t)).map(|t| (t, t)));
        }
        let mut r = terms.replacing(map);
        for (t, new) in &mut changed {
            *new = terms.substitute_by(*t, &mut r);
        }
        changed.values().for_each(|t| self.add(terms, locs, *t));
        changed
    }

    /// Something other than a sum of the condition mentions the symbol.
    pub fn mentions(&mut self, terms: &mut Terms, locs: &Locs, condition: &Condition, s: SymbolId) -> bool {
        self.learn(terms, locs, condition);
        let Some(list) = self.of.get(&s) else { return false };
        let found = list.iter().rev().any(|t| condition.has(*t));
        if !found {
            self.remove(locs, s);
        }
        found
    }

    /// The bytes of an object that something other than a sum mentions.
    pub fn cells(&mut self, terms: &mut Terms, locs: &Locs, condition: &Condition, obj: ObjId) -> Vec<SymbolId> {
        self.learn(terms, locs, condition);
        let mut cells = self.cells.get(&obj).cloned().unwrap_or_default();
        cells.retain(|s| self.mentions(terms, locs, condition, *s));
        cells
    }

    /// Something other than a sum mentions memory.
    pub fn mentions_memory(&mut self, terms: &mut Terms, locs: &Locs, condition: &Condition) -> bool {
        self.learn(terms, locs, condition);
        let found = |s: &SymbolId| self.of.get(s).is_some_and(|list| list.iter().rev().any(|t| condition.has(*t)));
        self.cells.values().flatten().any(found)
    }

    /// All keys are variables.
    pub fn follows(terms: &Terms, map: &FxHashMap<TermId, TermId>) -> bool {
        map.keys().all(|k| terms.op(*k) == Op::Var)
    }
}
