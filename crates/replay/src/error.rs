//! The one error type of this crate: why a replay could not be done at all.

use std::path::{Path, PathBuf};

use pleach_report::ReportError;

/// Why a replay could not be done.
#[derive(Debug, thiserror::Error)]
pub enum ReplayError {
    /// A report file could not be read or written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The operating system refused something.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// As a verb: "run", "write".
        action: &'static str,
        /// The file.
        path: PathBuf,
        /// The reason given by the system.
        source: std::io::Error,
    },
    /// The machine does not give a replayed program the isolation that a stranger's needs.
    #[error("this machine does not give the replayed program {missing} ({source}), so that it was not run")]
    Isolation {
        /// What it does not give.
        missing: String,
        /// The reason given by the system.
        source: std::io::Error,
    },
    /// No compiler was found.
    #[error("no C compiler found: replay needs one of {0}")]
    NoCompiler(String),
    /// The program does not compile or link natively.
    #[error("the program does not build natively:\n{0}")]
    Build(String),
    /// The program has no sources to build.
    #[error("the run names no source files")]
    NoSources,
}

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, ReplayError>;

impl ReplayError {
    /// For `map_err`: an I/O failure while doing `action` to `path`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}
