//! A finished run as a page to look at, and as files that other tools take.
//!
//! Everything here reads a run directory and nothing else: it works after the run, on another machine, and on what a
//! killed run left. It does not know how a run is explored.
//!
//! ```
//! use pleach_present::page;
//!
//! // Text of a program must not end the element that carries the page's data.
//! assert_eq!(page::embed(&serde_json::json!("</script>")), r#""\u003c/script>""#);
//! ```

#[macro_use(print, println)]
extern crate pleach_command;

pub mod commands;
pub mod corpus;
mod files;
pub mod formats;
pub mod harness;
pub mod page;
pub mod run;
pub mod statistics;
pub mod unit_tests;

pub use files::Files;
pub use run::{Run, Trace, TraceStep, Traces};
