//! What each instruction and library model does to a state.
//!
//! This crate knows nothing of scheduling, pruning or merging: [`Machine::step`] returns what happened as data.
//!
//! ```
//! use pleach_exec::{ExecConfig, Machine};
//! use std::rc::Rc;
//!
//! let text = "target \"x86_64-pc-linux-gnu\" ptr 8\nfunc @main() -> (i32) {\nb0:\n  return (i32 i32 0)\n}\n";
//! let program = Rc::new(pleach_ir::text::parse(text).expect("it is a program"));
//! let solver = pleach_smt::assemble(Default::default());
//! let mut machine = Machine::new(program, solver, ExecConfig::default())?;
//! assert_eq!(machine.initial_states()?.len(), 1);
//! # Ok::<(), pleach_exec::SetupError>(())
//! ```

mod access;
mod address_dependence;
mod address_substitution;
mod alignment;
mod allocation_contexts;
mod branches;
mod bulk;
mod call;
mod checks;
mod concrete;
pub mod config;
mod control;
pub mod coverage;
mod dropped_alternatives;
mod entry;
mod external;
mod feasibility;
mod float;
mod flow;
mod input_pointers;
mod integer;
mod layouts;
mod leak;
mod library_calls;
mod logic;
mod low_bits;
mod machine;
mod messages;
mod models;
mod multi_target_access;
mod multi_target_bulk;
mod overlap;
mod parameters;
mod pointer_arithmetic;
mod program_exit;
mod query_budget;
mod query_costs;
mod resolution;
mod resolution_check;
mod resolution_stats;
mod scalar;
mod seed;
mod segments;
mod small_value_set;
mod snapshot;
mod splitting;
mod step;
mod surroundings;
mod symbolic_length;
mod symbolic_size;
mod test_generation;
mod unwind;
mod unwritten;
mod varargs;

pub use branches::{BranchLogging, ForkQuota};
pub use config::{
    ExecConfig, External, FixedInputs, LoopBound, ParameterSpec, Pointee, ProgramEntry, Resolution, Rules, SetupError,
    Size, SizeMode, Sizes, Splitting, Uninit,
};
pub use coverage::Coverage;
pub use external::{NativeAnswer, NativeCall, NativeCalls};
pub use flow::{Child, Step};
pub use library_calls::{ExternalCallPolicy, ExternalCallWarning};
pub use logic::Refuted;
pub use machine::{Arrived, Machine, TargetHit};
pub use messages::ExecMessage;
pub use models::alloc::{ALLOCATION_SIZE, LOCAL_SIZE};
pub use models::nondet::ABS_OVERFLOW;
pub use models::symbolic::LARGE_INPUT;
pub use models::{ALWAYS_MODELLED, MODELLED_WITHOUT_LIBC, OUTPUT, Output};
pub use query_budget::{QUERY_BUDGET, budget_at};
pub use query_costs::{CostlyLine, QueryCost, QueryCosts};
pub use resolution::LARGE_OBJECT;
pub use resolution_stats::ResolutionStatistics;
pub use seed::Seed;
pub use snapshot::{ExecutorSnapshot, SetAside};
pub use test_generation::ConcreteInput;
