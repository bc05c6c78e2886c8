//! Many tests in one sandbox: the program is started once, as a server that forks for each test
//! (`runtime/replay/server.inc`).
//!
//! *Invariant*: a test sees what it would see in a sandbox of its own: empty writable directories, no process but those
//! around it, the same heap. The server says if it cannot restore that; then it is not used again.
//!
//! *Deviations*: process numbers grow from test to test, and the parent of the program is not the first process.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::io::Errno;
use rustix::process::Pid;

use super::limits::processor_seconds;
use super::prepared::{Ends, Prepared};
use super::{Exit, Finished, Places, Refusal, Run, Sandbox, mounts, pipe, supervisor, wait};

/// Larger inputs do not fit into the server's file system.
pub(crate) const LARGEST_INPUT: usize = 4 << 20;

// As in server.inc.
const NOTES: u32 = 1;
const LOG: u32 = 2;
const STATUS: u32 = 3;
const DONE: u32 = 4;

/// A started program that waits for tests.
pub(crate) struct Server {
    control: UnixStream,
    out: File,
    err: File,
    life: Option<(Pid, File, OwnedFd)>,
    time: Duration,
    output: usize,
    usable: bool,
}

impl Sandbox {
    /// Starts a program as a server. `run.environment` gets the places of [`Server::places`].
    pub fn serve(&self, mut run: Run) -> Result<Server, Refusal> {
        let (control, theirs) = UnixStream::pair()?;
        run.serves = true;
        run.variables.push(format!("PLEACH_SERVER={}", processor_seconds(&self.limits)).into_bytes());
        mounts::let_everyone_execute(run.program);
        let mut prepared = Prepared::isolated(self, &run, Server::places())?;
        let (out, out_end) = pipe()?;
        let (err, err_end) = pipe()?;
        let (status, status_end) = pipe()?;
        let (life_end, life) = pipe()?;
        let unused = OwnedFd::from(File::open("/dev/null")?);
        let ends = Ends {
            stdin: &OwnedFd::from(theirs),
            stdout: &out_end,
            stderr: &err_end,
            status: &status_end,
            life: &life_end,
            notes: &unused,
            log: &unused,
        };
        let supervisor = supervisor::start(&mut prepared, &ends)?;
        for stream in [&out, &err] {
            fcntl_setfl(stream, OFlags::NONBLOCK)?;
        }
        control.set_nonblocking(true)?;
        Ok(Server {
            control,
            out: File::from(out),
            err: File::from(err),
            life: Some((supervisor, File::from(status), life)),
            time: self.limits.time,
            output: self.limits.output,
            usable: true,
        })
    }
}

impl Server {
    /// Where the program finds and leaves things. The test is where the server can write it.
    fn places() -> Places {
        let inside = Places::inside();
        Places { input: inside.notes.with_file_name("test"), ..inside }
    }

    /// Whether the next test may be given to it.
    pub fn is_usable(&self) -> bool {
        self.usable
    }

    /// Runs one test. Nothing if the server has ended: the test may have done that, and decides nothing.
    pub fn run(&mut self, input: &[u8]) -> Option<Finished> {
        let mut finished =
            Finished { exit: Exit::TimedOut, stdout: vec![], stderr: vec![], notes: vec![], log: vec![] };
        let length = u32::try_from(input.len()).ok()?.to_le_bytes();
        let deadline = Instant::now() + self.time;
        self.usable = false;
        self.send(&[&length, input].concat(), deadline)?;
        let (mut answer, mut done) = (Vec::new(), None);
        while done.is_none() {
            if !self.poll(PollFlags::IN, deadline) {
                return Some(finished);
            }
            self.drain(&mut finished);
            match self.control.read_to_end(&mut answer) {
                Err(why) if why.kind() == std::io::ErrorKind::WouldBlock => {}
                // Its end.
                _ => return None,
            }
            done = frames(&answer, &mut finished);
        }
        self.drain(&mut finished);
        self.usable = done == Some(0);
        Some(finished)
    }

    fn send(&mut self, mut bytes: &[u8], deadline: Instant) -> Option<()> {
        while !bytes.is_empty() {
            match self.control.write(bytes) {
                Ok(n) => bytes = &bytes[n..],
                Err(why) if why.kind() == std::io::ErrorKind::WouldBlock => {
                    self.poll(PollFlags::OUT, deadline).then_some(())?;
                }
                Err(_) => return None,
            }
        }
        Some(())
    }

    /// Waits until there is something to do; false when the time is over.
    fn poll(&self, control: PollFlags, deadline: Instant) -> bool {
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(left) = Timespec::try_from(left) else { return false };
            let streams = [&self.out, &self.err].map(|s| PollFd::new(s, PollFlags::IN));
            let [out, err] = streams;
            match poll(&mut [PollFd::new(&self.control, control), out, err], Some(&left)) {
                Ok(0) => return false,
                Err(Errno::INTR) => {}
                _ => return true,
            }
        }
    }

    /// What the program has printed so far; what is beyond the limit is dropped.
    fn drain(&mut self, finished: &mut Finished) {
        let mut chunk = [0; 8192];
        for (from, to) in [(&mut self.out, &mut finished.stdout), (&mut self.err, &mut finished.stderr)] {
            while let Ok(n @ 1..) = from.read(&mut chunk) {
                to.extend_from_slice(&chunk[..n.min(self.output - to.len())]);
            }
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some((supervisor, status, life)) = self.life.take() {
            // Nobody waits for the program any more.
            let _ = wait(supervisor, status, life, Duration::ZERO);
        }
    }
}

/// Reads the answer as far as it came. `Some` when it is whole: 0, or 1 if the server must not be used again.
fn frames(mut answer: &[u8], finished: &mut Finished) -> Option<u32> {
    finished.notes.clear();
    finished.log.clear();
    let number = |bytes: &[u8]| bytes.first_chunk().map(|b| u32::from_le_bytes(*b));
    loop {
        let (tag, value) = (number(answer)?, number(answer.get(4..)?)?);
        answer = &answer[8..];
        match tag {
            NOTES | LOG => {
                let (bytes, rest) = answer.split_at_checked(value as usize)?;
                let to = if tag == NOTES { &mut finished.notes } else { &mut finished.log };
                to.extend_from_slice(bytes);
                answer = rest;
            }
            STATUS => finished.exit = exit(value as i32),
            DONE => return Some(value),
            // Not the server's: the program has got hold of the socket.
            _ => return Some(1),
        }
    }
}

fn exit(status: i32) -> Exit {
    match (libc::WIFEXITED(status), libc::WTERMSIG(status)) {
        (true, _) => Exit::Code(libc::WEXITSTATUS(status)),
        (false, libc::SIGXCPU) => Exit::TimedOut,
        (false, signal) => Exit::Signal(signal),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_read_in_parts() {
        let words = |all: &[u32]| all.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let whole = [words(&[NOTES, 2]), b"ab".to_vec(), words(&[NOTES, 1]), b"c".to_vec()].concat();
        let whole = [whole, words(&[LOG, 1]), b"l".to_vec(), words(&[STATUS, 3 << 8, DONE, 0])].concat();
        let mut finished =
            Finished { exit: Exit::TimedOut, stdout: vec![], stderr: vec![], notes: vec![], log: vec![] };
        for end in 0..whole.len() {
            assert_eq!(frames(&whole[..end], &mut finished), None, "{end}");
        }
        assert_eq!(frames(&whole, &mut finished), Some(0));
        assert_eq!((finished.exit, &finished.notes[..], &finished.log[..]), (Exit::Code(3), &b"abc"[..], &b"l"[..]));
        assert_eq!(frames(&words(&[77, 0]), &mut finished), Some(1));
        assert_eq!(exit(libc::SIGXCPU), Exit::TimedOut);
        assert_eq!(exit(libc::SIGSEGV), Exit::Signal(libc::SIGSEGV));
    }
}
