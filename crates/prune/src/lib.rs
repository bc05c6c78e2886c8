//! Interpolants, propagation, the subsumption table, heap matching.
//!
//! This crate knows nothing of merging or of what instructions do.
//!
//! ```
//! use pleach_prune::{Checks, Interpolation, Method};
//! use pleach_state::{Leaks, Pruner};
//!
//! let text = "target \"x86_64-pc-linux-gnu\" ptr 8\nfunc @main() -> (i32) {\nb0:\n  return (i32 i32 0)\n}\n";
//! let program = pleach_ir::text::parse(text).expect("it is a program");
//! let checks = Checks { overflow: false, leaks: Leaks::Ignored };
//! let pruner = Interpolation::new(&program, checks, Method::Wp);
//! assert!(pruner.statistics().iter().all(|(_, n)| *n == 0), "nothing is learned yet");
//! ```

mod abduction;
mod audit_log;
mod budget;
mod c_expression;
mod condition_printer;
mod disequality_widening;
mod entry_interpolants;
mod error_precondition;
mod explain;
mod heap_matching;
mod induction;
mod leaf_condition;
mod linear;
mod literal_cache;
mod loops;
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
pub use condition_printer::ConditionPrinter;
pub use entry_interpolants::{EntryInterpolant, EntryInterpolants, EntryPlace};
pub use explain::Explanation;
pub use induction::WhenInduction;
pub use loops::{InvariantInC, LoopExplanation};
pub use pruner::{Checks, Interpolation, Method};
pub use statistics::Statistics;
