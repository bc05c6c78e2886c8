//! Debug types as far as the input heap needs them: sizes, and the scalars at their offsets.

use pleach_ir::types::{DebugType, Encoding};
use pleach_ir::{Program, TypeId};

/// One scalar of a type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leaf {
    pub offset: u64,
    pub bytes: u64,
    pub kind: LeafKind,
    /// how C names it, from the object: `.next`, `[2]`
    pub path: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LeafKind {
    Int { signed: bool },
    Bool,
    Float,
    Pointer(Option<TypeId>),
}

/// Typedefs nested deeper are not followed.
const DEEPEST: u32 = 32;
/// Scalars of one element that are listed.
const LEAVES: usize = 512;

/// The type behind its names.
pub fn resolve(p: &Program, ty: TypeId) -> TypeId {
    let mut at = ty;
    for _ in 0..DEEPEST {
        match p.types.get(at.index()) {
            Some(DebugType::Named { of: Some(of), .. }) => at = *of,
            _ => break,
        }
    }
    same(p, at)
}

/// The first type that is this one: structures of one name and size are one.
fn same(p: &Program, ty: TypeId) -> TypeId {
    let (Some(DebugType::Struct { name, size, .. }), false) = (p.types.get(ty.index()), ty.index() == 0) else {
        return ty;
    };
    if name.is_empty() {
        return ty;
    }
    let equal = |t: &DebugType| matches!(t, DebugType::Struct { name: n, size: s, members } if n == name && s == size && !members.is_empty());
    p.types.iter().position(equal).map_or(ty, TypeId::new)
}

/// In bytes; 0 if it is not known.
pub fn size(p: &Program, ty: TypeId) -> u64 {
    size_within(p, ty, DEEPEST)
}

fn size_within(p: &Program, ty: TypeId, deep: u32) -> u64 {
    let Some(t) = p.types.get(resolve(p, ty).index()).filter(|_| deep > 0) else { return 0 };
    match t {
        DebugType::Base { bits, .. } | DebugType::Enum { bits, .. } => u64::from(bits.div_ceil(8)),
        DebugType::Pointer { .. } => u64::from(p.target.pointer_bytes),
        DebugType::Array { element, count } => size_within(p, *element, deep - 1).saturating_mul(*count),
        DebugType::Struct { size, .. } | DebugType::Union { size, .. } | DebugType::Unknown { size } => *size,
        DebugType::Function { .. } | DebugType::Named { .. } => 0,
    }
}

/// What a pointer type points to; the outer `None`: it is no pointer type.
pub fn pointee(p: &Program, ty: TypeId) -> Option<Option<TypeId>> {
    match p.types.get(resolve(p, ty).index())? {
        DebugType::Pointer { to } => Some(to.map(|t| resolve(p, t))),
        _ => None,
    }
}

/// Result and parameters of a type of functions.
pub fn signature(p: &Program, ty: TypeId) -> Option<(Option<TypeId>, &[TypeId])> {
    match p.types.get(resolve(p, ty).index())? {
        DebugType::Function { result, parameters } => Some((*result, parameters)),
        _ => None,
    }
}

/// A structure or a union.
pub fn is_aggregate(p: &Program, ty: TypeId) -> bool {
    matches!(p.types.get(resolve(p, ty).index()), Some(DebugType::Struct { .. } | DebugType::Union { .. }))
}

/// The scalars of one object of the type; `None` if it has parts that overlap or are not known.
pub fn leaves(p: &Program, ty: TypeId) -> Option<Vec<Leaf>> {
    let mut out = Vec::new();
    add_leaves(p, ty, 0, String::new(), DEEPEST, &mut out)?;
    Some(out)
}

fn add_leaves(p: &Program, ty: TypeId, offset: u64, path: String, deep: u32, out: &mut Vec<Leaf>) -> Option<()> {
    if deep == 0 || out.len() > LEAVES {
        return None;
    }
    let bytes = size(p, ty);
    let mut leaf = |kind| out.push(Leaf { offset, bytes, kind, path: path.clone() });
    match p.types.get(resolve(p, ty).index())? {
        DebugType::Base { encoding, .. } => leaf(match encoding {
            Encoding::Signed | Encoding::SignedChar => LeafKind::Int { signed: true },
            Encoding::Unsigned | Encoding::UnsignedChar => LeafKind::Int { signed: false },
            Encoding::Bool => LeafKind::Bool,
            Encoding::Float => LeafKind::Float,
        }),
        DebugType::Enum { signed, .. } => leaf(LeafKind::Int { signed: *signed }),
        DebugType::Pointer { to } => leaf(LeafKind::Pointer(to.map(|t| resolve(p, t)))),
        DebugType::Array { element, count } => {
            let step = size(p, *element);
            for i in 0..*count {
                add_leaves(p, *element, offset + i * step, format!("{path}[{i}]"), deep - 1, out)?;
            }
        }
        DebugType::Struct { members, .. } => {
            for m in members {
                if m.bits.is_some() {
                    return None;
                }
                add_leaves(p, m.ty, offset + m.offset, format!("{path}.{}", m.name), deep - 1, out)?;
            }
        }
        _ => return None,
    }
    Some(())
}

/// The type's name in C, for declarations of pointers to it.
pub fn spelling(p: &Program, ty: TypeId) -> Option<String> {
    Some(match p.types.get(ty.index())? {
        DebugType::Base { name, .. } | DebugType::Named { name, .. } => name.clone(),
        DebugType::Struct { name, .. } if !name.is_empty() => format!("struct {name}"),
        DebugType::Union { name, .. } if !name.is_empty() => format!("union {name}"),
        DebugType::Enum { name, .. } if !name.is_empty() => format!("enum {name}"),
        DebugType::Struct { .. } | DebugType::Union { .. } | DebugType::Enum { .. } => {
            let named = |t: &DebugType| matches!(t, DebugType::Named { of: Some(of), .. } if *of == ty);
            let DebugType::Named { name, .. } = p.types.iter().find(|t| named(t))? else { return None };
            name.clone()
        }
        DebugType::Pointer { to: None } => "void *".into(),
        DebugType::Pointer { to: Some(to) } => format!("{} *", spelling(p, *to)?),
        _ => return None,
    })
}
