//! Interpolants, propagation, the subsumption table, heap matching.
//!
//! This crate knows nothing of merging or of what instructions do.

mod abduction;
mod accounts;
mod belief;
mod budget;
mod crowds;
mod ends;
mod explain;
mod failures;
mod figures;
mod known;
mod ledger;
mod linear;
pub mod matching;
mod modular;
mod objects;
mod offsets;
mod places;
mod point;
mod propagate;
mod pruner;
mod ranges;
mod rename;
mod slacken;
mod speculation;
pub mod table;
mod targets;
mod tighten;
mod words;

pub use explain::Explanation;
pub use figures::Figures;
pub use ledger::{Account, Outcome, Way};
pub use pruner::{Checks, Interpolation, Method};
