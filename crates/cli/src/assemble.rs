//! Flags to the typed configuration of each crate.

use crate::args::{
    BATCH, Caching, CompileArgs, External, FOR_COVERAGE, Interpolants, Link, Resolution, RunArgs, Solver, Uninit,
};
use crate::error::CliError;
use crate::exploration_settings::ExplorationSettings;
use crate::scratch::Scratch;
use pleach_exec::{ExecConfig, LoopBound, ProgramEntry, Splitting};
use pleach_explore::{Halt, Limits, RunConfig, SearchConfig, Strategy};
use pleach_ir::Program;
use pleach_load::Patience;
use pleach_prune::{Checks, Interpolation, Method};
use pleach_smt::{BackendKind, QueryCache, SolverConfig};
use pleach_state::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Instant;

pub const FUZZ_ENTRY: &str = "LLVMFuzzerTestOneInput";

/// Compiles, links and lowers a program that is given these arguments; `more` is for the compiler.
pub fn load(
    files: &[PathBuf],
    compile: &CompileArgs,
    check_shifts: bool,
    args: &[String],
    patience: &Patience,
) -> Result<Program, CliError> {
    for path in files {
        let refuse = |why| pleach_load::LoadError::NotAFile { path: path.clone(), why };
        pleach_load::regular::check(path).map_err(refuse)?;
    }
    let library = crate::libc::library(compile, args)?;
    let scratch = Scratch::new()?;
    let include = scratch.0.join("include");
    let header = include.join("klee/klee.h");
    std::fs::create_dir_all(include.join("klee"))
        .and_then(|()| std::fs::write(&header, pleach_replay::assets::KLEE_H))
        .map_err(|why| CliError::System { what: "write klee/klee.h to a temporary directory", why })?;
    let inputs = inputs(files, &scratch)?;
    let options = pleach_load::Options {
        inputs,
        include_dirs: compile.include.clone(),
        defines: compile.define.clone(),
        m32: compile.is_32_bit(),
        std: compile.std.clone(),
        cc_args: compile.cc_arg.clone(),
        check_shifts,
        runtime_include: Some(include),
        work_dir: scratch.0.clone(),
        library,
        ..pleach_load::Options::default()
    };
    Ok(pleach_load::load_within(&options, patience)?)
}

/// How long the front end may take, and how much memory: at least what any program needs.
pub fn patience(args: &RunArgs, halt: &Halt, began: Instant) -> Patience {
    const LEAST_MB: u64 = 1000;
    Patience {
        deadline: args.max_time.filter(|t| !t.is_zero()).map(|t| began + t),
        halt: Some(halt.flag()),
        memory: Some(args.max_memory).filter(|m| *m != 0).map(|mb| mb.max(LEAST_MB) * 1_000_000),
    }
}

/// The files as the front end takes them: programs and objects in the ELF format are replaced by the bitcode they
/// carry.
pub fn inputs(files: &[PathBuf], scratch: &Scratch) -> Result<Vec<PathBuf>, CliError> {
    let mut inputs = Vec::new();
    for (i, file) in files.iter().enumerate() {
        match pleach_load::embedded_bitcode::of_file(file)? {
            Some(carried) => inputs.extend(carried.write(&scratch.0.join(i.to_string())).map_err(unwritten)?),
            None => inputs.push(file.clone()),
        }
    }
    Ok(inputs)
}

fn unwritten(why: std::io::Error) -> CliError {
    CliError::System { what: "write the program's bitcode", why }
}

/// The program's files as replay can build them, and the libraries they need: of programs their bitcode, which is put
/// into the directory.
pub fn sources(files: &[PathBuf], directory: &Path) -> Result<(Vec<PathBuf>, Vec<String>), CliError> {
    let (mut sources, mut libraries) = (Vec::new(), Vec::new());
    for (i, file) in files.iter().enumerate() {
        match pleach_load::embedded_bitcode::of_file(file)? {
            Some(carried) => {
                let to = std::path::absolute(directory.join(format!("bitcode/{i}"))).map_err(unwritten)?;
                sources.extend(carried.write(&to).map_err(unwritten)?);
                libraries.extend(carried.libraries.iter().map(|l| format!("-l:{l}")));
            }
            None => sources.push(file.clone()),
        }
    }
    Ok((sources, libraries))
}

/// The user's compiler flags, for replay.
pub fn cc_flags(compile: &CompileArgs) -> Vec<String> {
    let mut flags: Vec<String> = compile.include.iter().map(|d| format!("-I{}", d.display())).collect();
    flags.extend(compile.define.iter().map(|d| format!("-D{d}")));
    flags.extend(compile.is_32_bit().then(|| "-m32".into()));
    flags.extend(compile.std.iter().map(|s| format!("-std={s}")));
    flags.extend(compile.cc_arg.iter().cloned());
    flags
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
        record: settings.prune,
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
        check_resolution: args.check_resolution,
        query_budget: Some(args.query_budget).filter(|n| *n > 0),
        program_name: program_name(&args.files),
        parameters: args.param.clone(),
        ..ExecConfig::default()
    }
}

pub fn solver(args: &RunArgs, halt: &Halt) -> SolverConfig {
    let on = |link| args.solver_links.is_empty() || args.solver_links.contains(&link);
    SolverConfig {
        backend: match args.solver {
            Solver::Bitwuzla => BackendKind::Bitwuzla,
            Solver::Z3 => BackendKind::Z3,
        },
        timeout: args.max_solver_time,
        interrupt: Some(halt.flag()),
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
        memory: crate::huge_pages::resident_bytes,
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

/// Paths below `directory` as relative to it: shorter, and the same on every machine.
pub fn relative<'a>(path: &'a str, directory: &Path) -> &'a str {
    let rest = Path::new(path).strip_prefix(directory).ok().and_then(Path::to_str);
    rest.filter(|r| !r.is_empty()).unwrap_or(path)
}

pub fn interpolation(args: &RunArgs, settings: &ExplorationSettings, program: &Program) -> Interpolation {
    let method = match args.interpolation {
        Interpolants::Wp => Method::Wp,
        Interpolants::Abduction => Method::Abduction,
        Interpolants::Deletion => Method::Deletion,
    };
    let checks = Checks { overflow: settings.overflow, leaks: settings.leaks };
    let mut made = Interpolation::new(program, checks, method);
    made.always_on(args.prune_always || args.speculate);
    made.speculate(args.speculate);
    made.explain = args.explain_pruning.then(Default::default);
    // States, terms and the tree need the rest.
    if args.max_memory != 0 {
        made.limit_memory((args.max_memory << 20) / 4);
    }
    made.audit_log = args.check_interpolants.map(|_| Vec::new());
    made
}
