//! Integer and pointer conversions, and reinterpretation of bits.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering, one};
use crate::llvm::{Opcode, Value};
use pleach_ir::{BinOp, CastOp, Opnd, Ty};

impl<'m> Lowering<'_, 'm> {
    pub fn int_cast(&mut self, v: Value<'m>, opcode: Opcode) -> Lowered<Leaves> {
        let op = match opcode {
            Opcode::LLVMTrunc => CastOp::Trunc,
            Opcode::LLVMZExt => CastOp::ZExt,
            Opcode::LLVMSExt => CastOp::SExt,
            Opcode::LLVMPtrToInt => CastOp::PtrToInt,
            _ => CastOp::IntToPtr,
        };
        let a = self.nth(v, 0)?;
        let (from, to) = (self.leaf_types(a)?, self.leaf_types(v)?);
        let leaves = self.operands(a)?;
        Ok(leaves.into_iter().zip(from.iter().zip(to.iter())).map(|(a, (f, t))| self.cast(op, *f, *t, a)).collect())
    }

    /// Slots hold bits: between scalars of one width nothing happens, lanes are packed and unpacked.
    pub fn bit_cast(&mut self, v: Value<'m>) -> Lowered<Leaves> {
        let a = self.nth(v, 0)?;
        let (from, to) = (self.leaf_types(a)?, self.leaf_types(v)?);
        let leaves = self.operands(a)?;
        let same_widths =
            from.len() == to.len() && from.iter().zip(to.iter()).all(|(f, t)| self.bits(*f) == self.bits(*t));
        if same_widths {
            return Ok(leaves);
        }
        let packed = self.pack(&from, &leaves)?;
        self.unpack(packed, &to)
    }

    pub fn total_bits(&self, types: &[Ty]) -> Lowered<u16> {
        let total: u32 = types.iter().map(|t| u32::from(self.bits(*t))).sum();
        u16::try_from(total).map_err(|_| Unsupported::new(format!("bitcast of {total} bits")))
    }

    /// One integer of all lanes, the first lowest.
    pub fn pack(&mut self, types: &[Ty], leaves: &[Opnd]) -> Lowered<Opnd> {
        let total = self.total_bits(types)?;
        let mut whole = None;
        let mut at = 0;
        for (ty, a) in types.iter().zip(leaves) {
            let width = self.bits(*ty);
            let wide = if width == total { *a } else { self.cast(CastOp::ZExt, Ty::Int(width), Ty::Int(total), *a) };
            let placed = if at == 0 {
                wide
            } else {
                let amount = self.int(total, at);
                self.bin(BinOp::Shl, total, wide, amount)
            };
            whole = Some(match whole {
                None => placed,
                Some(so_far) => self.bin(BinOp::Or, total, so_far, placed),
            });
            at += u64::from(width);
        }
        whole.ok_or_else(|| Unsupported::new("bitcast of nothing"))
    }

    pub fn unpack(&mut self, whole: Opnd, types: &[Ty]) -> Lowered<Leaves> {
        let total = self.total_bits(types)?;
        if types.len() == 1 {
            return Ok(one(whole));
        }
        let mut out = Leaves::new();
        let mut at = 0;
        for ty in types {
            let shifted = if at == 0 {
                whole
            } else {
                let amount = self.int(total, at);
                self.bin(BinOp::LShr, total, whole, amount)
            };
            let width = self.bits(*ty);
            // The destination keeps the lane's own type: a float's slot holds its bits.
            out.push(self.cast(CastOp::Trunc, Ty::Int(total), *ty, shifted));
            at += u64::from(width);
        }
        Ok(out)
    }
}
