//! The options of KLEE 3.2, by what becomes of them here. `docs/klee-compatibility.md` has the same with reasons.

/// What an option takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionArity {
    /// nothing, or `=true` and `=false`
    Switch,
    /// a value, after `=` or as the next argument
    Value,
}

/// What becomes of an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OptionSupport {
    /// it does what it does in KLEE
    Works,
    /// it tunes something that is not there, or whose outcome is the same
    Harmless,
    /// it would change what is explored or written, and does not
    Ignored,
}

#[rustfmt::skip]
const OPTIONS: [(OptionArity, OptionSupport, &[&str]); 6] = [
    (OptionArity::Switch, OptionSupport::Works, &[
        "check-overshift", "debug-log-merge", "debug-validate-solver", "dump-states-on-halt", "emit-all-errors", "exit-on-error",
        "help", "help-list", "named-seed-matching", "only-output-states-covering-new", "only-replay-seeds", "only-seed", "output-source",
        "output-stats",
        "posix-runtime", "silent-klee-assume", "ubsan-runtime", "use-batching-search", "use-merge", "version",
        "warnings-only-to-file", "write-cov", "write-ktests", "write-no-tests", "write-paths", "write-smt2s",
        "write-sym-paths", "write-xml-tests",
    ]),
    (OptionArity::Switch, OptionSupport::Harmless, &[
        "allow-seed-extension", "allow-seed-truncation", "always-output-seeds", "cex-cache-superset",
        "cex-cache-try-all", "color", "compress-exec-tree", "compress-query-log", "const-array-opt",
        "debug-assignment-validating-solver", "debug-cex-cache-check-binding", "debug-check-for-implied-values",
        "debug-compress-instructions", "debug-dump-stp-queries", "debug-log-incomplete-merge",
        "debug-log-state-merge", "debug-print-escaping-functions", "debug-z3-validate-models", "disable-inlining",
        "disable-internalize", "disable-verify", "equality-substitution", "ignore-stp-failures", "kdalloc",
        "kdalloc-mark-as-unneeded", "klee-call-optimisation", "log-partial-queries-early", "log-timed-out-queries",
        "max-memory-inhibit", "optimize", "output-istats",
        "pc-all-const-widths", "pc-all-widths", "pc-multibyte-reads", "pc-prefix-width", "pc-width-as-arg",
        "readable-posix-inputs", "rewrite-equalities", "simplify-sym-indices", "single-object-resolution",
        "smtlib-human-readable", "solver-optimize-divides", "strip-all", "strip-debug", "track-instruction-time",
        "use-branch-cache", "use-call-paths", "use-cex-cache", "use-constant-arrays", "use-construct-hash-stp",
        "use-construct-hash-z3", "use-fast-cex-solver", "use-forked-solver", "use-incomplete-merge",
        "use-independent-solver",
        "use-visitor-hash", "verify-each", "warn-all-external-symbols", "watchdog",
    ]),
    (OptionArity::Switch, OptionSupport::Ignored, &[
        "check-div-zero", "libcxx", "output-module", "return-null-on-zero-malloc",
        "use-iterative-deepening-time-search", "write-cvcs", "write-exec-tree", "write-kqueries",
        "write-test-info",
    ]),
    (OptionArity::Value, OptionSupport::Works, &[
        "batch-instructions", "entry-point", "env-file", "exit-on-error-type", "external-call-warnings",
        "external-calls", "function-alias", "libc", "link-llvm-lib", "max-depth", "max-forks", "max-instructions",
        "max-memory", "max-solver-time", "max-stack-frames", "max-static-cpfork-pct", "max-static-cpsolve-pct",
        "max-static-fork-pct", "max-static-pct-check-delay", "max-static-solve-pct", "max-tests", "max-time", "output-dir",
        "replay-ktest-dir", "replay-ktest-file", "replay-path", "rng-initial-seed", "run-in-dir", "search", "seed-dir", "seed-file",
        "solver-backend", "switch-type", "use-query-log", "xml-metadata-programfile", "xml-metadata-programhash",
    ]),
    (OptionArity::Value, OptionSupport::Harmless, &[
        "array-value-ratio", "array-value-symb-ratio", "batch-time", "debug-crosscheck-core-solver",
        "debug-z3-dump-queries", "debug-z3-log-api-interaction", "debug-z3-verbosity", "exec-tree-batch-size",
        "istats-write-after-instructions", "istats-write-interval", "kdalloc-constants-size",
        "kdalloc-constants-start-address", "kdalloc-external-page-threshold", "kdalloc-globals-size",
        "kdalloc-globals-start-address", "kdalloc-heap-size", "kdalloc-heap-start-address", "kdalloc-quarantine",
        "kdalloc-stack-size", "kdalloc-stack-start-address", "metasmt-backend", "min-query-time-to-log",
        "optimize-array", "runtime-build", "seed-time", "smtlib-abbreviation-mode", "smtlib-display-constants",
        "stats-commit-after", "stats-write-after-instructions", "stats-write-interval", "stp-sat-solver",
        "timer-interval", "uncovered-update-interval",
    ]),
    (OptionArity::Value, OptionSupport::Ignored, &[
        "debug-print-instructions", "make-concrete-symbolic", "max-sym-array-size",
    ]),
];

pub fn find(name: &str) -> Option<(OptionArity, OptionSupport)> {
    OPTIONS.iter().find(|(_, _, names)| names.contains(&name)).map(|(takes, support, _)| (*takes, *support))
}

/// All of them, in the order of the table.
pub fn all() -> impl Iterator<Item = (&'static str, OptionArity, OptionSupport)> {
    OPTIONS.iter().flat_map(|(takes, support, names)| names.iter().map(move |n| (*n, *takes, *support)))
}
