//! The graph that is traversed backward: the control flow of the entry with calls inlined and loops unwound.
//!
//! *Paper*: Backward §3.1: "we expect that the graph is acyclic". *Idea*: a node is a piece of a block in one frame and
//! one combination of iterations. *Invariant*: every execution of the entry that reaches a goal without leaving the
//! bounds is a path from `entry` to a node with [`Role::Goal`]; one that leaves them is a path to [`Role::Cut`].
//! *Deviations*: a node has a straight piece of a block instead of one operation. With [`Loops::Havoc`] a loop is one
//! pass over its body from any state: more executions than there are.

pub use crate::bounds::{Bounds, Context, Detail, Goals, Loops};
use crate::cut::CutReason;
use crate::known_functions::{ends_program, is_modelled};
use pleach_ir::callgraph::CallGraph;
use pleach_ir::cfg::Cfg;
use pleach_ir::dominators::Dominators;
use pleach_ir::loops::{LoopId, Loops as NaturalLoops};
use pleach_ir::{BlockId, Callee, FuncId, Function, Inst, InstId, Program, Range};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A call of a function on the way from the entry, the entry being 0.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FrameId(pub u32);

impl FrameId {
    pub const ENTRY: FrameId = FrameId(0);
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
pub struct Frame {
    pub func: FuncId,
    /// who called, by which instruction, and where execution continues
    pub caller: Option<Caller>,
    depth: u32,
    /// calls from the entry, those on the way to a goal included
    height: u32,
}

#[derive(Clone, Debug)]
pub struct Caller {
    pub frame: FrameId,
    pub call: usize,
    /// the node that ends with the call
    pub node: NodeId,
    resume: Key,
}

/// What makes a place a goal.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Goal {
    /// The instruction is about to be executed.
    At(FuncId, InstId),
    /// The instruction is executed, and it is an error, in this way.
    Fails(FuncId, InstId, Failure),
}

/// In which way an operation fails; only accesses have several.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Failure {
    Any,
    /// through a null pointer
    Null,
    /// outside of an object that exists, or a write to a constant one
    Bounds,
    /// of an object after its lifetime
    Freed,
}

impl Goal {
    pub fn place(self) -> (FuncId, InstId) {
        match self {
            Goal::At(f, i) | Goal::Fails(f, i, _) => (f, i),
        }
    }
}

/// What becomes of a path at a node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Role {
    Inner,
    /// With the instruction that has to fail, if it has to, and the ways in which it may.
    Goal(Option<(usize, Vec<Failure>)>),
    Cut(CutReason),
}

/// How an edge is taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Via {
    /// Nothing happens, or a jump with copies.
    Jump(Range),
    /// The terminator is a branch; taken if its condition is this.
    Branch(bool, Range),
    /// The terminator is a switch; its value is that of this case.
    Case(usize, Range),
    /// … or that of none.
    Default(Range),
    /// The call after the node's instructions.
    Call,
    /// … through a pointer, which refers to this function.
    CallTo(FuncId),
    /// … which refers to none of these.
    CallOther(Vec<FuncId>),
    /// The terminator is a return.
    Return,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutEdge {
    pub to: NodeId,
    pub via: Via,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub frame: FrameId,
    pub block: BlockId,
    /// without a terminator and without an inlined call
    pub insts: std::ops::Range<usize>,
    /// this loop's variables have any value at the beginning
    pub havoc: Option<LoopId>,
    /// the head of a loop, in its first iteration
    pub enters_loop: bool,
    pub role: Role,
    pub edges: Vec<OutEdge>,
    /// edges of later iterations, which the havoc stands for
    pub back: Vec<OutEdge>,
}

pub struct Graph {
    pub frames: Vec<Frame>,
    pub nodes: Vec<Node>,
    pub entry: NodeId,
    /// successors before predecessors
    pub order: Vec<NodeId>,
    /// a loop was abstracted
    pub has_havoc: bool,
    pub context: Context,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Key {
    frame: FrameId,
    block: BlockId,
    start: usize,
    /// the goal at `start` is dealt with
    past: bool,
    /// per loop around the block, outermost first
    iterations: Vec<u32>,
}

/// What is known of one function.
struct Shape {
    loops: NaturalLoops,
    /// blocks from which a goal may be reached without returning
    leads: Vec<bool>,
    irreducible: FxHashSet<(BlockId, BlockId)>,
}

/// Which functions a call through a pointer may refer to, as far as they are known.
pub type Callees = FxHashMap<(FuncId, usize), BTreeSet<FuncId>>;

pub struct Builder<'a> {
    program: &'a Program,
    callees: &'a Callees,
    places: FxHashMap<(FuncId, InstId), Vec<Goal>>,
    bounds: Bounds,
    shapes: FxHashMap<FuncId, Shape>,
    /// functions in which, or in whose callees, a goal is
    capable: Vec<bool>,
    frames: Vec<Frame>,
    nodes: Vec<Node>,
    known: FxHashMap<Key, NodeId>,
    todo: Vec<(NodeId, Key)>,
    has_havoc: bool,
}

impl<'a> Builder<'a> {
    pub fn new(
        program: &'a Program,
        goals: &BTreeSet<Goal>,
        bounds: Bounds,
        callees: &'a Callees,
        calls: &CallGraph,
    ) -> Builder<'a> {
        let mut places: FxHashMap<_, Vec<Goal>> = FxHashMap::default();
        for &g in goals {
            places.entry(g.place()).or_default().push(g);
        }
        Builder {
            program,
            callees,
            places,
            bounds,
            shapes: FxHashMap::default(),
            capable: capable(program, goals, calls),
            frames: Vec::new(),
            nodes: Vec::new(),
            known: FxHashMap::default(),
            todo: Vec::new(),
            has_havoc: false,
        }
    }

    /// The graph from the start of `entry`, which has a body.
    pub fn build(mut self, entry: FuncId) -> Graph {
        self.frames.push(Frame { func: entry, caller: None, depth: 0, height: 0 });
        let first = self.program.function(entry).block_range(BlockId(0)).start;
        let mut iterations = Vec::new();
        self.shape(entry);
        self.enter(entry, None, BlockId(0), &mut iterations);
        let key = Key { frame: FrameId::ENTRY, block: BlockId(0), start: first, past: false, iterations };
        let entry = self.node(key);
        while let Some((id, key)) = self.todo.pop() {
            self.expand(id, &key);
        }
        let order = post_order(&self.nodes, entry);
        let context = self.bounds.context;
        Graph { frames: self.frames, nodes: self.nodes, entry, order, has_havoc: self.has_havoc, context }
    }

    fn shape(&mut self, f: FuncId) {
        if self.shapes.contains_key(&f) {
            return;
        }
        let function = self.program.function(f);
        let cfg = Cfg::new(function);
        let loops = NaturalLoops::new(&cfg, &Dominators::new(&cfg));
        let irreducible = loops.irreducible().iter().copied().collect();
        let leads = self.leads(f, function, &cfg);
        self.shapes.insert(f, Shape { loops, leads, irreducible });
    }

    /// Blocks that have a goal or a call that leads to one, and those before them.
    fn leads(&self, f: FuncId, function: &Function, cfg: &Cfg) -> Vec<bool> {
        let mut leads = vec![false; function.blocks.len()];
        let mut todo = Vec::new();
        for b in (0..function.blocks.len()).map(BlockId::new) {
            let of_block = |i: usize| {
                let place = (f, InstId::new(i));
                let called = match function.insts[i] {
                    Inst::Call { callee: Callee::Direct(g), .. } => self.capable[g.index()],
                    Inst::Call { callee: Callee::Indirect(_), .. } => true,
                    _ => false,
                };
                called || self.places.contains_key(&place)
            };
            if function.block_range(b).any(of_block) {
                leads[b.index()] = true;
                todo.push(b);
            }
        }
        while let Some(b) = todo.pop() {
            for p in cfg.preds(b) {
                if !std::mem::replace(&mut leads[p.index()], true) {
                    todo.push(*p);
                }
            }
        }
        leads
    }

    fn node(&mut self, key: Key) -> NodeId {
        if let Some(&known) = self.known.get(&key) {
            return known;
        }
        let id = self.add(key.frame, key.block, key.start..key.start, Role::Inner);
        self.known.insert(key.clone(), id);
        self.todo.push((id, key));
        id
    }

    fn add(&mut self, frame: FrameId, block: BlockId, insts: std::ops::Range<usize>, role: Role) -> NodeId {
        let id = NodeId(self.nodes.len() as u32);
        let (edges, back) = (Vec::new(), Vec::new());
        self.nodes.push(Node { frame, block, insts, havoc: None, enters_loop: false, role, edges, back });
        id
    }

    fn cut(&mut self, frame: FrameId, block: BlockId, reason: CutReason) -> NodeId {
        let at = self.program.function(self.frames[frame.index()].func).block_range(block).start;
        self.add(frame, block, at..at, Role::Cut(reason))
    }

    fn expand(&mut self, id: NodeId, key: &Key) {
        let func = self.frames[key.frame.index()].func;
        let f = self.program.function(func);
        if self.nodes.len() > self.bounds.nodes || self.bounds.clock.is_over() {
            self.nodes[id.index()].role = Role::Cut(CutReason::GraphSize);
            return;
        }
        let range = f.block_range(key.block);
        if key.start == range.start && !key.past {
            self.head(id, key);
        }
        for i in key.start..range.end {
            let place = (func, InstId::new(i));
            let seen = i == key.start && key.past || self.bounds.goals == Goals::InEntry && key.frame != FrameId::ENTRY;
            if !seen && let Some(goals) = self.places.get(&place) {
                return if i > key.start { self.fall(id, key, i, false) } else { self.goal(id, key, &goals.clone()) };
            }
            if i > key.start && self.bounds.detail == Detail::Operations && is_operation(f, i) {
                self.nodes[id.index()].insts.end = i;
                return self.fall(id, key, i, false);
            }
            self.nodes[id.index()].insts.end = i;
            let inst = &f.insts[i];
            if inst.is_terminator() {
                return self.terminator(id, key, func, f, inst);
            }
            if let Inst::Call { callee: Callee::Direct(g), .. } = inst {
                let callee = self.program.function(*g);
                // A goal may be in the body of a function that does not return.
                let leads = self.capable[g.index()] && !callee.is_declaration();
                if ends_program(callee) && !leads {
                    return;
                }
                if self.is_inlined(key.frame, *g) {
                    return self.inline(id, key, *g, i, Via::Call);
                }
            }
            if let (Inst::Call { callee: Callee::Indirect(_), .. }, Some(found)) = (inst, self.callees.get(&(func, i)))
            {
                let inlined: Vec<FuncId> = found.iter().copied().filter(|g| self.is_inlined(key.frame, *g)).collect();
                if !inlined.is_empty() {
                    return self.inline_any(id, key, inlined, i);
                }
            }
            self.nodes[id.index()].insts.end = i + 1;
        }
    }

    fn is_inlined(&self, frame: FrameId, callee: FuncId) -> bool {
        let f = self.program.function(callee);
        let from = &self.frames[frame.index()];
        !f.is_declaration() && !is_modelled(f) && (from.depth < self.bounds.inline || self.leads_up(from, callee))
    }

    /// The call is on the way to a goal, and no further from the entry than is climbed.
    fn leads_up(&self, from: &Frame, callee: FuncId) -> bool {
        self.capable[callee.index()] && from.height < self.bounds.climb
    }

    /// A goal at the node's first instruction. One that has to fail is a node of its own, and so is what follows.
    fn goal(&mut self, id: NodeId, key: &Key, goals: &[Goal]) {
        let way = |g: &Goal| match g {
            Goal::Fails(_, _, way) => Some(*way),
            Goal::At(..) => None,
        };
        let ways = goals.iter().map(way).collect::<Option<Vec<Failure>>>();
        if ways.is_none() && self.bounds.goals == Goals::Anywhere {
            self.nodes[id.index()].role = Role::Goal(None);
            return;
        }
        let role = Role::Goal(ways.map(|ways| (key.start, ways)));
        let goal = self.add(key.frame, key.block, key.start..key.start, role);
        self.nodes[id.index()].edges.push(OutEdge { to: goal, via: Via::Jump(Range::default()) });
        self.fall(id, key, key.start, true);
    }

    fn fall(&mut self, id: NodeId, key: &Key, start: usize, past: bool) {
        let to = self.node(Key { start, past, ..key.clone() });
        self.nodes[id.index()].edges.push(OutEdge { to, via: Via::Jump(Range::default()) });
    }

    fn head(&mut self, id: NodeId, key: &Key) {
        let func = self.frames[key.frame.index()].func;
        let loops = &self.shapes[&func].loops;
        let Some(l) = loops.innermost(key.block) else { return };
        if loops.get(l).header != key.block {
            return;
        }
        self.nodes[id.index()].enters_loop = key.iterations.last() == Some(&0);
        if self.bounds.loops == Loops::Havoc {
            self.nodes[id.index()].havoc = Some(l);
            self.has_havoc = true;
        }
    }

    /// A call through a pointer: one edge per function, and one for what the pointer may refer to otherwise.
    fn inline_any(&mut self, id: NodeId, key: &Key, callees: Vec<FuncId>, call: usize) {
        for &g in &callees {
            self.inline(id, key, g, call, Via::CallTo(g));
        }
        let reason = CutReason::Unsupported("a call through a pointer to a function that is not inlined".into());
        let to = self.cut(key.frame, key.block, reason);
        self.nodes[id.index()].edges.push(OutEdge { to, via: Via::CallOther(callees) });
    }

    fn inline(&mut self, id: NodeId, key: &Key, callee: FuncId, call: usize, via: Via) {
        let frame = FrameId(self.frames.len() as u32);
        let from = &self.frames[key.frame.index()];
        let depth = from.depth + u32::from(!self.leads_up(from, callee));
        let height = from.height + 1;
        let resume = Key { start: call + 1, past: false, ..key.clone() };
        let caller = Some(Caller { frame: key.frame, call, node: id, resume });
        self.frames.push(Frame { func: callee, caller, depth, height });
        self.shape(callee);
        let mut iterations = Vec::new();
        self.enter(callee, None, BlockId(0), &mut iterations);
        let start = self.program.function(callee).block_range(BlockId(0)).start;
        let to = self.node(Key { frame, block: BlockId(0), start, past: false, iterations });
        self.nodes[id.index()].edges.push(OutEdge { to, via });
    }

    /// The iterations of the loops around `to`, coming from `from`.
    fn enter(&self, f: FuncId, from: Option<BlockId>, to: BlockId, iterations: &mut Vec<u32>) -> bool {
        let loops = &self.shapes[&f].loops;
        let depth = |b: BlockId| loops.innermost(b).map_or(0, |l| loops.get(l).depth as usize);
        let around = |b: BlockId| {
            let mut all = Vec::new();
            let mut at = loops.innermost(b);
            while let Some(l) = at {
                all.push(l);
                at = loops.get(l).parent;
            }
            all.reverse();
            all
        };
        let of_target = around(to);
        let common = match from {
            Some(from) => around(from).iter().zip(&of_target).take_while(|(a, b)| a == b).count(),
            None => 0,
        };
        iterations.truncate(common);
        let back = common > 0 && common == depth(to) && loops.get(of_target[common - 1]).header == to;
        if back {
            iterations[common - 1] += 1;
        }
        iterations.resize(depth(to), 0);
        back
    }

    fn terminator(&mut self, id: NodeId, key: &Key, func: FuncId, f: &'a Function, inst: &Inst) {
        match *inst {
            Inst::Jump { edge } => self.edge(id, key, func, edge.target, Via::Jump(edge.copies)),
            Inst::Branch { edges, .. } => {
                for (i, taken) in [true, false].into_iter().enumerate() {
                    let edge = f.edges[edges as usize + i];
                    self.edge(id, key, func, edge.target, Via::Branch(taken, edge.copies));
                }
            }
            Inst::Switch { default, cases, .. } => {
                for i in cases.as_range() {
                    let edge = f.cases[i].edge;
                    self.edge(id, key, func, edge.target, Via::Case(i, edge.copies));
                }
                let edge = f.edges[default as usize];
                self.edge(id, key, func, edge.target, Via::Default(edge.copies));
            }
            Inst::Return { .. } => {
                if let Some(caller) = self.frames[key.frame.index()].caller.clone() {
                    let to = self.node(caller.resume);
                    self.nodes[id.index()].edges.push(OutEdge { to, via: Via::Return });
                }
            }
            Inst::IndirectJump { .. } => {
                let to = self.cut(key.frame, key.block, CutReason::Unsupported("a computed goto".into()));
                self.nodes[id.index()].edges.push(OutEdge { to, via: Via::Jump(Range::default()) });
            }
            _ => {}
        }
    }

    fn edge(&mut self, id: NodeId, key: &Key, func: FuncId, target: BlockId, via: Via) {
        let shape = &self.shapes[&func];
        if key.frame == FrameId::ENTRY && !shape.leads[target.index()] {
            return;
        }
        let mut iterations = key.iterations.clone();
        let irreducible = shape.irreducible.contains(&(key.block, target));
        let back = self.enter(func, Some(key.block), target, &mut iterations);
        let beyond = match self.bounds.loops {
            Loops::Unwind(k) if back && iterations.last().is_some_and(|n| *n > k) => Some(CutReason::Unwind(k)),
            _ if irreducible => Some(CutReason::Unsupported("a loop with two heads".into())),
            _ => None,
        };
        if let Some(reason) = beyond {
            let to = self.cut(key.frame, target, reason);
            self.nodes[id.index()].edges.push(OutEdge { to, via });
            return;
        }
        let start = self.program.function(func).block_range(target).start;
        if back && self.bounds.loops == Loops::Havoc {
            if let Some(n) = iterations.last_mut() {
                *n = 0;
            }
            let to = self.node(Key { frame: key.frame, block: target, start, past: false, iterations });
            self.nodes[id.index()].back.push(OutEdge { to, via });
            return;
        }
        let to = self.node(Key { frame: key.frame, block: target, start, past: false, iterations });
        self.nodes[id.index()].edges.push(OutEdge { to, via });
    }
}

/// An access, with the computation of its address if there is one, or a call.
fn is_operation(f: &Function, i: usize) -> bool {
    let accesses = |i: usize| matches!(f.insts.get(i), Some(Inst::Load { .. } | Inst::Store { .. }));
    let computes = |i: usize| matches!(f.insts[i], Inst::Gep { .. });
    matches!(f.insts[i], Inst::Call { .. }) || computes(i) || accesses(i) && !computes(i - 1)
}

/// Functions whose execution may come to a goal.
fn capable(program: &Program, goals: &BTreeSet<Goal>, calls: &CallGraph) -> Vec<bool> {
    let mut capable = vec![false; program.functions.len()];
    let mut todo: Vec<FuncId> = goals.iter().map(|g| g.place().0).collect();
    while let Some(f) = todo.pop() {
        if !std::mem::replace(&mut capable[f.index()], true) {
            todo.extend(calls.callers(f));
        }
    }
    capable
}

fn post_order(nodes: &[Node], entry: NodeId) -> Vec<NodeId> {
    let mut order = Vec::with_capacity(nodes.len());
    let mut seen = vec![false; nodes.len()];
    let mut stack = vec![(entry, 0)];
    seen[entry.index()] = true;
    while let Some((n, next)) = stack.last_mut() {
        match nodes[n.index()].edges.get(*next) {
            Some(e) => {
                *next += 1;
                if !std::mem::replace(&mut seen[e.to.index()], true) {
                    stack.push((e.to, 0));
                }
            }
            None => {
                order.push(*n);
                stack.pop();
            }
        }
    }
    order
}

impl Graph {
    pub fn node(&self, n: NodeId) -> &Node {
        &self.nodes[n.index()]
    }
    pub fn function<'a>(&self, program: &'a Program, frame: FrameId) -> &'a Function {
        program.function(self.frames[frame.index()].func)
    }
}
