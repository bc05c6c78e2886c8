//! The assembly: one program, an executor, a searcher, a pruner and the run loop.
//!
//! This is the only place that puts the techniques together. Every front of the project (`pleach test`, `verify`,
//! `reach`, the KLEE personality, the campaigns) and every user of the library goes through [`Engine::builder`].

use crate::error::Error;
use crate::exploration::{Collector, Exploration, Observer};
use crate::guided_executor::GuidedExecutor;
use pleach_exec::Seed;
use pleach_exec::{ExecConfig, Machine, NativeCalls};
use pleach_explore::search::SeedsFirst;
use pleach_explore::{Halt, Limits, Run, RunConfig, Seams, SearchConfig, Sink};
use pleach_ir::{BlockId, FuncId, Program};
use pleach_merge::{MergeConfig, Merging};
use pleach_prune::{Checks, Interpolation, Method, WhenInduction};
use pleach_smt::SolverConfig;
use pleach_state::seams::{CheckedSearcher, Searcher};
use pleach_state::{Leaks, Merger, NoMerger, NoPruner, Pruner, State};
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// Pruning by interpolation.
#[derive(Clone, Debug)]
pub struct PruneConfig {
    /// How interpolants are made. Default: weakest preconditions.
    pub method: Method,
    /// Keep pruning on even when it does not pay off. Default: no.
    pub always: bool,
    /// Explore an unsubsumed state once without its path constraint. Default: no.
    pub speculate: bool,
    /// Subsume states by open nodes of their loops. Default: no.
    pub unbounded: bool,
    /// Prove loops without a bound by induction, too, if only errors matter. Default: not.
    pub induction: Option<WhenInduction>,
    /// A call of `abort` is no error. Default: no.
    pub may_abort: bool,
    /// Drop literals that an invariant does not need. Default: yes.
    pub minimise_invariants: bool,
    /// Learn from paths that a bound on rounds cut. Default: yes.
    pub rounds: bool,
    /// A subsumed state may reach blocks that were not reached before, if these do nothing. Default: no.
    pub errors_only: bool,
    /// Keep every interpolant for [`Interpolation::explanations`]. Default: no.
    pub explain: bool,
    /// Bytes that the subsumption table may take. Default: no limit.
    pub memory: Option<u64>,
    /// Keep what an audit of the interpolants needs. Default: no.
    pub audit: bool,
}

impl Default for PruneConfig {
    fn default() -> PruneConfig {
        PruneConfig {
            method: Method::Wp,
            always: false,
            speculate: false,
            unbounded: false,
            induction: None,
            may_abort: false,
            minimise_invariants: true,
            rounds: true,
            errors_only: false,
            explain: false,
            memory: None,
            audit: false,
        }
    }
}

impl PruneConfig {
    fn build(&self, program: &Program, exec: &ExecConfig) -> Interpolation {
        let checks = Checks { overflow: exec.check_signed_overflow, leaks: exec.leaks };
        let mut made = Interpolation::new(program, checks, self.method);
        made.always_on(self.always || self.speculate || self.unbounded);
        made.speculate(self.speculate);
        made.unbounded(self.unbounded);
        let induction = self.induction.filter(|_| self.unbounded && self.errors_only);
        made.prove_by_induction(induction, self.may_abort);
        made.minimise_invariants(self.minimise_invariants);
        made.rounds = self.rounds;
        made.errors_only = self.errors_only;
        made.explain = self.explain.then(Default::default);
        if let Some(bytes) = self.memory {
            made.limit_memory(bytes);
        }
        made.audit_log = self.audit.then(Vec::new);
        made
    }
}

enum Search {
    Strategies(SearchConfig),
    Own(Box<dyn Searcher>),
}

enum Pruning<'a> {
    Off,
    Interpolation(PruneConfig),
    Own(&'a mut dyn Pruner),
}

/// What an engine is made of. Everything has a default but the program.
pub struct EngineBuilder<'a> {
    program: Rc<Program>,
    exec: ExecConfig,
    solver: SolverConfig,
    search: Search,
    pruning: Pruning<'a>,
    merge: Option<MergeConfig>,
    run: RunConfig,
    halt: Halt,
    check_seams: bool,
    native_calls: Option<Box<dyn NativeCalls>>,
    targets: BTreeSet<(FuncId, BlockId)>,
    seeds: Vec<Seed>,
}

impl<'a> EngineBuilder<'a> {
    /// What is an error, where execution begins, how pointers are resolved. Default: `main` without arguments.
    pub fn exec(mut self, config: ExecConfig) -> Self {
        self.exec = config;
        self
    }

    /// The chain of solver links. Default: all links, Bitwuzla at the end.
    pub fn solver(mut self, config: SolverConfig) -> Self {
        self.solver = config;
        self
    }

    /// Search by the strategies that come with the engine. Default: depth first.
    pub fn search(mut self, config: SearchConfig) -> Self {
        self.search = Search::Strategies(config);
        self
    }

    /// Search by a strategy of your own.
    pub fn searcher(mut self, searcher: Box<dyn Searcher>) -> Self {
        self.search = Search::Own(searcher);
        self
    }

    /// Leave out subsumed states, by interpolation. Default: no.
    pub fn prune(mut self, config: PruneConfig) -> Self {
        self.pruning = Pruning::Interpolation(config);
        self
    }

    /// Leave out states by a technique of your own.
    pub fn pruner(mut self, pruner: &'a mut dyn Pruner) -> Self {
        self.pruning = Pruning::Own(pruner);
        self
    }

    /// Merge states where they leave loops or calls. Default: no.
    pub fn merge(mut self, config: MergeConfig) -> Self {
        self.merge = Some(config);
        self
    }

    /// Limits, the seed, and the checking mode of the pruning (`check_pruning`).
    pub fn run_config(mut self, config: RunConfig) -> Self {
        self.run = config;
        self
    }

    /// Limits alone.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.run.limits = limits;
        self
    }

    /// Who may stop the exploration from outside.
    pub fn halt(mut self, halt: &Halt) -> Self {
        self.halt = halt.clone();
        self
    }

    /// Check every decision of the searcher.
    pub fn check_seams(mut self, on: bool) -> Self {
        self.check_seams = on;
        self
    }

    /// Who calls functions without a body natively, for [`pleach_exec::External::Concrete`].
    pub fn native_calls(mut self, calls: Option<Box<dyn NativeCalls>>) -> Self {
        self.native_calls = calls;
        self
    }

    /// Blocks whose first entries are kept, in [`Machine::target_hits`]. The first block of the program counts too.
    pub fn targets(mut self, targets: BTreeSet<(FuncId, BlockId)>) -> Self {
        self.targets = targets;
        self
    }

    /// Inputs to follow first, each to its end. Default: none.
    pub fn seeds(mut self, seeds: Vec<Seed>) -> Self {
        self.seeds = seeds;
        self
    }

    /// Puts everything together; nothing is executed yet but the set-up of the initial states.
    pub fn build(self) -> Result<Engine<'a>, Error> {
        let EngineBuilder {
            program,
            mut exec,
            mut solver,
            search,
            pruning,
            merge,
            run,
            halt,
            check_seams,
            native_calls,
            targets,
            seeds,
        } = self;
        exec.record = !matches!(pruning, Pruning::Off);
        exec.record_from_input = matches!(&pruning, Pruning::Interpolation(config) if config.unbounded);
        exec.stops_after = merge.as_ref().map_or_else(Vec::new, MergeConfig::marks);
        solver.interrupt = Some(halt.flag());
        let interpolation = match &pruning {
            Pruning::Interpolation(config) => Some(config.build(&program, &exec)),
            _ => None,
        };
        let own_pruner = match pruning {
            Pruning::Own(pruner) => Some(pruner),
            _ => None,
        };
        let (searcher, distances) = match search {
            Search::Strategies(config) => (config.build()?, config.needs_distances()),
            Search::Own(searcher) => (searcher, true),
        };
        let searcher: Box<dyn Searcher> = if check_seams { Box::new(CheckedSearcher::new(searcher)) } else { searcher };
        let searcher: Box<dyn Searcher> = if seeds.is_empty() { searcher } else { Box::new(SeedsFirst::new(searcher)) };
        let one_sided = exec.leaks == Leaks::Ignored;
        let merging =
            merge.map(|c| Merging::new(program.clone(), MergeConfig { one_sided: c.one_sided && one_sided, ..c }));
        let mut machine = Machine::new(program.clone(), pleach_smt::assemble(solver), exec)?;
        machine.native_calls = native_calls;
        // Before the initial states, which enter the first block.
        machine.targets = targets;
        machine.terms.brake = halt.brake();
        let initial = machine.initial_states()?;
        let mut executor = GuidedExecutor::new(machine, distances);
        executor.seeds = seeds;
        Ok(Engine {
            executor,
            run: Run::new(run, halt),
            initial,
            searcher,
            interpolation,
            own_pruner,
            merging,
            program,
        })
    }

    /// Explores everything and returns what was found, as values.
    pub fn explore(self) -> Result<Exploration, Error> {
        Ok(self.build()?.explore_and_collect(&mut ()))
    }

    /// The same, while an observer sees each path as it ends and may stop the exploration.
    pub fn observe(self, observer: &mut dyn Observer) -> Result<Exploration, Error> {
        Ok(self.build()?.explore_and_collect(observer))
    }
}

/// An exploration that is ready to begin, under way, or done.
pub struct Engine<'a> {
    pub program: Rc<Program>,
    pub executor: GuidedExecutor,
    pub run: Run,
    initial: Vec<State>,
    searcher: Box<dyn Searcher>,
    interpolation: Option<Interpolation>,
    own_pruner: Option<&'a mut dyn Pruner>,
    merging: Option<Merging>,
}

/// How an exploration ended, besides what it found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EndOfRun {
    Done,
    /// an internal error ended it; what was found until then is still there
    InternalError,
}

impl<'a> Engine<'a> {
    /// An engine for this program.
    pub fn builder(program: Rc<Program>) -> EngineBuilder<'a> {
        EngineBuilder {
            program,
            exec: ExecConfig::default(),
            solver: SolverConfig::default(),
            search: Search::Strategies(SearchConfig::default()),
            pruning: Pruning::Off,
            merge: None,
            run: RunConfig::default(),
            halt: Halt::new(),
            check_seams: false,
            native_calls: None,
            targets: BTreeSet::new(),
            seeds: Vec::new(),
        }
    }

    /// The states that the exploration begins with; empty once it has begun.
    pub fn initial(&self) -> &[State] {
        &self.initial
    }

    /// What interpolation has learned, if it is on.
    pub fn interpolation(&self) -> Option<&Interpolation> {
        self.interpolation.as_ref()
    }

    /// The interpolation and the executor, for what needs both.
    pub fn interpolation_and_machine(&mut self) -> (Option<&mut Interpolation>, &mut Machine) {
        (self.interpolation.as_mut(), &mut self.executor.machine)
    }

    /// The pruner's own figures and times; empty without one.
    pub fn pruning_statistics(&self) -> Vec<(String, u64)> {
        match (&self.interpolation, &self.own_pruner) {
            (Some(i), _) => i.statistics(),
            (None, Some(p)) => p.statistics(),
            (None, None) => Vec::new(),
        }
    }

    /// Figures of merging; empty without it.
    pub fn merging_statistics(&self) -> Vec<(String, u64)> {
        let mut all = self.merging.as_ref().map_or_else(Vec::new, Merger::statistics);
        if self.run.config.check_merging.is_some() {
            let r = &self.run.counters.rechecked_merges;
            let explored = [
                ("explored_groups", r.groups),
                ("explored_unfinished", r.unfinished),
                ("explored_wrong", r.failures.len() as u64),
            ];
            all.extend(explored.map(|(name, n)| (name.to_owned(), n)));
        }
        all
    }

    /// The first merges by patterns, as text.
    pub fn merge_patterns(&self) -> &[pleach_merge::PatternText] {
        self.merging.as_ref().map_or(&[], Merging::explained)
    }

    /// Merged values and conditions that the solver found wrong, where they are checked.
    pub fn wrong_merges(&self) -> u64 {
        self.merging.as_ref().map_or(0, Merging::wrong)
    }

    pub fn pruning_times(&self) -> Vec<(String, std::time::Duration)> {
        match (&self.interpolation, &self.own_pruner) {
            (Some(i), _) => i.times(),
            (None, Some(p)) => p.times(),
            (None, None) => Vec::new(),
        }
    }

    /// Explores to the end. An internal error does not lose what was found: the sink is told of the remaining states as
    /// cut.
    pub fn explore<S: Sink<GuidedExecutor>>(&mut self, sink: &mut S) -> EndOfRun {
        let mut none = NoPruner;
        let pruner: &mut dyn Pruner = match (&mut self.interpolation, &mut self.own_pruner) {
            (Some(i), _) => i,
            (None, Some(p)) => &mut **p,
            (None, None) => &mut none,
        };
        let initial = std::mem::take(&mut self.initial);
        let (run, executor, searcher) = (&mut self.run, &mut self.executor, &mut self.searcher);
        let mut no_merger = NoMerger;
        let merger: &mut dyn Merger = match &mut self.merging {
            Some(m) => m,
            None => &mut no_merger,
        };
        let outcome = catch_unwind(AssertUnwindSafe(|| {
            run.explore(initial, executor, sink, Seams { searcher: &mut **searcher, pruner, merger });
        }));
        if outcome.is_ok() {
            return EndOfRun::Done;
        }
        // Another panic loses the tests of what was waiting, and nothing else.
        let _ = catch_unwind(AssertUnwindSafe(|| self.run.cut_after_panic(&mut self.executor, sink)));
        EndOfRun::InternalError
    }

    /// What the exploration leaves in memory; to free it takes longer than to write the results.
    pub fn into_remains(self) -> impl std::any::Any {
        (self.run, self.executor, self.searcher, self.interpolation)
    }

    fn explore_and_collect(mut self, observer: &mut dyn Observer) -> Exploration {
        let mut collector = Collector::new(self.program.clone(), observer);
        let outcome = self.explore(&mut collector);
        collector.finish(&mut self, outcome)
    }
}
