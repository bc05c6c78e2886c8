//! Commands that only read a run directory.

mod export;
mod report;
mod shell;
mod when;

pub use export::{ExportArgs, run as export};
pub use report::{ReportArgs, run as report};
pub use shell::{CompletionsArgs, ManArgs, completions, man};
pub use when::{WhenArgs, run as when};
