//! The control-flow graph of one function: who follows whom, and the order of a forward analysis.

use crate::defs::for_each_edge;
use crate::ids::{BlockId, InstId};
use crate::program::Function;

const UNREACHED: u32 = u32::MAX;

/// Successors and predecessors per block, each neighbour listed once however many edges lead there.
#[derive(Clone, Debug)]
pub struct Cfg {
    succs: Vec<Vec<BlockId>>,
    preds: Vec<Vec<BlockId>>,
    rpo: Vec<BlockId>,
    position: Vec<u32>,
}

impl Cfg {
    /// The graph of a function that passes `verify`; empty for a declaration.
    pub fn new(f: &Function) -> Cfg {
        let n = f.blocks.len();
        let mut succs: Vec<Vec<BlockId>> = vec![Vec::new(); n];
        let mut preds: Vec<Vec<BlockId>> = vec![Vec::new(); n];
        // `from` was the last to reach the block: keeps wide switches linear.
        let mut reached_by = vec![UNREACHED; n];
        for (from, out) in succs.iter_mut().enumerate() {
            let from = BlockId::new(from);
            for_each_edge(f, f.terminator(from), |e| {
                let to = e.target;
                if reached_by[to.index()] != from.0 {
                    reached_by[to.index()] = from.0;
                    out.push(to);
                    preds[to.index()].push(from);
                }
            });
        }
        let rpo = if n == 0 { Vec::new() } else { reverse_post_order(BlockId(0), &succs) };
        let mut position = vec![UNREACHED; n];
        for (i, b) in rpo.iter().enumerate() {
            position[b.index()] = i as u32;
        }
        Cfg { succs, preds, rpo, position }
    }

    /// How many blocks there are, reachable or not.
    pub fn len(&self) -> usize {
        self.succs.len()
    }
    pub fn is_empty(&self) -> bool {
        self.succs.is_empty()
    }
    pub fn succs(&self, b: BlockId) -> &[BlockId] {
        &self.succs[b.index()]
    }
    pub fn preds(&self, b: BlockId) -> &[BlockId] {
        &self.preds[b.index()]
    }
    /// The blocks reachable from the entry, each before its successors except along retreating edges.
    pub fn reverse_post_order(&self) -> &[BlockId] {
        &self.rpo
    }
    /// The place of `b` in the reverse post-order; `None` when the entry does not reach it.
    pub fn position(&self, b: BlockId) -> Option<u32> {
        Some(self.position[b.index()]).filter(|&p| p != UNREACHED)
    }
    pub fn is_reachable(&self, b: BlockId) -> bool {
        self.position[b.index()] != UNREACHED
    }

    pub(crate) fn all_succs(&self) -> &[Vec<BlockId>] {
        &self.succs
    }
    pub(crate) fn all_preds(&self) -> &[Vec<BlockId>] {
        &self.preds
    }
}

/// The block that holds an instruction.
pub fn block_of(f: &Function, at: InstId) -> Option<BlockId> {
    let b = f.blocks.partition_point(|b| b.first <= at).checked_sub(1)?;
    (at.index() < f.blocks[b].first.index() + f.blocks[b].len as usize).then(|| BlockId::new(b))
}

/// Without recursion: generated code has functions of many thousand blocks in a row.
pub(crate) fn reverse_post_order(root: BlockId, succs: &[Vec<BlockId>]) -> Vec<BlockId> {
    let mut seen = vec![false; succs.len()];
    let mut order = Vec::new();
    let mut stack = vec![(root, 0)];
    seen[root.index()] = true;
    while let Some((b, next)) = stack.last_mut() {
        match succs[b.index()].get(*next) {
            Some(&s) => {
                *next += 1;
                if !std::mem::replace(&mut seen[s.index()], true) {
                    stack.push((s, 0));
                }
            }
            None => {
                order.push(*b);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
