//! The C sources of the replay library, inside the binary so that an installed one needs nothing else.

/// `klee/klee.h`.
pub const KLEE_H: &str = include_str!("../../../runtime/include/klee/klee.h");
/// The replay library.
pub const REPLAY_C: &str = include_str!("../../../runtime/replay/replay.c");
/// The nondet functions, included by the replay library.
pub const NONDET_INC: &str = include_str!("../../../runtime/replay/nondet.inc");
/// The server that forks for each test, included by the replay library.
pub const SERVER_INC: &str = include_str!("../../../runtime/replay/server.inc");
/// Allocations that may fail.
pub const ALLOCATION_C: &str = include_str!("../../../runtime/allocation/allocation.c");
