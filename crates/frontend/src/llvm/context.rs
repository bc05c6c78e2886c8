//! An LLVM context that collects diagnostics instead of printing them.

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMDiagnosticSeverity, error_handling};
use std::cell::RefCell;
use std::ffi::{CStr, c_void};

pub(crate) struct Context {
    raw: LLVMContextRef,
    /// boxed: LLVM keeps its address
    errors: Box<RefCell<Vec<String>>>,
}

extern "C" fn on_diagnostic(info: LLVMDiagnosticInfoRef, sink: *mut c_void) {
    // SAFETY: LLVM passes the pointer given to `LLVMContextSetDiagnosticHandler`: our live sink; `info` is valid here.
    unsafe {
        if LLVMGetDiagInfoSeverity(info) == LLVMDiagnosticSeverity::LLVMDSError {
            let text = super::take_message(LLVMGetDiagInfoDescription(info));
            let sink = &*(sink as *const RefCell<Vec<String>>);
            if let Ok(mut errors) = sink.try_borrow_mut() {
                errors.push(text);
            }
        }
    }
}

extern "C" fn on_fatal(reason: *const std::ffi::c_char) {
    // SAFETY: LLVM passes a C string. It ends the process after us in any case; we only make that orderly.
    let reason = unsafe { CStr::from_ptr(reason) }.to_string_lossy();
    eprintln!("LLVM cannot go on: {reason}");
    std::process::exit(pleach_load::wire::GAVE_UP.into());
}

impl Context {
    pub fn new() -> Context {
        let errors = Box::new(RefCell::new(Vec::new()));
        let sink = (&raw const *errors).cast_mut().cast::<c_void>();
        static FATAL: std::sync::Once = std::sync::Once::new();
        // SAFETY: the sink lives as long as the context (dropped after it), the handlers match the expected types.
        let raw = unsafe {
            FATAL.call_once(|| error_handling::LLVMInstallFatalErrorHandler(Some(on_fatal)));
            let raw = LLVMContextCreate();
            LLVMContextSetDiagnosticHandler(raw, Some(on_diagnostic), sink);
            raw
        };
        Context { raw, errors }
    }

    pub(super) fn raw(&self) -> LLVMContextRef {
        self.raw
    }

    /// The errors reported since the last call, as one text.
    pub(super) fn take_errors(&self) -> String {
        let errors = self.errors.take();
        if errors.is_empty() { "no reason given".to_owned() } else { errors.join("; ") }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // SAFETY: modules borrow the context, so none is left; the handle is ours.
        unsafe { LLVMContextDispose(self.raw) }
    }
}
