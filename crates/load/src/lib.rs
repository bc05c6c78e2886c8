//! C and bitcode to ir, in a process of its own: starts the front end and takes the program from it.
//!
//! *Why a process*: LLVM takes more memory than most runs, and on damaged input it may crash. Both end with the front end.
//! This crate uses neither LLVM nor clang; the front end uses its [`Options`] and [`wire`].
//!
//! ```
//! use pleach_load::Options;
//!
//! let options = Options { inputs: vec!["no-such-file.c".into()], ..Options::default() };
//! assert!(pleach_load::load(&options).is_err());
//! ```

pub mod clang_flags;
mod elf;
pub mod embedded_bitcode;
mod error;
mod find;
mod limits;
mod options;
mod process;
pub mod regular;
pub mod rust;
pub mod wire;

pub use error::LoadError;
pub use limits::LoadLimits;
pub use options::{Library, Options, OutputFunction};
pub use process::{load, load_within};
