//! Queries and answers with evidence, the chain of links, back ends; all solver FFI lives here.
//!
//! This crate knows neither programs nor states. A [`Solver`] answers a [`Query`]; the links of [`chain`] are solvers
//! that answer what they can and hand the rest to the next one, and the back ends stand at the end.
//!
//! ```
//! use pleach_expr::Terms;
//! use pleach_smt::{Query, SolverConfig, assemble};
//!
//! let mut terms = Terms::new(64);
//! let mut solver = assemble(SolverConfig::default());
//! assert!(solver.check(&mut terms, &Query::new(&[Terms::TRUE])).is_sat());
//! ```

pub mod answer;
pub mod backend;
pub mod chain;
pub mod config;
pub mod error;
pub mod evidence;
pub mod link;
pub mod query;
pub mod session;
pub mod stats;

pub use answer::{Answer, Core, UnknownReason};
pub use chain::assemble;
pub use config::{BackendKind, QueryCache, SolverConfig};
pub use error::SmtError;
pub use evidence::overlay;
pub use query::{BasedQuery, BasedQueryRef, LazyBasedQuery, Query, Solver};
pub use session::{Satisfiability, Session};
pub use stats::Stats;
