//! The loop and every strategy on made-up trees.

mod pruners;

use crate::run::bounded;
use crate::search::{SearchConfig, Strategy, Weight};
use crate::sink::{Ended, Progress, Sink};
use crate::step::{Child, Step, Stepper};
use crate::{Halt, Limits, Run, RunConfig, Seams};
use pleach_expr::{TermId, Terms};
use pleach_ir::{FuncId, Function, Program, Span, Target};
use pleach_memory::AddressSpace;
use pleach_state::pruner::{CostSampler, Interpolator, NoPruner, PruneDecision, Pruner, Subsumption};
use pleach_state::seams::{CheckedSearcher, Effort, PathOracle, SearchMetrics, Searcher, TermOracle, View};
use pleach_state::{Cut, End, ErrorKind, NoMerger, NodeId, ProgramError, State, StateId, Status, Tree};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

const ALL: &str =
    "dfs,bfs,random-state,random-path,nurs:covnew,nurs:md2u,nurs:depth,nurs:rp,nurs:icnt,nurs:cpicnt,nurs:qc,subtree";

/// Below every node of depth less than `depth`: `arity` subtrees and, at odd depths, a failing check. A state's place
/// is kept in `fresh`.
struct Synthetic {
    arity: u32,
    depth: u32,
    instructions: u64,
    /// plain steps before a fork
    pause: u64,
    /// places with forks that have other conditions when they are executed again, with those that were executed
    changing: Option<BTreeSet<u32>>,
    /// so often a state at every third place asks for a larger budget
    stubborn: u32,
    /// the memory limit is reached after each such attempt at a leaf
    presses: bool,
    /// search steps, 10 of them for each such attempt
    searched: u64,
    terms: Terms,
}

impl Synthetic {
    fn new(arity: u32, depth: u32) -> Synthetic {
        let (changing, terms) = (None, Terms::new(64));
        Synthetic { arity, depth, instructions: 0, pause: 2, changing, stubborn: 0, presses: false, searched: 0, terms }
    }
    fn initial(&self) -> State {
        State { fresh: 1, ..State::new(AddressSpace::new(64), FuncId(0), 0) }
    }
    fn level(&self, mut place: u32) -> u32 {
        let mut level = 0;
        while place > 1 {
            place = (place - 2) / self.arity + 1;
            level += 1;
        }
        level
    }
    fn leaves(&self) -> u64 {
        u64::from(self.arity.pow(self.depth))
    }
    fn errors(&self) -> u64 {
        (0..self.depth).filter(|d| d % 2 == 1).map(|d| u64::from(self.arity.pow(d))).sum()
    }
}

impl SearchMetrics for Synthetic {
    fn to_uncovered(&self, state: &State) -> Option<u32> {
        (!state.fresh.is_multiple_of(3)).then_some(state.fresh % 50)
    }
    fn visits(&self, state: &State) -> u64 {
        u64::from(state.fresh)
    }
}

impl Stepper for Synthetic {
    fn step(&mut self, state: &mut State, budget: u32) -> Step {
        assert!(budget > 0);
        self.searched += 1;
        if state.fresh.is_multiple_of(3) && state.budget_level() < self.stubborn {
            self.searched += 10;
            if self.presses && self.level(state.fresh) == self.depth {
                SHORT.set(true);
                // It is polled now and then only.
                std::thread::sleep(Duration::from_millis(5));
            }
            state.defer();
            return Step::Deferred;
        }
        self.instructions += 10;
        state.instructions += 10;
        state.since_new_coverage += 10;
        state.query_cost += 20_000;
        if !(state.instructions / 10).is_multiple_of(self.pause + 1) {
            return Step::Next;
        }
        let level = self.level(state.fresh);
        assert_eq!(level, state.depth);
        if level == self.depth {
            return Step::End(End::Exit(Some(0)));
        }
        let again = self.changing.as_mut().is_some_and(|seen| !seen.insert(state.fresh));
        let condition = if again { Terms::FALSE } else { Terms::TRUE };
        let child = |place, end| {
            let state = State { fresh: place, ..state.clone() };
            Child { block: state.block, state, condition, end }
        };
        let mut children: Vec<_> =
            (0..self.arity).map(|i| child((state.fresh - 1) * self.arity + 2 + i, None)).collect();
        if level % 2 == 1 {
            let error = ProgramError::new(ErrorKind::OobRead, "made up");
            children.insert(0, child(0, Some(End::Error(error))));
        }
        // Nothing may be expected of a state that was consumed.
        *state = State { node: NodeId::ROOT, ..self.initial() };
        Step::Fork(children)
    }
    fn instructions(&self) -> u64 {
        self.instructions
    }
    fn span(&self, _: &State) -> Span {
        Span::default()
    }
    fn logic(&mut self) -> &mut dyn PathOracle {
        self
    }
    fn blocks_covered(&self) -> u64 {
        0
    }
}

impl PathOracle for Synthetic {
    fn effort(&self) -> Effort {
        Effort { steps: self.searched, ..Effort::default() }
    }
    fn terms(&mut self) -> &mut Terms {
        &mut self.terms
    }
    fn program(&self) -> Rc<Program> {
        let mut program = Program::new(Target { triple: String::new(), pointer_bytes: 8 });
        program.functions.push(Function::default());
        Rc::new(program)
    }
    fn decided(&mut self, _: &State, _: TermId) -> Option<bool> {
        None
    }
    fn entails(&mut self, _: &State, _: TermId) -> bool {
        false
    }
    fn is_satisfiable_with(&mut self, _: &State, _: TermId) -> bool {
        false
    }
    fn split(&mut self) -> (&mut Terms, Box<dyn TermOracle + '_>) {
        unreachable!("no technique here makes queries")
    }
    fn constrain(&mut self, _: &mut State, _: TermId, _: &Rc<pleach_expr::Model>) {}
    fn depends_on_layout(&mut self, _: &State, _: TermId) -> bool {
        false
    }
    fn core(&mut self, _: &State, _: TermId, _: TermId) -> Option<Vec<TermId>> {
        None
    }
}

#[derive(Default)]
struct Recorder {
    /// places in the order they ended
    order: Vec<u32>,
    ends: BTreeMap<&'static str, u64>,
    closed: Vec<NodeId>,
    tests: u32,
    progress: u32,
}

impl Sink<Synthetic> for Recorder {
    fn on_path_end(&mut self, _: &mut Synthetic, ended: Ended) -> u32 {
        self.order.push(ended.state.fresh);
        let kind = match ended.end {
            End::Exit(_) => "exit",
            End::Silent => "silent",
            End::Error(_) => "error",
            End::Cut(_) => "cut",
        };
        *self.ends.entry(kind).or_default() += 1;
        if ended.skip_test && !matches!(ended.end, End::Error(_)) {
            return 0;
        }
        self.tests += 1;
        self.tests
    }
    fn on_close(&mut self, node: NodeId, _: &Tree) {
        self.closed.push(node);
    }
    fn on_progress(&mut self, _: &mut Synthetic, progress: Progress) {
        assert!(progress.counters.progress_share <= 1.000001);
        self.progress += 1;
    }
}

fn explore(machine: &mut Synthetic, search: &SearchConfig, config: RunConfig, halt: Halt) -> (Run, Recorder) {
    let (mut run, mut sink) = (Run::new(config, halt), Recorder::default());
    let mut searcher = CheckedSearcher::new(search.build().unwrap());
    let seams = Seams { searcher: &mut searcher, pruner: &mut NoPruner, merger: &mut NoMerger };
    run.explore(vec![machine.initial()], machine, &mut sink, seams);
    (run, sink)
}

fn search(names: &str, seed: u64) -> SearchConfig {
    SearchConfig { strategies: Strategy::parse_list(names).unwrap(), seed, ..SearchConfig::default() }
}

fn limited(limits: Limits) -> RunConfig {
    RunConfig { limits, ..RunConfig::default() }
}

#[test]
fn deferred_states_are_taken_up_again_by_every_strategy() {
    for names in ALL.split(',') {
        let mut machine = Synthetic { stubborn: 3, ..Synthetic::new(3, 5) };
        let (run, sink) = explore(&mut machine, &search(names, 3), RunConfig::default(), Halt::new());
        let c = &run.counters;
        assert_eq!((c.completed, c.errored), (machine.leaves(), machine.errors()), "{names}");
        assert!(c.is_complete() && c.deferred >= 3 * machine.leaves() / 3, "{names}: {}", c.deferred);
        assert_eq!(sink.closed.last(), Some(&NodeId::ROOT), "{names}: nothing closes before what waits below");
    }
}

#[test]
fn easy_states_come_before_deferred_ones() {
    // The places 2, 3 and 4 are leaves; 3 asks for more.
    for (stubborn, order) in [(0, [2, 3, 4]), (1, [2, 4, 3])] {
        let mut machine = Synthetic { stubborn, pause: 0, ..Synthetic::new(3, 1) };
        let (_, sink) = explore(&mut machine, &search("dfs", 1), RunConfig::default(), Halt::new());
        assert_eq!(sink.order, order);
    }
}

#[test]
fn every_strategy_explores_every_leaf_once() {
    let lists = ALL.split(',').map(str::to_owned).chain(["random-path,nurs:covnew".into(), ALL.into()]);
    for names in lists {
        for batch_instructions in [None, Some(35)] {
            let config = SearchConfig { batch_instructions, ..search(&names, 3) };
            let mut machine = Synthetic::new(3, 5);
            let (run, sink) = explore(&mut machine, &config, RunConfig::default(), Halt::new());
            let c = &run.counters;
            assert_eq!((c.completed, c.errored), (machine.leaves(), machine.errors()), "{names}");
            assert!(c.is_complete() && run.states.is_empty());
            assert!((c.progress_share - 1.0).abs() < 1e-9, "{names}: {}", c.progress_share);
            let mut places: Vec<u32> = sink.order.iter().copied().filter(|p| *p != 0).collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len() as u64, machine.leaves(), "{names}");
            assert_eq!(sink.closed.len(), run.tree.len(), "{names}: every node closes once");
            assert_eq!(sink.closed.last(), Some(&NodeId::ROOT));
            assert_eq!(c.deepest, 5);
            assert_eq!(c.instructions, machine.instructions);
        }
    }
}

#[test]
fn the_seed_decides_and_nothing_else() {
    for names in ALL.split(',').chain(["random-path,nurs:covnew", "random-path,subtree"]) {
        let order =
            |seed| explore(&mut Synthetic::new(2, 6), &search(names, seed), RunConfig::default(), Halt::new()).1.order;
        assert_eq!(order(5), order(5), "{names}");
        let random = !matches!(names, "dfs" | "bfs" | "subtree");
        assert_eq!(order(5) != order(6), random, "{names}");
    }
}

#[test]
fn depth_first_and_breadth_first_orders() {
    let order = |names| {
        let mut m = Synthetic { pause: 0, ..Synthetic::new(2, 2) };
        explore(&mut m, &search(names, 0), RunConfig::default(), Halt::new()).1.order
    };
    // Errors have place 0; leaves of the complete binary tree are 4 to 7.
    assert_eq!(order("dfs"), [0, 4, 5, 0, 6, 7]);
    assert_eq!(order("bfs"), [0, 0, 4, 5, 6, 7]);
}

#[test]
fn a_subtree_is_explored_depth_first_beside_others_and_left_if_it_does_not_end() {
    let machine = Synthetic::new(2, 2);
    let mut states = pleach_state::seams::States::new();
    for id in 1..=9 {
        let s = State { id: StateId(id), depth: id as u32, ..machine.initial() };
        states.insert(s.id, Box::new(s));
    }
    let tree = Tree::new();
    let view = View { states: &states, tree: &tree, statistics: &machine };
    let ids = |of: &[u64]| of.iter().map(|&s| StateId(s)).collect::<Vec<_>>();
    let mut s = search("subtree", 0).build().unwrap();
    let step = |s: &mut dyn Searcher, current: u64, added: &[u64]| {
        s.update(Some(StateId(current)), &ids(added), &ids(&[current]), view);
    };
    s.update(None, &ids(&[1]), &[], view);
    assert_eq!(s.select(view), Some(StateId(1)));
    step(&mut *s, 1, &[2, 3]);
    assert_eq!(s.select(view), Some(StateId(2)));
    // Another strategy goes on with its sibling, and a third comes from elsewhere.
    step(&mut *s, 3, &[4, 5]);
    s.update(Some(StateId(8)), &ids(&[9]), &[], view);
    assert_eq!(s.select(view), Some(StateId(2)));
    step(&mut *s, 2, &[6, 7]);
    assert_eq!(s.select(view), Some(StateId(6)));
    step(&mut *s, 6, &[]);
    step(&mut *s, 7, &[]);
    assert!([4, 5].contains(&s.select(view).unwrap().0), "the rest of the subtree comes before anything else");
    assert!((0..100_000).any(|_| s.select(view) == Some(StateId(9))));
}

#[test]
fn weights_are_ordered_as_the_formulas_say() {
    let machine = Synthetic::new(2, 2);
    let mut states = pleach_state::seams::States::new();
    let mut add = |id: u64, change: &dyn Fn(&mut State)| {
        let mut s = machine.initial();
        s.id = StateId(id);
        change(&mut s);
        states.insert(s.id, Box::new(s));
    };
    // In each case state 1 must be drawn nearly always.
    add(1, &|s| (s.depth, s.fresh, s.since_new_coverage, s.query_cost) = (60, 1, 1001, 0));
    add(2, &|s| (s.depth, s.fresh, s.since_new_coverage, s.query_cost) = (0, 49, 200_000, 90_000_000));
    let tree = Tree::new();
    let drawn = |weight| {
        let mut s =
            SearchConfig { strategies: vec![Strategy::Nurs(weight)], ..SearchConfig::default() }.build().unwrap();
        let view = View { states: &states, tree: &tree, statistics: &machine };
        s.update(None, &[StateId(1), StateId(2)], &[], view);
        (0..100).filter(|_| s.select(view) == Some(StateId(1))).count()
    };
    use Weight::*;
    for weight in [Depth, InstCount, QueryCost, MinDistToUncovered, CoveringNew] {
        assert!(drawn(weight) > 90, "{weight:?}: {}", drawn(weight));
    }
    assert_eq!(drawn(RandomPath), 0);
    let equal = drawn(CallPathInstCount);
    assert!((30..70).contains(&equal), "{equal}");
}

/// Has no state to offer.
struct DroppingSearcher;
impl Searcher for DroppingSearcher {
    fn select(&mut self, _: View) -> Option<StateId> {
        None
    }
    fn update(&mut self, _: Option<StateId>, _: &[StateId], _: &[StateId], _: View) {}
    fn name(&self) -> String {
        "forgetful".into()
    }
}

#[test]
fn a_searcher_that_forgets_does_not_make_a_run_complete() {
    let mut machine = Synthetic::new(2, 4);
    let (mut run, mut sink) = (Run::new(RunConfig::default(), Halt::new()), Recorder::default());
    let seams = Seams { searcher: &mut DroppingSearcher, pruner: &mut NoPruner, merger: &mut NoMerger };
    run.explore(vec![machine.initial()], &mut machine, &mut sink, seams);
    assert!(!run.counters.is_complete());
    assert_eq!(run.counters.cut, 1);
}

#[test]
fn limits_cut_and_say_so() {
    let cases: [(Limits, Cut); 5] = [
        (Limits { max_instructions: Some(500), ..Limits::default() }, Cut::Instructions),
        (Limits { max_forks: Some(5), ..Limits::default() }, Cut::Forks),
        (Limits { max_depth: Some(2), ..Limits::default() }, Cut::Depth),
        (Limits { max_tests: Some(7), ..Limits::default() }, Cut::Tests),
        (Limits { max_time: Some(Duration::ZERO), ..Limits::default() }, Cut::Time),
    ];
    for (limits, why) in cases {
        for names in ["dfs", "random-path,nurs:covnew"] {
            let (run, sink) =
                explore(&mut Synthetic::new(3, 6), &search(names, 0), limited(limits.clone()), Halt::new());
            let c = &run.counters;
            assert_eq!(c.cuts.keys().collect::<Vec<_>>(), [&why], "{names}");
            assert_eq!(c.cuts[&why], c.cut);
            assert_eq!(c.paths(), sink.order.len() as u64);
            assert!(run.states.is_empty() && run.tree.node(NodeId::ROOT).tainted);
            assert!(run.tree.nodes().all(|(_, n)| n.status != Status::Open));
            match why {
                Cut::Instructions => assert!((500..560).contains(&c.instructions)),
                Cut::Depth => assert_eq!((c.completed, c.cut, c.deepest), (0, 27, 2)),
                Cut::Forks => assert!(c.completed > 0),
                Cut::Tests => assert!(c.tests == 7),
                _ => {}
            }
        }
    }
}

#[test]
fn a_halt_from_outside_and_a_first_error_stop_the_run() {
    let halt = Halt::new();
    halt.interrupt();
    let (run, _) = explore(&mut Synthetic::new(2, 3), &search("dfs", 0), RunConfig::default(), halt);
    assert_eq!(run.counters.cuts, [(Cut::Interrupted, 1)].into());
    let limits = Limits { exit_on_error: true, ..Limits::default() };
    let (run, _) = explore(&mut Synthetic::new(2, 6), &search("dfs", 0), limited(limits), Halt::new());
    assert_eq!(run.counters.errored, 1);
    assert!(matches!(run.counters.cuts.keys().next(), Some(Cut::Stopped(why)) if why.contains("--exit-on-error")));
    let limits = Limits { exit_on_error_type: vec![ErrorKind::Null], ..Limits::default() };
    let (run, _) = explore(&mut Synthetic::new(2, 6), &search("dfs", 0), limited(limits), Halt::new());
    assert!(run.counters.is_complete() && run.counters.errored > 1);
}

#[test]
fn short_memory_drops_states_and_counts_them() {
    // Twice what is allowed, always: in the end every state goes.
    let config = RunConfig {
        memory: || Some(200_000_000),
        limits: Limits { max_memory: Some(100), ..Limits::default() },
        ..RunConfig::default()
    };
    let mut machine = Synthetic { pause: 3_000_000, ..Synthetic::new(2, 12) };
    let (run, _) = explore(&mut machine, &search("random-state", 0), config, Halt::new());
    assert_eq!(run.counters.cuts.keys().collect::<Vec<_>>(), [&Cut::Memory]);
    assert!(run.states.is_empty());
}

/// Memory that is above its limit the first two times it is polled.
fn short_at_first() -> Option<u64> {
    use std::sync::atomic::{AtomicU32, Ordering};
    static LOOKS: AtomicU32 = AtomicU32::new(0);
    Some(if LOOKS.fetch_add(1, Ordering::Relaxed) < 2 { 200_000_000 } else { 1 })
}

#[test]
fn parked_states_are_made_again_and_no_path_is_lost() {
    let plain = |memory: fn() -> Option<u64>, limits: Limits| {
        let config = RunConfig { memory, limits, ..RunConfig::default() };
        let mut machine = Synthetic { pause: 50_000, ..Synthetic::new(2, 8) };
        explore(&mut machine, &search("bfs", 0), config, Halt::new()).0
    };
    let all = plain(|| Some(1), Limits::default());
    let run = plain(short_at_first, Limits { max_memory: Some(100), ..Limits::default() });
    assert!(run.counters.evicted > 0, "the memory limit was reached, so states were evicted");
    assert!(run.counters.is_complete());
    assert_eq!((run.counters.completed, run.counters.errored), (all.counters.completed, all.counters.errored));
}

thread_local! {
    static SHORT: Cell<bool> = const { Cell::new(false) };
}

#[test]
fn deferred_states_are_evicted_first_and_keep_their_budgets() {
    for (depth, deferred) in [(1, Some(3)), (3, None)] {
        let config = RunConfig {
            memory: || Some(if SHORT.take() { 101_000_000 } else { 1 }),
            limits: Limits { max_memory: Some(100), ..Limits::default() },
            ..RunConfig::default()
        };
        let halt = Halt::new();
        halt.short().store(true, std::sync::atomic::Ordering::Relaxed);
        let mut machine = Synthetic { stubborn: 3, pause: 0, presses: true, ..Synthetic::new(3, depth) };
        let (run, _) = explore(&mut machine, &search("bfs", 0), config, halt);
        let c = &run.counters;
        assert!(c.is_complete(), "{:?}", c.cuts);
        assert_eq!((c.completed, c.errored), (machine.leaves(), machine.errors()));
        assert!(c.evicted > 0 && deferred.is_none_or(|n| n == c.deferred && n == c.evicted), "{c:?}");
    }
}

#[test]
fn a_parked_state_that_comes_back_on_another_path_is_cut() {
    let config = RunConfig {
        memory: || {
            use std::sync::atomic::{AtomicU32, Ordering};
            static LOOKS: AtomicU32 = AtomicU32::new(0);
            Some(if LOOKS.fetch_add(1, Ordering::Relaxed) < 2 { 200_000_000 } else { 1 })
        },
        limits: Limits { max_memory: Some(100), ..Limits::default() },
        ..RunConfig::default()
    };
    let mut machine = Synthetic { pause: 50_000, changing: Some(BTreeSet::new()), ..Synthetic::new(2, 8) };
    let (run, _) = explore(&mut machine, &search("bfs", 0), config, Halt::new());
    assert!(run.counters.evicted > 0);
    assert_eq!(run.counters.cuts, [(Cut::Memory, run.counters.evicted)].into());
}
