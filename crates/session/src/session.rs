//! One exploration from configuration to files: what every command that explores does.

use crate::config::SessionConfig;
use crate::entry::entry_name;
use crate::observer::{Observer, Targets};
use crate::portfolio::TurnsTaken;
use crate::progress::Line;
use crate::result::ExplorationResult;
use crate::standing::Standing;
use crate::timing::{self, Start};
use crate::verdict_text::allocates;
use crate::writer::{Writer, WriterConfig, Written};
use crate::{explanations, native_calls, run_info, summary};
use pleach::{EndOfRun, Engine, coverage, cut_reason};
use pleach_audit::AuditReport;
use pleach_command::signals;
use pleach_command::watchdog::{Bounds, Watchdog};
use pleach_command::{CliError, Code};
use pleach_exec::{ExecConfig, FixedInputs, ProgramEntry};
use pleach_explore::{Counters, Halt, Limits};
use pleach_ir::{CheckKind, Program};
use pleach_load::LoadLimits;
use pleach_report::{RunDir, Summary, Timing};
use pleach_state::{Assumption, Leaks};
use pleach_verify::Property;
use std::cell::Cell;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

/// A program that is ready to be explored.
pub struct Session {
    pub config: SessionConfig,
    pub program: Rc<Program>,
    entry: ProgramEntry,
    /// What paths of sources are relative to.
    pub directory: PathBuf,
    /// For the first exploration: loading belongs to it.
    watched: Cell<Option<Watched>>,
}

/// Who may stop an exploration, who keeps its limits, and when its time began.
struct Watched {
    halt: Halt,
    dog: Watchdog,
    began: Instant,
}

impl Watched {
    fn start(limits: &Limits, halt: Halt, began: Instant) -> Watched {
        let dog = Watchdog::start(Bounds {
            halt: halt.clone(),
            deadline: limits.max_time.map(|time| began + time),
            memory: limits.max_memory.map(|mb| mb * 1_000_000),
        });
        Watched { halt, dog, began }
    }

    /// How long the front end may take, and how much memory: at least what any program needs.
    fn load_limits(&self, limits: &Limits, compiled: Arc<AtomicUsize>) -> LoadLimits {
        const LEAST_MB: u64 = 1000;
        LoadLimits {
            deadline: limits.max_time.map(|t| self.began + t),
            halt: Some(self.halt.flag()),
            memory: limits.max_memory.map(|mb| mb.max(LEAST_MB) * 1_000_000),
            compiled: Some(compiled),
        }
    }
}

/// Completes, writes and prints the account of an exploration. Said by the watchdog if the exploration has to be ended
/// in the middle of a step.
pub type Conclude = Arc<dyn Fn(ExplorationResult) -> Result<Code, CliError> + Send + Sync>;

impl Session {
    /// Compiles and links.
    pub fn load(config: SessionConfig) -> Result<Session, CliError> {
        let directory =
            std::env::current_dir().map_err(|why| CliError::System { what: "find the current directory", why })?;
        let (halt, began) = (Halt::new(), Instant::now());
        signals::watch(&halt)?;
        let limits = &config.run.limits;
        let watched = Watched::start(limits, halt.clone(), began);
        let compiled = Arc::<AtomicUsize>::default();
        let mut line = Line::compiling(config.output.progress, &config.files, compiled.clone());
        let load_limits = watched.load_limits(limits, compiled);
        let loaded = pleach::load_within(&config.files, &config.compile, &config.entry.args, &load_limits);
        line.clear();
        // The front end was ended because the run was.
        let mut program = match halt.reason() {
            Some(why) if loaded.is_err() => return Err(CliError::TooEarly { why, signal: halt.signal() }),
            _ => loaded?,
        };
        if !config.property.is_everything() {
            // To SV-COMP's properties a program does what the machine does.
            program.drop_checks(&[CheckKind::VlaBound], |_| true);
        }
        let program = Rc::new(program);
        let entry = config.entry.resolve(&program)?;
        Ok(Session { config, program, entry, directory, watched: Cell::new(Some(watched)) })
    }

    /// The same for a property. A program that makes no heap blocks cannot lose any.
    pub fn load_for_property(config: SessionConfig) -> Result<Session, CliError> {
        let mut session = Session::load(config)?;
        if !allocates(&session.program) {
            session.config.exec.leaks = Leaks::Ignored;
        }
        Ok(session)
    }

    /// The same once more; the first exploration of the two takes what loading began.
    pub(crate) fn again(&self) -> Session {
        let Session { config, program, entry, directory, watched } = self;
        let watched = Cell::new(watched.take());
        Session {
            config: config.clone(),
            program: program.clone(),
            entry: entry.clone(),
            directory: directory.clone(),
            watched,
        }
    }

    /// With this limit on time for each exploration, from its beginning.
    pub(crate) fn with_max_time(mut self, max_time: Option<Duration>) -> Session {
        self.config.run.limits.max_time = max_time;
        self.watched.set(None);
        self
    }

    /// The same program from another function.
    pub(crate) fn with_entry(&self, name: &str) -> Result<Session, CliError> {
        let mut other = self.again();
        other.config.entry.name = Some(name.to_owned());
        other.entry = other.config.entry.resolve(&other.program)?;
        Ok(other)
    }

    /// For the next exploration.
    fn take_watch(&self) -> Result<Watched, CliError> {
        if let Some(first) = self.watched.take() {
            return Ok(first);
        }
        let halt = Halt::new();
        signals::watch(&halt)?;
        Ok(Watched::start(&self.config.run.limits, halt, Instant::now()))
    }

    /// Explores. Tests are on disk when it returns; the summary is for the caller to complete and to write.
    pub fn explore(
        &self,
        observer: &mut dyn Observer,
        to: Option<&Path>,
        conclude: &Conclude,
    ) -> Result<ExplorationResult, CliError> {
        if self.config.deepening {
            return self.deepen(observer, to, conclude);
        }
        let tried = self.by_contracts();
        if let Some(Ok(proof)) = &tried
            && let Some(found) = self.explore_with_contracts(proof, to, conclude)?
        {
            return Ok(found);
        }
        let mut found = self.explore_in_turns(observer, to, conclude)?;
        if let Some(Err(why)) = tried {
            found.summary.warnings.push(format!("no contracts for recursive functions: {why}"));
        }
        Ok(found)
    }

    /// One exploration, with others in turns that are noted in `taken`, if it is there.
    pub(crate) fn explore_once(
        &self,
        observer: &mut dyn Observer,
        to: Option<&Path>,
        conclude: &Conclude,
        taken: Option<&Rc<TurnsTaken>>,
    ) -> Result<ExplorationResult, CliError> {
        let Watched { halt, dog, began } = self.take_watch()?;
        let mut engine = self.engine(observer.targets(), &halt)?;
        engine.run.portfolio = taken.map(|o| self.turns(o, &halt));
        let dir = RunDir::create(to)?;
        let argv = self.write_head(&engine, &dir)?;
        engine.executor.machine.arrived = observer.arrived(&self.program, &argv);

        let start = Start::now();
        let standing = Standing::new(self.summary());
        let last = (standing.clone(), conclude.clone(), dir.clone(), start.clone(), halt.clone());
        dog.last_words(Box::new(move |why| {
            let (standing, conclude, dir, start, halt) = last;
            let found = standing.cut_short(&why, &dir, &start, began, &halt);
            conclude(found).unwrap_or_else(|error| {
                eprintln!("pleach: {error}");
                error.exit_code()
            })
        }));
        let (config, line) = (self.writer_config(argv), Line::new(self.config.output.progress));
        let entry = entry_name(&self.entry);
        let mut writer = Writer::new(&dir, self.program.clone(), config, line, entry, observer, standing)?;
        for remark in &self.program.remarks {
            writer.warn(remark.clone());
        }
        self.config.entry.remark(&self.program).into_iter().for_each(|remark| writer.warn(remark));

        let end = engine.explore(&mut writer);
        let elapsed = began.elapsed();
        if end == EndOfRun::Done {
            writer.write_missing_tests(&mut engine.executor);
        }
        writer.finish(&mut engine.executor, engine.run.progress(elapsed));
        dog.claim();
        let written = writer.into_written();
        let timing = |engine: &Engine, solver: &pleach_smt::Stats| {
            timing::timing(&start, elapsed, solver, engine.pruning_times(), engine.run.counters.states_peak)
        };
        let found = self.result(engine, end, written, dir, timing);
        Ok(ExplorationResult { elapsed, signal: halt.signal(), ..found })
    }

    pub(crate) fn entry(&self) -> &ProgramEntry {
        &self.entry
    }

    /// Another program, from the same entry.
    pub(crate) fn with_program(&self, program: Rc<Program>) -> Session {
        Session { program, ..self.again() }
    }

    pub(crate) fn engine(&self, targets: Targets, halt: &Halt) -> Result<Engine<'static>, CliError> {
        let config = &self.config;
        let mut builder = Engine::builder(self.program.clone())
            .exec(ExecConfig { entry: self.entry.clone(), ..config.exec.clone() })
            .solver(config.solver.clone())
            .search(config.search.clone())
            .run_config(config.run.clone())
            .halt(halt)
            .check_seams(config.check_seams)
            .targets(targets)
            .seeds(config.seeds.clone())
            .native_calls(native_calls::calls(config.exec.external));
        if let Some(prune) = &config.prune {
            builder = builder.prune(prune.clone());
        }
        if let Some(merge) = &config.merge {
            builder = builder.merge(merge.clone());
        }
        Ok(builder.build()?)
    }

    /// An engine that only steps states: nothing is pruned and nothing merged. With `inputs`, one path is left.
    pub fn stepper(&self, inputs: Option<FixedInputs>) -> Result<Engine<'static>, CliError> {
        let config = &self.config;
        let exec = ExecConfig { entry: self.entry.clone(), inputs, query_budget: None, ..config.exec.clone() };
        let calls = native_calls::calls(config.exec.external);
        Ok(Engine::builder(self.program.clone())
            .exec(exec)
            .solver(config.solver.clone())
            .native_calls(calls)
            .build()?)
    }

    /// What the directory says of the run before it begins. Returns the program's arguments, its name first.
    fn write_head(&self, engine: &Engine, dir: &RunDir) -> Result<Vec<String>, CliError> {
        let Session { config, program, entry, directory, .. } = self;
        let info = run_info::run_info(config, directory, program, entry, engine.initial().first(), dir.path())?;
        dir.write_run_info(&info)?;
        dir.write_suite_metadata(&run_info::suite(config, program, entry_name(entry)))?;
        Ok(info.argv)
    }

    fn writer_config(&self, argv: Vec<String>) -> WriterConfig {
        WriterConfig {
            output: self.config.output.clone(),
            colour: std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
            directory: self.directory.clone(),
            argv,
            property: self.config.property.clone(),
        }
    }

    /// What the account of every exploration says of the command.
    fn summary(&self) -> Summary {
        Summary {
            flags: self.config.added_flags.iter().map(|&f| f.to_owned()).chain(flags()).collect(),
            seed: self.config.run.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            entry: entry_name(&self.entry).to_owned(),
            sources: self.config.files.iter().map(|f| f.display().to_string()).collect(),
            ..Summary::default()
        }
    }
}

/// What was found, by an engine that has ended.
impl Session {
    fn result(
        &self,
        mut engine: Engine<'static>,
        end: EndOfRun,
        written: Written,
        dir: RunDir,
        timing: impl Fn(&Engine, &pleach_smt::Stats) -> Timing,
    ) -> ExplorationResult {
        let mut solver = pleach_smt::Stats::new();
        engine.executor.machine.solver.stats(&mut solver);
        let coverage = coverage::report(&self.program, &engine.executor.machine.coverage, &self.directory);
        engine.executor.machine.assume_surroundings();
        let counters = engine.run.counters.clone();
        let bound = counters.rounds().map(Assumption::Rounds);
        let assumptions: Vec<Assumption> = engine.executor.machine.assumptions.iter().cloned().chain(bound).collect();
        let mut summary = Summary {
            assumptions: cut_reason::assumptions(&assumptions),
            paths: cut_reason::paths(&counters),
            errors: written.errors,
            covered: coverage.covered_lines(),
            totals: coverage.totals(),
            cut: cut_reason::cuts(&counters),
            tests: u64::from(written.tests),
            instructions: counters.instructions,
            forks: counters.forks,
            evicted: counters.evicted,
            deferred: counters.deferred,
            states_peak: counters.states_peak,
            solver: solver.counts().map(|(name, n)| (name.to_owned(), n)).collect(),
            pruning: self.pruning_statistics(&engine).collect(),
            merging: engine.merging_statistics().into_iter().collect(),
            patterns: explanations::patterns(engine.merge_patterns(), &self.directory),
            memory: engine.executor.machine.resolved.statistics().into_iter().collect(),
            warnings: written.warnings,
            ..self.summary()
        };
        let mut loops_in_c = Vec::new();
        if let (Some(interpolation), machine) = engine.interpolation_and_machine() {
            (summary.loops, loops_in_c) = explanations::loops(interpolation, machine, &self.program, &self.directory);
        }
        let learned = self.learned(&mut engine, &counters);
        let audit = self.audit(&mut engine);
        if self.config.check_interpolants.is_some() {
            summary.pruning.extend(audit.statistics());
        }
        let unsound = report_wrong_results(&engine, &solver, &audit);
        let ended = end == EndOfRun::Done && written.failure.is_none() && !unsound;
        summary.complete = counters.is_complete() && ended;
        let timing =
            Timing { costly_lines: timing::costly_lines(&engine.executor.machine), ..timing(&engine, &solver) };
        ExplorationResult {
            dir,
            summary,
            timing,
            finished: counters.is_complete_within_rounds() && ended,
            counters,
            elapsed: std::time::Duration::ZERO,
            nodes: engine.run.tree.len() as u64,
            undefined: written.undefined,
            crashed: end == EndOfRun::InternalError || unsound,
            assumptions,
            signal: None,
            coverage,
            interpolants: self.explanations(&mut engine),
            learned,
            loops_in_c,
            failure: written.failure.map(|why| why.to_string()),
            left: Some(Box::new(engine.into_remains())),
        }
    }

    fn pruning_statistics(&self, engine: &Engine) -> impl Iterator<Item = (String, u64)> {
        let (config, counters) = (&self.config, &engine.run.counters);
        let nodes = config.prune.is_some().then(|| ("nodes".to_owned(), engine.run.tree.len() as u64));
        let speculate = config.prune.as_ref().is_some_and(|p| p.speculate);
        let rechecked = config.run.check_pruning.map(|_| summary::rechecked(&counters.rechecked));
        let speculated = summary::speculated(speculate, &counters.speculated);
        engine.pruning_statistics().into_iter().chain(nodes).chain(speculated).chain(rechecked.into_iter().flatten())
    }

    fn audit(&self, engine: &mut Engine) -> AuditReport {
        let nodes = self.config.check_interpolants.unwrap_or(0);
        match engine.interpolation_and_machine() {
            (Some(interpolation), machine) => pleach_audit::audit(machine, interpolation, nodes),
            (None, _) => AuditReport::default(),
        }
    }

    fn learned(&self, engine: &mut Engine, counters: &Counters) -> Option<pleach_prune::EntryInterpolants> {
        let complete = counters.is_complete();
        // SOUND: beyond a bound on rounds nothing is known, whatever an interpolant says of the rounds below it.
        let wanted = self.config.property == Property::reaching() && !complete && counters.rounds().is_none();
        match engine.interpolation_and_machine() {
            (Some(interpolation), machine) if wanted => {
                Some(interpolation.entry_interpolants(&mut machine.terms, &self.program))
            }
            _ => None,
        }
    }

    fn explanations(&self, engine: &mut Engine) -> Option<Vec<pleach_report::Interpolant>> {
        let explain = self.config.prune.as_ref().is_some_and(|p| p.explain);
        match engine.interpolation_and_machine() {
            (Some(interpolation), machine) if explain => {
                Some(explanations::of(interpolation, machine, &self.program, &self.directory))
            }
            _ => None,
        }
    }
}

/// Says what a check found wrong. Whether there is such a thing: then nothing of the run can be relied on.
fn report_wrong_results(engine: &Engine, solver: &pleach_smt::Stats, audit: &AuditReport) -> bool {
    let wrong_hits = solver.get("address.failures");
    if wrong_hits > 0 {
        eprintln!("pleach: the query cache gave {wrong_hits} wrong answers; --query-cache exact does without it");
    }
    let wrong_merges = engine.wrong_merges();
    if wrong_merges > 0 {
        eprintln!("pleach: {wrong_merges} merged values or conditions are wrong; --merge=none does without merging");
    }
    let wrong_queries = solver.get("quantified.wrong");
    if wrong_queries > 0 {
        eprintln!("pleach: {wrong_queries} answers to quantified queries are wrong; --merge=tree does without them");
    }
    for failure in &audit.failures {
        eprintln!("pleach: an interpolant is wrong: {failure}");
    }
    let disagreements = &engine.executor.machine.disagreements;
    for failure in disagreements {
        eprintln!("pleach: a pointer is resolved wrongly: {failure}");
    }
    let rechecked = &engine.run.counters.rechecked.failures;
    let wrong = wrong_hits > 0 || wrong_merges > 0 || wrong_queries > 0;
    let merges = &engine.run.counters.rechecked_merges.failures;
    wrong || !merges.is_empty() || !rechecked.is_empty() || !audit.failures.is_empty() || !disagreements.is_empty()
}

/// The command line without what only says where results go.
fn flags() -> Vec<String> {
    let mut flags = Vec::new();
    let mut args = std::env::args_os().skip(2).map(|a| a.to_string_lossy().into_owned());
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--output-dir" => drop(args.next()),
            a if a.starts_with("--output-dir=") => {}
            _ => flags.push(arg),
        }
    }
    flags
}
