//! LLVM's intrinsics on floating point, plain and constrained. Rounding is to nearest, exceptions are masked.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering, one};
use super::float::float_type;
use crate::llvm::{Inst, Value};
use pleach_ir::{Arg, BinOp, Callee, FBinOp, FCastOp, FCmpOp, FloatTy, Opnd, ScalarFn, Ty};

/// Element-wise functions and how many of their arguments count.
fn float_fn(name: &str) -> Option<(ScalarFn, usize)> {
    Some(match name {
        "fabs" => (ScalarFn::FAbs, 1),
        "sqrt" => (ScalarFn::FSqrt, 1),
        "floor" => (ScalarFn::FFloor, 1),
        "ceil" => (ScalarFn::FCeil, 1),
        "trunc" => (ScalarFn::FTrunc, 1),
        "rint" | "nearbyint" | "roundeven" => (ScalarFn::FRint, 1),
        "round" => (ScalarFn::FRound, 1),
        "minnum" => (ScalarFn::FMinNum, 2),
        "maxnum" => (ScalarFn::FMaxNum, 2),
        "copysign" => (ScalarFn::FCopySign, 2),
        "fma" => (ScalarFn::Fma, 3),
        _ => return None,
    })
}

/// Functions that libm has under the same name, with the suffix of the type.
const LIBM: &[&str] = &[
    "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "exp2", "exp10", "log", "log2",
    "log10", "pow", "ldexp",
];

fn arithmetic(name: &str) -> Option<FBinOp> {
    Some(match name {
        "fadd" => FBinOp::Add,
        "fsub" => FBinOp::Sub,
        "fmul" => FBinOp::Mul,
        "fdiv" => FBinOp::Div,
        "frem" => FBinOp::Rem,
        _ => return None,
    })
}

fn conversion(name: &str) -> Option<FCastOp> {
    Some(match name {
        "fptosi" => FCastOp::ToSigned,
        "fptoui" => FCastOp::ToUnsigned,
        "sitofp" => FCastOp::FromSigned,
        "uitofp" => FCastOp::FromUnsigned,
        "fptrunc" | "fpext" => FCastOp::Resize,
        _ => return None,
    })
}

fn comparison(predicate: &str) -> Option<FCmpOp> {
    Some(match predicate {
        "oeq" => FCmpOp::Oeq,
        "ogt" => FCmpOp::Ogt,
        "oge" => FCmpOp::Oge,
        "olt" => FCmpOp::Olt,
        "ole" => FCmpOp::Ole,
        "one" => FCmpOp::One,
        "ord" => FCmpOp::Ord,
        "ueq" => FCmpOp::Ueq,
        "ugt" => FCmpOp::Ugt,
        "uge" => FCmpOp::Uge,
        "ult" => FCmpOp::Ult,
        "ule" => FCmpOp::Ule,
        "une" => FCmpOp::Une,
        "uno" => FCmpOp::Uno,
        _ => return None,
    })
}

impl<'m> Lowering<'_, 'm> {
    /// `None`: not one of these.
    pub fn float_intrinsic(&mut self, inst: Inst<'m>, base: &str, args: &[Value<'m>]) -> Lowered<Option<Leaves>> {
        let constrained = base.strip_prefix("experimental.constrained.");
        let name = constrained.unwrap_or(base);
        if let Some((op, count)) = float_fn(name) {
            let Some(args) = args.get(..count) else { return Ok(None) };
            return self.elementwise(op, args).map(Some);
        }
        if LIBM.contains(&name) {
            return self.libm(inst, name, args);
        }
        match (name, args) {
            ("fmuladd", [a, b, c]) => self.multiply_add(*a, *b, *c).map(Some),
            ("is.fpclass", [a, mask]) => self.fp_class(*a, *mask).map(Some),
            ("lround" | "llround" | "lrint" | "llrint", [a, ..]) => {
                let op = if name.ends_with("round") { ScalarFn::FRound } else { ScalarFn::FRint };
                self.round_to_integer(inst, op, *a).map(Some)
            }
            ("fptosi.sat" | "fptoui.sat", [a]) => self.saturating(inst, *a, name == "fptosi.sat").map(Some),
            ("minimum" | "maximum", [a, b]) => self.extremum(*a, *b, name == "minimum").map(Some),
            ("canonicalize", [a]) => self.operands(*a).map(Some),
            ("get.rounding" | "flt.rounds", _) => Ok(Some(one(self.int(32, 1)))),
            _ if constrained.is_some() => self.constrained(inst, name, args),
            _ => Ok(None),
        }
    }

    /// Two roundings, as on a machine without a fused instruction.
    fn multiply_add(&mut self, a: Value<'m>, b: Value<'m>, c: Value<'m>) -> Lowered<Leaves> {
        let types = self.leaf_types(a)?;
        let (a, b, c) = (self.operands(a)?, self.operands(b)?, self.operands(c)?);
        let mut out = Leaves::new();
        for (i, ty) in types.iter().enumerate() {
            let product = self.fbin(FBinOp::Mul, *ty, a[i], b[i])?;
            out.push(self.fbin(FBinOp::Add, *ty, product, c[i])?);
        }
        Ok(out)
    }

    fn round_to_integer(&mut self, inst: Inst<'m>, op: ScalarFn, a: Value<'m>) -> Lowered<Leaves> {
        let (from, to) = (self.leaf_types(a)?, self.leaf_types(inst.value())?);
        let lanes = self.operands(a)?.into_iter().zip(from.iter().zip(to.iter()));
        let mut out = Leaves::new();
        for (a, (from, to)) in lanes {
            let rounded = self.scalar_fn(op, *from, &[a]);
            out.push(self.fcast(FCastOp::ToSigned, *from, *to, rounded));
        }
        Ok(out)
    }

    /// A conversion to integers whose result is the nearest that fits; not a number becomes 0.
    fn saturating(&mut self, inst: Inst<'m>, a: Value<'m>, signed: bool) -> Lowered<Leaves> {
        let (from, to) = (self.leaf_types(a)?, self.leaf_types(inst.value())?);
        let lanes = self.operands(a)?.into_iter().zip(from.iter().zip(to.iter()));
        let mut out = Leaves::new();
        for (a, (from, to)) in lanes {
            let width = self.bits(*to);
            let power = |exponent: u16, negative: bool| {
                let value = if negative { -(2f64.powi(exponent.into())) } else { 2f64.powi(exponent.into()) };
                match float_type(*from) {
                    Ok(FloatTy::Single) => Ok((value as f32).to_bits().into()),
                    Ok(FloatTy::Double) => Ok(value.to_bits()),
                    _ => Err(Unsupported::new("llvm.fptosi.sat")),
                }
            };
            if width > 64 {
                return Err(Unsupported::new(format!("llvm.fptosi.sat to {width} bits")));
            }
            let bits = self.bits(*from);
            let (low, high) =
                if signed { (power(width - 1, true)?, power(width - 1, false)?) } else { (0, power(width, false)?) };
            let (low, high) = (self.int(bits, low), self.int(bits, high));
            let (least, most) = match signed {
                true => (self.int(width, 1 << (width - 1)), self.int(width, (1u64 << (width - 1)).wrapping_sub(1))),
                false => (self.int(width, 0), self.ones(width)),
            };
            let op = if signed { FCastOp::ToSigned } else { FCastOp::ToUnsigned };
            let inside = self.fcast(op, *from, *to, a);
            let below = self.fcmp(FCmpOp::Olt, *from, a, low)?;
            let above = self.fcmp(FCmpOp::Oge, *from, a, high)?;
            let none = self.fcmp(FCmpOp::Uno, *from, a, a)?;
            let zero = self.int(width, 0);
            let r = self.select(*to, below, least, inside);
            let r = self.select(*to, above, most, r);
            out.push(self.select(*to, none, zero, r));
        }
        Ok(out)
    }

    /// IEEE 754's `minimum` and `maximum`: not a number wins, and −0 is less than 0.
    fn extremum(&mut self, a: Value<'m>, b: Value<'m>, least: bool) -> Lowered<Leaves> {
        let types = self.leaf_types(a)?;
        let (a, b) = (self.operands(a)?, self.operands(b)?);
        let mut out = Leaves::new();
        for (i, ty) in types.iter().enumerate() {
            let (a, b) = (a[i], b[i]);
            let first = self.fcmp(if least { FCmpOp::Olt } else { FCmpOp::Ogt }, *ty, a, b)?;
            let none = self.fcmp(FCmpOp::Uno, *ty, a, b)?;
            let equal = self.fcmp(FCmpOp::Oeq, *ty, a, b)?;
            let zeros = self.bin_into(if least { BinOp::Or } else { BinOp::And }, 0, *ty, a, b);
            let sum = self.fbin(FBinOp::Add, *ty, a, b)?;
            let r = self.select(*ty, first, a, b);
            let r = self.select(*ty, equal, zeros, r);
            out.push(self.select(*ty, none, sum, r));
        }
        Ok(out)
    }

    fn fp_class(&mut self, a: Value<'m>, mask: Value<'m>) -> Lowered<Leaves> {
        let types = self.leaf_types(a)?;
        let (leaves, mask) = (self.operands(a)?, self.operand(mask)?);
        Ok(types
            .iter()
            .zip(leaves)
            .map(|(ty, a)| self.scalar_call(ScalarFn::IsFpClass, *ty, Ty::Int(1), &[(a, *ty), (mask, Ty::Int(32))]))
            .collect())
    }

    fn libm(&mut self, inst: Inst<'m>, name: &str, args: &[Value<'m>]) -> Lowered<Option<Leaves>> {
        let Some(first) = args.first() else { return Ok(None) };
        let types = self.leaf_types(*first)?;
        let results = self.leaf_types(inst.value())?;
        let ([ty], [_]) = (&*types, &*results) else { return Ok(None) };
        let suffix = match float_type(*ty)? {
            FloatTy::Single => "f",
            FloatTy::Double => "",
            FloatTy::X87 => "l",
            FloatTy::Half | FloatTy::Quad => return Ok(None),
        };
        let callee = self.unit.declare_named(&format!("{name}{suffix}"));
        let mut lowered = Vec::new();
        for a in args {
            let ty = self.unit.layouts.scalar(a.ty())?;
            lowered.push(Arg { value: self.operand(*a)?, ty, byval: 0 });
        }
        Ok(Some(self.emit_call(Callee::Direct(callee), lowered, &results)))
    }

    fn constrained(&mut self, inst: Inst<'m>, name: &str, args: &[Value<'m>]) -> Lowered<Option<Leaves>> {
        let Some(first) = args.first() else { return Ok(None) };
        let types = self.leaf_types(*first)?;
        let a = self.operands(*first)?;
        if let Some(op) = conversion(name) {
            let to = self.leaf_types(inst.value())?;
            let lanes = a.into_iter().zip(types.iter().zip(to.iter()));
            return Ok(Some(lanes.map(|(a, (f, t))| self.fcast(op, *f, *t, a)).collect()));
        }
        let Some(second) = args.get(1) else { return Ok(None) };
        let b = self.operands(*second)?;
        let lanes: Vec<(Ty, Opnd, Opnd)> = types.iter().zip(a).zip(b).map(|((ty, a), b)| (*ty, a, b)).collect();
        if let Some(op) = arithmetic(name) {
            return lanes.into_iter().map(|(ty, a, b)| self.fbin(op, ty, a, b)).collect::<Lowered<Leaves>>().map(Some);
        }
        if matches!(name, "fcmp" | "fcmps") {
            let predicate = inst.call_args().get(2).copied().and_then(Value::meta_string);
            let op = predicate.as_deref().and_then(comparison).ok_or_else(|| Unsupported::new("llvm.fcmp"))?;
            return lanes.into_iter().map(|(ty, a, b)| self.fcmp(op, ty, a, b)).collect::<Lowered<Leaves>>().map(Some);
        }
        Ok(None)
    }
}
