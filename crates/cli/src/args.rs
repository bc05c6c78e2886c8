//! The command line.

mod parameter;
mod run;
mod verify_reach;

pub use run::RunArgs;
pub use verify_reach::{NOT_REPLAYED, ReachArgs, VerifyArgs, impossible};

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// The default search of tests. Measured on GNU coreutils, where it covers more branches than KLEE's random-path,nurs:covnew.
pub const FOR_COVERAGE: &str = "random-path,nurs:cpicnt";
/// With pruning: subtrees are completed.
const PRUNING: &str = "random-path,nurs:covnew,subtree";
/// With speculation: it succeeds where the errors are known already, and to follow what is new finds them soonest.
const SPECULATING: &str = "random-path,nurs:covnew,dfs";
/// Its batches: long enough for a path to get somewhere before the next is chosen.
pub const BATCH: u64 = 10_000;

const EXIT_CODES: &str = "\
For build systems, CC=\"pleach cc\" and CXX=\"pleach c++\":
  cc, c++  Compile and link like clang-19; objects and programs carry their bitcode, and can be given to the other commands

Exit status:
  0   no error was found (whether exploration was complete is in the summary); all replays agree
  1   errors were found in the program; a replay disagrees
  2   the input or the command line is wrong, or results could not be written
  3   nothing could be checked (the time was up before the program was compiled), or with --require-complete: something was cut
  70  an internal error; what was found until then has been written
  128 plus a signal's number: the signal ended the run, and no error was found until then";

const TEST_HELP: &str = "\
Symbolic environment, before or after `--`, with one dash or two:
  --sym-arg N            an argument of up to N symbolic characters
  --sym-args MIN MAX N   MIN to MAX such arguments
  --sym-files COUNT N    files A, B, ... of N symbolic bytes
  --sym-stdin N          N symbolic bytes on standard input
  --sym-files-like COUNT TEXT, --sym-stdin-like TEXT
                         the same with the bytes of TEXT, symbolic where it has a `?`
  --sym-like-range AZ    these from `A` to `Z` only
  --sym-stdout           keep what is written to standard output
  --max-fail N           up to N system calls that fail

Exit status:
  0   no error was found on the paths that were explored (see --require-complete)
  1   errors were found in the program
  2   the input or the command line is wrong, or results could not be written
  3   nothing could be checked (the time was up before the program was compiled), or with --require-complete: something was cut
  70  an internal error; what was found until then has been written
  128 plus a signal's number: the signal ended the run, and no error was found until then";

#[derive(Parser)]
#[command(name = "pleach", version, about = "Explores all paths of a C program and finds the inputs that break it.")]
#[command(after_help = EXIT_CODES)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Explore all paths; write tests, coverage and errors
    #[command(after_help = TEST_HELP)]
    Test(Box<TestArgs>),
    /// Verify a property of all executions, or show one that violates it
    #[command(after_help = verify_reach::VERIFY_EXIT_CODES)]
    Verify(Box<VerifyArgs>),
    /// Find out which places of the program can be reached, with an input for each
    #[command(after_help = verify_reach::REACH_EXIT_CODES)]
    Reach(Box<ReachArgs>),
    /// Run tests natively and compare with what was predicted
    Replay(ReplayArgs),
    /// Explain the interpolants of a run
    Explain(ExplainArgs),
    /// Show cost and solver statistics of a run
    Report(ReportArgs),
    /// Write the packed tests of a run as files
    Export(ExportArgs),
    /// Print the program as the engine sees it
    Ir(IrArgs),
    /// Print the version
    Version(VersionArgs),
}

/// How the program is compiled.
#[derive(Args, Clone, Debug)]
pub struct CompileArgs {
    /// Directory with headers
    #[arg(short = 'I', value_name = "DIR")]
    pub include: Vec<PathBuf>,
    /// Preprocessor definition, NAME or NAME=VALUE
    #[arg(short = 'D', value_name = "NAME")]
    pub define: Vec<String>,
    /// Compile for 32 bits (also -m32)
    #[arg(long, alias = "32")]
    pub m32: bool,
    /// Compile for 64 bits, the default (also -m64)
    #[arg(long, alias = "64", conflicts_with = "m32")]
    pub m64: bool,
    /// The same by the names of SV-COMP
    #[arg(long, value_enum, conflicts_with_all = ["m32", "m64"])]
    pub data_model: Option<DataModel>,
    /// C standard (also -std=c99)
    #[arg(long, value_name = "STANDARD")]
    pub std: Option<String>,
    /// Any other flag for the compiler
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    pub cc_arg: Vec<String>,
    /// C library to link with
    #[arg(long, value_enum, default_value_t = Libc::Auto)]
    pub libc: Libc,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Libc {
    /// musl, if the program calls a library function that has no model
    Auto,
    /// musl
    Musl,
    /// None: a call of a function without a body ends the path
    None,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum External {
    /// The path ends
    Error,
    /// Its result and the memory it can reach become unknown
    Havoc,
    /// It is called natively, in a process of its own, with one value for each argument
    Concrete,
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
    Wp,
    Abduction,
    Deletion,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Check {
    SignedOverflow,
    Leak,
    /// Branches, addresses and output that depend on memory never written
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
    /// One state, values guarded by the pointer
    Ite,
    /// One state, the objects joined into a segment
    SegmentsDynamic,
    /// The same with all objects that a points-to analysis does not tell apart from them
    SegmentsStatic,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Solver {
    Bitwuzla,
    Z3,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Caching {
    /// Nothing is remembered
    Off,
    /// Queries that are equal word for word
    Exact,
    /// Queries that are equal up to names of objects, where addresses do not matter
    AddressAware,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Link {
    /// Byte-wise truth sets
    Domain,
    /// Solve constraints without common unknowns apart
    Independence,
    /// Remember answers
    Cache,
    /// Try recent models and known cores
    Models,
    /// Substitute equalities
    Rewrite,
    /// Decide differences and bounds by shortest paths
    Difference,
    /// Try values that the constraints suggest
    Guess,
    /// Ask the other solver when the first has no answer
    Fallback,
    /// The solver alone
    None,
}

fn time(text: &str) -> Result<Duration, String> {
    pleach_command::duration::parse(text)
}

#[derive(Args, Clone, Debug)]
pub struct TestArgs {
    #[command(flatten)]
    pub run: RunArgs,
    /// Further kinds of errors to look for
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_enum)]
    pub check: Vec<Check>,
    /// A loop that runs more often than this is an error
    #[arg(long, value_name = "N")]
    pub loop_limit: Option<u32>,
    /// Exit with 3 if something was cut, even when no error was found
    #[arg(long, help_heading = "Output")]
    pub require_complete: bool,
    /// Report every path that runs into an error, not only the first per place and kind
    #[arg(long, help_heading = "Output")]
    pub emit_all_errors: bool,

    /// Search strategy, several take turns: dfs bfs random-state random-path nurs:covnew nurs:md2u nurs:depth nurs:rp nurs:icnt nurs:cpicnt nurs:qc
    /// subtree. With --prune the default is random-path,nurs:covnew,subtree, with --speculate random-path,nurs:covnew,dfs
    #[arg(long, value_name = "NAME", help_heading = "Search", default_value = FOR_COVERAGE)]
    #[arg(default_value_ifs([("speculate", "true", SPECULATING), ("prune", "true", PRUNING)]))]
    pub search: Vec<String>,
    /// Leave out paths that cannot reach an error or a block which explored ones did not (interpolation)
    #[arg(long, help_heading = "Search")]
    pub prune: bool,

    /// Tests
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_tests: Option<u64>,
    /// Stop at the first error
    #[arg(long, help_heading = "Limits")]
    pub exit_on_error: bool,
    /// Stop at the first error of this kind
    #[arg(long, value_name = "KIND", value_delimiter = ',', help_heading = "Limits")]
    pub exit_on_error_type: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Sanitizers {
    /// When an error does not show without them
    Auto,
    Always,
    Never,
}

#[derive(Args, Debug)]
pub struct ReplayArgs {
    /// A .ktest file of a run, or with --all the run's directory
    #[arg(value_name = "TEST|RUN")]
    pub path: PathBuf,
    /// Replay every test of the run
    #[arg(long)]
    pub all: bool,
    /// Build with sanitizers
    #[arg(long, value_enum, default_value_t = Sanitizers::Auto)]
    pub sanitizers: Sanitizers,
    /// Time for one run of the program
    #[arg(long, value_name = "TIME", value_parser = time, default_value = "10s")]
    pub timeout: Duration,
    /// Memory for one run of the program, in MB
    #[arg(long, value_name = "MB", default_value_t = 2048)]
    pub memory: u64,
    /// Run the program also where the machine cannot isolate it
    #[arg(long = "unsafe")]
    pub run_unsafely: bool,
    /// Tests replayed at the same time
    #[arg(long, short, value_name = "N", default_value_t = 1)]
    pub jobs: usize,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct ExplainArgs {
    /// The run's directory
    pub run: PathBuf,
    /// The interpolant of this node (the run must have been made with --explain-pruning)
    #[arg(long, value_name = "N")]
    pub node: Option<u32>,
    /// Print the tree, or its part below the node, for Graphviz
    #[arg(long)]
    pub dot: bool,
    /// Print the result as JSON
    #[arg(long, conflicts_with = "dot")]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct ReportArgs {
    /// The run's directory
    pub run: PathBuf,
    /// Print its summary and its times as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct ExportArgs {
    /// The run's directory
    pub run: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
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
