//! The links of the chain: each answers what it can and hands the rest to the next one.

pub mod address;
pub mod cache;
pub mod checking;
pub mod cores;
pub mod count;
pub mod difference;
pub mod domain;
pub mod enumerate;
pub mod fallback;
pub mod guess;
pub mod independence;
pub mod log;
pub mod models;
mod recent;
pub mod rewrite;
pub mod sample;
pub mod time;
pub mod trivial;
pub mod validate;
