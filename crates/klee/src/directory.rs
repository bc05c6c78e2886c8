//! `klee-out-N` next to the program, with `klee-last` pointing to it; or the directory given, which must not exist.

use pleach_command::CliError;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub fn create(given: Option<&str>, program: &Path) -> Result<PathBuf, CliError> {
    let refuse =
        |path: &Path, why: std::io::Error| CliError::Usage(format!("cannot create \"{}\": {why}", path.display()));
    if let Some(given) = given {
        let path = absolute(Path::new(given));
        return fs::create_dir(&path).map(|()| path.clone()).map_err(|why| refuse(&path, why));
    }
    let parent = absolute(program).parent().map_or_else(|| PathBuf::from("."), Path::to_owned);
    for n in 0u32.. {
        let name = format!("klee-out-{n}");
        let path = parent.join(&name);
        match fs::create_dir(&path) {
            Ok(()) => {
                let link = parent.join("klee-last");
                // Something else of that name is left alone.
                if fs::symlink_metadata(&link).is_ok_and(|m| m.is_symlink()) {
                    let _ = fs::remove_file(&link);
                }
                let _ = std::os::unix::fs::symlink(&name, &link);
                return Ok(path);
            }
            Err(why) if why.kind() == ErrorKind::AlreadyExists => {}
            Err(why) => return Err(refuse(&path, why)),
        }
    }
    Err(CliError::Usage("cannot create output directory: index out of range".into()))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}
