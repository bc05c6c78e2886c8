//! What each instruction and library model does to a state.
//!
//! This crate knows nothing of scheduling, pruning or merging: [`Machine::step`] returns what happened as data.

mod access;
mod alignment;
mod arith;
mod aside;
/// What operators mean, as terms: shared with the walk back over paths.
pub mod semantics {
    pub use crate::arith::{bin_term, cmp_term, overflow_term, signed_min};
    pub use crate::float::{float_bin, float_cast, float_cmp, float_neg};
    pub use crate::overlap::disjoint;
    pub use crate::scalar::scalar_terms;
}
mod beside;
mod branches;
mod bulk;
mod call;
mod check;
mod checks;
mod choice;
pub mod config;
mod contexts;
mod control;
pub mod coverage;
mod ending;
mod entry;
mod external;
mod feasible;
mod few;
mod float;
mod flow;
mod guarded;
mod input_pointers;
mod integer;
mod layouts;
mod leak;
mod library_calls;
mod logic;
mod low_bits;
mod machine;
mod models;
mod numbers;
mod overlap;
mod parameters;
mod placement;
mod query_budget;
mod query_costs;
mod ranges;
mod resolution;
mod resolved;
mod said;
mod scalar;
mod segments;
mod splitting;
mod step;
mod tests_of_paths;
mod unwind;
mod unwritten;
mod varargs;

pub use aside::Aside;
pub use branches::{Branches, Shares};
pub use config::{
    Entry, ExecConfig, External, Given, LoopBound, ParameterSpec, Pointee, Resolution, SetupError, Size, Splitting,
    Uninit,
};
pub use coverage::Coverage;
pub use external::{NativeAnswer, NativeCall, NativeCalls};
pub use flow::{Child, Step};
pub use library_calls::{Externals, Tell};
pub use logic::Refuted;
pub use machine::{Arrival, Machine, address_of, fixed_objects};
pub use models::alloc::{ALLOCATION_SIZE, LOCAL_SIZE};
pub use models::nondet::ABS_OVERFLOW;
pub use models::symbolic::LARGE_INPUT;
pub use models::{KEPT, OUTPUT, Output, STAND_INS};
pub use query_budget::{QUERY_BUDGET, budget_at};
pub use query_costs::{CostlyLine, QueryCost, QueryCosts};
pub use resolution::LARGE_OBJECT;
pub use resolved::Resolved;
pub use said::Said;
pub use tests_of_paths::ConcreteInput;
