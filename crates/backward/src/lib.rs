//! Backward symbolic execution: from a target to the inputs of a function.
//!
//! *Paper*: Backward (Husák, Kofroň, Zavoral). The control flow of the entry, unwound and inlined, is walked from the
//! goals to the entry, in one of two styles; the solver then says whether an input leads to a goal, and which. This
//! crate uses programs, the meaning of operators, terms and the solver, never states or the executor.

mod conjunctive;
mod cut;
mod decide;
mod disjunctive;
mod graph;
mod harness;
mod heap;
mod layout;
mod memory;
mod pointers;
mod search;
mod transfer;
pub mod types;
mod variables;

pub use conjunctive::Solve;
pub use cut::CutReason;
pub use decide::{Answer, Config, Confirmation, Effort, Exactness, Style, assumptions, decide};
pub use disjunctive::Disjuncts;
pub use graph::{Goal, ends_program};
pub use harness::{harness, picture, precondition};
pub use heap::{Field, InputHeap, InputValue, Object, ObjectId, Parameter};
