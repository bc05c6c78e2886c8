//! One file per command.

pub mod export;
pub mod ir;
pub mod replay;
pub mod test;
pub mod version;
