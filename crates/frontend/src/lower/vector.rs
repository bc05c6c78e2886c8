//! Vector lanes.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering, one};
use crate::llvm::{Inst, Value};
use pleach_ir::{Arg, Callee, CmpOp, Opnd, Ty};

impl<'m> Lowering<'_, 'm> {
    /// A lane by a constant is free, by a variable a chain of choices.
    pub fn extract_element(&mut self, v: Value<'m>) -> Lowered<Leaves> {
        let (whole, index) = (self.nth(v, 0)?, self.nth(v, 1)?);
        let ty = self.unit.layouts.scalar(v.ty())?;
        let leaves = self.operands(whole)?;
        if let Some(i) = index.as_u64() {
            let lane = usize::try_from(i).ok().and_then(|i| leaves.get(i).copied());
            return Ok(one(lane.unwrap_or_else(|| self.undef(ty))));
        }
        self.check_lane(index, leaves.len(), "llvm.lane.check")?;
        let Some(mut found) = leaves.last().copied() else { return Ok(one(self.undef(ty))) };
        for (i, lane) in leaves.iter().copied().enumerate().rev().skip(1) {
            let here = self.is_lane(index, i)?;
            found = self.select(ty, here, lane, found);
        }
        Ok(one(found))
    }

    pub fn insert_element(&mut self, v: Value<'m>) -> Lowered<Leaves> {
        let (whole, part, index) = (self.nth(v, 0)?, self.nth(v, 1)?, self.nth(v, 2)?);
        let ty = self.unit.layouts.scalar(part.ty())?;
        let mut leaves = self.operands(whole)?;
        let part = self.operand(part)?;
        if let Some(i) = index.as_u64() {
            if let Some(lane) = usize::try_from(i).ok().and_then(|i| leaves.get_mut(i)) {
                *lane = part;
            }
            return Ok(leaves);
        }
        self.check_lane(index, leaves.len(), "llvm.lane.check.write")?;
        for i in 0..leaves.len() {
            let here = self.is_lane(index, i)?;
            leaves[i] = self.select(ty, here, part, leaves[i]);
        }
        Ok(leaves)
    }

    /// A lane that the vector does not have is an error, where the access has not been moved.
    fn check_lane(&mut self, index: Value<'m>, lanes: usize, check: &str) -> Lowered<()> {
        if self.optimised {
            return Ok(());
        }
        let ty = self.unit.layouts.scalar(index.ty())?;
        let width = self.bits(ty);
        let (index, lanes) = (self.operand(index)?, self.int(width, lanes as u64));
        let inside = self.cmp(CmpOp::Ult, width, index, lanes);
        let check = self.unit.declare_named(check);
        self.emit_call(Callee::Direct(check), vec![Arg { value: inside, ty: Ty::Int(1), byval: 0 }], &[]);
        Ok(())
    }

    fn is_lane(&mut self, index: Value<'m>, lane: usize) -> Lowered<Opnd> {
        let ty = self.unit.layouts.scalar(index.ty())?;
        let width = self.bits(ty);
        let (index, lane) = (self.operand(index)?, self.int(width, lane as u64));
        Ok(self.cmp(CmpOp::Eq, width, index, lane))
    }

    pub fn shuffle_vector(&mut self, inst: Inst<'m>) -> Lowered<Leaves> {
        let (a, b) = (self.nth(inst.value(), 0)?, self.nth(inst.value(), 1)?);
        let types = self.leaf_types(inst.value())?;
        let mut lanes = self.operands(a)?;
        lanes.extend(self.operands(b)?);
        let mask = inst.shuffle_mask();
        if mask.len() != types.len() {
            return Err(Unsupported::new("shufflevector"));
        }
        let picked = mask.into_iter().zip(types.iter());
        Ok(picked
            .map(|(lane, ty)| lane.and_then(|i| lanes.get(i).copied()).unwrap_or_else(|| self.undef(*ty)))
            .collect())
    }
}
