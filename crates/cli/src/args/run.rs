//! Flags of every command that explores.

use super::{Caching, CompileArgs, External, Interpolants, Link, Resolution, Solver, Uninit, time};
use clap::Args;
use pleach_exec::ParameterSpec;
use std::path::PathBuf;
use std::time::Duration;

#[derive(Args, Clone, Debug)]
pub struct RunArgs {
    /// C sources, bitcode (.bc), textual IR (.ll), and objects and programs built with pleach cc, linked in this order
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    #[command(flatten)]
    pub compile: CompileArgs,
    /// Function to start with, its parameters symbolic; by default `main`, or `LLVMFuzzerTestOneInput` if there is no `main`
    #[arg(long, value_name = "FUNCTION")]
    pub entry: Option<String>,
    /// What a pointer parameter of --entry points to: NAME:WHAT with `object`, `[4]` (elements), `bytes[16]`, `bytes[len]` (as many as
    /// the parameter `len` says), `string[16]`, `null`; a `?` behind it: or null. By default null, one element, and eight of a scalar
    #[arg(long, value_name = "NAME:WHAT", value_parser = super::parameter::parse)]
    pub param: Vec<ParameterSpec>,
    /// Longest input for `LLVMFuzzerTestOneInput`, in bytes
    #[arg(long, value_name = "BYTES", default_value_t = 8)]
    pub max_fuzz_size: u32,
    /// What memory holds before it is written
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = Uninit::Symbolic)]
    pub uninit: Uninit,
    /// Assume one fixed address layout: do not report branches that depend on addresses
    #[arg(long, alias = "one-placement")]
    pub fixed_layout: bool,
    /// What a call of a function without a body and without a model does
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = External::Error)]
    pub external: External,
    /// Deepest nesting of calls before it is a stack overflow
    #[arg(long, value_name = "N", default_value_t = 8192)]
    pub max_stack_frames: u32,

    /// How to resolve a pointer that may refer to several objects
    #[arg(long, value_name = "POLICY", value_enum, help_heading = "Memory", default_value_t = Resolution::Fork)]
    pub resolution: Resolution,
    /// With segments-dynamic: how many calls tell allocations apart, to guess which objects a pointer means. Default: 4
    #[arg(long, value_name = "CALLS", help_heading = "Memory")]
    pub resolution_context: Option<u32>,
    /// With segments-dynamic: ask about every object that a pointer may mean
    #[arg(long, help_heading = "Memory", conflicts_with = "resolution_context")]
    pub no_resolution_contexts: bool,
    /// With segments: give each of them an address of its own
    #[arg(long, help_heading = "Memory")]
    pub no_segment_reuse: bool,
    /// Take an offset that depends on one byte for what its term may mean, not for the few values that the path leaves
    #[arg(long, help_heading = "Memory")]
    pub no_narrow_offsets: bool,
    /// Split objects of more bytes than this (300) where they are accessed at an unknown offset
    #[arg(long, value_name = "BYTES", help_heading = "Memory")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "300")]
    pub split_objects: Option<u64>,
    /// With --split-objects: bytes of a piece, a multiple of 8. Default: 128
    #[arg(long, value_name = "BYTES", help_heading = "Memory")]
    pub split_size: Option<u64>,
    /// Decide every access that a policy other than fork resolved, or that lies in a piece, once more by the solver, and fail if it decides
    /// otherwise (slow)
    #[arg(long, help_heading = "Memory")]
    pub check_resolution: bool,

    /// Where results go; must be new or empty. Default: a fresh pleach-out-N
    #[arg(long, value_name = "DIR", help_heading = "Output")]
    pub output_dir: Option<PathBuf>,
    /// Print the summary as JSON
    #[arg(long, help_heading = "Output")]
    pub json: bool,
    /// Write every test as a .ktest file, also those that show nothing new; the rest of these is in tests.pack (pleach export)
    #[arg(long, help_heading = "Output")]
    pub write_all_tests: bool,
    /// Report progress also when it does not go to a terminal
    #[arg(long, short, help_heading = "Output")]
    pub verbose: bool,
    /// Print nothing but the summary
    #[arg(long, short, help_heading = "Output", conflicts_with = "verbose")]
    pub quiet: bool,

    /// Seed of all random choices
    #[arg(long, value_name = "N", help_heading = "Search", default_value_t = 0)]
    pub seed: u64,
    /// Stay with a chosen state for so many instructions; 0: choose after every step. Default: 10000 with the default search of tests, else 0
    #[arg(long, value_name = "N", help_heading = "Search")]
    pub batch_instructions: Option<u64>,
    /// How interpolants are made: weakest preconditions, abduction from the path's context, or deletion
    #[arg(long, value_enum, help_heading = "Search", default_value_t = Interpolants::Wp)]
    pub interpolation: Interpolants,
    /// Keep pruning on even when it does not pay off
    #[arg(long, help_heading = "Search")]
    pub prune_always: bool,
    /// Speculate: explore an unsubsumed state once without its path constraint
    #[arg(long, help_heading = "Search")]
    pub speculate: bool,
    /// Keep the interpolant of every node, in words, in the run directory
    #[arg(long, help_heading = "Search")]
    pub explain_pruning: bool,
    /// Explore every pruned subtree anyway, up to N instructions each, and fail if the subsuming subtree missed a block or error
    #[arg(long, help_heading = "Search", value_name = "INSTRUCTIONS")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "10000")]
    pub check_pruning: Option<u64>,
    /// Check the interpolants of so many nodes once more, forward and with the other solver, and fail if one is wrong
    #[arg(long, help_heading = "Search", value_name = "NODES")]
    #[arg(num_args = 0..=1, require_equals = true, default_missing_value = "10000")]
    pub check_interpolants: Option<usize>,

    /// Longest exploration, for instance 30s or 5min
    #[arg(long, value_name = "TIME", help_heading = "Limits", value_parser = time)]
    pub max_time: Option<Duration>,
    /// Memory in MB; above it states are evicted and re-executed later
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
    /// Longest single query to the solver
    #[arg(long, value_name = "TIME", help_heading = "Limits", value_parser = time)]
    pub max_solver_time: Option<Duration>,
    /// Search steps of the solver that a query may take at first. A state whose query needs more waits, and is taken up again with four
    /// times as many; 0: no budget
    #[arg(long, value_name = "STEPS", help_heading = "Limits", default_value_t = pleach_exec::QUERY_BUDGET)]
    pub query_budget: u64,

    /// Which solver decides
    #[arg(long, value_enum, help_heading = "Solving", default_value_t = Solver::Bitwuzla)]
    pub solver: Solver,
    /// Links of the solver chain that are on. Default: all
    #[arg(long, value_name = "LINK", value_delimiter = ',', value_enum, help_heading = "Solving")]
    pub solver_links: Vec<Link>,
    /// Which queries the cache takes for the same
    #[arg(long, value_enum, help_heading = "Solving", default_value_t = Caching::Exact)]
    pub query_cache: Caching,
    /// Solve again what the cache answers for a query about other objects, and fail if it was wrong
    #[arg(long, help_heading = "Solving")]
    pub check_cache: bool,
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
