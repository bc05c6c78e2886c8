//! Which locations a condition mentions, kept while it is walked back.
//!
//! *Idea*: a step adds the locations of what it puts in. What simplification takes out is noticed only when it is asked for. *Invariant*: every
//! location of the condition is in the set; if `exact`, no other is.

use crate::condition::Condition;
use pleach_expr::{Key, Op, SymbolId, TermId, Terms};
use rustc_hash::{FxHashMap, FxHashSet};

#[derive(Default)]
pub(crate) struct Live {
    symbols: FxHashSet<SymbolId>,
    known: bool,
    exact: bool,
}

impl Live {
    /// The condition changed in a way that was not followed.
    pub fn forget(&mut self) {
        self.known = false;
    }

    /// The condition now has this term as well.
    pub fn add(&mut self, terms: &mut Terms, t: TermId) {
        if self.known {
            self.symbols.extend(terms.support(t).iter().map(|k| k.symbol()));
        }
    }

    /// Variables were replaced by terms, everywhere.
    pub fn replaced(&mut self, terms: &mut Terms, map: &FxHashMap<TermId, TermId>) {
        if !self.known {
            return;
        }
        for var in map.keys() {
            let n = terms.node(*var);
            if n.op == Op::Var {
                self.symbols.remove(&SymbolId(n.a));
            }
        }
        map.values().for_each(|t| self.add(terms, *t));
        self.exact = false;
    }

    /// Something other than a sum of the condition mentions the symbol.
    pub fn mentions(&mut self, terms: &mut Terms, condition: &Condition, s: SymbolId) -> bool {
        if !self.known {
            self.symbols = condition.support_but_sums(terms);
            (self.known, self.exact) = (true, true);
        }
        if self.exact || !self.symbols.contains(&s) {
            return self.symbols.contains(&s);
        }
        let key = [Key::new(s, 0)];
        let found = condition.terms().any(|t| terms.depends_on(t, &key));
        if !found {
            self.symbols.remove(&s);
        }
        found
    }
}
