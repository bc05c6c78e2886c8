//! Sums of many locations, kept separate from the other literals.
//!
//! *Idea*: after N stores and N additions a condition is one literal of N summands, at each of N nodes. As a term it
//! would be rebuilt at each step; as a persistent map a step costs O(log N), and nodes share what is the same.
//! *Invariant*: `Σ coefficient · location ∈ arc` modulo 2ʷ; every location is w bits wide, no coefficient is 0.

use crate::location::{Loc, Locs};
use pleach_expr::arc::Arc;
use pleach_expr::{Op, SymbolId, TermId, Terms, mask};
use pleach_state::OrdMap;
use rustc_hash::FxHashMap;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sum {
    pub width: u16,
    /// the variable of each location, and its coefficient
    pub parts: OrdMap<Loc, (TermId, u64)>,
    pub arc: Arc,
}

impl Sum {
    /// From a linear form whose atoms are locations; `None` if one is not.
    pub fn new(terms: &Terms, locs: &Locs, width: u16, form: &[(TermId, u64)], arc: Arc) -> Option<Sum> {
        let mut parts = OrdMap::new();
        for &(t, k) in form {
            parts.insert(location(terms, locs, t)?, (t, k));
        }
        Some(Sum { width, parts, arc })
    }

    pub fn mentions(&self, loc: Loc) -> bool {
        self.parts.contains_key(&loc)
    }

    /// Some summand is in memory: cells are ordered after registers.
    pub fn mentions_memory(&self) -> bool {
        self.parts.get_max().is_some_and(|(l, _)| matches!(l, Loc::Cell { .. }))
    }

    /// The cells of an object that begin at an offset in the range.
    pub fn cells(
        &self,
        obj: pleach_memory::ObjId,
        from: u64,
        to: u64,
    ) -> impl Iterator<Item = (Loc, TermId, u64)> + '_ {
        let (a, b) = (Loc::Cell { obj, off: from, bytes: 0 }, Loc::Cell { obj, off: to, bytes: 0 });
        self.parts.range(a..b).map(|(l, (t, k))| (*l, *t, *k))
    }

    fn add(&mut self, loc: Loc, var: TermId, k: u64) {
        let m = mask(self.width);
        let sum = self.parts.get(&loc).map_or(0, |p| p.1).wrapping_add(k) & m;
        if sum == 0 {
            self.parts.remove(&loc);
        } else {
            self.parts.insert(loc, (var, sum));
        }
    }

    /// Replaces locations by values, all at once; `None` if one of the values is no sum of locations.
    pub fn substitute(&self, terms: &Terms, locs: &Locs, map: &FxHashMap<TermId, TermId>) -> Option<Sum> {
        let mut out = self.clone();
        let mut new: Vec<(Loc, TermId, u64)> = Vec::new();
        let mut constants = 0u64;
        for (&var, &value) in map {
            let Some(loc) = location(terms, locs, var) else { continue };
            let Some(&(have, factor)) = self.parts.get(&loc) else { continue };
            if have != var {
                return None;
            }
            let (form, constant) = terms.linear(value)?;
            out.parts.remove(&loc);
            for (t, k) in form {
                new.push((location(terms, locs, t)?, t, k.wrapping_mul(factor)));
            }
            constants = constants.wrapping_add(constant.wrapping_mul(factor));
        }
        for (loc, var, k) in new {
            out.add(loc, var, k);
        }
        out.arc = out.arc.moved(constants.wrapping_neg(), out.width);
        Some(out)
    }

    /// The same condition as ordinary literals.
    pub fn literals(&self, terms: &mut Terms) -> Vec<TermId> {
        let mut total = terms.constant(self.width, 0);
        for &(t, k) in self.parts.values() {
            let k = terms.constant(self.width, k);
            let part = terms.mul(t, k);
            total = terms.add(total, part);
        }
        match terms.as_const(total) {
            Some(v) if self.arc.contains(v, self.width) => Vec::new(),
            Some(_) => vec![Terms::FALSE],
            None => self.arc.write(terms, total),
        }
    }
}

/// The location that a variable stands for.
fn location(terms: &Terms, locs: &Locs, t: TermId) -> Option<Loc> {
    let n = terms.node(t);
    if n.op == Op::Var { locs.get(SymbolId(n.a)) } else { None }
}
