//! One file per command; those that only read a run directory are in the crate `present`.

pub mod backward;
pub mod configuration;
pub mod explain;
pub mod init;
pub mod ir;
pub mod reach;
pub mod test;
pub mod verify;
pub mod version;
