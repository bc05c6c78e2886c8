//! Temporary directories.

use crate::error::Error;
use std::path::PathBuf;

/// A directory that goes away with the value.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new() -> Result<Scratch, Error> {
        let system = |why| Error::System { what: "create a temporary directory", why };
        let base = std::env::temp_dir();
        for n in 0u32.. {
            let path = base.join(format!("pleach-{}-{n}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Scratch(path)),
                Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists && n < 1000 => {}
                Err(e) => return Err(system(e)),
            }
        }
        Err(system(std::io::ErrorKind::AlreadyExists.into()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
