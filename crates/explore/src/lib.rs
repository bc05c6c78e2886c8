//! The run loop, limits and search strategies.
//!
//! Knows no concrete technique: what is pruned, merged or written is decided behind the seams of `pleach_state`.
//!
//! ```
//! use pleach_explore::Strategy;
//!
//! assert_eq!(Strategy::parse_list("dfs,random-path")?.len(), 2);
//! assert!(Strategy::parse_list("best-first").is_err());
//! # Ok::<(), pleach_explore::SearchError>(())
//! ```

mod alarm;
mod cost;
mod cost_sampling;
pub mod counters;
mod defer;
mod drive;
pub mod evict;
mod induction;
mod limit_polling;
pub mod limits;
mod merge;
pub mod merge_recheck;
mod merge_trial;
mod reached_below;
mod reopen;
pub mod rng;
mod run;
pub mod search;
mod searched_states;
pub mod sink;
pub mod speculate;
pub mod step;
mod sub_exploration;
pub mod subsumption_recheck;

#[cfg(test)]
mod tests;

pub use counters::Counters;
pub use limits::{Halt, Limits};
pub use rng::Rng;
pub use run::{Run, RunConfig, Seams};
pub use search::{SearchConfig, SearchError, Strategy};
pub use sink::{Ended, Progress, Sink};
pub use speculate::Speculated;
pub use step::{Child, Step, Stepper};
pub use subsumption_recheck::Rechecked;
