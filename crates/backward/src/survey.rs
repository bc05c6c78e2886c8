//! All targets of a function at once: what is refuted near the target, and candidates for the rest.
//!
//! *Idea*: graph, pointers and the meaning of nodes are made once for a function, with a goal at each target. Loops are
//! one pass from any state; calls that are not followed, pointers of which nothing is known and copies of unknown length
//! have any effect. So there are more executions than in the program, and none is missing: a target that is refuted here
//! is refuted for any number of iterations. From each target the walk goes backward. At a node that every path to the
//! target passes, the solver is queried whether the target can be reached from there, whatever was before: first near the
//! target, then at twice the distance, last at the entry. With loops unwound only candidates are looked for. *Invariant*: a refuted target is reached by no execution of the
//! entry that has no error before it, under the assumptions that are given with the answer.

use crate::clock::{Clock, OUT_OF_TIME};
use crate::conjunctive::{State, merge, ways_to};
use crate::decide::{Config, Effort};
use crate::effects::Effects;
use crate::graph::{Bounds, Builder, Callees, Context, Detail, FrameId, Goal, Goals, Graph, Loops, NodeId, Role};
use crate::heap::InputHeap;
use crate::layout::Layout;
use crate::pointers::{Covering, Group, GroupId, Pointers};
use crate::search::{Found, Search};
use crate::transfer::{Transfer, Translator};
use pleach_expr::{TermId, Terms};
use pleach_ir::callgraph::CallGraph;
use pleach_ir::{FuncId, Inst, Program};
use pleach_smt::{Satisfiability, Session, SolverConfig};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// What was found out about one target.
#[derive(Clone, PartialEq, Debug)]
pub enum Surveyed {
    /// No execution reaches it, whatever the number of iterations.
    Refuted,
    /// An input that may reach it: what is between has more executions than the program.
    Candidate(InputHeap),
    Open(String),
}

/// How a function is looked at.
pub struct SurveyOptions<'c> {
    pub config: &'c Config,
    pub effects: Arc<Effects>,
    pub calls: Arc<CallGraph>,
    pub loops: Loops,
    /// calls inside calls that are followed
    pub inline: u32,
    /// time for the whole function
    pub clock: Clock,
    /// and for each target
    pub each: Option<Duration>,
}

/// `found` gets the number of each target, what was found out, and how much was done for it. The result: what was
/// assumed, or why the function cannot be looked at.
pub fn survey(
    program: &Program,
    entry: FuncId,
    targets: &[BTreeSet<Goal>],
    look: &SurveyOptions,
    found: &mut dyn FnMut(usize, Surveyed, Effort),
) -> Result<Vec<String>, String> {
    let f = program.function(entry);
    if f.is_declaration() || program.target.pointer_bytes != 8 {
        return Err("unsupported: no body, or pointers of 32 bits".into());
    }
    let goals: BTreeSet<Goal> = targets.iter().flatten().copied().collect();
    let bounds = Bounds {
        loops: look.loops,
        inline: look.inline,
        climb: 0,
        context: Context::Start,
        clock: look.clock,
        nodes: look.config.max_nodes,
        detail: Detail::Blocks,
        goals: Goals::InEntry,
    };
    let graph = Builder::new(program, &goals, bounds, &Callees::default(), &look.calls).build(entry);
    let (pointers, layout) = modelled(program, &graph, look)?;
    let assumed = assumptions(program, entry, &graph, &pointers, &look.calls);
    let mut terms = Terms::new(64);
    let mut translator = Translator::new(&mut terms, &graph, pointers, layout);
    let transfers = translator.all(look.clock).ok_or(OUT_OF_TIME)?;
    let solver = SolverConfig { timeout: look.clock.left(), ..SolverConfig::bare(look.config.backend) };
    let open = || Session::open(look.config.backend, &solver).map_err(|why| why.to_string());
    let search = Search { translator, session: open()?, clock: look.clock, equates_arrays: false };
    let mut at_work = AtWork::new(search, &graph, transfers);
    for (k, target) in targets.iter().enumerate() {
        if look.clock.is_over() {
            break;
        }
        if at_work.search.session.checks() > CHECKS {
            at_work.search.session = open()?;
        }
        at_work.search.clock = look.clock.earlier(look.each);
        let (start, checks) = (crate::clock::cpu_time(), at_work.search.session.checks());
        let answer = at_work.decide(k, target, look.loops);
        let spent = crate::clock::cpu_time().saturating_sub(start);
        let checks = at_work.search.session.checks() - checks;
        found(k, answer, Effort::of_survey(graph.nodes.len(), checks, spent));
    }
    Ok(assumed)
}

/// Checks after which the solver starts anew.
const CHECKS: u64 = 400;

/// What pointers refer to and how memory is divided. Memory that turns out to be accessed as pointers and otherwise may
/// hold any pointer, which the analysis then has to know.
fn modelled<'a>(
    program: &'a Program,
    graph: &'a Graph,
    look: &SurveyOptions,
) -> Result<(Pointers<'a>, Layout), String> {
    let mut mixed: FxHashSet<Group> = FxHashSet::default();
    loop {
        let (effects, calls) = (look.effects.clone(), look.calls.clone());
        let covers = Rc::new(Covering { effects, calls, mixed: mixed.clone() });
        let mut pointers = Pointers::covering(program, graph, look.clock, Some(covers))?;
        let layout = Layout::new(&mut pointers).map_err(|why| format!("unsupported: {why}"))?;
        let broken = |g: &GroupId| layout.regions[layout.region(*g)].broken.is_some();
        let more: Vec<Group> =
            pointers.everything().iter().filter(|g| broken(g)).map(|g| pointers.groups[g.index()]).collect();
        if more.iter().all(|g| mixed.contains(g)) {
            return Ok((pointers, layout));
        }
        mixed.extend(more);
    }
}

fn assumptions(program: &Program, entry: FuncId, graph: &Graph, pointers: &Pointers, calls: &CallGraph) -> Vec<String> {
    let mut all = Vec::new();
    let unknown = |n: &NodeId| {
        let node = graph.node(*n);
        let f = graph.function(program, node.frame);
        let is_call = |i: &usize| matches!(f.insts[*i], Inst::Call { .. });
        node.insts.clone().filter(is_call).any(|i| pointers.effect(*n, i).unknown)
    };
    if graph.order.iter().any(unknown) {
        all.push(
            "functions of which nothing is known (without a body, or behind a pointer of the input) free nothing that is \
             used after them"
                .to_owned(),
        );
    }
    if calls.is_recursive(entry) {
        let name = &program.function(entry).name;
        all.push(format!("calls of {name} inside it begin as {name} is assumed to begin"));
    }
    all
}

/// One function while its targets are decided.
struct AtWork<'a> {
    search: Search<'a>,
    graph: &'a Graph,
    transfers: Vec<Transfer>,
    /// how many edges lead to each node, and from where
    ways: Vec<u32>,
    before: Vec<Vec<NodeId>>,
    /// by node: its place in the order, the node that all paths to it pass last, and how many of those there are
    place: Vec<u32>,
    dominator: Vec<NodeId>,
    depth: Vec<u32>,
    /// when an execution is not followed from here
    cuts: Vec<TermId>,
    input: Vec<TermId>,
    states: Vec<Option<State>>,
}

/// Nodes that are walked before the first query.
const FIRST: usize = 2;

impl<'a> AtWork<'a> {
    fn new(mut search: Search<'a>, graph: &'a Graph, transfers: Vec<Transfer>) -> AtWork<'a> {
        let n = graph.nodes.len();
        let mut before = vec![Vec::new(); n];
        let mut place = vec![u32::MAX; n];
        for (i, &m) in graph.order.iter().enumerate() {
            place[m.index()] = i as u32;
            graph.node(m).edges.iter().for_each(|e| before[e.to.index()].push(m));
        }
        let cut = |t: &Transfer, search: &mut Search| {
            let all: Vec<TermId> = t.cuts.iter().map(|c| c.0).collect();
            search.translator.terms.or_all(&all)
        };
        let mut cuts: Vec<TermId> = transfers.iter().map(|t| cut(t, &mut search)).collect();
        for &m in &graph.order {
            if matches!(graph.node(m).role, Role::Cut(_)) {
                cuts[m.index()] = Terms::TRUE;
            }
        }
        let input = search.input_conditions();
        let states = (0..n).map(|_| None).collect();
        let (dominator, depth) = (vec![graph.entry; n], vec![0; n]);
        let ways = ways_to(graph);
        let mut made = AtWork { search, graph, transfers, ways, before, place, dominator, depth, cuts, input, states };
        for &m in graph.order.iter().rev().filter(|m| **m != graph.entry) {
            let mut all = made.before[m.index()].iter().copied();
            let first = all.next().unwrap_or(graph.entry);
            let above = all.fold(first, |a, b| made.common(a, b));
            made.dominator[m.index()] = above;
            made.depth[m.index()] = made.depth[above.index()] + 1;
        }
        made
    }

    /// The last node that all paths to both pass.
    fn common(&self, mut a: NodeId, mut b: NodeId) -> NodeId {
        while a != b {
            if self.depth[a.index()] >= self.depth[b.index()] {
                a = self.dominator[a.index()];
            } else {
                b = self.dominator[b.index()];
            }
        }
        a
    }

    fn decide(&mut self, number: usize, target: &BTreeSet<Goal>, loops: Loops) -> Surveyed {
        let wanted: BTreeSet<usize> = target.iter().map(|g| g.place().1.index()).collect();
        let is_goal = |n: &NodeId| {
            let node = self.graph.node(*n);
            node.frame == FrameId::ENTRY && matches!(node.role, Role::Goal(_)) && wanted.contains(&node.insts.start)
        };
        let goals: Vec<NodeId> = self.graph.order.iter().copied().filter(is_goal).collect();
        if let Loops::Unwind(k) = loops {
            // Only looked for within these bounds.
            return match self.walk(&format!("u{number}"), &goals, false) {
                Surveyed::Refuted => Surveyed::Open(format!("not within {k} iterations")),
                other => other,
            };
        }
        match self.walk(&format!("t{number}"), &goals, true) {
            Surveyed::Candidate(_) if self.meets_cuts(&goals) => {
                match self.walk(&format!("g{number}"), &goals, false) {
                    Surveyed::Refuted => Surveyed::Open("something unsupported is on the way".into()),
                    other => other,
                }
            }
            other => other,
        }
    }

    /// The nodes from which an aim may be reached, successors first.
    fn leading(&self, aims: &[NodeId]) -> Vec<NodeId> {
        let mut seen: FxHashSet<NodeId> = aims.iter().copied().collect();
        let mut todo = aims.to_vec();
        while let Some(n) = todo.pop() {
            todo.extend(self.before[n.index()].iter().copied().filter(|m| seen.insert(*m)));
        }
        let mut all: Vec<NodeId> = seen.into_iter().collect();
        all.sort_unstable_by_key(|n| self.place[n.index()]);
        all
    }

    fn meets_cuts(&self, goals: &[NodeId]) -> bool {
        let ends = self.graph.order.iter().any(|n| matches!(self.graph.node(*n).role, Role::Cut(_)));
        ends || self.leading(goals).iter().any(|n| self.cuts[n.index()] != Terms::FALSE)
    }

    /// From the goals to the entry; `cut`: executions that are not followed count as well.
    fn walk(&mut self, name: &str, goals: &[NodeId], cut: bool) -> Surveyed {
        let mut aims = goals.to_vec();
        if cut {
            aims.extend(self.graph.order.iter().filter(|n| matches!(self.graph.node(**n).role, Role::Cut(_))));
        }
        let Some(&first) = aims.first() else { return Surveyed::Refuted };
        let mut gate = aims.iter().fold(first, |a, b| self.common(a, *b));
        let order = self.leading(&aims);
        let answer = self.walk_over(name, &order, goals, cut, &mut gate);
        for n in order {
            self.states[n.index()] = None;
        }
        answer
    }

    fn walk_over(&mut self, name: &str, order: &[NodeId], goals: &[NodeId], cut: bool, gate: &mut NodeId) -> Surveyed {
        let mut next = FIRST;
        for (walked, &n) in order.iter().enumerate() {
            if let Some(why) = self.search.out_of_time() {
                return Surveyed::Open(why);
            }
            let transfer = &self.transfers[n.index()];
            let goal = if goals.contains(&n) { transfer.goal.unwrap_or(Terms::FALSE) } else { Terms::FALSE };
            let own = if cut { self.search.translator.terms.or(goal, self.cuts[n.index()]) } else { goal };
            let mut state = merge(&mut self.search, transfer, &self.states, own);
            if let Some(s) = &mut state
                && self.ways[n.index()] > 1
                && s.is_large(&self.search)
                && let Err(why) = s.name(&mut self.search, &format!("{name}.{}", n.0))
            {
                return Surveyed::Open(why);
            }
            if n == *gate && n != self.graph.entry {
                *gate = self.dominator[n.index()];
                // SOUND: every path to the target passes this node, and from no state here does it get there.
                let Some(s) = &state else { return Surveyed::Refuted };
                if walked >= next {
                    next = 2 * walked;
                    if self.search.check(&[s.reached]) == Satisfiability::Unsat {
                        return Surveyed::Refuted;
                    }
                }
            }
            self.states[n.index()] = state;
        }
        let Some(state) = self.states[self.graph.entry.index()].take() else { return Surveyed::Refuted };
        let mut all = self.input.clone();
        all.push(state.reached);
        match self.search.solve(&all) {
            Found::No => Surveyed::Refuted,
            Found::Yes(heap) => Surveyed::Candidate(heap),
            Found::Unknown(why) => Surveyed::Open(why),
        }
    }
}
