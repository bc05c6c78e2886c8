//! Frames, path constraint, inputs, the state, the execution tree, seams and events.
//!
//! This crate knows no concrete technique.
//!
//! ```
//! use pleach_expr::Terms;
//! use pleach_ir::Span;
//! use pleach_state::{NodeId, Status, Tree};
//!
//! let mut tree = Tree::new();
//! let child = tree.grow(NodeId::ROOT, Terms::TRUE, Span::default());
//! assert_eq!(tree.end(child, Status::Exit, 0), [child, NodeId::ROOT], "a node closes with its last child");
//! ```

pub mod access_path;
pub mod assumption;
pub mod branch_log;
pub mod frame;
pub mod history;
pub mod inputs;
pub mod map;
pub mod merger;
pub mod outcome;
pub mod path;
pub mod pruner;
pub mod reached_set;
pub mod seams;
pub mod state;
pub mod step;
pub mod trace;
pub mod tree;

pub use access_path::{Link, PointerSource, access_paths};
pub use assumption::Assumption;
pub use branch_log::{BranchDecision, BranchLog};
pub use frame::{CallStack, Frame, JumpPoint};
pub use history::History;
pub use inputs::{Input, InputType, Inputs, Origin};
pub use map::{HashMap, OrdMap};
pub use merger::{Fork, Group, Merger, NoMerger, RegionId, StopPoints, TrialCost};
pub use outcome::{Cut, Detail, End, ErrorKind, Leaks, ProgramError, StackLine};
pub use path::{IndependentSlice, PathConstraint};
pub use pruner::{CostSampler, Induction, Interpolator, NoPruner, PruneDecision, Pruner, Subsumption};
pub use state::{AtExit, Deferred, Phase, State, StateId};
pub use step::{Child, Step};
pub use trace::{Access, Exit, ForkKind, MayPointTo, RangeStart, SizeBound, Trace};
pub use tree::{NodeId, Status, Tree};
