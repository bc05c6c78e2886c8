//! Interpolants, propagation, the subsumption table, heap matching.
//!
//! This crate knows nothing of merging or of what instructions do.

mod abduction;
mod audit_log;
mod budget;
mod condition_printer;
mod disequality_widening;
mod error_precondition;
mod explain;
mod heap_matching;
mod leaf_condition;
mod linear;
mod literal_cache;
pub mod matching;
mod modular;
mod offset_literals;
mod open_nodes;
mod point;
mod pointer_forks;
mod pointer_literals;
mod propagate;
mod pruner;
mod ranges;
mod rename;
mod saving_estimate;
mod slacken;
mod speculation_policy;
mod statistics;
pub mod table;
mod tighten;

pub use audit_log::{AuditOutcome, AuditRecord, TracePosition};
pub use explain::Explanation;
pub use pruner::{Checks, Interpolation, Method};
pub use statistics::Statistics;
