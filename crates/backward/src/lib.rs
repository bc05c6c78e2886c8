//! Backward symbolic execution: from a target to the inputs of a function.
//!
//! *Paper*: Backward (Husák, Kofroň, Zavoral). The control flow of the entry, unwound and inlined, is walked from the
//! goals to the entry, in one of two styles; the solver then says whether an input leads to a goal, and which. This
//! crate uses programs, the meaning of operators, terms and the solver, never states or the executor.

mod bounds;
mod clock;
mod conjunctive;
mod cut;
mod decide;
mod disjunctive;
mod drawing;
mod effects;
mod facts;
mod graph;
mod harness;
mod havoc;
mod heap;
mod instructions;
mod known_functions;
mod layout;
mod meet;
mod memory;
mod pointer_values;
mod pointers;
mod ranges;
mod reach;
mod search;
mod stream;
mod survey;
#[cfg(test)]
mod tables;
mod transfer;
pub mod types;
mod values;
mod variables;

pub use clock::Clock;
pub use conjunctive::Solve;
pub use cut::CutReason;
pub use decide::{ALLOCATIONS_SUCCEED, Answer, Config, Confirmation, Effort, Exactness, Style, assumptions, decide};
pub use disjunctive::Disjuncts;
pub use drawing::drawing;
pub use effects::Effects;
pub use facts::{FactVariable, Facts};
pub use graph::{Context, Failure, Goal, Loops};
pub use harness::{harness, harness_of_many, picture, precondition};
pub use heap::{Field, InputHeap, InputValue, Object, ObjectId, Parameter};
pub use known_functions::{ends_program, may_call_back};
pub use meet::{Meeting, meet};
pub use survey::{SurveyOptions, Surveyed, survey};
