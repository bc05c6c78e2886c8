//! Properties, targets, verdicts and witnesses.
//!
//! This crate explores nothing. It says which ends of paths matter for a property or a target, and what may be
//! concluded from those that were seen.
//!
//! ```
//! use pleach_verify::Property;
//!
//! assert!(Property::parse("memsafety").is_ok());
//! assert!(Property::parse("no-such-property").is_err());
//! ```

mod cover;
pub mod ends;
pub mod property;
mod prp;
pub mod split;
pub mod target;
pub mod verdict;
pub mod witness;

#[cfg(test)]
mod tests;

pub use cover::Cover;
pub use ends::{Class, called};
pub use property::{Goal, Property, PropertyError};
pub use target::TargetError;
pub use verdict::{Answer, Verdict, VerificationEvidence};
