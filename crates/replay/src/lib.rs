//! Native replay of generated inputs.
//!
//! The program of a run is compiled natively with the replay library, run with a test's input under limits, and
//! what it did is compared with what was predicted.
//!
//! ```
//! assert!(pleach_replay::assets::KLEE_H.contains("klee_make_symbolic"));
//! ```

mod arranged;
pub mod assets;
mod batch;
mod compile;
mod debug_build;
mod driver;
mod error;
pub mod foreign;
mod native;
mod options;
mod outcome;
mod rust_build;
mod sandbox;
mod sanitizer;
mod servers;
mod static_entry;
mod symbolize;
mod verdict;
mod watch;

pub use arranged::{Arranged, Ended, Laid, Ran};
pub use batch::{Counts, Progress, Replayed, replay_all, table};
pub use debug_build::DebugBuild;
pub use error::{ReplayError, Result};
pub use native::{Replayer, Report, read_test};
pub use options::{Isolation, Limits, Options, SanitizerUse};
pub use outcome::{Ending, Location, Observed};
pub use verdict::Verdict;
pub use watch::Line;
