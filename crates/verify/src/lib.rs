//! What is asked about a program, and the answer: properties, targets, verdicts, witnesses.
//!
//! This crate explores nothing. It says which ends of paths matter for a question, and what may be concluded from those that
//! were seen.

pub mod ends;
pub mod property;
mod prp;
pub mod verdict;
pub mod witness;

pub use ends::{Class, called};
pub use property::{Goal, Property, PropertyError};
pub use verdict::{Answer, Findings, Verdict};
