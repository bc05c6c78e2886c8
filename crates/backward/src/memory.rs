//! Accesses to memory, allocation and its end.
//!
//! *Paper*: Backward Fig. 4, lines 6–13: a write is `write(f, r, v)`, a read `read(f, r)`; a reference that is read from
//! the input heap is one of the input. *Deviations*: an input object has a type, so a reference read from it is null or
//! one of the objects that the field's type points to; the condition on `f_in` holds only for references of the input,
//! because the memory of a new object has any value.

use crate::cut::CutReason;
use crate::graph::Failure;
use crate::layout::{Atom, AtomKind, Region};
use crate::pointers::{Group, GroupId, Offset, Pointer};
use crate::transfer::{Here, Translator, Value};
use crate::types::{self, LeafKind};
use crate::variables::Var;
use pleach_expr::{INDEX_BITS, SymbolKind, TermId, Terms};
use pleach_ir::{Inst, Opnd, Ty};

impl Translator<'_> {
    /// The array at the beginning of the entry.
    pub fn input_array(&mut self, array: usize) -> TermId {
        let id = self.variables.id(Var::Array(array), SymbolKind::total(self.layout.arrays[array]));
        self.variables.input(self.terms, id)
    }

    pub fn input_freed(&mut self) -> TermId {
        let id = self.variables.id(Var::Freed, SymbolKind::total(1));
        self.variables.input(self.terms, id)
    }

    pub fn array(&mut self, here: &Here, array: usize) -> TermId {
        self.read_var(here, Var::Array(array), SymbolKind::total(self.layout.arrays[array]))
    }

    pub fn set_array(&mut self, here: &mut Here, array: usize, v: TermId) {
        self.write_var(here, Var::Array(array), SymbolKind::total(self.layout.arrays[array]), v);
    }

    /// First and last reference of a range, as a condition.
    pub fn in_range(&mut self, r: TermId, (first, last): (i64, i64)) -> TermId {
        let w = self.layout.ref_bits;
        let low = self.terms.constant(w, first as u64);
        if first == last {
            return self.terms.eq(r, low);
        }
        let high = self.terms.constant(w, last as u64);
        let (above, below) = (self.terms.sle(low, r), self.terms.sle(r, high));
        self.terms.and(above, below)
    }

    /// One of the ranges, neighbours taken together.
    pub fn in_ranges(&mut self, r: TermId, mut ranges: Vec<(i64, i64)>) -> TermId {
        ranges.sort_unstable();
        let mut joined: Vec<(i64, i64)> = Vec::new();
        for (a, b) in ranges {
            match joined.last_mut() {
                Some((_, end)) if *end + 1 >= a => *end = (*end).max(b),
                _ => joined.push((a, b)),
            }
        }
        let mut any = Terms::FALSE;
        for range in joined {
            let one = self.in_range(r, range);
            any = self.terms.or(any, one);
        }
        any
    }

    /// The access is within an object.
    pub fn valid(&mut self, here: &mut Here, at: &Pointer, r: TermId, o: TermId, bytes: u64, write: bool) -> TermId {
        if at.unknown && self.covers() {
            return self.any(1);
        }
        if at.unknown {
            let what = "a pointer of which nothing is known is used".to_owned();
            self.cut(here, CutReason::Unsupported(what));
        }
        let known = self.terms.as_const(o).map(|k| k as i64);
        let mut ranges = Vec::new();
        let mut ok = Terms::FALSE;
        for &g in &at.groups {
            let range = self.layout.ranges[g.index()];
            if let Group::Pool { ty: None, .. } = self.pointers.groups[g.index()] {
                let there = self.in_range(r, range);
                let what = "an input of unknown type is accessed".to_owned();
                self.approximate(here, there, CutReason::Unsupported(what));
                if self.covers() {
                    let fits = self.any(1);
                    let valid = self.terms.and(there, fits);
                    ok = self.terms.or(ok, valid);
                }
                continue;
            }
            if write
                && let Group::Global(id) = self.pointers.groups[g.index()]
                && self.program.global(id).constant
            {
                continue;
            }
            let size = self.pointers.size(g);
            match (size, known) {
                (Some(size), Some(k)) => {
                    if k >= 0 && (k as u64).checked_add(bytes).is_some_and(|end| end <= size) {
                        ranges.push(range);
                    }
                }
                (size, _) => {
                    let there = self.in_range(r, range);
                    let limit = match size {
                        Some(size) => self.terms.constant(64, size),
                        None if self.is_many(g) => self.any(64),
                        None => self.read_var(here, Var::Size(g), SymbolKind::Bits(64)),
                    };
                    let n = self.terms.constant(64, bytes);
                    let fits = self.terms.ule(n, limit);
                    let rest = self.terms.sub(limit, n);
                    let within = self.terms.ule(o, rest);
                    let all = self.terms.and(there, fits);
                    let all = self.terms.and(all, within);
                    ok = self.terms.or(ok, all);
                }
            }
        }
        let fixed = self.in_ranges(r, ranges);
        let ok = self.terms.or(ok, fixed);
        if at.groups.is_disjoint(&self.layout.freed) {
            return ok;
        }
        self.alive(here, r, ok)
    }

    /// `ok`, and not freed.
    pub fn alive(&mut self, here: &mut Here, r: TermId, ok: TermId) -> TermId {
        if !self.layout.has_free {
            return ok;
        }
        let i = self.terms.sext(r, INDEX_BITS);
        let input = self.input_freed();
        let before = self.terms.read(input, i);
        let never = self.terms.not(before);
        self.assume(here, never);
        let freed = self.read_var(here, Var::Freed, SymbolKind::total(1));
        let gone = self.terms.read(freed, i);
        let alive = self.terms.not(gone);
        self.terms.and(ok, alive)
    }

    /// In which way an access that is not valid fails.
    pub fn fails_as(&mut self, here: &Here, r: TermId, way: Failure) -> TermId {
        let null = self.terms.constant(self.layout.ref_bits, 0);
        let is_null = self.terms.eq(r, null);
        let freed = if self.layout.has_free {
            let freed = self.read_var(here, Var::Freed, SymbolKind::total(1));
            let i = self.terms.sext(r, INDEX_BITS);
            self.terms.read(freed, i)
        } else {
            Terms::FALSE
        };
        let not_null = self.terms.not(is_null);
        match way {
            Failure::Any => Terms::TRUE,
            Failure::Null => is_null,
            Failure::Freed => self.terms.and(not_null, freed),
            Failure::Bounds => {
                let exists = self.terms.not(freed);
                self.terms.and(not_null, exists)
            }
        }
    }

    fn aligned(&mut self, here: &mut Here, o: TermId, align: u8) {
        if align > 0 {
            let low = self.terms.extract(o, 0, u16::from(align));
            let zero = self.terms.constant(u16::from(align), 0);
            let ok = self.terms.eq(low, zero);
            self.assume(here, ok);
        }
    }

    /// The region of an access that is possible; `None` if the path ends.
    pub fn region(&mut self, here: &mut Here, at: &Pointer) -> Option<Region> {
        let Some(&g) = at.groups.iter().next() else {
            here.assume = Terms::FALSE;
            return None;
        };
        let region = self.layout.regions[self.layout.region(g)].clone();
        if let Some(why) = region.broken {
            self.unsupported(here, why);
            here.assume = Terms::FALSE;
            return None;
        }
        Some(region)
    }

    pub fn index(&mut self, region: &Region, r: TermId, o: TermId, by: u64) -> TermId {
        if region.modulus == 0 {
            return self.terms.sext(r, INDEX_BITS);
        }
        let by = self.terms.constant(64, by);
        let at = self.terms.add(o, by);
        let low = self.terms.extract(at, 0, INDEX_BITS - self.layout.ref_bits);
        self.terms.concat(r, low)
    }

    pub fn load(&mut self, here: &mut Here, at: &Pointer, r: TermId, o: TermId, ty: Ty, align: u8) -> Value {
        let bytes = u64::from(self.program.target.store_bytes(ty));
        let ok = self.valid(here, at, r, o, bytes, false);
        self.assume(here, ok);
        self.aligned(here, o, align);
        if self.is_unmodelled(at) {
            return self.any_value(ty);
        }
        let Some(region) = self.region(here, at) else { return self.any_value(ty) };
        let offset = at.offset.unwrap_or(Offset { m: 1, r: 0 });
        let Some(cover) = region.cover(offset, bytes) else {
            self.unsupported(here, "an access of another shape");
            here.assume = Terms::FALSE;
            return self.any_value(ty);
        };
        if let [(atom, 0)] = cover[..]
            && let AtomKind::Pointer { .. } = atom.kind
        {
            let atom = atom.clone();
            return self.load_pointer(here, at, &region, &atom, r, o);
        }
        let cover: Vec<(Atom, u64)> = cover.into_iter().map(|(a, by)| (a.clone(), by)).collect();
        let mut value: Option<TermId> = None;
        for (atom, by) in cover {
            let AtomKind::Bits { array } = atom.kind else { return self.any_value(ty) };
            let i = self.index(&region, r, o, by);
            let memory = self.array(here, array);
            let part = self.terms.read(memory, i);
            self.input_bool(here, at, r, i, array, atom.bytes, Offset { r: offset.r + by as i64, ..offset });
            value = Some(match value {
                None => part,
                Some(low) => self.terms.concat(part, low),
            });
        }
        let width = self.program.target.bits(ty);
        let value = value.unwrap_or(Terms::FALSE);
        Value::Bits(self.terms.resize_unsigned(value, width))
    }

    pub fn load_pointer(
        &mut self,
        here: &mut Here,
        at: &Pointer,
        region: &Region,
        atom: &Atom,
        r: TermId,
        o: TermId,
    ) -> Value {
        let AtomKind::Pointer { array, offsets } = atom.kind else { return self.any_value(Ty::Ptr) };
        let i = self.index(region, r, o, 0);
        let memory = self.array(here, array);
        let reference = self.terms.read(memory, i);
        let zero = self.terms.constant(64, 0);
        let offset = match offsets {
            Some(array) => {
                let memory = self.array(here, array);
                self.terms.read(memory, i)
            }
            None => zero,
        };
        if self.covers() {
            let found = self.pointers.loaded(at);
            self.assume_within(here, &found, reference);
        }
        let input = self.input_array(array);
        let first = self.terms.read(input, i);
        for &g in &at.groups {
            let Group::Pool { ty: Some(ty), .. } = self.pointers.groups[g.index()] else { continue };
            // SOUND: where the type has no pointer of its own (a union, a number), nothing is known of it.
            let pools = self.pools_at(ty, at.offset);
            if pools.is_empty() {
                continue;
            }
            let there = self.guard(at, r, g);
            let mut ranges = vec![(0, 0)];
            ranges.extend(pools.iter().map(|pool| self.layout.ranges[pool.index()]));
            let typed = self.in_ranges(first, ranges);
            let mut holds = self.terms.implies(there, typed);
            if let Some(offsets) = offsets {
                let input = self.input_array(offsets);
                let first = self.terms.read(input, i);
                let at_start = self.terms.eq(first, zero);
                let start = self.terms.implies(there, at_start);
                holds = self.terms.and(holds, start);
            }
            self.assume(here, holds);
        }
        Value::Pointer { reference, offset }
    }

    /// The reference is in this group; simply true if there is no other.
    fn guard(&mut self, at: &Pointer, r: TermId, g: GroupId) -> TermId {
        if at.groups.len() == 1 { Terms::TRUE } else { self.in_range(r, self.layout.ranges[g.index()]) }
    }

    /// What pointers at this offset of an input object may point to.
    fn pools_at(&mut self, ty: pleach_ir::TypeId, offset: Option<Offset>) -> Vec<GroupId> {
        let Some(leaves) = types::leaves(self.program, ty) else { return Vec::new() };
        let period = types::size(self.program, ty);
        let mut out = Vec::new();
        for leaf in leaves {
            if let LeafKind::Pointer(to) = leaf.kind
                && fits(offset, leaf.offset, period)
            {
                out.push(self.pointers.pool(to));
            }
        }
        out
    }

    /// A `_Bool` of the input is 0 or 1.
    #[allow(clippy::too_many_arguments)]
    fn input_bool(&mut self, here: &mut Here, at: &Pointer, r: TermId, i: TermId, array: usize, bytes: u64, o: Offset) {
        if bytes != 1 {
            return;
        }
        for &g in &at.groups {
            let Group::Pool { ty: Some(ty), .. } = self.pointers.groups[g.index()] else { continue };
            let Some(leaves) = types::leaves(self.program, ty) else { continue };
            let period = types::size(self.program, ty);
            let mut there = leaves.iter().filter(|l| fits(Some(o), l.offset, period)).peekable();
            if there.peek().is_some() && there.all(|l| l.kind == LeafKind::Bool) {
                let input = self.input_array(array);
                let (v, one) = (self.terms.read(input, i), self.terms.constant(8, 1));
                let small = self.terms.ule(v, one);
                let there = self.guard(at, r, g);
                let holds = self.terms.implies(there, small);
                self.assume(here, holds);
            }
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub fn store(&mut self, here: &mut Here, at: &Pointer, r: TermId, o: TermId, ty: Ty, align: u8, v: Value) {
        let bytes = u64::from(self.program.target.store_bytes(ty));
        let ok = self.valid(here, at, r, o, bytes, true);
        self.assume(here, ok);
        self.aligned(here, o, align);
        if self.is_unmodelled(at) {
            return self.forget_written(here, at);
        }
        let Some(region) = self.region(here, at) else { return };
        let offset = at.offset.unwrap_or(Offset { m: 1, r: 0 });
        let cover =
            region.cover(offset, bytes).map(|c| c.into_iter().map(|(a, by)| (a.clone(), by)).collect::<Vec<_>>());
        let Some(cover) = cover else {
            self.unsupported(here, "an access of another shape");
            here.assume = Terms::FALSE;
            return;
        };
        for (atom, by) in cover {
            let i = self.index(&region, r, o, by);
            match (atom.kind, v) {
                (AtomKind::Pointer { array, offsets }, Value::Pointer { reference, offset }) => {
                    self.put(here, array, i, reference);
                    if let Some(offsets) = offsets {
                        self.put(here, offsets, i, offset);
                    }
                }
                (AtomKind::Bits { array }, Value::Bits(t)) => {
                    let whole = self.terms.resize_unsigned(t, (bytes * 8) as u16);
                    let part = self.terms.extract(whole, (by * 8) as u16, (atom.bytes * 8) as u16);
                    self.put(here, array, i, part);
                }
                _ => {
                    self.unsupported(here, "a pointer stored as a number");
                    here.assume = Terms::FALSE;
                }
            }
        }
    }

    pub fn put(&mut self, here: &mut Here, array: usize, i: TermId, v: TermId) {
        let memory = self.array(here, array);
        let new = self.terms.store(memory, i, v);
        self.set_array(here, array, new);
    }

    pub fn allocate(&mut self, here: &mut Here, inst: usize, bytes: TermId, zeroed: bool) -> Value {
        let heap = matches!(here.f.insts[inst], Inst::Call { .. });
        let Some(g) = self.pointers.find(Group::Allocated { node: here.n, inst, heap }) else { return self.null() };
        let offset = self.terms.constant(64, 0);
        let reference = self.new_reference(here, g);
        if self.pointers.size(g).is_none() {
            // Offsets have to fit into an index.
            let most = self.terms.constant(64, 1 << (INDEX_BITS - self.layout.ref_bits - 1));
            let small = self.terms.ule(bytes, most);
            if self.covers() {
                // Its contents are not modelled, its bounds are.
                self.write_var(here, Var::Size(g), SymbolKind::Bits(64), bytes);
                return Value::Pointer { reference, offset };
            }
            let large = self.terms.not(small);
            self.cut_if(here, large, CutReason::Unsupported("a large object of symbolic size".into()));
            self.assume(here, small);
            self.write_var(here, Var::Size(g), SymbolKind::Bits(64), bytes);
        }
        if zeroed {
            let zero = self.terms.constant(8, 0);
            match self.pointers.size(g) {
                Some(size) => self.fill(here, g, reference, 0, size, zero),
                None => self.unsupported(here, "calloc of symbolic size"),
            }
        }
        Value::Pointer { reference, offset }
    }

    /// Using the object is an error from now on.
    pub fn end_lifetime(&mut self, here: &mut Here, r: TermId) {
        let freed = self.read_var(here, Var::Freed, SymbolKind::total(1));
        let i = self.terms.sext(r, INDEX_BITS);
        // Null is never looked up.
        let new = self.terms.store(freed, i, Terms::TRUE);
        self.write_var(here, Var::Freed, SymbolKind::total(1), new);
    }

    /// The pointer may be freed.
    pub fn may_free(&mut self, here: &mut Here, p: Opnd) -> TermId {
        let at = self.pointers.operand(here.frame, here.f, p, &here.state);
        let (r, o) = self.pointer(here, p);
        let null = self.terms.constant(self.layout.ref_bits, 0);
        let is_null = self.terms.eq(r, null);
        let heap = |g: &&GroupId| {
            matches!(self.pointers.groups[g.index()], Group::Pool { .. } | Group::Allocated { heap: true, .. })
        };
        let ranges: Vec<_> = at.groups.iter().filter(heap).map(|g| self.layout.ranges[g.index()]).collect();
        if self.covers() && self.pointers.is_opaque(&at) {
            return self.any(1);
        }
        if at.unknown {
            self.unsupported(here, "a pointer of which nothing is known is freed");
        }
        let there = self.in_ranges(r, ranges);
        let zero = self.terms.constant(64, 0);
        let at_start = self.terms.eq(o, zero);
        let there = self.terms.and(there, at_start);
        let there = self.alive(here, r, there);
        self.terms.or(is_null, there)
    }

    pub fn free(&mut self, here: &mut Here, p: Opnd) {
        let ok = self.may_free(here, p);
        self.assume(here, ok);
        let at = self.pointers.operand(here.frame, here.f, p, &here.state);
        if self.covers() && self.pointers.is_opaque(&at) {
            return self.forget_freed(here);
        }
        let (r, _) = self.pointer(here, p);
        self.end_lifetime(here, r);
    }
}

fn fits(offset: Option<Offset>, at: u64, period: u64) -> bool {
    let Some(o) = offset else { return true };
    let m = if o.m == 0 { period } else { crate::pointers::gcd(o.m, period) };
    if m == 0 { o.r == at as i64 } else { (i128::from(o.r) - i128::from(at)).rem_euclid(i128::from(m)) == 0 }
}
