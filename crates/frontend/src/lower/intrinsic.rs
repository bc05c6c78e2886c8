//! LLVM's intrinsics, except those on floating point.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering, one};
use crate::llvm::{Inst, Value, ValueKind};
use pleach_ir::{self as ir, Arg, BinOp, Callee, CmpOp, Opnd, ScalarFn, Slot, Ty, flags};

/// Without meaning for execution.
const DROPPED: &[&str] = &[
    "invariant.end",
    "var.annotation",
    "donothing",
    "sideeffect",
    "pseudoprobe",
    "prefetch",
    "experimental.noalias.scope.decl",
    "clear_cache",
];

/// The result is the first argument.
const PASSED_THROUGH: &[&str] = &[
    "expect",
    "expect.with.probability",
    "annotation",
    "ptr.annotation",
    "threadlocal.address",
    "launder.invariant.group",
    "strip.invariant.group",
    "ssa.copy",
    "arithmetic.fence",
    "preserve.array.access.index",
    "preserve.struct.access.index",
];

/// `memcpy.p0.p0.i64` → `memcpy`
fn base_name(name: &str) -> &str {
    let mut end = name.len();
    while let Some(dot) = name[..end].rfind('.') {
        if !is_type_name(&name[dot + 1..end]) {
            break;
        }
        end = dot;
    }
    &name[..end]
}

fn is_type_name(part: &str) -> bool {
    let digits = part.trim_start_matches(|c: char| c.is_ascii_lowercase());
    let prefix = &part[..part.len() - digits.len()];
    matches!(prefix, "i" | "f" | "p" | "v" | "bf" | "nxv" | "a") && digits.starts_with(|c: char| c.is_ascii_digit())
}

fn overflow_fn(name: &str) -> Option<ScalarFn> {
    Some(match name.strip_suffix(".with.overflow")? {
        "sadd" => ScalarFn::SAddOverflow,
        "uadd" => ScalarFn::UAddOverflow,
        "ssub" => ScalarFn::SSubOverflow,
        "usub" => ScalarFn::USubOverflow,
        "smul" => ScalarFn::SMulOverflow,
        "umul" => ScalarFn::UMulOverflow,
        _ => return None,
    })
}

/// The operation whose overflow is undefined.
fn signed_operation(op: ScalarFn) -> Option<BinOp> {
    Some(match op {
        ScalarFn::SAddOverflow => BinOp::Add,
        ScalarFn::SSubOverflow => BinOp::Sub,
        ScalarFn::SMulOverflow => BinOp::Mul,
        _ => return None,
    })
}

/// Element-wise functions on integers and how many of their arguments count.
fn integer_fn(name: &str) -> Option<(ScalarFn, usize)> {
    Some(match name {
        "sadd.sat" => (ScalarFn::SAddSat, 2),
        "uadd.sat" => (ScalarFn::UAddSat, 2),
        "ssub.sat" => (ScalarFn::SSubSat, 2),
        "usub.sat" => (ScalarFn::USubSat, 2),
        "smin" => (ScalarFn::SMin, 2),
        "smax" => (ScalarFn::SMax, 2),
        "umin" => (ScalarFn::UMin, 2),
        "umax" => (ScalarFn::UMax, 2),
        "abs" => (ScalarFn::Abs, 1),
        "ctpop" => (ScalarFn::Ctpop, 1),
        "ctlz" => (ScalarFn::Ctlz, 1),
        "cttz" => (ScalarFn::Cttz, 1),
        "bswap" => (ScalarFn::Bswap, 1),
        "bitreverse" => (ScalarFn::Bitreverse, 1),
        "fshl" => (ScalarFn::Fshl, 3),
        "fshr" => (ScalarFn::Fshr, 3),
        _ => return None,
    })
}

impl<'m> Lowering<'_, 'm> {
    /// A call of `llvm.` + `name`.
    pub fn intrinsic(&mut self, inst: Inst<'m>, name: &str) -> Lowered<Leaves> {
        let base = base_name(name);
        let args: Vec<Value<'m>> = inst.call_args().into_iter().filter(|a| a.kind() != ValueKind::Metadata).collect();
        let unsupported = || Unsupported::new(format!("llvm.{base}"));
        let arg = |i: usize| args.get(i).copied().ok_or_else(unsupported);
        if base == "va_end" {
            let list = self.operand(arg(0)?)?;
            return self.effect(ir::Inst::VaEnd { list });
        }
        if let "lifetime.start" | "lifetime.end" = base {
            return self.scope_mark(arg(1)?, base == "lifetime.start");
        }
        if DROPPED.contains(&base) {
            return Ok(Leaves::new());
        }
        if PASSED_THROUGH.contains(&base) {
            return self.operands(arg(0)?);
        }
        if let Some(op) = overflow_fn(base) {
            let unchecked = self.unchecked.contains(&inst.value());
            return match signed_operation(op).filter(|_| unchecked) {
                Some(op) => self.signed_arithmetic(op, arg(0)?, arg(1)?),
                None => self.with_overflow(op, arg(0)?, arg(1)?),
            };
        }
        if base == "abs" && arg(1)?.as_u64() == Some(1) {
            self.check_abs(arg(0)?)?;
        }
        if let "ctlz" | "cttz" = base
            && arg(1)?.as_u64() == Some(1)
            && !self.is_nonzero(inst, arg(0)?)
        {
            return self.count_zeros(if base == "ctlz" { ScalarFn::Ctlz } else { ScalarFn::Cttz }, arg(0)?);
        }
        if let Some((op, count)) = integer_fn(base) {
            return self.elementwise(op, args.get(..count).ok_or_else(unsupported)?);
        }
        match base {
            "memcpy" | "memcpy.inline" | "memmove" => {
                let (dst, src) = (self.operand(arg(0)?)?, self.operand(arg(1)?)?);
                let (len, len_width) = self.sized(arg(2)?)?;
                self.effect(ir::Inst::MemCopy { mov: base == "memmove", dst, src, len, len_width })
            }
            "memset" | "memset.inline" => {
                let (dst, byte) = (self.operand(arg(0)?)?, self.operand(arg(1)?)?);
                let (len, len_width) = self.sized(arg(2)?)?;
                self.effect(ir::Inst::MemSet { dst, byte, len, len_width })
            }
            "va_start" => {
                let list = self.operand(arg(0)?)?;
                self.effect(ir::Inst::VaStart { list })
            }
            "va_copy" => {
                let (dst, src) = (self.operand(arg(0)?)?, self.operand(arg(1)?)?);
                self.effect(ir::Inst::VaCopy { dst, src })
            }
            "stacksave" => {
                let dst = self.slot(Ty::Ptr);
                self.push(ir::Inst::StackSave { dst });
                Ok(one(Opnd::slot(dst)))
            }
            "stackrestore" => {
                let mark = self.operand(arg(0)?)?;
                self.effect(ir::Inst::StackRestore { mark })
            }
            "assume" => {
                let cond = self.operand(arg(0)?)?;
                self.effect(ir::Inst::Assume { cond })
            }
            // A check that is no branch around a trap any more.
            "ubsantrap" if let Some(kind) = super::checks::kind_of_trap(inst) => {
                let cond = self.int(1, 0);
                self.effect(ir::Inst::Check { kind, cond })
            }
            "trap" | "debugtrap" | "ubsantrap" => {
                let trap = self.unit.declare_named("llvm.trap");
                Ok(self.emit_call(Callee::Direct(trap), Vec::new(), &[]))
            }
            "invariant.start" => {
                let width = self.unit.pointer_bits();
                Ok(one(self.int(width, 0)))
            }
            "objectsize" => {
                let ty = self.unit.layouts.scalar(inst.ty())?;
                let unknown = if arg(1)?.as_u64() == Some(1) { 0 } else { u64::MAX };
                let whole = arg(0)?;
                let local = whole.as_inst().filter(|_| whole.operand(0).and_then(Value::as_u64) == Some(1));
                let known = local.and_then(Inst::allocated_type).and_then(|t| self.unit.module.alloc_size(t));
                let width = self.bits(ty);
                Ok(one(self.int(width, known.unwrap_or(unknown))))
            }
            "is.constant" => Ok(one(self.int(1, u64::from(arg(0)?.is_constant())))),
            "allow.runtime.check" | "allow.ubsan.check" => Ok(one(self.int(1, 0))),
            "ptrmask" => {
                let (p, mask) = (self.operand(arg(0)?)?, self.operand(arg(1)?)?);
                let types = self.leaf_types(arg(1)?)?;
                let [mask_type] = *types else { return Err(unsupported()) };
                Ok(one(self.scalar_call(ScalarFn::PtrMask, Ty::Ptr, Ty::Ptr, &[(p, Ty::Ptr), (mask, mask_type)])))
            }
            "scmp" | "ucmp" => self.three_way(inst, arg(0)?, arg(1)?, base == "scmp"),
            // An address in the function stands for the places that only debuggers look at.
            "returnaddress" | "frameaddress" | "addressofreturnaddress" | "sponentry"
                if args.first().is_none_or(|level| level.as_u64() == Some(0)) =>
            {
                let here = self.unit.function_id(self.function.value()).ok_or_else(unsupported)?;
                Ok(one(self.constant(ir::Const::Addr { symbol: ir::Symbol::Function(here), addend: 0 })))
            }
            "readcyclecounter" | "readsteadycounter" => {
                let dst = self.slot(Ty::Int(64));
                let a = self.undef(Ty::Int(64));
                self.push(ir::Inst::Freeze { ty: Ty::Int(64), dst, a });
                Ok(one(Opnd::slot(dst)))
            }
            "eh.typeid.for" => {
                let ty = arg(0)?;
                Ok(one(self.type_number(ty)))
            }
            "load.relative" => self.load_relative(arg(0)?, arg(1)?),
            _ => match self.vector_intrinsic(inst, base, &args)? {
                Some(leaves) => Ok(leaves),
                None => self.float_intrinsic(inst, base, &args)?.ok_or_else(unsupported),
            },
        }
    }

    /// The smallest number has no absolute value, where the compiler relies on it. An optimiser may have moved it to
    /// where it does not matter.
    fn check_abs(&mut self, of: Value<'m>) -> Lowered<()> {
        let (types, lanes) = (self.leaf_types(of)?, self.operands(of)?);
        for (ty, lane) in types.iter().zip(lanes) {
            let width = self.bits(*ty);
            if width > 64 {
                continue;
            }
            let smallest = self.int(width, 1 << (width - 1));
            let fits = self.cmp(CmpOp::Ne, width, lane, smallest);
            let moved = self.int(1, self.optimised.into());
            let check = self.unit.declare_named("llvm.abs.check");
            let bit = |value| ir::Arg { value, ty: Ty::Int(1), byval: 0 };
            self.emit_call(Callee::Direct(check), vec![bit(fits), bit(moved)], &[]);
        }
        Ok(())
    }

    /// Zeros of a number that is not 0; of 0 there may be any number.
    fn count_zeros(&mut self, op: ScalarFn, of: Value<'m>) -> Lowered<Leaves> {
        let (types, lanes) = (self.leaf_types(of)?, self.operands(of)?);
        let mut out = Leaves::new();
        for (ty, lane) in types.iter().zip(lanes) {
            let width = self.bits(*ty);
            let zero = self.int(width, 0);
            let some = self.cmp(CmpOp::Ne, width, lane, zero);
            let (count, any) = (self.scalar_fn(op, *ty, &[lane]), self.undef(*ty));
            out.push(self.select(*ty, some, count, any));
        }
        Ok(out)
    }

    /// −1, 0 or 1.
    fn three_way(&mut self, inst: Inst<'m>, a: Value<'m>, b: Value<'m>, signed: bool) -> Lowered<Leaves> {
        let (types, results) = (self.leaf_types(a)?, self.leaf_types(inst.value())?);
        let (a, b) = (self.operands(a)?, self.operands(b)?);
        let (less, more) = if signed { (CmpOp::Slt, CmpOp::Sgt) } else { (CmpOp::Ult, CmpOp::Ugt) };
        let mut out = Leaves::new();
        for (i, (ty, to)) in types.iter().zip(results.iter()).enumerate() {
            let (width, to_width) = (self.bits(*ty), self.bits(*to));
            let (less, more) = (self.cmp(less, width, a[i], b[i]), self.cmp(more, width, a[i], b[i]));
            let (minus, zero, plus) = (self.ones(to_width), self.int(to_width, 0), self.int(to_width, 1));
            let positive = self.select(*to, more, plus, zero);
            out.push(self.select(*to, less, minus, positive));
        }
        Ok(out)
    }

    /// `base + *(i32 *)(base + offset)`
    fn load_relative(&mut self, base: Value<'m>, offset: Value<'m>) -> Lowered<Leaves> {
        let ty = self.unit.layouts.scalar(offset.ty())?;
        let addresses = self.unit.addresses_of(base);
        let (base, offset, width) = (self.operand(base)?, self.operand(offset)?, self.bits(ty));
        if let Some(table) = addresses {
            let table = self.constant(ir::Const::Addr { symbol: ir::Symbol::Global(table), addend: 0 });
            let ptr = self.scaled(table, offset, width, 2);
            let dst = self.slot(Ty::Ptr);
            self.push(ir::Inst::Load { ty: Ty::Ptr, volatile: false, align: 0, dst, ptr });
            return Ok(one(Opnd::slot(dst)));
        }
        let ptr = self.indexed(base, offset, width);
        let dst = self.slot(Ty::Int(32));
        self.push(ir::Inst::Load { ty: Ty::Int(32), volatile: false, align: 0, dst, ptr });
        Ok(one(self.indexed(base, Opnd::slot(dst), 32)))
    }

    /// `base + index` in bytes
    fn indexed(&mut self, base: Opnd, index: Opnd, width: u16) -> Opnd {
        self.scaled(base, index, width, 1)
    }

    fn scaled(&mut self, base: Opnd, index: Opnd, width: u16, scale: i64) -> Opnd {
        let dst = self.slot(Ty::Ptr);
        let parts = ir::Range { start: self.out.scaled.len() as u32, len: 1 };
        self.out.scaled.push(ir::Scaled { index, width, scale });
        self.push(ir::Inst::Gep { dst, base, offset: 0, parts });
        Opnd::slot(dst)
    }

    fn effect(&mut self, inst: ir::Inst) -> Lowered<Leaves> {
        self.push(inst);
        Ok(Leaves::new())
    }

    /// A length and its width.
    fn sized(&mut self, v: Value<'m>) -> Lowered<(Opnd, u16)> {
        let ty = self.unit.layouts.scalar(v.ty())?;
        Ok((self.operand(v)?, self.bits(ty)))
    }

    /// `op` whose operands and result have the type `ty`.
    pub fn scalar_fn(&mut self, op: ScalarFn, ty: Ty, args: &[Opnd]) -> Opnd {
        let args: Vec<(Opnd, Ty)> = args.iter().map(|a| (*a, ty)).collect();
        self.scalar_call(op, ty, ty, &args)
    }

    pub fn scalar_call(&mut self, op: ScalarFn, ty: Ty, result: Ty, args: &[(Opnd, Ty)]) -> Opnd {
        let dst = self.slot(result);
        let args = self.args(args.iter().map(|(value, ty)| Arg { value: *value, ty: *ty, byval: 0 }));
        let dsts = self.dsts([dst]);
        self.push(ir::Inst::Scalar { op, ty, dsts, args });
        Opnd::slot(dst)
    }

    /// `op` on each lane of the arguments.
    pub fn elementwise(&mut self, op: ScalarFn, args: &[Value<'m>]) -> Lowered<Leaves> {
        let Some(first) = args.first() else { return Ok(Leaves::new()) };
        let types = self.leaf_types(*first)?;
        let args = args.iter().map(|a| self.operands(*a)).collect::<Lowered<Vec<Leaves>>>()?;
        let mut out = Leaves::new();
        for (i, ty) in types.iter().enumerate() {
            let lane: Vec<Opnd> = args.iter().filter_map(|a| a.get(i).copied()).collect();
            out.push(self.scalar_fn(op, *ty, &lane));
        }
        Ok(out)
    }

    /// What a check of the compiler was about is checked where it is executed: the result, and no overflow.
    fn signed_arithmetic(&mut self, op: BinOp, a: Value<'m>, b: Value<'m>) -> Lowered<Leaves> {
        let types = self.leaf_types(a)?;
        let (a, b) = (self.operand(a)?, self.operand(b)?);
        let [ty] = *types else { return Err(Unsupported::new("checked arithmetic on vectors")) };
        let result = self.bin_into(op, flags::NSW, ty, a, b);
        Ok(Leaves::from_slice(&[result, self.int(1, 0)]))
    }

    /// The results of all lanes, then the overflow bits of all lanes.
    fn with_overflow(&mut self, op: ScalarFn, a: Value<'m>, b: Value<'m>) -> Lowered<Leaves> {
        let types = self.leaf_types(a)?;
        let (a, b) = (self.operands(a)?, self.operands(b)?);
        let (mut results, mut bits) = (Leaves::new(), Leaves::new());
        for ((ty, a), b) in types.iter().zip(a).zip(b) {
            let slots: [Slot; 2] = [self.slot(*ty), self.slot(Ty::Int(1))];
            let args = self.args([a, b].map(|value| Arg { value, ty: *ty, byval: 0 }));
            let dsts = self.dsts(slots);
            self.push(ir::Inst::Scalar { op, ty: *ty, dsts, args });
            results.push(Opnd::slot(slots[0]));
            bits.push(Opnd::slot(slots[1]));
        }
        results.extend(bits);
        Ok(results)
    }
}

#[cfg(test)]
mod tests {
    use super::base_name;

    #[test]
    fn type_suffixes_are_dropped() {
        assert_eq!(base_name("memcpy.p0.p0.i64"), "memcpy");
        assert_eq!(base_name("sadd.with.overflow.i32"), "sadd.with.overflow");
        assert_eq!(base_name("vector.reduce.add.v4i32"), "vector.reduce.add");
        assert_eq!(base_name("fabs.f80"), "fabs");
        assert_eq!(base_name("va_start.p0"), "va_start");
        assert_eq!(base_name("is.fpclass.f64"), "is.fpclass");
    }
}
