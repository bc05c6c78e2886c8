//! What a command decides about its exploration, beyond the flags that all commands share.

use pleach_exec::LoopBound;
use pleach_state::Leaks;
use pleach_verify::Property;

#[derive(Clone, Debug, Default)]
pub struct ExplorationSettings {
    /// Strategies by name, separated by commas.
    pub search: String,
    /// Leave out paths that explored ones cover.
    pub prune: bool,
    /// Prove loops without a bound unless told otherwise.
    pub unbounded: bool,
    /// Recursive functions may be proved by contracts.
    pub contracts: bool,
    /// Other ways to explore may take turns with the run.
    pub portfolio: bool,
    /// Which blocks are covered does not matter, only which errors there are.
    pub errors_only: bool,
    /// Signed overflow is an error.
    pub overflow: bool,
    /// What depends on memory that was never written is an error.
    pub uninit: bool,
    /// Which memory that is left at the end is an error.
    pub leaks: Leaks,
    pub loop_bound: Option<LoopBound>,
    pub max_tests: Option<u64>,
    /// Report every path that runs into an error, not only the first per place and kind.
    pub emit_all_errors: bool,
    pub exit_on_error: bool,
    /// Kinds of errors, by name, that end the run.
    pub exit_on_error_type: Vec<String>,
    /// Functions whose call is an error, also when they have a body.
    pub error_functions: Vec<String>,
    /// What the test suite covers, as a property of Test-Comp.
    pub specification: Option<String>,
    /// Which errors count.
    pub property: Property,
}
