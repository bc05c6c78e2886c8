//! Frames, path constraint, inputs, the state, the execution tree, seams and events.
//!
//! This crate knows no concrete technique.

pub mod assumption;
pub mod checked;
pub mod frame;
pub mod inputs;
pub mod map;
pub mod outcome;
pub mod path;
pub mod reached;
pub mod record;
pub mod seams;
pub mod state;
pub mod step;
pub mod trace;
pub mod tree;
pub mod ways;

pub use assumption::Assumption;
pub use checked::CheckedPruner;
pub use frame::{Callers, Frame, JumpPoint};
pub use inputs::{Input, InputType, Inputs, Origin};
pub use map::{HashMap, OrdMap};
pub use outcome::{Cut, Detail, End, ErrorKind, Leaks, ProgramError, StackLine};
pub use path::{PathConstraint, Relevant};
pub use record::{Decision, Record};
pub use state::{AtExit, Deferred, Phase, State, StateId};
pub use step::{Child, Step};
pub use trace::{Access, Among, Exit, ForkKind, Trace};
pub use tree::{NodeId, Status, Tree};
pub use ways::{Holder, Link, ways};
