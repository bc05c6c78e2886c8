//! Modules: parsing, verifying, linking, and what they contain.

use super::{Context, Function, Meta, Type, Value, copy_text, take_message};
use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
use llvm_sys::{bit_reader, ir_reader, linker};
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::ffi::CStr;

pub(crate) struct Module<'c> {
    raw: LLVMModuleRef,
    context: &'c Context,
    /// What was found about the size of types. Needed for every field of a constant, where a type may have thousands of
    /// fields.
    fixed_size: RefCell<FxHashMap<LLVMTypeRef, bool>>,
}

impl Drop for Module<'_> {
    fn drop(&mut self) {
        // SAFETY: the handle is ours and not null.
        unsafe { LLVMDisposeModule(self.raw) }
    }
}

/// Copies the bytes, adding the terminator that the text parser wants.
fn buffer(bytes: &[u8]) -> LLVMMemoryBufferRef {
    // SAFETY: the range is valid and copied before the call returns; the name is a C string.
    unsafe { LLVMCreateMemoryBufferWithMemoryRangeCopy(bytes.as_ptr().cast(), bytes.len(), c"input".as_ptr()) }
}

impl<'c> Module<'c> {
    pub fn parse_bitcode(context: &'c Context, bytes: &[u8]) -> Result<Module<'c>, String> {
        let buffer = buffer(bytes);
        let mut raw = std::ptr::null_mut();
        // SAFETY: context and buffer are live; the buffer is not kept by the eager parser, we free it.
        let failed = unsafe {
            let failed = bit_reader::LLVMParseBitcodeInContext2(context.raw(), buffer, &mut raw) != 0;
            LLVMDisposeMemoryBuffer(buffer);
            failed
        };
        if failed || raw.is_null() {
            return Err(context.take_errors());
        }
        Ok(Module { raw, context, fixed_size: RefCell::default() })
    }

    pub fn parse_text(context: &'c Context, bytes: &[u8]) -> Result<Module<'c>, String> {
        let mut raw = std::ptr::null_mut();
        let mut message = std::ptr::null_mut();
        // SAFETY: context and buffer are live; this call takes the buffer over and gives us the message.
        unsafe {
            let failed = ir_reader::LLVMParseIRInContext(context.raw(), buffer(bytes), &mut raw, &mut message) != 0;
            let message = take_message(message);
            if failed || raw.is_null() {
                return Err(message.trim_end().to_owned());
            }
        }
        Ok(Module { raw, context, fixed_size: RefCell::default() })
    }

    pub fn verify(&self) -> Result<(), String> {
        let mut message = std::ptr::null_mut();
        // SAFETY: the module is live; the message becomes ours.
        unsafe {
            let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
            let broken = LLVMVerifyModule(self.raw, action, &mut message) != 0;
            let message = take_message(message);
            if broken { Err(message.trim_end().to_owned()) } else { Ok(()) }
        }
    }

    /// Links `next` into `self`.
    pub fn link(self, next: Module<'c>) -> Result<Module<'c>, String> {
        let source = next.raw;
        std::mem::forget(next);
        // SAFETY: both modules are live and of one context; the linker takes the source over.
        let failed = unsafe { linker::LLVMLinkModules2(self.raw, source) != 0 };
        if failed { Err(self.context.take_errors()) } else { Ok(self) }
    }

    pub(super) fn context(&self) -> &'c Context {
        self.context
    }

    /// Makes debug records readable as calls of `llvm.dbg.*`.
    pub fn use_debug_intrinsics(&self) {
        // SAFETY: the module is live.
        unsafe { LLVMSetIsNewDbgInfoFormat(self.raw, 0) }
    }

    pub fn triple(&self) -> String {
        // SAFETY: the module is live; LLVM gives a C string that lives as long.
        unsafe { CStr::from_ptr(LLVMGetTarget(self.raw)).to_string_lossy().into_owned() }
    }

    pub fn layout_string(&self) -> String {
        // SAFETY: as above.
        unsafe { CStr::from_ptr(LLVMGetDataLayoutStr(self.raw)).to_string_lossy().into_owned() }
    }

    pub fn inline_asm(&self) -> String {
        let mut len = 0;
        // SAFETY: the module is live; the text is valid for the length given.
        unsafe {
            let text = LLVMGetModuleInlineAsm(self.raw, &mut len);
            copy_text(text, len)
        }
    }

    pub fn functions(&self) -> impl Iterator<Item = Function<'_>> {
        // SAFETY: the module is live, and the list does not change while it is borrowed.
        let first = unsafe { LLVMGetFirstFunction(self.raw) };
        // SAFETY: as above.
        let next = |f: &Function<'_>| unsafe { Function::from_raw(LLVMGetNextFunction(f.value().raw())) };
        // SAFETY: as above.
        std::iter::successors(unsafe { Function::from_raw(first) }, next)
    }

    pub fn globals(&self) -> impl Iterator<Item = Value<'_>> {
        self.values(LLVMGetFirstGlobal, LLVMGetNextGlobal)
    }

    pub fn aliases(&self) -> impl Iterator<Item = Value<'_>> {
        self.values(LLVMGetFirstGlobalAlias, LLVMGetNextGlobalAlias)
    }

    pub fn ifuncs(&self) -> impl Iterator<Item = Value<'_>> {
        self.values(LLVMGetFirstGlobalIFunc, LLVMGetNextGlobalIFunc)
    }

    fn values<'m>(
        &'m self,
        first: unsafe extern "C" fn(LLVMModuleRef) -> LLVMValueRef,
        next: unsafe extern "C" fn(LLVMValueRef) -> LLVMValueRef,
    ) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the module is live, and its lists do not change while it is borrowed; `next` fits `first`.
        let first: Option<Value<'m>> = unsafe { Value::from_raw(first(self.raw)) };
        // SAFETY: as above.
        std::iter::successors(first, move |v| unsafe { Value::from_raw(next(v.raw())) })
    }

    /// Everything with a body or an initialiser that other modules can name.
    pub fn visible_definitions(&self) -> impl Iterator<Item = Value<'_>> {
        let functions = self.functions().map(Function::value);
        functions.chain(self.globals()).chain(self.aliases()).filter(|v| !v.is_declaration() && v.is_visible())
    }

    /// Names marked with a byte 1 (by asm labels in headers) lose the mark, so that they meet the names they stand for.
    pub fn drop_name_marks(&self) {
        let marked: Vec<(Function<'_>, String)> = self
            .functions()
            .filter_map(|f| f.name().strip_prefix('\u{1}').map(|n| (f, n.to_owned())))
            .filter(|(f, _)| f.is_declaration())
            .collect();
        for (f, plain) in marked {
            let Ok(name) = std::ffi::CString::new(plain.as_str()) else { continue };
            // SAFETY: the module and the function are live, the name is a C string of the length given. A function that
            // gave its uses away stays as an unused declaration.
            unsafe {
                let other = LLVMGetNamedFunction(self.raw, name.as_ptr());
                if other.is_null() {
                    LLVMSetValueName2(f.value().raw(), name.as_ptr(), plain.len());
                } else {
                    LLVMReplaceAllUsesWith(f.value().raw(), other);
                }
            }
        }
    }

    pub fn pointer_bytes(&self) -> u32 {
        // SAFETY: the module is live.
        unsafe { LLVMPointerSize(LLVMGetModuleDataLayout(self.raw)) }
    }

    pub fn is_little_endian(&self) -> bool {
        // SAFETY: the module is live.
        unsafe { LLVMByteOrder(LLVMGetModuleDataLayout(self.raw)) == LLVMByteOrdering::LLVMLittleEndian }
    }

    pub fn has_fixed_size(&self, ty: Type<'_>) -> bool {
        *self.fixed_size.borrow_mut().entry(ty.raw()).or_insert_with(|| ty.has_fixed_size())
    }

    /// Bytes from one element of an array of `ty` to the next; `None` for types without a size.
    pub fn alloc_size(&self, ty: Type<'_>) -> Option<u64> {
        // SAFETY: module and type are live; the type has a fixed size.
        self.has_fixed_size(ty).then(|| unsafe { LLVMABISizeOfType(LLVMGetModuleDataLayout(self.raw), ty.raw()) })
    }

    pub fn size_in_bits(&self, ty: Type<'_>) -> Option<u64> {
        // SAFETY: as above.
        self.has_fixed_size(ty).then(|| unsafe { LLVMSizeOfTypeInBits(LLVMGetModuleDataLayout(self.raw), ty.raw()) })
    }

    pub fn alignment(&self, ty: Type<'_>) -> u32 {
        if !self.has_fixed_size(ty) {
            return 1;
        }
        // SAFETY: as above.
        unsafe { LLVMABIAlignmentOfType(LLVMGetModuleDataLayout(self.raw), ty.raw()) }
    }

    /// Byte offset of a field; 0 when there is no such field.
    pub fn field_offset(&self, ty: Type<'_>, field: u32) -> u64 {
        if !self.has_fixed_size(ty) || field >= ty.field_count() {
            return 0;
        }
        // SAFETY: a sized structure with such a field.
        unsafe { LLVMOffsetOfElement(LLVMGetModuleDataLayout(self.raw), ty.raw(), field) }
    }

    /// The module as textual IR.
    pub fn text(&self) -> String {
        // SAFETY: the module is alive; the message is taken over.
        unsafe { take_message(LLVMPrintModuleToString(self.raw)) }
    }

    /// Prints debug nodes that refer to nothing large; the C interface has no other way to their numbers.
    pub fn print_nodes<'m>(&'m self, nodes: impl Iterator<Item = Meta<'m>>) -> String {
        // SAFETY: a fresh module in the same context holds the nodes by name only while it is printed.
        unsafe {
            let context = self.context.raw();
            let scratch = LLVMModuleCreateWithNameInContext(c"nodes".as_ptr(), context);
            for node in nodes {
                LLVMAddNamedMetadataOperand(scratch, c"n".as_ptr(), LLVMMetadataAsValue(context, node.raw()));
            }
            let text = take_message(LLVMPrintModuleToString(scratch));
            LLVMDisposeModule(scratch);
            text
        }
    }
}
