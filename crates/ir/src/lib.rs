//! The program after lowering: functions, blocks, dense register slots, layout, CFG, loops, liveness, source spans.
//!
//! This crate knows neither LLVM nor terms nor solving.

pub mod bitset;
pub mod callgraph;
pub mod cfg;
pub mod defs;
pub mod distance;
pub mod dominators;
pub mod format;
pub mod ids;
pub mod inst;
pub mod klee;
pub mod liveness;
pub mod loops;
pub mod never_written_globals;
pub mod pointsto;
pub mod program;
pub mod text;
pub mod types;
pub mod verify;

#[cfg(test)]
mod tests;

pub use ids::{BlockId, FileId, FuncId, GlobalId, InstId, Slot, TypeId};
pub use inst::*;
pub use program::*;
