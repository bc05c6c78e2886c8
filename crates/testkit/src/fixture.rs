//! Programs with flags and expectations in comments.
//!
//! The words are explained in `docs/testing.md`. A word that is not known, or an expectation that every fixture must
//! have and one lacks, fails the fixture.

mod check;
mod command_line;
pub mod merging;
mod parse;
pub mod policies;
pub mod pruning;
pub mod summaries;
pub mod verdict_check;

pub use check::{brute_force, check, equal_bytes};
pub use parse::{Expected, Fixture, VerdictCheck};

use std::path::{Path, PathBuf};

/// All fixtures of the repository by name; those that cannot be read with the reason.
pub fn all() -> Vec<Result<Fixture, (String, String)>> {
    let root = crate::root().join("tests/fixtures");
    let mut files = Vec::new();
    collect(&root, &mut files);
    files.sort();
    let name = |path: &Path| path.strip_prefix(&root).unwrap_or(path).with_extension("").to_string_lossy().into_owned();
    files.iter().map(|path| Fixture::read(name(path), path).map_err(|why| (name(path), why))).collect()
}

/// Directories called `with` hold further files of fixtures.
fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        if path.is_dir() && path.file_name().is_some_and(|n| n != "with") {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "c" || e == "cpp" || e == "rs") {
            files.push(path);
        }
    }
}
