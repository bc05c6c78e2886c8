//! Merging states through the execution tree.
//!
//! *Paper*: Memory ch. 5 and 6. *Idea*: the paths that one loop (or call, or marked region) forks into meet again where
//! they leave it. One state then stands for all of them: its path constraint is the disjunction of theirs, and a value
//! that differs becomes an `ite` over the conditions that distinguish them. *Invariant*: for every member, under the
//! constraints that the member has and the merged state's path constraint does not repeat, every location of the merged
//! state has the member's value; and the merged path constraint holds exactly for the inputs of the members.
//! *Direction*: loses no path and adds none; what cannot be expressed is refused and counted.
//!
//! | room | what |
//! |---|---|
//! | [`Merging`] | which states wait where, and when they are ready |
//! | `guard` | the conditions that distinguish the members (Alg. 4–6) |
//! | `suffixes` | what the members' path constraints have beyond the one that they share |
//! | `pattern` | members that differ in how often they went through the same round (ch. 6) |
//! | `held` | states that wait inside a loop for others with the same store (§6.3) |
//! | `trial` | whether merging pays |
//! | `fields` | the rule for each field of a state |
//! | `loops` | the loops of the program and where they are left |
//!
//! ```
//! use pleach_merge::{MergeConfig, MergeScope};
//!
//! let config = MergeConfig { scopes: vec![MergeScope::Marked], ..MergeConfig::default() };
//! assert_eq!(config.marks(), ["klee_open_merge", "klee_close_merge"], "where the program says so");
//! ```

mod check;
mod config;
mod fields;
mod guard;
mod held;
mod loops;
mod measure;
mod pattern;
mod regions;
mod suffixes;
mod trial;
mod wait_budget;
mod waiting;

pub use config::{MergeConfig, MergeEvent, MergeScope};
pub use fields::Refusal;
pub use guard::MergeMethod;
pub use loops::{CLOSE_MERGE, Mark, OPEN_MERGE};
pub use pattern::{NoPattern, PatternText};
pub use regions::Merging;
