//! What each instruction and library model does to a state.
//!
//! This crate knows nothing of scheduling, pruning or merging: [`Machine::step`] returns what happened as data.

mod access;
mod alignment;
mod arith;
mod snapshot;
/// What operators mean, as terms: shared with the walk back over paths.
pub mod semantics {
    pub use crate::arith::{bin_term, cmp_term, overflow_term, signed_min};
    pub use crate::float::{float_bin, float_cast, float_cmp, float_neg};
    pub use crate::overlap::disjoint;
    pub use crate::scalar::scalar_terms;
}
mod address_dependence;
mod address_substitution;
mod allocation_contexts;
mod branches;
mod bulk;
mod call;
mod checks;
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
mod program_exit;
mod query_budget;
mod query_costs;
mod resolution;
mod resolution_check;
mod resolution_stats;
mod scalar;
mod segments;
mod small_value_set;
mod splitting;
mod step;
mod surroundings;
mod symbolic_length;
mod test_generation;
mod unwind;
mod unwritten;
mod varargs;

pub use branches::{BranchLogging, ForkQuota};
pub use config::{
    ExecConfig, External, FixedInputs, LoopBound, ParameterSpec, Pointee, ProgramEntry, Resolution, SetupError, Size,
    Splitting, Uninit,
};
pub use coverage::Coverage;
pub use external::{NativeAnswer, NativeCall, NativeCalls};
pub use flow::{Child, Step};
pub use library_calls::{ExternalCallPolicy, ExternalCallWarning};
pub use logic::Refuted;
pub use machine::{Arrived, Machine, TargetHit, address_of, fixed_objects};
pub use messages::ExecMessage;
pub use models::alloc::{ALLOCATION_SIZE, LOCAL_SIZE};
pub use models::nondet::ABS_OVERFLOW;
pub use models::symbolic::LARGE_INPUT;
pub use models::{ALWAYS_MODELLED, MODELLED_WITHOUT_LIBC, OUTPUT, Output};
pub use query_budget::{QUERY_BUDGET, budget_at};
pub use query_costs::{CostlyLine, QueryCost, QueryCosts};
pub use resolution::LARGE_OBJECT;
pub use resolution_stats::ResolutionStatistics;
pub use snapshot::ExecutorSnapshot;
pub use test_generation::ConcreteInput;
