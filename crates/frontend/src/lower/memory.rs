//! Allocas, loads and stores.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering, one};
use super::layout::Leaf;
use super::promote::Variables;
use crate::llvm::{Inst, Type, Value};
use pleach_ir::{self as ir, Opnd, StackObject, Ty};

impl<'m> Lowering<'_, 'm> {
    pub fn alloca(&mut self, inst: Inst<'m>, variables: &Variables<'m>) -> Lowered<Leaves> {
        if let Some(&dst) = self.promoted.get(&inst.value()) {
            if !self.out.params.iter().any(|p| p.slot == dst) {
                self.push(ir::Inst::Undef { dst });
            }
            return Ok(Leaves::new());
        }
        let ty = inst.allocated_type().ok_or_else(|| Unsupported::new("alloca"))?;
        let size = self.unit.module.alloc_size(ty);
        let size = size.ok_or_else(|| Unsupported::new(format!("alloca of {ty}")))?;
        let count = self.nth(inst.value(), 0)?;
        let count_type = self.unit.layouts.scalar(count.ty())?;
        let count_width = self.bits(count_type);
        let count = self.operand(count)?;
        let variable = variables.get(&inst.value());
        let object = self.out.objects.len() as u32;
        self.out.objects.push(StackObject {
            name: variable.and_then(|v| v.name.clone()).unwrap_or_else(|| inst.value().name()),
            align: inst.value().alignment().max(self.unit.module.alignment(ty)),
            ty: variable.and_then(|v| v.ty),
        });
        if let Some(dst) = self.before_scope(inst.value(), size, (count, count_width), object) {
            return Ok(one(Opnd::slot(dst)));
        }
        let dst = self.slot(Ty::Ptr);
        self.push(ir::Inst::Alloca { dst, size, count, count_width, object });
        Ok(one(Opnd::slot(dst)))
    }

    pub fn load(&mut self, inst: Inst<'m>) -> Lowered<Leaves> {
        let place = self.nth(inst.value(), 0)?;
        if let Some(&variable) = self.promoted.get(&place) {
            let dst = self.slot(self.out.slots[variable.index()].ty);
            self.push(ir::Inst::Mov { dst, a: Opnd::slot(variable) });
            return Ok(one(Opnd::slot(dst)));
        }
        let ptr = self.operand(place)?;
        self.load_leaves(inst.ty(), ptr, inst.is_volatile(), alignment(inst))
    }

    /// Reads a value of any type, leaf by leaf.
    pub fn load_leaves(&mut self, ty: Type<'m>, ptr: Opnd, volatile: bool, align: u8) -> Lowered<Leaves> {
        let leaves = self.unit.layouts.leaves(ty)?;
        if shares_bytes(&leaves, ty) {
            let types = self.leaf_types_of(ty)?;
            let total = Ty::Int(self.total_bits(&types)?);
            let dst = self.slot(total);
            self.push(ir::Inst::Load { ty: total, volatile, align, dst, ptr });
            return self.unpack(Opnd::slot(dst), &types);
        }
        let offsets = byte_offsets(&leaves, ty)?;
        let mut out = Leaves::new();
        for (leaf, offset) in leaves.iter().zip(offsets) {
            let at = self.offset(ptr, offset);
            let dst = self.slot(leaf.ty);
            // The others lie where they do because the first does.
            let align = if offset == 0 { align } else { 0 };
            self.push(ir::Inst::Load { ty: leaf.ty, volatile, align, dst, ptr: at });
            out.push(Opnd::slot(dst));
        }
        Ok(out)
    }

    pub fn store(&mut self, inst: Inst<'m>) -> Lowered<Leaves> {
        let (value, place) = (self.nth(inst.value(), 0)?, self.nth(inst.value(), 1)?);
        if let Some(&dst) = self.promoted.get(&place) {
            let a = self.operand(value)?;
            if a != Opnd::slot(dst) {
                self.push(ir::Inst::Mov { dst, a });
            }
            return Ok(Leaves::new());
        }
        let ptr = self.operand(place)?;
        self.store_leaves(value, ptr, inst.is_volatile(), alignment(inst))
    }

    fn store_leaves(&mut self, value: Value<'m>, ptr: Opnd, volatile: bool, align: u8) -> Lowered<Leaves> {
        let ty = value.ty();
        let leaves = self.unit.layouts.leaves(ty)?;
        let values = self.operands(value)?;
        if shares_bytes(&leaves, ty) {
            let types = self.leaf_types_of(ty)?;
            let total = Ty::Int(self.total_bits(&types)?);
            let value = self.pack(&types, &values)?;
            self.push(ir::Inst::Store { ty: total, volatile, align, ptr, value });
            return Ok(Leaves::new());
        }
        let offsets = byte_offsets(&leaves, ty)?;
        for ((leaf, offset), value) in leaves.iter().zip(offsets).zip(values) {
            let ptr = self.offset(ptr, offset);
            let align = if offset == 0 { align } else { 0 };
            self.push(ir::Inst::Store { ty: leaf.ty, volatile, align, ptr, value });
        }
        Ok(Leaves::new())
    }
}

/// The power of two that an access needs its address to be a multiple of. Objects lie at multiples of 16, so that more
/// cannot be said.
fn alignment(inst: Inst<'_>) -> u8 {
    inst.value().alignment().max(1).ilog2().min(4) as u8
}

/// Vectors of bits and the like: lanes without bytes of their own.
fn shares_bytes(leaves: &[Leaf], ty: Type<'_>) -> bool {
    ty.is_vector() && leaves.len() > 1 && matches!(leaves[0].ty, Ty::Int(w) if w % 8 != 0)
}

/// Where the leaves lie; those that share bytes inside a structure stay out.
fn byte_offsets(leaves: &[Leaf], ty: Type<'_>) -> Lowered<Vec<u64>> {
    if !leaves.iter().all(|l| l.bit % 8 == 0) {
        return Err(Unsupported::new(format!("memory access of type {ty}")));
    }
    Ok(leaves.iter().map(|l| l.bit / 8).collect())
}
