//! The links of the chain: each answers what it can and passes the rest to the next one.

pub mod address;
pub mod backend_counter;
pub mod cache;
pub mod checking;
pub mod choices;
pub mod cores;
mod decided;
pub mod difference;
pub mod domain;
pub mod enumerate;
pub mod fallback;
pub mod independence;
pub mod indices;
pub mod instances;
pub mod local_search;
pub mod log;
pub mod models;
pub mod quantified;
pub mod random_sampling;
mod recent;
pub mod rewrite;
pub mod time;
pub mod trivial;
pub mod validate;
