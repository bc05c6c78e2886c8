//! Objects, bases, addresses, segments and resolution.
//!
//! This crate knows neither instructions nor scheduling.
//!
//! ```
//! use pleach_memory::{AddressSpace, ObjId};
//!
//! let memory = AddressSpace::new(64);
//! assert!(memory.is_empty() && memory.get(ObjId(0)).is_none());
//! ```

mod access;
pub mod constant_offsets;
mod differences;
pub mod known_bits;
pub mod merge;
pub mod model;
pub mod object;
pub mod observed_addresses;
pub mod pieces;
pub mod pvec;
pub mod resolve;
pub mod segments;
pub mod size;
pub mod space;
pub mod symbolic;
mod tags;
pub mod value;
mod words;

pub use model::{AccessKind, Fault, MemoryModel, RelocatableMemory, Resolution, ResolvedLocation, Target};
pub use object::{Background, ByteView, Contents, Window};
pub use pieces::{SplitAccess, Splitting};
pub use segments::SegmentArrangement;
pub use size::Size;
pub use space::{AddressSpace, Extent, Full, NULL_PAGE, Object, ObjectEntry, ObjectKind, RED_ZONE, Site};
pub use value::{ObjId, Value};
