//! Integer arithmetic, comparison, selection; element by element for vectors.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering};
use crate::llvm::{Inst, IntPredicate, Opcode, Value};
use pleach_ir::{self as ir, BinOp, CmpOp, Opnd, Ty, flags};

fn bin_op(opcode: Opcode) -> Option<BinOp> {
    use Opcode::*;
    Some(match opcode {
        LLVMAdd => BinOp::Add,
        LLVMSub => BinOp::Sub,
        LLVMMul => BinOp::Mul,
        LLVMUDiv => BinOp::UDiv,
        LLVMSDiv => BinOp::SDiv,
        LLVMURem => BinOp::URem,
        LLVMSRem => BinOp::SRem,
        LLVMShl => BinOp::Shl,
        LLVMLShr => BinOp::LShr,
        LLVMAShr => BinOp::AShr,
        LLVMAnd => BinOp::And,
        LLVMOr => BinOp::Or,
        LLVMXor => BinOp::Xor,
        _ => return None,
    })
}

fn cmp_op(predicate: IntPredicate) -> CmpOp {
    use IntPredicate::*;
    match predicate {
        LLVMIntEQ => CmpOp::Eq,
        LLVMIntNE => CmpOp::Ne,
        LLVMIntUGT => CmpOp::Ugt,
        LLVMIntUGE => CmpOp::Uge,
        LLVMIntULT => CmpOp::Ult,
        LLVMIntULE => CmpOp::Ule,
        LLVMIntSGT => CmpOp::Sgt,
        LLVMIntSGE => CmpOp::Sge,
        LLVMIntSLT => CmpOp::Slt,
        LLVMIntSLE => CmpOp::Sle,
    }
}

fn flags_of(inst: Inst<'_>) -> u8 {
    let (nsw, nuw) = inst.wrap_flags();
    let mut f = 0;
    if nsw {
        f |= flags::NSW;
    }
    if nuw {
        f |= flags::NUW;
    }
    if inst.is_exact() {
        f |= flags::EXACT;
    }
    f
}

impl<'m> Lowering<'_, 'm> {
    /// Both operands of a binary operation, leaf by leaf, with the leaf types of the first.
    pub fn pairs(&mut self, v: Value<'m>) -> Lowered<Vec<(Ty, Opnd, Opnd)>> {
        let (a, b) = (self.nth(v, 0)?, self.nth(v, 1)?);
        let types = self.leaf_types(a)?;
        let (a, b) = (self.operands(a)?, self.operands(b)?);
        Ok(types.iter().zip(a).zip(b).map(|((ty, a), b)| (*ty, a, b)).collect())
    }

    pub fn arithmetic(&mut self, v: Value<'m>, opcode: Opcode) -> Lowered<Leaves> {
        let op = bin_op(opcode).ok_or_else(|| Unsupported::new("an unknown operation"))?;
        let mut promises = v.as_inst().map_or(0, flags_of);
        if self.optimised && matches!(op, BinOp::Shl | BinOp::LShr | BinOp::AShr) {
            promises |= flags::MOVED;
        }
        let pairs = self.pairs(v)?;
        Ok(pairs.into_iter().map(|(ty, a, b)| self.bin_into(op, promises, ty, a, b)).collect())
    }

    pub fn int_comparison(&mut self, inst: Inst<'m>) -> Lowered<Leaves> {
        let predicate = inst.int_predicate().ok_or_else(|| Unsupported::new("icmp"))?;
        let pairs = self.pairs(inst.value())?;
        let mut out = Leaves::new();
        for (ty, a, b) in pairs {
            let width = self.bits(ty);
            out.push(self.cmp(cmp_op(predicate), width, a, b));
        }
        Ok(out)
    }

    pub fn selection(&mut self, v: Value<'m>) -> Lowered<Leaves> {
        let (cond, a, b) = (self.nth(v, 0)?, self.nth(v, 1)?, self.nth(v, 2)?);
        let types = self.leaf_types(a)?;
        let conds = self.operands(cond)?;
        let (a, b) = (self.operands(a)?, self.operands(b)?);
        let mut out = Leaves::new();
        for (i, ty) in types.iter().enumerate() {
            let cond = if conds.len() == 1 { conds[0] } else { conds[i] };
            out.push(self.select(*ty, cond, a[i], b[i]));
        }
        Ok(out)
    }

    pub fn freeze(&mut self, v: Value<'m>) -> Lowered<Leaves> {
        let a = self.nth(v, 0)?;
        let types = self.leaf_types(a)?;
        let leaves = self.operands(a)?;
        let mut out = Leaves::new();
        for (ty, a) in types.iter().zip(leaves) {
            let dst = self.slot(*ty);
            self.push(ir::Inst::Freeze { ty: *ty, dst, a });
            out.push(Opnd::slot(dst));
        }
        Ok(out)
    }
}
