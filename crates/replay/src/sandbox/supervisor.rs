//! The supervisor: sets up the walls, starts the program inside them, waits for it, hands over what it wrote, and
//! leaves nothing running.
//!
//! *Invariant*: after [`start`]'s clone this process has a copy of the memory of one that may have had other threads.
//! Locks may be held forever, so nothing here allocates, prints or panics; there are only system calls on values
//! prepared before.

#![allow(unsafe_code)]

use std::ffi::CStr;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags, RawDir, open, openat, sendfile};
use rustix::io::{Errno, Result};
use rustix::process::{
    DumpableBehavior, Pid, PidfdFlags, Signal, WaitOptions, WaitStatus, chdir, getpid, kill_process, pidfd_open,
    set_child_subreaper, set_dumpable_behavior, setsid, umask, wait,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, clear_ambient_capability_set, set_capabilities, set_no_new_privs,
    set_thread_groups, set_thread_res_gid, set_thread_res_uid, unshare_unsafe,
};

use super::LARGEST_LOG;
use super::prepared::{Ends, Prepared, User, Walls};
use super::protocol::{Message, Step};

type Done = std::result::Result<(), (Step, Errno)>;

// The descriptors after `keep`.
const STATUS: RawFd = 3;
const LIFE: RawFd = 4;
const NOTES: RawFd = 5;
const LOG: RawFd = 6;

/// How often orphans are reaped.
const ROUND: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Starts a supervisor.
pub(super) fn start(prepared: &mut Prepared, ends: &Ends) -> std::result::Result<Pid, super::Refusal> {
    const NAMESPACES: i32 =
        libc::CLONE_NEWNS | libc::CLONE_NEWPID | libc::CLONE_NEWNET | libc::CLONE_NEWIPC | libc::CLONE_NEWUTS;
    let flags = match &prepared.walls {
        Walls::Namespaces { user: User::Same { .. }, .. } => NAMESPACES | libc::CLONE_NEWUSER,
        Walls::Namespaces { user: User::Other(..), .. } => NAMESPACES,
        Walls::Landlock(_) => 0,
    };
    let vectors = prepared.vectors();
    match clone(flags) {
        Ok(Some(child)) => Ok(child),
        Ok(None) => supervise(prepared, &vectors, ends),
        Err(why) if flags != 0 => Err(super::Refusal::Isolation(Step::Namespaces, why.into())),
        Err(why) => Err(super::Refusal::System(why.into())),
    }
}

/// `None` in the child.
fn clone(flags: i32) -> Result<Option<Pid>> {
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    // SAFETY: no memory is shared and no stack is given: as fork does. The child keeps to system calls.
    let pid = unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) };
    match pid {
        0 => Ok(None),
        pid => Pid::from_raw(pid as i32).filter(|_| pid > 0).map(Some).ok_or_else(last_error),
    }
}

pub(super) fn last_error() -> Errno {
    // SAFETY: the C library gives the address of a thread's own variable.
    Errno::from_raw_os_error(unsafe { *libc::__errno_location() })
}

fn supervise(prepared: &mut Prepared, vectors: &[Vec<*const libc::c_char>; 2], ends: &Ends) -> ! {
    let mask = umask(Mode::empty());
    let program = (|| {
        walls_before_closing(prepared)?;
        keep(ends).map_err(|e| (Step::Fork, e))?;
        walls(prepared)?;
        // Nobody looks into this process, though it is the same user's.
        set_dumpable_behavior(DumpableBehavior::NotDumpable).map_err(|e| (Step::Privileges, e))?;
        umask(mask);
        clone(0).map_err(|e| (Step::Fork, e))
    })();
    match program {
        Err((step, why)) => say(Message::Refused(step, why.raw_os_error())),
        Ok(None) => {
            if let Err((step, why)) = become_program(prepared, vectors) {
                say(Message::Refused(step, why.raw_os_error()));
            }
        }
        Ok(Some(program)) => {
            // The pipes end when the program does.
            for fd in 0..3 {
                // SAFETY: this process uses no standard stream.
                unsafe { rustix::io::close(fd) };
            }
            let status = watch_over(program);
            end_descendants(prepared);
            hand_over(prepared);
            say(match (status.exit_status(), status.terminating_signal()) {
                (Some(code), _) => Message::Exited(code),
                (None, signal) => Message::Killed(signal.unwrap_or(0)),
            });
        }
    }
    // SAFETY: ends the process without running anything of the one it was copied from.
    unsafe { libc::_exit(0) }
}

fn say(message: Message) {
    let _ = rustix::io::write(fd(STATUS), &message.to_bytes());
}

fn fd(number: RawFd) -> BorrowedFd<'static> {
    // SAFETY: open from `keep` to the end of the process.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// What needs a descriptor that is not kept.
fn walls_before_closing(prepared: &mut Prepared) -> Done {
    if let Walls::Landlock(rules) = &mut prepared.walls
        && let Some(rules) = rules.take()
    {
        set_child_subreaper(Some(getpid())).map_err(|e| (Step::Privileges, e))?;
        // As far as the kernel knows it.
        let _ = rules.restrict_self();
    }
    Ok(())
}

/// The standard streams and four descriptors more; all others are closed, those of runs at the same time among them.
fn keep(ends: &Ends) -> Result<()> {
    setsid()?;
    let wanted = [ends.stdin, ends.stdout, ends.stderr, ends.status, ends.life, ends.notes, ends.log];
    let mut moved = [0; 7];
    for (to, from) in moved.iter_mut().zip(wanted) {
        // SAFETY: plain calls on numbers of open descriptors.
        *to = unsafe { libc::fcntl(from.as_raw_fd(), libc::F_DUPFD, 16) };
        if *to < 0 {
            return Err(last_error());
        }
    }
    for (to, from) in (0..).zip(moved) {
        let flags = if to < 3 { 0 } else { libc::O_CLOEXEC };
        // SAFETY: as above; nothing of this process uses what is replaced.
        if unsafe { libc::dup3(from, to, flags) } < 0 {
            return Err(last_error());
        }
    }
    // SAFETY: as above. Kernels without this call have no mount attributes either.
    if unsafe { libc::syscall(libc::SYS_close_range, 7, libc::c_uint::MAX, 0) } != 0 {
        return Err(last_error());
    }
    Ok(())
}

fn walls(prepared: &Prepared) -> Done {
    let privileges = |e| (Step::Privileges, e);
    if let Walls::Namespaces { user, layout } = &prepared.walls {
        match user {
            User::Same { users, groups } => {
                map(users, groups).map_err(|e| (Step::User, e))?;
                layout.enter(None)?;
            }
            User::Other(user, group) => {
                layout.enter(Some((*user, *group)))?;
                let become_other = || {
                    set_thread_groups(&[])?;
                    set_thread_res_gid(*group, *group, *group)?;
                    set_thread_res_uid(*user, *user, *user)
                };
                become_other().map_err(privileges)?;
                // One more wall, which needs no map; where the kernel gives none, the others stand.
                // SAFETY: descriptors are not concerned.
                let _ = unsafe { unshare_unsafe(UnshareFlags::NEWUSER) };
            }
        }
        let none = CapabilitySet::empty();
        let _ = clear_ambient_capability_set();
        set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })
            .map_err(privileges)?;
    }
    set_no_new_privs(true).map_err(privileges)
}

fn map(users: &[u8], groups: &[u8]) -> Result<()> {
    put(c"/proc/self/setgroups", b"deny")?;
    put(c"/proc/self/uid_map", users)?;
    put(c"/proc/self/gid_map", groups)
}

fn put(path: &CStr, text: &[u8]) -> Result<()> {
    let file = open(path, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    rustix::io::write(&file, text).map(drop)
}

/// Returns only when that fails.
fn become_program(prepared: &Prepared, vectors: &[Vec<*const libc::c_char>; 2]) -> Done {
    chdir(&*prepared.work).map_err(|e| (Step::Files, e))?;
    for signal in 1..=64 {
        // SAFETY: the default needs no handler. Some cannot be changed, and need not be.
        unsafe { libc::signal(signal, libc::SIG_DFL) };
    }
    prepared.limits.set().map_err(|e| (Step::Limits, e))?;
    prepared.filter.install().map_err(|e| (Step::SystemCalls, e))?;
    // SAFETY: the set is filled before it is used; path and vectors are terminated and live in `prepared`.
    unsafe {
        let mut none = MaybeUninit::uninit();
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), std::ptr::null_mut());
        libc::execve(prepared.program.as_ptr(), vectors[0].as_ptr(), vectors[1].as_ptr());
    }
    Err((Step::Execute, last_error()))
}

/// Waits for the program; ends it when nobody waits for this process any more. Reaps what it leaves behind.
fn watch_over(program: Pid) -> WaitStatus {
    let notifier = pidfd_open(program, PidfdFlags::empty());
    loop {
        while let Ok(Some((pid, status))) = wait(WaitOptions::NOHANG) {
            if pid == program {
                return status;
            }
        }
        let notifier = notifier.as_ref().map_or(fd(LIFE), |notifier| notifier.as_fd());
        let mut events = [fd(LIFE), notifier].map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN));
        let _ = poll(&mut events, Some(&ROUND));
        if events[0].revents().intersects(PollFlags::HUP | PollFlags::ERR) {
            let _ = kill_process(program, Signal::KILL);
        }
    }
}

/// Without a PID namespace: what the program started has become a child of this process, or will when its own parent
/// ends.
fn end_descendants(prepared: &Prepared) {
    if !matches!(prepared.walls, Walls::Landlock(_)) {
        return;
    }
    // Each round ends a generation; new ones may appear meanwhile, but not forever.
    for _ in 0..1000 {
        let mut text = [0; 4096];
        let read = open(c"/proc/thread-self/children", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
            .and_then(|file| rustix::io::read(&file, &mut text));
        let Ok(length @ 1..) = read else { return };
        for word in text[..length].split(|b| *b == b' ') {
            let number =
                word.iter().try_fold(0i32, |n, b| n.checked_mul(10)?.checked_add(i32::from(b.wrapping_sub(b'0'))));
            if let Some(child) = number.and_then(Pid::from_raw) {
                let _ = kill_process(child, Signal::KILL);
            }
        }
        let _ = wait(WaitOptions::empty());
    }
}

/// Copies the notes and the logs to where the caller reads them.
fn hand_over(prepared: &Prepared) {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
    if let Ok(notes) = open(&*prepared.notes, flags, Mode::empty()) {
        let _ = sendfile(fd(NOTES), &notes, None, LARGEST_LOG as usize);
    }
    let (directory, prefix) = &prepared.logs;
    let Ok(directory) = open(&**directory, flags | OFlags::DIRECTORY, Mode::empty()) else { return };
    let mut space = [MaybeUninit::uninit(); 4096];
    let mut entries = RawDir::new(&directory, &mut space);
    let mut left = LARGEST_LOG as usize;
    while let Some(Ok(entry)) = entries.next() {
        if entry.file_name().to_bytes().starts_with(prefix)
            && let Ok(log) = openat(&directory, entry.file_name(), flags, Mode::empty())
        {
            left -= sendfile(fd(LOG), &log, None, left).unwrap_or(0).min(left);
        }
    }
}
