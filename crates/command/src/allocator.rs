//! The allocator of the binaries keeps freed memory for a while. At a memory limit it has to go back to the system at
//! once, or what was freed still counts as used, and more is evicted than need be.
#![allow(unsafe_code)]

use mimalloc as _;

unsafe extern "C" {
    // SAFETY: the allocator's own function: any thread may call it at any time. Where the binary has another allocator,
    // there is nothing to give back.
    safe fn mi_collect(force: bool);
}

/// Gives what this thread has freed back to the system.
pub fn release() {
    mi_collect(true);
}
