//! The query and its answer.

use crate::clock::{Clock, OUT_OF_TIME, cpu_time};
use crate::conjunctive::{self, Form, Solve};
use crate::cut::CutReason;
use crate::disjunctive::{self, Disjuncts};
use crate::facts::Facts;
use crate::graph::{Bounds, Builder, Callees, Context, Detail, FrameId, Goal, Goals, Graph, Loops, NodeId};
use crate::heap::InputHeap;
use crate::layout::Layout;
use crate::pointers::Pointers;
use crate::search::{Aim, Found, Search};
use crate::transfer::{Transfer, Translator};
use pleach_expr::Terms;
use pleach_ir::callgraph::CallGraph;
use pleach_ir::cfg::Cfg;
use pleach_ir::dominators::Dominators;
use pleach_ir::loops::{LoopId, Loops as NaturalLoops};
use pleach_ir::{Callee, FuncId, Inst, Program, Ty};
use pleach_smt::{BackendKind, Session, SolverConfig};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Which of the two styles, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    Disjunctive(Disjuncts),
    Conjunctive(Solve),
}

impl Style {
    /// All, with their names and what a node has.
    pub const ALL: [(&str, &str, Style); 6] = [
        ("disjunctive-set", "A set of disjuncts per node", Style::Disjunctive(Disjuncts::Set)),
        ("disjunctive-whole", "One disjunction per node", Style::Disjunctive(Disjuncts::Whole)),
        (
            "disjunctive-combined",
            "A set per node, one disjunction where paths join",
            Style::Disjunctive(Disjuncts::Combined),
        ),
        ("conjunctive-never", "One condition per node; one query at the entry", Style::Conjunctive(Solve::Never)),
        ("conjunctive-always", "One condition per node; a query at each", Style::Conjunctive(Solve::Always)),
        (
            "conjunctive-loops",
            "One condition per node; a query at each head of a loop",
            Style::Conjunctive(Solve::Loops),
        ),
    ];
}

#[derive(Clone, Debug)]
pub struct Config {
    /// Default: conjunctive, solving at loops.
    pub style: Style,
    /// Iterations of each loop. Default: 8.
    pub unwind: u32,
    /// Calls inside calls that are inlined. Default: 4.
    pub inline: u32,
    /// Calls on the way to a goal that are inlined beyond that. Default: 0.
    pub climb: u32,
    /// Default: the start of the program.
    pub context: Context,
    /// First try each loop as one pass from any state. Default: yes.
    pub abstract_loops: bool,
    /// Nodes of an unwound graph. Default: 20,000.
    pub max_nodes: usize,
    /// Time for one target. Default: any.
    pub time: Option<Duration>,
    /// When all targets have to be answered. Default: never.
    pub deadline: Option<Instant>,
    /// Default: Bitwuzla.
    pub backend: BackendKind,
    /// The program's calls, for many targets of one program. Default: computed for each.
    pub calls: Option<Arc<CallGraph>>,
    /// States of the entry from which the goals are not reached. Default: none are known.
    pub facts: Option<Rc<Facts>>,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            style: Style::Conjunctive(Solve::Loops),
            unwind: 8,
            inline: 4,
            climb: 0,
            context: Context::Start,
            abstract_loops: true,
            max_nodes: 20_000,
            time: None,
            deadline: None,
            backend: BackendKind::Bitwuzla,
            calls: None,
            facts: None,
        }
    }
}

/// What was found out about the goals.
#[derive(Clone, PartialEq, Debug)]
pub enum Answer {
    /// The input leads there, if whoever was asked confirmed it.
    Reachable(InputHeap),
    /// No execution without an error on its way comes there.
    Unreachable {
        unbounded: bool,
    },
    /// None within the bounds; beyond them nothing is known.
    UnreachableWithin(Vec<CutReason>),
    Unknown(String),
}

/// How much was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effort {
    pub nodes: usize,
    pub checks: u64,
    pub solver: Duration,
    /// CPU time until the goals were decided; without finding out what lies beyond the bounds of the last graph
    pub goals: Duration,
    pub time: Duration,
    /// CPU time of it all
    pub cpu: Duration,
    /// CPU time of the process when the query began
    begun: Duration,
}

impl Effort {
    pub(crate) fn of_survey(nodes: usize, checks: u64, cpu: Duration) -> Effort {
        Effort { nodes, checks, goals: cpu, time: cpu, cpu, ..Effort::default() }
    }
}

/// Whether the model that found a candidate has more executions than the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exactness {
    Exact,
    Abstracted,
}

/// What became of a candidate.
pub enum Confirmation {
    Confirmed,
    /// with the reason
    Refuted(String),
}

pub fn decide(
    program: &Program,
    entry: FuncId,
    goals: &BTreeSet<Goal>,
    config: &Config,
    confirm: &mut dyn FnMut(&InputHeap, Exactness) -> Confirmation,
) -> (Answer, Effort) {
    let start = Instant::now();
    let mut effort = Effort { begun: cpu_time(), ..Effort::default() };
    let clock = Clock::new(config.time, config.deadline);
    let answer = within(program, entry, goals, config, confirm, &mut effort, clock);
    effort.time = start.elapsed();
    effort.cpu = cpu_time().saturating_sub(effort.begun);
    (answer, effort)
}

fn within(
    program: &Program,
    entry: FuncId,
    goals: &BTreeSet<Goal>,
    config: &Config,
    confirm: &mut dyn FnMut(&InputHeap, Exactness) -> Confirmation,
    effort: &mut Effort,
    clock: Clock,
) -> Answer {
    let f = program.function(entry);
    if f.is_declaration() {
        return Answer::Unknown(format!("{} has no body", f.name));
    }
    if f.params.iter().any(|p| p.byval.is_some()) {
        return Answer::Unknown("unsupported: a structure passed by value to the entry".into());
    }
    if program.target.pointer_bytes != 8 {
        return Answer::Unknown("unsupported: pointers of 32 bits".into());
    }
    if clock.is_over() {
        return Answer::Unknown(OUT_OF_TIME.into());
    }
    let mut run = Run { program, entry, goals, config, confirm, effort, refuted: None };
    let half = clock.half();
    let whole = graph(program, entry, goals, config, run.first_loops(), half);
    if whole.nodes.len() > SMALL
        && let Some(answer) = run.in_small(clock.half())
    {
        return answer;
    }
    if config.abstract_loops
        && let Some(answer) = run.abstracted(&whole, clock.half())
    {
        return answer;
    }
    if !whole.has_havoc && !half.is_over() {
        return run.unwound(&whole, clock);
    }
    let whole = graph(program, entry, goals, config, Loops::Unwind(config.unwind), clock);
    run.unwound(&whole, clock)
}

/// Graphs of more nodes are tried with small bounds first.
const SMALL: usize = 1000;
/// Those bounds: iterations, and calls inside calls.
const SMALL_BOUNDS: (u32, u32) = (2, 1);

/// One query while it is decided.
struct Run<'a> {
    program: &'a Program,
    entry: FuncId,
    goals: &'a BTreeSet<Goal>,
    config: &'a Config,
    confirm: &'a mut dyn FnMut(&InputHeap, Exactness) -> Confirmation,
    effort: &'a mut Effort,
    /// an input that did not do what it should, and what it did
    refuted: Option<(InputHeap, String)>,
}

impl Run<'_> {
    fn first_loops(&self) -> Loops {
        if self.config.abstract_loops { Loops::Havoc } else { Loops::Unwind(self.config.unwind) }
    }

    /// What small bounds decide; they are exceeded where the bounds are not.
    fn in_small(&mut self, clock: Clock) -> Option<Answer> {
        let (unwind, inline) = SMALL_BOUNDS;
        let (unwind, inline) = (unwind.min(self.config.unwind), inline.min(self.config.inline));
        let config = Config { unwind, inline, ..self.config.clone() };
        let (program, entry, goals) = (self.program, self.entry, self.goals);
        let graph_of = |loops, clock| graph(program, entry, goals, &config, loops, clock);
        if config.abstract_loops {
            let small = graph_of(Loops::Havoc, clock.half());
            if let Some(answer) = self.abstracted(&small, clock.half()) {
                return Some(answer);
            }
        }
        let small = graph_of(Loops::Unwind(unwind), clock);
        match ask(self.program, &small, &config, Exactness::Exact, clock, self.effort) {
            (Found::No, cuts) if cuts.is_empty() => Some(Answer::Unreachable { unbounded: false }),
            (Found::Yes(heap), _) => match (self.confirm)(&heap, Exactness::Exact) {
                Confirmation::Confirmed => Some(Answer::Reachable(heap)),
                Confirmation::Refuted(_) => None,
            },
            _ => None,
        }
    }

    /// With each loop as one pass from any state.
    fn abstracted(&mut self, graph: &Graph, clock: Clock) -> Option<Answer> {
        if !graph.has_havoc || !may_abstract(self.program, graph) {
            return None;
        }
        match ask(self.program, graph, self.config, Exactness::Abstracted, clock, self.effort) {
            (Found::No, cuts) if cuts.is_empty() => Some(Answer::Unreachable { unbounded: true }),
            (Found::Yes(heap), _) => match (self.confirm)(&heap, Exactness::Abstracted) {
                Confirmation::Confirmed => Some(Answer::Reachable(heap)),
                Confirmation::Refuted(why) => {
                    self.refuted = Some((heap, why));
                    None
                }
            },
            _ => None,
        }
    }

    fn unwound(&mut self, graph: &Graph, clock: Clock) -> Answer {
        match ask(self.program, graph, self.config, Exactness::Abstracted, clock, self.effort) {
            (Found::Unknown(why), _) => Answer::Unknown(why),
            (Found::No, cuts) if cuts.is_empty() => Answer::Unreachable { unbounded: false },
            (Found::No, cuts) => Answer::UnreachableWithin(cuts),
            (Found::Yes(heap), cuts) => {
                let again = self.refuted.take().filter(|(old, _)| *old == heap).map(|(_, why)| why);
                let exact = cuts.iter().all(CutReason::ends_path);
                let kind = if exact { Exactness::Exact } else { Exactness::Abstracted };
                let why = match again.map_or_else(|| (self.confirm)(&heap, kind), Confirmation::Refuted) {
                    Confirmation::Confirmed => return Answer::Reachable(heap),
                    Confirmation::Refuted(why) => why,
                };
                // Another input may do without what is approximated.
                if !exact
                    && let (Found::Yes(heap), _) =
                        ask(self.program, graph, self.config, Exactness::Exact, clock, self.effort)
                    && let Confirmation::Confirmed = (self.confirm)(&heap, Exactness::Exact)
                {
                    return Answer::Reachable(heap);
                }
                Answer::Unknown(cuts.first().map_or_else(|| why.clone(), |cut| format!("{why} ({cut})")))
            }
        }
    }
}

/// Rounds in which calls through pointers are resolved; later ones are cut.
const ROUNDS: usize = 4;

pub(crate) fn graph(
    program: &Program,
    entry: FuncId,
    goals: &BTreeSet<Goal>,
    config: &Config,
    loops: Loops,
    clock: Clock,
) -> Graph {
    let Config { inline, climb, context, max_nodes: nodes, .. } = *config;
    let bounds = Bounds { loops, inline, climb, context, clock, nodes, detail: Detail::Blocks, goals: Goals::Anywhere };
    let calls = config.calls.clone().unwrap_or_else(|| Arc::new(CallGraph::new(program)));
    let mut callees = Callees::default();
    let mut graph = Builder::new(program, goals, bounds, &callees, &calls).build(entry);
    let through_pointer = |i: &Inst| matches!(i, Inst::Call { callee: Callee::Indirect(_), .. });
    for _ in 0..ROUNDS {
        if !graph.frames.iter().any(|f| program.function(f.func).insts.iter().any(through_pointer)) {
            break;
        }
        let Ok(mut pointers) = Pointers::new(program, &graph, clock) else { break };
        let mut more = false;
        for (call, found) in pointers.callees() {
            let known = callees.entry(call).or_default();
            more |= !found.is_subset(known);
            known.extend(found);
        }
        if !more {
            break;
        }
        graph = Builder::new(program, goals, bounds, &callees, &calls).build(entry);
    }
    graph
}

/// The goals, and if they are not reached: what was cut on the way to them that an execution can come to. If they are:
/// all that is cut.
fn ask(
    program: &Program,
    graph: &Graph,
    config: &Config,
    exact: Exactness,
    clock: Clock,
    effort: &mut Effort,
) -> (Found, Vec<CutReason>) {
    let unknown = |why: String| (Found::Unknown(why), Vec::new());
    effort.nodes = graph.nodes.len();
    let mut pointers = match Pointers::new(program, graph, clock) {
        Ok(pointers) => pointers,
        Err(why) => return unknown(why.into()),
    };
    let layout = match Layout::new(&mut pointers) {
        Ok(layout) => layout,
        Err(why) => return unknown(format!("unsupported: {why}")),
    };
    let mut terms = Terms::new(64);
    let mut translator = Translator::new(&mut terms, graph, pointers, layout);
    translator.exact = exact == Exactness::Exact;
    translator.facts = config.facts.clone();
    let Some(transfers) = translator.all(clock) else { return unknown(OUT_OF_TIME.into()) };
    let solver = SolverConfig { timeout: clock.left(), ..SolverConfig::bare(config.backend) };
    let open = || Session::open(config.backend, &solver);
    let session = match open() {
        Ok(session) => session,
        Err(why) => return unknown(why.to_string()),
    };
    let mut search = Search { translator, session, clock, equates_arrays: false };
    let found = run(&mut search, graph, &transfers, Aim::Goals, config.style);
    effort.goals = cpu_time().saturating_sub(effort.begun);
    count(effort, &search.session);
    let reasons = |transfers: &[Transfer]| -> Vec<CutReason> {
        let all: BTreeSet<CutReason> = transfers.iter().flat_map(|t| t.cuts.iter().map(|c| c.1.clone())).collect();
        all.into_iter().collect()
    };
    let all = reasons(&transfers);
    if !matches!(found, Found::No) || all.is_empty() {
        return (found, all);
    }
    let mut reached = |aim: Aim| -> Result<bool, String> {
        search.session = open().map_err(|why| why.to_string())?;
        let beyond = run(&mut search, graph, &transfers, aim, config.style);
        count(effort, &search.session);
        if clock.is_over() && !matches!(beyond, Found::No) {
            return Err(format!("{OUT_OF_TIME} while what lies beyond the bounds was looked at"));
        }
        Ok(!matches!(beyond, Found::No))
    };
    // SOUND: a cut that cannot be excluded counts as reached.
    match reached(Aim::Cuts) {
        Err(why) => return unknown(why),
        Ok(false) => return (found, Vec::new()),
        Ok(true) => {}
    }
    let (bounds, others): (Vec<CutReason>, Vec<CutReason>) = all.into_iter().partition(CutReason::is_bound);
    if others.is_empty() {
        return (found, bounds);
    }
    match reached(Aim::Unsupported) {
        Ok(false) => (found, bounds),
        Ok(true) => {
            let others: Vec<String> = others.iter().map(ToString::to_string).collect();
            unknown(others.join("; "))
        }
        Err(why) => unknown(why),
    }
}

fn count(effort: &mut Effort, session: &Session) {
    effort.checks += session.checks();
    effort.solver += session.time();
}

fn run(search: &mut Search, graph: &Graph, transfers: &[Transfer], aim: Aim, style: Style) -> Found {
    match style {
        Style::Disjunctive(how) => disjunctive::run(search, graph, transfers, aim, how),
        Style::Conjunctive(solve) => {
            conjunctive::run(search, graph, transfers, aim, solve, Form::Joined, &mut |_, _| {})
        }
    }
}

/// A loop stands for all its iterations only if each object in it is one: nothing is allocated or freed.
fn may_abstract(program: &Program, graph: &Graph) -> bool {
    let in_loop = |n: NodeId| in_some_loop(program, graph, n);
    graph.order.iter().all(|&n| {
        let node = graph.node(n);
        let f = graph.function(program, node.frame);
        let bound = |i: usize| match &f.insts[i] {
            Inst::Alloca { .. } => true,
            Inst::Call { callee: pleach_ir::Callee::Direct(g), .. } => {
                matches!(program.function(*g).name.as_str(), "malloc" | "calloc" | "realloc" | "free")
            }
            _ => false,
        };
        !node.insts.clone().any(bound) || !in_loop(n)
    })
}

pub(crate) fn in_some_loop(program: &Program, graph: &Graph, n: NodeId) -> bool {
    let mut at = Some((graph.node(n).frame, graph.node(n).block));
    while let Some((frame, block)) = at {
        let f = graph.function(program, frame);
        if natural(f).innermost(block).is_some() {
            return true;
        }
        at = graph.frames[frame.index()].caller.as_ref().map(|c| (c.frame, graph.node(c.node).block));
    }
    false
}

fn natural(f: &pleach_ir::Function) -> NaturalLoops {
    let cfg = Cfg::new(f);
    NaturalLoops::new(&cfg, &Dominators::new(&cfg))
}

/// The nodes of a loop of a frame, those of calls in it included.
pub(crate) fn nodes_in_loop(graph: &Graph, program: &Program, frame: FrameId, l: LoopId) -> Vec<NodeId> {
    let loops = natural(graph.function(program, frame));
    let body = loops.get(l);
    let inside = |n: &NodeId| {
        let node = graph.node(*n);
        let mut at = Some((node.frame, node.block));
        while let Some((f, b)) = at {
            if f == frame {
                return body.contains(b);
            }
            at = graph.frames[f.index()].caller.as_ref().map(|c| (c.frame, graph.node(c.node).block));
        }
        false
    };
    graph.order.iter().copied().filter(inside).collect()
}

/// What has to be assumed of the entry's input, as text.
pub fn assumptions(program: &Program, entry: FuncId, calls: &CallGraph) -> Vec<String> {
    let f = program.function(entry);
    let mut all = Vec::new();
    if f.params.iter().any(|p| p.ty == Ty::Ptr) {
        all.push(
            "pointers of the input are null or point to the start of an object of their type (one structure, or eight \
             scalars)"
                .to_owned(),
        );
    }
    if may_allocate(program, entry, calls) {
        all.push(ALLOCATIONS_SUCCEED.to_owned());
    }
    all
}

/// The assumption that is not about the input.
pub const ALLOCATIONS_SUCCEED: &str = "allocations succeed";

/// Whether a call of the function may come to one of the functions of the heap.
fn may_allocate(program: &Program, entry: FuncId, calls: &CallGraph) -> bool {
    const ALLOCATE: [&str; 7] = ["malloc", "calloc", "realloc", "reallocarray", "aligned_alloc", "strdup", "strndup"];
    let (mut todo, mut seen) = (vec![entry], BTreeSet::new());
    while let Some(f) = todo.pop() {
        if seen.insert(f) {
            if ALLOCATE.contains(&program.function(f).name.as_str()) {
                return true;
            }
            todo.extend(calls.callees(f));
        }
    }
    false
}
