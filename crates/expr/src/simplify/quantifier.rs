//! Quantifiers.

use crate::support::Key;
use crate::symbol::SymbolId;
use crate::term::{TermId, Terms};

pub(crate) fn forall(terms: &mut Terms, var: TermId, body: TermId) -> Option<TermId> {
    // rule forall-unused: ∀x. p, x not in p → p
    let key = Key::new(SymbolId(terms.node(var).a), 0);
    if terms.support(body).binary_search(&key).is_err() { Some(body) } else { None }
}
