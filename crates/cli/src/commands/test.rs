//! `pleach test`: explore all paths.

use crate::args::TestArgs;
use crate::assemble::{self, entry_name};
use crate::error::{CliError, Code};
use crate::guided::Guided;
use crate::inputs::{Types, pointee};
use crate::progress::{Line, Style};
use crate::writer::{Writer, WriterConfig};
use crate::{coverage, explanations, summary};
use pleach_exec::{Entry, Machine};
use pleach_explore::{Halt, Progress, Run, Seams};
use pleach_ir::{Program, Ty};
use pleach_report::{EntryKind, InputType, Parameter, RunDir, RunInfo, SuiteMetadata, Summary, Timing, testcomp};
use pleach_state::State;
use pleach_state::seams::{CheckedSearcher, NoPruner, Pruner, Searcher};
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, SystemTime};

pub fn run(args: TestArgs) -> Result<Code, CliError> {
    assemble::conflicts(&args)?;
    let search = assemble::search(&args)?;
    let config = assemble::run(&args)?;
    let directory =
        std::env::current_dir().map_err(|why| CliError::System { what: "find the current directory", why })?;
    let halt = Halt::new();
    let program = Rc::new(assemble::load(&args.files, &args.compile)?);
    let entry = assemble::entry(&args, &program)?;
    let entry_name = entry_name(&entry).to_owned();
    let solver = pleach_smt::assemble(assemble::solver(&args, &halt));
    let machine = Machine::new(program.clone(), solver, assemble::exec(&args, entry.clone()))?;
    let mut guided = Guided::new(machine, search.needs_distances());
    let initial = guided.machine.initial_states()?;
    let mut searcher = search.build()?;
    if args.check_seams {
        searcher = Box::new(CheckedSearcher::new(Dyn(searcher)));
    }

    let dir = RunDir::create(args.output_dir.as_deref())?;
    let info = run_info(&args, &directory, &program, &entry, initial.first());
    dir.write_run_info(&info)?;
    dir.write_suite_metadata(&suite(&args, &program, &entry_name))?;
    let stderr_is_terminal = std::io::stderr().is_terminal();
    let writer_config = WriterConfig {
        write_all_tests: args.write_all_tests,
        emit_all_errors: args.emit_all_errors,
        talk: !args.quiet,
        colour: stderr_is_terminal && std::env::var_os("NO_COLOR").is_none(),
        directory: directory.clone(),
        argv: info.argv.clone(),
    };
    let line = Line::new(Style::choose(args.verbose, args.quiet));
    let mut writer = Writer::new(&dir, program.clone(), writer_config, line, &entry_name)?;
    for remark in &program.remarks {
        writer.say(&format!("warning: {remark}"));
        writer.warnings.push(remark.clone());
    }

    let mut interpolation = assemble::interpolation(&args, &program);
    let pruner: &mut dyn Pruner = if args.prune { &mut interpolation } else { &mut NoPruner };
    watch(&halt, config.limits.max_time)?;
    let start = Start { at: SystemTime::now(), memory: memory_peak_bytes() };
    let mut run = Run::new(config, halt);
    // A bug of ours must not lose what was found until then.
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        let seams = Seams { searcher: &mut *searcher, pruner: &mut *pruner };
        run.explore(initial, &mut guided, &mut writer, seams);
    }));
    let elapsed = run.elapsed();
    let progress = Progress { counters: &run.counters, states: run.states.len(), elapsed, time_left: None };
    writer.finish(&mut guided, progress);

    let report = coverage::report(&program, &guided.machine.coverage, &directory);
    let mut solver = pleach_smt::Stats::new();
    guided.machine.solver.stats(&mut solver);
    let c = &run.counters;
    let complete = c.is_complete() && outcome.is_ok() && writer.failure().is_none();
    let result = Summary {
        complete,
        paths: summary::paths(c),
        errors: writer.errors.clone(),
        covered: report.covered_lines(),
        totals: report.totals(),
        cut: summary::cuts(c),
        verdict: summary::verdict(complete, writer.errors.len()).into(),
        flags: flags(),
        seed: args.seed,
        version: env!("CARGO_PKG_VERSION").into(),
        entry: entry_name,
        sources: args.files.iter().map(|f| f.display().to_string()).collect(),
        tests: u64::from(writer.tests),
        instructions: c.instructions,
        forks: c.forks,
        parked: c.parked,
        states_peak: c.states_peak,
        solver: solver.counts().map(|(name, n)| (name.to_owned(), n)).collect(),
        pruning: pruner
            .figures()
            .into_iter()
            .chain(args.prune.then(|| ("nodes".to_owned(), run.tree.len() as u64)))
            .collect(),
        warnings: warnings(&writer),
    };
    if args.explain_pruning {
        dir.write_interpolants(&explanations::of(&interpolation, &mut guided.machine, &program, &directory))?;
    }
    dir.write_coverage(&report)?;
    dir.write_summary(&result)?;
    dir.write_timing(&timing(start, elapsed, &solver, c.states_peak))?;
    if let Some(why) = writer.failure() {
        eprintln!("pleach: results are incomplete: {why}");
    }
    if args.json {
        println!("{}", serde_json::to_string_pretty(&result).unwrap_or_default());
    } else {
        print!("{}", summary::words(&result, c, elapsed, &dir.path().display().to_string()));
    }
    if outcome.is_err() {
        eprintln!("pleach: this is a bug of the engine; what was found until then is in {}", dir.path().display());
        return Ok(Code::Bug);
    }
    Ok(if result.errors.is_empty() { Code::Fine } else { Code::Found })
}

/// A boxed searcher as a searcher.
struct Dyn(Box<dyn Searcher>);
impl Searcher for Dyn {
    fn select(&mut self, view: pleach_state::seams::View) -> Option<pleach_state::StateId> {
        self.0.select(view)
    }
    fn update(
        &mut self,
        current: Option<pleach_state::StateId>,
        added: &[pleach_state::StateId],
        removed: &[pleach_state::StateId],
        view: pleach_state::seams::View,
    ) {
        self.0.update(current, added, removed, view);
    }
    fn name(&self) -> String {
        self.0.name()
    }
}

/// Signals, and the deadline for queries that are under way when the time is up.
fn watch(halt: &Halt, max_time: Option<Duration>) -> Result<(), CliError> {
    let system = |why| CliError::System { what: "watch for signals", why };
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // The second one ends the process at once.
        signal_hook::flag::register_conditional_shutdown(signal, 130, halt.flag()).map_err(system)?;
        signal_hook::flag::register(signal, halt.flag()).map_err(system)?;
    }
    if let Some(time) = max_time {
        let halt = halt.clone();
        std::thread::spawn(move || {
            std::thread::sleep(time);
            halt.time_is_up();
        });
    }
    Ok(())
}

/// The command line without what only says where results go.
fn flags() -> Vec<String> {
    let mut flags = Vec::new();
    let mut args = std::env::args().skip(2);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--output-dir" => drop(args.next()),
            a if a.starts_with("--output-dir=") => {}
            _ => flags.push(arg),
        }
    }
    flags
}

fn warnings(writer: &Writer) -> Vec<String> {
    let mut all = writer.warnings.clone();
    if writer.untested > 0 {
        all.push(format!("{} got no test because the run had to end", crate::text::count(writer.untested, "path")));
    }
    all
}

fn run_info(
    args: &TestArgs,
    directory: &std::path::Path,
    program: &Program,
    entry: &Entry,
    first: Option<&State>,
) -> RunInfo {
    let entry_kind = match entry {
        Entry::Main { .. } => EntryKind::Main,
        Entry::Fuzz { .. } => EntryKind::Fuzz,
        Entry::Function(_) => EntryKind::Function {
            parameters: parameters(program, first),
            returns: first.and_then(|s| returns(program, s)),
        },
    };
    let sources: Vec<PathBuf> = args.files.clone();
    let argv = std::iter::once(assemble::program_name(&args.files)).chain(args.args.iter().cloned()).collect();
    RunInfo {
        sources,
        directory: directory.to_owned(),
        cc_flags: assemble::cc_flags(&args.compile),
        entry: entry_name(entry).to_owned(),
        entry_kind,
        argv,
        command: std::env::args().collect(),
    }
}

/// The inputs that the first state begins with are the parameters, in order.
fn parameters(program: &Program, first: Option<&State>) -> Vec<Parameter> {
    let Some(state) = first else { return Vec::new() };
    let mut types = Types::new(program);
    let inputs = state.inputs.in_order();
    let params = program.functions[entry_function(state).index()].params.iter();
    let parameter = |(input, p): (&Rc<pleach_state::Input>, &pleach_ir::Param)| {
        let by_pointer = matches!(p.ty, Ty::Ptr) && p.byval.is_none();
        let pointee = p.debug_type.and_then(|t| pointee(program, t)).filter(|_| by_pointer);
        let ty = match (&input.ty, pointee) {
            (pleach_state::InputType::Bytes, Some(ty)) => pleach_state::InputType::Debug { ty, count: 1 },
            (known, _) => known.clone(),
        };
        Parameter { name: input.name.clone(), ty: types.convert(program, &ty, input.size as usize), by_pointer }
    };
    inputs.iter().zip(params).map(parameter).collect()
}

/// The result as far as a declaration needs it; a structure in registers is left out.
fn returns(program: &Program, state: &State) -> Option<InputType> {
    let int = |name: &str, bits| InputType::Int { name: name.into(), bits, signed: true };
    match program.function(entry_function(state)).results[..] {
        [Ty::Int(1)] => Some(InputType::Bool),
        [Ty::Int(8)] => Some(InputType::char()),
        [Ty::Int(16)] => Some(int("short", 16)),
        [Ty::Int(32)] => Some(InputType::int()),
        [Ty::Int(64)] => Some(int("long long", 64)),
        [Ty::Float(f)] if f.bits() == 32 => Some(InputType::Float { name: "float".into(), bits: 32 }),
        [Ty::Float(f)] if f.bits() == 64 => Some(InputType::Float { name: "double".into(), bits: 64 }),
        [Ty::Ptr] => Some(InputType::Pointer { to: "void".into(), bits: program.target.pointer_bytes * 8 }),
        _ => None,
    }
}

/// The entry's frame is the lowest one: constructors run above it.
fn entry_function(state: &State) -> pleach_ir::FuncId {
    let (mut func, mut at) = (state.frame.func, state.callers.as_deref());
    while let Some(c) = at {
        func = c.frame.func;
        at = c.below.as_deref();
    }
    func
}

fn suite(args: &TestArgs, program: &Program, entry: &str) -> SuiteMetadata {
    let file = args.files.first();
    let contents = file.and_then(|f| std::fs::read(f).ok()).unwrap_or_default();
    SuiteMetadata {
        producer: format!("Pleach {}", env!("CARGO_PKG_VERSION")),
        specification: format!("COVER( init({entry}()), FQL(COVER EDGES(@DECISIONEDGE)) )"),
        program_file: file.map_or_else(String::new, |f| f.display().to_string()),
        program_hash: testcomp::program_hash(&contents),
        entry: entry.to_owned(),
        architecture: format!("{}bit", program.target.pointer_bytes * 8),
        // Equal runs write equal bytes.
        creation_time: "1970-01-01T00:00:00Z".into(),
    }
}

fn timing(start: Start, elapsed: Duration, solver: &pleach_smt::Stats, states_peak: u64) -> Timing {
    let Start { at: started, memory } = start;
    let added = memory_peak_bytes().saturating_sub(memory);
    Timing {
        started: started.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs()),
        elapsed_us: elapsed.as_micros() as u64,
        cpu_us: cpu_us(),
        memory_peak_bytes: memory_peak_bytes(),
        memory_per_state_bytes: added / states_peak.max(1),
        components_us: solver.times().map(|(name, t)| (name.to_owned(), t.as_micros() as u64)).collect(),
    }
}

/// How things stood before the exploration.
struct Start {
    at: SystemTime,
    memory: u64,
}

/// Processor time of this process so far.
fn cpu_us() -> u64 {
    const TICKS_PER_SECOND: u64 = 100;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The second field, the name, may contain spaces; user and system time are the 14th and 15th.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_ascii_whitespace();
    let ticks: u64 = fields.skip(11).take(2).filter_map(|f| f.parse::<u64>().ok()).sum();
    ticks * (1_000_000 / TICKS_PER_SECOND)
}

fn memory_peak_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak = status.lines().find_map(|l| l.strip_prefix("VmHWM:"));
    peak.and_then(|p| p.split_ascii_whitespace().next()?.parse::<u64>().ok()).unwrap_or(0) * 1024
}
