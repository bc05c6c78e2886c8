//! A program that was built elsewhere, run once with files and standard streams that are laid out for it: isolated and
//! limited like a replayed program.

use crate::error::{ReplayError, Result};
use crate::options::{Isolation, Limits};
use crate::sandbox::{Exit, Refusal, Run, Sandbox};
use std::os::fd::OwnedFd;
use std::path::Path;

/// A file or a directory in the directory that the program starts in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Laid {
    /// A name without a slash.
    pub name: String,
    /// None: a directory.
    pub bytes: Option<Vec<u8>>,
    /// Its rights.
    pub mode: u32,
}

/// What the program is started with.
pub struct Arranged<'a> {
    /// The executable.
    pub program: &'a Path,
    /// Its arguments, the name first.
    pub arguments: Vec<Vec<u8>>,
    /// Its environment, `NAME=VALUE`.
    pub environment: Vec<Vec<u8>>,
    /// Its files.
    pub files: Vec<Laid>,
    /// Its standard input, if it has one.
    pub stdin: Option<OwnedFd>,
    /// Its standard output, if that is not to be captured.
    pub stdout: Option<OwnedFd>,
    /// A directory that may be made and is gone afterwards, where there is no file system of its own.
    pub scratch: &'a Path,
}

/// How it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// Its time was over.
    TimedOut,
}

/// What it did.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How it ended.
    pub ended: Ended,
    /// What it printed, as far as the limit goes.
    pub stdout: Vec<u8>,
    /// The same, of standard error.
    pub stderr: Vec<u8>,
}

impl Arranged<'_> {
    /// Runs it and waits until everything it started is gone.
    pub fn run(self, isolation: Isolation, limits: Limits) -> Result<Ran> {
        let sandbox = Sandbox::new(isolation, limits).map_err(ReplayError::io("prepare", self.program))?;
        let run = Run {
            program: self.program,
            arguments: self.arguments,
            environment: &|_| Vec::new(),
            variables: self.environment,
            files: &self.files,
            stdin: self.stdin,
            stdout: self.stdout,
            input: &[],
            scratch: self.scratch,
            limit_memory: true,
            serves: false,
        };
        let finished = sandbox.run(&run).map_err(|refusal| match refusal {
            Refusal::Isolation(step, source) => ReplayError::Isolation { missing: step.to_string(), source },
            Refusal::System(source) => ReplayError::io("run", self.program)(source),
        })?;
        let ended = match finished.exit {
            Exit::Code(code) => Ended::Code(code),
            Exit::Signal(number) => Ended::Signal(number),
            Exit::TimedOut => Ended::TimedOut,
        };
        Ok(Ran { ended, stdout: finished.stdout, stderr: finished.stderr })
    }
}
