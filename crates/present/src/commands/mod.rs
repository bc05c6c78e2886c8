//! Commands that only read a run directory.

mod export;
mod report;

pub use export::{ExportArgs, run as export};
pub use report::{ReportArgs, run as report};
