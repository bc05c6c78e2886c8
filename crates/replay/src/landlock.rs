//! Landlock: a process gives up writing anywhere but in one directory.
//!
//! INCOMPLETE: kernels without Landlock do not restrict anything; reading and the network are not restricted at all.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const CREATE_RULESET: libc::c_long = 444;
const ADD_RULE: libc::c_long = 445;
const RESTRICT_SELF: libc::c_long = 446;
const RULE_PATH_BENEATH: libc::c_int = 1;
const WRITE_FILE: u64 = 1 << 1;
/// Writing, and removing and making every kind of entry: the write rights of the first version.
const WRITES: u64 = WRITE_FILE | 0x1ff << 4;
/// Linking and renaming from one directory to another, below the allowed one; without it the kernel refuses them.
const REFER: u64 = 1 << 13;

#[repr(C)]
struct RulesetAttributes {
    handled_access_fs: u64,
}

#[repr(C, packed)]
struct PathBeneath {
    allowed_access: u64,
    parent_fd: i32,
}

/// A restriction prepared before the fork.
pub(crate) struct WriteOnly {
    directory: CString,
}

impl WriteOnly {
    /// Writing below `directory` (and to `/dev/null`) stays allowed.
    pub fn below(directory: &Path) -> io::Result<Self> {
        Ok(Self { directory: CString::new(directory.as_os_str().as_bytes())? })
    }

    /// Restricts the calling process, as far as the kernel can. Only system calls: usable after a fork.
    pub fn restrict(&self) {
        // The first version does not know the second right.
        let Some((ruleset, rights)) = ruleset(WRITES | REFER).or_else(|| ruleset(WRITES)) else {
            return;
        };
        if allow(ruleset, &self.directory, rights) {
            allow(ruleset, c"/dev/null", WRITE_FILE);
            // SAFETY: no pointers are passed.
            unsafe {
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                libc::syscall(RESTRICT_SELF, ruleset, 0 as libc::c_uint);
            }
        }
        // SAFETY: the descriptor was made above and is used nowhere else.
        unsafe { libc::close(ruleset) };
    }
}

fn ruleset(rights: u64) -> Option<(i32, u64)> {
    let attributes = RulesetAttributes { handled_access_fs: rights };
    // SAFETY: the pointer and size are those of the local structure; a failure is a negative result.
    let made = unsafe {
        libc::syscall(CREATE_RULESET, &raw const attributes, size_of::<RulesetAttributes>(), 0 as libc::c_uint)
    };
    i32::try_from(made).ok().filter(|r| *r >= 0).map(|r| (r, rights))
}

fn allow(ruleset: i32, path: &std::ffi::CStr, access: u64) -> bool {
    // SAFETY: the path is a terminated string, the rule a local structure; the descriptor is closed here.
    unsafe {
        let parent_fd = libc::open(path.as_ptr(), libc::O_PATH | libc::O_CLOEXEC);
        if parent_fd < 0 {
            return false;
        }
        let rule = PathBeneath { allowed_access: access, parent_fd };
        let added = libc::syscall(ADD_RULE, ruleset, RULE_PATH_BENEATH, &raw const rule, 0 as libc::c_uint);
        libc::close(parent_fd);
        added == 0
    }
}
