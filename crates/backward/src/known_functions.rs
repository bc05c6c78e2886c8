//! Functions that are known by their names.

use pleach_ir::Function;

/// Functions after which nothing is executed.
pub fn ends_program(f: &Function) -> bool {
    f.noreturn
        || matches!(
            f.name.as_str(),
            "abort"
                | "exit"
                | "_exit"
                | "_Exit"
                | "__assert_fail"
                | "klee_silent_exit"
                | "klee_report_error"
                | "reach_error"
                | "__VERIFIER_error"
                | "klee_abort"
        )
}

/// Functions with a meaning of their own. Those for verifiers may have a body that says more, and then have none.
pub fn is_modelled(f: &Function) -> bool {
    match f.name.as_str() {
        "malloc" | "calloc" | "realloc" | "free" | "printf" | "puts" | "putchar" | "fprintf" | "fputs" | "fflush"
        | "perror" => true,
        "klee_assume" | "__VERIFIER_assume" | "__VERIFIER_assert" => f.is_declaration(),
        _ => false,
    }
}

/// A function without a body that gets pointers, and may call what they refer to.
pub fn may_call_back(f: &Function) -> bool {
    let harmless = |name: &str| name.starts_with("klee_") || name.starts_with("__VERIFIER_");
    let gets_pointers = f.params.iter().any(|p| p.ty == pleach_ir::Ty::Ptr);
    f.is_declaration() && gets_pointers && !is_modelled(f) && !ends_program(f) && !harmless(&f.name)
}
