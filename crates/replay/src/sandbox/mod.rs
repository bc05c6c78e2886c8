//! Running a stranger's program: isolated from files, processes and the network, and limited in what it uses.
//!
//! The program runs as the child of a *supervisor*, the first process of a PID namespace. Both live in namespaces of
//! their own (user, mount, PID, network, IPC, UTS), as a user without privileges, in a file system that holds what a
//! program needs to start and nothing else. When the program ends, the supervisor hands over what it wrote and ends;
//! the kernel then ends every process of the namespace.
//!
//! [`Isolation::AsFarAsPossible`] runs the program also where the kernel refuses that: below the same supervisor, with
//! the same limits and system calls, and with what Landlock has to offer.

mod capture;
mod filter;
mod landlock;
mod limits;
mod mounts;
mod prepared;
mod protocol;
mod server;
mod supervisor;

use std::fs::File;
use std::io::{self, Read, Seek};
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use crate::arranged::Laid;
use crate::options::{Isolation, Limits};
use capture::Capture;
use filter::Filter;
use prepared::{Ends, Prepared};
use protocol::Message;

pub(crate) use protocol::Step;
pub(crate) use server::{LARGEST_INPUT, Server};

/// Most of a sanitizer's log or of the notes that is kept.
const LARGEST_LOG: u64 = 1 << 20;
/// How long the supervisor may take to end everything.
const KILL_TIMEOUT: Duration = Duration::from_secs(2);

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
    /// What the program wrote to [`Places::notes`].
    pub notes: Vec<u8>,
    /// What it wrote to the files that begin with [`Places::log`].
    pub log: Vec<u8>,
}

/// Why a program could not be run.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The machine does not provide the requested isolation.
    Isolation(Step, io::Error),
    /// Something else.
    System(io::Error),
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Refusal::System(error)
    }
}

impl From<rustix::io::Errno> for Refusal {
    fn from(error: rustix::io::Errno) -> Self {
        Refusal::System(error.into())
    }
}

/// Where the program finds and leaves things, as it sees them.
pub(crate) struct Places {
    /// The file with the input.
    pub input: PathBuf,
    /// A file for notes.
    pub notes: PathBuf,
    /// How the names of log files begin.
    pub log: PathBuf,
    work: PathBuf,
    program: PathBuf,
}

impl Places {
    fn inside() -> Self {
        let own = Path::new("/pleach");
        Places {
            input: own.join("input"),
            notes: own.join("out/notes"),
            log: own.join("out/log"),
            work: "/work".into(),
            program: own.join("program"),
        }
    }

    fn below(scratch: &Path, program: &Path) -> Self {
        Places {
            input: scratch.join("input"),
            notes: scratch.join("out/notes"),
            log: scratch.join("out/log"),
            work: scratch.join("work"),
            program: program.to_owned(),
        }
    }
}

/// A program to run.
pub(crate) struct Run<'a> {
    /// The executable.
    pub program: &'a Path,
    /// Its arguments, the name first.
    pub arguments: Vec<Vec<u8>>,
    /// Its whole environment; may name the places.
    pub environment: &'a dyn Fn(&Places) -> Vec<(&'static str, String)>,
    /// More of it, `NAME=VALUE`.
    pub variables: Vec<Vec<u8>>,
    /// Files in its directory.
    pub files: &'a [Laid],
    /// Its standard input; nothing if there is none.
    pub stdin: Option<OwnedFd>,
    /// Its standard output; captured if there is none.
    pub stdout: Option<OwnedFd>,
    /// The contents of [`Places::input`].
    pub input: &'a [u8],
    /// A directory that may be made and is gone afterwards, for a run without a file system of its own.
    pub scratch: &'a Path,
    /// Whether the address space is bounded. Sanitizers reserve far more of it than they use and bring a limit of their
    /// own.
    pub limit_memory: bool,
    /// Whether it forks for each test ([`Server`]).
    pub serves: bool,
}

/// What runs of one kind share.
pub(crate) struct Sandbox {
    filter: Filter,
    isolation: Isolation,
    limits: Limits,
}

impl Sandbox {
    pub fn new(isolation: Isolation, limits: Limits) -> io::Result<Self> {
        Ok(Self { filter: Filter::new()?, isolation, limits })
    }

    /// Runs the program and waits until it and everything it started is gone.
    pub fn run(&self, run: &Run) -> Result<Finished, Refusal> {
        match self.run_isolated(run) {
            Err(Refusal::Isolation(..)) if self.isolation == Isolation::AsFarAsPossible => self.run_restricted(run),
            other => other,
        }
    }

    fn run_isolated(&self, run: &Run) -> Result<Finished, Refusal> {
        mounts::let_everyone_execute(run.program);
        let mut prepared = Prepared::isolated(self, run, Places::inside())?;
        self.start(run, &mut prepared)
    }

    fn run_restricted(&self, run: &Run) -> Result<Finished, Refusal> {
        let scratch = Scratch::new(run.scratch)?;
        let places = Places::below(&scratch.0, run.program);
        std::fs::create_dir(&places.work)?;
        std::fs::create_dir(scratch.0.join("out"))?;
        std::fs::write(&places.input, run.input)?;
        for file in run.files {
            let path = places.work.join(&file.name);
            match &file.bytes {
                Some(bytes) => std::fs::write(&path, bytes)?,
                None => std::fs::create_dir(&path)?,
            }
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(file.mode))?;
        }
        let mut prepared = Prepared::restricted(self, run, places, &scratch.0)?;
        self.start(run, &mut prepared)
    }

    fn start(&self, run: &Run, prepared: &mut Prepared) -> Result<Finished, Refusal> {
        let (out, out_end) = pipe()?;
        let (err, err_end) = pipe()?;
        let (status, status_end) = pipe()?;
        let (life_end, life) = pipe()?;
        let notes = memfd_create(c"notes", MemfdFlags::CLOEXEC)?;
        let log = memfd_create(c"log", MemfdFlags::CLOEXEC)?;
        let nothing = OwnedFd::from(File::open("/dev/null")?);
        let ends = Ends {
            stdin: run.stdin.as_ref().unwrap_or(&nothing),
            stdout: run.stdout.as_ref().unwrap_or(&out_end),
            stderr: &err_end,
            status: &status_end,
            life: &life_end,
            notes: &notes,
            log: &log,
        };
        let supervisor = supervisor::start(prepared, &ends)?;
        drop((out_end, err_end, status_end, life_end));
        let (out, err) = (Capture::start(out, self.limits.output), Capture::start(err, self.limits.output));
        let ended = wait(supervisor, File::from(status), life, self.limits.time)?;
        Ok(Finished {
            exit: ended,
            stdout: out.finish(),
            stderr: err.finish(),
            notes: contents(notes)?,
            log: contents(log)?,
        })
    }
}

fn pipe() -> rustix::io::Result<(OwnedFd, OwnedFd)> {
    pipe_with(PipeFlags::CLOEXEC)
}

/// Waits for the end of the program, then for that of the supervisor. `life` is what the supervisor lives by.
fn wait(supervisor: Pid, mut status: File, life: OwnedFd, time: Duration) -> Result<Exit, Refusal> {
    let deadline = Instant::now() + time;
    let late = !readable_until(&status, deadline);
    drop(life);
    if late && !readable_until(&status, Instant::now() + KILL_TIMEOUT) {
        let _ = kill_process(supervisor, Signal::KILL);
    }
    let mut text = Vec::new();
    let read = status.read_to_end(&mut text);
    // Reaped only when the last process of its namespace is gone.
    while matches!(waitpid(Some(supervisor), WaitOptions::empty()), Err(rustix::io::Errno::INTR)) {}
    read?;
    let message = Message::first(&text);
    Ok(match message {
        Some(Message::Refused(step, errno)) => {
            let why = io::Error::from_raw_os_error(errno);
            return Err(if step == Step::Execute { Refusal::System(why) } else { Refusal::Isolation(step, why) });
        }
        _ if late => Exit::TimedOut,
        Some(Message::Exited(code)) => Exit::Code(code),
        Some(Message::Killed(libc::SIGXCPU)) => Exit::TimedOut,
        Some(Message::Killed(signal)) => Exit::Signal(signal),
        // The supervisor was killed, by the program where there is no namespace to prevent that.
        None => Exit::Signal(libc::SIGKILL),
    })
}

fn readable_until(file: &File, deadline: Instant) -> bool {
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        let Ok(left) = Timespec::try_from(left) else { return false };
        match poll(&mut [PollFd::new(file, PollFlags::IN)], Some(&left)) {
            Ok(0) => return false,
            Err(rustix::io::Errno::INTR) => {}
            _ => return true,
        }
    }
}

fn contents(file: OwnedFd) -> io::Result<Vec<u8>> {
    let (mut file, mut bytes) = (File::from(file), Vec::new());
    file.rewind()?;
    file.take(LARGEST_LOG).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A directory for one run, gone afterwards.
struct Scratch(PathBuf);

impl Scratch {
    fn new(path: &Path) -> io::Result<Self> {
        let _ = std::fs::remove_dir_all(path);
        std::fs::create_dir_all(path)?;
        Ok(Self(path.to_owned()))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
