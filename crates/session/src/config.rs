//! What the flags of a command say, in the typed configuration of each crate.

use crate::entry::EntryChoice;
use crate::progress::Style;
use pleach::{CompileOptions, PruneConfig};
use pleach_exec::{ExecConfig, Seed};
use pleach_explore::{RunConfig, SearchConfig};
use pleach_merge::MergeConfig;
use pleach_smt::SolverConfig;
use pleach_verify::Property;
use std::path::PathBuf;

#[derive(Clone, Debug)]
pub struct SessionConfig {
    /// Sources and bitcode, in the order in which they are linked.
    pub files: Vec<PathBuf>,
    pub compile: CompileOptions,
    pub entry: EntryChoice,
    /// Its entry is chosen once the program is loaded.
    pub exec: ExecConfig,
    pub solver: SolverConfig,
    pub search: SearchConfig,
    /// Its limits hold from the start of the command, compilation included.
    pub run: RunConfig,
    /// Inputs that are followed first.
    pub seeds: Vec<Seed>,
    pub prune: Option<PruneConfig>,
    pub merge: Option<MergeConfig>,
    /// Which errors count.
    pub property: Property,
    /// Check every decision of the searcher.
    pub check_seams: bool,
    /// Check the interpolants of up to this many nodes.
    pub check_interpolants: Option<usize>,
    /// Explore with bounds 1, 2, 3, … on rounds until no path goes beyond.
    pub deepening: bool,
    /// Prove recursive functions by contracts.
    pub contracts: bool,
    /// Other ways to explore take turns with the run.
    pub portfolio: bool,
    /// Flags that the command does not have, and that this configuration has.
    pub added_flags: Vec<&'static str>,
    pub output: OutputConfig,
}

/// What is written and shown.
#[derive(Clone, Debug)]
pub struct OutputConfig {
    /// Every test as a `.ktest` file.
    pub write_all_tests: bool,
    /// What the test suite covers, as a property of Test-Comp; branches unless given.
    pub specification: Option<String>,
    /// Every error, not only the first per place and kind.
    pub emit_all_errors: bool,
    /// Show errors and warnings as they are found.
    pub print_findings: bool,
    pub progress: Style,
}
