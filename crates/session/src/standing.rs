//! How a run stands, where another thread can see it: what is reported when the run has to be ended in the middle of a
//! step.

use crate::result::ExplorationResult;
use crate::timing::{self, Start};
use pleach_exec::Machine;
use pleach_explore::{Counters, Halt, Progress};
use pleach_report::{CostlyLine, Coverage, ErrorRecord, RunDir, Summary, Timing};
use pleach_state::Cut;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Shared by the writer, which keeps it up to date, and the one who ends the run.
#[derive(Clone)]
pub struct Standing(Arc<Mutex<Known>>);

struct Known {
    /// what does not change: flags, sources
    summary: Summary,
    counters: Counters,
    /// states that wait or are evicted
    open: u64,
    nodes: u64,
    /// in solvers
    solver_time: Duration,
    costly_lines: Vec<CostlyLine>,
    coverage: Coverage,
    errors: Vec<ErrorRecord>,
    undefined: Vec<String>,
    warnings: Vec<String>,
    tests: u32,
}

impl Standing {
    pub fn new(summary: Summary) -> Standing {
        let coverage = Coverage::default();
        let (counters, errors) = (Counters::default(), Vec::new());
        let known = Known {
            summary,
            counters,
            open: 1,
            nodes: 1,
            solver_time: Duration::ZERO,
            costly_lines: Vec::new(),
            coverage,
            errors,
            undefined: Vec::new(),
            warnings: Vec::new(),
            tests: 0,
        };
        Standing(Arc::new(Mutex::new(known)))
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn progress(&self, progress: &Progress, machine: &Machine) {
        let mut known = self.known();
        known.solver_time = machine.solver_time;
        known.costly_lines = timing::costly_lines(machine);
        known.counters.clone_from(progress.counters);
        known.open = (progress.states + progress.evicted) as u64;
        known.nodes = progress.nodes as u64;
    }

    pub fn coverage(&self, coverage: Coverage) {
        self.known().coverage = coverage;
    }

    pub fn error(&self, error: &ErrorRecord) {
        self.known().errors.push(error.clone());
    }

    pub fn undefined(&self, sentence: &str) {
        self.known().undefined.push(sentence.to_owned());
    }

    pub fn warning(&self, warning: &str) {
        self.known().warnings.push(warning.to_owned());
    }

    pub fn tests(&self, tests: u32) {
        self.known().tests = tests;
    }

    /// The account of a run that ends here for this reason.
    pub fn cut_short(&self, why: &Cut, dir: &RunDir, start: &Start, began: Instant, halt: &Halt) -> ExplorationResult {
        let known = self.known();
        let mut counters = known.counters.clone();
        counters.cut += known.open;
        *counters.cuts.entry(why.clone()).or_default() += known.open.max(1);
        let c = &counters;
        let mut warnings = known.warnings.clone();
        warnings.push("the run had to end in the middle of a step; its statistics may be a second old".into());
        let untested = c.paths().saturating_sub(c.silent + c.pruned + u64::from(known.tests));
        if untested > 0 {
            let paths = pleach::number_format::count(untested, "path");
            warnings.push(format!("{paths} got no test because the run had to end"));
        }
        let summary = Summary {
            complete: false,
            paths: pleach::cut_reason::paths(c),
            errors: known.errors.clone(),
            covered: known.coverage.covered_lines(),
            totals: known.coverage.totals(),
            cut: pleach::cut_reason::cuts(c),
            tests: u64::from(known.tests),
            instructions: c.instructions,
            forks: c.forks,
            evicted: c.evicted,
            states_peak: c.states_peak,
            warnings,
            ..known.summary.clone()
        };
        let elapsed = began.elapsed();
        let solver = vec![("solver.time".to_owned(), known.solver_time)];
        let timing = timing::timing(start, elapsed, &pleach_smt::Stats::new(), solver, c.states_peak);
        ExplorationResult {
            dir: dir.clone(),
            summary,
            timing: Timing { costly_lines: known.costly_lines.clone(), ..timing },
            elapsed,
            nodes: known.nodes,
            undefined: known.undefined.clone(),
            crashed: false,
            // Nothing is said to be safe.
            assumptions: Vec::new(),
            signal: halt.signal(),
            coverage: known.coverage.clone(),
            interpolants: None,
            learned: None,
            loops_in_c: Vec::new(),
            failure: None,
            left: None,
            finished: false,
            counters,
        }
    }
}
