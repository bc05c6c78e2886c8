//! The rewriting rules, one file per operator family.
//!
//! *Shape*: each family function gets the arguments of one operator, already folded and ordered, and returns the
//! rewritten term or `None`. Each rule is introduced by a comment `// rule NAME: match → result`; [`catalogue`] lists
//! an instance of every one of them, and the tests fail when a rule has none. *Invariant*: a rule's result equals its
//! match under every model; it has fewer operators, narrower ones, or the same ones in a strictly smaller order, so
//! rewriting ends; no subterm is built twice at different widths without bound.

pub(crate) mod arith;
pub(crate) mod array;
pub(crate) mod bitwise;
pub mod catalogue;
pub(crate) mod compare;
pub(crate) mod concat;
pub(crate) mod condition;
pub(crate) mod div;
pub(crate) mod equality;
pub(crate) mod extend;
pub(crate) mod extract;
pub(crate) mod float;
pub(crate) mod ite;
pub(crate) mod known;
mod merged;
pub(crate) mod mul;
pub(crate) mod quantifier;
pub(crate) mod shift;
