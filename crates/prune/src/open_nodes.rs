//! The nodes whose subtrees are not complete, bounded in memory.
//!
//! *Idea*: a node's record is needed until everything below it is done; those at the top of a long path wait longest
//! and teach last, so they are dropped first. As long as no state was subsumed at all, those with long traces between
//! them may take little: a program that runs on and on would fill the memory for nothing. A path that lost its top
//! teaches it the next time. *Direction*: a node without an account yields nothing, and neither does any above it: its
//! parent is older, so its account went before. That costs pruning, never soundness.

use crate::pruner::OpenNode;
use pleach_state::trace::{Access, Run};
use pleach_state::{NodeId, State, Trace};
use rustc_hash::FxHashMap;

pub(crate) struct OpenNodes {
    of: FxHashMap<NodeId, OpenNode>,
    /// about what they take, and may take
    bytes: usize,
    pub max_bytes: usize,
    /// of these, what large ones take
    long: usize,
    /// a state was subsumed
    pub has_subsumed: bool,
    /// no node below this one has an account
    oldest: u32,
    newest: u32,
    pub dropped: u64,
}

impl Default for OpenNodes {
    fn default() -> OpenNodes {
        OpenNodes {
            of: FxHashMap::default(),
            bytes: 0,
            max_bytes: usize::MAX,
            long: 0,
            has_subsumed: false,
            oldest: 0,
            newest: 0,
            dropped: 0,
        }
    }
}

fn size_of_trace(t: &Trace) -> usize {
    t.runs.capacity() * size_of::<Run>() + t.accesses.capacity() * size_of::<Access>()
}

/// What an account does not share with its neighbours, about.
fn open_node_bytes(o: &OpenNode) -> usize {
    let registers = o.state.frame.regs.len() * size_of::<pleach_memory::Value>();
    // The way to the fork above, which siblings share.
    let way = o.origin.as_ref().map_or(0, |s| size_of_trace(s.history.trace()));
    // The state at the fork below is as large as the one here; siblings share it.
    2 * (size_of::<State>() + registers) + size_of::<OpenNode>() + size_of_trace(&o.entry) + way + SHARED
}

/// An account of more bytes is a large one.
const LONG: usize = 8 << 10;
/// What all large ones may take before a state was subsumed.
const AT_FIRST: usize = 2 << 20;

/// Parts of persistent maps that changed since the node above, about.
const SHARED: usize = 512;

impl OpenNodes {
    pub fn contains_key(&self, node: &NodeId) -> bool {
        self.of.contains_key(node)
    }

    pub fn get(&self, node: &NodeId) -> Option<&OpenNode> {
        self.of.get(node)
    }

    pub fn get_mut(&mut self, node: &NodeId) -> Option<&mut OpenNode> {
        self.of.get_mut(node)
    }

    pub fn insert(&mut self, node: NodeId, open: OpenNode) {
        let size = open_node_bytes(&open);
        self.bytes += size;
        self.long += if size > LONG { size } else { 0 };
        self.of.insert(node, open);
        self.newest = self.newest.max(node.0);
        while (self.bytes > self.max_bytes || !self.has_subsumed && self.long > AT_FIRST) && self.oldest < self.newest {
            self.dropped += u64::from(self.remove(&NodeId(self.oldest)).is_some());
            self.oldest += 1;
        }
    }

    pub fn remove(&mut self, node: &NodeId) -> Option<OpenNode> {
        let open = self.of.remove(node)?;
        let size = open_node_bytes(&open);
        self.bytes = self.bytes.saturating_sub(size);
        self.long = self.long.saturating_sub(if size > LONG { size } else { 0 });
        Some(open)
    }
}
