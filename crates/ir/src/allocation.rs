//! Names of allocating functions where an allocation may fail (`runtime/allocation`).

/// What the wrapper of the program's `malloc` is called.
pub const FALLIBLE_MALLOC: &str = "__wrap_malloc";

/// Prefix of the engine's own allocating functions, which the wrappers call when there is memory.
pub const OWN_ALLOCATION: &str = "__pleach_";
