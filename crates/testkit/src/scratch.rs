//! Directories for tests.

use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory that goes away with the value.
pub struct Scratch(TempDir);

impl Scratch {
    /// A new one, with `name` in its name.
    pub fn new(name: &str) -> Self {
        let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let made = tempfile::Builder::new().prefix(&format!("pleach-testkit-{name}-")).tempdir();
        Self(made.unwrap_or_else(|e| panic!("cannot create a directory: {e}")))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// A file in it.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }
}
