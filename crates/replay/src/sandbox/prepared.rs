//! Everything that the supervisor and the program need, made before the fork: afterwards nothing may be allocated.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::process::{getegid, geteuid};
use rustix::thread::{CapabilitySet, Gid, Uid, capabilities};

use super::filter::Filter;
use super::limits::ProcessLimits;
use super::mounts::Layout;
use super::{Places, Run, Sandbox, landlock};

/// "Nobody": owns nothing.
const NOBODY: u32 = 65534;

/// The descriptors of the supervisor.
pub(super) struct Ends<'a> {
    pub stdin: &'a OwnedFd,
    pub stdout: &'a OwnedFd,
    pub stderr: &'a OwnedFd,
    pub status: &'a OwnedFd,
    pub life: &'a OwnedFd,
    pub notes: &'a OwnedFd,
    pub log: &'a OwnedFd,
}

/// Who the program is.
pub(super) enum User {
    /// The caller may become another user, and does.
    Other(Uid, Gid),
    /// The caller stays itself, in a user namespace with these maps.
    Same { users: Vec<u8>, groups: Vec<u8> },
}

impl User {
    fn choose() -> Self {
        let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::SETUID | CapabilitySet::SETGID | CapabilitySet::CHOWN;
        if capabilities(None).is_ok_and(|c| c.effective.contains(needed)) {
            return User::Other(Uid::from_raw(NOBODY), Gid::from_raw(NOBODY));
        }
        let map = |id: u32| format!("{} {id} 1\n", if id == 0 { NOBODY } else { id }).into_bytes();
        User::Same { users: map(geteuid().as_raw()), groups: map(getegid().as_raw()) }
    }
}

pub(super) enum Walls {
    /// Namespaces.
    Namespaces { user: User, layout: Layout },
    /// Landlock only.
    Landlock(Option<::landlock::RulesetCreated>),
}

pub(super) struct Prepared<'a> {
    pub walls: Walls,
    pub program: CString,
    pub work: CString,
    pub notes: CString,
    /// The directory of the log files, and how their names begin.
    pub logs: (CString, Vec<u8>),
    arguments: Vec<CString>,
    environment: Vec<CString>,
    pub limits: ProcessLimits,
    pub filter: &'a Filter,
}

impl<'a> Prepared<'a> {
    pub fn isolated(sandbox: &'a Sandbox, run: &Run, places: Places) -> io::Result<Self> {
        let layout = Layout::new(run.program, run.input, run.files, sandbox.limits.disk)?;
        Self::new(sandbox, run, places, Walls::Namespaces { user: User::choose(), layout })
    }

    pub fn restricted(sandbox: &'a Sandbox, run: &Run, places: Places, scratch: &Path) -> io::Result<Self> {
        let rules = landlock::rules(scratch, run.program)?;
        Self::new(sandbox, run, places, Walls::Landlock(Some(rules)))
    }

    fn new(sandbox: &'a Sandbox, run: &Run, places: Places, walls: Walls) -> io::Result<Self> {
        let text = |path: &Path| CString::new(path.as_os_str().as_bytes());
        let variables = (run.environment)(&places);
        let (out, log) = (places.log.parent().unwrap_or(Path::new("/")), places.log.file_name().unwrap_or_default());
        Ok(Self {
            walls,
            program: text(&places.program)?,
            work: text(&places.work)?,
            notes: text(&places.notes)?,
            logs: (text(out)?, log.as_bytes().to_vec()),
            arguments: run.arguments.iter().map(|a| CString::new(&a[..])).collect::<Result<_, _>>()?,
            environment: variables
                .iter()
                .map(|(k, v)| format!("{k}={v}").into_bytes())
                .chain(run.variables.iter().cloned())
                .map(CString::new)
                .collect::<Result<_, _>>()?,
            limits: ProcessLimits::new(&sandbox.limits, run.limit_memory, run.serves),
            filter: &sandbox.filter,
        })
    }

    /// Arguments and environment as `execve` takes them.
    pub fn vectors(&self) -> [Vec<*const libc::c_char>; 2] {
        let list = |all: &[CString]| all.iter().map(|s| s.as_ptr()).chain([std::ptr::null()]).collect();
        [list(&self.arguments), list(&self.environment)]
    }
}
