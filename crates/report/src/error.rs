//! The one error type of this crate.

use std::io;
use std::path::{Path, PathBuf};

/// Why a report file could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The operating system refused a file operation.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// What was attempted, as a verb: "write", "read", "create".
        action: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// The reason given by the system.
        source: io::Error,
    },
    /// `--output-dir` names something that would be overwritten.
    #[error("output directory {} exists and is not empty; choose another or remove it", .0.display())]
    NotEmpty(PathBuf),
    /// A path that should be a run directory is not one.
    #[error("{} is not a run directory: {why}", path.display())]
    NotARun {
        /// The path that was given.
        path: PathBuf,
        /// What is missing.
        why: String,
    },
    /// A file does not follow its format.
    #[error("malformed {format}: {why}")]
    Malformed {
        /// The format's name, for instance "ktest".
        format: &'static str,
        /// What is wrong, and where.
        why: String,
    },
    /// The statistics database refused an operation.
    #[error("statistics database: {0}")]
    Database(#[from] rusqlite::Error),
    /// A JSON document could not be read or written.
    #[error("{}: {source}", path.display())]
    Json {
        /// The document.
        path: PathBuf,
        /// The parser's reason.
        source: serde_json::Error,
    },
}

/// Result of this crate's functions.
pub type Result<T> = std::result::Result<T, ReportError>;

impl ReportError {
    /// For `map_err`: an I/O failure while doing `action` to `path`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }

    /// For `map_err`: a JSON failure in `path`.
    pub(crate) fn json(path: &Path) -> impl FnOnce(serde_json::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Json { path, source }
    }

    /// A format violation.
    pub(crate) fn malformed(format: &'static str, why: impl Into<String>) -> Self {
        Self::Malformed { format, why: why.into() }
    }
}
