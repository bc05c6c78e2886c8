//! Floating point: arithmetic, comparison, conversion. Fast-math promises are ignored.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering};
use crate::llvm::{Inst, Opcode, RealPredicate, Value};
use pleach_ir::{self as ir, FBinOp, FCastOp, FCmpOp, FloatTy, Opnd, Ty};

pub(crate) fn fcmp_op(predicate: RealPredicate) -> FCmpOp {
    use RealPredicate::*;
    match predicate {
        LLVMRealPredicateFalse => FCmpOp::False,
        LLVMRealOEQ => FCmpOp::Oeq,
        LLVMRealOGT => FCmpOp::Ogt,
        LLVMRealOGE => FCmpOp::Oge,
        LLVMRealOLT => FCmpOp::Olt,
        LLVMRealOLE => FCmpOp::Ole,
        LLVMRealONE => FCmpOp::One,
        LLVMRealORD => FCmpOp::Ord,
        LLVMRealUNO => FCmpOp::Uno,
        LLVMRealUEQ => FCmpOp::Ueq,
        LLVMRealUGT => FCmpOp::Ugt,
        LLVMRealUGE => FCmpOp::Uge,
        LLVMRealULT => FCmpOp::Ult,
        LLVMRealULE => FCmpOp::Ule,
        LLVMRealUNE => FCmpOp::Une,
        LLVMRealPredicateTrue => FCmpOp::True,
    }
}

pub(crate) fn float_type(ty: Ty) -> Lowered<FloatTy> {
    match ty {
        Ty::Float(f) => Ok(f),
        _ => Err(Unsupported::new("a floating-point operation on integers")),
    }
}

impl<'m> Lowering<'_, 'm> {
    pub fn fbin(&mut self, op: FBinOp, ty: Ty, a: Opnd, b: Opnd) -> Lowered<Opnd> {
        let float = float_type(ty)?;
        let dst = self.slot(ty);
        self.push(ir::Inst::FBin { op, ty: float, dst, a, b });
        Ok(Opnd::slot(dst))
    }

    pub fn fcmp(&mut self, op: FCmpOp, ty: Ty, a: Opnd, b: Opnd) -> Lowered<Opnd> {
        let float = float_type(ty)?;
        let dst = self.slot(Ty::Int(1));
        self.push(ir::Inst::FCmp { op, ty: float, dst, a, b });
        Ok(Opnd::slot(dst))
    }

    pub fn fcast(&mut self, op: FCastOp, from: Ty, to: Ty, a: Opnd) -> Opnd {
        let dst = self.slot(to);
        self.push(ir::Inst::FCast { op, from, to, dst, a });
        Opnd::slot(dst)
    }

    pub fn float_arithmetic(&mut self, v: Value<'m>, opcode: Opcode) -> Lowered<Leaves> {
        let op = match opcode {
            Opcode::LLVMFAdd => FBinOp::Add,
            Opcode::LLVMFSub => FBinOp::Sub,
            Opcode::LLVMFMul => FBinOp::Mul,
            Opcode::LLVMFDiv => FBinOp::Div,
            _ => FBinOp::Rem,
        };
        let pairs = self.pairs(v)?;
        pairs.into_iter().map(|(ty, a, b)| self.fbin(op, ty, a, b)).collect()
    }

    pub fn float_negation(&mut self, v: Value<'m>) -> Lowered<Leaves> {
        let a = self.nth(v, 0)?;
        let types = self.leaf_types(a)?;
        let leaves = self.operands(a)?;
        let mut out = Leaves::new();
        for (ty, a) in types.iter().zip(leaves) {
            let float = float_type(*ty)?;
            let dst = self.slot(*ty);
            self.push(ir::Inst::FNeg { ty: float, dst, a });
            out.push(Opnd::slot(dst));
        }
        Ok(out)
    }

    pub fn float_comparison(&mut self, inst: Inst<'m>) -> Lowered<Leaves> {
        let predicate = inst.real_predicate().ok_or_else(|| Unsupported::new("fcmp"))?;
        let pairs = self.pairs(inst.value())?;
        pairs.into_iter().map(|(ty, a, b)| self.fcmp(fcmp_op(predicate), ty, a, b)).collect()
    }

    pub fn float_cast(&mut self, v: Value<'m>, opcode: Opcode) -> Lowered<Leaves> {
        let op = match opcode {
            Opcode::LLVMFPToSI => FCastOp::ToSigned,
            Opcode::LLVMFPToUI => FCastOp::ToUnsigned,
            Opcode::LLVMSIToFP => FCastOp::FromSigned,
            Opcode::LLVMUIToFP => FCastOp::FromUnsigned,
            _ => FCastOp::Resize,
        };
        let a = self.nth(v, 0)?;
        let (from, to) = (self.leaf_types(a)?, self.leaf_types(v)?);
        let leaves = self.operands(a)?;
        let mut out = Leaves::new();
        for (a, (f, t)) in leaves.into_iter().zip(from.iter().zip(to.iter())) {
            out.push(match op {
                FCastOp::ToSigned | FCastOp::ToUnsigned => self.float_to_int(op, *f, *t, a)?,
                _ => self.fcast(op, *f, *t, a),
            });
        }
        Ok(out)
    }
}
