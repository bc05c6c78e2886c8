//! Floats. Beyond folding, little holds of them: NaN is not equal to itself and no law of arithmetic is exact.

use crate::term::{TermId, Terms};

pub(crate) fn none(_terms: &mut Terms, _a: TermId) -> Option<TermId> {
    None
}
pub(crate) fn none2(_terms: &mut Terms, _a: TermId, _b: TermId) -> Option<TermId> {
    None
}
pub(crate) fn feq(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    // rule feq-self: x == x → !isnan(x)
    if a == b {
        let nan = terms.fisnan(a);
        return Some(terms.not(nan));
    }
    None
}
pub(crate) fn flt(_terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    // rule flt-self: x < x → false
    if a == b { Some(Terms::FALSE) } else { None }
}
pub(crate) fn fle(terms: &mut Terms, a: TermId, b: TermId) -> Option<TermId> {
    // rule fle-self: x <= x → !isnan(x)
    feq(terms, a, b)
}
