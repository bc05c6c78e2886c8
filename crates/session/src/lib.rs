//! One exploration of a command, from typed configuration to the files of a run directory.
//!
//! 1. [`SessionConfig`] has everything that the flags of a command say.
//! 2. [`Session::load`] compiles and links the program under the command's limits.
//! 3. [`Session::explore`] explores it. Tests, errors, tree and statistics are on disk when it returns.
//! 4. The command completes the [`ExplorationResult`], writes it ([`ExplorationResult::write`]) and prints it.
//!
//! A command looks at paths as they end by an [`Observer`]: [`Counterexample`] for `verify`, [`TargetTracker`] for
//! `reach`.
//!
//! Should the watchdog end the run in the middle of a step, what is known by then ([`Standing`](standing::Standing)) is
//! concluded in the same way.
//!
//! The verdict of `pleach test` needs a complete exploration without assumptions:
//!
//! ```
//! use pleach_report::Summary;
//! use pleach_session::summary::verdict;
//!
//! assert_eq!(verdict(&Summary { complete: true, ..Summary::default() }), "safe");
//! assert_eq!(verdict(&Summary::default()), "unknown");
//! ```

#[macro_use(eprint, eprintln, print, println)]
extern crate pleach_command;

pub mod all_entries;
mod config;
mod correctness_witness;
mod counterexample;
mod covered_calls;
mod deepening;
mod entry;
pub mod explanations;
mod native_calls;
mod observer;
mod portfolio;
mod progress;
mod recursion;
mod replay_note;
mod result;
mod run_info;
pub mod seeds;
mod session;
mod standing;
pub mod summary;
mod target_replay;
mod target_results;
mod target_tracker;
mod timing;
pub mod unsupported_property;
pub mod verdict_text;
pub mod witness_check;
mod writer;

pub use config::{OutputConfig, SessionConfig};
pub use correctness_witness::CorrectnessWitness;
pub use counterexample::{Counterexample, Judged};
pub use covered_calls::CoveredCalls;
pub use entry::{EntryChoice, program_name};
pub use observer::{NoObserver, Observer, PathEnd};
pub use progress::Style;
pub use result::ExplorationResult;
pub use session::{Conclude, Session};
pub use target_tracker::{Reached, TargetTracker, TargetWatch};
