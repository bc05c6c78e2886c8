//! What a node of the graph does, as terms over the variables at its beginning.
//!
//! *Paper*: Backward Fig. 4 and 5, the cases of PROCESSOPERATION: what both styles have in common. *Idea*: a node is an
//! assumption (no error happens), and for each edge a condition and new values of variables. *Invariant*: an execution
//! of the node that leaves by the edge satisfies both, or one of the node's cuts. *Deviations*: an operation that would
//! be an error ends the path; the paper has only null. Fields of a new object have any value (`new` initialises
//! nothing). *Known values*: a variable that has the same value on all paths to a node, as a term over the input, is
//! that term there; only the others are variables of conditions.

use crate::cut::CutReason;
use crate::graph::{FrameId, Graph, NodeId, Role, Via, ends_program};
use crate::layout::Layout;
use crate::pointers::{Group, GroupId, Pointers, State};
use crate::variables::{Var, VarId, Variables, symbol};
use pleach_expr::{SymbolKind, TermId, Terms};
use pleach_ir::{
    BinOp, Callee, CastOp, CmpOp, Const, Function, Inst, Opnd, OpndKind, Program, Range, Slot, Symbol, Ty, flags,
};
use pleach_semantics as semantics;
use rustc_hash::FxHashMap;

/// What is known at a node of the variables that were assigned: their value in terms of the input, or that it differs
/// between paths. The others are those of the input.
pub type Known = FxHashMap<VarId, Option<TermId>>;

/// One way out of a node.
pub struct Taken {
    pub to: NodeId,
    pub condition: TermId,
    pub values: FxHashMap<VarId, TermId>,
}

#[derive(Default)]
pub struct Transfer {
    /// the node is a goal, under this condition
    pub goal: Option<TermId>,
    /// executions that are not followed from here
    pub cuts: Vec<(TermId, CutReason)>,
    pub edges: Vec<Taken>,
    /// at the beginning
    pub known: Known,
}

/// A value in a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Value {
    Bits(TermId),
    Pointer { reference: TermId, offset: TermId },
}

pub struct Translator<'a> {
    pub terms: &'a mut Terms,
    pub program: &'a Program,
    pub graph: &'a Graph,
    pub pointers: Pointers<'a>,
    pub layout: Layout,
    pub variables: Variables,
    fresh: u32,
    /// numbers that were made of pointers
    pub(crate) numbers: FxHashMap<TermId, (TermId, TermId)>,
    /// per node, while paths to it are joined
    known: Vec<Option<Known>>,
    /// terms without variables
    inputs_only: FxHashMap<TermId, bool>,
    /// paths end where they are cut
    pub exact: bool,
}

/// The node at hand.
pub struct Here<'f> {
    pub n: NodeId,
    pub frame: FrameId,
    pub f: &'f Function,
    /// what pointers refer to, now and at the beginning
    pub state: State,
    pub start: State,
    pub values: FxHashMap<VarId, TermId>,
    /// no error so far
    pub assume: TermId,
    pub cuts: Vec<(TermId, CutReason)>,
    known: Known,
}

impl<'a> Translator<'a> {
    pub fn new(terms: &'a mut Terms, graph: &'a Graph, pointers: Pointers<'a>, layout: Layout) -> Translator<'a> {
        let program = pointers.program;
        let variables = Variables::default();
        let known = vec![None; graph.nodes.len()];
        let (numbers, inputs_only) = (FxHashMap::default(), FxHashMap::default());
        Translator {
            terms,
            program,
            graph,
            pointers,
            layout,
            variables,
            fresh: 0,
            numbers,
            known,
            inputs_only,
            exact: false,
        }
    }

    /// Every node, from the entry on.
    pub fn all(&mut self) -> Vec<Transfer> {
        let mut transfers: Vec<Transfer> = (0..self.graph.nodes.len()).map(|_| Transfer::default()).collect();
        self.known[self.graph.entry.index()] = Some(Known::default());
        for &n in self.graph.order.iter().rev() {
            // SOUND: no path leads to a node that nothing is known of.
            let Some(known) = self.known[n.index()].take() else { continue };
            let mut made = self.node(n, known);
            for e in &mut made.edges {
                self.join(&made.known, e);
            }
            transfers[n.index()] = made;
        }
        transfers
    }

    /// Adds a path to what is known at its end.
    fn join(&mut self, before: &Known, e: &Taken) {
        let mut after = before.clone();
        for (&v, &t) in &e.values {
            let value = self.is_input(t).then_some(t);
            after.insert(v, value);
        }
        let Some(old) = self.known[e.to.index()].take() else {
            self.known[e.to.index()] = Some(after);
            return;
        };
        let mut joined = Known::default();
        for &v in old.keys().chain(after.keys()) {
            let (a, b) = (self.known_value(&old, v), self.known_value(&after, v));
            joined.insert(v, if a == b { a } else { None });
        }
        self.known[e.to.index()] = Some(joined);
    }

    /// The value of a variable in terms of the input.
    pub fn known_value(&mut self, known: &Known, v: VarId) -> Option<TermId> {
        match known.get(&v) {
            Some(value) => *value,
            None => Some(self.variables.input(self.terms, v)),
        }
    }

    fn is_input(&mut self, t: TermId) -> bool {
        if let Some(&known) = self.inputs_only.get(&t) {
            return known;
        }
        let support = self.terms.support(t);
        let only = support.iter().all(|k| self.variables.by_symbol(k.symbol()).is_none());
        self.inputs_only.insert(t, only);
        only
    }

    fn node(&mut self, n: NodeId, known: Known) -> Transfer {
        let node = self.graph.node(n);
        let f = self.graph.function(self.program, node.frame);
        let state = self.pointers.before[n.index()].clone();
        let mut here = Here {
            n,
            frame: node.frame,
            f,
            start: state.clone(),
            state,
            values: FxHashMap::default(),
            assume: Terms::TRUE,
            cuts: Vec::new(),
            known,
        };
        match &node.role {
            Role::Cut(reason) => {
                return Transfer { cuts: vec![(Terms::TRUE, reason.clone())], ..Transfer::default() };
            }
            Role::Goal(None) => return Transfer { goal: Some(Terms::TRUE), ..Transfer::default() },
            Role::Goal(Some(i)) => {
                let fails = self.failure(&mut here, *i);
                let goal = self.terms.and(here.assume, fails);
                return Transfer { goal: Some(goal), cuts: here.cuts, known: here.known, edges: Vec::new() };
            }
            Role::Inner => {}
        }
        if let Some(l) = node.havoc {
            self.havoc(&mut here, l);
        }
        for i in node.insts.clone() {
            if here.assume == Terms::FALSE {
                break;
            }
            self.inst(&mut here, i);
            self.pointers.step(n, f, i, &mut here.state);
        }
        let mut edges = Vec::new();
        for e in &node.edges {
            if here.assume != Terms::FALSE
                && let Some(taken) = self.edge(&mut here, e.to, &e.via)
                && taken.condition != Terms::FALSE
            {
                edges.push(taken);
            }
        }
        Transfer { goal: None, cuts: here.cuts, edges, known: here.known }
    }

    fn edge(&mut self, here: &mut Here, to: NodeId, via: &Via) -> Option<Taken> {
        let before = here.values.clone();
        let f = here.f;
        let end = self.graph.node(here.n).insts.end;
        let condition = match via {
            Via::Jump(copies) => {
                self.copies(here, *copies);
                Terms::TRUE
            }
            Via::Branch(taken, copies) => {
                let Inst::Branch { cond, .. } = f.insts[end] else { return None };
                let c = self.bits(here, cond, 1);
                self.copies(here, *copies);
                if *taken { c } else { self.terms.not(c) }
            }
            Via::Case(i, copies) => {
                let Inst::Switch { width, value, .. } = f.insts[end] else { return None };
                let v = self.bits(here, value, width);
                self.copies(here, *copies);
                let case = self.terms.constant(width, f.cases[*i].value);
                self.terms.eq(v, case)
            }
            Via::Default(copies) => {
                let Inst::Switch { width, value, cases, .. } = f.insts[end] else { return None };
                let v = self.bits(here, value, width);
                let mut none = Terms::TRUE;
                for case in &f.cases[cases.as_range()] {
                    let case = self.terms.constant(width, case.value);
                    let other = self.terms.ne(v, case);
                    none = self.terms.and(none, other);
                }
                self.copies(here, *copies);
                none
            }
            Via::Call => {
                self.bind(here, to, end);
                Terms::TRUE
            }
            Via::Return => {
                self.bind_results(here, end);
                Terms::TRUE
            }
        };
        let condition = self.terms.and(here.assume, condition);
        let values = std::mem::replace(&mut here.values, before);
        Some(Taken { to, condition, values })
    }

    fn copies(&mut self, here: &mut Here, copies: Range) {
        for c in &here.f.copies[copies.as_range()] {
            let v = self.value(here, c.src, here.f.slots[c.dst.index()].ty);
            self.set(here, c.dst, v);
        }
    }

    fn bind(&mut self, here: &mut Here, to: NodeId, call: usize) {
        let callee = self.graph.node(to).frame;
        let g = self.graph.function(self.program, callee);
        let Inst::Call { args, .. } = here.f.insts[call] else { return };
        let args = &here.f.args[args.as_range()];
        for (arg, p) in args.iter().zip(&g.params) {
            if p.byval.is_some() {
                self.cut(here, CutReason::Unsupported("a structure passed by value".into()));
            }
            let v = self.value(here, arg.value, p.ty);
            self.set_in(here, callee, g, p.slot, v);
        }
    }

    fn bind_results(&mut self, here: &mut Here, ret: usize) {
        let Some(caller) = self.graph.frames[here.frame.index()].caller.clone() else { return };
        let g = self.graph.function(self.program, caller.frame);
        let (Inst::Return { values }, Inst::Call { dsts, .. }) = (&here.f.insts[ret], &g.insts[caller.call]) else {
            return;
        };
        for (v, d) in here.f.args[values.as_range()].iter().zip(&g.dsts[dsts.as_range()]) {
            let v = self.value(here, v.value, v.ty);
            self.set_in(here, caller.frame, g, *d, v);
        }
    }

    /// Executions that come here are not followed exactly.
    pub fn cut(&mut self, here: &mut Here, reason: CutReason) {
        self.cut_if(here, Terms::TRUE, reason);
    }

    pub fn cut_if(&mut self, here: &mut Here, condition: TermId, reason: CutReason) {
        let when = self.terms.and(here.assume, condition);
        if when != Terms::FALSE {
            here.cuts.push((when, reason));
        }
        if self.exact {
            let follow = self.terms.not(condition);
            self.assume(here, follow);
        }
    }

    pub fn unsupported(&mut self, here: &mut Here, what: &str) {
        self.cut(here, CutReason::Unsupported(what.to_owned()));
    }

    pub fn assume(&mut self, here: &mut Here, condition: TermId) {
        here.assume = self.terms.and(here.assume, condition);
    }

    /// Any value.
    pub fn any(&mut self, width: u16) -> TermId {
        self.fresh += 1;
        symbol(self.terms, &format!("any{}", self.fresh), SymbolKind::Bits(width))
    }

    pub fn any_value(&mut self, ty: Ty) -> Value {
        match ty {
            Ty::Ptr => Value::Pointer { reference: self.any(self.layout.ref_bits), offset: self.any(64) },
            ty => Value::Bits(self.any(self.program.target.bits(ty))),
        }
    }

    pub fn any_array(&mut self, element: u16) -> TermId {
        self.fresh += 1;
        symbol(self.terms, &format!("any{}", self.fresh), SymbolKind::total(element))
    }

    pub fn read_var(&mut self, here: &Here, var: Var, kind: SymbolKind) -> TermId {
        let id = self.variables.id(var, kind);
        if let Some(&v) = here.values.get(&id) {
            return v;
        }
        match self.known_value(&here.known, id) {
            Some(v) => v,
            None => self.variables.term(self.terms, id, 0),
        }
    }

    pub fn write_var(&mut self, here: &mut Here, var: Var, kind: SymbolKind, v: TermId) {
        let id = self.variables.id(var, kind);
        here.values.insert(id, v);
    }

    /// The value of a slot.
    pub fn slot(&mut self, here: &Here, s: Slot) -> Value {
        let ty = here.f.slots[s.index()].ty;
        if ty != Ty::Ptr {
            let width = self.program.target.bits(ty);
            return Value::Bits(self.read_var(here, Var::Slot(here.frame, s), SymbolKind::Bits(width)));
        }
        let reference = self.read_var(here, Var::Ref(here.frame, s), SymbolKind::Bits(self.layout.ref_bits));
        let id = self.variables.id(Var::Off(here.frame, s), SymbolKind::Bits(64));
        let known = here.start.get(&(here.frame, s)).and_then(|p| p.offset).and_then(|o| o.as_known());
        let offset = match (here.values.get(&id), known) {
            (Some(&v), _) => v,
            (None, Some(k)) => self.terms.constant(64, k as u64),
            (None, None) => self.read_var(here, Var::Off(here.frame, s), SymbolKind::Bits(64)),
        };
        Value::Pointer { reference, offset }
    }

    pub fn set(&mut self, here: &mut Here, s: Slot, v: Value) {
        let (frame, f) = (here.frame, here.f);
        self.set_in(here, frame, f, s, v);
    }

    fn set_in(&mut self, here: &mut Here, frame: FrameId, f: &Function, s: Slot, v: Value) {
        let ty = f.slots[s.index()].ty;
        match (ty, v) {
            (Ty::Ptr, Value::Pointer { reference, offset }) => {
                self.write_var(here, Var::Ref(frame, s), SymbolKind::Bits(self.layout.ref_bits), reference);
                self.write_var(here, Var::Off(frame, s), SymbolKind::Bits(64), offset);
            }
            (Ty::Ptr, Value::Bits(t)) => {
                let v = self.pointer_of(here, t);
                self.set_in(here, frame, f, s, v);
            }
            (ty, Value::Bits(t)) => {
                let width = self.program.target.bits(ty);
                let t = self.terms.resize_unsigned(t, width);
                self.write_var(here, Var::Slot(frame, s), SymbolKind::Bits(width), t);
            }
            (ty, Value::Pointer { reference, offset }) => {
                let width = self.program.target.bits(ty);
                let t = self.number_of(here, reference, offset);
                let t = self.terms.resize_unsigned(t, width);
                self.write_var(here, Var::Slot(frame, s), SymbolKind::Bits(width), t);
            }
        }
    }

    pub fn null(&mut self) -> Value {
        Value::Pointer { reference: self.terms.constant(self.layout.ref_bits, 0), offset: self.terms.constant(64, 0) }
    }

    pub fn reference(&mut self, g: GroupId) -> TermId {
        let (first, _) = self.layout.ranges[g.index()];
        self.terms.constant(self.layout.ref_bits, first as u64)
    }

    pub fn value(&mut self, here: &mut Here, o: Opnd, ty: Ty) -> Value {
        let v = match o.kind() {
            OpndKind::Slot(s) => self.slot(here, s),
            OpndKind::Const(c) => match here.f.consts[c as usize].clone() {
                Const::Int { value: 0, .. } if ty == Ty::Ptr => self.null(),
                Const::Int { width, value } => Value::Bits(self.terms.constant(width, value)),
                Const::Wide { width, limbs } => Value::Bits(self.terms.wide_constant(width, &limbs)),
                Const::Undef { .. } => self.any_value(ty),
                Const::Addr { symbol, addend } => {
                    let group = match symbol {
                        Symbol::Global(g) => self.pointers.find(Group::Global(g)),
                        Symbol::Function(f) => self.pointers.find(Group::Function(f)),
                        Symbol::Block(..) => None,
                    };
                    match group {
                        Some(g) => {
                            let offset = self.terms.constant(64, addend as u64);
                            Value::Pointer { reference: self.reference(g), offset }
                        }
                        None => {
                            self.unsupported(here, "the address of a label");
                            self.any_value(Ty::Ptr)
                        }
                    }
                }
            },
        };
        match (ty, v) {
            (Ty::Ptr, Value::Bits(t)) => self.pointer_of(here, t),
            _ => v,
        }
    }

    pub fn bits(&mut self, here: &mut Here, o: Opnd, width: u16) -> TermId {
        match self.value(here, o, Ty::Int(width)) {
            Value::Bits(t) => self.terms.resize_unsigned(t, width),
            Value::Pointer { reference, offset } => {
                let t = self.number_of(here, reference, offset);
                self.terms.resize_unsigned(t, width)
            }
        }
    }

    pub fn pointer(&mut self, here: &mut Here, o: Opnd) -> (TermId, TermId) {
        match self.value(here, o, Ty::Ptr) {
            Value::Pointer { reference, offset } => (reference, offset),
            Value::Bits(_) => (self.any(self.layout.ref_bits), self.any(64)),
        }
    }

    /// A pointer as a number: any number, but 0 only for null.
    fn number_of(&mut self, here: &mut Here, reference: TermId, offset: TermId) -> TermId {
        let t = self.any(64);
        let (none, zero) = (self.terms.constant(self.layout.ref_bits, 0), self.terms.constant(64, 0));
        let is_null = self.terms.eq(reference, none);
        let at_zero = self.terms.eq(offset, zero);
        let is_null = self.terms.and(is_null, at_zero);
        let is_zero = self.terms.eq(t, zero);
        let same = self.terms.eq(is_null, is_zero);
        self.assume(here, same);
        self.numbers.insert(t, (reference, offset));
        t
    }

    fn pointer_of(&mut self, here: &mut Here, t: TermId) -> Value {
        if let Some(&(reference, offset)) = self.numbers.get(&t) {
            return Value::Pointer { reference, offset };
        }
        if self.terms.as_const(t) == Some(0) {
            return self.null();
        }
        self.unsupported(here, "a number becomes a pointer");
        self.any_value(Ty::Ptr)
    }

    fn is_pointer(&self, f: &Function, o: Opnd) -> bool {
        match o.kind() {
            OpndKind::Slot(s) => f.slots[s.index()].ty == Ty::Ptr,
            OpndKind::Const(c) => matches!(f.consts[c as usize], Const::Addr { .. }),
        }
    }

    fn inst(&mut self, here: &mut Here, i: usize) {
        let f = here.f;
        match f.insts[i] {
            Inst::Bin { op, flags, width, dst, a, b } => {
                let (x, y) = (self.bits(here, a, width), self.bits(here, b, width));
                let ok = self.defined(op, flags, width, x, y);
                self.assume(here, ok);
                let v = match (op, self.numbers.get(&x).copied(), self.numbers.get(&y).copied()) {
                    (BinOp::Sub, Some((r, o)), Some((s, p))) if width == 64 => {
                        let (same, difference, other) = (self.terms.eq(r, s), self.terms.sub(o, p), self.any(64));
                        self.terms.ite(same, difference, other)
                    }
                    _ => semantics::bin_term(self.terms, op, x, y),
                };
                self.set(here, dst, Value::Bits(v));
            }
            Inst::Cmp { op, width, dst, a, b } => {
                let v = if self.is_pointer(f, a) || self.is_pointer(f, b) {
                    self.compare_pointers(here, op, a, b)
                } else {
                    let (x, y) = (self.bits(here, a, width), self.bits(here, b, width));
                    semantics::cmp_term(self.terms, op, x, y)
                };
                self.set(here, dst, Value::Bits(v));
            }
            Inst::Cast { op, from, to, dst, a } => self.cast(here, op, from, to, dst, a),
            Inst::Select { ty, dst, cond, a, b } => {
                let c = self.bits(here, cond, 1);
                let v = match (self.value(here, a, ty), self.value(here, b, ty)) {
                    (Value::Bits(x), Value::Bits(y)) => Value::Bits(self.terms.ite(c, x, y)),
                    (Value::Pointer { reference: r, offset: o }, Value::Pointer { reference: s, offset: p }) => {
                        Value::Pointer { reference: self.terms.ite(c, r, s), offset: self.terms.ite(c, o, p) }
                    }
                    _ => self.any_value(ty),
                };
                self.set(here, dst, v);
            }
            Inst::Mov { dst, a } => {
                let v = self.value(here, a, f.slots[dst.index()].ty);
                self.set(here, dst, v);
            }
            Inst::Freeze { ty, dst, a } => {
                let v = self.value(here, a, ty);
                self.set(here, dst, v);
            }
            Inst::Undef { dst } => {
                let v = self.any_value(f.slots[dst.index()].ty);
                self.set(here, dst, v);
            }
            Inst::Load { ty, align, dst, ptr, .. } => {
                let at = self.pointers.operand(here.frame, f, ptr, &here.state);
                let (reference, offset) = self.pointer(here, ptr);
                let v = self.load(here, &at, reference, offset, ty, align);
                self.set(here, dst, v);
            }
            Inst::Store { ty, align, ptr, value, .. } => {
                let at = self.pointers.operand(here.frame, f, ptr, &here.state);
                let (reference, offset) = self.pointer(here, ptr);
                let v = self.value(here, value, ty);
                self.store(here, &at, reference, offset, ty, align, v);
            }
            Inst::Gep { dst, base, offset, parts } => {
                let (reference, mut at) = self.pointer(here, base);
                let k = self.terms.constant(64, offset as u64);
                at = self.terms.add(at, k);
                for s in &f.scaled[parts.as_range()] {
                    let i = self.bits(here, s.index, s.width);
                    let i = self.terms.resize_signed(i, 64);
                    let scale = self.terms.constant(64, s.scale as u64);
                    let by = self.terms.mul(i, scale);
                    at = self.terms.add(at, by);
                }
                self.set(here, dst, Value::Pointer { reference, offset: at });
            }
            Inst::Alloca { dst, size, count, count_width, .. } => {
                let count = self.bits(here, count, count_width);
                let count = self.terms.resize_unsigned(count, 64);
                let size = self.terms.constant(64, size);
                let bytes = self.terms.mul(size, count);
                let v = self.allocate(here, i, bytes, false);
                self.set(here, dst, v);
            }
            Inst::Call { callee, dsts, args } => self.call(here, i, callee, dsts, args),
            Inst::Scalar { op, ty, dsts, args } => {
                let w = self.program.target.bits(ty);
                let values: Vec<TermId> = f.args[args.as_range()]
                    .iter()
                    .map(|a| self.bits(here, a.value, self.program.target.bits(a.ty)))
                    .collect();
                let results = semantics::scalar_terms(self.terms, op, ty, w, &values);
                if results.is_none() {
                    self.unsupported(here, "an intrinsic");
                }
                for (k, &d) in f.dsts[dsts.as_range()].iter().enumerate() {
                    let v = match results.as_ref().and_then(|r| r.get(k)) {
                        Some(&t) => Value::Bits(t),
                        None => self.any_value(f.slots[d.index()].ty),
                    };
                    self.set(here, d, v);
                }
            }
            Inst::FBin { op, ty, dst, a, b } => {
                let (x, y) = (self.bits(here, a, ty.bits()), self.bits(here, b, ty.bits()));
                let v = semantics::float_bin(self.terms, op, x, y);
                self.set(here, dst, Value::Bits(v));
            }
            Inst::FNeg { ty, dst, a } => {
                let x = self.bits(here, a, ty.bits());
                let v = semantics::float_neg(self.terms, x);
                self.set(here, dst, Value::Bits(v));
            }
            Inst::FCmp { op, ty, dst, a, b } => {
                let (x, y) = (self.bits(here, a, ty.bits()), self.bits(here, b, ty.bits()));
                let v = semantics::float_cmp(self.terms, op, x, y);
                self.set(here, dst, Value::Bits(v));
            }
            Inst::FCast { op, from, to, dst, a } => {
                let x = self.bits(here, a, self.program.target.bits(from));
                let v = semantics::float_cast(self.terms, op, x, self.program.target.bits(to));
                self.set(here, dst, Value::Bits(v));
            }
            Inst::MemCopy { dst, src, len, .. } => self.copy_memory(here, dst, src, len),
            Inst::MemSet { dst, byte, len, .. } => self.fill_memory(here, dst, byte, len),
            Inst::Check { cond, .. } => {
                let c = self.bits(here, cond, 1);
                self.assume(here, c);
            }
            Inst::StackSave { dst } => {
                let v = self.null();
                self.set(here, dst, v);
            }
            // A local after its scope or its frame is not watched: using it is an error that forward execution finds.
            Inst::Assume { .. } | Inst::ScopeEnd { .. } | Inst::StackRestore { .. } => {}
            Inst::VaStart { .. } | Inst::VaCopy { .. } | Inst::VaEnd { .. } => {
                self.unsupported(here, "variable arguments");
                here.assume = Terms::FALSE;
            }
            Inst::VaArg { .. } => {
                self.unsupported(here, "variable arguments");
                here.assume = Terms::FALSE;
            }
            Inst::Unsupported { name } => {
                let what = f.names[name as usize].clone();
                self.unsupported(here, &what);
                here.assume = Terms::FALSE;
            }
            Inst::Jump { .. }
            | Inst::Branch { .. }
            | Inst::Switch { .. }
            | Inst::IndirectJump { .. }
            | Inst::Return { .. }
            | Inst::Unreachable => {}
        }
    }

    /// The operation has a value.
    fn defined(&mut self, op: BinOp, flags: u8, width: u16, x: TermId, y: TermId) -> TermId {
        let t = &mut *self.terms;
        match op {
            BinOp::UDiv | BinOp::URem => {
                let zero = t.constant(width, 0);
                t.ne(y, zero)
            }
            BinOp::SDiv | BinOp::SRem => {
                let zero = t.constant(width, 0);
                let minus = t.not(zero);
                let least = semantics::signed_min(t, width);
                let (nonzero, is_minus, is_least) = (t.ne(y, zero), t.eq(y, minus), t.eq(x, least));
                let overflow = t.and(is_minus, is_least);
                let fits = t.not(overflow);
                t.and(nonzero, fits)
            }
            BinOp::Shl | BinOp::LShr | BinOp::AShr if flags & flags::MOVED == 0 => {
                let w = t.constant(width, u64::from(width));
                t.ult(y, w)
            }
            _ => Terms::TRUE,
        }
    }

    fn compare_pointers(&mut self, here: &mut Here, op: CmpOp, a: Opnd, b: Opnd) -> TermId {
        let ((r, o), (s, p)) = (self.pointer(here, a), self.pointer(here, b));
        let same = self.terms.eq(r, s);
        let at = self.terms.eq(o, p);
        let equal = self.terms.and(same, at);
        match op {
            CmpOp::Eq => equal,
            CmpOp::Ne => self.terms.not(equal),
            op => {
                let other = self.terms.not(same);
                let what = "pointers into different objects are compared by <".to_owned();
                self.cut_if(here, other, CutReason::Unsupported(what));
                let (within, any) = (semantics::cmp_term(self.terms, op, o, p), self.any(1));
                self.terms.ite(same, within, any)
            }
        }
    }

    fn cast(&mut self, here: &mut Here, op: CastOp, from: u16, to: u16, dst: Slot, a: Opnd) {
        let v = match op {
            CastOp::Trunc => {
                let x = self.bits(here, a, from);
                Value::Bits(self.terms.resize_unsigned(x, to))
            }
            CastOp::ZExt => {
                let x = self.bits(here, a, from);
                Value::Bits(self.terms.resize_unsigned(x, to))
            }
            CastOp::SExt => {
                let x = self.bits(here, a, from);
                Value::Bits(self.terms.resize_signed(x, to))
            }
            CastOp::PtrToInt => {
                let x = self.bits(here, a, 64);
                Value::Bits(self.terms.resize_unsigned(x, to))
            }
            CastOp::IntToPtr => self.value(here, a, Ty::Ptr),
        };
        self.set(here, dst, v);
    }

    fn call(&mut self, here: &mut Here, i: usize, callee: Callee, dsts: Range, args: Range) {
        let f = here.f;
        let args = &f.args[args.as_range()];
        let (name, declared, modelled) = match callee {
            Callee::Direct(g) => {
                let g = self.program.function(g);
                (g.name.as_str(), g.is_declaration(), crate::graph::is_modelled(g))
            }
            Callee::Indirect(_) => ("", true, false),
        };
        let dst = f.dsts[dsts.as_range()].first().copied();
        match name {
            "" => self.unsupported(here, "a call through a pointer"),
            "malloc" | "calloc" => {
                let mut bytes = self.terms.constant(64, 1);
                for a in args {
                    let n = self.bits(here, a.value, self.program.target.bits(a.ty));
                    let n = self.terms.resize_unsigned(n, 64);
                    bytes = self.terms.mul(bytes, n);
                }
                let v = self.allocate(here, i, bytes, name == "calloc");
                if let Some(d) = dst {
                    self.set(here, d, v);
                }
                return;
            }
            "free" => return self.free(here, args[0].value),
            "klee_assume" | "__VERIFIER_assume" | "__VERIFIER_assert" if modelled => {
                let width = self.program.target.bits(args[0].ty);
                let c = self.bits(here, args[0].value, width);
                let zero = self.terms.constant(width, 0);
                let holds = self.terms.ne(c, zero);
                self.assume(here, holds);
            }
            _ if modelled => {}
            name if declared && (name.starts_with("__VERIFIER_nondet_") || name == "klee_int") => {}
            name if declared => self.cut(here, CutReason::External(name.to_owned())),
            name => self.cut(here, CutReason::Inline(name.to_owned())),
        }
        for &d in &f.dsts[dsts.as_range()] {
            let v = self.any_value(f.slots[d.index()].ty);
            self.set(here, d, v);
        }
    }

    /// When the instruction is an error.
    fn failure(&mut self, here: &mut Here, i: usize) -> TermId {
        let f = here.f;
        match f.insts[i] {
            Inst::Bin { op, flags, width, a, b, .. } => {
                let (x, y) = (self.bits(here, a, width), self.bits(here, b, width));
                let ok = self.defined(op, flags, width, x, y);
                self.terms.not(ok)
            }
            Inst::Check { cond, .. } => {
                let c = self.bits(here, cond, 1);
                self.terms.not(c)
            }
            Inst::Load { ty, ptr, .. } | Inst::Store { ty, ptr, .. } => {
                let write = matches!(f.insts[i], Inst::Store { .. });
                let at = self.pointers.operand(here.frame, f, ptr, &here.state);
                let (reference, offset) = self.pointer(here, ptr);
                let bytes = u64::from(self.program.target.store_bytes(ty));
                let ok = self.valid(here, &at, reference, offset, bytes, write);
                self.terms.not(ok)
            }
            Inst::Call { callee: Callee::Direct(g), args, .. } => {
                let args = &f.args[args.as_range()];
                match (ends_program(self.program.function(g)), args.first()) {
                    (true, _) => Terms::TRUE,
                    (false, Some(arg)) => {
                        let width = self.program.target.bits(arg.ty);
                        let c = self.bits(here, arg.value, width);
                        let zero = self.terms.constant(width, 0);
                        self.terms.eq(c, zero)
                    }
                    (false, None) => Terms::FALSE,
                }
            }
            _ => Terms::FALSE,
        }
    }
}
