//! Test files, suites, coverage, statistics, the execution tree and the summary of a run.
//!
//! Knows the formats, not how their contents were computed: callers fill in the types of
//! [`model`], [`summary`] and [`input`], and [`rundir::RunDir`] puts them on disk.
//!
//! ```
//! use pleach_report::{KTest, KTestObject};
//!
//! let object = KTestObject { name: "x".into(), bytes: vec![1, 2] };
//! let test = KTest { objects: vec![object], ..KTest::default() };
//! assert_eq!(KTest::from_bytes(&test.to_bytes())?, test);
//! # Ok::<(), pleach_report::ReportError>(())
//! ```

pub mod diagnostic;
pub mod environment;
pub mod error;
pub mod input;
pub mod input_text;
pub mod interpolants;
pub mod json;
pub mod ktest;
pub mod lcov;
pub mod model;
pub mod names;
pub mod pack;
mod paths;
pub mod recover;
pub mod rundir;
pub mod runinfo;
pub mod stats;
pub mod summary;
pub mod testcomp;
pub mod tree;
mod value;

pub use diagnostic::Diagnostic;
pub use error::ReportError;
pub use input::{Field, Input, InputOrigin, InputType, Leaf};
pub use interpolants::Interpolant;
pub use ktest::{KTest, KTestObject};
pub use lcov::{Coverage, FileCoverage, FunctionCoverage};
pub use model::{ErrorKind, ErrorRecord, Prediction, StackFrame, TestCase, TestId};
pub use pack::{PackReader, PackWriter};
pub use recover::Recovered;
pub use rundir::{RunDir, write_atomically};
pub use runinfo::{EntryKind, Parameter, RunInfo};
pub use stats::{StatsRow, StatsWriter};
pub use summary::{
    Assumption, ContractRecord, CostlyLine, Cut, LoopRecord, Paths, PatternRecord, PortfolioRecord, Summary,
    TargetResult, Timing, Totals,
};
pub use testcomp::SuiteMetadata;
pub use tree::{NodeStatus, TreeNode, TreeReader, TreeWriter};
