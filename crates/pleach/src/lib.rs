//! Pleach: symbolic execution and verification of C and LLVM, as a library.
//!
//! The command line `pleach` is one caller of this crate; your program can be another. Three steps:
//!
//! 1. [`load`] compiles C files (or takes bitcode) and gives a [`Program`](pleach_ir::Program).
//! 2. [`Engine::builder`] assembles an engine: what is an error, how to search, whether to prune, which limits hold.
//! 3. [`EngineBuilder::explore`] explores, and gives an [`Exploration`]: the verdict, the errors with their inputs, a
//!    test for every path, the coverage, and everything that was cut or assumed.
//!
//! ```no_run
//! use pleach::{CompileOptions, Engine, PruneConfig, Verdict};
//! use std::rc::Rc;
//!
//! # fn main() -> Result<(), pleach::Error> {
//! let program = Rc::new(pleach::load(&["examples/regexp.c"], &CompileOptions::default())?);
//! let found = Engine::builder(program).prune(PruneConfig::default()).explore()?;
//! for error in &found.errors {
//!     println!("{} at {}:{}", error.kind, error.file, error.line);
//! }
//! assert_eq!(found.verdict, Verdict::Unsafe);
//! # Ok(())
//! # }
//! ```
//!
//! What can be plugged in:
//!
//! | seam | method | what it decides |
//! |---|---|---|
//! | [`Searcher`](pleach_state::seams::Searcher) | [`EngineBuilder::searcher`] | which state is stepped next |
//! | [`Pruner`](pleach_state::Pruner) | [`EngineBuilder::pruner`] | which states are subsumed |
//! | [`Observer`] | [`EngineBuilder::observe`] | sees each path as it ends, may stop the exploration |
//! | [`Sink`](pleach_explore::Sink) | [`Engine::explore`] | everything that the run loop tells |
//!
//! `crates/pleach/examples` has a program for each: `explore.rs`, `search.rs` and `technique.rs`.

pub mod coverage;
pub mod cut_reason;
mod engine;
mod error;
mod exploration;
mod guided_executor;
pub mod inputs;
pub mod libc;
mod load;
pub mod number_format;
mod path_report;
mod recursion;
mod source_paths;
mod temporary;

pub use engine::{EndOfRun, Engine, EngineBuilder, PruneConfig};
pub use error::Error;
pub use exploration::{Exploration, Observer, PathEnd, Verdict};
pub use guided_executor::GuidedExecutor;
pub use load::{CompileOptions, Libc, cc_flags, embedded_inputs, load, load_within, sources};
pub use path_report::PathReporter;
pub use recursion::{ContractProof, ContractText, SetUp, is_worth_contracts, prove_by_contracts};
pub use source_paths::relative;
pub use temporary::temporary_directory;

// The crates whose types appear in the interface.
pub use {pleach_exec as exec, pleach_explore as explore, pleach_ir as ir, pleach_prune as prune};
pub use {pleach_report as report, pleach_smt as smt, pleach_state as state};
