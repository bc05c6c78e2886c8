//! Flattening: the scalar leaves of a type and where they lie in memory.

use super::Unsupported;
use crate::llvm::{Module, Shape, Type};
use pleach_ir::Ty;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// One scalar of a flattened type; the offset is in bits, since vectors may pack more tightly than bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Leaf {
    pub ty: Ty,
    pub bit: u64,
}

/// More leaves than this are not kept in slots.
const MAX_LEAVES: usize = 4096;

/// The leaves of every type seen so far.
pub(crate) struct Layouts<'m> {
    module: &'m Module<'m>,
    known: FxHashMap<Type<'m>, Option<Rc<[Leaf]>>>,
}

impl<'m> Layouts<'m> {
    pub fn new(module: &'m Module<'m>) -> Layouts<'m> {
        Layouts { module, known: FxHashMap::default() }
    }

    /// The leaves of a type, in memory order; none for `void` and empty structures.
    pub fn leaves(&mut self, ty: Type<'m>) -> Result<Rc<[Leaf]>, Unsupported> {
        let known = self.known.entry(ty).or_insert_with(|| {
            let mut out = Vec::new();
            flatten(self.module, ty, 0, &mut out).then(|| out.into())
        });
        known.clone().ok_or_else(|| Unsupported::new(format!("values of type {ty}")))
    }

    /// The only leaf of a scalar type.
    pub fn scalar(&mut self, ty: Type<'m>) -> Result<Ty, Unsupported> {
        match &*self.leaves(ty)? {
            [leaf] => Ok(leaf.ty),
            _ => Err(Unsupported::new(format!("type {ty} in place of a scalar"))),
        }
    }
}

/// The scalar a type is, if it is one.
pub(crate) fn scalar(ty: Type<'_>) -> Option<Ty> {
    match ty.shape() {
        Shape::Int(w) => u16::try_from(w).ok().map(Ty::Int),
        Shape::Float(f) => Some(Ty::Float(f)),
        Shape::Ptr => Some(Ty::Ptr),
        _ => None,
    }
}

fn flatten<'m>(module: &Module<'m>, ty: Type<'_>, bit: u64, out: &mut Vec<Leaf>) -> bool {
    if let Some(ty) = scalar(ty) {
        out.push(Leaf { ty, bit });
        return out.len() <= MAX_LEAVES;
    }
    match ty.shape() {
        Shape::Void => true,
        Shape::Struct => {
            let fields = ty.fields();
            module.has_fixed_size(ty)
                && fields.iter().zip(0..).all(|(f, i)| flatten(module, *f, bit + module.field_offset(ty, i) * 8, out))
        }
        Shape::Array(of, n) => match module.alloc_size(of) {
            Some(size) => repeat(module, of, n, bit, size * 8, out),
            None => false,
        },
        Shape::Vector(of, n) => match module.size_in_bits(of) {
            Some(bits) => repeat(module, of, n, bit, bits, out),
            None => false,
        },
        _ => false,
    }
}

fn repeat(module: &Module<'_>, of: Type<'_>, n: u64, bit: u64, stride: u64, out: &mut Vec<Leaf>) -> bool {
    n <= MAX_LEAVES as u64 && (0..n).all(|i| flatten(module, of, bit + i * stride, out))
}
