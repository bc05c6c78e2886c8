//! A run: the waiting states, the execution tree, and what happens to them when a state forks, ends or is cut.
//!
//! [`Run::drive`] is the loop: select → subsumed? → step → grow the tree → close nodes → notify. The run owns the
//! waiting states and the execution tree and is the only one to change them. It does not know which techniques are on.
//! *Invariant*: every leaf of the tree is a waiting state or has ended with a status that is counted; so no path is
//! lost without a trace.

use crate::alarm::Alarm;
use crate::counters::Counters;
use crate::defer::DeferredStates;
use crate::evict::Evicted;
use crate::limit_polling;
use crate::limits::{Halt, Limits, resident_bytes};
use crate::merge::TrackedFork;
use crate::reached_below::{Learners, ReachedBelow};
use crate::rng::Rng;
use crate::searched_states::{SearchedStates, SteppedState};
use crate::sink::{Ended, Sink};
use crate::speculate::Speculation;
use crate::step::{Child, Stepper};
use pleach_expr::Terms;
use pleach_ir::Span;
use pleach_state::pruner::Interpolator as _;
use pleach_state::reached_set::{ErrorSite, place_of};
use pleach_state::seams::{Age, Portfolio, Searcher, States, View};
use pleach_state::{
    Cut, End, Merger, NoMerger, NoPruner, NodeId, PathConstraint, Pruner, State, StateId, Status, Tree,
};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub struct RunConfig {
    pub limits: Limits,
    /// Blocks that a state runs before the searcher selects again. Default: 4096.
    pub step_blocks: u32,
    /// How often the sink hears of progress. Default: a quarter of a second.
    pub progress_every: Duration,
    /// How long the remaining states may take to be turned into tests after a halt. Default: 0.4 s.
    pub flush_time: Duration,
    /// Seed of the loop's own choices (which side to follow beyond `max_forks`, which states to drop). Default: 0.
    pub seed: u64,
    /// Explore subsumed states anyway, each up to this many instructions, and compare with the subsuming node. Default:
    /// no.
    pub check_pruning: Option<u64>,
    /// Explore merged states and their members separately, each up to this many instructions, and compare. Default: no.
    pub check_merging: Option<u64>,
    /// How the process measures its memory. Default: the resident set.
    pub memory: fn() -> Option<u64>,
    /// Gives freed memory back to the system, called after states were evicted. Default: does nothing.
    pub release: fn(),
}

impl Default for RunConfig {
    fn default() -> RunConfig {
        RunConfig {
            limits: Limits::default(),
            step_blocks: 4096,
            progress_every: Duration::from_millis(250),
            flush_time: Duration::from_millis(400),
            seed: 0,
            check_pruning: None,
            check_merging: None,
            memory: resident_bytes,
            release: || {},
        }
    }
}

/// The techniques of a run.
pub struct Seams<'a> {
    pub searcher: &'a mut dyn Searcher,
    pub pruner: &'a mut dyn Pruner,
    pub merger: &'a mut dyn Merger,
}

/// A run. It outlives a panic inside [`Run::explore`], so that what was found can still be reported.
pub struct Run {
    pub config: RunConfig,
    pub states: States,
    pub tree: Tree,
    pub counters: Counters,
    pub(crate) halt: Halt,
    /// other explorations that take turns with this one
    pub portfolio: Option<Box<dyn Portfolio>>,
    /// where paths begin, to re-execute evicted states
    pub(crate) initial: Vec<State>,
    pub(crate) evicted: Vec<Evicted>,
    /// which states go first
    pub(crate) evicts: Age,
    /// states that the end of the run left
    #[expect(clippy::vec_box, reason = "as the states were kept: moving the box is cheap, moving the state is not")]
    abandoned: Vec<Box<State>>,
    pub(crate) deferred: DeferredStates,
    /// why the loop ends before the states do
    pub(crate) stop: Option<Cut>,
    /// since when what waits is ended
    ending: Option<Instant>,
    /// by node: its share of the whole tree
    pub(crate) shares: Vec<f64>,
    /// errors that paths of the run ended in
    pub(crate) error_sites: BTreeSet<ErrorSite>,
    pub(crate) speculation: Speculation,
    /// by induction: nothing has to be explored any more
    pub(crate) proved: bool,
    next_id: u64,
    pub(crate) rng: Rng,
    pub(crate) started: Instant,
    pub(crate) last_poll: Instant,
    pub(crate) steps_to_poll: u32,
    pub(crate) last_memory_poll: Instant,
    pub(crate) next_memory_poll: Instant,
}

/// What a step did to the set of states.
#[derive(Default)]
pub(crate) struct StateSetDelta {
    pub added: Vec<StateId>,
    pub removed: Vec<StateId>,
}

/// Those the loop works with.
pub(crate) struct RunContext<'a, M> {
    pub machine: &'a mut M,
    pub sink: &'a mut dyn Sink<M>,
    pub learners: Learners<'a>,
    pub merger: &'a mut dyn Merger,
    pub change: StateSetDelta,
}

impl Run {
    pub fn new(config: RunConfig, halt: Halt) -> Run {
        let now = Instant::now();
        Run {
            rng: Rng::new(config.seed, 0),
            config,
            states: States::new(),
            tree: Tree::new(),
            counters: Counters::default(),
            halt,
            portfolio: None,
            initial: Vec::new(),
            evicted: Vec::new(),
            evicts: Age::Oldest,
            abandoned: Vec::new(),
            deferred: DeferredStates::default(),
            stop: None,
            ending: None,
            shares: vec![1.0],
            error_sites: BTreeSet::new(),
            speculation: Speculation::default(),
            proved: false,
            next_id: 0,
            started: now,
            last_poll: now,
            steps_to_poll: 0,
            last_memory_poll: now,
            next_memory_poll: now + limit_polling::MEMORY_EVERY.1,
        }
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Explores until no state is left or a limit is hit. What then remains is cut, with that limit as the reason.
    pub fn explore<M: Stepper>(&mut self, initial: Vec<State>, machine: &mut M, sink: &mut dyn Sink<M>, seams: Seams) {
        let Seams { searcher, pruner, merger } = seams;
        let reached = self.config.check_pruning.map(|_| ReachedBelow::new(machine.logic().program()));
        let learners = Learners { pruner, reached };
        let ctx = &mut RunContext { machine, sink, learners, merger, change: StateSetDelta::default() };
        self.started = Instant::now();
        let alarm = Alarm::set(&self.halt, self.config.limits.max_time);
        self.initial = initial.clone();
        self.new_root(initial, ctx);
        // A block counts when it is entered, the first one, too.
        self.counters.instructions = ctx.machine.instructions();
        searcher.update(None, &ctx.change.added, &[], self.view(ctx));
        self.evicts = searcher.selects_last();
        self.drive(&mut SearchedStates::new(searcher), ctx);
        drop(alarm);
        // A searcher that has nothing to offer although states wait is a bug; even then no path is lost silently.
        let why = self.stop.clone().unwrap_or_else(|| Cut::Stopped(format!("{} lost states", searcher.name())));
        self.report(ctx, Instant::now(), false);
        self.cut_remaining(&why, ctx);
        self.cut_evicted(&why, ctx);
        self.cut_deferred(ctx);
        self.report(ctx, Instant::now(), false);
    }

    pub(crate) fn view<'a, M: Stepper>(&'a self, ctx: &'a RunContext<M>) -> View<'a> {
        View { states: &self.states, tree: &self.tree, statistics: &*ctx.machine }
    }

    /// The first states: one at the root, several below it.
    fn new_root<M>(&mut self, initial: Vec<State>, ctx: &mut RunContext<M>) {
        let several = initial.len() > 1;
        let share = 1.0 / initial.len().max(1) as f64;
        for mut state in initial {
            state.node = NodeId::ROOT;
            if several {
                state.node = self.tree.grow(NodeId::ROOT, Terms::TRUE, Span::default());
                self.shares.push(share);
            }
            ctx.learners.open(state.node, &mut state, &self.tree);
            let id = self.add_state(state);
            ctx.change.added.push(id);
        }
        if several {
            ctx.sink.on_fork(NodeId::ROOT, &self.tree);
        }
    }

    pub(crate) fn add_state(&mut self, mut state: State) -> StateId {
        let id = StateId(self.next_id);
        self.next_id += 1;
        state.id = id;
        self.counters.deepest = self.counters.deepest.max(state.depth);
        self.states.insert(id, Box::new(state));
        self.counters.states_peak = self.counters.states_peak.max(self.states.len() as u64);
        id
    }

    pub(crate) fn fork<M: Stepper>(
        &mut self,
        stepped: SteppedState,
        mut children: Vec<Child>,
        before: Option<&PathConstraint>,
        ctx: &mut RunContext<M>,
    ) {
        let SteppedState { id, node, depth, searched, .. } = stepped;
        if let [Child { end: None, state: only, .. }] = &children[..]
            && only.history.origin().is_none()
        {
            let only = children.remove(0).state;
            self.states.insert(id, Box::new(State { id, node, ..only }));
            self.arrive(id, ctx);
            return;
        }
        let parent = self.states.remove(&id);
        ctx.change.removed.push(id);
        let Some(first) = children.first() else {
            // No side is feasible: the path itself was not.
            if let Some(parent) = parent {
                self.finish(&mut State { id, node, ..*parent }, End::Silent, ctx);
            }
            return;
        };
        let span = ctx.machine.span(&first.state);
        let mut tracked = before.map(|before| TrackedFork::new(node, before, first));
        Run::exits_first(&mut children, ctx);
        self.limit_forks(&mut children, depth + 1);
        let share = self.shares[node.index()] / children.len() as f64;
        self.counters.forks += u64::from(children.len() > 1);
        let (mut ended, mut alive) = (Vec::new(), Vec::new());
        for Child { mut state, condition, end, .. } in children {
            state.node = self.tree.grow(node, condition, span);
            self.shares.push(share);
            state.depth = depth + 1;
            ctx.learners.open(state.node, &mut state, &self.tree);
            match end {
                None => {
                    tracked.as_mut().into_iter().for_each(|t| t.children.push((state.node, condition)));
                    alive.push(state);
                }
                Some(end) => ended.push((state, end)),
            }
        }
        if let Some(t) = &tracked {
            ctx.merger.forked(t.fork(), ctx.machine.logic());
        }
        for state in alive {
            if state.pending.is_some() {
                self.defer(Box::new(state), ctx.machine.logic().effort().steps - searched);
            } else {
                self.resume(Box::new(state), ctx);
            }
        }
        ctx.sink.on_fork(node, &self.tree);
        for (mut state, end) in ended {
            self.finish(&mut state, end, ctx);
        }
    }

    pub(crate) fn prune<M: Stepper>(&mut self, id: StateId, by: NodeId, ctx: &mut RunContext<M>) {
        if let Some(limit) = self.config.check_pruning
            && let Some(state) = self.states.remove(&id)
        {
            self.recheck(&state, by, limit, ctx);
            self.states.insert(id, state);
        }
        self.visited_before(id, by, ctx);
    }

    /// The state need not be explored, because of another one.
    pub(crate) fn visited_before<M: Stepper>(&mut self, id: StateId, by: NodeId, ctx: &mut RunContext<M>) {
        let Some(mut state) = self.states.remove(&id) else { return };
        ctx.change.removed.push(id);
        self.counters.pruned += 1;
        ctx.sink.on_pruned(&state, by);
        ctx.learners.on_subsumed(&mut state, by, ctx.machine.logic());
        self.close(state.node, Status::Pruned, 0, ctx);
    }

    /// A path has ended.
    pub(crate) fn finish<M: Stepper>(&mut self, state: &mut State, mut end: End, ctx: &mut RunContext<M>) {
        // What was interrupted because the run halts, a query or another long operation, says nothing about the path.
        if let (End::Cut(Cut::Solver(_) | Cut::Interrupted), Some(why)) = (&end, self.halt.reason()) {
            end = End::Cut(why);
        }
        self.conclude(state, end, ctx);
    }

    /// A path has ended, for the reason that is given.
    pub(crate) fn conclude<M: Stepper>(&mut self, state: &mut State, end: End, ctx: &mut RunContext<M>) {
        if let End::Error(e) = &end {
            let program = ctx.machine.logic().program();
            self.error_sites.insert(place_of(&program, state, e.kind));
        }
        let mut status = self.count(&end);
        let enough = self.config.limits.max_tests.is_some_and(|max| self.counters.tests >= max);
        let late = self.is_late();
        let skip_test = enough || late;
        let test = ctx.sink.on_path_end(ctx.machine, Ended { state, end: &end, node: state.node, skip_test });
        self.counters.tests += u64::from(test != 0);
        self.check_stop_conditions(&end, ctx.sink.stop());
        if !late {
            status = bounded(&end, &*ctx.learners.pruner).unwrap_or(status);
            ctx.learners.ended(state, &end, ctx.machine.logic());
        }
        self.close(state.node, status, test, ctx);
    }

    pub(crate) fn count(&mut self, end: &End) -> Status {
        let c = &mut self.counters;
        match end {
            End::Exit(_) => {
                c.completed += 1;
                Status::Exit
            }
            End::Silent => {
                c.silent += 1;
                Status::Silent
            }
            End::Error(_) => {
                c.errored += 1;
                Status::Error
            }
            End::Cut(why) => {
                c.cut += 1;
                *c.cuts.entry(why.clone()).or_default() += 1;
                Status::Cut
            }
        }
    }

    pub(crate) fn close<M: Stepper>(&mut self, leaf: NodeId, status: Status, test: u32, ctx: &mut RunContext<M>) {
        self.counters.progress_share += self.shares[leaf.index()];
        ctx.merger.left(leaf);
        // What is learned when the run is over subsumes nothing any more.
        let learns = !self.is_late();
        for node in self.tree.end(leaf, status, test) {
            // A leaf that was opened again is not below all of them.
            if self.tree.node(node).is_open() {
                continue;
            }
            if learns && !self.need_not_learn(ctx) {
                ctx.learners.close(node, &self.tree, ctx.machine.logic());
                if self.reopen(false, ctx) && self.tree.node(node).is_open() {
                    continue;
                }
            }
            ctx.sink.on_close(node, &self.tree);
        }
    }

    /// Ends all waiting states, oldest first.
    fn cut_remaining<M: Stepper>(&mut self, why: &Cut, ctx: &mut RunContext<M>) {
        self.reopen(true, ctx);
        self.ending = Some(Instant::now());
        // Time may be short: those that have shown something new first.
        let states = std::mem::take(&mut self.states).into_values().chain(ctx.merger.take_waiting());
        let (new, rest): (Vec<_>, Vec<_>) = states.partition(|s| s.covered_new);
        for mut state in new.into_iter().chain(rest) {
            self.finish(&mut state, End::Cut(why.clone()), ctx);
            // Dropping them all takes longer than writing the results.
            self.abandoned.push(state);
        }
    }

    /// A panic came out of the loop. What waits is cut, with its test; nobody learns from it.
    pub fn cut_after_panic<M: Stepper>(&mut self, machine: &mut M, sink: &mut dyn Sink<M>) {
        let ctx = &mut RunContext {
            machine,
            sink,
            learners: Learners { pruner: &mut NoPruner, reached: None },
            merger: &mut NoMerger,
            change: StateSetDelta::default(),
        };
        let why = Cut::Stopped("an internal error ended the run".into());
        self.stop.get_or_insert_with(|| why.clone());
        self.cut_remaining(&why, ctx);
        self.cut_evicted(&why, ctx);
        self.cut_deferred(ctx);
    }

    /// The run is over, and the time for tests of what was not finished, too.
    fn is_late(&self) -> bool {
        self.ending.is_some_and(|since| since.elapsed() > self.config.flush_time)
    }
}

/// The path was cut by the bound on rounds, and the pruner speaks of those: nothing above is tainted.
pub(crate) fn bounded(end: &End, pruner: &dyn Pruner) -> Option<Status> {
    (matches!(end, End::Cut(Cut::Unwind(_))) && pruner.knows_rounds()).then_some(Status::Bounded)
}
