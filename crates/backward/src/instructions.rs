//! What each instruction does, as terms: the cases of PROCESSOPERATION.

use crate::cut::CutReason;
use crate::graph::Failure;
use crate::known_functions::{ends_program, is_modelled};
use crate::pointers::{Group, GroupId, constant};
use crate::stream::{self, Takes};
use crate::transfer::{Here, Translator, Value};
use pleach_expr::{TermId, Terms};
use pleach_ir::{Arg, BinOp, Callee, CastOp, CmpOp, Inst, Opnd, Range, Slot, Ty, flags};
use pleach_semantics as semantics;

impl Translator<'_> {
    pub fn inst(&mut self, here: &mut Here, i: usize) {
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
                    self.approximate(here, Terms::TRUE, CutReason::Unsupported("an intrinsic".into()));
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
            Inst::ScopeEnd { local } => {
                if !self.pointers.scope_ends(here.n, f, i, &here.state).is_empty() {
                    let (r, _) = self.pointer(here, local);
                    self.end_lifetime(here, r);
                }
            }
            // The end of an array of variable length is not watched.
            Inst::Assume { .. } | Inst::StackRestore { .. } => {}
            Inst::VaStart { list } | Inst::VaCopy { dst: list, .. } if self.covers() => {
                let at = self.pointers.operand(here.frame, f, list, &here.state);
                self.forget_written(here, &at);
            }
            Inst::VaEnd { .. } if self.covers() => {}
            Inst::VaArg { ty, dst, .. } if self.covers() => {
                let v = self.any_value(ty);
                self.set(here, dst, v);
            }
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
                self.approximate(here, other, CutReason::Unsupported(what));
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
                (g.name.as_str(), g.is_declaration(), is_modelled(g))
            }
            Callee::Indirect(_) => ("", true, false),
        };
        let dst = f.dsts[dsts.as_range()].first().copied();
        if let (Callee::Indirect(p), false) = (callee, self.covers()) {
            return self.callback(here, i, p, dst);
        }
        if let (Callee::Direct(_), Some((takes, args))) = (callee, stream::taken_by(self.program, f, i)) {
            return self.take(here, i, takes, args, dst);
        }
        match name {
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
            "realloc" => {
                self.free(here, args[0].value);
                let bytes = self.bits(here, args[1].value, 64);
                let v = self.allocate(here, i, bytes, false);
                if let Some(d) = dst {
                    self.set(here, d, v);
                }
                let what = "what realloc keeps".to_owned();
                return self.approximate(here, Terms::TRUE, CutReason::Unsupported(what));
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
            name if self.covers() && !name.contains("setjmp") => self.not_followed(here, i),
            name if declared => self.cut(here, CutReason::External(name.to_owned())),
            name => self.cut(here, CutReason::Inline(name.to_owned())),
        }
        for &d in &f.dsts[dsts.as_range()] {
            let v = self.any_value(f.slots[d.index()].ty);
            self.set(here, d, v);
        }
    }

    /// A call through a pointer of the input. The function that an input has there changes nothing and returns what the
    /// stream says; that it may do more is a cut.
    fn callback(&mut self, here: &mut Here, i: usize, p: Opnd, dst: Option<Slot>) {
        let (r, o) = self.pointer(here, p);
        // Calling null is an error, which ends the path.
        let null = self.terms.constant(self.layout.ref_bits, 0);
        let called = self.terms.ne(r, null);
        self.assume(here, called);
        // SOUND: the cut is every other execution that comes here, those that are excluded below included.
        here.cuts.push((here.assume, CutReason::Unsupported("what a call through a pointer changes".into())));
        let at = self.pointers.operand(here.frame, here.f, p, &here.state);
        let of_input = |g: &&GroupId| matches!(self.pointers.groups[g.index()], Group::Pool { ty: None, .. });
        let ranges: Vec<(i64, i64)> =
            at.groups.iter().filter(of_input).map(|g| self.layout.ranges[g.index()]).collect();
        if ranges.is_empty() {
            if self.exact {
                here.assume = Terms::FALSE;
            }
        } else {
            let (there, zero) = (self.in_ranges(r, ranges), self.terms.constant(64, 0));
            let start = self.terms.eq(o, zero);
            self.assume(here, there);
            self.assume(here, start);
        }
        let Some(d) = dst else { return };
        let ty = here.f.slots[d.index()].ty;
        let v = match ty {
            Ty::Int(bits) => self.take_number(here, i, Takes::Number).map(|v| {
                let fitting = self.terms.resize_unsigned(v, bits);
                let whole = self.terms.resize_unsigned(fitting, self.terms.width(v));
                let fits = self.terms.eq(whole, v);
                self.assume(here, fits);
                Value::Bits(fitting)
            }),
            _ => None,
        };
        let v = v.unwrap_or_else(|| self.any_value(ty));
        self.set(here, d, v);
    }

    /// A call that asks for inputs.
    fn take(&mut self, here: &mut Here, i: usize, takes: Takes, args: &[Arg], dst: Option<Slot>) {
        if let (Takes::Object, [to, len, ..]) = (takes, args) {
            return self.take_object(here, to.value, constant(here.f, len.value));
        }
        let Some(d) = dst else { return };
        let v = match self.take_number(here, i, takes) {
            Some(t) => Value::Bits(t),
            None => {
                self.unsupported(here, "an input of more than 64 bits");
                self.any_value(here.f.slots[d.index()].ty)
            }
        };
        self.set(here, d, v);
    }

    /// When the instruction is an error.
    pub fn failure(&mut self, here: &mut Here, i: usize, way: Failure) -> TermId {
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
                let fails = self.terms.not(ok);
                let this_way = self.fails_as(here, reference, way);
                self.terms.and(fails, this_way)
            }
            Inst::Call { callee: Callee::Direct(g), args, .. } => {
                let args = &f.args[args.as_range()];
                if self.program.function(g).name == "free" {
                    let ok = self.may_free(here, args[0].value);
                    return self.terms.not(ok);
                }
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
