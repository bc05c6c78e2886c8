//! Reading a pipe in the background.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// How long output is waited for after the program has ended.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Reads a pipe in the background, keeping its first bytes; the rest is read and dropped so that the program does
/// not block.
pub(super) struct Capture(mpsc::Receiver<Vec<u8>>);

impl Capture {
    pub fn start(pipe: OwnedFd, keep: usize) -> Self {
        let mut pipe = File::from(pipe);
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut left = keep;
            let mut chunk = [0; 8192];
            while let Ok(n @ 1..) = pipe.read(&mut chunk) {
                let kept = left.min(n);
                left -= kept;
                if kept > 0 && sender.send(chunk[..kept].to_vec()).is_err() {
                    break;
                }
            }
        });
        Self(receiver)
    }

    /// What came. Without a PID namespace a descendant may keep the pipe open: it is not waited for.
    pub fn finish(self) -> Vec<u8> {
        let deadline = Instant::now() + DRAIN_TIMEOUT;
        let mut all = Vec::new();
        while let Ok(part) = self.0.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            all.extend(part);
        }
        all
    }
}
