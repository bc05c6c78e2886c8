//! The command line.

use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

const EXIT_CODES: &str = "\
Exit status:
  0   no error was found (whether exploration was complete is in the summary); all replays agree
  1   errors were found in the program; a replay disagrees
  2   the input or the command line is wrong
  70  a bug of the engine; what was found until then has been written";

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
    #[command(after_help = EXIT_CODES)]
    Test(Box<TestArgs>),
    /// Run tests natively and compare with what was predicted
    Replay(ReplayArgs),
    /// Say why a run pruned what it pruned
    Explain(ExplainArgs),
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
    #[arg(long)]
    pub m32: bool,
    /// C standard (also -std=c99)
    #[arg(long, value_name = "STANDARD")]
    pub std: Option<String>,
    /// Any other flag for the compiler
    #[arg(long, value_name = "FLAG", allow_hyphen_values = true)]
    pub cc_arg: Vec<String>,
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
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Uninit {
    /// Any value
    Symbolic,
    /// Zero
    Zero,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Solver {
    Bitwuzla,
    Z3,
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
    crate::duration::parse(text)
}

#[derive(Args, Clone, Debug)]
pub struct TestArgs {
    /// C sources, bitcode (.bc) and textual IR (.ll), linked in this order
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub compile: CompileArgs,
    /// Function to start with, its parameters symbolic; by default `main`, or `LLVMFuzzerTestOneInput` if there is no `main`
    #[arg(long, value_name = "FUNCTION")]
    pub entry: Option<String>,
    /// Longest input for `LLVMFuzzerTestOneInput`, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 8)]
    pub max_fuzz_size: u32,
    /// Further kinds of errors to look for
    #[arg(long, value_name = "KIND", value_delimiter = ',', value_enum)]
    pub check: Vec<Check>,
    /// What memory holds before it is written
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Uninit::Symbolic)]
    pub uninit: Uninit,
    /// A loop that runs more often than this is an error
    #[arg(long, value_name = "N")]
    pub loop_limit: Option<u32>,
    /// Deepest nesting of calls before it is a stack overflow
    #[arg(long, value_name = "N", default_value_t = 8192)]
    pub max_stack_frames: u32,

    /// Where results go; must be new or empty. Default: a fresh pleach-out-N
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub output_dir: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write every test as files of its own
    #[arg(long, help_heading = "Output")]
    pub write_all_tests: bool,
    /// Report every path that runs into an error, not only the first per place and kind
    #[arg(long, help_heading = "Output")]
    pub emit_all_errors: bool,
    /// Report progress also when it does not go to a terminal
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,
    /// Print nothing but the summary
    #[arg(long, short, help_heading = "Output", conflicts_with = "verbose")]
    pub quiet: bool,

    /// Search strategy, several take turns: dfs bfs random-state random-path nurs:covnew nurs:md2u nurs:depth nurs:rp nurs:icnt nurs:cpicnt nurs:qc
    /// subtree. With --prune the default is random-path,nurs:covnew,subtree
    #[arg(long, value_name = "NAME", help_heading = "Search", default_value = "random-path,nurs:covnew")]
    #[arg(default_value_if("prune", "true", "random-path,nurs:covnew,subtree"))]
    pub search: Vec<String>,
    /// Seed of all random choices
    #[arg(long, value_name = "N", help_heading = "Search", default_value_t = 0)]
    pub seed: u64,
    /// Stay with a chosen state for so many instructions
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub batch_instructions: Option<u64>,

    /// Longest exploration, for instance 30s or 5min
    #[arg(long, value_name = "TIME", help_heading = "Limits", value_parser = time)]
    pub max_time: Option<Duration>,
    /// Memory in MB; above it states are set aside and made again later
    #[arg(long, value_name = "MB", help_heading = "Limits", default_value_t = 2000)]
    pub max_memory: u64,
    /// Instructions over all paths
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_instructions: Option<u64>,
    /// Forks
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_forks: Option<u64>,
    /// Forks on one path
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_depth: Option<u32>,
    /// Tests
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub max_tests: Option<u64>,
    /// Longest single query to the solver
    #[arg(long, value_name = "TIME", help_heading = "Limits", value_parser = time)]
    pub max_solver_time: Option<Duration>,
    /// Stop at the first error
    #[arg(long, help_heading = "Limits")]
    pub exit_on_error: bool,
    /// Stop at the first error of this kind
    #[arg(long, value_name = "KIND", value_delimiter = ',', help_heading = "Limits")]
    pub exit_on_error_type: Vec<String>,

    /// Leave out paths that cannot reach an error or a block which explored ones did not (interpolation)
    #[arg(long, help_heading = "Search")]
    pub prune: bool,
    /// How interpolants are made: weakest preconditions, abduction from the path's context, or deletion
    #[arg(long, value_enum, requires = "prune", help_heading = "Search", default_value_t = Interpolants::Wp)]
    pub interpolation: Interpolants,
    /// Keep the interpolant of every node, in words, in the run directory
    #[arg(long, requires = "prune", help_heading = "Search")]
    pub explain_pruning: bool,

    /// Which solver decides
    #[arg(long, value_enum, help_heading = "Solving", default_value_t = Solver::Bitwuzla)]
    pub solver: Solver,
    /// Links of the solver chain that are on. Default: all
    #[arg(long, value_name = "LINK", value_delimiter = ',', value_enum, help_heading = "Solving")]
    pub solver_links: Vec<Link>,
    /// Ask both solvers and compare
    #[arg(long, help_heading = "Solving")]
    pub validate_solver: bool,
    /// Write every query that reaches a solver, in SMT-LIB
    #[arg(long, value_name = "FILE", help_heading = "Solving")]
    pub query_log: Option<PathBuf>,
    /// Verify every decision of searchers and solvers (slow)
    #[arg(long, help_heading = "Solving")]
    pub check_seams: bool,

    /// Arguments for `main`
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,
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
pub struct ExportArgs {
    /// The run's directory
    pub run: PathBuf,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Args, Debug)]
pub struct IrArgs {
    /// C sources, bitcode and textual IR
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
        assert_eq!(t.files.len(), 2);
        assert_eq!(t.compile.define, ["X=1"]);
        assert!(t.compile.m32);
        assert_eq!(t.compile.std.as_deref(), Some("c99"));
        assert_eq!(t.compile.cc_arg, ["-fwrapv"]);
        assert_eq!(t.max_time, Some(Duration::from_secs(30)));
        assert_eq!(t.search, ["dfs"]);
        assert_eq!(t.check, [Check::SignedOverflow, Check::Leak]);
        assert_eq!(t.args, ["-x", "3"]);
    }
}
