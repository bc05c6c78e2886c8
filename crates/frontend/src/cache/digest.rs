//! Digests of what a result is made from.

use crate::Options;
use pleach_load::wire;
use sha2::{Digest as _, Sha256};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Digest([u8; 32]);

impl Digest {
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub fn of(bytes: &[u8]) -> Digest {
        Digest(Sha256::digest(bytes).into())
    }

    pub fn hex(&self) -> String {
        self.0.iter().map(|b| format!("{b:02x}")).collect()
    }
}

/// Takes parts one after the other.
pub(super) struct Builder {
    hash: Sha256,
    /// our own directory, which has another name each time
    work_dir: Vec<u8>,
}

impl Builder {
    /// Begins with our version and executable, the options, and the directory that paths are relative to.
    pub fn new(what: &str, options: &Options) -> Option<Builder> {
        let nowhere = PathBuf::new();
        let named = Options {
            inputs: Vec::new(),
            runtime_include: options.runtime_include.as_ref().map(|p| elsewhere(p, &options.work_dir)),
            work_dir: nowhere,
            library: options.library.clone().filter(|_| what == "program"),
            assembly: None,
            cache: None,
            ..options.clone()
        };
        let work_dir = options.work_dir.as_os_str().as_encoded_bytes().to_vec();
        let begun = Builder { hash: Sha256::new(), work_dir };
        let here = std::env::current_dir().ok()?;
        let begun = begun.part(what.as_bytes()).part(&wire::encode_request(&named).ok()?);
        begun.part(here.as_os_str().as_encoded_bytes()).identity(&std::env::current_exe().ok()?)
    }

    /// With its length, so that parts do not run into each other.
    pub fn part(mut self, bytes: &[u8]) -> Builder {
        self.hash.update((bytes.len() as u64).to_le_bytes());
        self.hash.update(bytes);
        self
    }

    /// Text in which our own directory may occur.
    pub fn text(self, bytes: &[u8]) -> Builder {
        let plain = without(bytes, &self.work_dir);
        self.part(&plain)
    }

    /// A large file that nobody changes in place: where it is, its size and when it was last changed.
    pub fn identity(self, path: &Path) -> Option<Builder> {
        let m = std::fs::metadata(path).ok()?;
        let numbers = [m.dev(), m.ino(), m.size(), m.mtime() as u64, m.mtime_nsec() as u64];
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        Some(self.part(path.as_os_str().as_encoded_bytes()).part(&bytes))
    }

    pub fn finish(self) -> Digest {
        Digest(self.hash.finalize().into())
    }
}

/// The path as seen from our own directory.
fn elsewhere(path: &Path, work_dir: &Path) -> PathBuf {
    path.strip_prefix(work_dir).unwrap_or(path).to_path_buf()
}

fn without(text: &[u8], what: &[u8]) -> Vec<u8> {
    if what.is_empty() {
        return text.to_vec();
    }
    let (mut out, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some((first, tail)) = rest.split_first() {
        match rest.strip_prefix(what) {
            Some(tail) => rest = tail,
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

/// When the contents or anything else about the file was last changed. It cannot be set back.
pub(super) fn changed(path: &Path) -> Option<SystemTime> {
    let m = std::fs::metadata(path).ok()?;
    let since = Duration::new(u64::try_from(m.ctime()).ok()?, u32::try_from(m.ctime_nsec()).ok()?);
    SystemTime::UNIX_EPOCH.checked_add(since)
}

/// `a.rs` and `a/mod.rs` are two places for one module.
pub(super) fn has_another_place(file: &Path) -> bool {
    match file.file_name().and_then(|n| n.to_str()) {
        Some("mod.rs") => file.parent().is_some_and(|d| d.with_extension("rs").exists()),
        _ => file.extension().is_some_and(|e| e == "rs") && file.with_extension("").join("mod.rs").exists(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_directory_does_not_count() {
        assert_eq!(without(b"# 1 \"/t/pleach-a1/include/k.h\"", b"/t/pleach-a1"), b"# 1 \"/include/k.h\"");
        assert_eq!(without(b"aab", b"ab"), b"a");
        assert_eq!(without(b"x", b""), b"x");
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        let begin = || Builder { hash: Sha256::new(), work_dir: Vec::new() };
        let (a, b) = (begin().part(b"ab").part(b"c"), begin().part(b"a").part(b"bc"));
        assert_ne!(a.finish(), b.finish());
    }
}
