//! The attributes of a file as a test has them: `struct stat` of Linux on x86-64.

use std::os::unix::fs::MetadataExt;

const BYTES: usize = 144;

pub const TYPE: u32 = 0o170000;
pub const FIFO: u32 = 0o010000;
pub const DEVICE: u32 = 0o020000;
pub const DIRECTORY: u32 = 0o040000;

pub fn mode(bytes: &[u8]) -> Option<u32> {
    bytes.get(24..28).and_then(|b| b.try_into().ok()).map(u32::from_le_bytes)
}

/// Those of a file, with another size.
pub fn of(file: &std::fs::Metadata, size: u64) -> Vec<u8> {
    let mut out = vec![0; BYTES];
    let words = [(0, file.dev()), (8, file.ino()), (16, file.nlink()), (40, file.rdev()), (48, size)];
    let more = [(56, file.blksize()), (64, file.blocks())];
    let times = [
        (72, file.atime(), file.atime_nsec()),
        (88, file.mtime(), file.mtime_nsec()),
        (104, file.ctime(), file.ctime_nsec()),
    ];
    let mut put = |at: usize, bytes: &[u8]| out[at..at + bytes.len()].copy_from_slice(bytes);
    for (at, value) in words.into_iter().chain(more) {
        put(at, &value.to_le_bytes());
    }
    for (at, value) in [(24, file.mode()), (28, file.uid()), (32, file.gid())] {
        put(at, &value.to_le_bytes());
    }
    for (at, seconds, rest) in times {
        put(at, &seconds.to_le_bytes());
        put(at + 8, &rest.to_le_bytes());
    }
    out
}
