//! Walking back over calls, returns and modelled functions.

use crate::condition::{Home, Pin};
use crate::transformer::{GiveUp, Walked, Walker};
use pleach_ir::{Callee, FuncId, Function, OpndKind, Range, Symbol};
use pleach_memory::{ObjId, ObjectKind};
use pleach_state::Access;

impl Walker<'_> {
    /// Out of a callee into its caller: parameters become arguments.
    pub(crate) fn entered(&mut self, f: &Function, depth: u32, callee: Callee, args: Range, func: u32) -> Walked<()> {
        let program = self.program;
        let target = &program.functions[func as usize];
        if target.variadic || target.params.iter().any(|p| p.byval.is_some()) {
            return Err(GiveUp("a call with copied or variable arguments"));
        }
        if let Callee::Direct(g) = callee
            && g.0 != func
        {
            return Err(GiveUp("the record does not fit the program"));
        }
        self.without_frame(depth + 1)?;
        let list = &f.args[args.as_range()];
        for (p, a) in target.params.iter().zip(list) {
            let r = self.register(target, depth + 1, p.slot);
            if self.needs_term(r) {
                let w = self.width(a.ty);
                let v = self.operand(f, depth, a.value, w)?;
                self.replace(r, v);
            }
        }
        if let Callee::Indirect(p) = callee {
            let w = self.terms.pointer_bits;
            let t = self.operand(f, depth, p, w)?;
            let v = pleach_exec::address_of(program, Symbol::Function(FuncId(func)), 0);
            let here = v.to_term(self.terms, w).ok_or(GiveUp("no address"))?;
            let same = self.terms.eq(t, here);
            self.require(same);
        }
        Ok(())
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
    ) -> Walked<()> {
        let Some(outer) = depth.checked_sub(1) else { return Err(GiveUp("a return from the entry")) };
        let g = self.program.function(caller);
        for (d, a) in g.dsts[dsts.as_range()].iter().zip(&f.args[values.as_range()]) {
            if self.needs(g, outer, *d) {
                let w = self.width(a.ty);
                let v = self.operand(f, depth, a.value, w)?;
                self.assign(g, outer, *d, v);
            }
        }
        // Whatever the condition says about memory is about objects that outlive the call.
        let outlives = Home::Outlives(depth);
        let homes = self.condition.pins.iter_mut().map(|p| &mut p.home);
        for h in homes.chain(self.condition.valids.iter_mut().map(|v| &mut v.home)) {
            *h = h.and(outlives).ok_or(GiveUp("a local of a frame below"))?;
        }
        for &obj in dropped {
            self.died(obj, Home::LocalOf(depth))?;
        }
        Ok(())
    }

    /// Back before the call: its frame is not there yet.
    fn without_frame(&mut self, depth: u32) -> Walked<()> {
        let homes = self.condition.pins.iter_mut().map(|p| &mut p.home);
        for h in homes.chain(self.condition.valids.iter_mut().map(|v| &mut v.home)) {
            match *h {
                Home::Outlives(d) if d >= depth => *h = Home::Any,
                Home::LocalOf(d) if d >= depth => return Err(GiveUp("an object reached before it was made")),
                _ => {}
            }
        }
        Ok(())
    }

    /// The object ceased to exist here: what points to it from now on pointed to it before.
    fn died(&mut self, obj: ObjId, home: Home) -> Walked<()> {
        for d in std::mem::take(&mut self.condition.dead) {
            if d.obj == obj {
                let at = d.at.map(u64::try_from).transpose().map_err(|_| GiveUp("a pointer before its object"))?;
                self.condition.require_pin(Pin { home, ..Pin::new(d.ptr, obj, at) });
                self.live.forget();
            } else {
                self.condition.dead.push(d);
            }
        }
        Ok(())
    }

    /// A call that a model answered.
    pub(crate) fn modelled(
        &mut self,
        f: &Function,
        depth: u32,
        args: Range,
        dsts: Range,
        access: &Access,
    ) -> Walked<()> {
        let list = &f.args[args.as_range()];
        let dst = f.dsts[dsts.as_range()].first().copied();
        let needed = dst.is_some_and(|d| self.needs(f, depth, d));
        match *access {
            Access::Result(v) => {
                if let (true, Some(d)) = (needed, dst) {
                    let w = self.width(f.slots[d.index()].ty);
                    let t = v.to_term(self.terms, w).ok_or(GiveUp("no value"))?;
                    self.assign(f, depth, d, t);
                }
                Ok(())
            }
            Access::Fresh => {
                // What the arguments decide beside the result (an empty range is an error) is not described.
                if list.iter().any(|a| matches!(a.value.kind(), OpndKind::Slot(_))) {
                    return Err(GiveUp("a function whose effects are not described"));
                }
                // A wide result comes in pieces.
                for d in &f.dsts[dsts.as_range()] {
                    if self.needs(f, depth, *d) {
                        let r = self.register(f, depth, *d);
                        self.forall(r)?;
                    }
                }
                Ok(())
            }
            Access::FreshRange | Access::FreshBelow => {
                let Some(d) = dst else { return Err(GiveUp("no argument")) };
                let r = self.register(f, depth, d);
                let w = self.terms.width(r);
                // The result may take the place of an argument.
                let x = self.locs.unknown(self.terms, w);
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
                    _ => return Err(GiveUp("no argument")),
                };
                if self.needs_term(x) {
                    self.assume(inside);
                    self.forall(x)?;
                }
                self.require(some);
                Ok(())
            }
            Access::FreshMemory { obj, off, len } => {
                let Some(p) = list.first() else { return Err(GiveUp("no argument")) };
                for (var, _, _) in self.cells_within(obj, off, len) {
                    self.forall(var)?;
                }
                let ptr = self.pointer(f, depth, p.value)?;
                self.pin(ptr, obj, Some(off), len, true)?;
                if let Some(n) = list.get(1) {
                    self.same_as_recorded(f, depth, n.value, n.ty, len)?;
                }
                Ok(())
            }
            Access::Assume | Access::Assert => {
                let Some(a) = list.first() else { return Err(GiveUp("no argument")) };
                let w = self.width(a.ty);
                let v = self.operand(f, depth, a.value, w)?;
                let c = self.truth(v);
                if matches!(access, Access::Assert) {
                    self.require(c);
                } else {
                    self.assume(c);
                }
                Ok(())
            }
            Access::Alloc { obj, size, zeroed } => {
                // `malloc(n)`, `calloc(a, b)`: the sizes are part of what happened.
                let sizes = if zeroed && list.len() == 2 { 2 } else { 1 };
                let constant = list.iter().all(|a| matches!(a.value.kind(), OpndKind::Const(_)));
                self.allocated(f, depth, dst, obj, size, zeroed, false)?;
                if let Some(blocks) = &mut self.condition.blocks
                    && !blocks.remove(&obj)
                {
                    return Err(GiveUp("a block that is lost"));
                }
                if !constant {
                    let w = self.terms.pointer_bits;
                    let mut product = self.terms.constant(w, 1);
                    for a in list.iter().rev().take(sizes) {
                        let v = self.operand(f, depth, a.value, w)?;
                        product = self.terms.mul(product, v);
                    }
                    let k = self.terms.constant(w, size);
                    let same = self.terms.eq(product, k);
                    self.require(same);
                }
                Ok(())
            }
            Access::Free { obj } => {
                self.killed()?;
                self.died(obj, Home::Any)?;
                let Some(p) = list.first() else { return Err(GiveUp("no argument")) };
                let ptr = self.pointer(f, depth, p.value)?;
                self.condition.require_pin(Pin { kind: Some(ObjectKind::Heap), ..Pin::new(ptr, obj, Some(0)) });
                self.live.forget();
                if let Some(blocks) = &mut self.condition.blocks {
                    blocks.insert(obj);
                }
                Ok(())
            }
            Access::FreeNull => {
                let Some(p) = list.first() else { return Err(GiveUp("no argument")) };
                let ptr = self.pointer(f, depth, p.value)?;
                let zero = self.terms.constant(self.terms.width(ptr), 0);
                let null = self.terms.eq(ptr, zero);
                self.require(null);
                Ok(())
            }
            Access::Copy { .. } | Access::Fill { .. } | Access::Empty if list.len() >= 3 => {
                let len_width = self.width(list[2].ty);
                if let (true, Some(d)) = (needed, dst) {
                    let v = self.pointer(f, depth, list[0].value)?;
                    self.assign(f, depth, d, v);
                }
                if matches!(access, Access::Fill { .. }) {
                    self.bulk_fill(f, depth, list[0].value, list[1].value, list[2].value, len_width, access)
                } else {
                    self.bulk_copy(f, depth, list[0].value, list[1].value, list[2].value, len_width, access)
                }
            }
            _ => Err(GiveUp("a function whose effects are not described")),
        }
    }

    /// `c` holds from here on: each literal is needed only where it does.
    fn assume(&mut self, c: pleach_expr::TermId) {
        let places: Vec<_> = self.terms.support(c).iter().filter_map(|k| self.locs.get(k.symbol())).collect();
        self.condition.write_sums(self.terms, |s| places.iter().any(|l| s.mentions(*l)));
        let literals = std::mem::take(&mut self.condition.literals);
        for l in literals {
            let weaker = if self.shares(l, c) { self.terms.implies(c, l) } else { l };
            self.condition.require(weaker);
        }
        self.live.forget();
    }

    fn shares(&mut self, a: pleach_expr::TermId, b: pleach_expr::TermId) -> bool {
        let a = self.terms.support(a);
        let b = self.terms.support(b);
        a.iter().any(|k| b.binary_search(k).is_ok())
    }

    fn same_as_recorded(
        &mut self,
        f: &Function,
        depth: u32,
        o: pleach_ir::Opnd,
        ty: pleach_ir::Ty,
        n: u64,
    ) -> Walked<()> {
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
