//! What pointers may refer to: the objects of a graph, in groups, and the offsets within them.
//!
//! *Idea*: an abstract execution of the graph. A pointer has a set of groups and an offset that is known up to a
//! multiple (`r` modulo `m`; `m` = 0: exactly `r`). Memory has one such value per group and known offset, whatever the
//! order of stores. *Invariant*: every pointer of an execution in the graph is null, lies in one of its groups at an
//! offset of its class, or is marked `unknown`. *Deviations*: the paper has one array per field of a class; here the
//! groups that one access may refer to share their arrays, and so typing is never trusted.

use crate::clock::{Clock, OUT_OF_TIME};
use crate::effects::Effects;
use crate::graph::{Callees, Context, FrameId, Graph, NodeId, Via};
pub use crate::pointer_values::{Offset, Pointer, State, gcd};
use crate::pointer_values::{join_states, may_be};
use crate::types::{self, LeafKind};
use pleach_ir::callgraph::CallGraph;
use pleach_ir::{
    Callee, CastOp, Const, Function, GlobalId, Init, Inst, Opnd, OpndKind, Program, Range, Slot, Symbol, Ty, TypeId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct GroupId(pub u32);

impl GroupId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Objects that one name stands for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Group {
    /// Objects of the input heap: `count` elements of the type each. Without a type nothing is known of them.
    Pool {
        ty: Option<TypeId>,
        count: u64,
    },
    Global(GlobalId),
    Function(pleach_ir::FuncId),
    /// What this instruction of the node allocates; on the heap or as a local.
    Allocated {
        node: NodeId,
        inst: usize,
        heap: bool,
    },
}

pub struct Pointers<'a> {
    pub program: &'a Program,
    pub graph: &'a Graph,
    pub groups: Vec<Group>,
    ids: FxHashMap<Group, GroupId>,
    /// on entry of each node
    pub before: Vec<State>,
    /// pointers in memory: group, known offset
    content: FxHashMap<(GroupId, Option<i64>), Pointer>,
    /// something changed in this round
    pub(crate) changed: bool,
    /// how often groups or pointers in memory changed
    stamp: u32,
    /// by node: the stamp when it was last looked at, and nothing came to it since; `None`: look again
    seen: Vec<Option<u32>>,
    /// what is not followed has any effect; with what is known of calls
    pub covers: Option<Rc<Covering>>,
    /// what code that is not followed may know of
    pub(crate) escaped: BTreeSet<GroupId>,
}

/// What is needed where calls that are not followed have any effect.
pub struct Covering {
    pub effects: Arc<Effects>,
    pub calls: Arc<CallGraph>,
    /// groups whose memory is accessed as pointers and in other ways
    pub mixed: FxHashSet<Group>,
}

/// Elements of an input array whose type is a scalar, as forward execution has them.
pub const SCALARS: u64 = 8;
/// Rounds after which the analysis gives up; it ends long before.
const ROUNDS: usize = 64;

impl<'a> Pointers<'a> {
    /// Or why there is none.
    pub fn new(program: &'a Program, graph: &'a Graph, clock: Clock) -> Result<Pointers<'a>, &'static str> {
        Pointers::covering(program, graph, clock, None)
    }

    /// … with calls that are not followed, if `covers` says what they do.
    pub fn covering(
        program: &'a Program,
        graph: &'a Graph,
        clock: Clock,
        covers: Option<Rc<Covering>>,
    ) -> Result<Pointers<'a>, &'static str> {
        let before = vec![State::default(); graph.nodes.len()];
        let (groups, ids, content) = (Vec::new(), FxHashMap::default(), FxHashMap::default());
        let seen = vec![None; graph.nodes.len()];
        let mut made = Pointers {
            program,
            graph,
            groups,
            ids,
            before,
            content,
            changed: false,
            stamp: 0,
            seen,
            covers,
            escaped: BTreeSet::new(),
        };
        made.constants();
        made.parameters();
        for _ in 0..ROUNDS {
            made.changed = false;
            for &n in graph.order.iter().rev() {
                if clock.is_over() {
                    return Err(OUT_OF_TIME);
                }
                made.flow(n);
            }
            if !made.changed {
                return Ok(made);
            }
        }
        Err("the analysis of pointers does not end")
    }

    /// Whatever a function names has a group from the start.
    fn constants(&mut self) {
        let functions: BTreeSet<_> = self.graph.frames.iter().map(|f| f.func).collect();
        for f in functions {
            for c in &self.program.function(f).consts {
                if let Const::Addr { symbol, .. } = c {
                    self.symbol(*symbol, 0);
                }
            }
        }
    }

    fn parameters(&mut self) {
        let f = self.graph.function(self.program, FrameId::ENTRY);
        for p in &f.params {
            if p.ty == Ty::Ptr && self.graph.context == Context::Anywhere {
                self.before[self.graph.entry.index()].insert((FrameId::ENTRY, p.slot), Pointer::unknown());
            } else if p.ty == Ty::Ptr {
                let pool = self.pool(p.debug_type.and_then(|t| types::pointee(self.program, t)).flatten());
                let value = Pointer::to(pool, 0);
                self.before[self.graph.entry.index()].insert((FrameId::ENTRY, p.slot), value);
            }
        }
    }

    /// The input objects of a type, and those that they may point to.
    pub fn pool(&mut self, ty: Option<TypeId>) -> GroupId {
        let p = self.program;
        let ty = ty.map(|t| types::resolve(p, t)).filter(|t| types::size(p, *t) > 0);
        let count = if ty.is_some_and(|t| types::is_aggregate(p, t)) { 1 } else { SCALARS };
        let new = !self.ids.contains_key(&Group::Pool { ty, count });
        let id = self.group(Group::Pool { ty, count });
        if new && let Some(leaves) = ty.and_then(|t| types::leaves(p, t)) {
            for leaf in leaves {
                if let LeafKind::Pointer(to) = leaf.kind {
                    self.pool(to);
                }
            }
        }
        id
    }

    pub fn group(&mut self, group: Group) -> GroupId {
        if let Some(&id) = self.ids.get(&group) {
            return id;
        }
        let id = GroupId(self.groups.len() as u32);
        self.groups.push(group);
        self.ids.insert(group, id);
        self.changed = true;
        id
    }

    pub fn find(&self, group: Group) -> Option<GroupId> {
        self.ids.get(&group).copied()
    }

    fn flow(&mut self, n: NodeId) {
        if self.seen[n.index()] == Some(self.stamp) {
            return;
        }
        self.seen[n.index()] = Some(self.stamp);
        let changed = std::mem::take(&mut self.changed);
        let came = self.flow_on(n);
        // Groups and memory are all that changes on the way.
        self.stamp += u32::from(self.changed);
        self.changed |= changed || came;
    }

    /// Whether something new came to a node after this one.
    fn flow_on(&mut self, n: NodeId) -> bool {
        let node = self.graph.node(n);
        let mut state = self.before[n.index()].clone();
        let f = self.graph.function(self.program, node.frame);
        for i in node.insts.clone() {
            self.step(n, f, i, &mut state);
        }
        let mut left = node.edges.len() + node.back.len();
        let mut came = false;
        for e in node.edges.iter().chain(&node.back) {
            left -= 1;
            let mut out = if left == 0 { std::mem::take(&mut state) } else { state.clone() };
            self.take(n, &e.via, &mut out, e.to);
            if join_states(&mut self.before[e.to.index()], out) {
                self.seen[e.to.index()] = None;
                came = true;
            }
        }
        came
    }

    /// What an edge does to the variables.
    fn take(&mut self, n: NodeId, via: &Via, state: &mut State, to: NodeId) {
        let node = self.graph.node(n);
        let f = self.graph.function(self.program, node.frame);
        match via {
            Via::Jump(copies) | Via::Branch(_, copies) | Via::Case(_, copies) | Via::Default(copies) => {
                self.copies(node.frame, f, *copies, state);
            }
            Via::CallOther(_) => {}
            Via::Call | Via::CallTo(_) => {
                let callee = self.graph.node(to).frame;
                let g = self.graph.function(self.program, callee);
                let Inst::Call { args, .. } = f.insts[node.insts.end] else { return };
                for (arg, p) in f.args[args.as_range()].iter().zip(&g.params) {
                    if p.ty == Ty::Ptr {
                        let mut v = self.operand(node.frame, f, arg.value, state);
                        if p.byval.is_some() && self.covers.is_some() {
                            v = Pointer::unknown();
                        }
                        state.insert((callee, p.slot), v);
                    }
                }
            }
            Via::Return => {
                let Some(caller) = &self.graph.frames[node.frame.index()].caller else { return };
                let g = self.graph.function(self.program, caller.frame);
                let (Inst::Return { values }, Inst::Call { dsts, .. }) =
                    (&f.insts[node.insts.end], &g.insts[caller.call])
                else {
                    return;
                };
                for (v, d) in f.args[values.as_range()].iter().zip(&g.dsts[dsts.as_range()]) {
                    if v.ty == Ty::Ptr {
                        let v = self.operand(node.frame, f, v.value, state);
                        state.insert((caller.frame, *d), v);
                    }
                }
                state.retain(|(frame, _), _| *frame != node.frame);
            }
        }
    }

    fn copies(&mut self, frame: FrameId, f: &Function, copies: Range, state: &mut State) {
        for c in &f.copies[copies.as_range()] {
            if f.slots[c.dst.index()].ty == Ty::Ptr {
                let v = self.operand(frame, f, c.src, state);
                state.insert((frame, c.dst), v);
            }
        }
    }

    pub fn operand(&mut self, frame: FrameId, f: &Function, o: Opnd, state: &State) -> Pointer {
        match o.kind() {
            OpndKind::Slot(s) => state.get(&(frame, s)).cloned().unwrap_or_else(Pointer::nothing),
            OpndKind::Const(c) => match f.consts[c as usize] {
                Const::Int { value: 0, .. } => Pointer::null(),
                Const::Addr { symbol, addend } => self.symbol(symbol, addend),
                Const::Undef { .. } => Pointer::undefined(),
                _ => Pointer::unknown(),
            },
        }
    }

    fn symbol(&mut self, symbol: Symbol, addend: i64) -> Pointer {
        match symbol {
            Symbol::Global(g) => Pointer::to(self.group(Group::Global(g)), addend),
            Symbol::Function(f) => Pointer::to(self.group(Group::Function(f)), addend),
            Symbol::Block(..) => Pointer::unknown(),
        }
    }

    /// One instruction.
    pub fn step(&mut self, n: NodeId, f: &Function, i: usize, state: &mut State) {
        let frame = self.graph.node(n).frame;
        let is_pointer = |s: Slot| f.slots[s.index()].ty == Ty::Ptr;
        match f.insts[i] {
            Inst::Mov { dst, a } | Inst::Freeze { dst, a, .. } if is_pointer(dst) => {
                let v = self.operand(frame, f, a, state);
                state.insert((frame, dst), v);
            }
            Inst::Select { ty: Ty::Ptr, dst, a, b, .. } => {
                let mut v = self.operand(frame, f, a, state);
                v.join(&self.operand(frame, f, b, state));
                state.insert((frame, dst), v);
            }
            Inst::Undef { dst } if is_pointer(dst) => {
                state.insert((frame, dst), Pointer::undefined());
            }
            Inst::Gep { dst, base, offset, parts } => {
                let mut by = Offset::known(offset);
                for s in &f.scaled[parts.as_range()] {
                    by = by.plus(match constant(f, s.index) {
                        Some(k) => {
                            let k = pleach_expr::sign_extend(k, s.width);
                            Offset::known(k.wrapping_mul(s.scale))
                        }
                        None => Offset { m: s.scale.unsigned_abs(), r: 0 },
                    });
                }
                let v = self.operand(frame, f, base, state).shifted(by);
                state.insert((frame, dst), v);
            }
            Inst::Load { ty: Ty::Ptr, dst, ptr, .. } => {
                let at = self.operand(frame, f, ptr, state);
                let v = self.loaded(&at);
                state.insert((frame, dst), v);
            }
            Inst::Store { ty: Ty::Ptr, ptr, value, .. } => {
                let (at, v) = (self.operand(frame, f, ptr, state), self.operand(frame, f, value, state));
                for g in &at.groups {
                    self.put(*g, at.offset.and_then(Offset::as_known), &v);
                }
                self.written(&at, &v.groups);
            }
            Inst::Store { ptr, .. } | Inst::MemSet { dst: ptr, .. } if self.covers.is_some() => {
                let at = self.operand(frame, f, ptr, state);
                self.written(&at, &BTreeSet::new());
            }
            Inst::VaStart { list } | Inst::VaCopy { dst: list, .. } if self.covers.is_some() => {
                let at = self.operand(frame, f, list, state);
                self.forget(&at.groups);
                self.written(&at, &BTreeSet::new());
            }
            Inst::Alloca { dst, .. } => {
                let v = Pointer::to(self.group(Group::Allocated { node: n, inst: i, heap: false }), 0);
                state.insert((frame, dst), v);
            }
            Inst::Cast { op: CastOp::IntToPtr, dst, a, .. } => {
                let v = if constant(f, a) == Some(0) { Pointer::null() } else { Pointer::unknown() };
                state.insert((frame, dst), v);
            }
            Inst::MemCopy { dst, src, .. } => {
                let (to, from) = (self.operand(frame, f, dst, state), self.operand(frame, f, src, state));
                self.copied(&to, &from);
                self.written(&to, &from.groups);
            }
            Inst::Call { callee, dsts, args } => {
                let name = match callee {
                    Callee::Direct(g) => self.program.function(g).name.as_str(),
                    Callee::Indirect(_) => "",
                };
                self.called(n, f, i, state);
                for &d in f.dsts[dsts.as_range()].iter().filter(|d| is_pointer(**d)) {
                    let v = match name {
                        "malloc" | "calloc" => {
                            Pointer::to(self.group(Group::Allocated { node: n, inst: i, heap: true }), 0)
                        }
                        "realloc" => {
                            let to = Pointer::to(self.group(Group::Allocated { node: n, inst: i, heap: true }), 0);
                            let from = self.operand(frame, f, f.args[args.as_range()][0].value, state);
                            self.copied(&to, &from);
                            self.forget(&to.groups);
                            to
                        }
                        _ => Pointer::unknown(),
                    };
                    state.insert((frame, d), v);
                }
            }
            Inst::VaArg { ty: Ty::Ptr, dst, .. } => {
                state.insert((frame, dst), Pointer::unknown());
            }
            Inst::StackSave { dst } => {
                state.insert((frame, dst), Pointer::null());
            }
            Inst::Scalar { dsts, .. } => {
                for &d in f.dsts[dsts.as_range()].iter().filter(|d| is_pointer(**d)) {
                    state.insert((frame, d), Pointer::unknown());
                }
            }
            _ => {}
        }
    }

    /// The functions that each call through a pointer may refer to.
    pub fn callees(&mut self) -> Callees {
        let mut found = Callees::default();
        let graph = self.graph;
        for &n in &graph.order {
            let node = graph.node(n);
            let func = graph.frames[node.frame.index()].func;
            let f = self.program.function(func);
            let mut state = self.before[n.index()].clone();
            for i in node.insts.start..f.block_range(node.block).end.min(node.insts.end + 1) {
                if let Inst::Call { callee: Callee::Indirect(p), .. } = f.insts[i] {
                    let at = self.operand(node.frame, f, p, &state);
                    let functions = at.groups.iter().filter_map(|g| match self.groups[g.index()] {
                        Group::Function(g) => Some(g),
                        _ => None,
                    });
                    found.entry((func, i)).or_default().extend(functions);
                }
                if i < node.insts.end {
                    self.step(n, f, i, &mut state);
                }
            }
        }
        found
    }

    pub(crate) fn put(&mut self, group: GroupId, offset: Option<i64>, value: &Pointer) {
        match self.content.entry((group, offset)) {
            std::collections::hash_map::Entry::Occupied(mut old) => self.changed |= old.get_mut().join(value),
            std::collections::hash_map::Entry::Vacant(free) => {
                free.insert(value.clone());
                self.changed = true;
            }
        }
    }

    /// What a load may give.
    pub fn loaded(&mut self, at: &Pointer) -> Pointer {
        let mut v = Pointer::nothing();
        v.unknown |= at.unknown;
        for &g in &at.groups {
            let mixed = |c: &Rc<Covering>| c.mixed.contains(&self.groups[g.index()]);
            v.unknown |= self.covers.as_ref().is_some_and(mixed);
            let known = at.offset.and_then(Offset::as_known);
            let mut fit: Vec<Pointer> = self
                .content
                .iter()
                .filter(|((group, o), _)| *group == g && (known.is_none() || o.is_none() || *o == known))
                .map(|(_, p)| p.clone())
                .collect();
            fit.push(self.initial(g, at.offset));
            for p in &fit {
                v.join(p);
            }
        }
        v
    }

    /// What the input or the initialiser has there.
    fn initial(&mut self, g: GroupId, offset: Option<Offset>) -> Pointer {
        let p = self.program;
        match self.groups[g.index()] {
            Group::Pool { ty: None, .. } => Pointer::unknown(),
            Group::Pool { ty: Some(ty), .. } => {
                let Some(leaves) = types::leaves(p, ty) else { return Pointer::unknown() };
                let mut v = Pointer::null();
                let mut found = false;
                for leaf in leaves {
                    let LeafKind::Pointer(to) = leaf.kind else { continue };
                    if may_be(offset, leaf.offset, types::size(p, ty)) {
                        let pool = self.pool(to);
                        v.join(&Pointer::to(pool, 0));
                        found = true;
                    }
                }
                // A number of the input that is read as a pointer.
                if found { v } else { Pointer::unknown() }
            }
            Group::Global(id) if self.graph.context == Context::Anywhere && !p.global(id).constant => {
                Pointer::unknown()
            }
            Group::Global(id) => match &p.global(id).init {
                Init::Bytes { relocs, .. } => {
                    let mut v = Pointer::null();
                    for r in relocs.iter().filter(|r| may_be(offset, r.offset, 0)) {
                        v.join(&self.symbol(r.symbol, r.addend));
                    }
                    v
                }
                Init::Zero => Pointer::null(),
                _ => Pointer::unknown(),
            },
            Group::Function(_) | Group::Allocated { .. } => Pointer::undefined(),
        }
    }

    fn copied(&mut self, to: &Pointer, from: &Pointer) {
        let mut found: Vec<(Option<i64>, Pointer)> = Vec::new();
        for &g in &from.groups {
            found.extend(self.content.iter().filter(|((group, _), _)| *group == g).map(|((_, o), p)| (*o, p.clone())));
            let leaves = match self.groups[g.index()] {
                Group::Pool { ty: Some(ty), .. } => types::leaves(self.program, ty),
                _ => None,
            };
            match leaves {
                Some(leaves) => {
                    for leaf in leaves {
                        let at = Some(Offset::known(leaf.offset as i64));
                        found.push((Some(leaf.offset as i64), self.initial(g, at)));
                    }
                }
                None => found.push((None, self.initial(g, None))),
            }
        }
        let shift = match (to.offset.and_then(Offset::as_known), from.offset.and_then(Offset::as_known)) {
            (Some(t), Some(f)) => Some(t - f),
            _ => None,
        };
        for (o, p) in found {
            let at = o.and_then(|o| Some(o + shift?));
            for &g in &to.groups {
                self.put(g, at, &p);
            }
        }
    }

    /// Locals of a frame that something which outlives the frame may point to.
    fn locals_of(&self, frame: FrameId, returned: &BTreeSet<GroupId>) -> Vec<GroupId> {
        let is_local = |g: GroupId| match self.groups[g.index()] {
            Group::Allocated { node, heap: false, .. } => self.graph.node(node).frame == frame,
            _ => false,
        };
        let mut found: BTreeSet<GroupId> = returned.iter().copied().filter(|g| is_local(*g)).collect();
        for ((holder, _), p) in &self.content {
            if !is_local(*holder) {
                found.extend(p.groups.iter().copied().filter(|g| is_local(*g)));
            }
        }
        found.into_iter().collect()
    }

    /// Locals whose scope ends here although something may still point to them.
    pub fn scope_ends(&mut self, n: NodeId, f: &Function, i: usize, state: &State) -> Vec<GroupId> {
        let Inst::ScopeEnd { local } = f.insts[i] else { return Vec::new() };
        let frame = self.graph.node(n).frame;
        let at = self.operand(frame, f, local, state);
        let moved = |i: &Inst, s: Slot| matches!(i, Inst::Mov { dst, .. } | Inst::Select { dst, .. } if *dst == s);
        // A variable may outlive the scope; what an instruction computes is used within it.
        let joined = |s: Slot| f.copies.iter().any(|c| c.dst == s) || f.insts.iter().any(|i| moved(i, s));
        let held = |g: &GroupId| {
            self.content.values().any(|p| p.groups.contains(g))
                || state.iter().any(|((fr, s), p)| *fr == frame && p.groups.contains(g) && joined(*s))
        };
        at.groups.iter().copied().filter(held).collect()
    }

    /// Locals of the frame that may be used after a return from it.
    pub fn return_ends(&mut self, n: NodeId, f: &Function, state: &State) -> Vec<GroupId> {
        let node = self.graph.node(n);
        let Some(Inst::Return { values }) = f.insts.get(node.insts.end) else { return Vec::new() };
        let mut returned = BTreeSet::new();
        for v in f.args[values.as_range()].iter().filter(|v| v.ty == Ty::Ptr) {
            returned.extend(self.operand(node.frame, f, v.value, state).groups);
        }
        self.locals_of(node.frame, &returned)
    }

    /// Bytes of an object of the group, if all have the same.
    pub fn size(&self, g: GroupId) -> Option<u64> {
        match self.groups[g.index()] {
            Group::Pool { ty: Some(ty), count } => Some(types::size(self.program, ty) * count),
            Group::Pool { ty: None, .. } | Group::Function(_) => Some(0),
            Group::Global(id) => Some(self.program.global(id).size),
            Group::Allocated { node, inst, .. } => {
                let f = self.graph.function(self.program, self.graph.node(node).frame);
                match f.insts[inst] {
                    Inst::Alloca { size, count, .. } => Some(size.checked_mul(constant(f, count)?)?),
                    Inst::Call { callee, args, .. } => {
                        let is_realloc =
                            matches!(callee, Callee::Direct(g) if self.program.function(g).name == "realloc");
                        let all = &f.args[args.as_range()][usize::from(is_realloc)..];
                        all.iter().try_fold(1u64, |n, a| n.checked_mul(constant(f, a.value)?))
                    }
                    _ => None,
                }
            }
        }
    }
}

/// The value of a constant operand of at most 64 bits.
pub fn constant(f: &Function, o: Opnd) -> Option<u64> {
    match o.kind() {
        OpndKind::Const(c) => match f.consts[c as usize] {
            Const::Int { value, .. } => Some(value),
            _ => None,
        },
        OpndKind::Slot(_) => None,
    }
}
