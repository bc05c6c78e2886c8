//! Commands that execute the program of a finished run again.
//!
//! ```
//! use pleach_inspect::Debugger;
//!
//! assert_eq!(Debugger::Gdb.programs(), ["gdb"]);
//! ```

#[macro_use(print, println, eprint, eprintln)]
extern crate pleach_command;

mod debugger;
mod find;
mod names;
mod path;
mod replay;
mod state_view;
mod trace;
mod view;

pub use debugger::Debugger;
pub use replay::{ReplayArgs, Sanitizers, run as replay};
pub use trace::record as traces;
pub use view::{Configure, ViewArgs, run as view};
