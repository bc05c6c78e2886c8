//! What is kept of every node with an interpolant for an audit: enough to check the way to the next nodes once more.

use crate::pruner::OpenNode;
use pleach_state::trace::Run;
use pleach_state::{End, Exit, ForkKind, NodeId, State, Trace};
use pleach_wp::Condition;
use std::rc::Rc;

/// How the way from a node ended.
#[derive(Clone, Default)]
pub enum AuditOutcome {
    /// at its children
    #[default]
    Inner,
    Ended {
        end: End,
        func: u32,
        inst: u32,
        /// before another instruction was executed
        at_once: bool,
    },
    /// `at` is the subsumed state, `psi` the subsuming interpolant over the objects of that state
    Subsumed { at: Rc<State>, by: NodeId, psi: Condition },
}

pub struct AuditRecord {
    pub node: NodeId,
    pub parent: NodeId,
    pub state: Rc<State>,
    pub psi: Condition,
    pub outcome: AuditOutcome,
    /// by which kind of fork it came from its parent; `None`: where paths meet
    pub fork: Option<ForkKind>,
    /// the run that left the parent's block
    pub entry: Option<Run>,
    /// where the way from the parent ends: at its fork, or here
    pub way: TracePosition,
    /// the parent is a leaf that went into this merged node
    pub merged: bool,
}

/// How far a way goes: the blocks it leaves, and the instruction it stops at.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct TracePosition {
    pub left: usize,
    pub inst: u32,
}

impl TracePosition {
    pub fn of(trace: &Trace, state: &State) -> TracePosition {
        TracePosition { left: trace.runs.iter().filter(|r| r.exit != Exit::Fall).count(), inst: state.inst }
    }
}

impl AuditRecord {
    /// One record, or one for each leaf that went into a merged node.
    pub(crate) fn all(node: NodeId, open: &OpenNode, psi: &Condition) -> Vec<AuditRecord> {
        let one = AuditRecord::new(node, open, psi.clone());
        if open.merged.is_empty() {
            return vec![one];
        }
        let from = |(leaf, way): &(NodeId, Trace)| AuditRecord {
            parent: *leaf,
            entry: way.runs.last().copied(),
            way: TracePosition::of(way, &open.state),
            state: one.state.clone(),
            psi: psi.clone(),
            outcome: one.outcome.clone(),
            merged: true,
            ..one
        };
        open.merged.iter().map(from).collect()
    }

    fn new(node: NodeId, open: &OpenNode, psi: Condition) -> AuditRecord {
        AuditRecord {
            node,
            parent: open.parent,
            state: open.state.clone(),
            psi,
            outcome: open.outcome.clone(),
            fork: open.origin.is_some().then_some(open.fork),
            entry: open.entry.runs.last().copied(),
            way: open.origin.as_ref().map_or_else(
                || TracePosition::of(&open.entry, &open.state),
                |o| TracePosition::of(o.history.trace(), o),
            ),
            merged: false,
        }
    }

    /// The failing side of a check: its edge says why it ended, not its state.
    pub fn by_edge(&self) -> bool {
        matches!(self.fork, Some(ForkKind::Check(_) | ForkKind::Target(None)))
            && matches!(self.outcome, AuditOutcome::Ended { at_once: true, .. })
    }
}
