//! Flags to the typed configuration of each crate.

use crate::args::{
    BATCH, Caching, CompileArgs, External, FOR_COVERAGE, Interpolants, Libc, Link, Resolution, RunArgs, SizeMode,
    Solver, Uninit,
};
use crate::exploration_settings::ExplorationSettings;
use pleach::{CompileOptions, PruneConfig};
use pleach_command::CliError;
use pleach_exec::{ExecConfig, LoopBound, ProgramEntry, Sizes, Splitting};
use pleach_explore::{Halt, Limits, RunConfig, SearchConfig, Strategy};
use pleach_ir::Program;
use pleach_load::Patience;
use pleach_prune::Method;
use pleach_smt::{BackendKind, QueryCache, SolverConfig};
use pleach_state::ErrorKind;
use std::path::PathBuf;
use std::time::Instant;

pub const FUZZ_ENTRY: &str = "LLVMFuzzerTestOneInput";

/// How long the front end may take, and how much memory: at least what any program needs.
pub fn patience(args: &RunArgs, halt: &Halt, began: Instant) -> Patience {
    const LEAST_MB: u64 = 1000;
    Patience {
        deadline: args.max_time.filter(|t| !t.is_zero()).map(|t| began + t),
        halt: Some(halt.flag()),
        memory: Some(args.max_memory).filter(|m| *m != 0).map(|mb| mb.max(LEAST_MB) * 1_000_000),
    }
}

pub fn entry(args: &RunArgs, program: &Program) -> Result<ProgramEntry, CliError> {
    let has_body = |name: &str| program.function_named(name).is_some_and(|f| !program.function(f).is_declaration());
    let name = match &args.entry {
        Some(name) => name.as_str(),
        None if !has_body("main") && has_body(FUZZ_ENTRY) => FUZZ_ENTRY,
        None => "main",
    };
    if name != "main" && !args.args.is_empty() {
        return Err(CliError::Usage(format!("arguments after `--` are for `main`, but the entry is `{name}`")));
    }
    if !args.param.is_empty() && (name == "main" || name == FUZZ_ENTRY) {
        return Err(CliError::Usage(format!("--param is about the parameters of --entry, but the entry is `{name}`")));
    }
    Ok(match name {
        "main" => ProgramEntry::Main { args: args.args.clone() },
        FUZZ_ENTRY => ProgramEntry::Fuzz { max_size: args.max_fuzz_size },
        other => ProgramEntry::Function(other.to_owned()),
    })
}

pub fn entry_name(entry: &ProgramEntry) -> &str {
    match entry {
        ProgramEntry::Main { .. } => "main",
        ProgramEntry::Function(name) => name,
        ProgramEntry::Fuzz { .. } => FUZZ_ENTRY,
    }
}

/// `argv[0]`: the first file without directory and extension.
pub fn program_name(files: &[PathBuf]) -> String {
    let stem = files.first().and_then(|f| f.file_stem());
    stem.map_or_else(|| "program".into(), |s| s.to_string_lossy().into_owned())
}

/// Techniques that cannot be on together.
pub fn conflicts(args: &RunArgs, settings: &ExplorationSettings) -> Result<(), CliError> {
    if settings.prune && matches!(settings.loop_bound, Some(LoopBound::Error(_))) {
        let why = "what the limit reports depends on the whole path, not on the state";
        return Err(CliError::Usage(format!("--prune and --loop-limit cannot be on together: {why}")));
    }
    if settings.prune && settings.uninit {
        let why = "an interpolant does not say which memory was written";
        return Err(CliError::Usage(format!("--prune and --check uninit cannot be on together: {why}")));
    }
    if settings.uninit && args.uninit == Uninit::Zero {
        return Err(CliError::Usage("--check uninit needs --uninit=symbolic".into()));
    }
    if settings.uninit && !settings.property.is_everything() {
        return Err(CliError::Usage("--check-uninit is for the property `errors`".into()));
    }
    if let Some(size) = args.split_size.filter(|n| *n == 0 || !n.is_multiple_of(8)) {
        return Err(CliError::Usage(format!("--split-size must be a multiple of 8 and more than 0, not {size}")));
    }
    without_effect(args)?;
    let needs_pruning = [
        (args.prune_always, "prune-always"),
        (args.speculate, "speculate"),
        (args.explain_pruning, "explain-pruning"),
        (args.check_pruning.is_some(), "check-pruning"),
        (args.check_interpolants.is_some(), "check-interpolants"),
    ];
    for (on, flag) in needs_pruning {
        if on && !settings.prune {
            return Err(CliError::Usage(format!("--{flag} needs pruning to be on (--prune)")));
        }
    }
    Ok(())
}

/// Flags about memory that would have no effect: a user who requests a check must not take silence for a result.
fn without_effect(args: &RunArgs) -> Result<(), CliError> {
    let policy = args.resolution;
    let dynamic = policy == Resolution::SegmentsDynamic;
    let (contexts, joins) = ("--resolution=segments-dynamic", "--resolution=segments-dynamic or segments-static");
    let needed = [
        (args.resolution_context.is_some() && !dynamic, "resolution-context", contexts),
        (args.no_resolution_contexts && !dynamic, "no-resolution-contexts", contexts),
        (args.no_segment_reuse && !dynamic && policy != Resolution::SegmentsStatic, "no-segment-reuse", joins),
        (args.split_size.is_some() && args.split_objects.is_none(), "split-size", "--split-objects"),
        (
            args.check_resolution && policy == Resolution::Fork && args.split_objects.is_none(),
            "check-resolution",
            "another --resolution than fork, or --split-objects",
        ),
        (args.check_cache && args.query_cache != Caching::AddressAware, "check-cache", "--query-cache=address-aware"),
    ];
    match needed.into_iter().find(|n| n.0) {
        Some((_, flag, what)) => Err(CliError::Usage(format!("--{flag} needs {what}"))),
        None => Ok(()),
    }
}

pub fn exec(args: &RunArgs, settings: &ExplorationSettings, entry: ProgramEntry) -> ExecConfig {
    ExecConfig {
        entry,
        check_signed_overflow: settings.overflow,
        check_uninit: settings.uninit,
        leaks: settings.leaks,
        error_functions: settings.error_functions.clone(),
        uninit: match args.uninit {
            Uninit::Symbolic => pleach_exec::Uninit::Symbolic,
            Uninit::Zero => pleach_exec::Uninit::Zero,
        },
        external: match args.external {
            External::Error => pleach_exec::External::Error,
            External::Havoc => pleach_exec::External::Havoc,
            External::Concrete => pleach_exec::External::Concrete,
        },
        max_stack_depth: args.max_stack_frames,
        fixed_layout: args.fixed_layout,
        loop_bound: settings.loop_bound,
        resolution: match args.resolution {
            Resolution::Fork => pleach_exec::Resolution::Fork,
            Resolution::Ite => pleach_exec::Resolution::Ite,
            Resolution::SegmentsDynamic => pleach_exec::Resolution::SegmentsDynamic,
            Resolution::SegmentsStatic => pleach_exec::Resolution::SegmentsStatic,
        },
        contexts: (!args.no_resolution_contexts).then_some(args.resolution_context.unwrap_or(4)),
        reuse_segments: !args.no_segment_reuse,
        narrow_offsets: !args.no_narrow_offsets,
        splitting: args.split_objects.map(|threshold| Splitting { threshold, piece: args.split_size.unwrap_or(128) }),
        sizes: Sizes {
            mode: match args.symbolic_size {
                SizeMode::Symbolic => pleach_exec::SizeMode::Symbolic,
                SizeMode::Fork => pleach_exec::SizeMode::Fork,
                SizeMode::Max => pleach_exec::SizeMode::Max,
                SizeMode::Min => pleach_exec::SizeMode::Min,
                SizeMode::Any => pleach_exec::SizeMode::Any,
            },
            capacity: args.capacity,
        },
        check_resolution: args.check_resolution,
        query_budget: Some(args.query_budget).filter(|n| *n > 0),
        program_name: program_name(&args.files),
        parameters: args.param.clone(),
        ..ExecConfig::default()
    }
}

pub fn solver(args: &RunArgs) -> SolverConfig {
    let on = |link| args.solver_links.is_empty() || args.solver_links.contains(&link);
    SolverConfig {
        backend: match args.solver {
            Solver::Bitwuzla => BackendKind::Bitwuzla,
            Solver::Z3 => BackendKind::Z3,
        },
        timeout: args.max_solver_time,
        validate: args.validate_solver,
        check_evidence: args.check_seams,
        query_log: args.query_log.clone(),
        use_fallback: on(Link::Fallback),
        use_domain: on(Link::Domain),
        use_independence: on(Link::Independence),
        cache: match args.query_cache {
            _ if !on(Link::Cache) => QueryCache::Off,
            Caching::Off => QueryCache::Off,
            Caching::Exact => QueryCache::Exact,
            Caching::AddressAware => QueryCache::AddressAware,
        },
        check_cache: args.check_cache,
        use_models: on(Link::Models),
        use_rewrite: on(Link::Rewrite),
        use_difference: on(Link::Difference),
        use_guess: on(Link::Guess),
        ..SolverConfig::default()
    }
}

pub fn search(args: &RunArgs, settings: &ExplorationSettings) -> Result<SearchConfig, CliError> {
    let strategies = Strategy::parse_list(&settings.search)?;
    let batch = (settings.search == FOR_COVERAGE).then_some(BATCH);
    Ok(SearchConfig {
        strategies,
        batch_instructions: args.batch_instructions.or(batch).filter(|n| *n != 0),
        seed: args.seed,
        ..SearchConfig::default()
    })
}

pub fn run(args: &RunArgs, settings: &ExplorationSettings) -> Result<RunConfig, CliError> {
    let kinds = settings.exit_on_error_type.iter().map(|name| kind(name)).collect::<Result<_, _>>()?;
    let limits = Limits {
        max_time: args.max_time.filter(|t| !t.is_zero()),
        max_memory: Some(args.max_memory).filter(|m| *m != 0),
        // As in KLEE, 0 stands for no limit.
        max_instructions: args.max_instructions.filter(|n| *n != 0),
        max_forks: args.max_forks.filter(|n| *n != 0),
        max_depth: args.max_depth.filter(|n| *n != 0),
        max_tests: settings.max_tests.filter(|n| *n != 0),
        exit_on_error: settings.exit_on_error,
        exit_on_error_type: kinds,
    };
    let check_pruning = args.check_pruning;
    Ok(RunConfig {
        limits,
        seed: args.seed,
        check_pruning,
        memory: pleach_command::huge_pages::resident_bytes,
        ..RunConfig::default()
    })
}

const KINDS: [ErrorKind; 26] = [
    ErrorKind::Assert,
    ErrorKind::Abort,
    ErrorKind::OobRead,
    ErrorKind::OobWrite,
    ErrorKind::Null,
    ErrorKind::UseAfterFree,
    ErrorKind::DoubleFree,
    ErrorKind::BadFree,
    ErrorKind::Readonly,
    ErrorKind::DivZero,
    ErrorKind::Overshift,
    ErrorKind::SignedOverflow,
    ErrorKind::Misaligned,
    ErrorKind::Overlap,
    ErrorKind::InvalidValue,
    ErrorKind::FloatCast,
    ErrorKind::InvalidBuiltin,
    ErrorKind::VlaBound,
    ErrorKind::Poison,
    ErrorKind::Uninit,
    ErrorKind::Leak,
    ErrorKind::Unreachable,
    ErrorKind::StackOverflow,
    ErrorKind::BadCall,
    ErrorKind::LoopLimit,
    ErrorKind::User,
];

fn kind(name: &str) -> Result<ErrorKind, CliError> {
    KINDS.into_iter().find(|k| k.as_str() == name).ok_or_else(|| {
        let names = KINDS.map(ErrorKind::as_str).join(", ");
        CliError::Usage(format!("unknown error kind `{name}`; valid are {names}"))
    })
}

pub fn prune(args: &RunArgs) -> PruneConfig {
    PruneConfig {
        method: match args.interpolation {
            Interpolants::Wp => Method::Wp,
            Interpolants::Abduction => Method::Abduction,
            Interpolants::Deletion => Method::Deletion,
        },
        always: args.prune_always,
        speculate: args.speculate,
        explain: args.explain_pruning,
        // States, terms and the tree need the rest.
        memory: Some(args.max_memory).filter(|mb| *mb != 0).map(|mb| (mb << 20) / 4),
        audit: args.check_interpolants.is_some(),
    }
}

/// How sources are compiled; `check_shifts` for the kind `signed-overflow`.
pub fn compile(args: &CompileArgs, check_shifts: bool) -> CompileOptions {
    CompileOptions {
        include: args.include.clone(),
        define: args.define.clone(),
        m32: args.is_32_bit(),
        std: args.std.clone(),
        cc_args: args.cc_arg.clone(),
        libc: match args.libc {
            Libc::Auto => pleach::Libc::Auto,
            Libc::Musl => pleach::Libc::Musl,
            Libc::None => pleach::Libc::None,
        },
        check_shifts,
    }
}
