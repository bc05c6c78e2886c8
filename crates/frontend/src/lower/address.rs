//! Address computation.

use super::Unsupported;
use super::constant::GepStep;
use super::emit::{Leaves, Lowered, Lowering};
use crate::llvm::Value;
use pleach_ir::{CastOp, Inst, Opnd, Range, Scaled, Ty};

impl<'m> Lowering<'_, 'm> {
    /// Constant parts become one offset; indices keep their own width and get a scale. Vectors go lane by lane.
    pub fn gep(&mut self, v: Value<'m>) -> Lowered<Leaves> {
        let base = self.nth(v, 0)?;
        let lanes = self.leaf_types(v)?.len();
        let bases = self.operands(base)?;
        let steps = self.unit.gep_steps(v).ok_or_else(|| Unsupported::new("getelementptr"))?;
        let mut offset = 0i64;
        let mut indices: Vec<(Leaves, Ty, i64)> = Vec::new();
        for step in steps {
            match step {
                GepStep::Fixed(n) => offset = offset.wrapping_add(n),
                GepStep::Index(_, 0) => {}
                GepStep::Index(index, scale) => {
                    let ty = self.leaf_types(index)?.first().copied();
                    let ty = ty.ok_or_else(|| Unsupported::new("getelementptr"))?;
                    indices.push((self.operands(index)?, ty, scale));
                }
            }
        }
        let mut out = Leaves::new();
        for lane in 0..lanes {
            let base = lane_of(&bases, lane)?;
            let mut parts = Vec::with_capacity(indices.len());
            for (index, ty, scale) in &indices {
                let (index, width) = self.narrowed(lane_of(index, lane)?, *ty);
                parts.push(Scaled { index, width, scale: *scale });
            }
            out.push(self.address(base, offset, parts));
        }
        Ok(out)
    }

    /// No index is wider than an address.
    fn narrowed(&mut self, index: Opnd, ty: Ty) -> (Opnd, u16) {
        let (width, most) = (self.bits(ty), self.unit.pointer_bits());
        if width <= most {
            return (index, width);
        }
        (self.cast(CastOp::Trunc, ty, Ty::Int(most), index), most)
    }

    fn address(&mut self, base: Opnd, offset: i64, parts: Vec<Scaled>) -> Opnd {
        if offset == 0 && parts.is_empty() {
            return base;
        }
        let start = self.out.scaled.len() as u32;
        let len = parts.len() as u32;
        self.out.scaled.extend(parts);
        let dst = self.slot(Ty::Ptr);
        self.push(Inst::Gep { dst, base, offset, parts: Range { start, len } });
        Opnd::slot(dst)
    }
}

/// Scalars stand for every lane.
fn lane_of(leaves: &Leaves, lane: usize) -> Lowered<Opnd> {
    let at = if leaves.len() == 1 { 0 } else { lane };
    leaves.get(at).copied().ok_or_else(|| Unsupported::new("getelementptr"))
}
