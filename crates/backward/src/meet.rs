//! Forward and backward meet at the start of a function.
//!
//! *Idea*: backward execution gives the condition under which a call of the function reaches the goal. The condition
//! becomes code in front of the function: a call under which it holds passes a block of its own, the *meeting*. Forward
//! execution that comes to the meeting has reached the goal, without executing the function.
//! *Invariant*: an execution of the new program does what the old one does. If it passes the meeting it would reach the
//! goal within the call; if the meeting is complete, also the other way round.
//! *Direction*: a condition that needs memory behind pointers, divisions or inputs that the function asks for is none.

use crate::clock::{Clock, OUT_OF_TIME};
use crate::decide::{Config, graph};
use crate::graph::{Context, FrameId, Goal, Graph, Loops};
use crate::layout::{AtomKind, Layout};
use crate::pointers::{Group, Pointers};
use crate::search::{Aim, Search};
use crate::transfer::{Transfer, Translator};
use crate::variables::{Var, VarId};
use pleach_expr::{Op, SymbolKind, TermId, Terms};
use pleach_ir::{
    Arg, BinOp, Block, BlockId, Callee, CastOp, CmpOp, Const, Edge, FuncId, Function, GlobalId, Inst, InstId, Opnd,
    Program, Range, Slot, SlotInfo, Span, Symbol, Ty, flags,
};
use pleach_smt::{Session, SolverConfig};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A program with a meeting.
pub struct Meeting {
    pub program: Program,
    /// the first instruction of the block that is passed if the goal is reached
    pub at: (FuncId, InstId),
    /// where the function's own body is now; its instructions have kept their numbers
    pub body: FuncId,
    /// a call that does not pass the meeting does not reach the goal
    pub complete: bool,
}

/// Instructions that a condition may become.
const MAX_INSTRUCTIONS: usize = 20_000;

/// Puts the condition of the goals in front of `f`; the meeting has the place `span` in the source. Or why not.
pub fn meet(
    program: &Program,
    f: FuncId,
    goals: &BTreeSet<Goal>,
    span: Span,
    config: &Config,
) -> Result<Meeting, String> {
    let function = program.function(f);
    if function.is_declaration() || function.variadic || function.params.iter().any(|p| p.byval.is_some()) {
        return Err(format!("{} has arguments that cannot be passed on", function.name));
    }
    let clock = Clock::new(config.time, config.deadline);
    let config = Config { context: Context::Anywhere, ..config.clone() };
    let graph = graph(program, f, goals, &config, Loops::Unwind(config.unwind), clock);
    let mut pointers = Pointers::new(program, &graph, clock)?;
    let layout = Layout::new(&mut pointers)?;
    let mut terms = Terms::new(64);
    let mut translator = Translator::new(&mut terms, &graph, pointers, layout);
    // Paths end where they are cut: what the condition says is reached, is reached.
    translator.exact = true;
    let transfers = translator.all(clock).ok_or(OUT_OF_TIME)?;
    let solver = SolverConfig { timeout: clock.left(), ..SolverConfig::bare(config.backend) };
    let session = Session::open(config.backend, &solver).map_err(|why| why.to_string())?;
    let mut search = Search { translator, session, clock, equates_arrays: false };
    let (reaches, cut) = conditions(&mut search, &graph, &transfers)?;
    let complete = cut == Terms::FALSE || search.check(&[cut]) == pleach_smt::Satisfiability::Unsat;
    if !complete && reaches == Terms::FALSE {
        return Err("no way to the target is followed to its end".into());
    }
    let known = known_terms(&mut search.translator, function);
    let mut front = Front::new(function, search.translator.terms, known);
    let c = front.operand(reaches)?;
    Ok(install(program, f, front, c, span, complete))
}

/// Values of variables at a node that are not those of the function's start.
type Values = FxHashMap<VarId, TermId>;

/// When the goals are reached and when a path is cut, as terms of the function's start. Where paths join, a variable
/// is one term with a case per path, so that the terms stay as small as the graph.
fn conditions(search: &mut Search, graph: &Graph, transfers: &[Transfer]) -> Result<(TermId, TermId), String> {
    let mut arrived: Vec<Vec<(TermId, Values)>> = vec![Vec::new(); graph.nodes.len()];
    arrived[graph.entry.index()].push((Terms::TRUE, Values::default()));
    let (mut reaches, mut cut) = (Terms::FALSE, Terms::FALSE);
    for &n in graph.order.iter().rev() {
        if let Some(why) = search.out_of_time() {
            return Err(why);
        }
        let ways = std::mem::take(&mut arrived[n.index()]);
        if ways.is_empty() {
            continue;
        }
        let (guard, values) = join(search, &ways)?;
        let transfer = &transfers[n.index()];
        let goal = search.own_condition(transfer, Aim::Goals);
        let cuts = search.own_condition(transfer, Aim::Cuts);
        for (own, all) in [(goal, &mut reaches), (cuts, &mut cut)] {
            let here = at_start(search, own, &values);
            let here = search.translator.terms.and(guard, here);
            *all = search.translator.terms.or(*all, here);
        }
        for e in &transfer.edges {
            let taken = at_start(search, e.condition, &values);
            let taken = search.translator.terms.and(guard, taken);
            if taken == Terms::FALSE {
                continue;
            }
            let mut after = values.clone();
            for (&v, &t) in &e.values {
                after.insert(v, at_start(search, t, &values));
            }
            arrived[e.to.index()].push((taken, after));
        }
    }
    Ok((reaches, cut))
}

/// A term of a node as one of the function's start.
fn at_start(search: &mut Search, t: TermId, values: &Values) -> TermId {
    let mut map = FxHashMap::default();
    for v in search.variables_of(t) {
        let tr = &mut search.translator;
        let base = tr.variables.term(tr.terms, v, 0);
        let value = values.get(&v).copied().unwrap_or_else(|| tr.variables.input(tr.terms, v));
        map.insert(base, value);
    }
    search.translator.terms.substitute(t, &map)
}

fn join(search: &mut Search, ways: &[(TermId, Values)]) -> Result<(TermId, Values), String> {
    let tr = &mut search.translator;
    let guards: Vec<TermId> = ways.iter().map(|w| w.0).collect();
    let guard = tr.terms.or_all(&guards);
    let mut joined = Values::default();
    for &v in ways.iter().flat_map(|w| w.1.keys()) {
        if joined.contains_key(&v) {
            continue;
        }
        let mut value: Option<TermId> = None;
        for (taken, values) in ways {
            let one = values.get(&v).copied().unwrap_or_else(|| tr.variables.input(tr.terms, v));
            value = Some(match value {
                None => one,
                Some(other) if other == one => one,
                Some(_) if tr.variables.is_array(v) => return Err("memory differs where paths join".into()),
                Some(other) => tr.terms.ite(*taken, one, other),
            });
        }
        joined.extend(value.map(|t| (v, t)));
    }
    Ok((guard, joined))
}

/// What a term of the function's start is in code.
#[derive(Clone, Copy)]
enum Source {
    Parameter(Slot),
    Global(GlobalId, i64, Ty),
}

/// Parameters, and cells of globals at constant offsets.
fn known_terms(tr: &mut Translator, f: &Function) -> FxHashMap<TermId, Source> {
    let mut known = FxHashMap::default();
    for p in f.params.iter().filter(|p| p.ty != Ty::Ptr) {
        let id = tr.variables.id(Var::Slot(FrameId::ENTRY, p.slot), SymbolKind::Bits(tr.program.target.bits(p.ty)));
        let input = tr.variables.input(tr.terms, id);
        known.insert(input, Source::Parameter(p.slot));
    }
    for g in 0..tr.pointers.groups.len() {
        let Group::Global(id) = tr.pointers.groups[g] else { continue };
        let group = crate::pointers::GroupId(g as u32);
        let region = tr.layout.regions[tr.layout.region(group)].clone();
        let Some(atoms) = tr.atoms_between(&region, 0, tr.program.global(id).size) else { continue };
        for (atom, at) in atoms {
            if let AtomKind::Bits { array } = atom.kind {
                let i = tr.cell_index(&region, group, at as u64);
                let input = tr.input_array(array);
                let cell = tr.terms.read(input, i);
                known.insert(cell, Source::Global(id, at, Ty::Int((atom.bytes * 8) as u16)));
            }
        }
    }
    known
}

/// The code in front of a function, while it is made.
struct Front<'t> {
    f: Function,
    terms: &'t Terms,
    known: FxHashMap<TermId, Source>,
    made: FxHashMap<TermId, Opnd>,
}

impl<'t> Front<'t> {
    fn new(of: &Function, terms: &'t Terms, known: FxHashMap<TermId, Source>) -> Front<'t> {
        let f = Function {
            name: of.name.clone(),
            params: of.params.clone(),
            results: of.results.clone(),
            noreturn: of.noreturn,
            slots: of.slots.clone(),
            span: of.span,
            ..Function::default()
        };
        Front { f, terms, known, made: FxHashMap::default() }
    }

    fn slot(&mut self, ty: Ty) -> Slot {
        self.f.slots.push(SlotInfo { ty, name: None, debug_type: None });
        Slot(self.f.slots.len() as u32 - 1)
    }

    fn push(&mut self, inst: Inst) {
        self.f.insts.push(inst);
        self.f.spans.push(Span::default());
    }

    fn constant(&mut self, c: Const) -> Opnd {
        self.f.consts.push(c);
        Opnd::constant(self.f.consts.len() as u32 - 1)
    }

    fn number(&mut self, width: u16, value: u64) -> Opnd {
        self.constant(Const::Int { width, value })
    }

    /// The operand that has the term's value; parts before wholes, without recursion.
    fn operand(&mut self, t: TermId) -> Result<Opnd, String> {
        let mut stack = vec![t];
        while let Some(&at) = stack.last() {
            if self.made.contains_key(&at) {
                stack.pop();
                continue;
            }
            let parts: Vec<TermId> = if self.known.contains_key(&at) { Vec::new() } else { self.parts(at)? };
            let missing: Vec<TermId> = parts.into_iter().filter(|p| !self.made.contains_key(p)).collect();
            if missing.is_empty() {
                let made = self.make(at)?;
                self.made.insert(at, made);
                stack.pop();
            }
            stack.extend(missing);
            if self.f.insts.len() > MAX_INSTRUCTIONS {
                return Err("the condition of the target is too large".into());
            }
        }
        Ok(self.made[&t])
    }

    fn parts(&self, t: TermId) -> Result<Vec<TermId>, String> {
        let n = self.terms.node(t);
        let (a, b, c) = (TermId(n.a), TermId(n.b), TermId(n.c));
        Ok(match n.op {
            Op::Const => Vec::new(),
            Op::Not | Op::Neg | Op::Extract | Op::ZExt | Op::SExt => vec![a],
            Op::And | Op::Or | Op::Xor | Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::LShr | Op::AShr => vec![a, b],
            Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::Concat => vec![a, b],
            Op::Ite => vec![a, b, c],
            Op::UDiv | Op::SDiv | Op::URem | Op::SRem => {
                return Err("the condition of the target has a division".into());
            }
            Op::Var | Op::ArrayVar | Op::Read => {
                return Err("the condition of the target is about memory or values that are not known there".into());
            }
            _ => return Err("the condition of the target cannot be computed".into()),
        })
    }

    fn bin(&mut self, op: BinOp, width: u16, a: Opnd, b: Opnd) -> Opnd {
        let dst = self.slot(Ty::Int(width));
        self.push(Inst::Bin { op, flags: flags::MOVED, width, dst, a, b });
        Opnd::slot(dst)
    }

    fn cast(&mut self, op: CastOp, from: u16, to: u16, a: Opnd) -> Opnd {
        if from == to {
            return a;
        }
        let dst = self.slot(Ty::Int(to));
        self.push(Inst::Cast { op, from, to, dst, a });
        Opnd::slot(dst)
    }

    fn make(&mut self, t: TermId) -> Result<Opnd, String> {
        let (n, w) = (self.terms.node(t), self.terms.width(t));
        match self.known.get(&t) {
            Some(Source::Parameter(slot)) => return Ok(self.parameter(*slot, w)),
            Some(&Source::Global(id, addend, ty)) => {
                let ptr = self.constant(Const::Addr { symbol: Symbol::Global(id), addend });
                let dst = self.slot(ty);
                self.push(Inst::Load { ty, volatile: false, align: 0, dst, ptr });
                return Ok(Opnd::slot(dst));
            }
            None => {}
        }
        if w > 64 {
            return Err("the condition of the target has numbers of more than 64 bits".into());
        }
        let of = |made: &FxHashMap<TermId, Opnd>, t: u32| made[&TermId(t)];
        let (ops, terms) = (&self.made, self.terms);
        let width = |t: u32| terms.width(TermId(t));
        if let Some(v) = terms.as_const(t) {
            return Ok(self.number(w, v));
        }
        Ok(match n.op {
            Op::Not => {
                let (a, ones) = (of(ops, n.a), self.number(w, pleach_expr::mask(w)));
                self.bin(BinOp::Xor, w, a, ones)
            }
            Op::Neg => {
                let (a, zero) = (of(ops, n.a), self.number(w, 0));
                self.bin(BinOp::Sub, w, zero, a)
            }
            Op::And | Op::Or | Op::Xor | Op::Add | Op::Sub | Op::Mul | Op::Shl | Op::LShr | Op::AShr => {
                let op = match n.op {
                    Op::And => BinOp::And,
                    Op::Or => BinOp::Or,
                    Op::Xor => BinOp::Xor,
                    Op::Add => BinOp::Add,
                    Op::Sub => BinOp::Sub,
                    Op::Mul => BinOp::Mul,
                    Op::Shl => BinOp::Shl,
                    Op::LShr => BinOp::LShr,
                    _ => BinOp::AShr,
                };
                let (a, b) = (of(ops, n.a), of(ops, n.b));
                self.bin(op, w, a, b)
            }
            Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle => {
                let op = match n.op {
                    Op::Eq => CmpOp::Eq,
                    Op::Ult => CmpOp::Ult,
                    Op::Ule => CmpOp::Ule,
                    Op::Slt => CmpOp::Slt,
                    _ => CmpOp::Sle,
                };
                let (a, b, width) = (of(ops, n.a), of(ops, n.b), width(n.a));
                let dst = self.slot(Ty::Int(1));
                self.push(Inst::Cmp { op, width, dst, a, b });
                Opnd::slot(dst)
            }
            Op::Concat => {
                let (high, low, below) = (of(ops, n.a), of(ops, n.b), width(n.b));
                let high = self.cast(CastOp::ZExt, w - below, w, high);
                let low = self.cast(CastOp::ZExt, below, w, low);
                let by = self.number(w, u64::from(below));
                let high = self.bin(BinOp::Shl, w, high, by);
                self.bin(BinOp::Or, w, high, low)
            }
            Op::Extract => {
                let (a, from) = (of(ops, n.a), width(n.a));
                let by = self.number(from, u64::from(n.b));
                let moved = self.bin(BinOp::LShr, from, a, by);
                self.cast(CastOp::Trunc, from, w, moved)
            }
            Op::ZExt | Op::SExt => {
                let op = if n.op == Op::ZExt { CastOp::ZExt } else { CastOp::SExt };
                let (a, from) = (of(ops, n.a), width(n.a));
                self.cast(op, from, w, a)
            }
            Op::Ite => {
                let (cond, a, b) = (of(ops, n.a), of(ops, n.b), of(ops, n.c));
                let dst = self.slot(Ty::Int(w));
                self.push(Inst::Select { ty: Ty::Int(w), dst, cond, a, b });
                Opnd::slot(dst)
            }
            _ => return Err("the condition of the target cannot be computed".into()),
        })
    }

    /// A parameter as bits.
    fn parameter(&mut self, slot: Slot, width: u16) -> Opnd {
        if matches!(self.f.slots[slot.index()].ty, Ty::Int(_)) {
            return Opnd::slot(slot);
        }
        let dst = self.slot(Ty::Int(width));
        self.push(Inst::Mov { dst, a: Opnd::slot(slot) });
        Opnd::slot(dst)
    }
}

/// Four blocks: the condition, the meeting, the call of the body, nothing else.
fn install(program: &Program, f: FuncId, front: Front, c: Opnd, span: Span, complete: bool) -> Meeting {
    let mut program = program.clone();
    let mut body = program.function(f).clone();
    let mut name = format!("{}.body", body.name);
    while program.function_named(&name).is_some() {
        name.push('\'');
    }
    body.name = name;
    let results = body.results.clone();
    let body = program.add_function(body);
    let mut new = front.f;
    let edge = |target: usize| Edge { target: BlockId::new(target), copies: Range::default() };
    new.edges = vec![edge(1), edge(2)];
    let push = |new: &mut Function, inst, span| {
        new.insts.push(inst);
        new.spans.push(span);
    };
    push(&mut new, Inst::Branch { cond: c, edges: 0 }, Span::default());
    let meeting = new.insts.len();
    push(&mut new, Inst::Jump { edge: edge(2) }, span);
    let call = new.insts.len();
    new.args = new.params.iter().map(|p| Arg { value: Opnd::slot(p.slot), ty: p.ty, byval: 0 }).collect();
    let args = Range { start: 0, len: new.args.len() as u32 };
    let first = new.slots.len() as u32;
    for (k, &ty) in results.iter().enumerate() {
        new.slots.push(SlotInfo { ty, name: None, debug_type: None });
        let slot = Slot(first + k as u32);
        new.dsts.push(slot);
        new.args.push(Arg { value: Opnd::slot(slot), ty, byval: 0 });
    }
    let n = results.len() as u32;
    let dsts = Range { start: 0, len: n };
    push(&mut new, Inst::Call { callee: Callee::Direct(body), dsts, args }, Span::default());
    push(&mut new, Inst::Return { values: Range { start: args.len, len: n } }, Span::default());
    let block = |first: usize, end: usize| Block { first: InstId::new(first), len: (end - first) as u32 };
    new.blocks = vec![block(0, meeting), block(meeting, call), block(call, new.insts.len())];
    // No line is covered by coming here: the target itself is not executed.
    new.block_spans = vec![Vec::new(); 3];
    new.block_weight = vec![0; 3];
    program.functions[f.index()] = new;
    Meeting { program, at: (f, InstId::new(meeting)), body, complete }
}
