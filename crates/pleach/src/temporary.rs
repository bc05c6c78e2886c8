//! Temporary directories.

use crate::error::Error;
use tempfile::TempDir;

/// A directory that goes away with the value.
pub fn temporary_directory() -> Result<TempDir, Error> {
    let made = tempfile::Builder::new().prefix("pleach-").tempdir();
    made.map_err(|why| Error::System { what: "create a temporary directory", why })
}
