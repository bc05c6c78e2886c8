//! The run loop: select → covered? → step → grow the tree → close nodes → notify.
//!
//! It owns the waiting states and the execution tree and is the only one to change them. It does not know which techniques
//! are on. *Invariant*: every leaf of the tree is a waiting state or has ended with a status that is counted; so no path is
//! lost without a trace.

use crate::counters::Counters;
use crate::defer::DeferredStates;
use crate::limits::{Halt, Limits, resident_bytes};
use crate::rng::Rng;
use crate::sink::{Ended, Sink};
use crate::speculate::Speculation;
use crate::step::{Child, Step, Stepper};
use pleach_expr::Terms;
use pleach_ir::Span;
use pleach_state::reached::{Place, place_of};
use pleach_state::seams::{Look, NoPruner, Pruner, Searcher, States, View};
use pleach_state::{Cut, End, NodeId, State, StateId, Status, Tree};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

#[derive(Clone, Debug)]
pub struct RunConfig {
    pub limits: Limits,
    /// Blocks that a state runs before the searcher is asked again. Default: 4096.
    pub step_blocks: u32,
    /// How often the sink hears of progress. Default: a quarter of a second.
    pub progress_every: Duration,
    /// How long the remaining states may take to be turned into tests after a halt. Default: 0.4 s.
    pub grace: Duration,
    /// Seed of the loop's own choices (which side to follow beyond `max_forks`, which states to drop). Default: 0.
    pub seed: u64,
    /// Explore covered states all the same, each up to so many instructions, and compare with the coverer. Needs a [`pleach_state::CheckedPruner`].
    /// Default: no.
    pub check_pruning: Option<u64>,
    /// How the process measures its memory. Default: the resident set.
    pub memory: fn() -> Option<u64>,
}

impl Default for RunConfig {
    fn default() -> RunConfig {
        RunConfig {
            limits: Limits::default(),
            step_blocks: 4096,
            progress_every: Duration::from_millis(250),
            grace: Duration::from_millis(400),
            seed: 0,
            check_pruning: None,
            memory: resident_bytes,
        }
    }
}

/// The techniques of a run.
pub struct Seams<'a> {
    pub searcher: &'a mut dyn Searcher,
    pub pruner: &'a mut dyn Pruner,
}

/// A run. It outlives a panic inside [`Run::explore`], so that what was found can still be reported.
pub struct Run {
    pub config: RunConfig,
    pub states: States,
    pub tree: Tree,
    pub counters: Counters,
    pub(crate) halt: Halt,
    /// where paths begin, to make parked states again
    pub(crate) initial: Vec<State>,
    /// nodes of states that were set aside, and whether they had covered something new
    pub(crate) parked: Vec<(NodeId, bool)>,
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
    pub(crate) met: BTreeSet<Place>,
    pub(crate) speculation: Speculation,
    next_id: u64,
    pub(crate) rng: Rng,
    pub(crate) started: Instant,
    pub(crate) looked: Instant,
    pub(crate) steps_to_look: u32,
    pub(crate) memory_looked: Instant,
}

/// What a step did to the set of states.
#[derive(Default)]
pub(crate) struct Change {
    pub added: Vec<StateId>,
    pub removed: Vec<StateId>,
}

/// A state before its step: what a step consumes cannot be asked any more.
#[derive(Clone, Copy)]
struct Stepped {
    id: StateId,
    node: NodeId,
    depth: u32,
    /// it stood for a side that was not known to be feasible
    pending: bool,
    /// search steps of the back ends before
    searched: u64,
}

/// Those the loop works with.
pub(crate) struct Hands<'a, M> {
    pub machine: &'a mut M,
    pub sink: &'a mut dyn Sink<M>,
    pub pruner: &'a mut dyn Pruner,
    pub change: Change,
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
            initial: Vec::new(),
            parked: Vec::new(),
            abandoned: Vec::new(),
            deferred: DeferredStates::default(),
            stop: None,
            ending: None,
            shares: vec![1.0],
            met: BTreeSet::new(),
            speculation: Speculation::default(),
            next_id: 0,
            started: now,
            looked: now,
            steps_to_look: 0,
            memory_looked: now,
        }
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Explores until no state is left or a limit is hit. What then remains is cut, with that limit as the reason.
    pub fn explore<M: Stepper>(&mut self, initial: Vec<State>, machine: &mut M, sink: &mut dyn Sink<M>, seams: Seams) {
        let Seams { searcher, pruner } = seams;
        let hands = &mut Hands { machine, sink, pruner, change: Change::default() };
        self.started = Instant::now();
        self.initial = initial.clone();
        self.plant(initial, hands);
        // A block counts when it is entered, the first one, too.
        self.counters.instructions = hands.machine.instructions();
        searcher.update(None, &hands.change.added, &[], self.view(hands));
        loop {
            hands.change.added.clear();
            hands.change.removed.clear();
            if self.look_around(hands) {
                break;
            }
            if !hands.change.removed.is_empty() {
                searcher.update(None, &[], &hands.change.removed, self.view(hands));
                hands.change.removed.clear();
            }
            if self.take_up_due(hands) {
                searcher.update(None, &hands.change.added, &[], self.view(hands));
                hands.change.added.clear();
            }
            let Some(id) = searcher.select(self.view(hands)) else {
                if !self.restore(hands) && !self.take_up(hands) {
                    break;
                }
                searcher.update(None, &hands.change.added, &[], self.view(hands));
                continue;
            };
            self.advance(id, hands);
            searcher.update(Some(id), &hands.change.added, &hands.change.removed, self.view(hands));
        }
        // A searcher that has nothing to offer although states wait is a bug; even then no path is lost silently.
        let why = self.stop.clone().unwrap_or_else(|| Cut::Stopped(format!("{} lost states", searcher.name())));
        self.report(hands, Instant::now());
        self.abandon(&why, hands);
        self.abandon_parked(&why, hands);
        self.abandon_deferred(hands);
        self.report(hands, Instant::now());
    }

    /// Covered, or one step further.
    fn advance<M: Stepper>(&mut self, id: StateId, hands: &mut Hands<M>) {
        let Some(state) = self.states.get_mut(&id) else { return };
        let mut look = hands.pruner.look(state, &self.tree, hands.machine.logic());
        if let Look::Speculate(limit) = look
            && let Some(mut state) = self.states.remove(&id)
        {
            look = self.look_again(&mut state, limit, hands);
            self.states.insert(id, state);
        }
        if let Look::Covered(_) = look
            && let Some(state) = self.states.remove(&id)
        {
            self.probe(&state, hands);
            self.states.insert(id, state);
        }
        let Some(state) = self.states.get_mut(&id) else { return };
        match look {
            Look::Go | Look::Speculate(_) => {}
            Look::Open => {
                let share = self.shares[state.node.index()];
                let above = state.node;
                state.node = self.tree.grow(above, Terms::TRUE, hands.machine.span(state));
                self.shares.push(share);
                hands.pruner.open(state.node, state, &self.tree);
                hands.sink.on_fork(above, &self.tree);
            }
            Look::Covered(by) => return self.prune(id, by, hands),
        }
        let retried = state.budget_level() > 0;
        let searched = hands.machine.logic().effort().steps;
        let stepped = Stepped { id, node: state.node, depth: state.depth, pending: state.pending.is_some(), searched };
        let step = hands.machine.step(state, Self::budget(&self.config, &self.counters));
        if retried {
            self.deferred.retried(hands.machine.logic().effort().steps - searched);
        }
        self.counters.steps += 1;
        self.counters.instructions = hands.machine.instructions();
        self.grow(stepped, step, hands);
        hands.machine.refresh();
    }

    fn view<'a, M: Stepper>(&'a self, hands: &'a Hands<M>) -> View<'a> {
        View { states: &self.states, tree: &self.tree, figures: &*hands.machine }
    }

    /// The first states: one at the root, several below it.
    fn plant<M>(&mut self, initial: Vec<State>, hands: &mut Hands<M>) {
        let several = initial.len() > 1;
        let share = 1.0 / initial.len().max(1) as f64;
        for mut state in initial {
            state.node = NodeId::ROOT;
            if several {
                state.node = self.tree.grow(NodeId::ROOT, Terms::TRUE, Span::default());
                self.shares.push(share);
            }
            hands.pruner.open(state.node, &mut state, &self.tree);
            let id = self.admit(state);
            hands.change.added.push(id);
        }
        if several {
            hands.sink.on_fork(NodeId::ROOT, &self.tree);
        }
    }

    pub(crate) fn admit(&mut self, mut state: State) -> StateId {
        let id = StateId(self.next_id);
        self.next_id += 1;
        state.id = id;
        self.counters.deepest = self.counters.deepest.max(state.depth);
        self.states.insert(id, Box::new(state));
        self.counters.states_peak = self.counters.states_peak.max(self.states.len() as u64);
        id
    }

    fn budget(config: &RunConfig, counters: &Counters) -> u32 {
        match config.limits.max_instructions {
            // Shorter steps towards the limit, as a block may have many instructions.
            Some(max) => {
                let left = max.saturating_sub(counters.instructions);
                config.step_blocks.min(u32::try_from(left / 16 + 1).unwrap_or(u32::MAX))
            }
            None => config.step_blocks,
        }
    }

    fn grow<M: Stepper>(&mut self, stepped: Stepped, step: Step, hands: &mut Hands<M>) {
        match step {
            Step::Next => self.look_soon(),
            Step::Fork(children) if children.is_empty() && stepped.pending => {
                self.states.remove(&stepped.id);
                hands.change.removed.push(stepped.id);
                self.close_infeasible(stepped.node, hands);
            }
            Step::Fork(children) => self.fork(stepped, children, hands),
            Step::Deferred => {
                if let Some(state) = self.states.remove(&stepped.id) {
                    hands.change.removed.push(stepped.id);
                    self.defer(state, hands.machine.logic().effort().steps - stepped.searched);
                }
            }
            Step::End(end) => {
                if let Some(mut state) = self.states.remove(&stepped.id) {
                    hands.change.removed.push(stepped.id);
                    self.finish(&mut state, end, hands);
                }
            }
        }
    }

    fn fork<M: Stepper>(&mut self, stepped: Stepped, mut children: Vec<Child>, hands: &mut Hands<M>) {
        let Stepped { id, node, depth, searched, .. } = stepped;
        if let [Child { end: None, state: only, .. }] = &children[..]
            && only.origin.is_none()
        {
            let only = children.remove(0).state;
            self.states.insert(id, Box::new(State { id, node, ..only }));
            return;
        }
        let parent = self.states.remove(&id);
        hands.change.removed.push(id);
        let Some(first) = children.first() else {
            // No side is feasible: the path itself was not.
            if let Some(parent) = parent {
                self.finish(&mut State { id, node, ..*parent }, End::Silent, hands);
            }
            return;
        };
        let span = hands.machine.span(&first.state);
        self.limit_forks(&mut children, depth + 1);
        let share = self.shares[node.index()] / children.len() as f64;
        self.counters.forks += u64::from(children.len() > 1);
        let mut ended = Vec::new();
        for Child { mut state, condition, end } in children {
            state.node = self.tree.grow(node, condition, span);
            self.shares.push(share);
            state.depth = depth + 1;
            hands.pruner.open(state.node, &mut state, &self.tree);
            match end {
                None if state.pending.is_some() => {
                    self.defer(Box::new(state), hands.machine.logic().effort().steps - searched);
                }
                None => hands.change.added.push(self.admit(state)),
                Some(end) => ended.push((state, end)),
            }
        }
        hands.sink.on_fork(node, &self.tree);
        for (mut state, end) in ended {
            self.finish(&mut state, end, hands);
        }
    }

    fn prune<M: Stepper>(&mut self, id: StateId, by: NodeId, hands: &mut Hands<M>) {
        let Some(mut state) = self.states.remove(&id) else { return };
        hands.change.removed.push(id);
        self.counters.pruned += 1;
        if let Some(limit) = self.config.check_pruning {
            self.recheck(&state, by, limit, hands);
        }
        hands.sink.on_pruned(&state, by);
        hands.pruner.covered(&mut state, by, hands.machine.logic());
        self.close(state.node, Status::Pruned, 0, hands);
    }

    /// A path has ended.
    pub(crate) fn finish<M: Stepper>(&mut self, state: &mut State, mut end: End, hands: &mut Hands<M>) {
        // What was interrupted because the run halts, a query or another long operation, says nothing about the path.
        if let (End::Cut(Cut::Solver(_) | Cut::Interrupted), Some(why)) = (&end, self.halt.reason()) {
            end = End::Cut(why);
        }
        self.conclude(state, end, hands);
    }

    /// A path has ended, for the reason that is given.
    pub(crate) fn conclude<M: Stepper>(&mut self, state: &mut State, end: End, hands: &mut Hands<M>) {
        if let End::Error(e) = &end {
            let program = hands.machine.logic().program();
            self.met.insert(place_of(&program, state, e.kind));
        }
        let status = self.count(&end);
        let enough = self.config.limits.max_tests.is_some_and(|max| self.counters.tests >= max);
        let late = self.is_late();
        let skip_test = enough || late;
        let test = hands.sink.on_path_end(hands.machine, Ended { state, end: &end, node: state.node, skip_test });
        self.counters.tests += u64::from(test != 0);
        self.look_at_results(&end, hands.sink.stop());
        if !late {
            hands.pruner.ended(state, &end, hands.machine.logic());
        }
        self.close(state.node, status, test, hands);
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

    pub(crate) fn close<M: Stepper>(&mut self, leaf: NodeId, status: Status, test: u32, hands: &mut Hands<M>) {
        self.counters.share_done += self.shares[leaf.index()];
        // What is learned when the run is over covers nothing any more.
        let learns = !self.is_late();
        for node in self.tree.end(leaf, status, test) {
            if learns {
                hands.pruner.close(node, &self.tree, hands.machine.logic());
            }
            hands.sink.on_close(node, &self.tree);
        }
    }

    /// Ends all waiting states, oldest first.
    fn abandon<M: Stepper>(&mut self, why: &Cut, hands: &mut Hands<M>) {
        self.ending = Some(Instant::now());
        // Time may be short: those that have shown something new first.
        let (new, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.states).into_values().partition(|s| s.covered_new);
        for mut state in new.into_iter().chain(rest) {
            self.finish(&mut state, End::Cut(why.clone()), hands);
            // To take them all apart takes longer than to write the results.
            self.abandoned.push(state);
        }
    }

    /// A panic came out of the loop. What waits is cut, with its test; nobody learns from it.
    pub fn abandon_after_panic<M: Stepper>(&mut self, machine: &mut M, sink: &mut dyn Sink<M>) {
        let hands = &mut Hands { machine, sink, pruner: &mut NoPruner, change: Change::default() };
        let why = Cut::Stopped("a bug of the engine ended the run".into());
        self.stop.get_or_insert_with(|| why.clone());
        self.abandon(&why, hands);
        self.abandon_parked(&why, hands);
    }

    /// The run is over, and the time for tests of what was not finished, too.
    fn is_late(&self) -> bool {
        self.ending.is_some_and(|since| since.elapsed() > self.config.grace)
    }
}
