//! The weakest-precondition transformer over ir and terms.
//!
//! This crate knows no states: it walks conditions over locations back over a record of what was executed.
//!
//! ```
//! use pleach_wp::{Condition, NoInterpolant};
//!
//! assert_eq!(Condition::default().len(), 0, "the condition `true`");
//! assert_eq!(NoInterpolant::Tainted.describe(), "a path below was cut");
//! ```

mod call;
mod compute;
pub mod condition;
mod diamond;
mod known_side;
mod linear_sum;
pub mod location;
mod may_point_to;
mod memory;
mod modelled;
mod no_interpolant;
mod obligations;
mod occurrence_index;
mod rounds;
mod symbolic_length;
mod symbolic_offset;
pub mod transformer;

pub use condition::{Condition, Dangling, Dereferenceable, MayPointToLiteral, OwningFrame, PointsTo, Rounds};
pub use diamond::EndOfTrace;
pub use known_side::KnownSides;
pub use linear_sum::Sum;
pub use location::{Loc, Locs};
pub use memory::room_for;
pub use pleach_semantics::fixed_objects;
pub use transformer::{NoInterpolant, WpResult, WpTransformer};
