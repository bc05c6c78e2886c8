//! Types.

use llvm_sys::LLVMTypeKind::*;
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use pleach_ir::FloatTy;
use std::marker::PhantomData;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Type<'m> {
    raw: LLVMTypeRef,
    of: PhantomData<&'m ()>,
}

/// A type as its parts.
pub(crate) enum Shape<'m> {
    Void,
    Int(u32),
    Float(FloatTy),
    Ptr,
    Struct,
    Array(Type<'m>, u64),
    Vector(Type<'m>, u64),
    Function,
    /// labels, tokens, metadata, scalable vectors and types of other machines
    Other,
}

impl<'m> Type<'m> {
    /// SAFETY: `raw` is a type of a live context that outlives `'m`.
    pub(super) unsafe fn from_raw(raw: LLVMTypeRef) -> Type<'m> {
        Type { raw, of: PhantomData }
    }

    pub(super) fn raw(self) -> LLVMTypeRef {
        self.raw
    }

    pub fn shape(self) -> Shape<'m> {
        // SAFETY: the type is live; each accessor is called on the kind it is for.
        unsafe {
            match LLVMGetTypeKind(self.raw) {
                LLVMVoidTypeKind => Shape::Void,
                LLVMIntegerTypeKind => Shape::Int(LLVMGetIntTypeWidth(self.raw)),
                LLVMHalfTypeKind => Shape::Float(FloatTy::Half),
                LLVMFloatTypeKind => Shape::Float(FloatTy::Single),
                LLVMDoubleTypeKind => Shape::Float(FloatTy::Double),
                LLVMX86_FP80TypeKind => Shape::Float(FloatTy::X87),
                LLVMFP128TypeKind => Shape::Float(FloatTy::Quad),
                LLVMPointerTypeKind => Shape::Ptr,
                LLVMStructTypeKind => Shape::Struct,
                LLVMArrayTypeKind => {
                    Shape::Array(Type::from_raw(LLVMGetElementType(self.raw)), LLVMGetArrayLength2(self.raw))
                }
                LLVMVectorTypeKind => {
                    Shape::Vector(Type::from_raw(LLVMGetElementType(self.raw)), LLVMGetVectorSize(self.raw).into())
                }
                LLVMFunctionTypeKind => Shape::Function,
                _ => Shape::Other,
            }
        }
    }

    pub fn is_vector(self) -> bool {
        // SAFETY: the type is live.
        unsafe { matches!(LLVMGetTypeKind(self.raw), LLVMVectorTypeKind | LLVMScalableVectorTypeKind) }
    }

    pub fn has_fixed_size(self) -> bool {
        // SAFETY: the type is live.
        unsafe { LLVMTypeIsSized(self.raw) != 0 && !self.is_scalable() }
    }

    fn is_scalable(self) -> bool {
        // SAFETY: the type is live; each accessor is called on the kind it is for.
        unsafe {
            match LLVMGetTypeKind(self.raw) {
                LLVMScalableVectorTypeKind | LLVMTargetExtTypeKind => true,
                LLVMArrayTypeKind => Type::from_raw(LLVMGetElementType(self.raw)).is_scalable(),
                LLVMStructTypeKind => self.fields().into_iter().any(Type::is_scalable),
                _ => false,
            }
        }
    }

    /// Fields of a structure; 0 for anything else.
    pub fn field_count(self) -> u32 {
        // SAFETY: called only on structures.
        unsafe {
            if LLVMGetTypeKind(self.raw) == LLVMStructTypeKind { LLVMCountStructElementTypes(self.raw) } else { 0 }
        }
    }

    pub fn fields(self) -> Vec<Type<'m>> {
        let n = self.field_count();
        let mut raw = vec![std::ptr::null_mut(); n as usize];
        if n > 0 {
            // SAFETY: a structure with `n` fields, and room for them.
            unsafe { LLVMGetStructElementTypes(self.raw, raw.as_mut_ptr()) };
        }
        // SAFETY: filled in by LLVM.
        raw.into_iter().map(|t| unsafe { Type::from_raw(t) }).collect()
    }

    /// Of a function type.
    /// Of a function type.
    pub fn parameter_count(self) -> u32 {
        // SAFETY: called on function types only.
        unsafe { LLVMCountParamTypes(self.raw()) }
    }
    pub fn is_variadic(self) -> bool {
        // SAFETY: called only on function types.
        unsafe { matches!(self.shape(), Shape::Function) && LLVMIsFunctionVarArg(self.raw) != 0 }
    }

    /// Of a function type.
    pub fn return_type(self) -> Option<Type<'m>> {
        // SAFETY: called only on function types.
        matches!(self.shape(), Shape::Function).then(|| unsafe { Type::from_raw(LLVMGetReturnType(self.raw)) })
    }
}

impl std::fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SAFETY: the type is live; the message becomes ours.
        f.write_str(&unsafe { super::take_message(LLVMPrintTypeToString(self.raw)) })
    }
}
