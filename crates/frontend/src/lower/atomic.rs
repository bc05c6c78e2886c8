//! Atomic read-modify-write: one thread runs at a time, so it is a load, an operation and a store.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering, one};
use crate::llvm::{Inst, RmwOp};
use pleach_ir::{self as ir, BinOp, CmpOp, FBinOp, Opnd, ScalarFn, Ty};

impl<'m> Lowering<'_, 'm> {
    pub fn atomic_rmw(&mut self, inst: Inst<'m>) -> Lowered<Leaves> {
        let volatile = inst.is_volatile();
        let (place, value) = (self.nth(inst.value(), 0)?, self.nth(inst.value(), 1)?);
        let ty = self.unit.layouts.scalar(value.ty())?;
        let (ptr, value) = (self.operand(place)?, self.operand(value)?);
        let old = self.slot(ty);
        self.push(ir::Inst::Load { ty, volatile, align: 0, dst: old, ptr });
        let old = Opnd::slot(old);
        let op = inst.rmw_op().ok_or_else(|| Unsupported::new("atomicrmw"))?;
        let value = self.updated(op, ty, old, value)?;
        self.push(ir::Inst::Store { ty, volatile, align: 0, ptr, value });
        Ok(one(old))
    }

    fn updated(&mut self, op: RmwOp, ty: Ty, old: Opnd, value: Opnd) -> Lowered<Opnd> {
        use RmwOp::*;
        let width = self.bits(ty);
        Ok(match op {
            LLVMAtomicRMWBinOpXchg => value,
            LLVMAtomicRMWBinOpAdd => self.bin_into(BinOp::Add, 0, ty, old, value),
            LLVMAtomicRMWBinOpSub => self.bin_into(BinOp::Sub, 0, ty, old, value),
            LLVMAtomicRMWBinOpAnd => self.bin_into(BinOp::And, 0, ty, old, value),
            LLVMAtomicRMWBinOpOr => self.bin_into(BinOp::Or, 0, ty, old, value),
            LLVMAtomicRMWBinOpXor => self.bin_into(BinOp::Xor, 0, ty, old, value),
            LLVMAtomicRMWBinOpNand => {
                let and = self.bin_into(BinOp::And, 0, ty, old, value);
                let ones = self.ones(width);
                self.bin_into(BinOp::Xor, 0, ty, and, ones)
            }
            LLVMAtomicRMWBinOpMax => self.scalar_fn(ScalarFn::SMax, ty, &[old, value]),
            LLVMAtomicRMWBinOpMin => self.scalar_fn(ScalarFn::SMin, ty, &[old, value]),
            LLVMAtomicRMWBinOpUMax => self.scalar_fn(ScalarFn::UMax, ty, &[old, value]),
            LLVMAtomicRMWBinOpUMin => self.scalar_fn(ScalarFn::UMin, ty, &[old, value]),
            LLVMAtomicRMWBinOpFAdd => self.fbin(FBinOp::Add, ty, old, value)?,
            LLVMAtomicRMWBinOpFSub => self.fbin(FBinOp::Sub, ty, old, value)?,
            LLVMAtomicRMWBinOpFMax => self.scalar_fn(ScalarFn::FMaxNum, ty, &[old, value]),
            LLVMAtomicRMWBinOpFMin => self.scalar_fn(ScalarFn::FMinNum, ty, &[old, value]),
            #[allow(unreachable_patterns)]
            _ => return Err(Unsupported::new("atomicrmw")),
        })
    }

    /// All bits set.
    pub fn ones(&mut self, width: u16) -> Opnd {
        if width <= 64 {
            return self.int(width, u64::MAX);
        }
        let mut limbs = vec![u64::MAX; usize::from(width).div_ceil(64)];
        if let (Some(last), rest @ 1..) = (limbs.last_mut(), width % 64) {
            *last = super::constant::mask(rest, u64::MAX);
        }
        self.constant(ir::Const::Wide { width, limbs })
    }

    /// Gives what was there and whether it was as expected. A failed exchange writes the old value back, as the
    /// machine's instruction does.
    pub fn compare_exchange(&mut self, inst: Inst<'m>) -> Lowered<Leaves> {
        let volatile = inst.is_volatile();
        let v = inst.value();
        let (place, expected, new) = (self.nth(v, 0)?, self.nth(v, 1)?, self.nth(v, 2)?);
        let ty = self.unit.layouts.scalar(new.ty())?;
        let (ptr, expected, new) = (self.operand(place)?, self.operand(expected)?, self.operand(new)?);
        let old = self.slot(ty);
        self.push(ir::Inst::Load { ty, volatile, align: 0, dst: old, ptr });
        let old = Opnd::slot(old);
        let width = self.bits(ty);
        let same = self.cmp(CmpOp::Eq, width, old, expected);
        let value = self.select(ty, same, new, old);
        self.push(ir::Inst::Store { ty, volatile, align: 0, ptr, value });
        Ok([old, same].into_iter().collect())
    }
}
