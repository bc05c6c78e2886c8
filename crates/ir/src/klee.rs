//! The functions of KLEE's interface, by the names they have in its header after `klee_` (as of August 2026).

/// All but those that begin with `get_value`, one for each type.
pub const INTERFACE: [&str; 27] = [
    "abort",
    "alias_function",
    "assert_fail",
    "assume",
    "check_memory_access",
    "choose",
    "close_merge",
    "define_fixed_object",
    "get_errno",
    "get_obj_size",
    "int",
    "is_replay",
    "is_symbolic",
    "make_symbolic",
    "mark_global",
    "open_merge",
    "posix_prefer_cex",
    "prefer_cex",
    "print_expr",
    "print_range",
    "range",
    "report_error",
    "set_forking",
    "silent_exit",
    "stack_trace",
    "warning",
    "warning_once",
];

/// What follows `get_value`.
pub const VALUES: [&str; 6] = ["d", "f", "l", "ll", "_i32", "_i64"];
