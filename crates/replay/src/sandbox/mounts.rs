//! The file system that a program sees: what it needs to start, read-only, and a few writable directories of bounded
//! size that are gone with it.
//!
//! | path | |
//! |---|---|
//! | `/usr`, `/lib…`, `/bin`, `/etc/ld.so.*` | the machine's, read-only |
//! | `/pleach/program`, `/pleach/input` | the program and the test, read-only |
//! | `/dev/{null,zero,full,random,urandom}` | the machine's |
//! | `/proc` | processes of the own namespace, nothing else, read-only |
//! | `/work` (the working directory), `/tmp`, `/dev/shm` | writable, in memory |
//! | `/pleach/out` | the same, separately: a program that fills the rest does not stop the notes on it |

#![allow(unsafe_code)]

use std::ffi::{CStr, CString};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags, chown, mkdir, open, rmdir, symlink};
use rustix::io::{Errno, Result};
use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change, unmount,
};
use rustix::process::{chdir, pivot_root};
use rustix::thread::{Gid, Uid};

use super::protocol::Step;
use crate::arranged::Laid;

/// What programs need of the machine. Where one is a link, so it is in the sandbox.
pub(super) const SYSTEM: [&str; 11] = [
    "/usr",
    "/lib",
    "/lib64",
    "/lib32",
    "/libx32",
    "/bin",
    "/sbin",
    "/etc/ld.so.cache",
    "/etc/ld.so.conf",
    "/etc/ld.so.conf.d",
    "/etc/alternatives",
];
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// Where the own root is mounted before it becomes the root.
const BASE: &CStr = c"/tmp";
/// Files and directories that may be made in the writable part.
const INODES: u64 = 16 << 10;

/// Options of the part for notes and logs.
const NOTES: &CStr = c"size=8m,nr_inodes=1024,mode=755";

const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID;

/// Something to show at its own path.
enum Shown {
    Directory { from: CString, to: CString },
    File { from: CString, to: CString },
    Device { from: CString, to: CString },
    Link { target: CString, to: CString },
}

/// The file system, described before the fork.
pub(super) struct Layout {
    shown: Vec<Shown>,
    input: Vec<u8>,
    /// What lies in `/work` at the start: where it is made, its bytes (none: a directory), its rights.
    laid: Vec<(CString, Option<Vec<u8>>, u32)>,
    /// Options of the writable part.
    writable: CString,
}

impl Layout {
    pub fn new(program: &Path, input: &[u8], files: &[Laid], size: u64) -> io::Result<Self> {
        let mut shown = Vec::new();
        for path in SYSTEM.map(Path::new) {
            let Ok(found) = path.symlink_metadata() else { continue };
            shown.push(if found.is_symlink() {
                let target = CString::new(std::fs::read_link(path)?.as_os_str().as_bytes())?;
                Shown::Link { target, to: c_path(path)? }
            } else {
                at(path, path)?
            });
        }
        for name in DEVICES {
            let path = Path::new("/dev").join(name);
            if path.exists() {
                shown.push(Shown::Device { from: old(&path)?, to: c_path(&path)? });
            }
        }
        shown.push(at(&program.canonicalize()?, Path::new("/pleach/program"))?);
        let writable = CString::new(format!("size={size},nr_inodes={INODES},mode=755"))?;
        let place = |f: &Laid| CString::new(format!("/rw/work/{}", f.name));
        let laid = files.iter().map(|f| Ok((place(f)?, f.bytes.clone(), f.mode))).collect::<io::Result<_>>()?;
        Ok(Self { shown, input: input.to_vec(), laid, writable })
    }

    /// Makes it the root of the calling process, which needs a mount and a PID namespace of its own. The writable
    /// directories belong to `owner`. Only system calls: usable after a fork.
    pub fn enter(&self, owner: Option<(Uid, Gid)>) -> std::result::Result<(), (Step, Errno)> {
        let files = |e| (Step::Files, e);
        new_root().map_err(files)?;
        for shown in &self.shown {
            shown.show().map_err(files)?;
        }
        self.write_input().map_err(files)?;
        // Before the old one goes: without it the kernel gives no new one.
        processes().map_err(|e| (Step::Processes, e))?;
        self.writable(owner).map_err(files)?;
        remove(c"/old").map_err(files)?;
        attributes(c"/", READ_ONLY | libc::MOUNT_ATTR_NODEV, 0).map_err(files)
    }

    fn write_input(&self) -> Result<()> {
        write_file(c"/pleach/input", &self.input, 0o644)
    }

    /// What the program finds in its directory.
    fn lay_out(&self, owner: Option<(Uid, Gid)>) -> Result<()> {
        for (path, bytes, mode) in &self.laid {
            match bytes {
                Some(bytes) => write_file(path, bytes, *mode)?,
                None => mkdir(&**path, Mode::from(*mode))?,
            }
            give(path, owner)?;
        }
        Ok(())
    }

    /// One part in memory, seen as three directories, and one for the notes.
    fn writable(&self, owner: Option<(Uid, Gid)>) -> Result<()> {
        mkdir(c"/rw", Mode::from(0o755))?;
        let flags = MountFlags::NOSUID | MountFlags::NODEV;
        mount(c"tmpfs", c"/rw", c"tmpfs", flags, Some(&*self.writable))?;
        for (from, to, mode) in
            [(c"/rw/work", c"/work", 0o755), (c"/rw/tmp", c"/tmp", 0o1777), (c"/rw/shm", c"/dev/shm", 0o1777)]
        {
            mkdir(from, Mode::from(mode))?;
            give(from, owner)?;
            mkdir(to, Mode::from(0o755))?;
            mount_bind_recursive(from, to)?;
        }
        self.lay_out(owner)?;
        remove(c"/rw")?;
        mkdir(c"/pleach/out", Mode::from(0o755))?;
        mount(c"tmpfs", c"/pleach/out", c"tmpfs", flags | MountFlags::NOEXEC, Some(NOTES))?;
        give(c"/pleach/out", owner)
    }
}

impl Shown {
    fn show(&self) -> Result<()> {
        let (from, to, forbidden) = match self {
            Shown::Link { target, to } => return symlink(&**target, &**to),
            Shown::Directory { from, to } => {
                mkdir(&**to, Mode::from(0o755))?;
                (from, to, libc::MOUNT_ATTR_NODEV)
            }
            Shown::File { from, to } => (from, to, libc::MOUNT_ATTR_NODEV),
            Shown::Device { from, to } => (from, to, libc::MOUNT_ATTR_NOEXEC),
        };
        if !matches!(self, Shown::Directory { .. }) {
            open(&**to, OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC, Mode::from(0o644))?;
        }
        mount_bind_recursive(&**from, &**to)?;
        attributes(to, READ_ONLY | forbidden, libc::AT_RECURSIVE)
    }
}

/// An empty root in memory, with the machine's at `/old` and the directories that are not shown whole.
fn new_root() -> Result<()> {
    mount_change(c"/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    // Room for the input, which may be large, and links.
    mount(c"tmpfs", BASE, c"tmpfs", flags, Some(c"mode=755"))?;
    mkdir(c"/tmp/old", Mode::from(0o755))?;
    pivot_root(BASE, c"/tmp/old")?;
    chdir(c"/")?;
    for path in [c"/etc", c"/dev", c"/pleach", c"/proc"] {
        mkdir(path, Mode::from(0o755))?;
    }
    for (target, path) in [(c"/proc/self/fd", c"/dev/fd"), (c"/proc/self/fd/0", c"/dev/stdin")] {
        symlink(target, path)?;
    }
    symlink(c"/proc/self/fd/1", c"/dev/stdout")?;
    symlink(c"/proc/self/fd/2", c"/dev/stderr")
}

fn write_file(path: &CStr, bytes: &[u8], mode: u32) -> Result<()> {
    let file = open(path, OFlags::WRONLY | OFlags::CREATE | OFlags::CLOEXEC, Mode::from(mode))?;
    let mut left = bytes;
    while !left.is_empty() {
        left = &left[rustix::io::write(&file, left)?..];
    }
    Ok(())
}

fn remove(mounted: &CStr) -> Result<()> {
    unmount(mounted, UnmountFlags::DETACH)?;
    rmdir(mounted)
}

fn give(path: &CStr, owner: Option<(Uid, Gid)>) -> Result<()> {
    owner.map_or(Ok(()), |(user, group)| chown(path, Some(user), Some(group)))
}

fn processes() -> Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC | MountFlags::RDONLY;
    mount(c"proc", c"/proc", c"proc", flags, Some(c"subset=pid"))
}

/// Sets attributes of a mount; the recursive form needs Linux 5.12.
fn attributes(path: &CStr, set: u64, flags: i32) -> Result<()> {
    let attributes = libc::mount_attr { attr_set: set, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: a path that ends with zero, a local structure and its size.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    if done == 0 { Ok(()) } else { Err(super::supervisor::last_error()) }
}

/// The program runs as a user that may be another than the one who built it. Where the mode cannot be changed, starting
/// it says what is wrong.
pub(super) fn let_everyone_execute(program: &Path) {
    let Ok(found) = std::fs::metadata(program) else { return };
    let mode = found.permissions().mode();
    if mode & 0o555 != 0o555 {
        let _ = std::fs::set_permissions(program, std::fs::Permissions::from_mode(mode | 0o555));
    }
}

fn at(path: &Path, to: &Path) -> io::Result<Shown> {
    let (from, to) = (old(path)?, c_path(to)?);
    Ok(if path.is_dir() { Shown::Directory { from, to } } else { Shown::File { from, to } })
}

/// Where a path of the machine is while the own root is made.
fn old(path: &Path) -> io::Result<CString> {
    let mut bytes = b"/old".to_vec();
    bytes.extend_from_slice(path.as_os_str().as_bytes());
    Ok(CString::new(bytes)?)
}

fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}
