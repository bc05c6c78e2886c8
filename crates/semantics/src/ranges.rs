//! Conditions on ranges of memory.

use pleach_expr::{TermId, Terms};

/// `a` and `b` are equal or differ by at least `n`.
pub fn disjoint(terms: &mut Terms, a: TermId, b: TermId, n: TermId) -> TermId {
    let n = terms.resize_unsigned(n, terms.width(a));
    let (ahead, behind) = (terms.sub(a, b), terms.sub(b, a));
    let (far, near) = (terms.ule(n, ahead), terms.ule(n, behind));
    let (far_apart, same) = (terms.and(far, near), terms.eq(a, b));
    terms.or(far_apart, same)
}
