//! What a command decides about its exploration, beyond the flags that all commands share.

/// Defaults: nothing further is checked, nothing is pruned, nothing ends the run early.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Strategies by name, separated by commas.
    pub search: String,
    /// Leave out paths that explored ones cover.
    pub prune: bool,
    /// Signed overflow is an error.
    pub overflow: bool,
    /// Memory that is lost at the end is an error.
    pub leaks: bool,
    /// A loop that runs more often is an error.
    pub loop_limit: Option<u32>,
    pub max_tests: Option<u64>,
    /// Report every path that runs into an error, not only the first per place and kind.
    pub emit_all_errors: bool,
    pub exit_on_error: bool,
    /// Kinds of errors, by name, that end the run.
    pub exit_on_error_type: Vec<String>,
}
