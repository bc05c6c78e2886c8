//! A thin safe layer over LLVM's C interface, read-only but for linking.
//!
//! Handles carry the lifetime of what they point into. Accessors check the kind of the value they are called on and
//! give `None` (or a neutral answer) where the C interface would be undefined.
#![allow(unsafe_code)]

mod context;
mod inst;
mod meta;
mod module;
mod ty;
mod value;

pub(crate) use context::Context;
pub(crate) use inst::{Attr, Inst};
pub(crate) use llvm_sys::LLVMOpcode as Opcode;
pub(crate) use llvm_sys::{
    LLVMAtomicRMWBinOp as RmwOp, LLVMIntPredicate as IntPredicate, LLVMRealPredicate as RealPredicate,
};
pub(crate) use meta::Meta;
pub(crate) use module::Module;
pub(crate) use ty::{Shape, Type};
pub(crate) use value::{Block, Function, Value, ValueKind};

/// Takes over a message that LLVM allocated.
///
/// SAFETY: `raw` is null or a string that `LLVMDisposeMessage` may free, and nobody else uses it.
unsafe fn take_message(raw: *mut std::ffi::c_char) -> String {
    if raw.is_null() {
        return String::new();
    }
    // SAFETY: by contract a valid C string owned by us.
    unsafe {
        let text = std::ffi::CStr::from_ptr(raw).to_string_lossy().into_owned();
        llvm_sys::core::LLVMDisposeMessage(raw);
        text
    }
}

/// Copies `len` bytes of text at `raw`.
///
/// SAFETY: `raw` is null or valid for `len` bytes.
unsafe fn copy_text(raw: *const std::ffi::c_char, len: usize) -> String {
    if raw.is_null() {
        return String::new();
    }
    // SAFETY: by contract.
    let bytes = unsafe { std::slice::from_raw_parts(raw.cast::<u8>(), len) };
    String::from_utf8_lossy(bytes).into_owned()
}
