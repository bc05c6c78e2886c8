//! Interpolants, propagation, the subsumption table, heap matching.
//!
//! This crate knows nothing of merging or of what instructions do.

mod explain;
mod linear;
pub mod matching;
mod point;
mod pruner;
mod ranges;
mod slacken;
pub mod table;
mod tighten;

pub use explain::Explained;
pub use pruner::{Figures, Interpolation};
