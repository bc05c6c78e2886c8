//! One exploration from flags to files: what every command that explores does.

use crate::args::RunArgs;
use crate::assemble::{self, entry_name};
use crate::error::CliError;
use crate::guided::Guided;
use crate::observer::Observer;
use crate::plan::Plan;
use crate::progress::{Line, Style};
use crate::timing::{self, Start};
use crate::writer::{Writer, WriterConfig};
use crate::{coverage, explanations, record, summary};
use pleach_exec::{Entry, Machine};
use pleach_explore::{Counters, Halt, Progress, Run, Seams};
use pleach_ir::{CheckKind, Program};
use pleach_report::{Coverage, Interpolant, RunDir, Summary, Timing};
use pleach_state::seams::{CheckedSearcher, NoPruner, Pruner, Searcher};
use pleach_state::{Assumption, CheckedPruner};
use std::io::IsTerminal;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

/// A program that is ready to be explored.
pub struct Session<'a> {
    args: &'a RunArgs,
    pub program: Rc<Program>,
    entry: Entry,
    /// What paths of sources are relative to.
    pub directory: PathBuf,
}

/// What an exploration found; nothing of it is printed yet.
pub struct Explored {
    pub dir: RunDir,
    pub summary: Summary,
    pub counters: Counters,
    pub elapsed: Duration,
    /// nodes of the execution tree
    pub nodes: u64,
    /// ends in undefined behaviour that the property does not ask about, in sentences
    pub undefined: Vec<String>,
    /// a bug of ours ended it
    pub crashed: bool,
    /// what was taken for given about the program's surroundings
    pub assumptions: Vec<Assumption>,
    coverage: Coverage,
    timing: Timing,
    interpolants: Option<Vec<Interpolant>>,
    failure: Option<String>,
}

impl Session<'_> {
    pub fn files(&self) -> &[PathBuf] {
        &self.args.files
    }

    /// Compiles and links, once the flags are known to make sense.
    pub fn load<'a>(args: &'a RunArgs, plan: &Plan) -> Result<Session<'a>, CliError> {
        assemble::conflicts(args, plan)?;
        assemble::search(args, plan)?;
        assemble::run(args, plan)?;
        let directory =
            std::env::current_dir().map_err(|why| CliError::System { what: "find the current directory", why })?;
        let mut program = assemble::load(&args.files, &args.compile, plan.overflow, &args.args)?;
        if !plan.property.is_everything() {
            // To SV-COMP's properties a program does what the machine does.
            program.drop_checks(&[CheckKind::VlaBound], |_| true);
        }
        let program = Rc::new(program);
        let entry = assemble::entry(args, &program)?;
        Ok(Session { args, program, entry, directory })
    }

    /// Explores. Tests are on disk when it returns; the summary is for the caller to complete and to write.
    pub fn explore(&self, plan: &Plan, observer: &mut dyn Observer, to: Option<&Path>) -> Result<Explored, CliError> {
        let Session { args, program, entry, directory } = self;
        let search = assemble::search(args, plan)?;
        let config = assemble::run(args, plan)?;
        let halt = Halt::new();
        let solver = pleach_smt::assemble(assemble::solver(args, &halt));
        let mut machine = Machine::new(program.clone(), solver, assemble::exec(args, plan, entry.clone()))?;
        machine.natively = crate::native::calls(args);
        let mut guided = Guided::new(machine, search.needs_distances());
        guided.machine.watched = observer.watched();
        let initial = guided.machine.initial_states()?;
        let mut searcher = search.build()?;
        if args.check_seams {
            searcher = Box::new(CheckedSearcher::new(Dyn(searcher)));
        }

        let dir = RunDir::create(to)?;
        let info = record::run_info(args, directory, program, entry, plan, initial.first(), dir.path())?;
        dir.write_run_info(&info)?;
        dir.write_suite_metadata(&record::suite(args, program, entry_name(entry)))?;
        let writer_config = WriterConfig {
            write_all_tests: args.write_all_tests,
            emit_all_errors: plan.emit_all_errors,
            talk: !args.quiet,
            colour: std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none(),
            directory: directory.clone(),
            argv: info.argv.clone(),
            property: plan.property.clone(),
        };
        let line = Line::new(Style::choose(args.verbose, args.quiet));
        let mut writer = Writer::new(&dir, program.clone(), writer_config, line, entry_name(entry), observer)?;
        for remark in &program.remarks {
            writer.say(&format!("warning: {remark}"));
            writer.warnings.push(remark.clone());
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
        watch(&halt, config.limits.max_time)?;
        let start = Start::now();
        let mut run = Run::new(config, halt);
        // A bug of ours must not lose what was found until then.
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            let seams = Seams { searcher: &mut *searcher, pruner: &mut *pruner };
            run.explore(initial, &mut guided, &mut writer, seams);
        }));
        let elapsed = run.elapsed();
        if outcome.is_ok() {
            writer.write_missing_tests(&mut guided);
        }
        let progress = Progress { counters: &run.counters, states: run.states.len(), elapsed, time_left: None };
        writer.finish(&mut guided, progress);

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
        let assumptions: Vec<Assumption> = guided.machine.assumptions.iter().cloned().collect();
        let mut summary = Summary {
            complete,
            assumptions: summary::assumptions(&assumptions),
            paths: summary::paths(c),
            errors: writer.errors.clone(),
            covered: coverage.covered_lines(),
            totals: coverage.totals(),
            cut: summary::cuts(c),
            flags: flags(),
            seed: args.seed,
            version: env!("CARGO_PKG_VERSION").into(),
            entry: entry_name(entry).to_owned(),
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
                .chain(plan.prune.then(|| ("nodes".to_owned(), run.tree.len() as u64)))
                .chain(summary::speculated(args.speculate, &c.speculated))
                .chain(args.check_pruning.iter().flat_map(|_| summary::rechecked(&c.rechecked)))
                .collect(),
            memory: guided.machine.resolved.figures().into_iter().collect(),
            warnings: warnings(&writer),
            ..Summary::default()
        };
        let pruning_times = pruner.times();
        let audit = pleach_audit::audit(&mut guided.machine, &interpolation, args.check_interpolants.unwrap_or(0));
        if args.check_interpolants.is_some() {
            summary.pruning.extend(audit.figures());
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
        Ok(Explored {
            dir,
            summary,
            timing: timing::timing(&start, elapsed, &solver, pruning_times, c.states_peak),
            counters: run.counters,
            elapsed,
            nodes: run.tree.len() as u64,
            undefined,
            crashed: outcome.is_err() || unsound,
            assumptions,
            coverage,
            interpolants,
            failure,
        })
    }
}

impl Explored {
    /// Writes the account of the run, and says so if something could not be written.
    pub fn write(&self) -> Result<(), CliError> {
        if let Some(all) = &self.interpolants {
            self.dir.write_interpolants(all)?;
        }
        self.dir.write_coverage(&self.coverage)?;
        self.dir.write_summary(&self.summary)?;
        self.dir.write_timing(&self.timing)?;
        if let Some(why) = &self.failure {
            eprintln!("pleach: results are incomplete: {why}");
        }
        if self.crashed {
            let path = self.dir.path().display();
            eprintln!("pleach: this is a bug of the engine; what was found until then is in {path}");
        }
        Ok(())
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

/// Signals, and the deadline for queries that are under way when the time is up.
pub fn watch(halt: &Halt, max_time: Option<Duration>) -> Result<(), CliError> {
    let system = |why| CliError::System { what: "watch for signals", why };
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        // The second one ends the process at once.
        signal_hook::flag::register_conditional_shutdown(signal, 130, halt.flag()).map_err(system)?;
        signal_hook::flag::register(signal, halt.flag()).map_err(system)?;
    }
    // The processor time that the system allows (`ulimit -t`) is used up; until its hard limit there is time to write the results.
    let (why, time) = halt.time_cell();
    signal_hook::flag::register_usize(signal_hook::consts::SIGXCPU, why, time).map_err(system)?;
    signal_hook::flag::register(signal_hook::consts::SIGXCPU, halt.flag()).map_err(system)?;
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
