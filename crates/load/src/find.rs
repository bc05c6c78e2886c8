//! Where the front end's executable is.

use crate::Options;
use std::path::PathBuf;

const NAME: &str = "pleach-frontend";

/// The requested one, the one next to this process, or the bare name for `PATH`. Tests run in `deps`, below the
/// programs.
pub(crate) fn frontend(options: &Options) -> PathBuf {
    if let Some(given) = &options.frontend {
        return given.clone();
    }
    let me = std::env::current_exe().unwrap_or_default();
    let directory = me.parent().filter(|d| d.file_name() != Some("deps".as_ref())).or_else(|| me.parent()?.parent());
    directory.map(|d| d.join(NAME)).filter(|p| p.is_file()).unwrap_or_else(|| NAME.into())
}
