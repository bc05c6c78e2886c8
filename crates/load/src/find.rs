//! Where the front end's executable is.

use crate::Options;
use std::path::{Path, PathBuf};

const NAME: &str = "pleach-frontend";

/// The one asked for, the one next to this process, or the bare name for `PATH`. Tests run in `deps` and examples in
/// `examples`, below the programs.
pub(crate) fn frontend(options: &Options) -> PathBuf {
    if let Some(given) = &options.frontend {
        return given.clone();
    }
    let me = std::env::current_exe().unwrap_or_default();
    let below = |d: &&Path| d.file_name().is_some_and(|name| name == "deps" || name == "examples");
    let directory = me.parent().map(|d| Some(d).filter(below).and_then(Path::parent).unwrap_or(d));
    directory.map(|d| d.join(NAME)).filter(|p| p.is_file()).unwrap_or_else(|| NAME.into())
}
