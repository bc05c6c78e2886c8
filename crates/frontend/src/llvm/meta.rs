//! Debug nodes.

use super::{Module, Value, copy_text};
use llvm_sys::core::*;
use llvm_sys::debuginfo::*;
use llvm_sys::prelude::*;
use std::marker::PhantomData;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Meta<'m> {
    raw: LLVMMetadataRef,
    of: PhantomData<&'m ()>,
}

/// What a debug node is, as far as lowering looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Location,
    Scope,
    File,
    Type,
    Variable,
    Other,
}

impl<'m> Meta<'m> {
    /// SAFETY: `raw` is null or a node of a live context that outlives `'m`.
    pub(super) unsafe fn from_raw(raw: LLVMMetadataRef) -> Option<Meta<'m>> {
        (!raw.is_null()).then_some(Meta { raw, of: PhantomData })
    }

    pub(super) fn raw(self) -> LLVMMetadataRef {
        self.raw
    }

    fn kind(self) -> LLVMMetadataKind {
        // SAFETY: the node is live.
        unsafe { LLVMGetMetadataKind(self.raw) }
    }

    fn class(self) -> Class {
        use LLVMMetadataKind::*;
        match self.kind() {
            LLVMDILocationMetadataKind => Class::Location,
            LLVMDISubprogramMetadataKind
            | LLVMDILexicalBlockMetadataKind
            | LLVMDILexicalBlockFileMetadataKind
            | LLVMDICompileUnitMetadataKind
            | LLVMDINamespaceMetadataKind => Class::Scope,
            LLVMDIFileMetadataKind => Class::File,
            LLVMDIBasicTypeMetadataKind
            | LLVMDIDerivedTypeMetadataKind
            | LLVMDICompositeTypeMetadataKind
            | LLVMDISubroutineTypeMetadataKind => Class::Type,
            LLVMDILocalVariableMetadataKind | LLVMDIGlobalVariableMetadataKind => Class::Variable,
            _ => Class::Other,
        }
    }

    pub fn is_type(self) -> bool {
        self.class() == Class::Type
    }
    pub fn is_label(self) -> bool {
        matches!(self.kind(), LLVMMetadataKind::LLVMDILabelMetadataKind)
    }
    pub fn is_variable(self) -> bool {
        self.class() == Class::Variable
    }
    pub fn is_subrange(self) -> bool {
        matches!(self.kind(), LLVMMetadataKind::LLVMDISubrangeMetadataKind)
    }
    pub fn is_enumerator(self) -> bool {
        matches!(self.kind(), LLVMMetadataKind::LLVMDIEnumeratorMetadataKind)
    }
    pub fn is_basic_type(self) -> bool {
        matches!(self.kind(), LLVMMetadataKind::LLVMDIBasicTypeMetadataKind)
    }

    /// The variable of a global variable expression.
    pub fn global_variable(self) -> Option<Meta<'m>> {
        let fits = matches!(self.kind(), LLVMMetadataKind::LLVMDIGlobalVariableExpressionMetadataKind);
        // SAFETY: called on such expressions only.
        fits.then(|| unsafe { Meta::from_raw(LLVMDIGlobalVariableExpressionGetVariable(self.raw)) })?
    }

    /// (line, column, scope) of a location; inlined code counts where it was written.
    pub fn location(self) -> Option<(u32, u32, Option<Meta<'m>>)> {
        // SAFETY: called on locations only.
        (self.class() == Class::Location).then(|| unsafe {
            let scope = Meta::from_raw(LLVMDILocationGetScope(self.raw));
            (LLVMDILocationGetLine(self.raw), LLVMDILocationGetColumn(self.raw), scope)
        })
    }

    /// The location that this one was inlined at, if it was.
    pub fn inlined_at(self) -> Option<Meta<'m>> {
        // SAFETY: called on locations only; null when there is none.
        (self.class() == Class::Location).then(|| unsafe { Meta::from_raw(LLVMDILocationGetInlinedAt(self.raw)) })?
    }

    /// The file of a scope, a variable or a file itself.
    pub fn file(self) -> Option<Meta<'m>> {
        // SAFETY: each accessor is called on the class it is for.
        let file = unsafe {
            match self.class() {
                Class::File => Some(self),
                Class::Scope => Meta::from_raw(LLVMDIScopeGetFile(self.raw)),
                Class::Variable => Meta::from_raw(LLVMDIVariableGetFile(self.raw)),
                _ => None,
            }
        };
        file.filter(|f| f.class() == Class::File)
    }

    /// The line of a function or a variable.
    pub fn line(self) -> u32 {
        // SAFETY: each accessor is called on the kind it is for.
        unsafe {
            match self.kind() {
                LLVMMetadataKind::LLVMDISubprogramMetadataKind => LLVMDISubprogramGetLine(self.raw),
                _ if self.class() == Class::Variable => LLVMDIVariableGetLine(self.raw),
                _ => 0,
            }
        }
    }

    /// (directory, name) of a file.
    pub fn file_path(self) -> Option<(String, String)> {
        if self.class() != Class::File {
            return None;
        }
        let mut len = 0;
        // SAFETY: a file; the texts are valid for the lengths given.
        unsafe {
            let directory = LLVMDIFileGetDirectory(self.raw, &mut len);
            let directory = copy_text(directory, len as usize);
            let name = LLVMDIFileGetFilename(self.raw, &mut len);
            Some((directory, copy_text(name, len as usize)))
        }
    }

    pub fn type_name(self) -> String {
        if !self.is_type() {
            return String::new();
        }
        let mut len = 0;
        // SAFETY: a type; the text is valid for the length given.
        unsafe {
            let name = LLVMDITypeGetName(self.raw, &mut len);
            copy_text(name, len)
        }
    }
    pub fn type_bits(self) -> u64 {
        // SAFETY: called on types only.
        if self.is_type() { unsafe { LLVMDITypeGetSizeInBits(self.raw) } } else { 0 }
    }
    pub fn type_offset_bits(self) -> u64 {
        // SAFETY: called on types only.
        if self.is_type() { unsafe { LLVMDITypeGetOffsetInBits(self.raw) } } else { 0 }
    }
    pub fn is_bit_field(self) -> bool {
        /// LLVM's `DIFlagBitField`
        const BIT_FIELD: i32 = 1 << 19;
        // SAFETY: called on types only.
        self.is_type() && unsafe { LLVMDITypeGetFlags(self.raw) } & BIT_FIELD != 0
    }
    /// The DWARF tag; 0 for nodes without one.
    pub fn tag(self) -> u16 {
        // SAFETY: the node is live; the C interface answers 0 for nodes without a tag.
        unsafe { LLVMGetDINodeTag(self.raw) }
    }

    /// The operands of a node of `module`.
    pub fn operands(self, module: &'m Module<'_>) -> Vec<Option<Value<'m>>> {
        // SAFETY: wrapping in the node's own context; the accessors are called on nodes only.
        unsafe { operands_of(LLVMMetadataAsValue(module.context().raw(), self.raw)) }
    }
}

/// SAFETY: `wrapped` is metadata as a value of a live context that outlives `'m`.
unsafe fn operands_of<'m>(wrapped: LLVMValueRef) -> Vec<Option<Value<'m>>> {
    // SAFETY: by contract; numbers and rooms agree.
    unsafe {
        if LLVMIsAMDNode(wrapped).is_null() {
            return Vec::new();
        }
        let n = LLVMGetMDNodeNumOperands(wrapped) as usize;
        let mut raw = vec![std::ptr::null_mut(); n];
        if n > 0 {
            LLVMGetMDNodeOperands(wrapped, raw.as_mut_ptr());
        }
        raw.into_iter().map(|v| Value::from_raw(v)).collect()
    }
}

impl<'m> Value<'m> {
    /// The operands of the node (or the one value) behind a metadata operand.
    pub fn meta_operands(self) -> Vec<Option<Value<'m>>> {
        if self.kind() != super::ValueKind::Metadata {
            return Vec::new();
        }
        // SAFETY: metadata as a value.
        unsafe { operands_of(self.raw()) }
    }
    /// The text behind a metadata operand.
    pub fn meta_string(self) -> Option<String> {
        // SAFETY: called on metadata strings only; the text is valid for the length given.
        unsafe {
            if self.kind() != super::ValueKind::Metadata || LLVMIsAMDString(self.raw()).is_null() {
                return None;
            }
            let mut len = 0;
            let text = LLVMGetMDString(self.raw(), &mut len);
            Some(copy_text(text, len as usize))
        }
    }
}
