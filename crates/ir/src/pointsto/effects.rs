//! What functions of the library do to pointers.

use crate::OWN_ALLOCATION;

/// What a function without a body that matters does to pointers.
pub(super) enum Effect {
    None,
    /// the result is a new object
    Allocates,
    /// the result is a new object with the contents of the first argument's, or that itself
    Reallocates,
    /// the second argument's contents go to the first, which is the result
    Copies,
    /// the result is the first argument
    First,
    /// anything
    Unknown,
}

pub(super) fn effect(name: &str) -> Effect {
    match name.strip_prefix(OWN_ALLOCATION).unwrap_or(name) {
        "malloc" | "calloc" | "aligned_alloc" | "memalign" | "_Znwm" | "_Znam" | "_Znwj" | "_Znaj" => Effect::Allocates,
        "realloc" => Effect::Reallocates,
        "memcpy" | "memmove" | "__memcpy_chk" | "__memmove_chk" => Effect::Copies,
        "memset" | "__memset_chk" => Effect::First,
        "free" | "exit" | "abort" | "printf" | "puts" | "putchar" | "malloc_usable_size" | "__assert_fail" => {
            Effect::None
        }
        n if n.starts_with("klee_") || n.starts_with("__VERIFIER_") || n.starts_with("_Zd") => Effect::None,
        _ => Effect::Unknown,
    }
}
