//! Which slots still matter: a slot is live where some path reads it before writing it.
//!
//! Copies belong to the edge: `live-out(b) = ∪ₑ copies(e)⁻¹(live-in(target e))`, each copy undone from the last to the
//! first. *Direction* may call a dead slot live (paths are not checked for feasibility), never the other way round.

use crate::bitset::BitSet;
use crate::cfg::{Cfg, block_of};
use crate::defs::{edge_copies, for_each_edge, for_each_operand, for_each_result};
use crate::ids::{BlockId, InstId, Slot};
use crate::inst::{Edge, Inst};
use crate::program::Function;

#[derive(Clone, Debug)]
pub struct Liveness {
    live_in: Vec<BitSet>,
    live_out: Vec<BitSet>,
}

impl Liveness {
    pub fn new(f: &Function, cfg: &Cfg) -> Liveness {
        let none = BitSet::new(f.slots.len());
        let mut live = Liveness { live_in: vec![none.clone(); cfg.len()], live_out: vec![none; cfg.len()] };
        let mut work: Vec<BlockId> = (0..cfg.len()).map(BlockId::new).filter(|&b| !cfg.is_reachable(b)).collect();
        work.extend(cfg.reverse_post_order());
        let mut queued = vec![true; cfg.len()];
        // The last in the reverse post-order comes first off the stack.
        while let Some(b) = work.pop() {
            queued[b.index()] = false;
            let mut set = std::mem::take(&mut live.live_out[b.index()]);
            for_each_edge(f, f.terminator(b), |e| {
                if e.copies.len == 0 {
                    set.union_with(&live.live_in[e.target.index()]);
                } else {
                    set.union_with(&live.before_edge(f, e));
                }
            });
            live.live_out[b.index()] = set.clone();
            for inst in f.block_insts(b).iter().rev() {
                step_back(f, inst, &mut set);
            }
            if live.live_in[b.index()] != set {
                live.live_in[b.index()] = set;
                for &p in cfg.preds(b) {
                    if !std::mem::replace(&mut queued[p.index()], true) {
                        work.push(p);
                    }
                }
            }
        }
        live
    }

    /// Live where the block begins, after the copies of whichever edge led there.
    pub fn live_in(&self, b: BlockId) -> &BitSet {
        &self.live_in[b.index()]
    }
    /// Live after the terminator has read its operands, before the copies of the edge taken.
    pub fn live_out(&self, b: BlockId) -> &BitSet {
        &self.live_out[b.index()]
    }
    /// Live before the copies of this edge.
    pub fn before_edge(&self, f: &Function, e: Edge) -> BitSet {
        let mut set = self.live_in[e.target.index()].clone();
        for c in edge_copies(f, e).iter().rev() {
            set.remove(c.dst.index());
            if let Some(s) = c.src.as_slot() {
                set.insert(s.index());
            }
        }
        set
    }
    /// Live just before the instruction runs; empty when no block holds it.
    pub fn live_at(&self, f: &Function, at: InstId) -> BitSet {
        let Some(b) = block_of(f, at) else { return BitSet::new(f.slots.len()) };
        let first = f.blocks[b.index()].first.index();
        let mut set = self.live_out[b.index()].clone();
        for inst in f.block_insts(b)[at.index() - first..].iter().rev() {
            step_back(f, inst, &mut set);
        }
        set
    }
    pub fn is_live_at(&self, f: &Function, at: InstId, slot: Slot) -> bool {
        self.live_at(f, at).contains(slot.index())
    }
}

fn step_back(f: &Function, inst: &Inst, set: &mut BitSet) {
    for_each_result(f, inst, |s| set.remove(s.index()));
    for_each_operand(f, inst, |o| {
        if let Some(s) = o.as_slot() {
            set.insert(s.index());
        }
    });
}
