//! Checks a merge by the solver: the values of the merged state against those of each member, and the condition through
//! the tree against the textbook's.

use crate::guard::GuardTree;
use pleach_expr::{TermId, Terms};
use pleach_memory::Value;
use pleach_memory::merge::Choice;
use pleach_state::seams::PathOracle;

/// Makes values as the guard does, and keeps what has to be true of them.
pub(crate) struct CheckedChoice<'a> {
    pub guard: &'a GuardTree,
    pub obligations: Vec<TermId>,
}

impl Choice for CheckedChoice<'_> {
    fn choose(&mut self, terms: &mut Terms, values: &[Value], bits: u16) -> Value {
        let made = self.guard.choose(terms, values, bits);
        let Some(merged) = made.to_term(terms, bits) else { return made };
        for (i, v) in values.iter().enumerate() {
            let Some(v) = v.to_term(terms, bits) else { continue };
            let (same, here) = (terms.eq(merged, v), self.guard.condition_of(terms, i));
            let obligation = terms.implies(here, same);
            self.obligations.push(obligation);
        }
        made
    }
}

/// How checks of merges ended.
#[derive(Clone, Copy, Default, Debug)]
pub(crate) struct Checked {
    pub right: u64,
    /// the solver returned unknown, or bases occur
    pub unknown: u64,
    pub wrong: u64,
}

impl Checked {
    pub fn check(&mut self, obligation: TermId, logic: &mut dyn PathOracle) {
        if logic.valid(obligation) {
            self.right += 1;
            return;
        }
        let violated = logic.terms().not(obligation);
        if logic.is_satisfiable(violated) {
            self.wrong += 1;
        } else {
            self.unknown += 1;
        }
    }
}
