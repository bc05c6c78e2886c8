//! Witnesses of a verification: read, and turned into checks in the program's source.
//!
//! A correctness witness becomes calls of error functions where its invariants do not hold ([`correctness`]); a
//! violation witness a counter of the segments that an execution has passed ([`violation`]). Whether the new program
//! can reach them is for an exploration to say.
//!
//! ```
//! use pleach_witness::{ReadError, read};
//!
//! assert_eq!(read("<?xml version='1.0'?>").unwrap_err(), ReadError::GraphMl);
//! ```

mod conditions;
pub mod correctness;
pub mod expression;
mod instrument;
pub mod loops;
mod markers;
mod read;
mod statements;
mod tokens;
pub mod violation;

pub use instrument::Instrumented;
pub use markers::physical_line;
pub use read::{Contents, Invariant, InvariantKind, Location, Read, ReadError, Segment, Waypoint, WaypointKind, read};
pub use statements::{Sort, Statement, Structure};
pub use tokens::Source;
