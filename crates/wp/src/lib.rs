//! The weakest-precondition transformer over ir and terms.
//!
//! This crate knows no states: it walks conditions over locations back over a record of what was executed.

mod among;
mod call;
mod compute;
pub mod condition;
mod lengths;
mod live;
pub mod loc;
mod memory;
mod obligations;
mod somewhere;
mod sum;
pub mod transformer;

pub use condition::{Choice, Condition, Dead, Home, Pin, Valid};
pub use loc::{Loc, Locs};
pub use pleach_exec::fixed_objects;
pub use sum::Sum;
pub use transformer::{GiveUp, Validity, Walked, Walker};
