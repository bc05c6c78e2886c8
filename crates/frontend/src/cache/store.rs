//! Results in a directory, by their digests. Its size is bounded; the results not used for longest go first.

use super::digest::Digest;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

/// Bytes of all results, and of one.
const BOUND: u64 = 512 << 20;
const LARGEST: usize = 64 << 20;

const CHECKSUM: usize = 32;

pub(super) struct Store {
    directory: PathBuf,
    bound: u64,
}

impl Store {
    /// `None`: there is no such directory and none can be made.
    pub fn at(directory: &Path) -> Option<Store> {
        std::fs::create_dir_all(directory).ok()?;
        Some(Store { directory: directory.to_path_buf(), bound: BOUND })
    }

    fn path(&self, digest: &Digest) -> PathBuf {
        self.directory.join(digest.hex())
    }

    pub fn get(&self, digest: &Digest) -> Option<Vec<u8>> {
        let path = self.path(digest);
        let mut bytes = std::fs::read(&path).ok()?;
        // A damaged file is none.
        if bytes.len() < CHECKSUM || Digest::of(&bytes[CHECKSUM..]).as_bytes() != &bytes[..CHECKSUM] {
            let _ = std::fs::remove_file(&path);
            return None;
        }
        // It was used now.
        let _ = std::fs::File::options().append(true).open(&path).map(|f| f.set_modified(SystemTime::now()));
        bytes.drain(..CHECKSUM);
        Some(bytes)
    }

    /// What cannot be written is compiled again next time.
    pub fn put(&self, digest: &Digest, bytes: &[u8]) {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        if bytes.len() > LARGEST {
            return;
        }
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let new = self.directory.join(format!("new-{}-{number}", std::process::id()));
        let write = || -> std::io::Result<()> {
            let mut file = std::fs::File::create(&new)?;
            file.write_all(Digest::of(bytes).as_bytes())?;
            file.write_all(bytes)?;
            std::fs::rename(&new, self.path(digest))
        };
        if write().is_err() {
            let _ = std::fs::remove_file(&new);
        }
        self.shrink();
    }

    /// To nine tenths of the bound, if it is exceeded.
    fn shrink(&self) {
        let Ok(entries) = std::fs::read_dir(&self.directory) else { return };
        let known = entries.flatten().filter_map(|e| e.metadata().ok().map(|m| (m.modified().ok(), m.len(), e.path())));
        let mut files: Vec<(Option<SystemTime>, u64, PathBuf)> = known.collect();
        let mut size: u64 = files.iter().map(|f| f.1).sum();
        if size <= self.bound {
            return;
        }
        files.sort();
        for (_, len, path) in files {
            if size <= self.bound / 10 * 9 {
                return;
            }
            if std::fs::remove_file(path).is_ok() {
                size -= len;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(bound: u64) -> (tempfile::TempDir, Store) {
        let directory = tempfile::tempdir().expect("a directory");
        let store = Store { bound, ..Store::at(directory.path()).expect("it can be made") };
        (directory, store)
    }

    #[test]
    fn damaged_results_are_none() {
        let (_kept, store) = store(BOUND);
        let digest = Digest::of(b"what it is made from");
        assert_eq!(store.get(&digest), None);
        store.put(&digest, b"result");
        assert_eq!(store.get(&digest).as_deref(), Some(&b"result"[..]));
        for damaged in [&b""[..], b"short", &[7; 40]] {
            std::fs::write(store.path(&digest), damaged).expect("writable");
            assert_eq!(store.get(&digest), None);
            assert!(!store.path(&digest).exists());
        }
    }

    #[test]
    fn what_was_not_used_for_longest_goes() {
        let (_kept, store) = store(4000);
        let digests: Vec<Digest> = (0..8u8).map(|i| Digest::of(&[i])).collect();
        let age = |d: &Digest, seconds| {
            let file = std::fs::File::options().append(true).open(store.path(d)).expect("there");
            let at = SystemTime::now() - std::time::Duration::from_secs(seconds);
            file.set_modified(at).expect("its own file");
        };
        for (i, digest) in digests.iter().enumerate() {
            store.put(digest, &[0; 468]);
            age(digest, 100 - i as u64);
        }
        assert!(store.get(&digests[0]).is_some(), "8 · 500 is the bound");
        store.put(&Digest::of(b"one more"), &[0; 468]);
        assert!(store.get(&digests[0]).is_some(), "it was used");
        assert!(store.get(&digests[1]).is_none() && store.get(&digests[2]).is_none());
        assert!(store.get(&digests[3]).is_some());
    }
}
