//! The query and its answer.

use crate::conjunctive::{self, Solve};
use crate::cut::CutReason;
use crate::disjunctive::{self, Disjuncts};
use crate::graph::{Bounds, Builder, FrameId, Goal, Graph, Loops, NodeId};
use crate::heap::InputHeap;
use crate::layout::Layout;
use crate::pointers::Pointers;
use crate::search::{Aim, Found, Search};
use crate::transfer::{Transfer, Translator};
use pleach_expr::Terms;
use pleach_ir::cfg::Cfg;
use pleach_ir::dominators::Dominators;
use pleach_ir::loops::{LoopId, Loops as NaturalLoops};
use pleach_ir::{FuncId, Inst, Program, Ty};
use pleach_smt::{BackendKind, Session, SolverConfig};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Which of the two styles, and how.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Style {
    Disjunctive(Disjuncts),
    Conjunctive(Solve),
}

#[derive(Clone, Debug)]
pub struct Config {
    /// Default: conjunctive, solving at loops.
    pub style: Style,
    /// Iterations of each loop. Default: 8.
    pub unwind: u32,
    /// Calls inside calls that are inlined. Default: 4.
    pub inline: u32,
    /// First try each loop as one pass from any state. Default: yes.
    pub abstract_loops: bool,
    /// Nodes of an unwound graph. Default: 20,000.
    pub max_nodes: usize,
    /// Time for one query. Default: none.
    pub time: Option<Duration>,
    /// Default: Bitwuzla.
    pub backend: BackendKind,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            style: Style::Conjunctive(Solve::Loops),
            unwind: 8,
            inline: 4,
            abstract_loops: true,
            max_nodes: 20_000,
            time: None,
            backend: BackendKind::Bitwuzla,
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
    /// until the goals were decided, in the last graph; without finding out what lies beyond the bounds
    pub goals: Duration,
    pub time: Duration,
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
    let mut effort = Effort::default();
    let answer = within(program, entry, goals, config, confirm, &mut effort, start);
    effort.time = start.elapsed();
    (answer, effort)
}

fn within(
    program: &Program,
    entry: FuncId,
    goals: &BTreeSet<Goal>,
    config: &Config,
    confirm: &mut dyn FnMut(&InputHeap, Exactness) -> Confirmation,
    effort: &mut Effort,
    start: Instant,
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
    let deadline = config.time.map(|t| start + t);
    let mut refuted = None;
    if config.abstract_loops {
        let graph = graph(program, entry, goals, config, Loops::Havoc);
        if graph.has_havoc && may_abstract(program, &graph) {
            match ask(program, &graph, config, Exactness::Abstracted, deadline, effort) {
                (Found::No, cuts) if cuts.is_empty() => return Answer::Unreachable { unbounded: true },
                (Found::Yes(heap), _) => match confirm(&heap, Exactness::Abstracted) {
                    Confirmation::Confirmed => return Answer::Reachable(heap),
                    Confirmation::Refuted(why) => refuted = Some((heap, why)),
                },
                _ => {}
            }
        }
    }
    let graph = graph(program, entry, goals, config, Loops::Unwind(config.unwind));
    match ask(program, &graph, config, Exactness::Abstracted, deadline, effort) {
        (Found::Unknown(why), _) => Answer::Unknown(why),
        (Found::No, cuts) if cuts.is_empty() => Answer::Unreachable { unbounded: false },
        (Found::No, cuts) => Answer::UnreachableWithin(cuts),
        (Found::Yes(heap), cuts) => {
            let again = refuted.filter(|(old, _)| *old == heap).map(|(_, why)| why);
            let exact = cuts.iter().all(CutReason::ends_path);
            let kind = if exact { Exactness::Exact } else { Exactness::Abstracted };
            let why = match again.map_or_else(|| confirm(&heap, kind), Confirmation::Refuted) {
                Confirmation::Confirmed => return Answer::Reachable(heap),
                Confirmation::Refuted(why) => why,
            };
            // Another input may do without what is approximated.
            if !exact
                && let (Found::Yes(heap), _) = ask(program, &graph, config, Exactness::Exact, deadline, effort)
                && let Confirmation::Confirmed = confirm(&heap, Exactness::Exact)
            {
                return Answer::Reachable(heap);
            }
            Answer::Unknown(cuts.first().map_or_else(|| why.clone(), |cut| format!("{why} ({cut})")))
        }
    }
}

fn graph(program: &Program, entry: FuncId, goals: &BTreeSet<Goal>, config: &Config, loops: Loops) -> Graph {
    let bounds = Bounds { loops, inline: config.inline, nodes: config.max_nodes };
    Builder::new(program, goals, bounds).build(entry)
}

/// The goals, and if they are not reached: what was cut on the way to them that an execution can come to. If they are:
/// all that is cut.
fn ask(
    program: &Program,
    graph: &Graph,
    config: &Config,
    exact: Exactness,
    deadline: Option<Instant>,
    effort: &mut Effort,
) -> (Found, Vec<CutReason>) {
    let start = Instant::now();
    let unknown = |why: String| (Found::Unknown(why), Vec::new());
    effort.nodes = graph.nodes.len();
    let Some(mut pointers) = Pointers::new(program, graph) else {
        return unknown("the analysis of pointers does not end".into());
    };
    let layout = match Layout::new(&mut pointers) {
        Ok(layout) => layout,
        Err(why) => return unknown(format!("unsupported: {why}")),
    };
    let mut terms = Terms::new(64);
    let mut translator = Translator::new(&mut terms, graph, pointers, layout);
    translator.exact = exact == Exactness::Exact;
    let transfers = translator.all();
    let solver = SolverConfig { timeout: config.time, ..SolverConfig::bare(config.backend) };
    let open = || Session::open(config.backend, &solver);
    let session = match open() {
        Ok(session) => session,
        Err(why) => return unknown(why.to_string()),
    };
    let mut search = Search { translator, session, deadline };
    let found = run(&mut search, graph, &transfers, Aim::Goals, config.style);
    effort.goals = start.elapsed();
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
        Style::Conjunctive(solve) => conjunctive::run(search, graph, transfers, aim, solve),
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
                matches!(program.function(*g).name.as_str(), "malloc" | "calloc" | "free")
            }
            _ => false,
        };
        !node.insts.clone().any(bound) || !in_loop(n)
    })
}

fn in_some_loop(program: &Program, graph: &Graph, n: NodeId) -> bool {
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
pub fn assumptions(program: &Program, entry: FuncId) -> Vec<String> {
    let f = program.function(entry);
    let mut all = Vec::new();
    if f.params.iter().any(|p| p.ty == Ty::Ptr) {
        all.push(
            "pointers of the input are null or point to the start of an object of their type (one structure, or eight \
             scalars)"
                .to_owned(),
        );
    }
    all
}
