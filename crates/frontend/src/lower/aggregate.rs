//! First-class structures and arrays: extracting and inserting elements costs nothing once they are flat.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering};
use crate::llvm::{Inst, Shape, Type};

impl<'m> Lowering<'_, 'm> {
    /// Where the leaves of the element at `path` start, and its type.
    fn element_at(&mut self, ty: Type<'m>, path: &[u32]) -> Lowered<(usize, Type<'m>)> {
        let mut at = ty;
        let mut first = 0;
        for &index in path {
            let missing = || Unsupported::new(format!("an element of {ty}"));
            match at.shape() {
                Shape::Struct => {
                    let fields = at.fields();
                    for field in fields.iter().take(index as usize) {
                        first += self.unit.layouts.leaves(*field)?.len();
                    }
                    at = *fields.get(index as usize).ok_or_else(missing)?;
                }
                Shape::Array(of, _) | Shape::Vector(of, _) => {
                    first += self.unit.layouts.leaves(of)?.len() * index as usize;
                    at = of;
                }
                _ => return Err(missing()),
            }
        }
        Ok((first, at))
    }

    pub fn extract_value(&mut self, inst: Inst<'m>) -> Lowered<Leaves> {
        let whole = self.nth(inst.value(), 0)?;
        let (first, ty) = self.element_at(whole.ty(), &inst.indices())?;
        let count = self.unit.layouts.leaves(ty)?.len();
        let leaves = self.operands(whole)?;
        Ok(leaves.into_iter().skip(first).take(count).collect())
    }

    pub fn insert_value(&mut self, inst: Inst<'m>) -> Lowered<Leaves> {
        let (whole, part) = (self.nth(inst.value(), 0)?, self.nth(inst.value(), 1)?);
        let (first, _) = self.element_at(whole.ty(), &inst.indices())?;
        let mut leaves = self.operands(whole)?;
        let part = self.operands(part)?;
        for (to, from) in leaves.iter_mut().skip(first).zip(part) {
            *to = from;
        }
        Ok(leaves)
    }
}
