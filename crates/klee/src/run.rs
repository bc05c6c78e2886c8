//! A run from KLEE's command line to KLEE's files.

use super::command_line::CommandLine;
use super::directory;
use super::messages::MessageLog;
use super::run_stats::{self, RunStats};
use super::sink::{Counts, KleeSink, Wanted};
use pleach::libc::{self, LibcNeed};
use pleach::{EndOfRun, Engine};
use pleach_command::watchdog::{Bounds, LastWords, Watchdog};
use pleach_command::{CliError, Code};
use pleach_exec::{
    BranchLogging, ExecConfig, ExternalCallPolicy, ExternalCallWarning, FixedInputs, ForkQuota, ProgramEntry, Rules,
    SizeMode, Sizes, Uninit,
};
use pleach_explore::{Halt, Limits, RunConfig, SearchConfig, Strategy};
use pleach_ir::{CheckKind, Program};
use pleach_load::LoadLimits;
use pleach_merge::{MergeConfig, MergeEvent, MergeScope};
use pleach_report::{KTest, SuiteMetadata, testcomp};
use pleach_smt::{BackendKind, SolverConfig};
use pleach_state::{ErrorKind, State};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

/// What clang calls this machine.
const HOST: &str = "x86_64-pc-linux-gnu";

/// Where KLEE differs. The smallest number divided by -1 is itself; `memcpy` goes from byte to byte.
const KLEE_RULES: Rules = Rules {
    check_min_division: false,
    check_overlap: false,
    check_known_abs: true,
    ignore_lane_writes: true,
    try_all_code_pointers: true,
    reverse_cases: true,
    strict_make_symbolic: true,
    heed_preferences: true,
    realloc_zero_is_null: true,
    any_file_attributes: true,
    warn_of_large_objects: true,
    count_instructions_alone: true,
};

/// KLEE stops with status 1 where it cannot begin or an error ends the run; errors alone are no failure.
pub fn run(line: &CommandLine) -> Code {
    let mut log = MessageLog::new(line.is_on("warnings-only-to-file", false));
    match explore(line, &mut log) {
        Ok(code) => code,
        Err(why) => {
            log.error(&in_klees_words(&why));
            Code::Found
        }
    }
}

fn in_klees_words(why: &CliError) -> String {
    match why {
        CliError::Setup(
            pleach_exec::SetupError::NoEntry { name, .. } | pleach_exec::SetupError::EntryWithoutBody(name),
        ) => {
            format!("Entry function '{name}' not found in module.")
        }
        other => other.to_string(),
    }
}

fn explore(line: &CommandLine, log: &mut MessageLog) -> Result<Code, CliError> {
    let scratch = pleach::temporary_directory()?;
    let program_file = match line.program.as_deref().filter(|p| *p != Path::new("-")) {
        Some(file) => file.to_owned(),
        None => from_standard_input(scratch.path())?,
    };
    let program_file = program_file.as_path();
    let main = line.value("entry-point").unwrap_or("main").to_owned();
    if main.is_empty() {
        return Err(CliError::Usage("entry-point cannot be empty".into()));
    }
    let limits = limits(line)?;
    let search = search(line)?;
    let (out, mut info) = begin_output(line, program_file, log)?;
    let load_limits =
        LoadLimits { deadline: limits.max_time.map(|time| Instant::now() + time), ..LoadLimits::default() };
    let program = Rc::new(load(line, program_file, scratch.path(), &out, &load_limits)?);
    if program.target.triple != HOST {
        log.warning(&format!(
            "Module and host target triples do not match: '{}' != '{HOST}'\nThis may cause unexpected crashes or assertion violations.",
            program.target.triple
        ));
    }
    let aliases = super::alias::aliases(line, &program, log)?;
    let runs = inputs_to_follow(line)?;
    let args: Vec<String> = std::iter::once(program_file.display().to_string()).chain(line.args.clone()).collect();
    let wanted = wanted(line, &out, &args);
    if wanted.xmls {
        write_suite(line, &program, &main, &out)?;
    }
    let mut sink = KleeSink::new(wanted, program.clone(), std::mem::replace(log, MessageLog::new(false)));
    let halt = Halt::new();
    pleach_command::signals::watch(&halt)?;
    let watchdog = Watchdog::start(Bounds {
        halt: halt.clone(),
        deadline: limits.max_time.map(|time| Instant::now() + time),
        memory: limits.max_memory.map(|mb| mb * 1_000_000),
    });
    let (mut instructions, mut forks, mut queries) = (0, 0, 0);
    let mut cost = RunStats::default();
    let began = Instant::now();
    watchdog.last_words(last_words(&sink, &out, &info));
    for (number, follow) in runs.iter().enumerate() {
        if let Some(test) = follow {
            announce(test, number + 1, runs.len());
        }
        let config = exec_config(line, &main, &args[0], &aliases, follow.as_ref())?;
        let run_config = RunConfig {
            limits: limits.clone(),
            memory: pleach_command::huge_pages::resident_bytes,
            release: pleach_command::allocator::release,
            seed: search.seed,
            ..RunConfig::default()
        };
        let mut builder = Engine::builder(program.clone())
            .exec(config)
            .solver(solver(line, &out)?)
            .search(search.clone())
            .run_config(run_config)
            .halt(&halt);
        if let Some(merge) = merge_config(line) {
            builder = builder.merge(merge);
        }
        let mut engine = builder.build()?;
        let outcome = engine.explore(&mut sink);
        sink.drain_messages(&mut engine.executor);
        if outcome == EndOfRun::InternalError {
            return Ok(Code::Bug);
        }
        if sink.exiting {
            return Ok(Code::Found);
        }
        let mut stats = pleach_smt::Stats::new();
        engine.executor.machine.solver.stats(&mut stats);
        instructions += engine.run.counters.instructions;
        forks += engine.run.counters.forks;
        queries += stats.get("chain.queries");
        cost.add(&engine.executor.machine);
        cost.states = engine.run.counters.states_peak;
    }
    cost.wall = began.elapsed();
    cost.user = run_stats::user_time();
    cost.memory = pleach_explore::limits::resident_bytes().unwrap_or(0);
    if line.is_on("output-stats", true) {
        cost.write(&out)?;
    }
    info.push_str(&summary(began.elapsed().as_secs(), forks, queries));
    watchdog.claim();
    let (completed, partial, generated) = (sink.completed, sink.partial, sink.generated);
    let done = Counts { instructions, completed, partial, generated }.describe();
    eprint!("{done}");
    info.push_str(&done);
    put(&out, "info", &info)?;
    Ok(Code::Fine)
}

/// Makes the output directory; returns it, and what its file `info` says.
fn begin_output(line: &CommandLine, program_file: &Path, log: &mut MessageLog) -> Result<(PathBuf, String), CliError> {
    if let Some(directory) = line.value("run-in-dir") {
        // Nothing here depends on it; that it is there does matter to KLEE.
        std::fs::read_dir(directory)
            .map_err(|why| CliError::Usage(format!("Unable to change directory to: {directory} - {why}")))?;
    }
    let out = directory::create(line.value("output-dir"), program_file)?;
    log.message(&format!("output directory is \"{}\"", out.display()));
    log.keep_in(&out).map_err(|why| CliError::System { what: "write to the output directory", why })?;
    warn_ignored_options(line, log);
    let info = format!(
        "{}\nPID: {}\n",
        std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" "),
        std::process::id()
    );
    put(&out, "info", &info)?;
    Ok((out, info))
}

/// What is written.
fn wanted(line: &CommandLine, out: &Path, args: &[String]) -> Wanted {
    Wanted {
        directory: out.to_owned(),
        args: args.to_vec(),
        emit_all_errors: line.is_on("emit-all-errors", false),
        exit_on_error: line.is_on("exit-on-error", false),
        only_covering_new: line.is_on("only-output-states-covering-new", false),
        dump_states_on_halt: line.is_on("dump-states-on-halt", true),
        tests: !line.is_on("write-no-tests", false),
        ktests: line.is_on("write-ktests", true),
        smt2s: line.is_on("write-smt2s", false),
        xmls: line.is_on("write-xml-tests", false),
        silent_assume: line.is_on("silent-klee-assume", false),
        lines: line.is_on("write-cov", false),
        paths: line.is_on("write-paths", false),
        sym_paths: line.is_on("write-sym-paths", false),
    }
}

/// How KLEE executes.
fn exec_config(
    line: &CommandLine,
    main: &str,
    program_name: &str,
    aliases: &[(String, String)],
    follow: Option<&SeedInput>,
) -> Result<ExecConfig, CliError> {
    Ok(ExecConfig {
        query_budget: Some(pleach_exec::QUERY_BUDGET),
        entry: ProgramEntry::Main { args: line.args.clone() },
        main: main.to_owned(),
        aliases: aliases.to_vec(),
        // KLEE's memory has a value before it is written, too.
        uninit: Uninit::Zero,
        max_stack_depth: line.number("max-stack-frames")?.map_or(8192, |n| n as u32),
        max_alloc: 1 << 40,
        program_name: program_name.to_owned(),
        environment: environment(line)?,
        externals: externals(line)?,
        check_overshift: line.is_on("check-overshift", true),
        rules: KLEE_RULES,
        fixed_layout: true,
        echo: true,
        // KLEE takes one size.
        sizes: Sizes { mode: SizeMode::Any, ..Sizes::default() },
        branches: branches(line)?,
        split_cases: splits_cases(line)?,
        inputs: follow
            .map(|t| FixedInputs { objects: t.objects.clone(), by_name: line.is_on("named-seed-matching", false) }),
        ..ExecConfig::default()
    })
}

fn announce(test: &SeedInput, number: usize, of: usize) {
    let bytes: usize = test.objects.iter().map(|o| o.1.len()).sum();
    eprintln!("KLEE: replaying: {} ({bytes} bytes) ({number}/{of})", test.file.display());
}

/// What to say and write when the run has to be ended from outside.
fn last_words(sink: &KleeSink, out: &Path, info: &str) -> LastWords {
    let (counts, file, mut text) = (sink.counts.clone(), out.to_owned(), info.to_owned());
    Box::new(move |why| {
        eprintln!("KLEE: WARNING: {} in the middle of a step", pleach::cut_reason::reason(&why).describe());
        let done = counts.lock().unwrap_or_else(std::sync::PoisonError::into_inner).describe();
        eprint!("{done}");
        text.push_str(&done);
        let _ = put(&file, "info", &text);
        Code::Fine
    })
}

fn summary(seconds: u64, forks: u64, queries: u64) -> String {
    let elapsed = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    let paths = 1 + forks;
    format!("Elapsed: {elapsed}\nKLEE: done: explored paths = {paths}\nKLEE: done: total queries = {queries}\n")
}

fn solver(line: &CommandLine, out: &Path) -> Result<SolverConfig, CliError> {
    let log = |v: &str| out.join(if v.starts_with("all") { "all-queries.smt2" } else { "solver-queries.smt2" });
    Ok(SolverConfig {
        backend: if line.value("solver-backend") == Some("z3") { BackendKind::Z3 } else { BackendKind::Bitwuzla },
        timeout: line.time("max-solver-time")?.filter(|t| !t.is_zero()),
        validate: line.is_on("debug-validate-solver", false),
        query_log: line.values("use-query-log").find(|v| v.ends_with(":smt2")).map(log),
        ..SolverConfig::default()
    })
}

/// Inputs of one test.
struct SeedInput {
    file: PathBuf,
    objects: Vec<(String, Vec<u8>)>,
}

/// Tests to replay, or seeds to follow and nothing else; none stands for all inputs. Seeds that are only to come first
/// need nothing: all paths come.
fn inputs_to_follow(line: &CommandLine) -> Result<Vec<Option<SeedInput>>, CliError> {
    let mut files: Vec<PathBuf> = line.each("replay-ktest-file").map(PathBuf::from).collect();
    let mut directories: Vec<&str> = line.each("replay-ktest-dir").collect();
    let replays = !files.is_empty() || !directories.is_empty();
    if line.is_on("only-seed", false) || line.is_on("only-replay-seeds", false) {
        files.extend(line.each("seed-file").map(PathBuf::from));
        directories.extend(line.each("seed-dir"));
    }
    let unreadable =
        |path: &Path, why: std::io::Error| CliError::Usage(format!("unable to open: {} ({why})", path.display()));
    for directory in &directories {
        let entries = std::fs::read_dir(directory).map_err(|why| unreadable(Path::new(directory), why))?;
        let paths = entries.flatten().map(|e| e.path());
        let mut tests: Vec<PathBuf> = paths.filter(|p| p.extension().is_some_and(|e| e == "ktest")).collect();
        tests.sort();
        files.extend(tests);
    }
    if files.is_empty() {
        return Ok(if replays { Vec::new() } else { vec![None] });
    }
    let follow = |file: PathBuf| {
        let test = KTest::from_bytes(&pleach_load::regular::read(&file).map_err(|why| unreadable(&file, why))?)?;
        Ok(Some(SeedInput { file, objects: test.objects.into_iter().map(|o| (o.name, o.bytes)).collect() }))
    };
    files.into_iter().map(follow).collect()
}

/// The record of branches that files need, the branches to follow, and limits on forks.
fn branches(line: &CommandLine) -> Result<BranchLogging, CliError> {
    let follow = line.value("replay-path").map(|file| {
        let text = std::fs::read_to_string(file)
            .map_err(|why| CliError::Usage(format!("unable to open path file: {file} ({why})")))?;
        Ok::<_, CliError>(text.split_whitespace().map(|w| w != "0").collect())
    });
    let share = |name: &str| {
        let number = line.value(name).map(|v| {
            v.parse::<f64>().map_err(|_| CliError::Usage(format!("--{name}: `{v}` is not a share between 0 and 1")))
        });
        Ok::<f64, CliError>(number.transpose()?.unwrap_or(1.0))
    };
    let shares = ForkQuota {
        forks: share("max-static-fork-pct")?,
        call_path_forks: share("max-static-cpfork-pct")?,
        solving: share("max-static-solve-pct")?,
        call_path_solving: share("max-static-cpsolve-pct")?,
        delay: line.number("max-static-pct-check-delay")?.unwrap_or(1000),
    };
    let limited = [shares.forks, shares.call_path_forks, shares.solving, shares.call_path_solving];
    Ok(BranchLogging {
        record: ["write-cov", "write-paths", "write-sym-paths"].iter().any(|o| line.is_on(o, false)),
        follow: follow.transpose()?,
        shares: limited.iter().any(|s| *s < 1.0).then_some(shares),
    })
}

/// How a switch splits a path: by targets, or by cases as its lowering to branches would.
fn splits_cases(line: &CommandLine) -> Result<bool, CliError> {
    match line.value("switch-type") {
        None | Some("internal" | "llvm") => Ok(false),
        Some("simple") => Ok(true),
        Some(other) => Err(CliError::Usage(format!("--switch-type: unknown value `{other}`"))),
    }
}

/// The environment of this process, as KLEE passes it on, or that of a file.
fn environment(line: &CommandLine) -> Result<Vec<String>, CliError> {
    match line.value("env-file") {
        Some(file) => {
            let text = std::fs::read_to_string(file);
            let text = text.map_err(|why| CliError::Usage(format!("unable to open --environ file: {file} ({why})")))?;
            Ok(text.lines().map(str::trim).filter(|l| !l.is_empty()).map(String::from).collect())
        }
        None => Ok(std::env::vars_os().filter_map(|(n, v)| Some(format!("{}={}", n.to_str()?, v.to_str()?))).collect()),
    }
}

/// Functions of the C library are external only where KLEE has none.
fn externals(line: &CommandLine) -> Result<Option<ExternalCallPolicy>, CliError> {
    if !matches!(line.value("libc"), None | Some("none")) {
        return Ok(None);
    }
    let warnings = match line.value("external-call-warnings") {
        None | Some("once-per-function") => ExternalCallWarning::Once,
        Some("all") => ExternalCallWarning::Always,
        Some("none") => ExternalCallWarning::Never,
        Some(other) => return Err(CliError::Usage(format!("--external-call-warnings: unknown value `{other}`"))),
    };
    Ok(Some(ExternalCallPolicy { warnings, forbidden: line.value("external-calls") == Some("none") }))
}

fn write_suite(line: &CommandLine, program: &Program, main: &str, out: &Path) -> Result<(), CliError> {
    let text = |name: &str| line.value(name).unwrap_or_default().to_owned();
    let suite = SuiteMetadata {
        producer: format!("Pleach {}", env!("CARGO_PKG_VERSION")),
        specification: format!("COVER( init({main}()), FQL(COVER EDGES(@DECISIONEDGE)) )"),
        program_file: text("xml-metadata-programfile"),
        program_hash: text("xml-metadata-programhash"),
        entry: main.to_owned(),
        architecture: format!("{}bit", program.target.pointer_bytes * 8),
        creation_time: "1970-01-01T00:00:00Z".into(),
    };
    put(out, "metadata.xml", &testcomp::metadata(&suite))
}

fn put(out: &Path, name: &str, text: &str) -> Result<(), CliError> {
    Ok(pleach_report::write_atomically(&out.join(name), text.as_bytes())?)
}

fn warn_ignored_options(line: &CommandLine, log: &mut MessageLog) {
    let mut complaints = Vec::new();
    if !line.unknown.is_empty() {
        complaints.push(format!("unknown: {}", line.unknown.join(" ")));
    }
    if !line.ignored.is_empty() {
        complaints.push(format!("without effect here: {}", line.ignored.join(" ")));
    }
    if !complaints.is_empty() {
        log.warning(&format!("options that are {}", complaints.join("; options that are ")));
    }
}

fn from_standard_input(scratch: &Path) -> Result<PathBuf, CliError> {
    let system = |why| CliError::System { what: "read the program from standard input", why };
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(system)?;
    // Nothing is a program without functions, in the textual form.
    let path = scratch.join(if bytes.is_empty() { "stdin.ll" } else { "stdin.bc" });
    if bytes.is_empty() {
        bytes = b"; nothing\n".to_vec();
    }
    std::fs::write(&path, bytes).map_err(system)?;
    Ok(path)
}

fn load(
    line: &CommandLine,
    program: &Path,
    scratch: &Path,
    out: &Path,
    limits: &LoadLimits,
) -> Result<Program, CliError> {
    let symbolic = line.args.iter().any(|a| libc::symbolic_option(a).is_some());
    let need = if symbolic || line.is_on("posix-runtime", false) { LibcNeed::Always } else { LibcNeed::Output };
    let more = line.values("link-llvm-lib").map(Into::into);
    let files: Vec<PathBuf> = std::iter::once(program.to_owned()).chain(more).collect();
    let options = pleach_load::Options {
        inputs: pleach::embedded_inputs(&files, scratch)?,
        work_dir: scratch.to_owned(),
        library: libc::built(need),
        passed_params: true,
        assembly: line.is_on("output-source", true).then(|| out.join("assembly.ll")),
        ..pleach_load::Options::default()
    };
    let mut program = pleach_load::load_within(&options, limits)?;
    // What KLEE does not look for.
    program.drop_checks(&[CheckKind::FloatCast, CheckKind::Poison], |_| true);
    Ok(program)
}

fn limits(line: &CommandLine) -> Result<Limits, CliError> {
    let count = |name| Ok::<_, CliError>(line.number(name)?.filter(|n| *n != 0));
    let mut exit_on_error_type = Vec::new();
    for name in line.values("exit-on-error-type") {
        exit_on_error_type.extend(kinds(name)?);
    }
    Ok(Limits {
        max_time: line.time("max-time")?.filter(|t| !t.is_zero()),
        max_memory: line.number("max-memory")?.or(Some(2000)).filter(|n| *n != 0),
        max_instructions: count("max-instructions")?,
        max_effort: None,
        max_forks: line.number("max-forks")?,
        max_depth: count("max-depth")?.map(|n| n as u32),
        max_tests: count("max-tests")?,
        // The sink does it: with KLEE, cuts may be errors too.
        exit_on_error: false,
        exit_on_error_type,
    })
}

/// KLEE's names of error types.
fn kinds(name: &str) -> Result<&'static [ErrorKind], CliError> {
    use ErrorKind as K;
    Ok(match name {
        "Abort" => &[K::Abort],
        "Assert" => &[K::Assert],
        "Free" => &[K::BadFree],
        "Overflow" => &[K::SignedOverflow],
        "InvalidBuiltin" => &[K::InvalidBuiltin],
        "InvalidLoad" => &[K::InvalidValue],
        "Ptr" => &[K::OobRead, K::OobWrite, K::Null, K::UseAfterFree, K::DoubleFree],
        "ReadOnly" => &[K::Readonly],
        "ReportError" => &[K::DivZero, K::Overshift, K::User],
        "User" => &[K::User],
        "Execution" => &[K::Unreachable, K::BadCall],
        "BadVectorAccess"
        | "Model"
        | "External"
        | "ImplicitTruncation"
        | "ImplicitConversion"
        | "UnreachableCall"
        | "MissingReturn"
        | "NullableAttribute"
        | "FunctionTypeMismatch" => &[],
        other => return Err(CliError::Usage(format!("--exit-on-error-type: unknown type `{other}`"))),
    })
}

fn search(line: &CommandLine) -> Result<SearchConfig, CliError> {
    let mut config = SearchConfig {
        seed: line.number("rng-initial-seed")?.unwrap_or(0),
        last_sibling_first: true,
        ..SearchConfig::default()
    };
    let names: Vec<&str> = line.values("search").collect();
    if !names.is_empty() {
        config.strategies = Strategy::parse_list(&names.join(","))?;
    }
    if line.is_on("use-batching-search", false) {
        config.batch_instructions = Some(line.number("batch-instructions")?.unwrap_or(10_000)).filter(|n| *n != 0);
    }
    Ok(config)
}
/// Merging between `klee_open_merge` and `klee_close_merge`.
fn merge_config(line: &CommandLine) -> Option<MergeConfig> {
    let on_mark: fn(MergeEvent, &State) = match line.is_on("debug-log-merge", false) {
        true => |event, state| {
            match event {
                MergeEvent::Open => eprintln!("open merge: {}", state.id.0),
                MergeEvent::Close => eprintln!("close merge: {}", state.id.0),
                MergeEvent::StrayClose => {}
            }
            warn_of_stray_close(event, state);
        },
        false => warn_of_stray_close,
    };
    let scopes = vec![MergeScope::Marked];
    line.is_on("use-merge", false).then(|| MergeConfig {
        scopes,
        on_mark: Some(on_mark),
        one_sided: false,
        ..MergeConfig::default()
    })
}

fn warn_of_stray_close(event: MergeEvent, state: &State) {
    if event == MergeEvent::StrayClose {
        let (id, func, inst) = (state.id.0, state.frame.func.0, state.inst);
        eprintln!("KLEE: WARNING: {id} ran into a close at {func}:{inst}");
    }
}
