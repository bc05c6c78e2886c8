//! One file per command.

pub mod backward;
pub mod explain;
pub mod export;
pub mod ir;
pub mod reach;
pub mod replay;
pub mod report;
pub mod test;
pub mod verify;
pub mod version;
