//! What an exploration found, as values.

use crate::coverage;
use crate::cut_reason::{self, reason};
use crate::engine::{EndOfRun, Engine};
use crate::guided_executor::GuidedExecutor;
use crate::path_report::PathReporter;
use pleach_explore::{Counters, Ended, Sink};
use pleach_ir::Program;
use pleach_report::{Assumption, Coverage, Cut as CutRecord, ErrorRecord, Prediction, TestCase, TestId};
use pleach_state::reached_set::{ErrorSite, place_of};
use pleach_state::{Cut, End, State};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

/// The answer of an exploration about the errors that were looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// everything was explored, nothing was assumed, and there is no error
    Safe,
    /// the same under the assumptions that are listed
    SafeAssuming,
    /// there is an error
    Unsafe,
    /// no error was found, but something was cut
    Unknown,
}

/// What an exploration found.
#[derive(Debug)]
pub struct Exploration {
    pub verdict: Verdict,
    /// Nothing was cut: every feasible path was explored or subsumed.
    pub complete: bool,
    /// One test per path that ended.
    pub tests: Vec<TestCase>,
    /// The first error of each kind and place; its input is the test of its number.
    pub errors: Vec<ErrorRecord>,
    /// What was assumed about the program's surroundings.
    pub assumptions: Vec<Assumption>,
    /// What was not explored, and why.
    pub cuts: Vec<CutRecord>,
    pub counters: Counters,
    /// Nodes of the execution tree.
    pub nodes: usize,
    pub coverage: Coverage,
    /// Statistics of the pruning and of the solver chain, by name.
    pub statistics: BTreeMap<String, u64>,
    /// An internal error ended the exploration.
    pub internal_error: bool,
}

impl Exploration {
    /// The input that leads to an error.
    pub fn test_of(&self, error: &ErrorRecord) -> Option<&TestCase> {
        self.tests.iter().find(|t| Some(t.id) == error.test)
    }
}

/// A path that has ended.
pub struct PathEnd<'a> {
    pub state: &'a State,
    pub end: &'a End,
    pub test: &'a TestCase,
}

/// Sees each path as it ends.
pub trait Observer {
    fn path_ended(&mut self, _path: PathEnd) {}
    /// A reason why the rest of the exploration is not needed.
    fn stop(&mut self) -> Option<Cut> {
        None
    }
}

/// Observes nothing.
impl Observer for () {}

/// The sink that keeps everything in memory.
pub(crate) struct Collector<'a> {
    program: Rc<Program>,
    paths: PathReporter,
    places: FxHashSet<ErrorSite>,
    tests: Vec<TestCase>,
    errors: Vec<ErrorRecord>,
    observer: &'a mut dyn Observer,
}

impl<'a> Collector<'a> {
    pub fn new(program: Rc<Program>, observer: &'a mut dyn Observer) -> Collector<'a> {
        let paths = PathReporter::new(program.clone(), Path::new(""), Vec::new());
        Collector { program, paths, places: FxHashSet::default(), tests: Vec::new(), errors: Vec::new(), observer }
    }

    pub fn finish(self, engine: &mut Engine, outcome: EndOfRun) -> Exploration {
        let counters = engine.run.counters.clone();
        engine.executor.machine.assume_surroundings();
        let machine = &engine.executor.machine;
        let bound = counters.rounds().map(pleach_state::Assumption::Rounds);
        let assumed: Vec<_> = machine.assumptions.iter().cloned().chain(bound).collect();
        let rechecked = [&counters.rechecked.failures, &counters.rechecked_merges.failures];
        let unsound = rechecked.iter().any(|f| !f.is_empty()) || !machine.disagreements.is_empty();
        let ended = outcome == EndOfRun::Done && !unsound;
        let complete = counters.is_complete() && ended;
        let mut solver = pleach_smt::Stats::new();
        machine.solver.stats(&mut solver);
        let verdict = match (self.errors.is_empty(), counters.is_complete_within_rounds() && ended, assumed.is_empty())
        {
            (false, ..) => Verdict::Unsafe,
            (true, true, true) => Verdict::Safe,
            (true, true, false) => Verdict::SafeAssuming,
            (true, false, _) => Verdict::Unknown,
        };
        let statistics = engine.pruning_statistics().into_iter();
        Exploration {
            verdict,
            complete,
            tests: self.tests,
            errors: self.errors,
            assumptions: cut_reason::assumptions(&assumed),
            cuts: cut_reason::cuts(&counters),
            nodes: engine.run.tree.len(),
            coverage: coverage::report(&self.program, &machine.coverage, Path::new("")),
            statistics: statistics.chain(solver.counts().map(|(name, n)| (name.to_owned(), n))).collect(),
            internal_error: outcome == EndOfRun::InternalError || unsound,
            counters,
        }
    }
}

impl Sink<GuidedExecutor> for Collector<'_> {
    fn on_path_end(&mut self, executor: &mut GuidedExecutor, ended: Ended) -> u32 {
        let machine = &mut executor.machine;
        if ended.skip_test && !matches!(ended.end, End::Error(_)) {
            return 0;
        }
        let id = TestId(self.tests.len() as u32 + 1);
        let predicted = match ended.end {
            End::Silent => return 0,
            End::Exit(code) => self.paths.exit(machine, ended.state, *code),
            End::Cut(why) => Prediction::Cut { reason: reason(why).describe() },
            End::Error(error) => {
                let record = self.paths.record(ended.state, error, id);
                let predicted = self.paths.of_error(machine, ended.state, record.predicted());
                if self.places.insert(place_of(&self.program, ended.state, error.kind)) {
                    self.errors.push(record);
                }
                predicted
            }
        };
        let test = self.paths.test(machine, &ended, id, predicted);
        self.observer.path_ended(PathEnd { state: ended.state, end: ended.end, test: &test });
        self.tests.push(test);
        id.0
    }

    fn stop(&mut self) -> Option<Cut> {
        self.observer.stop()
    }
}
