//! The question, and the seam through which it is asked.

use crate::answer::Answer;
use crate::stats::Stats;
use pleach_expr::{TermId, Terms};

/// Is the conjunction of `constraints` satisfiable?
///
/// The constraints are terms of width 1 without base symbols (addresses are already substituted), sorted by id and
/// without duplicates.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    pub constraints: &'a [TermId],
    /// The answer does not depend on which addresses the objects have.
    pub agnostic: bool,
}

impl<'a> Query<'a> {
    pub fn new(constraints: &'a [TermId]) -> Query<'a> {
        debug_assert!(constraints.is_sorted_by(|a, b| a < b), "constraints are sorted and distinct");
        Query { constraints, agnostic: false }
    }
    /// The same question about other constraints.
    pub fn with<'b>(&self, constraints: &'b [TermId]) -> Query<'b> {
        Query { constraints, agnostic: self.agnostic }
    }
}

/// A back end, or a link in front of one.
///
/// For every query Q and table of terms:
/// - `Sat(m)`:  m ⊨ ⋀Q, and m lists every unknown in the support of Q and no other (see [`crate::evidence`]);
/// - `Unsat(C)`: C ⊆ Q and ⋀C is unsatisfiable;
/// - `Unknown`: nothing is claimed.
pub trait Solver {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer;
    /// Adds the figures of this link and of those behind it.
    fn stats(&self, out: &mut Stats);
}

impl Solver for Box<dyn Solver> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        (**self).check(terms, query)
    }
    fn stats(&self, out: &mut Stats) {
        (**self).stats(out);
    }
}
