//! Objects, bases, addresses, segments and resolution.
//!
//! This crate knows neither instructions nor scheduling.

mod access;
pub mod object;
pub mod observed;
pub mod offsets;
pub mod pvec;
pub mod resolve;
pub mod segments;
pub mod space;
pub mod stride;
pub mod symbolic;
mod tags;
pub mod value;

pub use object::{Background, ByteView, Contents, Window};
pub use segments::Arrangement;
pub use space::{AddressSpace, Entry, Extent, Full, Object, ObjectKind, Site};
pub use value::{ObjId, Value};
