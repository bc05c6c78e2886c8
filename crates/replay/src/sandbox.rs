//! Running a stranger's program: limited in time, memory, output and files.

#![allow(unsafe_code)]

use std::io::{self, Read};
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use crate::landlock::WriteOnly;
use crate::options::Limits;

/// How long output is waited for after the program has ended.
const PATIENCE: Duration = Duration::from_secs(1);

/// How the process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
    TimedOut,
}

/// A finished run.
#[derive(Clone, Debug)]
pub(crate) struct Finished {
    pub exit: Exit,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
}

/// Runs the command in a process group of its own, able to write below `writable` only (where the kernel has
/// Landlock). With `limit_memory` the address space is bounded; sanitizers reserve far more of it than they use and
/// bring a limit of their own.
pub(crate) fn run(command: &mut Command, writable: &Path, limits: &Limits, limit_memory: bool) -> io::Result<Finished> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    let memory = limit_memory.then_some(limits.memory);
    let (seconds, file) = (limits.time.as_secs().saturating_add(2), limits.file);
    let files = WriteOnly::below(writable)?;
    let set = move || {
        forget_signals();
        limit(libc::RLIMIT_CORE, 0)?;
        limit(libc::RLIMIT_FSIZE, file)?;
        limit(libc::RLIMIT_CPU, seconds)?;
        files.restrict();
        memory.map_or(Ok(()), |bytes| limit(libc::RLIMIT_AS, bytes))
    };
    // SAFETY: between fork and exec there are only system calls on values prepared before.
    unsafe { command.pre_exec(set) };
    let mut child = command.spawn()?;
    let out = child.stdout.take().map(|pipe| Capture::start(pipe, limits.output));
    let err = child.stderr.take().map(|pipe| Capture::start(pipe, limits.output));
    let exit = wait(&mut child, limits.time)?;
    kill_group(&child);
    let text = |capture: Option<Capture>| capture.map(Capture::finish).unwrap_or_default();
    Ok(Finished { exit, stdout: text(out), stderr: text(err) })
}

/// No signal is ignored, although a shell starts jobs in the background so.
fn forget_signals() {
    for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT, libc::SIGTERM] {
        // SAFETY: the default needs no handler.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
}

pub(crate) fn limit(resource: libc::__rlimit_resource_t, value: u64) -> io::Result<()> {
    let mut now = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls get a valid pointer to a local structure.
    unsafe {
        if libc::getrlimit(resource, &mut now) != 0 {
            return Err(io::Error::last_os_error());
        }
        let value = value.min(now.rlim_max);
        let new = libc::rlimit { rlim_cur: value, rlim_max: value };
        if libc::setrlimit(resource, &new) != 0 {
            return Err(io::Error::last_os_error());
        }
    }
    Ok(())
}

fn wait(child: &mut Child, time: Duration) -> io::Result<Exit> {
    let deadline = Instant::now() + time;
    let bell = Bell::new(child);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(match (status.code(), status.signal()) {
                (Some(code), _) => Exit::Code(code),
                (None, Some(libc::SIGXCPU)) => Exit::TimedOut,
                (None, signal) => Exit::Signal(signal.unwrap_or(0)),
            });
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            kill_group(child);
            child.wait()?;
            return Ok(Exit::TimedOut);
        }
        match &bell {
            Some(bell) => bell.wait(left),
            None => thread::sleep(left.min(Duration::from_millis(2))),
        }
    }
}

/// Rings when the process ends (a pidfd); older kernels have none.
struct Bell(OwnedFd);

impl Bell {
    fn new(child: &Child) -> Option<Self> {
        // SAFETY: takes no pointers; the child is not reaped yet, so its id is still its own.
        let fd = unsafe { libc::syscall(libc::SYS_pidfd_open, child.id(), 0) };
        let fd = i32::try_from(fd).ok().filter(|fd| *fd >= 0)?;
        // SAFETY: a new descriptor that nobody else knows.
        Some(Self(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    fn wait(&self, time: Duration) {
        let milliseconds = i32::try_from(time.as_millis()).unwrap_or(i32::MAX).max(1);
        let mut poll = libc::pollfd { fd: self.0.as_raw_fd(), events: libc::POLLIN, revents: 0 };
        // SAFETY: one valid structure is passed; whatever poll says, the caller looks again.
        unsafe { libc::poll(&raw mut poll, 1, milliseconds) };
    }
}

fn kill_group(child: &Child) {
    let Ok(group) = libc::pid_t::try_from(child.id()) else {
        return;
    };
    // SAFETY: kill takes no pointers; the group was created for this child by `process_group(0)`.
    unsafe { libc::kill(-group, libc::SIGKILL) };
}

/// Reads a pipe in the background, keeping its first bytes; the rest is read and dropped so that the program does
/// not block.
struct Capture(mpsc::Receiver<Vec<u8>>);

impl Capture {
    fn start(mut pipe: impl Read + Send + 'static, keep: usize) -> Self {
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

    /// What came. A descendant that left the process group may keep the pipe open: it is not waited for.
    fn finish(self) -> Vec<u8> {
        let deadline = Instant::now() + PATIENCE;
        let mut all = Vec::new();
        while let Ok(part) = self.0.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            all.extend(part);
        }
        all
    }
}
