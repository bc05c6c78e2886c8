//! The weakest-precondition transformer over ir and terms.
//!
//! This crate knows no states: it propagates conditions over locations backward over a recorded trace.

mod call;
mod compute;
pub mod condition;
mod linear_sum;
pub mod location;
mod may_point_to;
mod memory;
mod no_interpolant;
mod obligations;
mod occurrence_index;
mod symbolic_length;
mod symbolic_offset;
pub mod transformer;

pub use condition::{Condition, Dangling, Dereferenceable, MayPointToLiteral, OwningFrame, PointsTo};
pub use linear_sum::Sum;
pub use location::{Loc, Locs};
pub use pleach_exec::fixed_objects;
pub use transformer::{NoInterpolant, SolverHook, WpResult, WpTransformer};
