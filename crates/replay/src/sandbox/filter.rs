//! The system calls that a replayed program may not make: those that namespaces and missing privileges do not cover,
//! or that are a large part of the kernel for nothing a replay needs.

#![allow(unsafe_code)]

use std::fs::File;
use std::io::{self, Read, Seek};

use libseccomp::{ScmpAction, ScmpArch, ScmpArgCompare, ScmpCompareOp, ScmpFilterContext, ScmpSyscall};
use rustix::fs::{MemfdFlags, memfd_create};

/// Refused as if the privilege were missing.
const DENIED: &[&str] = &[
    // keys of the user, tracing and profiling of the system
    "add_key",
    "keyctl",
    "request_key",
    "bpf",
    "perf_event_open",
    "lookup_dcookie",
    "kcmp",
    "fanotify_init",
    "userfaultfd",
    "syslog",
    "acct",
    "quotactl",
    "quotactl_fd",
    "nfsservctl",
    "vhangup",
    // rings around this filter
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    // namespaces and mounts
    "unshare",
    "setns",
    "mount",
    "umount",
    "umount2",
    "pivot_root",
    "chroot",
    "mount_setattr",
    "move_mount",
    "open_tree",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "name_to_handle_at",
    "open_by_handle_at",
    "swapon",
    "swapoff",
    // the kernel and the machine
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "iopl",
    "ioperm",
    "vm86",
    "vm86old",
    "sethostname",
    "setdomainname",
    "settimeofday",
    "stime",
    "clock_settime",
    "clock_settime64",
    "adjtimex",
    "clock_adjtime",
    "clock_adjtime64",
    // 32-bit programs: the filter cannot see the arguments behind it
    "socketcall",
];

/// Families of sockets that a network namespace contains.
const SOCKETS: [u64; 3] = [libc::AF_UNIX as u64, libc::AF_INET as u64, libc::AF_INET6 as u64];
/// No family has a larger number that this filter needs to distinguish.
const FAMILIES: u64 = 11;

/// What types a letter into the terminal, or moves its selection.
const TERMINAL: [u64; 2] = [libc::TIOCSTI, 0x541C];

const NAMESPACES: u64 = (libc::CLONE_NEWCGROUP
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWUSER
    | libc::CLONE_NEWUTS) as u64;

/// A filter in the form that the kernel takes.
pub(super) struct Filter(Vec<libc::sock_filter>);

impl Filter {
    pub fn new() -> io::Result<Self> {
        let made = rules().map_err(io::Error::other)?;
        let file = memfd_create(c"filter", MemfdFlags::CLOEXEC)?;
        made.export_bpf(&file).map_err(io::Error::other)?;
        let (mut file, mut bytes) = (File::from(file), Vec::new());
        file.rewind()?;
        file.read_to_end(&mut bytes)?;
        let (instructions, _) = bytes.as_chunks::<8>();
        Ok(Self(instructions.iter().map(instruction).collect()))
    }

    /// Binds the calling process, which must have given up new privileges. Only system calls: usable after a fork.
    pub fn install(&self) -> rustix::io::Result<()> {
        let program = libc::sock_fprog { len: self.0.len() as u16, filter: self.0.as_ptr().cast_mut() };
        // SAFETY: the structure and the instructions behind it live until the kernel has copied them.
        let set = unsafe { libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program, 0, 0) };
        if set == 0 { Ok(()) } else { Err(super::supervisor::last_error()) }
    }
}

fn instruction(bytes: &[u8; 8]) -> libc::sock_filter {
    let [c0, c1, jt, jf, k0, k1, k2, k3] = *bytes;
    libc::sock_filter { code: u16::from_ne_bytes([c0, c1]), jt, jf, k: u32::from_ne_bytes([k0, k1, k2, k3]) }
}

fn rules() -> Result<ScmpFilterContext, libseccomp::error::SeccompError> {
    let mut filter = ScmpFilterContext::new(ScmpAction::Allow)?;
    // Programs built with -m32.
    if cfg!(target_arch = "x86_64") {
        filter.add_arch(ScmpArch::X86)?;
    }
    let denied = ScmpAction::Errno(libc::EPERM);
    for name in DENIED {
        // An older library does not know every name; what it cannot name it cannot deny.
        if let Ok(call) = ScmpSyscall::from_name(name) {
            filter.add_rule(denied, call)?;
        }
    }
    let on = |argument, operator, value| ScmpArgCompare::new(argument, operator, value);
    let socket = ScmpSyscall::from_name("socket")?;
    for family in (0..FAMILIES).filter(|f| !SOCKETS.contains(f)) {
        filter.add_rule_conditional(denied, socket, &[on(0, ScmpCompareOp::Equal, family)])?;
    }
    filter.add_rule_conditional(denied, socket, &[on(0, ScmpCompareOp::GreaterEqual, FAMILIES)])?;
    let ioctl = ScmpSyscall::from_name("ioctl")?;
    for request in TERMINAL {
        let low = ScmpCompareOp::MaskedEqual(u64::from(u32::MAX));
        filter.add_rule_conditional(denied, ioctl, &[on(1, low, request)])?;
    }
    // The flags of clone3 lie in memory: without it the C library uses clone.
    filter.add_rule(ScmpAction::Errno(libc::ENOSYS), ScmpSyscall::from_name("clone3")?)?;
    let clone = ScmpSyscall::from_name("clone")?;
    for bit in (0..u64::BITS).map(|b| 1 << b).filter(|b| NAMESPACES & b != 0) {
        filter.add_rule_conditional(denied, clone, &[on(0, ScmpCompareOp::MaskedEqual(bit), bit)])?;
    }
    Ok(filter)
}
