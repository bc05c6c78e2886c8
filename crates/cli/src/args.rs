//! The command line.

mod help;
mod parameter;
mod reference;
mod run;
mod verify_reach;

pub use reference::reference;
pub use run::RunArgs;
pub use verify_reach::{ReachArgs, VerifyArgs};

use clap::{Args, Parser, Subcommand, ValueEnum};
use pleach_inspect::{ReplayArgs, ViewArgs};
use pleach_present::Files;
use pleach_present::commands::{CompletionsArgs, ExportArgs, ManArgs, ReportArgs, WhenArgs};
use std::path::PathBuf;
use std::time::Duration;

/// The default search of `pleach test`. On GNU coreutils it covers more branches than KLEE's random-path,nurs:covnew.
pub const FOR_COVERAGE: &str = "random-path,nurs:cpicnt";
/// The default with pruning: it completes subtrees.
const PRUNING: &str = "random-path,nurs:covnew,subtree";
/// The default with speculation, which succeeds where the errors are known already: new code finds them soonest.
const SPECULATING: &str = "random-path,nurs:covnew,dfs";
/// The batches of the default search, in instructions: long enough for a path to progress before the next is selected.
pub const BATCH: u64 = 10_000;

#[derive(Parser)]
#[command(name = "pleach", version, about = "Explores all paths of a C program and finds the inputs that break it.")]
#[command(max_term_width = 120, after_help = help::MAIN, after_long_help = [help::MAIN, help::MAIN_EXIT].join("\n\n"))]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Explore all paths; write tests, coverage and errors
    #[command(after_help = help::TEST, after_long_help = help::TEST_LONG)]
    Test(Box<TestArgs>),
    /// Verify a property of all executions, or show an execution that violates it
    #[command(after_help = help::VERIFY, after_long_help = help::VERIFY_LONG)]
    Verify(Box<VerifyArgs>),
    /// Find out which lines, functions or labels can be reached, with an input for each
    #[command(after_help = help::REACH, after_long_help = help::REACH_LONG)]
    Reach(Box<ReachArgs>),
    /// Run tests natively and compare with the prediction
    Replay(ReplayArgs),
    /// Explain the interpolants of a run
    Explain(ExplainArgs),
    /// Show what a run found and cost, also as a page
    Report(ReportArgs),
    /// Show a run in a browser, also one that is under way, with the state at any node
    View(ViewArgs),
    /// Write the tests of a run as files, as a corpus for fuzzers, or as unit tests
    Export(ExportArgs),
    /// Say what to do when something was cut or is unknown
    When(WhenArgs),
    /// Write a harness for a function, to edit
    Init(InitArgs),
    /// Print the program as the engine sees it
    Ir(IrArgs),
    /// Print the version
    Version(VersionArgs),
    /// Print the script that completes commands and flags in a shell
    Completions(CompletionsArgs),
    /// Write the manual pages
    Man(ManArgs),
    /// Print docs/flags.md
    #[command(hide = true)]
    Flags,
}

/// How the program is compiled.
#[derive(Args, Clone, Debug)]
pub struct CompileArgs {
    /// Directory with headers
    #[arg(help_heading = "Compilation", short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Preprocessor definition, NAME or NAME=VALUE
    #[arg(help_heading = "Compilation", short = 'D', value_name = "NAME")]
    pub define: Vec<String>,
    /// Compile for 32 bits (also -m32, --32)
    #[arg(help_heading = "Compilation", long, alias = "32", hide_short_help = true)]
    pub m32: bool,
    /// Compile for 64 bits, the default (also -m64, --64)
    #[arg(help_heading = "Compilation", long, alias = "64", conflicts_with = "m32", hide_short_help = true)]
    pub m64: bool,
    /// Data model by its name in SV-COMP: ILP32 for 32 bits, LP64 for 64 bits
    #[arg(help_heading = "Compilation", long, value_enum, value_name = "MODEL", conflicts_with_all = ["m32", "m64"], hide_short_help = true)]
    pub data_model: Option<DataModel>,
    /// C standard (also -std=c99)
    #[arg(help_heading = "Compilation", long, value_name = "STANDARD", hide_short_help = true)]
    pub std: Option<String>,
    /// Any other flag for the compiler
    #[arg(help_heading = "Compilation", long, value_name = "FLAG", allow_hyphen_values = true, hide_short_help = true)]
    pub cc_arg: Vec<String>,
    /// Compile anew, and keep nothing for the next run
    ///
    /// What is compiled is kept in `~/.cache/pleach/compiled`, up to 512 MB, and used again as long as no file that the
    /// compiler reads, no flag and no version has changed.
    #[arg(help_heading = "Compilation", long, hide_short_help = true)]
    pub no_compile_cache: bool,
    /// C library to link with
    #[arg(help_heading = "Compilation", long, value_name = "WHICH", value_enum, default_value_t = Libc::Auto, hide_short_help = true)]
    pub libc: Libc,
    /// Explore that allocations fail: `malloc` and the like may return null
    #[arg(help_heading = "Errors", long, hide_short_help = true)]
    pub malloc_may_fail: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Libc {
    /// musl if the program calls a library function that has no model
    Auto,
    /// musl, always
    Musl,
    /// No library: a call of a function without a body ends the path
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum External {
    /// The path is cut
    Error,
    /// Its result and the memory that its arguments reach become symbolic
    Havoc,
    /// It is called natively, in a process of its own, with one value for each argument
    Concrete,
    /// Its result is symbolic and memory stays as it is; the answer says that it assumes so
    Pure,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Unbounded {
    /// States that come back to a loop's header are subsumed by it
    Subsumption,
    /// Bounds 1, 2, 3, … on rounds, each with a fresh proof, until no path goes beyond
    Deepening,
}

impl CompileArgs {
    pub fn is_32_bit(&self) -> bool {
        self.m32 || self.data_model == Some(DataModel::Ilp32)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum DataModel {
    #[value(name = "ILP32", alias = "ilp32")]
    Ilp32,
    #[value(name = "LP64", alias = "lp64")]
    Lp64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Interpolants {
    /// Weakest preconditions
    Wp,
    /// Abduction from the path's context
    Abduction,
    /// Deletion of what the path's context does not need
    Deletion,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Check {
    /// Signed arithmetic overflows
    SignedOverflow,
    /// A heap block is lost
    Leak,
    /// A branch, an address or output depends on memory that was never written
    Uninit,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Uninit {
    /// Any value
    Symbolic,
    /// Zero
    Zero,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Resolution {
    /// One state per object
    Fork,
    /// One state; values are guarded by the pointer
    Ite,
    /// One state; the objects are joined into a segment
    SegmentsDynamic,
    /// As segments-dynamic, with all objects of the same class of a points-to analysis
    SegmentsStatic,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Merge {
    /// Every path on its own
    None,
    /// Disjunctions of whole path constraints, to compare with
    Textbook,
    /// Conditions through the execution tree
    Tree,
    /// Quantified conditions where rounds of a loop repeat
    Pattern,
    /// The same, in loops where a trial does not show that it costs more than it saves
    Auto,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum MergeScope {
    /// Loops in which a fork depends on the size of an object
    SizeDependent,
    /// All loops
    Loops,
    /// Calls
    Functions,
    /// From klee_open_merge to klee_close_merge
    Marked,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum SizeMode {
    /// One state; bounds checks compare with the size
    Symbolic,
    /// One state per size
    Fork,
    /// The largest size; others are cut
    Max,
    /// The smallest size; others are cut
    Min,
    /// Any one size; others are cut
    Any,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Solver {
    Bitwuzla,
    Z3,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Caching {
    /// No cache
    Off,
    /// Syntactically equal queries
    Exact,
    /// Also queries that are equal up to renaming of objects, where addresses do not matter
    AddressAware,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Link {
    /// Truth tables of single bytes
    Domain,
    /// Solve constraints without common symbolic variables separately
    Independence,
    /// Cache of answers
    Cache,
    /// Try recent models and known cores
    Models,
    /// Substitute equalities
    Rewrite,
    /// Decide differences and bounds by shortest paths
    Difference,
    /// Local search from values that the constraints suggest
    #[value(alias = "guess")]
    LocalSearch,
    /// Answer queries with quantifiers by instances and copies
    Quantified,
    /// Query the other solver if the first returns unknown
    Fallback,
    /// The solver alone
    None,
}

fn time(text: &str) -> Result<Duration, String> {
    pleach_command::duration::parse(text)
}

#[derive(Args, Clone, Debug)]
pub struct TestArgs {
    /// Report further kinds of errors
    ///
    /// `uninit` cannot be combined with --prune.
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_enum, help_heading = "Errors")]
    pub check: Vec<Check>,
    /// Stop at the first error
    #[arg(long, help_heading = "Errors")]
    pub exit_on_error: bool,
    /// Stop at the first error of one of these kinds
    #[arg(long, value_name = "KIND", value_delimiter = ',', help_heading = "Errors", hide_short_help = true)]
    pub exit_on_error_type: Vec<String>,
    /// Report every path that ends in an error, not only the first per location and kind
    #[arg(long, help_heading = "Errors", hide_short_help = true)]
    pub emit_all_errors: bool,
    /// Report a loop that iterates more than N times as an error
    ///
    /// It cannot be combined with --prune.
    #[arg(long, value_name = "N", help_heading = "Errors", hide_short_help = true)]
    pub loop_limit: Option<u32>,
    /// Exit with 3 if something was cut, even if no error was found
    #[arg(long, help_heading = "Errors", hide_short_help = true)]
    pub require_complete: bool,

    /// What the test suite is to cover: a property file of Test-Comp, COVER( … )
    ///
    /// With @CALL(f) the run ends once a test calls f. For branches, conditions and statements everything is explored.
    #[arg(long, value_name = "FILE", help_heading = "Errors", conflicts_with = "all_entries", hide_short_help = true)]
    pub property: Option<PathBuf>,

    /// Search strategy; several names take turns
    ///
    /// Strategies: dfs bfs random-state random-path subtree nurs:covnew nurs:md2u nurs:depth nurs:rp nurs:icnt
    /// nurs:cpicnt nurs:qc. With --prune the default is random-path,nurs:covnew,subtree, with --speculate
    /// random-path,nurs:covnew,dfs.
    #[arg(long, value_name = "NAME", help_heading = "Search", default_value = FOR_COVERAGE)]
    #[arg(default_value_ifs([("speculate", "true", SPECULATING), ("prune", "true", PRUNING)]))]
    pub search: Vec<String>,
    /// Prune subsumed paths: they reach no error and no block that explored paths did not reach
    #[arg(long, help_heading = "Pruning")]
    pub prune: bool,

    /// Explore from each function with a body, one run each, and show a table
    ///
    /// The limits are those of each run. The results are directories below --output-dir, the table is entries.json
    /// there. A run that a limit ends does not end the others; --require-complete exits with 3 for it.
    #[arg(long, help_heading = "Inputs", conflicts_with_all = ["entry", "param", "args"], hide_short_help = true)]
    pub all_entries: bool,
    /// The directory of --all-entries whose functions without a run are explored
    #[arg(long, value_name = "DIR", requires = "all_entries", hide = true)]
    pub continue_entries: Option<PathBuf>,
    /// Take part in a fuzzing campaign of AFL++: the directory that its instances share (afl-fuzz -o)
    ///
    /// The queues of the other instances are followed first. At the end the tests are in the queue of an instance
    /// called `pleach`.
    #[arg(long, value_name = "DIR", help_heading = "Inputs", conflicts_with = "all_entries", hide_short_help = true)]
    pub afl_sync: Option<PathBuf>,

    /// Stop after N tests
    #[arg(long, value_name = "N", help_heading = "Limits", hide_short_help = true)]
    pub max_tests: Option<u64>,

    #[command(flatten)]
    pub run: RunArgs,
    #[command(flatten)]
    pub files: Files,
}

#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The run's directory
    pub run: PathBuf,
    /// Show the interpolant of this node (needs a run with --explain-pruning)
    #[arg(long, value_name = "N")]
    pub node: Option<u32>,
    /// Show the invariants of the loop whose header is on this line
    #[arg(long, value_name = "FILE:LINE", conflicts_with_all = ["node", "dot"])]
    pub r#loop: Option<String>,
    /// Print the tree, or the subtree of the node, for Graphviz
    #[arg(long)]
    pub dot: bool,
    /// Print the result as JSON
    #[arg(long, conflicts_with = "dot")]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct InitArgs {
    /// C source with the function
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The function
    #[arg(value_name = "FUNCTION")]
    pub function: String,
    /// The file to write, which must be new
    #[arg(long, short, value_name = "FILE", default_value = "harness.c")]
    pub output: PathBuf,
    /// Take the file's flags from compile_commands.json in this build directory (also -p)
    #[arg(help_heading = "Compilation", long, value_name = "DIR")]
    pub compile_commands: Option<PathBuf>,
    #[command(flatten)]
    pub compile: CompileArgs,
}

#[derive(Args, Debug)]
pub struct IrArgs {
    /// C sources, bitcode, textual IR, and programs built with pleach cc
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub compile: CompileArgs,
    /// Print only this function
    #[arg(long, value_name = "NAME")]
    pub function: Option<String>,
}

#[derive(Args, Debug)]
pub struct VersionArgs {
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn flags_of_compilers_and_of_klee() {
        let line = "pleach test a.c b.bc -I inc -DX=1 -m32 -std=c99 --cc-arg=-fwrapv --max-time=30s --search=dfs \
                    --check signed-overflow,leak -- -x 3";
        let args = crate::argv::normalize(line.split(' ').filter(|s| !s.is_empty()).map(Into::into));
        let Command::Test(t) = Cli::try_parse_from(args).unwrap_or_else(|e| panic!("{e}")).command else { panic!() };
        let r = &t.run;
        assert_eq!(r.files.len(), 2);
        assert_eq!(r.compile.define, ["X=1"]);
        assert!(r.compile.m32);
        assert_eq!(r.compile.std.as_deref(), Some("c99"));
        assert_eq!(r.compile.cc_arg, ["-fwrapv"]);
        assert_eq!(r.max_time, Some(Duration::from_secs(30)));
        assert_eq!(t.search, ["dfs"]);
        assert_eq!(t.check, [Check::SignedOverflow, Check::Leak]);
        assert_eq!(r.args, ["-x", "3"]);
    }

    #[test]
    fn data_models() {
        let is_32 = |flags: &str| {
            let line = format!("pleach verify a.c {flags}");
            let args = crate::argv::normalize(line.split_whitespace().map(Into::into));
            let Command::Verify(v) = Cli::try_parse_from(args).map_err(|_| ())?.command else { panic!() };
            Ok::<_, ()>(v.run.compile.is_32_bit())
        };
        for flags in ["-m32", "--32", "--m32", "--data-model ILP32", "--data-model=ilp32"] {
            assert_eq!(is_32(flags), Ok(true), "{flags}");
        }
        for flags in ["", "-m64", "--64", "--data-model LP64"] {
            assert_eq!(is_32(flags), Ok(false), "{flags}");
        }
        for flags in ["-m32 -m64", "--32 --data-model LP64", "--data-model LLP64"] {
            assert!(is_32(flags).is_err(), "{flags}");
        }
    }
}
