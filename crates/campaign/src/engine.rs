//! One exploration in this process, and what it found.

use pleach_audit::AuditReport;
use pleach_exec::{ExecConfig, ExecutorSnapshot, Machine, ProgramEntry, Resolution, Splitting};
use pleach_explore::{
    Ended, Halt, Limits, Rechecked, Run, RunConfig, Seams, SearchConfig, Sink, Step, Stepper, Strategy,
};
use pleach_ir::{Program, Span};
use pleach_prune::{Checks, Interpolation, Method};
use pleach_state::seams::{NoPruner, PathOracle, Pruner, SearchMetrics};
use pleach_state::{CheckedPruner, Cut, End, State};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

/// One way to explore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mode {
    pub name: &'static str,
    pub search: &'static str,
    /// how interpolants are made; `None`: no pruning
    pub prune: Option<Method>,
    /// how to resolve a pointer that may refer to several objects
    pub resolution: Resolution,
    pub splitting: Option<Splitting>,
    pub speculate: bool,
}

/// What all others are compared with.
pub const PLAIN: Mode = memory("plain", Resolution::Fork);

const fn mode(name: &'static str, search: &'static str, method: Method) -> Mode {
    Mode { name, search, prune: Some(method), resolution: Resolution::Fork, splitting: None, speculate: false }
}

const fn memory(name: &'static str, resolution: Resolution) -> Mode {
    Mode { name, search: "dfs", prune: None, resolution, splitting: None, speculate: false }
}

/// The campaign's objects are small: so are the pieces.
const fn split(mode: Mode, name: &'static str) -> Mode {
    Mode { name, splitting: Some(Splitting { threshold: 8, piece: 8 }), ..mode }
}

const fn pruned(mode: Mode, name: &'static str) -> Mode {
    Mode { name, prune: Some(Method::Wp), ..mode }
}

/// The modes under test.
pub const MODES: &[Mode] = &[
    mode("dfs", "dfs", Method::Wp),
    mode("bfs", "bfs", Method::Wp),
    mode("random-path", "random-path", Method::Wp),
    mode("default", "subtree,random-path,nurs:covnew", Method::Wp),
    mode("abduction", "dfs", Method::Abduction),
    mode("abduction, random-path", "random-path", Method::Abduction),
    mode("deletion", "dfs", Method::Deletion),
    mode("deletion, random-path", "random-path", Method::Deletion),
    memory("memory: ite", Resolution::Ite),
    pruned(memory("", Resolution::Ite), "memory: ite, pruned"),
    memory("memory: dynamic segments", Resolution::SegmentsDynamic),
    pruned(memory("", Resolution::SegmentsDynamic), "memory: dynamic segments, pruned"),
    memory("memory: static segments", Resolution::SegmentsStatic),
    split(memory("", Resolution::Fork), "memory: split"),
    split(pruned(memory("", Resolution::SegmentsDynamic), ""), "memory: dynamic segments, split, pruned"),
    Mode { speculate: true, ..mode("speculation", "dfs", Method::Wp) },
    Mode { speculate: true, ..mode("speculation, random-path", "random-path", Method::Wp) },
];

/// Paths and blocks of the comparison; a program that goes beyond is not compared.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub instructions: u64,
    pub time: Duration,
    /// for each subtree that was pruned and is explored anyway
    pub recheck: u64,
    /// nodes whose interpolant is audited, depth first only
    pub audit: usize,
    /// only modes whose name contains this text
    pub modes: &'static str,
}

/// Kind, function and instruction of an error.
pub type ErrorSite = (&'static str, u32, u32);

#[derive(Default, Debug)]
pub struct Found {
    pub complete: bool,
    /// the time was over, the run's or the solver's
    pub late: bool,
    pub errors: BTreeSet<ErrorSite>,
    /// function and block
    pub blocks: BTreeSet<(u32, u32)>,
    pub paths: u64,
    pub pruned: u64,
    pub nodes: u64,
    pub statistics: Vec<(String, u64)>,
    pub rechecked: Rechecked,
    pub audit: AuditReport,
}

struct Collect(BTreeSet<ErrorSite>);

impl Sink<Plain> for Collect {
    fn on_path_end(&mut self, machine: &mut Plain, ended: Ended) -> u32 {
        if let End::Error(e) = ended.end {
            let (func, inst) = ended.state.error_site(&machine.0.program);
            self.0.insert((e.kind.as_str(), func.0, inst.0));
        }
        0
    }
}

/// The executor without distances: the campaign's programs are too small for them to matter.
struct Plain(Machine, Option<ExecutorSnapshot>);

impl SearchMetrics for Plain {
    fn to_uncovered(&self, _: &State) -> Option<u32> {
        None
    }
    fn visits(&self, state: &State) -> u64 {
        self.0.coverage.blocks[state.frame.func.index()][state.block.index()]
    }
}

impl Stepper for Plain {
    fn step(&mut self, state: &mut State, budget: u32) -> Step {
        self.0.step_within_budget(state, budget)
    }
    fn instructions(&self) -> u64 {
        self.0.instructions
    }
    fn span(&self, state: &State) -> Span {
        let f = self.0.program.function(state.frame.func);
        f.spans.get(state.inst as usize).copied().unwrap_or_default()
    }
    fn sub_exploration(&mut self, on: bool) {
        if on {
            self.1 = Some(self.0.snapshot());
        } else if let Some(before) = self.1.take() {
            self.0.restore_snapshot(before);
        }
    }
    fn blocks_covered(&self) -> u64 {
        self.0.coverage.new_blocks
    }
    fn logic(&mut self) -> &mut dyn PathOracle {
        &mut self.0
    }
}

/// Explores the program from an entry.
pub fn explore(
    program: &Rc<Program>,
    entry: &str,
    checks: Checks,
    mode: Mode,
    bounds: Bounds,
) -> Result<Found, String> {
    match mode.prune {
        None => explore_with(program, entry, checks, mode, bounds, &mut NoPruner),
        Some(method) => explore_and_audit(program, entry, checks, mode, bounds, method, &mut |_| ()),
    }
}

/// With interpolants, which `spoil` may change before they are audited.
pub fn explore_and_audit(
    program: &Rc<Program>,
    entry: &str,
    checks: Checks,
    mode: Mode,
    bounds: Bounds,
    method: Method,
    spoil: &mut dyn FnMut(&mut Interpolation),
) -> Result<Found, String> {
    let mut pruner = Interpolation::new(program, checks, method);
    pruner.always_on(true);
    pruner.speculate(mode.speculate);
    pruner.audit_log = (bounds.audit > 0 && mode.search == "dfs").then(Vec::new);
    let (mut found, mut machine) = run(program, entry, checks, mode, bounds, &mut pruner)?;
    spoil(&mut pruner);
    found.audit = pleach_audit::audit(&mut machine.0, &pruner, bounds.audit);
    Ok(found)
}

/// The same with another pruner.
pub fn explore_with(
    program: &Rc<Program>,
    entry: &str,
    checks: Checks,
    mode: Mode,
    bounds: Bounds,
    pruner: &mut dyn Pruner,
) -> Result<Found, String> {
    run(program, entry, checks, mode, bounds, pruner).map(|r| r.0)
}

fn run(
    program: &Rc<Program>,
    entry: &str,
    checks: Checks,
    mode: Mode,
    bounds: Bounds,
    pruner: &mut dyn Pruner,
) -> Result<(Found, Plain), String> {
    let halt = Halt::new();
    let solver = pleach_smt::assemble(pleach_smt::SolverConfig {
        timeout: Some(Duration::from_secs(5)),
        interrupt: Some(halt.flag()),
        ..Default::default()
    });
    let exec = ExecConfig {
        entry: ProgramEntry::Function(entry.to_owned()),
        check_signed_overflow: checks.overflow,
        leaks: checks.leaks,
        record: mode.prune.is_some(),
        resolution: mode.resolution,
        splitting: mode.splitting,
        check_resolution: mode.resolution != Resolution::Fork,
        ..ExecConfig::default()
    };
    let mut machine = Plain(Machine::new(program.clone(), solver, exec).map_err(|e| e.to_string())?, None);
    let initial = machine.0.initial_states().map_err(|e| e.to_string())?;
    let strategies = Strategy::parse_list(mode.search).map_err(|e| e.to_string())?;
    let search = SearchConfig { strategies, seed: 1, ..SearchConfig::default() };
    let mut searcher = search.build().map_err(|e| e.to_string())?;
    let mut pruner = CheckedPruner::new(pruner, program.clone());
    let limits =
        Limits { max_instructions: Some(bounds.instructions), max_time: Some(bounds.time), ..Limits::default() };
    let check_pruning = mode.prune.map(|_| bounds.recheck);
    let mut run = Run::new(RunConfig { limits, check_pruning, ..RunConfig::default() }, halt);
    let mut sink = Collect(BTreeSet::new());
    run.explore(initial, &mut machine, &mut sink, Seams { searcher: &mut *searcher, pruner: &mut pruner });
    if let [why, ..] = &machine.0.disagreements[..] {
        return Err(format!("a pointer is resolved wrongly: {why}"));
    }
    let c = &run.counters;
    let blocks = machine.0.coverage.blocks.iter().enumerate().flat_map(|(f, blocks)| {
        let reached = blocks.iter().enumerate().filter(|(_, n)| **n > 0);
        reached.map(move |(b, _)| (f as u32, b as u32))
    });
    let found = Found {
        complete: c.is_complete(),
        late: c.cuts.keys().any(|cut| matches!(cut, Cut::Time | Cut::Solver(_))),
        errors: sink.0,
        blocks: blocks.collect(),
        paths: c.paths(),
        pruned: c.pruned,
        nodes: run.tree.len() as u64,
        statistics: pruner.statistics(),
        rechecked: c.rechecked.clone(),
        audit: AuditReport::default(),
    };
    Ok((found, machine))
}
