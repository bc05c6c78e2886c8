//! Flags of every command that explores.
//!
//! `-h` shows the few that are not hidden there. `--help` shows all, by topic; the topics appear in the order of the
//! fields.

use super::{
    Caching, CompileArgs, External, Interpolants, Link, Merge, MergeScope, Resolution, SizeMode, Solver, Unbounded,
    Uninit, time,
};
use clap::Args;
use pleach_command::CliError;
use pleach_exec::ParameterSpec;
use std::path::PathBuf;
use std::time::Duration;

/// For those who change the engine: checks that cost time, and logs.
pub const DEVELOPERS: &str = "For developers of Pleach";

impl RunArgs {
    /// The inputs to follow first.
    pub fn seeds(&self) -> Result<Vec<pleach_exec::Seed>, CliError> {
        let each = self.seed_corpus.iter().map(|d| pleach_session::seeds::read(d));
        Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Puts in what the build directory says.
    pub fn read_project(&mut self) -> Result<(), CliError> {
        if let Some(build) = &self.compile_commands {
            let project = pleach_cc::compile_commands::read(build, &self.files)?;
            self.files = project.files;
            self.compile.cc_arg.extend(project.flags);
        }
        Ok(())
    }
}

#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// C, C++ or Rust sources, bitcode (.bc), textual IR (.ll), or objects and programs built with `pleach cc`
    ///
    /// They are linked in this order. Files ending in .cpp, .cc, .cxx or .C are compiled as C++, a file ending in .rs
    /// by the machine's rustc. Of archives of bitcode
    /// (.a) only the missing members are linked; their tests cannot be replayed natively.
    #[arg(required_unless_present = "compile_commands", value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub compile: CompileArgs,
    /// Take the files and their flags from compile_commands.json in this build directory (`test`: also -p)
    ///
    /// Given files are compiled with the flags that it has for them. Without files, all of it is compiled and linked.
    #[arg(help_heading = "Compilation", long, value_name = "DIR", hide_short_help = true)]
    pub compile_commands: Option<PathBuf>,

    /// Start at this function, with symbolic parameters
    ///
    /// The default is `main`, or `LLVMFuzzerTestOneInput` if there is no `main`.
    #[arg(long, value_name = "FUNCTION", help_heading = "Inputs")]
    pub entry: Option<String>,
    /// What a pointer parameter of --entry points to
    ///
    /// WHAT is `object` (one element), `[4]` (elements), `bytes[16]`, `bytes[len]` (as many as the parameter `len`
    /// says, at most 8), `bytes[len<=64]`, `string[16]` or `null`. A `?` after it adds null. By default null, one
    /// element, and for scalars eight elements are explored.
    #[arg(long, value_name = "NAME:WHAT", help_heading = "Inputs", value_parser = super::parameter::parse)]
    #[arg(hide_short_help = true)]
    pub param: Vec<ParameterSpec>,
    /// Longest input for `LLVMFuzzerTestOneInput`, in bytes
    ///
    /// All lengths up to it are explored.
    #[arg(long, value_name = "BYTES", help_heading = "Inputs", default_value_t = 8, hide_short_help = true)]
    pub max_fuzz_size: u32,
    /// Explore all lengths of fuzz data and counted parameters in one state, with an object of symbolic size
    ///
    /// By default each length is a state of its own from the beginning.
    #[arg(long, help_heading = "Inputs", hide_short_help = true)]
    pub symbolic_input_size: bool,
    /// Follow the inputs in this directory first, then explore from there
    ///
    /// A file has the bytes as a fuzzer gives them: the data of `LLVMFuzzerTestOneInput`, standard input or the first
    /// file if they are symbolic, else all inputs one after the other. A .ktest file has the inputs by name.
    #[arg(long, value_name = "DIR", help_heading = "Inputs", hide_short_help = true)]
    pub seed_corpus: Vec<PathBuf>,
    /// What memory holds before it is written
    #[arg(long, value_name = "WHAT", help_heading = "Inputs", value_enum, default_value_t = Uninit::Symbolic)]
    #[arg(hide_short_help = true)]
    pub uninit: Uninit,
    /// What a call of a function without a body and without a model does
    #[arg(long, value_name = "WHAT", help_heading = "Inputs", value_enum, default_value_t = External::Error)]
    #[arg(hide_short_help = true)]
    pub external: External,

    /// Directory for the results; must be new or empty. Default: a fresh pleach-out-N
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub output_dir: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write every test as a .ktest file
    ///
    /// By default only tests that find an error or cover something new are files. The JSON and XML of the others stay
    /// in tests.pack; `pleach export` writes them.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub write_all_tests: bool,
    /// Report progress even if standard error is not a terminal
    #[arg(long, short, help_heading = "Output", hide_short_help = true)]
    pub verbose: bool,
    /// Print only the summary
    #[arg(long, short, help_heading = "Output", conflicts_with = "verbose", hide_short_help = true)]
    pub quiet: bool,

    /// Stop after this time, for instance 30s or 5min
    ///
    /// It counts from the start of the command, compilation included. A limit on processor time (`ulimit -t SECONDS`)
    /// ends a run in the same way, two seconds before a hard one.
    #[arg(long, value_name = "TIME", help_heading = "Limits", value_parser = time)]
    pub max_time: Option<Duration>,
    /// Memory limit in MB; near it states are evicted and re-executed later
    ///
    /// States that have just covered something new are evicted last. If eviction does not help, the run ends.
    #[arg(long, value_name = "MB", help_heading = "Limits", default_value_t = 2000)]
    pub max_memory: u64,
    /// Stop after N instructions over all paths
    #[arg(long, value_name = "N", help_heading = "Limits", hide_short_help = true)]
    pub max_instructions: Option<u64>,
    /// After N forks, explore only one side of further forks
    #[arg(long, value_name = "N", help_heading = "Limits", hide_short_help = true)]
    pub max_forks: Option<u64>,
    /// Cut a path after N forks on it
    #[arg(long, value_name = "N", help_heading = "Limits", hide_short_help = true)]
    pub max_depth: Option<u32>,
    /// Active calls above which a call is a stack overflow
    #[arg(long, value_name = "N", help_heading = "Limits", default_value_t = 8192, hide_short_help = true)]
    pub max_stack_frames: u32,
    /// Longest single query; a side whose query takes longer is cut
    #[arg(long, value_name = "TIME", help_heading = "Limits", value_parser = time, hide_short_help = true)]
    pub max_solver_time: Option<Duration>,
    /// Search steps that the solver may first spend on a query; 0 for no budget
    ///
    /// A state whose query needs more is deferred, and resumed with four times as many steps. With pruning the first
    /// budget is sixteen times as large.
    #[arg(long, value_name = "STEPS", help_heading = "Limits", default_value_t = pleach_exec::QUERY_BUDGET)]
    #[arg(hide_short_help = true)]
    pub query_budget: u64,

    /// Seed of all random choices
    #[arg(long, value_name = "N", help_heading = "Search", default_value_t = 0, hide_short_help = true)]
    pub seed: u64,
    /// Stay with a selected state for N instructions; 0 selects after every step
    ///
    /// The default is 10000 with the default search of `pleach test`, else 0.
    #[arg(long, value_name = "N", help_heading = "Search", hide_short_help = true)]
    pub batch_instructions: Option<u64>,

    /// How interpolants are computed; needs pruning
    #[arg(long, value_name = "METHOD", value_enum, help_heading = "Pruning", default_value_t = Interpolants::Wp)]
    #[arg(hide_short_help = true)]
    pub interpolation: Interpolants,
    /// Keep pruning on even when it does not pay off; needs pruning
    #[arg(long, help_heading = "Pruning", hide_short_help = true)]
    pub prune_always: bool,
    /// Speculate: explore an unsubsumed state once without its path constraint
    ///
    /// This finds more general interpolants. It implies --prune-always and needs pruning.
    #[arg(long, help_heading = "Pruning", hide_short_help = true)]
    pub speculate: bool,
    /// Prove loops without a bound: subsume states by the header of their loop; needs pruning
    ///
    /// This is on in `verify` and `reach`.
    #[arg(long, value_enum, value_name = "METHOD", help_heading = "Pruning", hide_short_help = true)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "subsumption")]
    #[arg(overrides_with = "no_unbounded")]
    pub unbounded: Option<Unbounded>,
    /// Unroll every loop to its end
    #[arg(long, help_heading = "Pruning", hide_short_help = true, overrides_with = "unbounded")]
    pub no_unbounded: bool,
    /// Follow recursive functions call by call
    ///
    /// Without it, `verify` proves those over numbers by contracts.
    #[arg(long, help_heading = "Pruning", hide_short_help = true)]
    pub no_contracts: bool,
    /// Explore in one way only, where `verify` explores in several ways in turns
    #[arg(long, help_heading = "Pruning", hide_short_help = true)]
    pub no_portfolio: bool,
    /// Prove no loops by induction: only interpolants and the states that come again count
    #[arg(long, help_heading = "Pruning", hide_short_help = true)]
    pub no_induction: bool,
    /// Attempt a proof by induction before anything else
    #[arg(long, help_heading = "Pruning", hide_short_help = true, conflicts_with = "no_induction")]
    pub induction_first: bool,
    /// Keep the literals of invariants that the proof does not need
    #[arg(long, help_heading = "Pruning", hide_short_help = true)]
    pub full_invariants: bool,
    /// Learn nothing from paths that the bound on rounds (--unwind) cut
    #[arg(long, help_heading = "Pruning", hide_short_help = true)]
    pub no_rounds: bool,
    /// Keep the interpolant of every node for `pleach explain`; needs pruning
    #[arg(long, help_heading = "Pruning", hide_short_help = true)]
    pub explain_pruning: bool,

    /// How to resolve a pointer that may refer to several objects
    #[arg(long, value_name = "POLICY", value_enum, help_heading = "Memory", default_value_t = Resolution::Fork)]
    #[arg(hide_short_help = true)]
    pub resolution: Resolution,
    /// With segments-dynamic: number of calls that distinguish allocations, to predict a pointer's targets. Default: 4
    ///
    /// 0 distinguishes allocations by their site alone.
    #[arg(long, value_name = "CALLS", help_heading = "Memory", hide_short_help = true)]
    pub resolution_context: Option<u32>,
    /// With segments-dynamic: query every object that a pointer may refer to
    #[arg(long, help_heading = "Memory", conflicts_with = "resolution_context", hide_short_help = true)]
    pub no_resolution_contexts: bool,
    /// With segments: give every segment an address of its own
    ///
    /// By default a segment of the same objects, joined at the same place on another path, has the same address.
    #[arg(long, help_heading = "Memory", hide_short_help = true)]
    pub no_segment_reuse: bool,
    /// Do not narrow offsets that depend on one byte to the few values that the path allows
    #[arg(long, help_heading = "Memory", hide_short_help = true)]
    pub no_narrow_offsets: bool,
    /// Split objects larger than this (300) that are accessed at a symbolic offset
    #[arg(long, value_name = "BYTES", help_heading = "Memory", hide_short_help = true)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "300")]
    pub split_objects: Option<u64>,
    /// With --split-objects: size of a piece, a multiple of 8. Default: 128
    #[arg(long, value_name = "BYTES", help_heading = "Memory", hide_short_help = true)]
    pub split_size: Option<u64>,
    /// How to explore an allocation whose size depends on inputs
    #[arg(long, value_name = "MODE", value_enum, help_heading = "Memory", default_value_t = SizeMode::Symbolic)]
    #[arg(hide_short_help = true)]
    pub symbolic_size: SizeMode,
    /// Largest object that is explored where nothing else bounds its size
    ///
    /// Larger sizes are cut, and the run says so. It does not concern --symbolic-size=any.
    #[arg(long, value_name = "BYTES", help_heading = "Memory", default_value_t = 128, hide_short_help = true)]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1 << 20))]
    pub capacity: u64,
    /// Assume one fixed address layout
    ///
    /// Branches that depend on addresses are then not reported as cut.
    #[arg(long, alias = "one-placement", help_heading = "Memory", hide_short_help = true)]
    pub fixed_layout: bool,

    /// Merge the states that a loop or a call forks into where they leave it
    #[arg(long, value_name = "METHOD", value_enum, help_heading = "Merging", default_value_t = Merge::None)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "tree", hide_short_help = true)]
    pub merge: Merge,
    /// What makes states wait for each other. Default: loops
    #[arg(long, value_name = "SCOPE", value_delimiter = ',', value_enum, help_heading = "Merging")]
    #[arg(hide_short_help = true)]
    pub merge_scope: Vec<MergeScope>,
    /// Merge only where a loop is left, not also where its next round begins
    #[arg(long, help_heading = "Merging", hide_short_help = true)]
    pub merge_exits_only: bool,
    /// Merge at most this many states at a time
    #[arg(long, value_name = "N", help_heading = "Merging", default_value_t = 10_000, hide_short_help = true)]
    pub merge_max_states: usize,
    /// Merge the states of a loop through the execution tree if they have more patterns
    #[arg(long, value_name = "N", help_heading = "Merging", default_value_t = 8, hide_short_help = true)]
    pub merge_max_patterns: usize,
    /// Merge also inside loops, states that differ in nothing that is still used
    #[arg(long, help_heading = "Merging", hide_short_help = true)]
    pub merge_incremental: bool,

    /// First solver
    #[arg(long, value_name = "NAME", value_enum, help_heading = "Solving", default_value_t = Solver::Bitwuzla)]
    #[arg(hide_short_help = true)]
    pub solver: Solver,
    /// Links of the solver chain that are on. Default: all
    #[arg(
        long,
        value_name = "LINK",
        value_delimiter = ',',
        value_enum,
        help_heading = "Solving",
        hide_short_help = true
    )]
    pub solver_links: Vec<Link>,
    /// Which queries the cache considers equal
    #[arg(long, value_name = "NAME", value_enum, help_heading = "Solving", default_value_t = Caching::Exact)]
    #[arg(hide_short_help = true)]
    pub query_cache: Caching,
    /// Write every query that reaches a solver to a file, in SMT-LIB
    #[arg(long, value_name = "FILE", help_heading = "Solving", hide_short_help = true)]
    pub query_log: Option<PathBuf>,

    /// Check each merge: by the solver, its values against those of every member and its condition against the
    /// textbook's
    ///
    /// The merged state and its members are also explored separately, up to 10000 instructions each: errors, covered
    /// blocks and ends have to be the same.
    /// The run fails with status 70 if one is wrong. Needs merging.
    #[arg(long, help_heading = DEVELOPERS, hide_short_help = true)]
    pub check_merging: bool,
    /// Explore every pruned subtree anyway, up to N instructions each (10000)
    ///
    /// The run fails with status 70 if the subsuming subtree missed a block or an error. Needs pruning.
    #[arg(long, help_heading = DEVELOPERS, value_name = "N", hide_short_help = true)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "10000")]
    pub check_pruning: Option<u64>,
    /// Check the interpolants of up to N nodes (10000) forward, edge by edge, with Z3
    ///
    /// The run fails with status 70 if one is wrong. Needs pruning.
    #[arg(long, help_heading = DEVELOPERS, value_name = "N", hide_short_help = true)]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "10000")]
    pub check_interpolants: Option<usize>,
    /// Let the solver resolve again every pointer that was resolved without a fork (slow)
    ///
    /// This concerns the policies other than fork, and accesses to a piece of a split object. The run fails with status
    /// 70 if the results differ.
    #[arg(long, help_heading = DEVELOPERS, hide_short_help = true)]
    pub check_resolution: bool,
    /// With address-aware: solve again every query that the cache answered under renamed objects
    ///
    /// The run fails with status 70 if the answers differ.
    #[arg(long, help_heading = DEVELOPERS, hide_short_help = true)]
    pub check_cache: bool,
    /// Check every decision of searchers and every answer of solvers (slow)
    #[arg(long, help_heading = DEVELOPERS, hide_short_help = true)]
    pub check_seams: bool,
    /// Query both solvers and compare; a contradiction counts as unknown
    #[arg(long, help_heading = DEVELOPERS, hide_short_help = true)]
    pub validate_solver: bool,

    /// Arguments for `main`
    #[arg(last = true, value_name = "ARGS")]
    pub args: Vec<String>,
}
