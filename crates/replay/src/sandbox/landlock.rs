//! Landlock, for machines that give no namespaces: a process gives up writing anywhere but in one directory, reading
//! anything but what it needs, the network, and signals to others, each as far as the kernel knows it.
//!
//! INCOMPLETE: Landlock does not cover attributes of files (mode, owner, times), and older kernels cover less.

use std::io;
use std::path::Path;

use landlock::{
    ABI, Access, AccessFs, AccessNet, Ruleset, RulesetAttr, RulesetCreated, RulesetCreatedAttr, Scope,
    path_beneath_rules,
};

use super::mounts::SYSTEM;

/// The newest version that this crate was tried with; the kernel's own may be older.
const KNOWN: ABI = ABI::V6;

/// Rules prepared before the fork.
pub(super) fn rules(writable: &Path, program: &Path) -> io::Result<RulesetCreated> {
    let made = || {
        let devices = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];
        Ruleset::default()
            .handle_access(AccessFs::from_all(KNOWN))?
            .handle_access(AccessNet::from_all(KNOWN))?
            .scope(Scope::from_all(KNOWN))?
            .create()?
            .add_rules(path_beneath_rules(SYSTEM, AccessFs::from_read(KNOWN)))?
            .add_rules(path_beneath_rules(["/proc"], AccessFs::from_read(KNOWN)))?
            .add_rules(path_beneath_rules([program], AccessFs::from_read(KNOWN)))?
            .add_rules(path_beneath_rules(devices, AccessFs::from_file(KNOWN)))?
            .add_rules(path_beneath_rules([writable], AccessFs::from_all(KNOWN)))
    };
    made().map_err(io::Error::other)
}
