//! Weakest preconditions: propagates a condition backward over what a path executed.
//!
//! *Paper*: TracerX Fig. 6 (BACKPROP), HeapInterp §IV. *Idea*: assignments substitute; reads become the cell that was
//! read, with the pointer pinned to its object; every access leaves the obligation that it is valid; a branch that
//! could go only one way leaves the condition under which it does. *Invariant*: from every state that satisfies the
//! result, executing the recorded instructions takes the same way without an error and ends in a state that satisfies
//! the condition given. *Deviations*: memory is matched by object variables (points-to literals) instead of array
//! terms; an access at an offset that is not constant is a choice between the words of a small object. *Direction*: may
//! give up ([`NoInterpolant`]); what it returns may be stronger than the weakest precondition, never weaker. *Checked
//! by*: the tests that compare runs with and without `--prune`.

use crate::condition::{Condition, Dereferenceable, MAX_POSSIBLE, PointsTo};
use crate::diamond::EndOfTrace;
use crate::known_side::KnownSides;
use crate::linear_sum::Sum;
use crate::location::{Loc, Locs};
use crate::occurrence_index::OccurrenceIndex;
use pleach_expr::{SymbolId, TermId, Terms};
use pleach_ir::{Const, Function, Inst, Opnd, OpndKind, Program, Slot, Ty};
use pleach_memory::{ObjId, Size, Value};
use pleach_state::seams::TermOracle;
use pleach_state::trace::{Exit, Run};
use pleach_state::{Access, SizeBound, Trace};
use rustc_hash::FxHashMap;

/// Within one edge of the tree a condition may grow to this many conjuncts before it is tightened; more would make the
/// propagation quadratic.
const MAX_CONJUNCTS: usize = 512;

pub use crate::no_interpolant::NoInterpolant;

pub type WpResult<T> = Result<T, NoInterpolant>;

pub struct WpTransformer<'a> {
    pub terms: &'a mut Terms,
    pub program: &'a Program,
    pub locs: &'a mut Locs,
    pub oracle: &'a mut dyn TermOracle,
    pub check_overflow: bool,
    pub condition: Condition,
    /// where the trace ends, if another way there counts
    pub end: Option<EndOfTrace>,
    /// sides of branches that the trace does not take and that are known
    pub sides: Option<KnownSides>,
    pub(crate) live: OccurrenceIndex,
}

impl WpTransformer<'_> {
    /// Back over a whole trace. `accesses` are consumed from the end.
    pub fn trace(&mut self, trace: &Trace) -> WpResult<()> {
        let mut left = trace.accesses.len();
        let mut later: Option<Run> = None;
        for run in trace.runs.iter().rev() {
            if self.terms.brake.halted() {
                return Err(NoInterpolant::RunEnded);
            }
            self.enter_for_sides(*run);
            self.run(*run, later, trace, &mut left)?;
            later = Some(*run);
            if self.condition.len() > MAX_CONJUNCTS || self.condition.satisfiable.len() > MAX_POSSIBLE {
                return Err(NoInterpolant::TooLarge);
            }
        }
        if left == 0 { Ok(()) } else { Err(NoInterpolant::TraceMismatch) }
    }

    fn run(&mut self, run: Run, later: Option<Run>, trace: &Trace, left: &mut usize) -> WpResult<()> {
        let program = self.program;
        let f = &program.functions[run.func as usize];
        let mut to = run.to;
        if run.exit == Exit::Ending {
            self.ending(later, run.depth)?;
            // What ended the program, a return or a call, does nothing else.
            to = run.to.max(run.from + 1) - 1;
        }
        for i in (run.from..to).rev() {
            let inst = &f.insts[i as usize];
            let last = i + 1 == run.to;
            let mut pop = || -> WpResult<&Access> {
                *left = left.checked_sub(1).ok_or(NoInterpolant::TraceMismatch)?;
                Ok(&trace.accesses[*left])
            };
            match inst {
                Inst::Jump { .. } | Inst::Branch { .. } | Inst::Switch { .. } => {
                    let c = self.cross_edge(f, run, inst)?;
                    if !self.other_side(f, run, inst, c) && !self.known_side(f, run, inst, c) {
                        self.require(c);
                    }
                }
                Inst::IndirectJump { .. } => return Err(NoInterpolant::ComputedJump),
                Inst::Return { values } => {
                    let Access::Returned { caller, dsts, dropped } = pop()? else {
                        return Err(NoInterpolant::TraceMismatch);
                    };
                    self.returned(f, run.depth, *values, *caller, *dsts, dropped)?;
                }
                Inst::Call { callee, args, .. } if last && run.exit == Exit::Call => {
                    let Some(inner) = later else { return Err(NoInterpolant::CallWithoutCallee) };
                    let copied = program.functions[inner.func as usize].params.iter().filter(|p| p.byval.is_some());
                    let mut copies = Vec::new();
                    for _ in copied {
                        copies.push(pop()?.clone());
                    }
                    self.entered(f, run.depth, *callee, *args, inner.func, &copies)?;
                }
                Inst::Call { callee, args, dsts } => {
                    let access = pop()?.clone();
                    let call = self.modelled_call(f, run.depth, *callee, *args, *dsts);
                    self.modelled(&call, &access)?;
                }
                Inst::Load { ty, align, dst, ptr, .. } => {
                    let access = pop()?.clone();
                    self.load(f, run.depth, (*ty, *align), *dst, *ptr, &access)?;
                }
                Inst::Store { ty, align, ptr, value, .. } => {
                    let access = pop()?.clone();
                    self.store(f, run.depth, (*ty, *align), *ptr, *value, &access)?;
                }
                Inst::Alloca { dst, size, count, count_width, .. } => {
                    let Access::Alloc { obj, size: bytes, zeroed, .. } = *pop()? else {
                        return Err(NoInterpolant::TraceMismatch);
                    };
                    let (mut new, mut as_recorded) = (Size::Fixed(bytes.most()), Terms::TRUE);
                    if let OpndKind::Slot(_) = count.kind() {
                        let c = self.operand(f, run.depth, *count, *count_width)?;
                        let n = bytes.most() / (*size).max(1);
                        as_recorded = match bytes {
                            SizeBound::Exactly(_) => {
                                let n = self.terms.constant(*count_width, n);
                                self.terms.eq(c, n)
                            }
                            SizeBound::AtMost(capacity) => {
                                let w = self.terms.pointer_bits;
                                let (c, k) = (self.terms.resize_unsigned(c, w), self.terms.constant(w, *size));
                                new = Size::Symbolic { size: self.terms.mul(c, k), capacity };
                                let n = self.terms.constant(w, n);
                                self.terms.ule(c, n)
                            }
                        };
                    }
                    self.allocated(f, run.depth, Some(*dst), obj, new, zeroed, true)?;
                    self.require(as_recorded);
                }
                Inst::ScopeEnd { local } => match *pop()? {
                    Access::ScopeEnd { obj } => self.scope_ended(f, run.depth, *local, obj)?,
                    _ => return Err(NoInterpolant::UnbalancedScope),
                },
                Inst::MemCopy { mov, dst, src, len, len_width } => {
                    let access = pop()?.clone();
                    self.bulk_copy(f, run.depth, *mov, *dst, *src, *len, *len_width, &access)?;
                }
                Inst::MemSet { dst, byte, len, len_width } => {
                    let access = pop()?.clone();
                    self.bulk_fill(f, run.depth, *dst, *byte, *len, *len_width, &access)?;
                }
                Inst::VaStart { list } => {
                    let access = pop()?.clone();
                    self.va_start(f, run.depth, *list, &access)?;
                }
                Inst::VaCopy { dst, src } => {
                    let access = pop()?.clone();
                    let (d, s) = (self.pointer(f, run.depth, *dst)?, self.pointer(f, run.depth, *src)?);
                    self.copied(d, s, &access)?;
                }
                _ => self.plain(f, run.depth, inst)?,
            }
        }
        Ok(())
    }

    /// Back over the edge by which a block was left: its copies. Returns the condition under which this edge is taken.
    pub fn cross_edge(&mut self, f: &Function, run: Run, inst: &Inst) -> WpResult<TermId> {
        let edge = match (inst, run.exit) {
            (Inst::Jump { edge }, _) => *edge,
            (Inst::Branch { edges, .. }, Exit::Side(s)) => f.edges[*edges as usize + usize::from(s)],
            (Inst::Switch { .. }, Exit::Case(i)) => f.cases[i as usize].edge,
            (Inst::Switch { default, .. }, Exit::Default) => f.edges[*default as usize],
            _ => return Err(NoInterpolant::TraceMismatch),
        };
        self.cross_rounds(f, run, &[edge])?;
        for c in f.copies[edge.copies.as_range()].iter().rev() {
            self.assign_operand(f, run.depth, c.dst, c.src)?;
        }
        match (inst, run.exit) {
            (Inst::Branch { cond, .. }, Exit::Side(s)) => {
                let c = self.operand(f, run.depth, *cond, 1)?;
                Ok(if s == 0 { c } else { self.terms.not(c) })
            }
            (Inst::Switch { width, value, default, cases }, exit) => {
                let v = self.operand(f, run.depth, *value, *width)?;
                let target = match exit {
                    Exit::Case(i) => f.cases[i as usize].edge,
                    _ => f.edges[*default as usize],
                };
                // All cases that share the edge; the default edge also stands for everything else.
                let mut taken = Terms::FALSE;
                let mut none = Terms::TRUE;
                for c in &f.cases[cases.as_range()] {
                    let k = self.terms.constant(*width, c.value);
                    let is = self.terms.eq(v, k);
                    let not = self.terms.not(is);
                    none = self.terms.and(none, not);
                    if c.edge == target {
                        taken = self.terms.or(taken, is);
                    }
                }
                if f.edges[*default as usize] == target {
                    taken = self.terms.or(taken, none);
                }
                Ok(taken)
            }
            _ => Ok(Terms::TRUE),
        }
    }

    /// The condition under which a switch is left by one of these edges.
    pub fn left_by(&mut self, f: &Function, depth: u32, inst: &Inst, exits: &[Exit]) -> WpResult<TermId> {
        let Inst::Switch { width, value, default, cases } = *inst else { return Ok(Terms::TRUE) };
        let target = |e: &Exit| match e {
            Exit::Case(i) => f.cases[*i as usize].edge,
            _ => f.edges[default as usize],
        };
        let taken: Vec<_> = exits.iter().map(target).collect();
        let by_default = taken.contains(&f.edges[default as usize]);
        let v = self.operand(f, depth, value, width)?;
        let mut out = if by_default { Terms::TRUE } else { Terms::FALSE };
        for c in &f.cases[cases.as_range()] {
            let k = self.terms.constant(width, c.value);
            let is = self.terms.eq(v, k);
            match (by_default, taken.contains(&c.edge)) {
                (true, false) => {
                    let not = self.terms.not(is);
                    out = self.terms.and(out, not);
                }
                (false, true) => out = self.terms.or(out, is),
                _ => {}
            }
        }
        Ok(out)
    }

    pub(crate) fn width(&self, ty: Ty) -> u16 {
        self.program.target.bits(ty)
    }

    pub(crate) fn register(&mut self, f: &Function, depth: u32, s: Slot) -> TermId {
        let w = self.width(f.slots[s.index()].ty);
        self.locs.term(self.terms, Loc::Reg { depth, slot: s.0 }, w)
    }

    pub(crate) fn require(&mut self, t: TermId) {
        if t != Terms::TRUE {
            self.condition.require(t);
            self.live.add(self.terms, self.locs, t);
        }
    }

    pub(crate) fn mentions(&mut self, s: SymbolId) -> bool {
        self.live.mentions(self.terms, self.locs, &self.condition, s) || self.in_sum(s)
    }

    fn in_sum(&self, s: SymbolId) -> bool {
        let sums = &self.condition.sums;
        !sums.is_empty() && self.locs.get(s).is_some_and(|loc| sums.iter().any(|x| x.mentions(loc)))
    }

    /// The condition mentions the register.
    pub(crate) fn needs(&mut self, f: &Function, depth: u32, s: Slot) -> bool {
        let t = self.register(f, depth, s);
        self.needs_term(t)
    }

    pub(crate) fn needs_term(&mut self, var: TermId) -> bool {
        let symbol = SymbolId(self.terms.node(var).a);
        self.mentions(symbol)
    }

    pub(crate) fn assign(&mut self, f: &Function, depth: u32, dst: Slot, value: TermId) {
        let r = self.register(f, depth, dst);
        self.replace(r, value);
    }

    pub(crate) fn replace(&mut self, var: TermId, value: TermId) {
        let (have, want) = (self.terms.width(value), self.terms.width(var));
        let value = if have == want { value } else { self.terms.resize_unsigned(value, want) };
        self.replace_all(&[(var, value)].into_iter().collect());
    }

    pub(crate) fn replace_all(&mut self, map: &FxHashMap<TermId, TermId>) {
        if !self.live.is_known() || !OccurrenceIndex::follows(self.terms, map) {
            self.condition.substitute(self.terms, self.locs, map);
            self.live.forget();
            return;
        }
        let sums = self.condition.sums.len();
        self.condition.substitute_sums(self.terms, self.locs, map);
        if self.condition.sums.len() != sums {
            // One may have become literals.
            self.live.forget();
            self.condition.substitute_but_sums(self.terms, map);
            return;
        }
        let changed = self.live.replaced(self.terms, self.locs, &self.condition, map);
        self.condition.change(&changed);
    }

    /// Some literal or points-to literal mentions memory.
    pub(crate) fn mentions_memory(&mut self) -> bool {
        self.condition.sums.iter().any(Sum::mentions_memory)
            || self.live.mentions_memory(self.terms, self.locs, &self.condition)
    }

    pub(crate) fn assign_operand(&mut self, f: &Function, depth: u32, dst: Slot, src: Opnd) -> WpResult<()> {
        if self.needs(f, depth, dst) {
            let w = self.width(f.slots[dst.index()].ty);
            let t = self.operand(f, depth, src, w)?;
            self.assign(f, depth, dst, t);
        }
        Ok(())
    }

    pub fn operand(&mut self, f: &Function, depth: u32, o: Opnd, width: u16) -> WpResult<TermId> {
        let t = match o.kind() {
            OpndKind::Slot(s) => self.register(f, depth, s),
            OpndKind::Const(c) => match &f.consts[c as usize] {
                Const::Int { width, value } => self.terms.constant(*width, *value),
                Const::Wide { width, limbs } => self.terms.wide_constant(*width, limbs),
                Const::Addr { symbol, addend } => {
                    let v = pleach_semantics::address_of(self.program, *symbol, *addend);
                    let w = self.terms.pointer_bits;
                    v.to_term(self.terms, w).ok_or(NoInterpolant::UndefinedConstant)?
                }
                Const::Undef { width } => self.locs.fresh_variable(self.terms, *width),
            },
        };
        let have = self.terms.width(t);
        Ok(if have == width { t } else { self.terms.resize_unsigned(t, width) })
    }

    /// The variable may have any value: what mentions it must hold for all of them.
    pub(crate) fn forall(&mut self, var: TermId) -> WpResult<()> {
        let symbol = SymbolId(self.terms.node(var).a);
        let on_pointers: Vec<TermId> = self.condition.pointers().collect();
        for t in on_pointers {
            if self.terms.support(t).iter().any(|k| k.symbol() == symbol) {
                return Err(NoInterpolant::PointerFromSymbol);
            }
        }
        if let Some(loc) = self.locs.get(symbol) {
            self.condition.write_sums(self.terms, |s| s.mentions(loc));
        }
        self.some_value(var, symbol);
        let (mut any, mut fresh) = (None, None);
        let literals = std::mem::take(&mut self.condition.literals);
        for l in literals {
            if !self.terms.support(l).iter().any(|k| k.symbol() == symbol) {
                self.condition.require(l);
                continue;
            }
            if self.oracle.valid(self.terms, l) {
                continue;
            }
            match self.without(l, symbol) {
                // SOUND: the remaining disjuncts imply the literal whatever the variable is.
                Some(rest) => self.condition.require(rest),
                // The literal speaks of any value from here on: whoever checks it leaves the variable open.
                None => {
                    let w = self.terms.width(var);
                    let any = match any {
                        Some(a) => a,
                        None => self.locs.fresh_variable(self.terms, w),
                    };
                    fresh = Some(any);
                    let map: FxHashMap<TermId, TermId> = [(var, any)].into_iter().collect();
                    let l = self.terms.substitute(l, &map);
                    self.condition.require(l);
                }
            }
            any = fresh;
        }
        self.live.forget();
        Ok(())
    }

    /// The variable may have any value: what must be possible is so if it is for one of them.
    fn some_value(&mut self, var: TermId, symbol: SymbolId) {
        let used = |terms: &mut Terms, t: TermId| terms.support(t).iter().any(|k| k.symbol() == symbol);
        if !self.condition.satisfiable.iter().flatten().any(|t| used(self.terms, *t)) {
            return;
        }
        let w = self.terms.width(var);
        let some = self.locs.fresh_variable(self.terms, w);
        self.condition.substitute_satisfiable(self.terms, &[(var, some)].into_iter().collect());
        for together in std::mem::take(&mut self.condition.satisfiable) {
            let rest = self.without_free(together);
            self.condition.require_satisfiable(rest);
        }
    }

    /// Conditions that must be possible together, less those that no state has a say in and that are possible by
    /// themselves.
    fn without_free(&mut self, together: Vec<TermId>) -> Vec<TermId> {
        let (mut tied, mut free) = (Vec::new(), together);
        loop {
            // A condition is tied if it mentions a location, a base, or a symbolic variable of one that is tied.
            let shared: Vec<SymbolId> = tied.iter().flat_map(|t| symbols(self.terms, *t)).collect();
            let (terms, locs) = (&mut *self.terms, &*self.locs);
            let more = free.extract_if(.., |t| {
                terms.has(*t, pleach_expr::facts::HAS_BASE)
                    || symbols(terms, *t).iter().any(|s| locs.get(*s).is_some() || shared.contains(s))
            });
            let before = tied.len();
            tied.extend(more);
            if tied.len() == before {
                break;
            }
        }
        let all = free.iter().fold(Terms::TRUE, |all, t| self.terms.and(all, *t));
        // SOUND: the symbolic variables of `free` are in nothing else, so that values for them fit whatever the state
        // is.
        if !self.oracle.is_satisfiable(self.terms, all) {
            tied.extend(free);
        }
        tied
    }

    /// The disjuncts of a literal that do not mention the symbol, if there are any.
    fn without(&mut self, literal: TermId, symbol: SymbolId) -> Option<TermId> {
        let mut rest = Terms::FALSE;
        let mut todo = vec![literal];
        while let Some(t) = todo.pop() {
            let n = self.terms.node(t);
            match n.op {
                pleach_expr::Op::Or if n.width == 1 => todo.extend([n.arg_a(), n.arg_b()]),
                // ¬(a ∧ b) is ¬a ∨ ¬b
                pleach_expr::Op::Not if self.terms.op(n.arg_a()) == pleach_expr::Op::And => {
                    let m = self.terms.node(n.arg_a());
                    let (a, b) = (self.terms.not(m.arg_a()), self.terms.not(m.arg_b()));
                    todo.extend([a, b]);
                }
                _ => {
                    if !self.terms.support(t).iter().any(|k| k.symbol() == symbol) {
                        rest = self.terms.or(rest, t);
                    }
                }
            }
        }
        (rest != Terms::FALSE).then_some(rest)
    }

    pub(crate) fn require_pointer(
        &mut self,
        ptr: TermId,
        obj: ObjId,
        off: Option<u64>,
        bytes: u64,
        write: bool,
    ) -> WpResult<()> {
        self.pin_as(PointsTo { bytes, write, ..PointsTo::new(ptr, obj, off) })
    }

    pub(crate) fn pin_as(&mut self, pin: PointsTo) -> WpResult<()> {
        if let Some(held) = self.points_to_by_itself(pin.ptr, pin.obj, pin.off) {
            return if held { Ok(()) } else { Err(NoInterpolant::OtherObject) };
        }
        self.condition.require_points_to(pin);
        self.live.add(self.terms, self.locs, pin.ptr);
        Ok(())
    }

    /// A pointer that names its object itself (a global): whether that is the required location.
    fn points_to_by_itself(&self, ptr: TermId, obj: ObjId, off: Option<u64>) -> Option<bool> {
        match Value::from_term(self.terms, ptr) {
            Value::Ptr { obj: o, off: k } => Some(o == obj && off.is_none_or(|off| k >= 0 && k as u64 == off)),
            _ => None,
        }
    }

    pub(crate) fn valid_as(&mut self, v: Dereferenceable) {
        self.condition.require_dereferenceable(v);
        self.live.add(self.terms, self.locs, v.ptr);
    }
}

fn symbols(terms: &mut Terms, t: TermId) -> Vec<SymbolId> {
    terms.support(t).iter().map(|k| k.symbol()).collect()
}

impl<'a> WpTransformer<'a> {
    pub fn new(
        terms: &'a mut Terms,
        program: &'a Program,
        locs: &'a mut Locs,
        oracle: &'a mut dyn TermOracle,
        check_overflow: bool,
        condition: Condition,
    ) -> WpTransformer<'a> {
        let live = OccurrenceIndex::default();
        WpTransformer { terms, program, locs, oracle, check_overflow, condition, end: None, sides: None, live }
    }

    pub fn into_condition(self) -> Condition {
        self.condition
    }

    /// Everything that must hold for the instruction not to be an error.
    pub fn checks_at(&mut self, f: &Function, depth: u32, inst: &Inst) -> WpResult<Condition> {
        let mut c = Condition { literals: self.check_of(f, depth, inst)?, ..Condition::default() };
        if let Some((ptr, bytes, write)) = self.access_of(f, depth, inst)? {
            if let Inst::Load { align, .. } | Inst::Store { align, .. } = *inst {
                let aligned = self.aligned(ptr, align);
                c.require(aligned);
            }
            c.dereferenceable.push(Dereferenceable { bytes, write, ..Dereferenceable::new(ptr, ObjId(0), None) });
        }
        Ok(c)
    }

    /// The pointer of a load or store, the bytes it accesses, and whether it writes.
    pub fn access_of(&mut self, f: &Function, depth: u32, inst: &Inst) -> WpResult<Option<(TermId, u64, bool)>> {
        let (ptr, ty, write) = match *inst {
            Inst::Load { ty, ptr, .. } => (ptr, ty, false),
            Inst::Store { ty, ptr, .. } => (ptr, ty, true),
            _ => return Ok(None),
        };
        let ptr = self.pointer(f, depth, ptr)?;
        Ok(Some((ptr, u64::from(self.program.target.store_bytes(ty)), write)))
    }
}
