//! The condition under which an instruction fails as it did on the path at hand.
//!
//! *Invariant*: every state that satisfies it and stands at the instruction ends there with an error of the same kind.
//! *Direction*: gives up where the error depends on more than one place in one object, or on where other objects lie.

use crate::matching::Matcher;
use crate::pruner::Interpolation;
use pleach_expr::{TermId, sign_extend};
use pleach_ir::{Arg, Callee, Function, Inst, Opnd, Ty};
use pleach_memory::resolve::candidates;
use pleach_memory::{NULL_PAGE, ObjId, ObjectEntry, ObjectKind};
use pleach_state::seams::PathOracle;
use pleach_state::{ErrorKind, SizeBound, State};
use pleach_wp::{Condition, Dangling, Dereferenceable, NoInterpolant, PointsTo, WpResult, WpTransformer};

const UNKNOWN: NoInterpolant = NoInterpolant::StateDependentError;

/// Where a pointer points, if it is into one object or a number.
enum Target {
    Location { obj: ObjId, off: TermId },
    Number(u64),
}

/// The failing instruction in its state.
pub(crate) struct Failure<'a> {
    pub this: &'a mut Interpolation,
    pub oracle: &'a mut dyn PathOracle,
    pub state: &'a State,
    pub f: &'a Function,
    pub kind: ErrorKind,
    pub condition: Condition,
}

impl Failure<'_> {
    pub fn certain(mut self, inst: &Inst) -> WpResult<Condition> {
        match *inst {
            _ if matches!(self.kind, ErrorKind::Overlap | ErrorKind::Uninit) => return Err(UNKNOWN),
            Inst::Load { ty, align, ptr, .. } if self.kind == ErrorKind::Misaligned => {
                self.misaligned(ptr, ty, align, false)?
            }
            Inst::Store { ty, align, ptr, .. } if self.kind == ErrorKind::Misaligned => {
                self.misaligned(ptr, ty, align, true)?
            }
            Inst::Bin { .. } | Inst::Check { .. } => self.arithmetic(inst)?,
            Inst::Load { ty, ptr, .. } => self.access(ptr, ty, false)?,
            Inst::Store { ty, ptr, .. } => self.access(ptr, ty, true)?,
            Inst::MemCopy { dst, src, len, len_width, .. } => {
                let n = self.length(len, len_width)?;
                self.copy(dst, src, n)?;
            }
            Inst::MemSet { dst, len, len_width, .. } => {
                let n = self.length(len, len_width)?;
                self.place(dst, n, true)?;
            }
            Inst::Call { callee, args, .. } => {
                let list = &self.f.args[args.as_range()];
                self.call(callee, list)?;
            }
            _ => return Err(UNKNOWN),
        }
        Ok(self.condition)
    }

    /// The operand as a term over locations.
    fn operand(&mut self, o: Opnd, width: u16) -> WpResult<TermId> {
        let (f, depth) = (self.f, self.state.call_depth());
        self.this.with_transformer(self.oracle, Condition::default(), |w| w.operand(f, depth, o, width)).map(|(t, _)| t)
    }

    fn pointer(&mut self, o: Opnd) -> WpResult<TermId> {
        let w = self.oracle.terms().pointer_bits;
        self.operand(o, w)
    }

    fn holds(&mut self, t: TermId) -> bool {
        Matcher::own(self.state, &self.this.locs, self.this.fixed).holds(self.oracle, t)
    }

    fn value(&mut self, t: TermId) -> WpResult<TermId> {
        Matcher::own(self.state, &self.this.locs, self.this.fixed).translate(self.oracle, t).ok_or(UNKNOWN)
    }

    fn require(&mut self, t: TermId) -> WpResult<()> {
        if self.holds(t) {
            self.condition.require(t);
            Ok(())
        } else {
            Err(UNKNOWN)
        }
    }

    /// The first check that fails; those before it pass.
    fn arithmetic(&mut self, inst: &Inst) -> WpResult<()> {
        let (f, depth) = (self.f, self.state.call_depth());
        let (checks, _) =
            self.this.with_transformer(self.oracle, Condition::default(), |w| w.check_of(f, depth, inst))?;
        for ok in checks {
            let fails = self.oracle.terms().not(ok);
            if self.holds(fails) {
                self.condition.require(fails);
                return Ok(());
            }
            self.require(ok)?;
        }
        Err(UNKNOWN)
    }

    fn access(&mut self, ptr: Opnd, ty: Ty, write: bool) -> WpResult<()> {
        let program = self.oracle.program();
        self.place(ptr, u64::from(program.target.store_bytes(ty)), write)
    }

    /// A valid pointer to an address that is not aligned.
    fn misaligned(&mut self, ptr: Opnd, ty: Ty, align: u8, write: bool) -> WpResult<()> {
        let bytes = u64::from(self.oracle.program().target.store_bytes(ty));
        let p = self.pointer(ptr)?;
        let (aligned, _) =
            self.this.with_transformer(self.oracle, Condition::default(), |w| Ok(w.aligned(p, align)))?;
        let bad = self.oracle.terms().not(aligned);
        self.require(bad)?;
        let value = self.value(p)?;
        let Some(Target::Location { obj, .. }) = self.target(value) else { return Err(UNKNOWN) };
        let valid = Dereferenceable { bytes, write, ..Dereferenceable::new(p, obj, None) };
        let fine = Condition { dereferenceable: vec![valid], ..Condition::default() };
        if !Matcher::own(self.state, &self.this.locs, self.this.fixed).meets(self.oracle, &fine) {
            return Err(UNKNOWN);
        }
        self.condition.require_dereferenceable(valid);
        Ok(())
    }

    /// The length of a bulk operation, which becomes part of the condition.
    fn length(&mut self, len: Opnd, width: u16) -> WpResult<u64> {
        let t = self.operand(len, width)?;
        let v = self.value(t)?;
        let n = self.oracle.terms().as_const(v).ok_or(UNKNOWN)?;
        let k = self.oracle.terms().constant(width, n);
        let same = self.oracle.terms().eq(t, k);
        self.require(same)?;
        Ok(n)
    }

    /// The source is looked at before the target.
    fn copy(&mut self, dst: Opnd, src: Opnd, n: u64) -> WpResult<()> {
        let s = self.pointer(src)?;
        let v = Dereferenceable { bytes: n, ..Dereferenceable::new(s, ObjId(0), None) };
        let fine = Condition { dereferenceable: vec![v], ..Condition::default() };
        if !Matcher::own(self.state, &self.this.locs, self.this.fixed).meets(self.oracle, &fine) {
            return self.place(src, n, false);
        }
        let t = self.value(s)?;
        let Some(Target::Location { obj, .. }) = self.target(t) else { return Err(UNKNOWN) };
        self.condition.require_dereferenceable(Dereferenceable { obj, ..v });
        self.place(dst, n, true)
    }

    fn target(&mut self, value: TermId) -> Option<Target> {
        let terms = self.oracle.terms();
        for way in candidates(terms, value)? {
            if !self.oracle.entails(self.state, way.guard) {
                continue;
            }
            return match way.obj {
                Some(obj) => Some(Target::Location { obj, off: way.offset }),
                None => self.oracle.terms().as_const(way.offset).map(Target::Number),
            };
        }
        None
    }

    /// An access of `n` bytes through the pointer.
    fn place(&mut self, ptr: Opnd, n: u64, write: bool) -> WpResult<()> {
        let p = self.pointer(ptr)?;
        let value = self.value(p)?;
        match self.target(value).ok_or(UNKNOWN)? {
            Target::Number(a) if a < NULL_PAGE && self.kind == ErrorKind::Null => self.null(p),
            Target::Number(_) => Err(UNKNOWN),
            // Globals and functions are the same in every state.
            Target::Location { obj, off } if obj.0 < self.this.fixed && self.oracle.terms().as_const(off).is_some() => {
                let same = self.oracle.terms().eq(p, value);
                self.require(same)
            }
            Target::Location { obj, off } => match self.state.memory.entry(obj) {
                Some(ObjectEntry::Live(o)) if matches!(self.kind, ErrorKind::OobRead | ErrorKind::OobWrite) => {
                    if o.kind == ObjectKind::Function || (write && o.readonly) {
                        return Err(UNKNOWN);
                    }
                    match o.size().fixed() {
                        Some(size) => self.outside(p, obj, off, size, n),
                        None => self.outside_sized(p, obj, n),
                    }
                }
                Some(ObjectEntry::Live(_) | ObjectEntry::InSegment(..)) | None => Err(UNKNOWN),
                Some(ObjectEntry::Freed(_)) => self.dangling(p, obj, true),
                Some(ObjectEntry::OutOfScope { .. }) => self.dangling(p, obj, false),
            },
        }
    }

    fn null(&mut self, p: TermId) -> WpResult<()> {
        let w = self.oracle.terms().width(p);
        let page = self.oracle.terms().constant(w, NULL_PAGE);
        let low = self.oracle.terms().ult(p, page);
        self.require(low)
    }

    /// Outside a live object of this size: at the same place, or wherever it is not inside.
    fn outside(&mut self, p: TermId, obj: ObjId, off: TermId, size: u64, n: u64) -> WpResult<()> {
        let terms = self.oracle.terms();
        let base = terms.base(obj);
        self.condition
            .require_points_to(PointsTo { size: Some(SizeBound::Exactly(size)), ..PointsTo::new(p, obj, None) });
        if n <= size {
            let there = terms.sub(p, base);
            let last = terms.constant(terms.width(off), size - n);
            let outside = terms.ult(last, there);
            self.require(outside)?;
        }
        Ok(())
    }

    /// Outside a live object of symbolic size.
    fn outside_sized(&mut self, p: TermId, obj: ObjId, n: u64) -> WpResult<()> {
        let within = |w: &mut WpTransformer| Ok(w.within_sized(p, obj, n));
        let ([a, b], _) = self.this.with_transformer(self.oracle, Condition::default(), within)?;
        self.condition.require_points_to(PointsTo::new(p, obj, None));
        let inside = self.oracle.terms().and(a, b);
        let outside = self.oracle.terms().not(inside);
        self.require(outside)
    }

    fn dangling(&mut self, ptr: TermId, obj: ObjId, freed: bool) -> WpResult<()> {
        self.condition.require_dangling(Dangling { ptr, obj, freed, at: None });
        Ok(())
    }

    fn call(&mut self, callee: Callee, list: &[Arg]) -> WpResult<()> {
        let program = self.oracle.program();
        let g = match callee {
            Callee::Direct(g) => program.function(g),
            Callee::Indirect(p) => return self.call_through(p),
        };
        let width = |i: usize| list.get(i).map_or(32, |a| program.target.bits(a.ty));
        if !g.is_declaration() && !g.name.starts_with("klee_") {
            // Too few arguments, or too many calls: the same at this point of the program.
            return match self.kind {
                ErrorKind::BadCall | ErrorKind::StackOverflow => Ok(()),
                _ => Err(UNKNOWN),
            };
        }
        match (g.name.as_str(), list) {
            ("free" | "_ZdlPv" | "_ZdaPv" | "_ZdlPvm" | "_ZdaPvm", [p, ..]) => self.free(p.value),
            ("memcpy" | "memmove" | "__memcpy_chk" | "__memmove_chk", [d, s, n, ..]) => {
                let n = self.length(n.value, width(2))?;
                self.copy(d.value, s.value, n)
            }
            ("memset" | "__memset_chk", [d, _, n, ..]) => {
                let n = self.length(n.value, width(2))?;
                self.place(d.value, n, true)
            }
            ("klee_check_memory_access", [p, n, ..]) => {
                let n = self.length(n.value, width(1))?;
                self.place(p.value, n, false)
            }
            ("__VERIFIER_assert", [a, ..]) => self.number_is(a.value, width(0), 0),
            ("klee_choose", [n, ..]) => self.number_is(n.value, width(0), 0),
            ("klee_range", [lo, hi, ..]) => {
                let (lo, hi) = (self.operand(lo.value, 32)?, self.operand(hi.value, 32)?);
                let empty = self.oracle.terms().sle(hi, lo);
                self.require(empty)
            }
            _ => Err(UNKNOWN),
        }
    }

    fn number_is(&mut self, o: Opnd, width: u16, n: u64) -> WpResult<()> {
        let t = self.operand(o, width)?;
        let k = self.oracle.terms().constant(width, n);
        let same = self.oracle.terms().eq(t, k);
        self.require(same)
    }

    /// A call through null, or through one function's address that must not be called this way.
    fn call_through(&mut self, p: Opnd) -> WpResult<()> {
        let p = self.pointer(p)?;
        let value = self.value(p)?;
        match self.target(value).ok_or(UNKNOWN)? {
            Target::Number(a) if a < NULL_PAGE => self.null(p),
            Target::Location { obj, off } if obj.0 < self.this.fixed && self.oracle.terms().as_const(off).is_some() => {
                let same = self.oracle.terms().eq(p, value);
                self.require(same)
            }
            _ => Err(UNKNOWN),
        }
    }

    fn free(&mut self, ptr: Opnd) -> WpResult<()> {
        let p = self.pointer(ptr)?;
        let value = self.value(p)?;
        let (obj, off) = match self.target(value).ok_or(UNKNOWN)? {
            Target::Location { obj, off } => (obj, off),
            Target::Number(a) if a < NULL_PAGE => {
                self.null(p)?;
                let w = self.oracle.terms().width(p);
                let zero = self.oracle.terms().constant(w, 0);
                let some = self.oracle.terms().ne(p, zero);
                return self.require(some);
            }
            Target::Number(_) => return Err(UNKNOWN),
        };
        let constant = self.oracle.terms().as_const(off);
        match self.state.memory.entry(obj) {
            _ if obj.0 < self.this.fixed && constant.is_some() => {
                let same = self.oracle.terms().eq(p, value);
                self.require(same)
            }
            Some(ObjectEntry::Live(o)) if o.kind == ObjectKind::Heap => {
                // Into the middle of the block.
                self.condition
                    .require_points_to(PointsTo { kind: Some(ObjectKind::Heap), ..PointsTo::new(p, obj, None) });
                let terms = self.oracle.terms();
                let base = terms.base(obj);
                let there = terms.sub(p, base);
                let zero = terms.constant(terms.width(there), 0);
                let inner = terms.ne(there, zero);
                self.require(inner)
            }
            Some(ObjectEntry::Live(o)) if o.kind == ObjectKind::Stack => {
                self.condition
                    .require_points_to(PointsTo { kind: Some(ObjectKind::Stack), ..PointsTo::new(p, obj, None) });
                Ok(())
            }
            // Somewhere in a freed block would be another error: the place is part of the condition.
            Some(ObjectEntry::Freed(_)) => {
                let at = constant.map(|k| sign_extend(k, self.oracle.terms().pointer_bits)).ok_or(UNKNOWN)?;
                self.condition.require_dangling(Dangling { ptr: p, obj, freed: true, at: Some(at) });
                Ok(())
            }
            Some(ObjectEntry::OutOfScope { .. }) => self.dangling(p, obj, false),
            _ => Err(UNKNOWN),
        }
    }
}
