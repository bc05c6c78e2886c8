//! Flags of the commands that answer a question: `verify` and `reach`.

use super::RunArgs;
use clap::{Args, ValueEnum};
use pleach_replay::{Isolation, Options, ReplayError};

/// Whether found inputs are run natively.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ReplayUse {
    /// If the machine can isolate the program
    Auto,
    /// Not at all
    Never,
    /// Also where the machine cannot isolate it
    Unsafe,
}

#[derive(Args, Clone, Debug)]
pub struct NativeReplay {
    /// Run what is found natively, in a sandbox
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ReplayUse::Auto)]
    pub replay: ReplayUse,
    /// The same as --replay=never
    #[arg(long, conflicts_with = "replay")]
    pub no_replay: bool,
}

/// What is said of a result that was not replayed because nobody wanted it.
pub const NOT_REPLAYED: &str = "not replayed natively (--replay=never)";

impl NativeReplay {
    /// How to replay, if that is wanted.
    pub fn options(&self) -> Option<Options> {
        let isolation = match self.replay {
            _ if self.no_replay => return None,
            ReplayUse::Never => return None,
            ReplayUse::Auto => Isolation::Required,
            ReplayUse::Unsafe => Isolation::AsFarAsPossible,
        };
        Some(Options { isolation, ..Options::default() })
    }
}

/// Why there was no replay, in one line, and what to do about it.
pub fn impossible(why: &ReplayError) -> String {
    let advice =
        if matches!(why, ReplayError::Isolation { .. }) { "; --replay=unsafe runs it all the same" } else { "" };
    format!("native replay is not possible: {}{advice}", why.in_one_line())
}

pub const VERIFY_EXIT_CODES: &str = "\
Properties:
  errors            none of the errors that `pleach test` looks for (the default)
  unreach-call      reach_error and __VERIFIER_error are never called, assertions hold
  memsafety         valid-free, valid-deref and valid-memtrack together
  valid-free        only heap blocks are freed, once
  valid-deref       accesses are to live memory
  valid-memtrack    no heap block is lost
  valid-memcleanup  every heap block is freed before the program ends
  no-overflow       signed arithmetic does not overflow
  FILE.prp          what the file says, in the syntax of SV-COMP

Exit status:
  0   safe: no execution violates the property
  1   unsafe: one does; it is shown, and was replayed natively if that is possible
  2   the input or the command line is wrong
  3   unknown: the reasons are said
  4   safe under the assumptions that are said (about arguments, sizes of inputs, the environment)
  70  an internal error; what was found until then has been written";

#[derive(Args, Clone, Debug)]
pub struct VerifyArgs {
    /// What must hold: names as below, several with commas between, or a property file
    #[arg(long, short, value_name = "PROPERTY", default_value = "errors")]
    pub property: String,
    /// Follow no path on which a loop goes back to its start, or a function calls itself, more often
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub unwind: Option<u32>,
    /// With the property `errors`: what depends on memory never written is an error too. Nothing is pruned then
    #[arg(long)]
    pub check_uninit: bool,
    #[command(flatten)]
    pub replay: NativeReplay,

    /// Search strategy; pruning works best with dfs
    #[arg(long, value_name = "NAME", help_heading = "Search", default_value = "dfs")]
    pub search: Vec<String>,
    /// Do not prune subsumed paths
    #[arg(long, help_heading = "Search")]
    pub no_prune: bool,

    #[command(flatten)]
    pub run: RunArgs,
}

pub const REACH_EXIT_CODES: &str = "\
Targets:
  file.c:42   the line: any code of it
  label:NAME  the label, in whatever function
  NAME        the function; if it is only declared, its calls

Exit status:
  0   every target was found to be reachable or unreachable
  2   the input or the command line is wrong, or a target names nothing in the program
  3   whether some target can be reached is unknown: the reasons are said
  4   every target was decided, some as unreachable under the assumptions that are said
  70  an internal error; what was found until then has been written";

#[derive(Args, Clone, Debug)]
#[group(id = "targets", required = true, multiple = true, args = ["target", "all_asserts", "all_blocks"])]
pub struct ReachArgs {
    /// A place to reach, as below; may be given several times
    #[arg(long, short, value_name = "TARGET", value_delimiter = ',')]
    pub target: Vec<String>,
    /// Every assertion that may fail: calls of __assert_fail, reach_error, __VERIFIER_error
    #[arg(long)]
    pub all_asserts: bool,
    /// Every block of the program's functions
    #[arg(long)]
    pub all_blocks: bool,
    /// One exploration per target instead of one for all; limits count for each
    #[arg(long)]
    pub each: bool,
    /// Follow no path on which a loop goes back to its start, or a function calls itself, more often
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub unwind: Option<u32>,
    #[command(flatten)]
    pub replay: NativeReplay,

    /// Search strategy; pruning works best with dfs
    #[arg(long, value_name = "NAME", help_heading = "Search", default_value = "dfs")]
    pub search: Vec<String>,
    /// Do not prune subsumed paths
    #[arg(long, help_heading = "Search")]
    pub no_prune: bool,

    #[command(flatten)]
    pub run: RunArgs,
}
