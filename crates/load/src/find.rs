//! Where the front end's executable is.

use crate::Options;
use std::path::PathBuf;

const NAME: &str = "pleach-frontend";

/// The one asked for, the one beside this process, or the bare name for `PATH`. Tests run one directory below the programs.
pub(crate) fn frontend(options: &Options) -> PathBuf {
    if let Some(given) = &options.frontend {
        return given.clone();
    }
    let me = std::env::current_exe().unwrap_or_default();
    let beside = me.ancestors().skip(1).take(2).map(|d| d.join(NAME)).find(|p| p.is_file());
    beside.unwrap_or_else(|| NAME.into())
}
