//! Files that can be read to their end. Devices cannot (`/dev/zero` has none), and pipes wait for someone.

use std::fs::Metadata;
use std::io::{Error, ErrorKind};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// That a path is no file, if it is there and is something else.
pub fn check(path: &Path) -> Result<(), Error> {
    match std::fs::metadata(path) {
        Ok(found) => match other(&found) {
            Some(what) => Err(Error::new(ErrorKind::InvalidInput, format!("it is {what}, not a file"))),
            None => Ok(()),
        },
        // Who reads it will say so.
        Err(_) => Ok(()),
    }
}

/// The contents of a file.
pub fn read(path: &Path) -> Result<Vec<u8>, Error> {
    check(path)?;
    std::fs::read(path)
}

fn other(found: &Metadata) -> Option<&'static str> {
    let kind = found.file_type();
    match () {
        () if kind.is_file() => None,
        () if kind.is_dir() => Some("a directory"),
        () if kind.is_char_device() || kind.is_block_device() => Some("a device"),
        () if kind.is_fifo() => Some("a pipe"),
        () if kind.is_socket() => Some("a socket"),
        () => Some("something else"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_only() {
        assert!(check(Path::new("/proc/self/exe")).is_ok());
        assert!(check(Path::new("/nowhere/at/all")).is_ok());
        for (path, what) in [("/dev/zero", "a device"), ("/", "a directory")] {
            assert_eq!(check(Path::new(path)).unwrap_err().to_string(), format!("it is {what}, not a file"));
            assert!(read(Path::new(path)).is_err());
        }
    }
}
