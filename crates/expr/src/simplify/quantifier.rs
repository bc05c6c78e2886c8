//! Quantifiers.

use crate::support::Key;
use crate::symbol::SymbolId;
use crate::term::{TermId, Terms};

pub(crate) fn forall(terms: &mut Terms, var: TermId, count: TermId, body: TermId) -> Option<TermId> {
    if body == Terms::TRUE {
        return Some(Terms::TRUE);
    }
    match terms.as_const(count) {
        // rule forall-none: ∀x < 0. p → true
        Some(0) => return Some(Terms::TRUE),
        // rule forall-one: ∀x < 1. p → p[0/x]
        Some(1) => return Some(terms.instance(var, body, 0)),
        _ => {}
    }
    // rule forall-unused: ∀x < n. p, x not in p → n = 0 ∨ p
    let key = Key::new(SymbolId(terms.node(var).a), 0);
    if terms.support(body).binary_search(&key).is_err() {
        let zero = terms.constant(terms.width(count), 0);
        let none = terms.eq(count, zero);
        return Some(terms.or(none, body));
    }
    None
}
