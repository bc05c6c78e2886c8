//! One exploration in this process, and what it found.

use pleach::{EndOfRun, Engine, EngineBuilder, GuidedExecutor, PruneConfig};
use pleach_audit::AuditReport;
use pleach_exec::{ExecConfig, LoopBound, ProgramEntry, Resolution, SizeMode, Sizes, Splitting};
use pleach_explore::{Ended, Limits, Rechecked, RunConfig, SearchConfig, Sink, Strategy};
use pleach_ir::Program;
use pleach_merge::{MergeConfig, MergeMethod, MergeScope};
use pleach_prune::{Checks, Interpolation, Method, WhenInduction};
use pleach_smt::SolverConfig;
use pleach_state::Pruner;
use pleach_state::{Cut, End};
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
    /// loops without a bound
    pub unbounded: bool,
    /// an attempt to prove by induction before anything else
    pub induction: bool,
    /// cut paths after this many rounds of a loop
    pub unwind: Option<u32>,
    pub merge: Option<(MergeMethod, MergeScope)>,
    /// states with equal stores are merged inside loops
    pub incremental: bool,
    /// loops are given up where merged states cost more than their members
    pub trials: bool,
    /// what becomes of sizes that depend on inputs
    pub sizes: SizeMode,
}

/// What all others are compared with.
pub const PLAIN: Mode = memory("plain", Resolution::Fork);

const fn mode(name: &'static str, search: &'static str, method: Method) -> Mode {
    Mode { search, prune: Some(method), ..memory(name, Resolution::Fork) }
}

const fn memory(name: &'static str, resolution: Resolution) -> Mode {
    let sizes = SizeMode::Symbolic;
    Mode {
        name,
        search: "dfs",
        prune: None,
        resolution,
        splitting: None,
        speculate: false,
        unbounded: false,
        induction: false,
        unwind: None,
        sizes,
        merge: None,
        incremental: false,
        trials: false,
    }
}

/// The campaign's objects are small: so are the pieces.
const fn split(mode: Mode, name: &'static str) -> Mode {
    Mode { name, splitting: Some(Splitting { threshold: 8, piece: 8 }), ..mode }
}

const fn pruned(mode: Mode, name: &'static str) -> Mode {
    Mode { name, prune: Some(Method::Wp), ..mode }
}

const LOOPS: (MergeMethod, MergeScope) = (MergeMethod::Tree, MergeScope::Loops);
const FUNCTIONS: (MergeMethod, MergeScope) = (MergeMethod::Tree, MergeScope::Functions);
const PATTERNS: (MergeMethod, MergeScope) = (MergeMethod::Pattern, MergeScope::Loops);
const TEXTBOOK: (MergeMethod, MergeScope) = (MergeMethod::Textbook, MergeScope::Loops);

const fn merged(merge: (MergeMethod, MergeScope), mode: Mode, name: &'static str) -> Mode {
    Mode { name, merge: Some(merge), ..mode }
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
    Mode { sizes: SizeMode::Fork, ..memory("sizes: fork", Resolution::Fork) },
    Mode { sizes: SizeMode::Fork, ..mode("sizes: fork, pruned", "dfs", Method::Wp) },
    Mode { speculate: true, ..mode("speculation", "dfs", Method::Wp) },
    Mode { speculate: true, ..mode("speculation, random-path", "random-path", Method::Wp) },
    Mode { unbounded: true, ..mode("unbounded", "dfs", Method::Wp) },
    Mode { unbounded: true, ..mode("unbounded, random-path", "random-path", Method::Wp) },
    merged(LOOPS, PLAIN, "merging: loops"),
    merged(TEXTBOOK, PLAIN, "merging: loops, textbook"),
    merged(FUNCTIONS, PLAIN, "merging: functions"),
    merged(LOOPS, Mode { search: "random-path", ..PLAIN }, "merging: loops, random-path"),
    merged(LOOPS, memory("", Resolution::SegmentsDynamic), "merging: loops, dynamic segments"),
    merged(LOOPS, mode("", "dfs", Method::Wp), "merging: loops, pruned"),
    merged(FUNCTIONS, mode("", "dfs", Method::Wp), "merging: functions, pruned"),
    merged(LOOPS, mode("", "random-path", Method::Wp), "merging: loops, pruned, random-path"),
    Mode { unbounded: true, ..merged(LOOPS, mode("", "dfs", Method::Wp), "merging: loops, unbounded, pruned") },
    merged(PATTERNS, PLAIN, "merging: patterns"),
    merged(PATTERNS, Mode { search: "random-path", ..PLAIN }, "merging: patterns, random-path"),
    merged(PATTERNS, mode("", "dfs", Method::Wp), "merging: patterns, pruned"),
    Mode { incremental: true, ..merged(PATTERNS, PLAIN, "merging: patterns, incremental") },
    Mode { trials: true, ..merged(PATTERNS, PLAIN, "merging: patterns, trials") },
    Mode { trials: true, ..merged(PATTERNS, mode("", "dfs", Method::Wp), "merging: patterns, trials, pruned") },
    Mode {
        incremental: true,
        ..merged(PATTERNS, mode("", "dfs", Method::Wp), "merging: patterns, incremental, pruned")
    },
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
    /// of these only this many, which change from program to program
    pub some: Option<usize>,
}

impl Bounds {
    /// The modes that the program of a seed is explored in.
    pub fn modes(&self, seed: u64) -> Vec<bool> {
        let named: Vec<usize> = (0..MODES.len()).filter(|i| MODES[*i].name.contains(self.modes)).collect();
        let n = self.some.unwrap_or(named.len()).min(named.len());
        let first = seed as usize % named.len().max(1) * n;
        let mut asked = vec![false; MODES.len()];
        (first..first + n).for_each(|i| asked[named[i % named.len()]] = true);
        asked
    }
}

/// Kind, function and instruction of an error.
pub type ErrorSite = (&'static str, u32, u32);

#[derive(Default, Debug)]
pub struct Found {
    pub complete: bool,
    /// nothing but the bound on rounds cut a path
    pub complete_within_rounds: bool,
    /// the time was over, the run's or the solver's
    pub late: bool,
    pub errors: BTreeSet<ErrorSite>,
    /// function and block
    pub blocks: BTreeSet<(u32, u32)>,
    pub paths: u64,
    pub pruned: u64,
    pub merged: u64,
    pub nodes: u64,
    pub statistics: Vec<(String, u64)>,
    pub rechecked: Rechecked,
    pub audit: AuditReport,
}

struct Collect(BTreeSet<ErrorSite>);

impl Sink<GuidedExecutor> for Collect {
    fn on_path_end(&mut self, executor: &mut GuidedExecutor, ended: Ended) -> u32 {
        if let End::Error(e) = ended.end {
            let (func, inst) = ended.state.error_site(&executor.machine.program);
            self.0.insert((e.kind.as_str(), func.0, inst.0));
        }
        0
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
        None => run(setup(program, entry, checks, mode, bounds)?, mode).map(|r| r.0),
        Some(_) => explore_and_audit(program, entry, checks, mode, bounds, &mut |_| ()),
    }
}

/// With interpolants, which `spoil` may change before they are audited.
pub fn explore_and_audit(
    program: &Rc<Program>,
    entry: &str,
    checks: Checks,
    mode: Mode,
    bounds: Bounds,
    spoil: &mut dyn FnMut(&mut Interpolation),
) -> Result<Found, String> {
    let prune = PruneConfig {
        method: mode.prune.unwrap_or(Method::Wp),
        always: true,
        speculate: mode.speculate,
        unbounded: mode.unbounded,
        induction: mode.induction.then_some(WhenInduction::First),
        errors_only: mode.unbounded && bounds.recheck == 0,
        audit: bounds.audit > 0 && mode.search == "dfs",
        ..PruneConfig::default()
    };
    let builder = setup(program, entry, checks, mode, bounds)?.prune(prune);
    let (mut found, mut engine) = run(builder, mode)?;
    if let (Some(interpolation), machine) = engine.interpolation_and_machine() {
        spoil(interpolation);
        found.audit = pleach_audit::audit(machine, interpolation, bounds.audit);
    }
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
    run(setup(program, entry, checks, mode, bounds)?.pruner(pruner), mode).map(|r| r.0)
}

fn setup<'a>(
    program: &Rc<Program>,
    entry: &str,
    checks: Checks,
    mode: Mode,
    bounds: Bounds,
) -> Result<EngineBuilder<'a>, String> {
    let check_quantified = mode.merge.is_some();
    let solver = SolverConfig { timeout: Some(Duration::from_secs(5)), check_quantified, ..SolverConfig::default() };
    let exec = ExecConfig {
        entry: ProgramEntry::Function(entry.to_owned()),
        check_signed_overflow: checks.overflow,
        leaks: checks.leaks,
        resolution: mode.resolution,
        splitting: mode.splitting,
        sizes: Sizes { mode: mode.sizes, ..Sizes::default() },
        check_resolution: mode.resolution != Resolution::Fork,
        loop_bound: mode.unwind.map(LoopBound::Cut),
        ..ExecConfig::default()
    };
    let strategies = Strategy::parse_list(mode.search).map_err(|e| e.to_string())?;
    let search = SearchConfig { strategies, seed: 1, ..SearchConfig::default() };
    let limits =
        Limits { max_instructions: Some(bounds.instructions), max_time: Some(bounds.time), ..Limits::default() };
    let check_pruning = mode.prune.map(|_| bounds.recheck).filter(|n| *n > 0);
    let config = RunConfig { limits, check_pruning, ..RunConfig::default() };
    let builder = Engine::builder(program.clone()).solver(solver).exec(exec).search(search).run_config(config);
    Ok(match mode.merge {
        None => builder,
        Some((method, scope)) => {
            let config = MergeConfig {
                method,
                scopes: vec![scope],
                check: true,
                rounds: method != MergeMethod::Pattern,
                incremental: mode.incremental,
                trials: mode.trials,
                ..MergeConfig::default()
            };
            builder.merge(config)
        }
    })
}

fn run<'a>(builder: EngineBuilder<'a>, mode: Mode) -> Result<(Found, Engine<'a>), String> {
    let mut engine = builder.build().map_err(|e| e.to_string())?;
    let mut sink = Collect(BTreeSet::new());
    if engine.explore(&mut sink) == EndOfRun::InternalError {
        return Err(format!("an internal error in mode {}", mode.name));
    }
    let machine = &engine.executor.machine;
    if let [why, ..] = &machine.disagreements[..] {
        return Err(format!("a pointer is resolved wrongly: {why}"));
    }
    if engine.wrong_merges() > 0 {
        return Err(format!("{} wrong values or conditions of merged states", engine.wrong_merges()));
    }
    let mut answers = pleach_smt::Stats::new();
    machine.solver.stats(&mut answers);
    if answers.get("quantified.wrong") > 0 {
        return Err("a quantified query and its expansion have different answers".into());
    }
    let c = &engine.run.counters;
    let blocks = machine.coverage.blocks.iter().enumerate().flat_map(|(f, blocks)| {
        let reached = blocks.iter().enumerate().filter(|(_, n)| **n > 0);
        reached.map(move |(b, _)| (f as u32, b as u32))
    });
    let found = Found {
        complete: c.is_complete(),
        complete_within_rounds: c.is_complete_within_rounds(),
        late: c.cuts.keys().any(|cut| matches!(cut, Cut::Time | Cut::Solver(_))),
        errors: sink.0,
        blocks: blocks.collect(),
        paths: c.paths(),
        pruned: c.pruned,
        nodes: engine.run.tree.len() as u64,
        statistics: engine.pruning_statistics(),
        merged: c.merged,
        rechecked: c.rechecked.clone(),
        audit: AuditReport::default(),
    };
    Ok((found, engine))
}
