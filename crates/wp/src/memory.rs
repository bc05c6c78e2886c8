//! Weakest preconditions of accesses to memory, allocation and freeing.

use crate::condition::{Dereferenceable, MayPointToLiteral, OwningFrame, PointsTo};
use crate::location::Loc;
use crate::transformer::{NoInterpolant, WpResult, WpTransformer};
use pleach_expr::{TermId, Terms, facts};
use pleach_ir::{Function, Init, Opnd, OpndKind, Slot, Ty};
use pleach_memory::{ObjId, Size, Value};
use pleach_state::{Access, SizeBound};
use rustc_hash::FxHashMap;

impl WpTransformer<'_> {
    pub(crate) fn load(
        &mut self,
        f: &Function,
        depth: u32,
        (ty, align): (Ty, u8),
        dst: Slot,
        ptr: Opnd,
        access: &Access,
    ) -> WpResult<()> {
        let bytes = u64::from(self.program.target.store_bytes(ty));
        let needed = self.needs(f, depth, dst);
        match *access {
            Access::At { obj, off } => {
                if needed {
                    let value = self.contents(obj, off, bytes);
                    let w = self.width(ty);
                    let value = self.terms.resize_unsigned(value, w);
                    self.assign(f, depth, dst, value);
                    let p = self.pointer(f, depth, ptr)?;
                    self.pin_as(PointsTo { bytes, align, ..PointsTo::new(p, obj, Some(off)) })?;
                } else {
                    let p = self.pointer(f, depth, ptr)?;
                    self.access_unless_evident(Dereferenceable {
                        bytes,
                        align,
                        ..Dereferenceable::new(p, obj, Some(off))
                    });
                    self.require_aligned(p, align);
                }
                Ok(())
            }
            Access::AtSized { obj, off } => {
                let p = self.pointer(f, depth, ptr)?;
                if needed {
                    let value = self.contents(obj, off, bytes);
                    let w = self.width(ty);
                    let value = self.terms.resize_unsigned(value, w);
                    self.assign(f, depth, dst, value);
                    let p = self.pointer(f, depth, ptr)?;
                    self.pin_as(PointsTo { align, ..PointsTo::new(p, obj, Some(off)) })?;
                }
                self.require_sized(p, obj, bytes, (align, false))
            }
            Access::InBounds { obj, size, aligned } => {
                let p = self.pointer(f, depth, ptr)?;
                if needed {
                    let value = self.chosen(p, obj, bytes, size.most(), aligned)?;
                    let w = self.width(ty);
                    let value = self.terms.resize_unsigned(value, w);
                    self.assign(f, depth, dst, value);
                    // No larger than this: what lies behind would be none of these words.
                    self.require_word_pointer(PointsTo { size: Some(size), ..PointsTo::new(p, obj, None) }, bytes);
                }
                if let SizeBound::AtMost(_) = size {
                    return self.require_sized(p, obj, bytes, (align, false));
                }
                self.access_unless_evident(Dereferenceable { bytes, align, ..Dereferenceable::new(p, obj, None) });
                self.require_aligned(p, align);
                Ok(())
            }
            Access::MayPointTo { ref objects, ref links } => {
                let p = self.pointer(f, depth, ptr)?;
                self.require_aligned(p, align);
                if needed {
                    let value = self.read_may_point_to(p, objects, bytes)?;
                    let w = self.width(ty);
                    let value = self.terms.resize_unsigned(value, w);
                    self.assign(f, depth, dst, value);
                }
                self.may_point_to(p, (objects, links), (bytes, align), false)
            }
            Access::Opaque => Err(NoInterpolant::AccessToSeveralObjects),
            Access::SymbolicSize => Err(NoInterpolant::SymbolicSize),
            _ => Err(NoInterpolant::TraceMismatch),
        }
    }

    /// The bytes of a place become those of a value.
    fn overwrite_by(&mut self, obj: ObjId, off: u64, bytes: u64, value: TermId) {
        let value = self.terms.zext(value, (bytes * 8) as u16);
        self.overwrite(obj, off, bytes, |transformer, at, n| {
            transformer.terms.extract(value, (at * 8) as u16, (n * 8) as u16)
        });
    }

    pub(crate) fn store(
        &mut self,
        f: &Function,
        depth: u32,
        (ty, align): (Ty, u8),
        ptr: Opnd,
        value: Opnd,
        access: &Access,
    ) -> WpResult<()> {
        let bytes = u64::from(self.program.target.store_bytes(ty));
        let mentioned = self.mentions_memory();
        let p = self.pointer(f, depth, ptr)?;
        match *access {
            Access::At { obj, off } => {
                if mentioned {
                    let w = self.width(ty);
                    let v = self.operand(f, depth, value, w)?;
                    self.overwrite_by(obj, off, bytes, v);
                    self.pin_as(PointsTo { bytes, align, write: true, ..PointsTo::new(p, obj, Some(off)) })?;
                } else {
                    let place = Dereferenceable::new(p, obj, Some(off));
                    self.access_unless_evident(Dereferenceable { bytes, align, write: true, ..place });
                    self.require_aligned(p, align);
                }
                Ok(())
            }
            Access::AtSized { obj, off } => {
                if mentioned {
                    let w = self.width(ty);
                    let v = self.operand(f, depth, value, w)?;
                    self.overwrite_by(obj, off, bytes, v);
                    self.pin_as(PointsTo { align, write: true, ..PointsTo::new(p, obj, Some(off)) })?;
                }
                self.require_sized(p, obj, bytes, (align, true))
            }
            Access::InBounds { obj, aligned, size } => {
                if mentioned {
                    let w = self.width(ty);
                    let v = self.operand(f, depth, value, w)?;
                    let v = self.terms.zext(v, (bytes * 8) as u16);
                    if self.overwrite_symbolic_offset(p, obj, bytes, v, aligned)? {
                        self.require_word_pointer(PointsTo { write: true, ..PointsTo::new(p, obj, None) }, bytes);
                    } else {
                        self.require_pointer(p, obj, None, 0, true)?;
                    }
                }
                if let SizeBound::AtMost(_) = size {
                    return self.require_sized(p, obj, bytes, (align, true));
                }
                self.access_unless_evident(Dereferenceable {
                    bytes,
                    align,
                    write: true,
                    ..Dereferenceable::new(p, obj, None)
                });
                self.require_aligned(p, align);
                Ok(())
            }
            Access::MayPointTo { ref objects, ref links } => {
                self.require_aligned(p, align);
                if mentioned {
                    let w = self.width(ty);
                    let v = self.operand(f, depth, value, w)?;
                    let v = self.terms.zext(v, (bytes * 8) as u16);
                    self.write_may_point_to(p, objects, bytes, v)?;
                }
                self.may_point_to(p, (objects, links), (bytes, align), true)
            }
            Access::Opaque => Err(NoInterpolant::AccessToSeveralObjects),
            Access::SymbolicSize => Err(NoInterpolant::SymbolicSize),
            _ => Err(NoInterpolant::TraceMismatch),
        }
    }

    /// The size of an object, as a location.
    pub(crate) fn size_of(&mut self, obj: ObjId) -> TermId {
        let w = self.terms.pointer_bits;
        self.locs.term(self.terms, Loc::Size { obj }, w)
    }

    /// An access of `bytes` bytes is within the object that the pointer is into: literals, which a branch may guard.
    pub fn within_sized(&mut self, ptr: TermId, obj: ObjId, bytes: u64) -> [TermId; 2] {
        let size = self.size_of(obj);
        let base = self.terms.base(obj);
        let off = self.terms.sub(ptr, base);
        if bytes == 1 {
            return [self.terms.ult(off, size), Terms::TRUE];
        }
        let n = self.terms.constant(self.terms.width(size), bytes);
        let last = self.terms.sub(size, n);
        [self.terms.ule(n, size), self.terms.ule(off, last)]
    }

    /// The same as an obligation.
    pub(crate) fn require_sized(
        &mut self,
        ptr: TermId,
        obj: ObjId,
        bytes: u64,
        (align, write): (u8, bool),
    ) -> WpResult<()> {
        self.pin_as(PointsTo { align, write, ..PointsTo::new(ptr, obj, None) })?;
        for inside in self.within_sized(ptr, obj, bytes) {
            self.require(inside);
        }
        self.require_aligned(ptr, align);
        Ok(())
    }

    pub(crate) fn pointer(&mut self, f: &Function, depth: u32, ptr: Opnd) -> WpResult<TermId> {
        let w = self.terms.pointer_bits;
        self.operand(f, depth, ptr, w)
    }

    /// The obligation of an access, unless the pointer is a constant place in a global with room for it.
    pub(crate) fn valid_unless_evident(&mut self, ptr: TermId, obj: ObjId, off: Option<u64>, bytes: u64, write: bool) {
        self.access_unless_evident(Dereferenceable { bytes, write, ..Dereferenceable::new(ptr, obj, off) });
    }

    fn access_unless_evident(&mut self, v: Dereferenceable) {
        if let Value::Ptr { obj: o, .. } = Value::from_term(self.terms, v.ptr)
            && (o.0 as usize) < self.program.globals.len()
        {
            // The access succeeded at this very place, and globals never change size or cease to exist.
            return;
        }
        self.valid_as(v);
    }

    /// The bytes at a place: a constant for a constant global, else the cell.
    pub(crate) fn contents(&mut self, obj: ObjId, off: u64, bytes: u64) -> TermId {
        if let Some(v) = self.constant_bytes(obj, off, bytes) {
            return self.terms.constant((bytes * 8) as u16, v);
        }
        self.cell(obj, off, bytes)
    }

    pub(crate) fn cell(&mut self, obj: ObjId, off: u64, bytes: u64) -> TermId {
        let loc = Loc::Cell { obj, off, bytes: bytes as u32 };
        self.locs.term(self.terms, loc, (bytes * 8) as u16)
    }

    fn unchanging(&self, obj: ObjId, g: &pleach_ir::Global) -> bool {
        g.constant || self.locs.is_constant(obj)
    }

    pub(crate) fn constant_bytes(&self, obj: ObjId, off: u64, bytes: u64) -> Option<u64> {
        let g = self.program.globals.get(obj.0 as usize).filter(|g| self.unchanging(obj, g) && bytes <= 8)?;
        match &g.init {
            Init::Zero => Some(0),
            Init::Bytes { bytes: data, relocs } => {
                let covered = relocs.iter().any(|r| r.offset < off + bytes && off < r.offset + 8);
                let part = data.get(off as usize..(off + bytes) as usize)?;
                (!covered).then(|| part.iter().rev().fold(0, |acc, &b| acc << 8 | u64::from(b)))
            }
            _ => None,
        }
    }

    /// Cells of an object that the condition mentions: (term, offset, bytes).
    pub(crate) fn cells(&mut self, obj: ObjId) -> impl Iterator<Item = (TermId, u64, u64)> + use<> {
        self.cells_within(obj, 0, u64::MAX)
    }

    /// Those that overlap `off..off+len`.
    pub(crate) fn cells_within(
        &mut self,
        obj: ObjId,
        off: u64,
        len: u64,
    ) -> impl Iterator<Item = (TermId, u64, u64)> + use<> {
        let end = off.saturating_add(len);
        let mut out: Vec<(TermId, u64, u64)> = Vec::new();
        let mut add = |t: TermId, loc: Option<Loc>| match loc {
            Some(Loc::Cell { obj: o, off: at, bytes })
                if o == obj && at < end && off < at.saturating_add(u64::from(bytes)) =>
            {
                out.push((t, at, u64::from(bytes)));
            }
            _ => {}
        };
        for s in self.live.cells(self.terms, self.locs, &self.condition, obj) {
            let loc = self.locs.get(s);
            add(self.terms.var(s), loc);
        }
        for s in &self.condition.sums {
            // A summand is at most a word.
            s.cells(obj, off.saturating_sub(8), end).for_each(|(loc, t, _)| add(t, Some(loc)));
        }
        out.sort_unstable();
        out.dedup();
        out.into_iter()
    }

    /// Bytes `off..off+len` were overwritten: `new(at, n)` gives `n` bytes of what was written, from `at`.
    pub(crate) fn overwrite(
        &mut self,
        obj: ObjId,
        off: u64,
        len: u64,
        mut new: impl FnMut(&mut Self, u64, u64) -> TermId,
    ) {
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
        for (var, at, n) in self.cells_within(obj, off, len) {
            let value = if at >= off && at + n <= off + len {
                new(self, at - off, n)
            } else {
                // Partly overwritten: byte by byte.
                let mut acc: Option<TermId> = None;
                for i in at..at + n {
                    let b = if i >= off && i < off + len { new(self, i - off, 1) } else { self.cell(obj, i, 1) };
                    acc = Some(match acc {
                        None => b,
                        Some(low) => self.terms.concat(b, low),
                    });
                }
                acc.unwrap_or(var)
            };
            map.insert(var, value);
        }
        if !map.is_empty() {
            self.replace_all(&map);
        }
    }

    /// A fresh object came into being, its address in `dst`: a local of the frame at `depth`, or a heap block.
    #[allow(clippy::too_many_arguments)]
    pub(crate) fn allocated(
        &mut self,
        f: &Function,
        depth: u32,
        dst: Option<Slot>,
        obj: ObjId,
        size: Size,
        zeroed: bool,
        local: bool,
    ) -> WpResult<()> {
        if let Some(dst) = dst {
            let base = self.terms.base(obj);
            self.assign(f, depth, dst, base);
        }
        self.made(depth, obj, size, zeroed, local)
    }

    /// A fresh object came into being; what the condition says of it is decided here. A symbolic size is a term over
    /// locations.
    pub(crate) fn made(&mut self, depth: u32, obj: ObjId, size: Size, zeroed: bool, local: bool) -> WpResult<()> {
        let at_home = |owner: OwningFrame| match owner {
            OwningFrame::Any => true,
            OwningFrame::Outlives(d) => !local || depth < d,
            OwningFrame::LocalOf(d) => local && depth == d,
        };
        let base = self.terms.base(obj);
        if self.locs.has_sizes {
            let var = self.size_of(obj);
            let value = size.term(self.terms, self.terms.pointer_bits);
            self.replace(var, value);
        }
        for (var, _, bytes) in self.cells(obj) {
            if zeroed {
                let zero = self.terms.constant((bytes * 8) as u16, 0);
                self.replace(var, zero);
            } else {
                self.forall(var)?;
            }
        }
        for p in std::mem::take(&mut self.condition.points_to) {
            if !self.terms.bases(p.ptr).contains(&obj) {
                if p.obj == obj {
                    return Err(NoInterpolant::UsedBeforeAllocated);
                }
                self.condition.points_to.push(p);
                continue;
            }
            let off = self.terms.sub(p.ptr, base);
            if self.terms.has(off, facts::HAS_BASE) {
                return Err(NoInterpolant::PointerToSeveralObjects);
            }
            let room = room_for(self.terms, size, &p);
            if p.obj != obj || room == Terms::FALSE || !at_home(p.owner) {
                return Err(NoInterpolant::PointsToUnmetByAllocation);
            }
            self.condition.require(room);
            if let Some(k) = p.off {
                let k = self.terms.constant(self.terms.width(off), k);
                let there = self.terms.eq(off, k);
                self.condition.require(there);
            }
        }
        let mentions = |c: &MayPointToLiteral| c.objects.contains(&obj) || self.terms.bases(c.ptr).contains(&obj);
        if self.condition.choices.iter().any(mentions) {
            return Err(NoInterpolant::PointerToSeveralObjects);
        }
        if self.condition.dangling.iter().any(|d| self.terms.bases(d.ptr).contains(&obj)) {
            return Err(NoInterpolant::PointsToUnmetByAllocation);
        }
        let dereferenceable = std::mem::take(&mut self.condition.dereferenceable);
        for v in dereferenceable {
            if !self.terms.bases(v.ptr).contains(&obj) {
                self.condition.dereferenceable.push(v);
                continue;
            }
            let off = self.terms.sub(v.ptr, base);
            if !at_home(v.owner) {
                return Err(NoInterpolant::AccessUnmetByAllocation);
            }
            if !v.bounded && !self.terms.has(off, facts::HAS_BASE) {
                continue;
            }
            if self.terms.has(off, facts::HAS_BASE) || v.bytes > size.capacity() {
                return Err(NoInterpolant::AccessUnmetByAllocation);
            }
            let inside = size.within(self.terms, off, v.bytes);
            self.condition.require(inside);
        }
        self.live.forget();
        self.addresses(obj)
    }

    /// Literals that mention the address of a fresh object must hold wherever it lies.
    fn addresses(&mut self, obj: ObjId) -> WpResult<()> {
        let base = self.terms.base(obj);
        let about = |terms: &Terms, t: TermId| terms.has(t, facts::HAS_BASE) && terms.bases(t).contains(&obj);
        if self.condition.satisfiable.iter().flatten().any(|t| about(self.terms, *t)) {
            return Err(NoInterpolant::ConditionOnNewAddress);
        }
        let literals = std::mem::take(&mut self.condition.literals);
        for l in literals {
            if !self.terms.has(l, facts::HAS_BASE) || !self.terms.bases(l).contains(&obj) {
                self.condition.require(l);
                continue;
            }
            let w = self.terms.pointer_bits;
            // Objects lie at multiples of 16.
            let (high, low) = (self.locs.fresh_variable(self.terms, w - 4), self.terms.constant(4, 0));
            let any = self.terms.concat(high, low);
            let map: FxHashMap<TermId, TermId> = [(base, any)].into_iter().collect();
            let general = self.terms.substitute(l, &map);
            let low = self.terms.constant(w, 0x10000);
            let high = self.terms.constant(w, if w >= 64 { 1 << 47 } else { 0xffff_0000 });
            let above = self.terms.ule(low, any);
            let below = self.terms.ule(any, high);
            let range = self.terms.and(above, below);
            let claim = self.terms.implies(range, general);
            if self.terms.has(claim, facts::HAS_BASE) || !self.oracle.valid(self.terms, claim) {
                return Err(NoInterpolant::ConditionOnNewAddress);
            }
        }
        self.live.forget();
        Ok(())
    }

    /// Objects ceased to exist. Whatever the condition says about memory must be about others: pointers are pinned, and
    /// pinned objects differ.
    pub(crate) fn killed(&mut self) -> WpResult<()> {
        for v in std::mem::take(&mut self.condition.dereferenceable) {
            match Value::from_term(self.terms, v.ptr) {
                Value::Ptr { obj, .. } if (obj.0 as usize) < self.program.globals.len() => {
                    self.condition.dereferenceable.push(v)
                }
                _ => {
                    let pin = PointsTo {
                        write: v.write,
                        align: v.align,
                        owner: v.owner,
                        ..PointsTo::new(v.ptr, v.obj, None)
                    };
                    match v.off.filter(|_| v.bounded) {
                        Some(off) => self.pin_as(PointsTo { off: Some(off), bytes: v.bytes, ..pin })?,
                        None => {
                            self.pin_as(pin)?;
                            self.condition.dereferenceable.push(v);
                        }
                    }
                }
            }
        }
        self.live.forget();
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn bulk_copy(
        &mut self,
        f: &Function,
        depth: u32,
        mov: bool,
        dst: Opnd,
        src: Opnd,
        len: Opnd,
        len_width: u16,
        access: &Access,
    ) -> WpResult<()> {
        let (d, s) = (self.pointer(f, depth, dst)?, self.pointer(f, depth, src)?);
        if let Access::CopyUpTo { .. } = access {
            self.copied_up_to(f, depth, (d, s), (len, len_width), access)?;
        } else {
            let n = self.copied(d, s, access)?;
            self.length(f, depth, len, len_width, n)?;
        }
        if mov {
            return Ok(());
        }
        let n = self.operand(f, depth, len, len_width)?;
        self.require_disjoint(d, s, n, access)
    }

    /// `n` bytes were copied.
    pub(crate) fn copied(&mut self, d: TermId, s: TermId, access: &Access) -> WpResult<u64> {
        match *access {
            Access::Empty => Ok(0),
            Access::Copy { to, to_off, from, from_off, len: n } => {
                let mentioned = self.mentions_memory();
                if mentioned {
                    self.overwrite(to, to_off, n, |w, at, k| w.contents(from, from_off + at, k));
                    self.require_pointer(d, to, Some(to_off), n, true)?;
                    self.require_pointer(s, from, Some(from_off), n, false)?;
                } else {
                    self.valid_unless_evident(d, to, Some(to_off), n, true);
                    self.valid_unless_evident(s, from, Some(from_off), n, false);
                }
                Ok(n)
            }
            Access::CopyWithin { .. } => self.copied_within(d, s, access),
            _ => Err(NoInterpolant::CopyAtSymbolicOffset),
        }
    }

    #[allow(clippy::too_many_arguments)]
    pub(crate) fn bulk_fill(
        &mut self,
        f: &Function,
        depth: u32,
        dst: Opnd,
        byte: Opnd,
        len: Opnd,
        len_width: u16,
        access: &Access,
    ) -> WpResult<()> {
        let d = self.pointer(f, depth, dst)?;
        match *access {
            Access::Empty => self.length(f, depth, len, len_width, 0),
            Access::FillUpTo { .. } => self.filled_up_to(f, depth, d, byte, (len, len_width), access),
            Access::Fill { obj, off, len: n } => {
                let mentioned = self.mentions_memory();
                if mentioned {
                    let b = self.operand(f, depth, byte, 8)?;
                    self.overwrite(obj, off, n, |w, _, k| (1..k).fold(b, |acc, _| w.terms.concat(b, acc)));
                    self.require_pointer(d, obj, Some(off), n, true)?;
                } else {
                    self.valid_unless_evident(d, obj, Some(off), n, true);
                }
                self.length(f, depth, len, len_width, n)
            }
            Access::FillWithin { obj, len: n } => {
                if self.mentions_memory() {
                    let b = self.operand(f, depth, byte, 8)?;
                    self.filled_within(d, obj, n, b)?;
                    self.require_pointer(d, obj, None, 0, true)?;
                }
                self.valid_unless_evident(d, obj, None, n, true);
                self.length(f, depth, len, len_width, n)
            }
            _ => Err(NoInterpolant::FillAtSymbolicOffset),
        }
    }

    /// The length had this value.
    fn length(&mut self, f: &Function, depth: u32, len: Opnd, width: u16, n: u64) -> WpResult<()> {
        if let OpndKind::Slot(_) = len.kind() {
            let t = self.operand(f, depth, len, width)?;
            let k = self.terms.constant(width, n);
            let same = self.terms.eq(t, k);
            self.require(same);
        }
        Ok(())
    }

    pub(crate) fn truth(&mut self, t: TermId) -> TermId {
        let zero = self.terms.constant(self.terms.width(t), 0);
        let c = self.terms.ne(t, zero);
        debug_assert!(c != Terms::FALSE || self.terms.is_constant(t));
        c
    }
}

/// An object of this size meets what a points-to literal says of its size.
pub fn room_for(terms: &mut Terms, size: Size, p: &PointsTo) -> TermId {
    match p.size {
        // The access was decided by exactly this size.
        Some(SizeBound::Exactly(n)) => size.is(terms, n),
        bound => {
            let room = size.at_least(terms, p.off.unwrap_or(0).saturating_add(p.bytes));
            let Some(SizeBound::AtMost(n)) = bound else { return room };
            let small = size.at_most(terms, n);
            terms.and(room, small)
        }
    }
}
