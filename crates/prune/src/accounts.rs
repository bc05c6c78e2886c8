//! The nodes whose subtrees are not complete, bounded in memory.
//!
//! *Idea*: a node's account is needed until everything below it is done; those at the top of a long path wait longest and teach last, so they
//! are dropped first. *Direction*: a node without an account yields nothing, and neither does any above it: its parent is older, so its
//! account went before. That costs pruning, never soundness.

use crate::pruner::Open;
use pleach_state::trace::{Access, Run};
use pleach_state::{NodeId, State, Trace};
use rustc_hash::FxHashMap;

pub(crate) struct Accounts {
    of: FxHashMap<NodeId, Open>,
    /// about what they take, and may take
    bytes: usize,
    pub max_bytes: usize,
    /// no node below this one has an account
    oldest: u32,
    newest: u32,
    pub dropped: u64,
}

impl Default for Accounts {
    fn default() -> Accounts {
        Accounts { of: FxHashMap::default(), bytes: 0, max_bytes: usize::MAX, oldest: 0, newest: 0, dropped: 0 }
    }
}

fn size_of_trace(t: &Trace) -> usize {
    t.runs.capacity() * size_of::<Run>() + t.accesses.capacity() * size_of::<Access>()
}

/// What an account does not share with its neighbours, about.
fn size_of_account(o: &Open) -> usize {
    let registers = o.state.frame.regs.len() * size_of::<pleach_memory::Value>();
    // The state at the fork below is as large as the one here; siblings share it.
    2 * (size_of::<State>() + registers) + size_of::<Open>() + size_of_trace(&o.entry) + SHARED
}

/// Parts of persistent maps that changed since the node above, about.
const SHARED: usize = 512;

impl Accounts {
    pub fn contains_key(&self, node: &NodeId) -> bool {
        self.of.contains_key(node)
    }

    pub fn get_mut(&mut self, node: &NodeId) -> Option<&mut Open> {
        self.of.get_mut(node)
    }

    pub fn insert(&mut self, node: NodeId, open: Open) {
        self.bytes += size_of_account(&open);
        self.of.insert(node, open);
        self.newest = self.newest.max(node.0);
        while self.bytes > self.max_bytes && self.oldest < self.newest {
            self.dropped += u64::from(self.remove(&NodeId(self.oldest)).is_some());
            self.oldest += 1;
        }
    }

    pub fn remove(&mut self, node: &NodeId) -> Option<Open> {
        let open = self.of.remove(node)?;
        self.bytes = self.bytes.saturating_sub(size_of_account(&open));
        Some(open)
    }
}
