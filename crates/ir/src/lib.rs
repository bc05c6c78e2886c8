//! The program after lowering: functions, blocks, dense register slots, layout, CFG, loops, liveness, source spans.
//!
//! This crate knows neither LLVM nor terms nor solving.
//!
//! ```
//! let text = "target \"x86_64-pc-linux-gnu\" ptr 8\nfunc @main() -> (i32) {\nb0:\n  return (i32 i32 0)\n}\n";
//! let program = pleach_ir::text::parse(text)?;
//! assert!(program.function_named("main").is_some());
//! # Ok::<(), pleach_ir::text::ParseError>(())
//! ```

pub mod allocation;
pub mod bitset;
pub mod callgraph;
pub mod cfg;
pub mod defs;
pub mod distance;
pub mod dominators;
pub mod error_kind;
pub mod format;
pub mod ids;
pub mod inst;
pub mod klee;
pub mod liveness;
pub mod loops;
pub mod never_written_globals;
pub mod pointsto;
pub mod program;
pub mod rust;
pub mod text;
pub mod types;
pub mod verify;

#[cfg(test)]
mod tests;

pub use allocation::{FALLIBLE_MALLOC, OWN_ALLOCATION};
pub use error_kind::{ErrorKind, UnknownErrorKind};
pub use ids::{BlockId, FileId, FuncId, GlobalId, InstId, Slot, TypeId};
pub use inst::*;
pub use program::*;
