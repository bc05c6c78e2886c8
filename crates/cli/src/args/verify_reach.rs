//! Flags of the commands that give a verdict: `verify` and `reach`.

use super::RunArgs;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use pleach_backward::{Config, Style};
use pleach_present::Files;
use pleach_replay::{Isolation, Options};
use std::path::PathBuf;

/// Whether the found inputs are run natively.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum ReplayUse {
    /// If the machine can isolate the program
    Auto,
    /// Never
    Never,
    /// Always, even if the machine cannot isolate the program
    Unsafe,
}

#[derive(Args, Clone, Debug)]
pub struct NativeReplay {
    /// Run the found inputs natively, in a sandbox
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = ReplayUse::Auto, hide_short_help = true)]
    pub replay: ReplayUse,
    /// The same as --replay=never
    #[arg(long, conflicts_with = "replay", hide_short_help = true)]
    pub no_replay: bool,
}

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

/// How conditions are carried backward.
fn styles() -> impl TypedValueParser<Value = Style> {
    let named = |name: String| Style::ALL.into_iter().find(|s| s.0 == name).map_or(Config::default().style, |s| s.2);
    PossibleValuesParser::new(Style::ALL.map(|(name, help, _)| PossibleValue::new(name).help(help))).map(named)
}

/// What `verify` and `reach` share.
#[derive(Args, Clone, Debug)]
pub struct ProofArgs {
    /// Cut paths on which a loop iterates, or a function recurses, more than N times
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub unwind: Option<u32>,
    #[command(flatten)]
    pub replay: NativeReplay,
    /// Search strategy; pruning works best with dfs
    #[arg(long, value_name = "NAME", help_heading = "Search", default_value = "dfs", hide_short_help = true)]
    pub search: Vec<String>,
    /// Do not prune subsumed paths
    #[arg(long, help_heading = "Pruning")]
    pub no_prune: bool,
}

#[derive(Args, Clone, Debug)]
pub struct VerifyArgs {
    /// Property to verify: names separated by commas, or a property file
    #[arg(long, short, value_name = "PROPERTY", default_value = "errors")]
    pub property: String,
    /// With the property `errors`: also report uses of memory that was never written; switches pruning off
    #[arg(long, hide_short_help = true)]
    pub check_uninit: bool,
    /// Validate this witness (format 2.0 or 2.1) instead
    #[arg(long, value_name = "WITNESS", hide_short_help = true)]
    pub check_witness: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub proof: ProofArgs,
    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub files: Files,
}

#[derive(Args, Clone, Debug)]
#[group(id = "targets", required = true, multiple = true, args = ["target", "all_asserts", "all_blocks",
    "all_errors", "warnings"])]
pub struct ReachArgs {
    /// Target to reach: file.c:42, label:NAME or a function; may be given several times
    #[arg(long, short, value_name = "TARGET", value_delimiter = ',')]
    pub target: Vec<String>,
    /// Every assertion that can fail: calls of __assert_fail, reach_error, __VERIFIER_error
    #[arg(long)]
    pub all_asserts: bool,
    /// Every basic block of the program's functions
    #[arg(long)]
    pub all_blocks: bool,
    /// Every assertion, and every access, division and shift that can fail; only with --backward
    #[arg(long, requires = "backward")]
    pub all_errors: bool,
    /// Walk backward from each target to the entry (default: the function that it is in)
    #[arg(
        long,
        value_parser = styles(),
        value_name = "STYLE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "conjunctive-loops",
        help_heading = "Backward"
    )]
    pub backward: Option<Style>,
    /// With --backward: the warnings of a SARIF file as targets; each is real, false or open
    #[arg(long = "targets", value_name = "FILE", requires = "backward", hide_short_help = true)]
    pub warnings: Option<PathBuf>,
    /// With --backward: climb through the callers to this function, usually main
    #[arg(long, value_name = "FUNCTION", requires = "backward", conflicts_with = "entry", hide_short_help = true)]
    pub to: Option<String>,
    /// With --to: calls between that function and the target's, at most [default: 6]
    #[arg(long, value_name = "DEPTH", requires = "to", help_heading = "Backward", hide_short_help = true)]
    pub climb: Option<u32>,
    /// With --backward: inline calls inside calls up to this depth [default: 4]
    #[arg(long, value_name = "DEPTH", requires = "backward", help_heading = "Backward", hide_short_help = true)]
    pub inline: Option<u32>,
    /// With --backward: do not try a loop as one pass from any state first
    #[arg(long, requires = "backward", help_heading = "Backward", hide_short_help = true)]
    pub no_abstract_loops: bool,
    /// With --backward: decide each target alone instead of all of a function together first
    #[arg(long, requires = "backward", help_heading = "Backward", hide_short_help = true)]
    pub no_survey: bool,
    /// Meet backward execution at the start of each target's function
    #[arg(long, conflicts_with = "backward", help_heading = "Backward", hide_short_help = true)]
    pub both_ends: bool,
    /// One exploration per target instead of one for all; limits apply to each
    #[arg(long)]
    pub each: bool,
    #[command(flatten)]
    pub proof: ProofArgs,
    #[command(flatten)]
    pub run: RunArgs,
}
