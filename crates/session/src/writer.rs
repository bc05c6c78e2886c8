//! The sink of a run: puts tests, errors, tree and statistics into the run directory as they come and talks to people.

use crate::config::OutputConfig;
use crate::observer::{Observer, PathEnd};
use crate::progress::{Extra, Line};
use crate::standing::Standing;
use pleach::{GuidedExecutor, PathReporter, coverage, number_format, relative};
use pleach_exec::ExecMessage;
use pleach_explore::{Ended, Progress, Sink};
use pleach_ir::{Program, Span};
use pleach_report::diagnostic::SourceCache;
use pleach_report::{Diagnostic, ErrorRecord, NodeStatus, Prediction, ReportError, RunDir, StatsRow};
use pleach_report::{StatsWriter, TestCase, TestId, Totals, TreeNode, TreeWriter};
use pleach_state::reached_set::{ErrorSite, place_of};
use pleach_state::{Cut, End, ErrorKind, NodeId, State, Status, Tree};
use pleach_verify::{Class, Property, called};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

const STATS_EVERY: Duration = Duration::from_secs(1);

/// What is written and shown, and how.
#[derive(Clone, Debug)]
pub struct WriterConfig {
    pub output: OutputConfig,
    pub colour: bool,
    /// What source paths are relative to.
    pub directory: PathBuf,
    /// Program arguments, the program's name first.
    pub argv: Vec<String>,
    /// Which errors count.
    pub property: Property,
}

/// What a run wrote down.
pub struct Written {
    pub errors: Vec<ErrorRecord>,
    pub tests: u32,
    pub warnings: Vec<String>,
    /// ends in undefined behaviour that the property does not cover, in sentences
    pub undefined: Vec<String>,
    /// the first thing that could not be written
    pub failure: Option<ReportError>,
}

pub struct Writer<'a> {
    dir: &'a RunDir,
    program: Rc<Program>,
    config: WriterConfig,
    paths: PathReporter,
    sources: SourceCache,
    line: Line,
    tree: TreeWriter,
    stats: StatsWriter,
    stats_at: Option<Instant>,
    reachable_blocks: u64,
    totals: (u64, Totals),
    places: FxHashSet<ErrorSite>,
    errors: Vec<ErrorRecord>,
    tests: u32,
    /// paths that got no test when the run had to end
    untested: u64,
    warnings: Vec<String>,
    failed: Option<ReportError>,
    /// ends in undefined behaviour that the property does not cover: kind and place, with a sentence
    undefined: BTreeMap<ErrorSite, String>,
    observer: &'a mut dyn Observer,
    standing: Standing,
}

impl<'a> Writer<'a> {
    pub fn new(
        dir: &'a RunDir,
        program: Rc<Program>,
        config: WriterConfig,
        line: Line,
        entry: &str,
        observer: &'a mut dyn Observer,
        standing: Standing,
    ) -> Result<Writer<'a>, ReportError> {
        Ok(Writer {
            dir,
            paths: PathReporter::new(program.clone(), &config.directory, config.argv.clone()),
            config,
            sources: SourceCache::default(),
            line,
            tree: TreeWriter::create(&dir.file("tree.bin"))?,
            stats: StatsWriter::create(&dir.file("stats.db"))?,
            stats_at: None,
            reachable_blocks: coverage::reachable_blocks(&program, entry),
            totals: (0, Totals::default()),
            places: FxHashSet::default(),
            errors: Vec::new(),
            tests: 0,
            untested: 0,
            warnings: Vec::new(),
            failed: None,
            undefined: BTreeMap::new(),
            observer,
            program,
            standing,
        })
    }

    fn keep(&mut self, result: Result<(), ReportError>) {
        if let Err(e) = result {
            self.failed.get_or_insert(e);
        }
    }

    /// What is left to report of what was written.
    pub fn into_written(mut self) -> Written {
        if self.untested > 0 {
            let paths = number_format::count(self.untested, "path");
            self.warnings.push(format!("{paths} got no test because the run had to end"));
        }
        Written {
            errors: self.errors,
            tests: self.tests,
            warnings: self.warnings,
            undefined: self.undefined.into_values().collect(),
            failure: self.failed,
        }
    }

    /// Everything is on disk after this, and nothing of ours on the terminal's last line.
    pub fn finish(&mut self, machine: &mut GuidedExecutor, progress: Progress) {
        self.take_warnings(machine);
        self.line.clear();
        self.sample(machine, &progress);
        let flushed = self.stats.flush().and(self.tree.flush()).and(self.dir.flush());
        self.keep(flushed);
    }

    /// Tests that the observer wants although no path of the exploration has them.
    pub fn write_missing_tests(&mut self, machine: &mut GuidedExecutor) {
        while let Some((number, state, end)) = self.observer.without_test(&mut machine.machine) {
            let id = TestId(self.tests + 1);
            let ended = Ended { state: &state, end: &end, node: state.node, skip_test: false };
            let predicted = match &end {
                End::Error(error) => {
                    self.paths.of_error(&machine.machine, &state, self.paths.record(&state, error, id).predicted())
                }
                End::Exit(code) => self.paths.exit(&machine.machine, &state, *code),
                End::Cut(why) => Prediction::Cut { reason: pleach::cut_reason::reason(why).describe() },
                End::Silent => Prediction::Cut { reason: "the path ends on purpose".into() },
            };
            let test = self.paths.test(&mut machine.machine, &ended, id, predicted);
            let written = self.dir.write_test(&test, None);
            self.keep(written);
            self.tests = id.0;
            self.observer.give_test(number, test);
        }
    }

    pub fn say(&mut self, message: &str) {
        if self.config.output.print_findings {
            self.line.clear();
            eprintln!("{message}");
        }
    }

    fn take_warnings(&mut self, machine: &mut GuidedExecutor) {
        for w in machine.machine.messages().into_iter().filter_map(ExecMessage::describe) {
            self.warn(w);
        }
    }

    /// Says it, and keeps it for the summary.
    pub fn warn(&mut self, warning: String) {
        self.say(&format!("warning: {warning}"));
        self.standing.warning(&warning);
        self.warnings.push(warning);
    }

    fn show(&mut self, record: &ErrorRecord, test: &TestCase) {
        if !self.config.output.print_findings {
            return;
        }
        self.line.clear();
        let run = self.dir.path().display().to_string();
        let diagnostic = Diagnostic::new(record)
            .with_test(test)
            .with_run(&run)
            .with_directory(&self.config.directory)
            .with_colour(self.config.colour);
        eprintln!("{}", diagnostic.render_with(&mut self.sources));
    }

    fn write_node(&mut self, node: NodeId, tree: &Tree) {
        let n = tree.node(node);
        let status = match n.status {
            Status::Open => NodeStatus::Live,
            Status::Inner => NodeStatus::Inner,
            Status::Exit | Status::Silent => NodeStatus::Completed,
            Status::Error => NodeStatus::Errored,
            Status::Cut | Status::Bounded => NodeStatus::Cut,
            Status::Pruned => NodeStatus::Pruned,
            Status::Merged => NodeStatus::Merged,
        };
        let span = tree.span(node);
        let file = if span.is_known() { relative(self.program.path(span), &self.config.directory) } else { "" };
        let written = self.tree.write(&TreeNode {
            id: node.0,
            parent: (!tree.is_root(node)).then_some(n.parent.0),
            status,
            tainted: n.tainted,
            file,
            line: span.line,
            test: (n.test() != 0).then_some(TestId(n.test())),
        });
        self.keep(written);
    }

    /// Where the program is.
    fn place(&self, span: Span) -> Option<String> {
        let file = self.program.files.get(span.file as usize).filter(|_| span.is_known())?;
        let name = std::path::Path::new(&file.path).file_name()?;
        Some(format!("{}:{}", name.to_string_lossy(), span.line))
    }

    fn sample(&mut self, machine: &GuidedExecutor, progress: &Progress) {
        let m = &machine.machine;
        if self.totals.0 != m.coverage.new_blocks {
            let coverage = coverage::report(&self.program, &m.coverage, &self.config.directory);
            self.totals = (m.coverage.new_blocks, coverage.totals());
            self.standing.coverage(coverage);
        }
        let c = progress.counters;
        let mut solver = pleach_smt::Stats::new();
        m.solver.stats(&mut solver);
        let row = StatsRow {
            elapsed_us: progress.elapsed.as_micros() as u64,
            instructions: c.instructions,
            paths: c.paths(),
            errors: self.errors.len() as u64,
            states: progress.states as u64,
            covered_lines: self.totals.1.lines_covered,
            covered_branches: self.totals.1.branches_covered,
            queries: solver.get("chain.queries"),
            backend_queries: solver.get("bitwuzla.queries") + solver.get("z3.queries"),
            solver_time_us: m.solver_time.as_micros() as u64,
            memory_bytes: pleach_explore::limits::resident_bytes().unwrap_or(0),
            forks: c.forks,
            cut: c.cut,
            pruned: c.pruned,
            tests: u64::from(self.tests),
        };
        let written = self.stats.push(&row);
        self.keep(written);
        self.stats_at = Some(Instant::now());
    }
}

impl Sink<GuidedExecutor> for Writer<'_> {
    fn on_path_end(&mut self, machine: &mut GuidedExecutor, ended: Ended) -> u32 {
        self.take_warnings(machine);
        if ended.skip_test && !matches!(ended.end, End::Error(_)) {
            self.untested += u64::from(!matches!(ended.end, End::Silent));
            return 0;
        }
        let id = TestId(self.tests + 1);
        let mut violation = None;
        let (test, written) = match ended.end {
            End::Silent => return 0,
            End::Exit(code) => {
                let predicted = self.paths.exit(&machine.machine, ended.state, *code);
                let test = self.paths.test(&mut machine.machine, &ended, id, predicted);
                let written = self.put(&test, None, false);
                (test, written)
            }
            End::Cut(why) => {
                let test = self.paths.test(
                    &mut machine.machine,
                    &ended,
                    id,
                    Prediction::Cut { reason: pleach::cut_reason::reason(why).describe() },
                );
                let written = self.put(&test, None, false);
                (test, written)
            }
            End::Error(error) => {
                let record = self.paths.record(ended.state, error, id);
                let predicted = self.paths.of_error(&machine.machine, ended.state, record.predicted());
                let test = self.paths.test(&mut machine.machine, &ended, id, predicted);
                let class = self.config.property.class(error.kind, called(&self.program, ended.state));
                let new = self.is_new(&ended, error.kind, class);
                let written = self.put(&test, Some(&record), new && class != Class::End);
                match class {
                    Class::Violation(goal) if new => {
                        self.show(&record, &test);
                        self.errors.push(record.clone());
                        self.standing.error(&record);
                        violation = Some((goal, record));
                    }
                    Class::Undefined if new => self.note_undefined(&ended, error.kind, &record),
                    _ => {}
                }
                (test, written)
            }
        };
        self.keep(written);
        self.tests = id.0;
        self.standing.tests(id.0);
        let (machine, dir) = (&mut machine.machine, self.dir);
        self.observer.ended(PathEnd { machine, state: ended.state, end: ended.end, violation, test: &test, dir });
        id.0
    }

    fn on_fork(&mut self, node: NodeId, tree: &Tree) {
        self.write_node(node, tree);
        if tree.node(node).status == Status::Merged
            && let Some(into) = tree.children(node).next()
        {
            let written = self.tree.write_merge(node.0, into.0);
            self.keep(written);
        }
    }

    fn on_close(&mut self, node: NodeId, tree: &Tree) {
        // An inner node was written when it forked; taint is all that can have changed.
        if tree.node(node).status != Status::Inner || tree.node(node).tainted {
            self.write_node(node, tree);
        }
    }

    fn on_progress(&mut self, machine: &mut GuidedExecutor, progress: Progress) {
        self.take_warnings(machine);
        self.standing.progress(&progress, &machine.machine);
        // Should the process be killed, no more than this is lost.
        let flushed = self.tree.flush().and(self.dir.flush());
        self.keep(flushed);
        let extra = Extra {
            blocks_covered: machine.machine.coverage.new_blocks,
            blocks: self.reachable_blocks,
            solver_time: machine.machine.solver_time,
            note: self.observer.progress(&mut machine.machine),
            errors: self.errors.len() as u64,
            place: self.place(machine.place),
        };
        self.line.update(&progress, &extra);
        if progress.long_ahead || self.stats_at.is_none_or(|at| at.elapsed() >= STATS_EVERY) {
            self.sample(machine, &progress);
        }
    }

    fn on_merged(&mut self, machine: &mut GuidedExecutor, state: &State) -> u32 {
        let id = TestId(self.tests + 1);
        let end = End::Cut(Cut::Stopped("it goes on as part of a merged path".into()));
        let ended = Ended { state, end: &end, node: state.node, skip_test: false };
        let predicted = Prediction::Cut { reason: Prediction::MERGED.into() };
        let test = self.paths.test(&mut machine.machine, &ended, id, predicted);
        let written = self.put(&test, None, false);
        self.keep(written);
        self.tests = id.0;
        id.0
    }

    fn on_unsound(&mut self, machine: &mut GuidedExecutor, ended: Ended, message: &str) {
        let id = TestId(self.tests + 1);
        let predicted = match ended.end {
            End::Error(e) => {
                let record = self.paths.record(ended.state, e, id);
                Prediction::Error {
                    kind: record.kind,
                    file: record.file,
                    line: record.line,
                    message: e.message.clone(),
                }
            }
            _ => Prediction::Cut { reason: "the check of the pruning failed".into() },
        };
        let test = self.paths.test(&mut machine.machine, &ended, id, predicted);
        let written = self.dir.write_test(&test, None);
        self.keep(written);
        self.tests = id.0;
        self.line.clear();
        eprintln!("pleach: {message}; input: {}/{}.ktest", self.dir.path().display(), id.stem());
    }

    fn on_memory_pressure(&mut self) {
        let message = "memory limit reached (--max-memory): states were dropped and are counted as cut";
        if !self.warnings.iter().any(|w| w == message) {
            self.warn(message.into());
        }
    }

    fn stop(&mut self) -> Option<Cut> {
        let failed = self.failed.as_ref().map(|e| Cut::Stopped(format!("results cannot be written: {e}")));
        failed.or_else(|| self.observer.stop())
    }
}

impl Writer<'_> {
    /// Whether an error is the first of its kind and place, or all are wanted.
    fn is_new(&mut self, ended: &Ended, kind: ErrorKind, class: Class) -> bool {
        let place = place_of(&self.program, ended.state, kind);
        self.places.insert(place) || self.config.output.emit_all_errors && matches!(class, Class::Violation(_))
    }

    fn note_undefined(&mut self, ended: &Ended, kind: ErrorKind, record: &ErrorRecord) {
        let at = if record.line == 0 { String::new() } else { format!(" at {}:{}", record.file, record.line) };
        let what = format!("{kind}{at} ({})", record.message, kind = record.kind);
        self.say(&format!("warning: undefined behaviour, which the property does not cover: {what}"));
        let place = place_of(&self.program, ended.state, kind);
        let sentence = format!("a path ends in undefined behaviour: {what}");
        self.standing.undefined(&sentence);
        self.undefined.insert(place, sentence);
    }

    /// As files of its own when the test shows something new, else into the archive.
    fn put(&mut self, test: &TestCase, error: Option<&ErrorRecord>, new_error: bool) -> Result<(), ReportError> {
        if new_error || test.covers_new {
            return self.dir.write_test(test, error);
        }
        self.dir.pack_test(test)?;
        if self.config.output.write_all_tests { self.dir.write_ktest(test) } else { Ok(()) }
    }
}
