//! LLVM's intrinsics on floating point, plain and constrained. Rounding is to nearest, exceptions are masked.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering, one};
use super::float::float_type;
use crate::llvm::{Inst, Value};
use pleach_ir::{Arg, Callee, FBinOp, FCastOp, FCmpOp, FloatTy, Opnd, ScalarFn, Ty};

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
    "log10", "pow", "ldexp", "lround", "llround", "lrint", "llrint",
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
