//! One exploration from flags to files: what every command that explores does.

use crate::args::RunArgs;
use crate::assemble::{self, entry_name};
use crate::exploration_settings::ExplorationSettings;
use crate::observer::Observer;
use crate::progress::{Line, Style};
use crate::standing::Standing;
use crate::timing::{self, Start};
use crate::writer::{Writer, WriterConfig};
use crate::{explanations, run_info, summary};
use pleach::{EndOfRun, Engine, coverage, cut_reason};
use pleach_command::signals;
use pleach_command::watchdog::{Bounds, Watchdog};
use pleach_command::{CliError, Code};
use pleach_exec::ProgramEntry;
use pleach_explore::{Counters, Halt};
use pleach_ir::{CheckKind, Program};
use pleach_report::{Coverage, Interpolant, RunDir, Summary, Timing};
use pleach_state::Assumption;
use std::any::Any;
use std::cell::Cell;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A program that is ready to be explored.
pub struct Session<'a> {
    args: &'a RunArgs,
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
    fn start(args: &RunArgs, halt: Halt, began: Instant) -> Watched {
        let dog = Watchdog::start(Bounds {
            halt: halt.clone(),
            deadline: args.max_time.filter(|t| !t.is_zero()).map(|time| began + time),
            memory: Some(args.max_memory).filter(|m| *m != 0).map(|mb| mb * 1_000_000),
        });
        Watched { halt, dog, began }
    }
}

/// What an exploration found; nothing of it is printed yet.
pub struct ExplorationResult {
    pub dir: RunDir,
    pub summary: Summary,
    pub counters: Counters,
    pub elapsed: Duration,
    /// nodes of the execution tree
    pub nodes: u64,
    /// ends in undefined behaviour that the property does not cover, in sentences
    pub undefined: Vec<String>,
    /// an internal error ended it
    pub crashed: bool,
    /// the assumptions about the program's environment
    pub assumptions: Vec<Assumption>,
    /// the signal that interrupted it
    pub signal: Option<u8>,
    pub coverage: Coverage,
    pub timing: Timing,
    pub interpolants: Option<Vec<Interpolant>>,
    pub failure: Option<String>,
    /// what the exploration leaves in memory: dropping it takes longer than writing the results
    pub left: Option<Box<dyn Any>>,
}

/// Completes, writes and prints the account of an exploration. Said by the watchdog if the exploration has to be ended
/// in the middle of a step.
pub type Conclude = Arc<dyn Fn(ExplorationResult) -> Result<Code, CliError> + Send + Sync>;

impl Session<'_> {
    pub fn files(&self) -> &[PathBuf] {
        &self.args.files
    }

    /// Compiles and links, once the flags are known to make sense.
    pub fn load<'a>(args: &'a RunArgs, settings: &ExplorationSettings) -> Result<Session<'a>, CliError> {
        assemble::conflicts(args, settings)?;
        assemble::search(args, settings)?;
        assemble::run(args, settings)?;
        let directory =
            std::env::current_dir().map_err(|why| CliError::System { what: "find the current directory", why })?;
        let (halt, began) = (Halt::new(), Instant::now());
        signals::watch(&halt)?;
        let watched = Watched::start(args, halt.clone(), began);
        let patience = assemble::patience(args, &halt, began);
        let loaded = pleach::load_within(
            &args.files,
            &assemble::compile(&args.compile, settings.overflow),
            &args.args,
            &patience,
        );
        // The front end was ended because the run was.
        let mut program = match halt.reason() {
            Some(why) if loaded.is_err() => return Err(CliError::TooEarly { why, signal: halt.signal() }),
            _ => loaded?,
        };
        if !settings.property.is_everything() {
            // To SV-COMP's properties a program does what the machine does.
            program.drop_checks(&[CheckKind::VlaBound], |_| true);
        }
        let program = Rc::new(program);
        let entry = assemble::entry(args, &program)?;
        Ok(Session { args, program, entry, directory, watched: Cell::new(Some(watched)) })
    }

    /// For the next exploration.
    fn take_watch(&self) -> Result<Watched, CliError> {
        if let Some(first) = self.watched.take() {
            return Ok(first);
        }
        let halt = Halt::new();
        signals::watch(&halt)?;
        Ok(Watched::start(self.args, halt, Instant::now()))
    }

    /// Explores. Tests are on disk when it returns; the summary is for the caller to complete and to write.
    pub fn explore(
        &self,
        settings: &ExplorationSettings,
        observer: &mut dyn Observer,
        to: Option<&Path>,
        conclude: &Conclude,
    ) -> Result<ExplorationResult, CliError> {
        let Session { args, program, entry, directory, .. } = self;
        let search = assemble::search(args, settings)?;
        let config = assemble::run(args, settings)?;
        let Watched { halt, dog, began } = self.take_watch()?;
        let mut builder = Engine::builder(program.clone())
            .exec(assemble::exec(args, settings, entry.clone()))
            .solver(assemble::solver(args))
            .search(search)
            .run_config(config)
            .halt(&halt)
            .check_seams(args.check_seams)
            .targets(observer.targets())
            .native_calls(crate::native_calls::calls(args));
        if settings.prune {
            builder = builder.prune(assemble::prune(args));
        }
        if let Some(config) = assemble::merge(args) {
            builder = builder.merge(config);
        }
        let mut engine = builder.build()?;

        let dir = RunDir::create(to)?;
        let info = run_info::run_info(args, directory, program, entry, settings, engine.initial().first(), dir.path())?;
        dir.write_run_info(&info)?;
        engine.executor.machine.arrived = observer.arrived(program, &info.argv);
        dir.write_suite_metadata(&run_info::suite(args, program, entry_name(entry)))?;
        let writer_config = WriterConfig {
            write_all_tests: args.write_all_tests,
            emit_all_errors: settings.emit_all_errors,
            print_findings: !args.quiet,
            colour: std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
            directory: directory.clone(),
            argv: info.argv.clone(),
            property: settings.property.clone(),
        };
        let line = Line::new(Style::choose(args.verbose, args.quiet));
        let start = Start::now();
        let fixed = self.summary();
        let standing = Standing::new(fixed.clone());
        let last = (standing.clone(), conclude.clone(), dir.clone(), start.clone(), halt.clone());
        dog.last_words(Box::new(move |why| {
            let (standing, conclude, dir, start, halt) = last;
            let found = standing.cut_short(&why, &dir, &start, began, &halt);
            conclude(found).unwrap_or_else(|error| {
                eprintln!("pleach: {error}");
                error.exit_code()
            })
        }));
        let mut writer =
            Writer::new(&dir, program.clone(), writer_config, line, entry_name(entry), observer, standing)?;
        for remark in &program.remarks {
            writer.warn(remark.clone());
        }

        let outcome = engine.explore(&mut writer);
        let elapsed = began.elapsed();
        if outcome == EndOfRun::Done {
            writer.write_missing_tests(&mut engine.executor);
        }
        writer.finish(&mut engine.executor, engine.run.progress(elapsed));
        dog.claim();

        let coverage = coverage::report(program, &engine.executor.machine.coverage, directory);
        let mut solver = pleach_smt::Stats::new();
        engine.executor.machine.solver.stats(&mut solver);
        let counters = engine.run.counters.clone();
        let c = &counters;
        let wrong_hits = solver.get("address.failures");
        if wrong_hits > 0 {
            eprintln!("pleach: the query cache gave {wrong_hits} wrong answers; --query-cache exact does without it");
        }
        let wrong_merges = engine.wrong_merges();
        if wrong_merges > 0 {
            eprintln!(
                "pleach: {wrong_merges} merged values or conditions are wrong; --merge=none does without merging"
            );
        }
        let unsound = !c.rechecked.failures.is_empty() || wrong_hits > 0 || wrong_merges > 0;
        let complete = c.is_complete() && outcome == EndOfRun::Done && writer.failure().is_none() && !unsound;
        engine.executor.machine.assume_surroundings();
        let assumptions: Vec<Assumption> = engine.executor.machine.assumptions.iter().cloned().collect();
        let mut summary = Summary {
            complete,
            assumptions: cut_reason::assumptions(&assumptions),
            paths: cut_reason::paths(c),
            errors: writer.errors.clone(),
            covered: coverage.covered_lines(),
            totals: coverage.totals(),
            cut: cut_reason::cuts(c),
            tests: u64::from(writer.tests),
            instructions: c.instructions,
            forks: c.forks,
            evicted: c.evicted,
            deferred: c.deferred,
            states_peak: c.states_peak,
            solver: solver.counts().map(|(name, n)| (name.to_owned(), n)).collect(),
            pruning: engine
                .pruning_statistics()
                .into_iter()
                .chain(settings.prune.then(|| ("nodes".to_owned(), engine.run.tree.len() as u64)))
                .chain(summary::speculated(args.speculate, &c.speculated))
                .chain(args.check_pruning.iter().flat_map(|_| summary::rechecked(&c.rechecked)))
                .collect(),
            merging: engine.merging_statistics().into_iter().collect(),
            memory: engine.executor.machine.resolved.statistics().into_iter().collect(),
            warnings: warnings(&writer),
            ..fixed
        };
        let pruning_times = engine.pruning_times();
        let nodes = args.check_interpolants.unwrap_or(0);
        let audit = match engine.interpolation_and_machine() {
            (Some(interpolation), machine) => pleach_audit::audit(machine, interpolation, nodes),
            (None, _) => pleach_audit::AuditReport::default(),
        };
        if args.check_interpolants.is_some() {
            summary.pruning.extend(audit.statistics());
        }
        for failure in &audit.failures {
            eprintln!("pleach: an interpolant is wrong: {failure}");
        }
        for failure in &engine.executor.machine.disagreements {
            eprintln!("pleach: a pointer is resolved wrongly: {failure}");
        }
        let unsound = unsound || !audit.failures.is_empty() || !engine.executor.machine.disagreements.is_empty();
        summary.complete &= !unsound;
        let interpolants = match engine.interpolation_and_machine() {
            (Some(interpolation), machine) if args.explain_pruning => {
                Some(explanations::of(interpolation, machine, program, directory))
            }
            _ => None,
        };
        let undefined = writer.undefined.values().cloned().collect();
        let failure = writer.failure().map(ToString::to_string);
        drop(writer);
        Ok(ExplorationResult {
            dir,
            summary,
            timing: Timing {
                costly_lines: timing::costly_lines(&engine.executor.machine),
                ..timing::timing(&start, elapsed, &solver, pruning_times, c.states_peak)
            },
            counters,
            elapsed,
            nodes: engine.run.tree.len() as u64,
            undefined,
            crashed: outcome == EndOfRun::InternalError || unsound,
            assumptions,
            signal: halt.signal(),
            coverage,
            interpolants,
            failure,
            left: Some(Box::new(engine.into_remains())),
        })
    }
}

impl Session<'_> {
    /// What the account of every exploration says of the command.
    fn summary(&self) -> Summary {
        let args = self.args;
        Summary {
            flags: flags(),
            seed: args.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            entry: entry_name(&self.entry).to_owned(),
            sources: args.files.iter().map(|f| f.display().to_string()).collect(),
            ..Summary::default()
        }
    }
}

impl ExplorationResult {
    /// Ends it without dropping what it left: the process ends.
    pub fn forget(self) {
        std::mem::forget(self.left);
    }

    /// Writes the account of the run, and says so if something could not be written: then the status of `code` is that
    /// of a failure, unless errors were found.
    pub fn write(&mut self) {
        let interpolants = self.interpolants.as_ref().map_or(Ok(()), |all| self.dir.write_interpolants(all));
        let written = [
            self.dir.write_summary(&self.summary),
            interpolants,
            self.dir.write_coverage(&self.coverage),
            self.dir.write_timing(&self.timing),
        ];
        let failed = written.into_iter().find_map(Result::err).map(|why| why.to_string());
        self.failure = self.failure.take().or(failed);
        if let Some(why) = &self.failure {
            eprintln!("pleach: results are incomplete: {why}");
        }
        if self.crashed {
            let path = self.dir.path().display();
            eprintln!("pleach: this is an internal error; what was found until then is in {path}");
        }
    }

    /// This status, if everything was written.
    pub fn code(&self, code: Code) -> Code {
        if self.failure.is_some() && code != Code::Found && code != Code::Bug { Code::Input } else { code }
    }

    /// Human-readable location of the results.
    pub fn place(&self) -> String {
        self.dir.path().display().to_string()
    }
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

fn warnings(writer: &Writer) -> Vec<String> {
    let mut all = writer.warnings.clone();
    if writer.untested > 0 {
        all.push(format!(
            "{} got no test because the run had to end",
            pleach::number_format::count(writer.untested, "path")
        ));
    }
    all
}
