//! What every command shares: exit status, errors, output for readers that go away, signals, and a watchdog that keeps
//! the limits of the process.
//!
//! `pleach_command::Code` is what a shell sees:
//!
//! ```
//! use pleach_command::Code;
//! assert_eq!(Code::Unknown.status(), 3);
//! assert_eq!(Code::of_signal(15).status(), 143);
//! ```

#[macro_use]
pub mod stdio;

pub mod allocator;
pub mod duration;
mod error;
pub mod huge_pages;
mod pause;
pub mod processes;
pub mod signals;
pub mod watchdog;

pub use error::{CliError, Code};
