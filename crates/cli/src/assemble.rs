//! Flags to the typed configuration of each crate.

use crate::args::{
    BATCH, Caching, CompileArgs, External, FOR_COVERAGE, Interpolants, Libc, Link, Merge, MergeScope, Resolution,
    RunArgs, SizeMode, Solver, Unbounded, Uninit,
};
use crate::exploration_settings::ExplorationSettings;
use pleach::{CompileOptions, PruneConfig};
use pleach_command::CliError;
use pleach_exec::{ExecConfig, LoopBound, Sizes, Splitting};
use pleach_explore::{Limits, RunConfig, SearchConfig, Strategy};
use pleach_ir::{ErrorKind, UnknownErrorKind};
use pleach_merge::{MergeConfig, MergeMethod};
use pleach_prune::{Method, WhenInduction};
use pleach_session::{EntryChoice, OutputConfig, SessionConfig, Style, program_name};
use pleach_smt::{BackendKind, QueryCache, SolverConfig};
use pleach_verify::Class;

/// Everything that a command says of its exploration, once it is known to make sense.
pub fn session(args: &RunArgs, settings: &ExplorationSettings) -> Result<SessionConfig, CliError> {
    conflicts(args, settings)?;
    Ok(SessionConfig {
        files: args.files.clone(),
        compile: compile(&args.compile, settings.overflow),
        entry: EntryChoice {
            name: args.entry.clone(),
            args: args.args.clone(),
            has_parameters: !args.param.is_empty(),
            max_fuzz_size: args.max_fuzz_size,
        },
        exec: exec(args, settings),
        solver: solver(args),
        search: search(args, settings)?,
        run: run(args, settings)?,
        seeds: args.seeds()?,
        prune: settings.prune.then(|| prune(args, settings)),
        merge: merge(args),
        property: settings.property.clone(),
        check_seams: args.check_seams,
        check_interpolants: args.check_interpolants,
        deepening: args.unbounded == Some(Unbounded::Deepening),
        contracts: settings.contracts && !args.no_contracts && args.merge == Merge::None,
        portfolio: settings.portfolio && !args.no_portfolio,
        added_flags: Vec::new(),
        output: OutputConfig {
            write_all_tests: args.write_all_tests,
            specification: settings.specification.clone(),
            emit_all_errors: settings.emit_all_errors,
            print_findings: !args.quiet,
            progress: Style::choose(args.verbose, args.quiet),
        },
    })
}

/// Techniques that cannot be on together.
fn conflicts(args: &RunArgs, settings: &ExplorationSettings) -> Result<(), CliError> {
    if settings.prune && matches!(settings.loop_bound, Some(LoopBound::Error(_))) {
        let why = "what the limit reports depends on the whole path, not on the state";
        return Err(CliError::Usage(format!("--prune and --loop-limit cannot be on together: {why}")));
    }
    if args.unbounded == Some(Unbounded::Deepening) && settings.loop_bound.is_some() {
        return Err(CliError::Usage("--unbounded=deepening sets the bound on rounds itself".into()));
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
    if args.merge == Merge::None && (args.check_merging || !args.merge_scope.is_empty()) {
        let flag = if args.check_merging { "check-merging" } else { "merge-scope" };
        return Err(CliError::Usage(format!("--{flag} needs merging to be on (--merge)")));
    }
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

fn exec(args: &RunArgs, settings: &ExplorationSettings) -> ExecConfig {
    ExecConfig {
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
            External::Pure => pleach_exec::External::Pure,
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
            one_state: args.symbolic_input_size && args.symbolic_size == SizeMode::Symbolic,
        },
        check_resolution: args.check_resolution,
        query_budget: Some(args.query_budget).filter(|n| *n > 0),
        program_name: program_name(&args.files),
        parameters: args.param.clone(),
        ..ExecConfig::default()
    }
}

fn solver(args: &RunArgs) -> SolverConfig {
    let on = |link| args.solver_links.is_empty() || args.solver_links.contains(&link);
    SolverConfig {
        backend: backend(args),
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
        use_quantified: on(Link::Quantified),
        check_quantified: args.check_merging,
        use_models: on(Link::Models),
        use_rewrite: on(Link::Rewrite),
        use_difference: on(Link::Difference),
        use_local_search: on(Link::LocalSearch),
        ..SolverConfig::default()
    }
}

fn search(args: &RunArgs, settings: &ExplorationSettings) -> Result<SearchConfig, CliError> {
    let strategies = Strategy::parse_list(&settings.search)?;
    let batch = (settings.search == FOR_COVERAGE).then_some(BATCH);
    Ok(SearchConfig {
        strategies,
        batch_instructions: args.batch_instructions.or(batch).filter(|n| *n != 0),
        seed: args.seed,
        ..SearchConfig::default()
    })
}

fn run(args: &RunArgs, settings: &ExplorationSettings) -> Result<RunConfig, CliError> {
    let kinds = settings.exit_on_error_type.iter().map(|name| kind(name)).collect::<Result<_, _>>()?;
    let limits = Limits {
        max_time: args.max_time.filter(|t| !t.is_zero()),
        max_memory: Some(args.max_memory).filter(|m| *m != 0),
        // As in KLEE, 0 stands for no limit.
        max_instructions: args.max_instructions.filter(|n| *n != 0),
        max_effort: None,
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
        check_merging: args.check_merging.then_some(CHECKED_INSTRUCTIONS),
        memory: pleach_command::huge_pages::resident_bytes,
        release: pleach_command::allocator::release,
        ..RunConfig::default()
    })
}

fn kind(name: &str) -> Result<ErrorKind, CliError> {
    name.parse().map_err(|why: UnknownErrorKind| CliError::Usage(why.to_string()))
}

/// How far a merged state and its members are explored to compare them.
const CHECKED_INSTRUCTIONS: u64 = 10_000;

/// None if merging is off.
fn merge(args: &RunArgs) -> Option<MergeConfig> {
    let method = match args.merge {
        Merge::None => return None,
        Merge::Textbook => MergeMethod::Textbook,
        Merge::Tree => MergeMethod::Tree,
        Merge::Pattern | Merge::Auto => MergeMethod::Pattern,
    };
    let scope = |s: &MergeScope| match s {
        MergeScope::SizeDependent => pleach_merge::MergeScope::SizeDependent,
        MergeScope::Loops => pleach_merge::MergeScope::Loops,
        MergeScope::Functions => pleach_merge::MergeScope::Functions,
        MergeScope::Marked => pleach_merge::MergeScope::Marked,
    };
    let defaults = MergeConfig::default();
    let scopes = match &args.merge_scope[..] {
        [] => defaults.scopes,
        chosen => chosen.iter().map(scope).collect(),
    };
    Some(MergeConfig {
        method,
        scopes,
        max_states: args.merge_max_states.max(2),
        max_patterns: args.merge_max_patterns,
        incremental: args.merge_incremental || args.merge == Merge::Auto,
        trials: args.merge == Merge::Auto,
        rounds: !args.merge_exits_only && method != MergeMethod::Pattern && !args.merge_incremental,
        check: args.check_merging,
        ..defaults
    })
}

fn prune(args: &RunArgs, settings: &ExplorationSettings) -> PruneConfig {
    let default_on = settings.unbounded && !args.no_unbounded && args.merge == Merge::None;
    PruneConfig {
        method: match args.interpolation {
            Interpolants::Wp => Method::Wp,
            Interpolants::Abduction => Method::Abduction,
            Interpolants::Deletion => Method::Deletion,
        },
        always: args.prune_always || settings.loop_bound.is_some(),
        speculate: args.speculate,
        unbounded: args.unbounded.map_or(default_on, |method| method == Unbounded::Subsumption),
        induction: match () {
            () if args.no_induction || settings.loop_bound.is_some() || args.merge != Merge::None => None,
            () if args.induction_first => Some(WhenInduction::First),
            () => Some(WhenInduction::Late),
        },
        may_abort: settings.property.class(ErrorKind::Abort, None) == Class::End,
        minimise_invariants: !args.full_invariants,
        rounds: !args.no_rounds,
        errors_only: settings.errors_only && args.check_pruning.is_none(),
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
        malloc_may_fail: args.malloc_may_fail,
        cache: if args.no_compile_cache { None } else { pleach::libc::compile_cache() },
    }
}

/// Which library decides.
pub fn backend(args: &RunArgs) -> BackendKind {
    match args.solver {
        Solver::Bitwuzla => BackendKind::Bitwuzla,
        Solver::Z3 => BackendKind::Z3,
    }
}
