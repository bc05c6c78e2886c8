//! One exploration from flags to files: what every command that explores does.

use crate::args::RunArgs;
use crate::assemble::{self, entry_name};
use crate::error::{CliError, Code};
use crate::exploration_settings::ExplorationSettings;
use crate::guided_executor::GuidedExecutor;
use crate::observer::Observer;
use crate::progress::{Line, Style};
use crate::signals;
use crate::standing::Standing;
use crate::timing::{self, Start};
use crate::watchdog::{Bounds, Watchdog};
use crate::writer::{Writer, WriterConfig};
use crate::{coverage, explanations, run_info, summary};
use pleach_exec::{Machine, ProgramEntry};
use pleach_explore::{Counters, Halt, Run, Seams};
use pleach_ir::{CheckKind, Program};
use pleach_report::{Coverage, Interpolant, RunDir, Summary, Timing};
use pleach_state::seams::{CheckedSearcher, NoPruner, Pruner, Searcher};
use pleach_state::{Assumption, CheckedPruner};
use std::any::Any;
use std::cell::Cell;
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind};
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
    /// ends in undefined behaviour that the property does not ask about, in sentences
    pub undefined: Vec<String>,
    /// an internal error ended it
    pub crashed: bool,
    /// what was taken for given about the program's surroundings
    pub assumptions: Vec<Assumption>,
    /// the signal that interrupted it
    pub signal: Option<u8>,
    pub coverage: Coverage,
    pub timing: Timing,
    pub interpolants: Option<Vec<Interpolant>>,
    pub failure: Option<String>,
    /// what the exploration leaves in memory: to take it apart takes longer than to write the results
    pub left: Option<Box<dyn Any>>,
}

/// Completes, writes and prints the account of an exploration. Said by the watchdog if the exploration has to be ended in the middle of a step.
pub type Conclude = Arc<dyn Fn(ExplorationResult) -> Result<Code, CliError> + Send + Sync>;

impl Session<'_> {
    pub fn files(&self) -> &[PathBuf] {
        &self.args.files
    }

    /// Compiles and links, once the flags are known to make sense.
    pub fn load<'a>(args: &'a RunArgs, plan: &ExplorationSettings) -> Result<Session<'a>, CliError> {
        assemble::conflicts(args, plan)?;
        assemble::search(args, plan)?;
        assemble::run(args, plan)?;
        let directory =
            std::env::current_dir().map_err(|why| CliError::System { what: "find the current directory", why })?;
        let (halt, began) = (Halt::new(), Instant::now());
        signals::watch(&halt)?;
        let watched = Watched::start(args, halt.clone(), began);
        let patience = assemble::patience(args, &halt, began);
        let loaded = assemble::load(&args.files, &args.compile, plan.overflow, &args.args, &patience);
        // The front end was ended because the run was.
        let mut program = match halt.reason() {
            Some(why) if loaded.is_err() => return Err(CliError::TooEarly { why, signal: halt.signal() }),
            _ => loaded?,
        };
        if !plan.property.is_everything() {
            // To SV-COMP's properties a program does what the machine does.
            program.drop_checks(&[CheckKind::VlaBound], |_| true);
        }
        let program = Rc::new(program);
        let entry = assemble::entry(args, &program)?;
        Ok(Session { args, program, entry, directory, watched: Cell::new(Some(watched)) })
    }

    /// For the next exploration.
    fn watched(&self) -> Result<Watched, CliError> {
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
        plan: &ExplorationSettings,
        observer: &mut dyn Observer,
        to: Option<&Path>,
        conclude: &Conclude,
    ) -> Result<ExplorationResult, CliError> {
        let Session { args, program, entry, directory, .. } = self;
        let search = assemble::search(args, plan)?;
        let config = assemble::run(args, plan)?;
        let Watched { halt, dog, began } = self.watched()?;
        let solver = pleach_smt::assemble(assemble::solver(args, &halt));
        let mut machine = Machine::new(program.clone(), solver, assemble::exec(args, plan, entry.clone()))?;
        machine.native_calls = crate::native_calls::calls(args);
        machine.terms.brake = halt.brake();
        let mut guided = GuidedExecutor::new(machine, search.needs_distances());
        guided.machine.targets = observer.targets();
        let initial = guided.machine.initial_states()?;
        let mut searcher = search.build()?;
        if args.check_seams {
            searcher = Box::new(CheckedSearcher::new(Dyn(searcher)));
        }

        let dir = RunDir::create(to)?;
        let info = run_info::run_info(args, directory, program, entry, plan, initial.first(), dir.path())?;
        dir.write_run_info(&info)?;
        guided.machine.arrived = observer.arrived(program, &info.argv);
        dir.write_suite_metadata(&run_info::suite(args, program, entry_name(entry)))?;
        let writer_config = WriterConfig {
            write_all_tests: args.write_all_tests,
            emit_all_errors: plan.emit_all_errors,
            print_findings: !args.quiet,
            colour: std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
            directory: directory.clone(),
            argv: info.argv.clone(),
            property: plan.property.clone(),
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

        let mut interpolation = assemble::interpolation(args, plan, program);
        let mut checked;
        let pruner: &mut dyn Pruner = match (plan.prune, args.check_pruning) {
            (false, _) => &mut NoPruner,
            (true, None) => &mut interpolation,
            (true, Some(_)) => {
                checked = CheckedPruner::new(&mut interpolation, program.clone());
                &mut checked
            }
        };
        let mut run = Run::new(config, halt.clone());
        // An internal error must not lose what was found until then.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let seams = Seams { searcher: &mut *searcher, pruner: &mut *pruner };
            run.explore(initial, &mut guided, &mut writer, seams);
        }));
        if outcome.is_err() {
            // Another panic loses the tests of what was waiting, and nothing else.
            let _ = catch_unwind(AssertUnwindSafe(|| run.abandon_after_panic(&mut guided, &mut writer)));
        }
        let elapsed = began.elapsed();
        if outcome.is_ok() {
            writer.write_missing_tests(&mut guided);
        }
        writer.finish(&mut guided, run.progress(elapsed));
        dog.claim();

        let coverage = coverage::report(program, &guided.machine.coverage, directory);
        let mut solver = pleach_smt::Stats::new();
        guided.machine.solver.stats(&mut solver);
        let c = &run.counters;
        let wrong_hits = solver.get("address.failures");
        if wrong_hits > 0 {
            eprintln!("pleach: the query cache gave {wrong_hits} wrong answers; --query-cache exact does without it");
        }
        let unsound = !c.rechecked.failures.is_empty() || wrong_hits > 0;
        let complete = c.is_complete() && outcome.is_ok() && writer.failure().is_none() && !unsound;
        guided.machine.assume_surroundings();
        let assumptions: Vec<Assumption> = guided.machine.assumptions.iter().cloned().collect();
        let mut summary = Summary {
            complete,
            assumptions: summary::assumptions(&assumptions),
            paths: summary::paths(c),
            errors: writer.errors.clone(),
            covered: coverage.covered_lines(),
            totals: coverage.totals(),
            cut: summary::cuts(c),
            tests: u64::from(writer.tests),
            instructions: c.instructions,
            forks: c.forks,
            evicted: c.evicted,
            deferred: c.deferred,
            states_peak: c.states_peak,
            solver: solver.counts().map(|(name, n)| (name.to_owned(), n)).collect(),
            pruning: pruner
                .statistics()
                .into_iter()
                .chain(plan.prune.then(|| ("nodes".to_owned(), run.tree.len() as u64)))
                .chain(summary::speculated(args.speculate, &c.speculated))
                .chain(args.check_pruning.iter().flat_map(|_| summary::rechecked(&c.rechecked)))
                .collect(),
            memory: guided.machine.resolved.statistics().into_iter().collect(),
            warnings: warnings(&writer),
            ..fixed
        };
        let pruning_times = pruner.times();
        let audit = pleach_audit::audit(&mut guided.machine, &interpolation, args.check_interpolants.unwrap_or(0));
        if args.check_interpolants.is_some() {
            summary.pruning.extend(audit.statistics());
        }
        for failure in &audit.failures {
            eprintln!("pleach: an interpolant is wrong: {failure}");
        }
        for failure in &guided.machine.disagreements {
            eprintln!("pleach: a pointer is resolved wrongly: {failure}");
        }
        let unsound = unsound || !audit.failures.is_empty() || !guided.machine.disagreements.is_empty();
        summary.complete &= !unsound;
        let interpolants =
            args.explain_pruning.then(|| explanations::of(&interpolation, &mut guided.machine, program, directory));
        let undefined = writer.undefined.values().cloned().collect();
        let failure = writer.failure().map(ToString::to_string);
        drop(writer);
        Ok(ExplorationResult {
            dir,
            summary,
            timing: Timing {
                costly_lines: timing::costly_lines(&guided.machine),
                ..timing::timing(&start, elapsed, &solver, pruning_times, c.states_peak)
            },
            counters: run.counters.clone(),
            elapsed,
            nodes: run.tree.len() as u64,
            undefined,
            crashed: outcome.is_err() || unsound,
            assumptions,
            signal: halt.signal(),
            coverage,
            interpolants,
            failure,
            left: Some(Box::new((run, guided, searcher, interpolation))),
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
    /// Ends it without taking apart what it left: the process ends.
    pub fn forget(self) {
        std::mem::forget(self.left);
    }

    /// Writes the account of the run, and says so if something could not be written: then the status of `code` is that of a failure, unless errors
    /// were found.
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

    /// Where the results are, for people.
    pub fn place(&self) -> String {
        self.dir.path().display().to_string()
    }
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
            crate::number_format::count(writer.untested, "path")
        ));
    }
    all
}
