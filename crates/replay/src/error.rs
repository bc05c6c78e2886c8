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
    /// The reason in one line; of a compiler's or linker's many lines the first that names an error.
    pub fn in_one_line(&self) -> String {
        match self {
            Self::Build(text) => format!("the program does not build natively: {}", complaint(text)),
            other => other.to_string().lines().next().unwrap_or_default().to_owned(),
        }
    }

    /// For `map_err`: an I/O failure while doing `action` to `path`.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { action, path, source }
    }
}

/// The line that says what is wrong: `In file included from` and the like come before it, details after.
pub(crate) fn complaint(text: &str) -> &str {
    let lines = || text.lines().map(str::trim).filter(|l| !l.is_empty());
    let says = |parts: &[&str]| lines().find(|l| parts.iter().any(|p| l.contains(p)));
    // The compiler's own errors before what the linker and the driver say because of them.
    says(&["error: "])
        .filter(|l| !l.contains("linker command failed"))
        .or_else(|| says(&["undefined reference", "undefined symbol", "multiple definition", "cannot find"]))
        .or_else(|| says(&["error"]))
        .or_else(|| lines().next())
        .unwrap_or("it gave no reason")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_is_told_and_not_where_it_was_included_from() {
        let included = "In file included from a.c:1:\n/usr/include/x.h:5:10: fatal error: 'asm/errno.h' file not found\n\
                        #include <asm/errno.h>\n         ^~~~~\n1 error generated.\n";
        let linker = "/usr/bin/ld: /tmp/a.o: in function `main':\na.c:3: undefined reference to `g'\n\
                      clang: error: linker command failed with exit code 1 (use -v to see invocation)\n";
        assert_eq!(complaint(included), "/usr/include/x.h:5:10: fatal error: 'asm/errno.h' file not found");
        assert_eq!(complaint(linker), "a.c:3: undefined reference to `g'");
        assert_eq!(complaint("killed\n"), "killed");
        assert_eq!(complaint(""), "it gave no reason");
        let error = ReplayError::Build(included.into());
        assert!(error.in_one_line().ends_with("file not found"), "{}", error.in_one_line());
    }
}
