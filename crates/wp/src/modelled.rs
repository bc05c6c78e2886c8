//! Weakest preconditions of calls that a model answered: what happened in them is what the trace says.

use crate::call::recorded_size;
use crate::condition::OwningFrame;
use crate::transformer::{NoInterpolant, WpResult, WpTransformer};
use pleach_expr::Terms;
use pleach_ir::{Arg, BinOp, Callee, Function, OpndKind, Range, Slot};
use pleach_memory::{ObjId, Value};
use pleach_semantics::overflow_term;
use pleach_state::{Access, SizeBound};

/// A call that a model answered.
#[derive(Clone, Copy)]
pub(crate) struct ModelledCall<'f> {
    pub f: &'f Function,
    pub depth: u32,
    pub callee: Callee,
    pub list: &'f [Arg],
    pub results: &'f [Slot],
    /// where the result goes
    pub dst: Option<Slot>,
    /// the same, if the condition says something of it
    pub needed: Option<Slot>,
}

impl<'f> ModelledCall<'f> {
    fn argument(&self, index: usize) -> WpResult<&'f Arg> {
        self.list.get(index).ok_or(NoInterpolant::NoArgument)
    }
}

impl WpTransformer<'_> {
    /// A call of a function with a model.
    pub(crate) fn modelled_call<'f>(
        &mut self,
        f: &'f Function,
        depth: u32,
        callee: Callee,
        args: Range,
        dsts: Range,
    ) -> ModelledCall<'f> {
        let results = &f.dsts[dsts.as_range()];
        let dst = results.first().copied();
        let needed = dst.filter(|d| self.needs(f, depth, *d));
        ModelledCall { f, depth, callee, list: &f.args[args.as_range()], results, dst, needed }
    }

    /// A call that a model answered.
    pub(crate) fn modelled(&mut self, c: &ModelledCall, access: &Access) -> WpResult<()> {
        let ModelledCall { f, depth, list, .. } = *c;
        match *access {
            Access::Result(v) => self.known_result(c, v),
            Access::Reads { ref reads, ref fixed, ref result } => {
                self.modelled(c, result)?;
                for &(index, n) in fixed.iter() {
                    let a = c.argument(index as usize)?;
                    self.same_as_recorded(f, depth, a.value, a.ty, n)?;
                }
                reads.iter().try_for_each(|r| self.argument_read(f, depth, list, r))
            }
            Access::AtExit(handler) => self.registered(c, handler),
            Access::Argument { index, bits } => self.part_of_argument(c, index, bits),
            Access::Fresh => self.fresh_result(c),
            Access::AnyResult => self.any_result(c),
            Access::FreshRange | Access::FreshBelow => self.fresh_within(c, access),
            Access::FreshMemory { obj, off, len } => self.fresh_memory(c, obj, off, len),
            Access::Assume | Access::AssumeElseFail | Access::Assert => self.assumed(c, access),
            Access::Alloc { obj, size, zeroed, align } => self.block_requested(c, obj, size, zeroed, align),
            Access::Free { obj } => {
                self.killed()?;
                self.died(obj, OwningFrame::Any)?;
                self.block_given(f, depth, c.argument(0)?.value, obj, 0)
            }
            Access::FreeNull => self.null_given(f, depth, c.argument(0)?.value),
            Access::Realloc { old, new, kept, size } => self.block_moved(c, old, new, kept, size),
            Access::ReallocNull { new, size } => self.block_instead_of_null(c, new, size),
            Access::AllocTo { obj, size, align, at, off } => self.block_written_to(c, (obj, size, align), (at, off)),
            Access::Copy { .. }
            | Access::CopyWithin { .. }
            | Access::Fill { .. }
            | Access::FillWithin { .. }
            | Access::Empty
                if list.len() >= 3 =>
            {
                self.bulk_call(c, access)
            }
            Access::SymbolicSize => Err(NoInterpolant::SymbolicSize),
            _ => Err(NoInterpolant::UnknownEffects),
        }
    }

    /// The result was this value.
    fn known_result(&mut self, c: &ModelledCall, v: Value) -> WpResult<()> {
        let ModelledCall { f, depth, .. } = *c;
        if let Some(d) = c.needed {
            let w = self.width(f.slots[d.index()].ty);
            let t = v.to_term(self.terms, w).ok_or(NoInterpolant::NoValue)?;
            self.assign(f, depth, d, t);
        }
        Ok(())
    }

    /// A function was registered to run at the end.
    fn registered(&mut self, c: &ModelledCall, handler: Value) -> WpResult<()> {
        let ModelledCall { f, depth, .. } = *c;
        if let Some(d) = c.needed {
            let done = self.terms.constant(self.width(f.slots[d.index()].ty), 0);
            self.assign(f, depth, d, done);
        }
        let p = c.argument(0)?;
        let ptr = self.pointer(f, depth, p.value)?;
        let w = self.terms.pointer_bits;
        let known = handler.to_term(self.terms, w).ok_or(NoInterpolant::NoValue)?;
        let same = self.terms.eq(ptr, known);
        self.require(same);
        Ok(())
    }

    /// The result was a part of an argument.
    fn part_of_argument(&mut self, c: &ModelledCall, index: u32, bits: u16) -> WpResult<()> {
        let ModelledCall { f, depth, .. } = *c;
        if let Some(d) = c.needed {
            let a = c.argument(index as usize)?;
            let w = self.width(a.ty);
            let t = self.operand(f, depth, a.value, w)?;
            let t = self.terms.extract(t, 0, bits.min(w));
            self.assign(f, depth, d, t);
        }
        Ok(())
    }

    /// The result may be anything.
    fn fresh_result(&mut self, c: &ModelledCall) -> WpResult<()> {
        // What the arguments decide besides the result (an empty range is an error) is not described.
        if c.list.iter().any(|a| matches!(a.value.kind(), OpndKind::Slot(_))) {
            return Err(NoInterpolant::UnknownEffects);
        }
        self.any_result(c)
    }

    fn any_result(&mut self, c: &ModelledCall) -> WpResult<()> {
        let ModelledCall { f, depth, results, .. } = *c;
        // A wide result comes in pieces.
        for d in results {
            if self.needs(f, depth, *d) {
                let r = self.register(f, depth, *d);
                self.forall(r)?;
            }
        }
        Ok(())
    }

    /// The result may be anything between bounds that arguments say.
    fn fresh_within(&mut self, c: &ModelledCall, access: &Access) -> WpResult<()> {
        let ModelledCall { f, depth, list, dst, .. } = *c;
        let Some(d) = dst else { return Err(NoInterpolant::NoArgument) };
        let r = self.register(f, depth, d);
        let w = self.terms.width(r);
        // The result may take the place of an argument.
        let x = self.locs.fresh_variable(self.terms, w);
        self.replace(r, x);
        let mut bounds = Vec::new();
        for a in list.iter().take(2) {
            bounds.push(self.operand(f, depth, a.value, w)?);
        }
        let (some, inside) = match (access, &bounds[..]) {
            (Access::FreshRange, &[lo, hi]) => {
                let (above, below) = (self.terms.sle(lo, x), self.terms.slt(x, hi));
                (self.terms.slt(lo, hi), self.terms.and(above, below))
            }
            (Access::FreshBelow, &[n, ..]) => {
                let zero = self.terms.constant(w, 0);
                (self.terms.ne(n, zero), self.terms.ult(x, n))
            }
            _ => return Err(NoInterpolant::NoArgument),
        };
        if self.needs_term(x) {
            self.assume(inside);
            self.forall(x)?;
        }
        self.require(some);
        Ok(())
    }

    /// Bytes that an argument points to may be anything.
    fn fresh_memory(&mut self, c: &ModelledCall, obj: ObjId, off: u64, len: u64) -> WpResult<()> {
        let ModelledCall { f, depth, list, .. } = *c;
        let p = c.argument(0)?;
        for (var, _, _) in self.cells_within(obj, off, len) {
            self.forall(var)?;
        }
        let ptr = self.pointer(f, depth, p.value)?;
        self.require_pointer(ptr, obj, Some(off), len, true)?;
        if let Some(n) = list.get(1) {
            self.same_as_recorded(f, depth, n.value, n.ty, len)?;
        }
        Ok(())
    }

    /// An argument is not zero.
    fn assumed(&mut self, c: &ModelledCall, access: &Access) -> WpResult<()> {
        let ModelledCall { f, depth, .. } = *c;
        let a = c.argument(0)?;
        let w = self.width(a.ty);
        let v = self.operand(f, depth, a.value, w)?;
        let c = self.truth(v);
        match access {
            Access::Assert => self.require(c),
            _ => self.assume(c),
        }
        // Where something later must be possible together with `c`, so must `c`.
        if matches!(access, Access::AssumeElseFail) && self.condition.satisfiable.is_empty() {
            self.condition.require_satisfiable(vec![c]);
            self.live.forget();
        }
        Ok(())
    }

    /// A block was requested.
    fn block_requested(
        &mut self,
        c: &ModelledCall,
        obj: ObjId,
        size: SizeBound,
        zeroed: bool,
        align: Option<u64>,
    ) -> WpResult<()> {
        let ModelledCall { f, depth, list, dst, .. } = *c;
        // `malloc(n)`, `calloc(a, b)`: the sizes are part of what happened.
        let sizes = if zeroed && align.is_none() && list.len() == 2 { 2 } else { 1 };
        let constant = list.iter().all(|a| matches!(a.value.kind(), OpndKind::Const(_)));
        let w = self.terms.pointer_bits;
        let (mut bytes, mut fits) = (None, Terms::TRUE);
        for a in list.iter().rev().take(sizes).filter(|_| !constant) {
            let v = self.operand(f, depth, a.value, w)?;
            bytes = Some(match bytes {
                None => v,
                Some(n) => {
                    // Beyond the address space there would be no block.
                    let over = overflow_term(self.terms, BinOp::Mul, false, n, v);
                    fits = self.terms.not(over);
                    self.terms.mul(n, v)
                }
            });
        }
        let (size, as_recorded) = recorded_size(self.terms, size, bytes);
        self.allocated(f, depth, dst, obj, size, zeroed, false)?;
        self.block_made(obj)?;
        self.require(fits);
        self.require(as_recorded);
        // `aligned_alloc(align, n)`
        match (align, list) {
            (Some(align), [a, ..]) => self.same_as_recorded(f, depth, a.value, a.ty, align),
            _ => Ok(()),
        }
    }

    /// A block gave way to another.
    fn block_moved(
        &mut self,
        c: &ModelledCall,
        old: Option<ObjId>,
        new: Option<ObjId>,
        kept: u64,
        size: u64,
    ) -> WpResult<()> {
        let ModelledCall { f, depth, list, dst, .. } = *c;
        let [p, n, ..] = list else { return Err(NoInterpolant::NoArgument) };
        if let Some(old) = old {
            self.killed()?;
            self.died(old, OwningFrame::Any)?;
        }
        match new {
            Some(new) => {
                if let Some(old) = old {
                    // SOUND: what lies behind may be anything, also the bytes of a larger block.
                    self.overwrite(new, 0, kept, |w, at, k| w.contents(old, at, k));
                }
                self.allocated(f, depth, dst, new, size.into(), false, false)?;
                self.block_made(new)?;
            }
            None => {
                if let Some(d) = c.needed {
                    let null = self.terms.constant(self.terms.pointer_bits, 0);
                    self.assign(f, depth, d, null);
                }
            }
        }
        match old {
            Some(old) => self.block_given(f, depth, p.value, old, kept)?,
            None => self.null_given(f, depth, p.value)?,
        }
        self.same_as_recorded(f, depth, n.value, n.ty, size)
    }

    /// `realloc(NULL, n)` is `malloc(n)`.
    fn block_instead_of_null(&mut self, c: &ModelledCall, new: ObjId, size: SizeBound) -> WpResult<()> {
        let ModelledCall { f, depth, list, dst, .. } = *c;
        let [p, n, ..] = list else { return Err(NoInterpolant::NoArgument) };
        let w = self.terms.pointer_bits;
        let bytes = self.operand(f, depth, n.value, w)?;
        let (size, as_recorded) = recorded_size(self.terms, size, Some(bytes));
        self.allocated(f, depth, dst, new, size, false, false)?;
        self.block_made(new)?;
        self.null_given(f, depth, p.value)?;
        // No bytes would have freed the block.
        let zero = self.terms.constant(w, 0);
        let some = self.terms.ne(bytes, zero);
        self.require(some);
        self.require(as_recorded);
        Ok(())
    }

    /// A block was requested, and its address written to a place.
    fn block_written_to(
        &mut self,
        c: &ModelledCall,
        (obj, size, align): (ObjId, SizeBound, u64),
        (at, off): (ObjId, u64),
    ) -> WpResult<()> {
        let ModelledCall { f, depth, list, .. } = *c;
        let [p, a, n, ..] = list else { return Err(NoInterpolant::NoArgument) };
        if let Some(d) = c.needed {
            let done = self.terms.constant(self.width(f.slots[d.index()].ty), 0);
            self.assign(f, depth, d, done);
        }
        let mentioned = self.mentions_memory();
        let (base, word) = (self.terms.base(obj), u64::from(self.terms.pointer_bits) / 8);
        self.overwrite(at, off, word, |w, k, n| w.terms.extract(base, (k * 8) as u16, (n * 8) as u16));
        let SizeBound::Exactly(size) = size else { return Err(NoInterpolant::SymbolicSize) };
        self.made(depth, obj, size.into(), false, false)?;
        self.block_made(obj)?;
        let ptr = self.pointer(f, depth, p.value)?;
        if mentioned {
            self.require_pointer(ptr, at, Some(off), word, true)?;
        } else {
            self.valid_unless_evident(ptr, at, Some(off), word, true);
        }
        self.same_as_recorded(f, depth, a.value, a.ty, align)?;
        self.same_as_recorded(f, depth, n.value, n.ty, size)
    }

    /// A copy or a fill by a function of the C library.
    fn bulk_call(&mut self, c: &ModelledCall, access: &Access) -> WpResult<()> {
        let ModelledCall { f, depth, list, callee, .. } = *c;
        let len_width = self.width(list[2].ty);
        if let Some(d) = c.needed {
            let v = self.pointer(f, depth, list[0].value)?;
            self.assign(f, depth, d, v);
        }
        if matches!(access, Access::Fill { .. } | Access::FillWithin { .. }) {
            self.bulk_fill(f, depth, list[0].value, list[1].value, list[2].value, len_width, access)
        } else {
            let mov = match callee {
                Callee::Direct(g) => !self.program.function(g).name.contains("memcpy"),
                Callee::Indirect(_) => return Err(NoInterpolant::UnknownEffects),
            };
            self.bulk_copy(f, depth, mov, list[0].value, list[1].value, list[2].value, len_width, access)
        }
    }
}
