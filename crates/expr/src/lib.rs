//! Hash-consed terms, the rewriting builder, evaluation, substitution.
//!
//! This crate knows neither solvers nor programs.
//!
//! ```
//! use pleach_expr::Terms;
//!
//! let mut terms = Terms::new(64);
//! let (x, zero) = (terms.constant(8, 7), terms.constant(8, 0));
//! assert_eq!(terms.add(x, zero), x, "equal terms are one term");
//! ```

pub mod arc;
pub mod bits;
mod brake;
mod build;
mod dag;
mod eval;
mod float;
mod fold;
mod lanes;
mod linear;
pub mod model;
pub mod parse;
pub mod print;
mod quantifier;
mod shape;
pub mod simplify;
mod smtlib;
mod subst;
pub mod support;
pub mod symbol;
pub mod term;
mod wide_float;

pub use bits::Limbs;
pub use brake::{Brake, Spoiled};
pub use lanes::Lanes;
pub use model::Model;
pub use quantifier::Quantifier;
pub use subst::IncrementalSubstitution;
pub use support::Key;
pub use symbol::{NameId, SymbolId, SymbolKind, SymbolOrigin};
pub use term::{BaseId, INDEX_BITS, Node, Op, TermId, Terms, base_range, facts, mask, sign_extend};
