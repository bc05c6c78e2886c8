//! What is known of one state's literals while it is compared with one entry after the other.
//!
//! *Idea*: the entries of a point are made of the same literals in other combinations, so one that failed refutes many
//! entries. *Invariant*: only literals over registers and objects that are the same in every state are kept; what
//! others mean depends on the entry's binding.

use pleach_expr::{TermId, Terms, facts};
use pleach_wp::{Loc, Locs};
use rustc_hash::FxHashMap;

#[derive(Default)]
pub(crate) struct LiteralCache {
    holds: FxHashMap<TermId, bool>,
}

impl LiteralCache {
    pub(crate) fn get(&self, literal: TermId) -> Option<bool> {
        self.holds.get(&literal).copied()
    }

    /// Objects with ids below `fixed` are the same in every state.
    pub(crate) fn learn(&mut self, terms: &mut Terms, locs: &Locs, fixed: u32, literal: TermId, holds: bool) {
        // SOUND: a base or a cell of another object is the bound object's, and the next entry binds anew.
        let bound = |loc| matches!(loc, Some(Loc::Cell { obj, .. } | Loc::Size { obj }) if obj.0 >= fixed);
        if terms.has(literal, facts::HAS_BASE) || terms.support(literal).iter().any(|k| bound(locs.get(k.symbol()))) {
            return;
        }
        self.holds.insert(literal, holds);
    }
}
