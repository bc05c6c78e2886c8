//! Weakest preconditions of calls, returns and modelled functions.

use crate::condition::{OwningFrame, PointsTo};
use crate::location::Loc;
use crate::transformer::{NoInterpolant, WpResult, WpTransformer};
use pleach_expr::{SymbolId, TermId, Terms};
use pleach_ir::{Arg, Callee, FuncId, Function, Opnd, OpndKind, Range, Symbol};
use pleach_memory::{ObjId, ObjectKind, Size, Value};
use pleach_state::trace::{ArgumentRead, Run};
use pleach_state::{Access, SizeBound};

/// Bytes of a text that are compared at a time.
const WORD: usize = 8;

impl WpTransformer<'_> {
    /// Out of a callee into its caller: parameters become arguments. `copies`: of structures passed by value, the last
    /// first.
    pub(crate) fn entered(
        &mut self,
        f: &Function,
        depth: u32,
        callee: Callee,
        args: Range,
        func: u32,
        copies: &[Access],
    ) -> WpResult<()> {
        let program = self.program;
        let target = &program.functions[func as usize];
        if let Callee::Direct(g) = callee
            && g.0 != func
        {
            return Err(NoInterpolant::TraceMismatch);
        }
        self.no_rounds_in(depth + 1)?;
        let list = &f.args[args.as_range()];
        let by_value = target.params.iter().zip(list).filter(|(p, _)| p.byval.is_some());
        for ((p, a), copy) in by_value.rev().zip(copies) {
            let &Access::Copy { to, from, from_off, len, .. } = copy else {
                return Err(NoInterpolant::CopyAtSymbolicOffset);
            };
            let (r, base) = (self.register(target, depth + 1, p.slot), self.terms.base(to));
            self.replace(r, base);
            let mentioned = self.cells(to).next().is_some();
            self.overwrite(to, 0, len, |w, at, k| w.contents(from, from_off + at, k));
            self.made(depth + 1, to, len.into(), false, true)?;
            let source = self.pointer(f, depth, a.value)?;
            if mentioned {
                self.require_pointer(source, from, Some(from_off), len, false)?;
            } else {
                self.valid_unless_evident(source, from, Some(from_off), len, false);
            }
        }
        self.without_frame(depth + 1)?;
        for (p, a) in target.params.iter().zip(list).filter(|(p, _)| p.byval.is_none()) {
            let r = self.register(target, depth + 1, p.slot);
            if self.needs_term(r) {
                let w = self.width(a.ty);
                let v = self.operand(f, depth, a.value, w)?;
                self.replace(r, v);
            }
        }
        for (i, a) in list.iter().skip(target.params.len()).enumerate() {
            let w = self.width(a.ty);
            let r = self.argument(target, depth + 1, i, w);
            if self.needs_term(r) {
                let v = self.operand(f, depth, a.value, w)?;
                self.replace(r, v);
            }
        }
        if let Callee::Indirect(p) = callee {
            let w = self.terms.pointer_bits;
            let t = self.operand(f, depth, p, w)?;
            let v = pleach_semantics::address_of(program, Symbol::Function(FuncId(func)), 0);
            let here = v.to_term(self.terms, w).ok_or(NoInterpolant::NoAddress)?;
            let same = self.terms.eq(t, here);
            self.require(same);
        }
        Ok(())
    }

    /// Back from a function that runs because the program ends: its parameters are 0, and the frame that ended it lost
    /// its locals. The frames below are there no longer.
    pub(crate) fn ending(&mut self, inner: Option<Run>, depth: u32) -> WpResult<()> {
        let Some(inner) = inner else { return Err(NoInterpolant::CallWithoutCallee) };
        let target = &self.program.functions[inner.func as usize];
        for p in &target.params {
            let r = self.register(target, inner.depth, p.slot);
            let zero = self.terms.constant(self.terms.width(r), 0);
            self.replace(r, zero);
        }
        self.without_frame(inner.depth)?;
        let gone = self.condition.dangling.iter().any(|d| !d.freed) || !self.condition.rounds.is_empty();
        let in_frame = |s: &SymbolId| matches!(self.locs.get(*s), Some(Loc::Reg { .. }));
        if gone || self.condition.support(self.terms).iter().any(in_frame) {
            return Err(NoInterpolant::FrameLeftAtExit);
        }
        let homes = self.condition.points_to.iter_mut().map(|p| &mut p.owner);
        for h in homes.chain(self.condition.dereferenceable.iter_mut().map(|v| &mut v.owner)) {
            *h = h.and(OwningFrame::Outlives(depth)).ok_or(NoInterpolant::LocalOfInnerFrame)?;
        }
        Ok(())
    }

    /// A variable argument of a frame.
    fn argument(&mut self, f: &Function, depth: u32, i: usize, width: u16) -> TermId {
        let slot = (f.slots.len() + i) as u32;
        self.locs.term(self.terms, Loc::Reg { depth, slot }, width)
    }

    /// A list of variable arguments began: the words of the list, and a local with the arguments.
    pub(crate) fn va_start(&mut self, f: &Function, depth: u32, list: Opnd, access: &Access) -> WpResult<()> {
        let Access::VaStart { list: at, off, area, size, args } = access else {
            return Err(NoInterpolant::ArgumentListAtSymbolicOffset);
        };
        let mentioned = self.mentions_memory();
        let p = self.terms.pointer_bits;
        let mut words = self.terms.base(*area);
        if p == 64 {
            let (used, null) = (self.terms.constant(64, 304 << 32 | 48), self.terms.constant(64, 0));
            words = self.terms.concat(words, used);
            words = self.terms.concat(null, words);
        }
        let bytes = u64::from(self.terms.width(words)) / 8;
        self.overwrite(*at, *off, bytes, |w, at, n| w.terms.extract(words, (at * 8) as u16, (n * 8) as u16));
        for (i, &(k, ty)) in args.iter().enumerate() {
            let bytes = u64::from(self.program.target.store_bytes(ty));
            let w = self.width(ty);
            let value = self.argument(f, depth, i, w);
            let value = self.terms.zext(value, (bytes * 8) as u16);
            self.overwrite(*area, k, bytes, |w, at, n| w.terms.extract(value, (at * 8) as u16, (n * 8) as u16));
        }
        self.made(depth, *area, (*size).into(), false, true)?;
        let ptr = self.pointer(f, depth, list)?;
        if mentioned {
            self.require_pointer(ptr, *at, Some(*off), bytes, true)
        } else {
            self.valid_unless_evident(ptr, *at, Some(*off), bytes, true);
            Ok(())
        }
    }

    /// Back into a callee: the caller's results become the returned values; locals ceased to exist.
    pub(crate) fn returned(
        &mut self,
        f: &Function,
        depth: u32,
        values: Range,
        caller: FuncId,
        dsts: Range,
        dropped: &[ObjId],
    ) -> WpResult<()> {
        let Some(outer) = depth.checked_sub(1) else { return Err(NoInterpolant::ReturnFromEntry) };
        let g = self.program.function(caller);
        for (d, a) in g.dsts[dsts.as_range()].iter().zip(&f.args[values.as_range()]) {
            if self.needs(g, outer, *d) {
                let w = self.width(a.ty);
                let v = self.operand(f, depth, a.value, w)?;
                self.assign(g, outer, *d, v);
            }
        }
        // Whatever the condition says about memory is about objects that outlive the call.
        let outlives = OwningFrame::Outlives(depth);
        let homes = self.condition.points_to.iter_mut().map(|p| &mut p.owner);
        for h in homes.chain(self.condition.dereferenceable.iter_mut().map(|v| &mut v.owner)) {
            *h = h.and(outlives).ok_or(NoInterpolant::LocalOfInnerFrame)?;
        }
        for &obj in dropped {
            self.died(obj, OwningFrame::LocalOf(depth))?;
        }
        Ok(())
    }

    /// Back before the call: its frame is not there yet.
    fn without_frame(&mut self, depth: u32) -> WpResult<()> {
        let homes = self.condition.points_to.iter_mut().map(|p| &mut p.owner);
        for h in homes.chain(self.condition.dereferenceable.iter_mut().map(|v| &mut v.owner)) {
            match *h {
                OwningFrame::Outlives(d) if d >= depth => *h = OwningFrame::Any,
                OwningFrame::LocalOf(d) if d >= depth => return Err(NoInterpolant::UsedBeforeAllocated),
                _ => {}
            }
        }
        Ok(())
    }

    /// The object ceased to exist here: what points to it from now on pointed to it before.
    pub(crate) fn died(&mut self, obj: ObjId, owner: OwningFrame) -> WpResult<()> {
        for d in std::mem::take(&mut self.condition.dangling) {
            if d.obj == obj {
                let at = d.at.map(u64::try_from).transpose().map_err(|_| NoInterpolant::PointerBeforeObject)?;
                self.condition.require_points_to(PointsTo { owner, ..PointsTo::new(d.ptr, obj, at) });
                self.live.forget();
            } else {
                self.condition.dangling.push(d);
            }
        }
        Ok(())
    }

    /// A local that `local` points to was there before the end of its scope, and is not behind it.
    pub(crate) fn scope_ended(&mut self, f: &Function, depth: u32, local: Opnd, obj: ObjId) -> WpResult<()> {
        self.killed()?;
        let owner = OwningFrame::LocalOf(depth);
        self.died(obj, owner)?;
        let ptr = self.pointer(f, depth, local)?;
        self.condition.require_points_to(PointsTo { owner, ..PointsTo::new(ptr, obj, Some(0)) });
        self.live.forget();
        Ok(())
    }

    /// A model read bytes through an argument: it points there, and a string ends there.
    pub(crate) fn argument_read(
        &mut self,
        f: &Function,
        depth: u32,
        list: &[Arg],
        read: &ArgumentRead,
    ) -> WpResult<()> {
        let Some(a) = list.get(read.argument as usize) else { return Err(NoInterpolant::NoArgument) };
        let ptr = self.pointer(f, depth, a.value)?;
        let same = Value::from_term(self.terms, ptr) == Value::Ptr { obj: read.obj, off: read.off as i64 };
        // SOUND: a state that brings another text would have told another text.
        for (i, bytes) in read.told.iter().flat_map(|t| t.chunks(WORD)).enumerate() {
            let at = read.off + (i * WORD) as u64;
            let there = self.contents(read.obj, at, bytes.len() as u64);
            let known = bytes.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b));
            let known = self.terms.constant(self.terms.width(there), known);
            let same = self.terms.eq(there, known);
            self.require(same);
        }
        if read.nul {
            let last = self.contents(read.obj, read.off + read.bytes - 1, 1);
            let zero = self.terms.constant(8, 0);
            let ends = self.terms.eq(last, zero);
            self.require(ends);
        }
        // Globals never change size or cease to exist.
        if same && (read.obj.0 as usize) < self.program.globals.len() {
            return Ok(());
        }
        self.require_pointer(ptr, read.obj, Some(read.off), read.bytes, false)
    }

    /// A heap block came into being.
    pub(crate) fn block_made(&mut self, obj: ObjId) -> WpResult<()> {
        let known = self.condition.blocks.as_mut().is_none_or(|b| b.remove(&obj));
        if known { Ok(()) } else { Err(NoInterpolant::LeakedBlock) }
    }

    /// The pointer is to the start of this heap block, which has room for `bytes`.
    pub(crate) fn block_given(&mut self, f: &Function, depth: u32, p: Opnd, obj: ObjId, bytes: u64) -> WpResult<()> {
        let ptr = self.pointer(f, depth, p)?;
        self.condition.require_points_to(PointsTo {
            bytes,
            kind: Some(ObjectKind::Heap),
            ..PointsTo::new(ptr, obj, Some(0))
        });
        self.live.forget();
        if let Some(blocks) = &mut self.condition.blocks {
            blocks.insert(obj);
        }
        Ok(())
    }

    pub(crate) fn null_given(&mut self, f: &Function, depth: u32, p: Opnd) -> WpResult<()> {
        let ptr = self.pointer(f, depth, p)?;
        let zero = self.terms.constant(self.terms.width(ptr), 0);
        let null = self.terms.eq(ptr, zero);
        self.require(null);
        Ok(())
    }

    /// `c` holds from here on: each literal is needed only where it does.
    pub(crate) fn assume(&mut self, c: pleach_expr::TermId) {
        let places: Vec<_> = self.terms.support(c).iter().filter_map(|k| self.locs.get(k.symbol())).collect();
        self.condition.write_sums(self.terms, |s| places.iter().any(|l| s.mentions(*l)));
        let literals = std::mem::take(&mut self.condition.literals);
        for l in literals {
            let weaker = if self.shares(l, c) { self.terms.implies(c, l) } else { l };
            self.condition.require(weaker);
        }
        self.condition.satisfiable_under(c);
        self.live.forget();
    }

    fn shares(&mut self, a: pleach_expr::TermId, b: pleach_expr::TermId) -> bool {
        let a = self.terms.support(a);
        let b = self.terms.support(b);
        a.iter().any(|k| b.binary_search(k).is_ok())
    }

    pub(crate) fn same_as_recorded(
        &mut self,
        f: &Function,
        depth: u32,
        o: pleach_ir::Opnd,
        ty: pleach_ir::Ty,
        n: u64,
    ) -> WpResult<()> {
        if let OpndKind::Slot(_) = o.kind() {
            let w = self.width(ty);
            let t = self.operand(f, depth, o, w)?;
            let k = self.terms.constant(w, n);
            let same = self.terms.eq(t, k);
            self.require(same);
        }
        Ok(())
    }
}

/// The size of a fresh object by the term `bytes` over locations, and that it is as it was recorded.
pub(crate) fn recorded_size(terms: &mut Terms, size: SizeBound, bytes: Option<TermId>) -> (Size, TermId) {
    let width = terms.pointer_bits;
    match (size, bytes) {
        (size, None) => (Size::Fixed(size.most()), Terms::TRUE),
        (SizeBound::Exactly(n), Some(bytes)) => {
            let k = terms.constant(width, n);
            (Size::Fixed(n), terms.eq(bytes, k))
        }
        (SizeBound::AtMost(capacity), Some(size)) => {
            let k = terms.constant(width, capacity);
            // SOUND: whether a larger block can be had is not known.
            (Size::Symbolic { size, capacity }, terms.ule(size, k))
        }
    }
}
