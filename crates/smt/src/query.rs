//! The query, and the trait that answers it.

use crate::answer::Answer;
use crate::stats::Stats;
use pleach_expr::{BaseId, TermId, Terms};
use std::fmt;

/// Is the conjunction of `constraints` satisfiable?
///
/// The constraints are terms of width 1 without base symbols (addresses are already substituted), sorted by id and
/// without duplicates.
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    pub constraints: &'a [TermId],
    /// The query before the addresses were substituted, where there were any.
    pub based: Option<LazyBasedQuery<'a>>,
    /// The constraint that the query is about, if there is one: the others are a path. It decides what links try, never
    /// what they answer.
    pub goal: Option<TermId>,
}

/// A query with base symbols that is made when a link wants it: most queries are answered before, and then it costs
/// nothing. It makes nothing where an object of the query has a fixed address.
#[derive(Clone, Copy)]
pub struct LazyBasedQuery<'a>(pub &'a dyn Fn(&mut Terms) -> Option<BasedQuery>);

impl fmt::Debug for LazyBasedQuery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("LazyBasedQuery")
    }
}

/// What [`BasedQueryRef`] refers to.
#[derive(Clone, Debug)]
pub struct BasedQuery {
    pub constraints: Vec<TermId>,
    pub sizes: Vec<(BaseId, u64)>,
}

impl BasedQuery {
    pub fn based(&self) -> BasedQueryRef<'_> {
        BasedQueryRef { constraints: &self.constraints, sizes: &self.sizes }
    }
}

/// A query with base symbols: `constraints` with the addresses of the objects substituted are equivalent to those of
/// the query.
#[derive(Clone, Copy, Debug)]
pub struct BasedQueryRef<'a> {
    /// sorted by id, without duplicates
    pub constraints: &'a [TermId],
    /// every base in the constraints with the size of its object, sorted
    pub sizes: &'a [(BaseId, u64)],
}

impl BasedQueryRef<'_> {
    pub fn size(&self, base: BaseId) -> Option<u64> {
        let i = self.sizes.binary_search_by_key(&base, |s| s.0).ok()?;
        Some(self.sizes[i].1)
    }
}

impl<'a> Query<'a> {
    pub fn new(constraints: &'a [TermId]) -> Query<'a> {
        debug_assert!(constraints.is_sorted_by(|a, b| a < b), "constraints are sorted and distinct");
        Query { constraints, based: None, goal: None }
    }
    /// A query about other constraints.
    pub fn with<'b>(&self, constraints: &'b [TermId]) -> Query<'b> {
        let goal = self.goal.filter(|g| constraints.binary_search(g).is_ok());
        Query { constraints, based: None, goal }
    }
}

/// A back end, or a link in front of one.
///
/// For every query Q and table of terms:
/// - `Sat(m)`:  m ⊨ ⋀Q, and m lists every symbolic variable in the support of Q and no other (see [`crate::evidence`]);
/// - `Unsat(C)`: C ⊆ Q and ⋀C is unsatisfiable;
/// - `Unknown`: nothing is claimed.
pub trait Solver {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer;
    /// Adds the statistics of this link and of those behind it.
    fn stats(&self, out: &mut Stats);
    /// Queries so far that went to a back end, of a whole chain.
    fn hard_queries(&self) -> u64 {
        0
    }
    /// Whether a link looks at the query before the addresses were substituted ([`Query::based`]).
    fn reads_bases(&self) -> bool {
        true
    }
    /// How far back ends have searched for them, as they count it.
    fn search_steps(&self) -> u64 {
        0
    }
    /// From now on a query that takes more of them has no answer.
    fn limit_steps(&mut self, _: Option<u64>) {}
    /// Whether from now on `Sat` may be wrong about quantifiers; see [`crate::link::instances`].
    fn weaken_quantifiers(&mut self, _: bool) {}
}

impl Solver for Box<dyn Solver> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        (**self).check(terms, query)
    }
    fn stats(&self, out: &mut Stats) {
        (**self).stats(out);
    }
    fn hard_queries(&self) -> u64 {
        (**self).hard_queries()
    }
    fn reads_bases(&self) -> bool {
        (**self).reads_bases()
    }
    fn search_steps(&self) -> u64 {
        (**self).search_steps()
    }
    fn limit_steps(&mut self, steps: Option<u64>) {
        (**self).limit_steps(steps);
    }
    fn weaken_quantifiers(&mut self, on: bool) {
        (**self).weaken_quantifiers(on);
    }
}
