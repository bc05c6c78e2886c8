//! The weakest-precondition transformer over ir and terms.
//!
//! This crate knows no states: it walks conditions over locations back over a record of what was executed.

mod call;
pub mod condition;
pub mod loc;
mod memory;
pub mod transformer;

pub use condition::{Condition, Pin, Valid};
pub use loc::{Loc, Locs};
pub use transformer::{GiveUp, Validity, Walked, Walker};
