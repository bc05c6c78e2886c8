//! Calls, and `va_arg` where it was left in place.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering, one};
use crate::llvm::{Inst, Value, ValueKind};
use pleach_ir::{self as ir, Arg, Callee, Opnd, Slot, Symbol, Ty};

impl<'m> Lowering<'_, 'm> {
    pub fn call(&mut self, inst: Inst<'m>) -> Lowered<Leaves> {
        let called = inst.called().ok_or_else(|| Unsupported::new("a call of nothing"))?;
        if called.kind() == ValueKind::Asm {
            return self.inline_asm(inst, called);
        }
        if let Some(f) = called.as_function() {
            let name = f.name();
            if let Some(intrinsic) = name.strip_prefix("llvm.") {
                return self.intrinsic(inst, intrinsic);
            }
        }
        let callee = self.callee(called)?;
        let args = self.arguments(inst)?;
        let types = self.leaf_types(inst.value())?;
        Ok(self.emit_call(callee, args, &types))
    }

    fn callee(&mut self, called: Value<'m>) -> Lowered<Callee> {
        Ok(match self.unit.symbol(called) {
            Some(Symbol::Function(f)) => Callee::Direct(f),
            _ => Callee::Indirect(self.operand(called)?),
        })
    }

    fn arguments(&mut self, inst: Inst<'m>) -> Lowered<Vec<Arg>> {
        let mut args = Vec::new();
        let fixed = inst.fixed_arguments();
        for (v, i) in inst.call_args().into_iter().zip(0..) {
            if i >= fixed && self.variable_argument(inst, v, i, &mut args)? {
                continue;
            }
            let byval = inst.call_byval(i).and_then(|t| self.unit.module.alloc_size(t)).unwrap_or(0);
            let byval = u32::try_from(byval).map_err(|_| Unsupported::new("an argument above 4 GiB"))?;
            let types = self.leaf_types(v)?;
            let leaves = self.operands(v)?;
            args.extend(leaves.into_iter().zip(types.iter()).map(|(value, ty)| Arg { value, ty: *ty, byval }));
        }
        Ok(args)
    }

    /// A structure or vector among variable arguments, as the words that `va_arg` reads; `false` if it is neither.
    fn variable_argument(&mut self, inst: Inst<'m>, v: Value<'m>, i: u32, args: &mut Vec<Arg>) -> Lowered<bool> {
        if let Some(ty) = inst.call_byval(i) {
            let size = self.unit.module.alloc_size(ty).unwrap_or(0);
            let pointer = u64::from(self.unit.pointer_bits()) / 8;
            // Words of 16 bytes are laid out at multiples of 16.
            let word = if inst.call_align(i).unwrap_or(0) > pointer { 16 } else { pointer };
            let from = self.operand(v)?;
            for at in (0..size).step_by(word as usize) {
                let ty = Ty::Int(8 * word.min(size - at) as u16);
                let ptr = self.offset(from, at);
                let dst = self.slot(ty);
                self.push(ir::Inst::Load { ty, volatile: false, align: 0, dst, ptr });
                args.push(Arg { value: Opnd::slot(dst), ty, byval: 0 });
            }
            return Ok(true);
        }
        if !v.ty().is_vector() {
            return Ok(false);
        }
        let types = self.leaf_types(v)?;
        let lanes = self.operands(v)?;
        let ty = Ty::Int(self.total_bits(&types)?);
        let value = self.pack(&types, &lanes)?;
        args.push(Arg { value, ty, byval: 0 });
        Ok(true)
    }

    /// The results are fresh slots of the types given.
    pub fn emit_call(&mut self, callee: Callee, args: Vec<Arg>, results: &[Ty]) -> Leaves {
        let slots: Vec<Slot> = results.iter().map(|ty| self.slot(*ty)).collect();
        let args = self.args(args);
        let dsts = self.dsts(slots.iter().copied());
        self.push(ir::Inst::Call { callee, dsts, args });
        slots.into_iter().map(Opnd::slot).collect()
    }

    pub fn va_arg(&mut self, inst: Inst<'m>) -> Lowered<Leaves> {
        let list = self.nth(inst.value(), 0)?;
        let list = self.operand(list)?;
        let ty = self.unit.layouts.scalar(inst.ty())?;
        let dst = self.slot(ty);
        self.push(ir::Inst::VaArg { ty, dst, list });
        Ok(one(Opnd::slot(dst)))
    }
}
