//! Every slot is written before it is read, on every path from the entry; `Undef` counts as a write.
//!
//! `defined-in(b) = ∩ₑ (defined-out(source e) ∪ copies(e))` over the edges into `b`, from everything downwards;
//! unreachable blocks are not looked at.

use super::{Checker, SourcePlace};
use crate::bitset::BitSet;
use crate::cfg::Cfg;
use crate::defs::{edge_copies, for_each_edge, for_each_operand, for_each_result};
use crate::ids::{BlockId, InstId, Slot};
use crate::inst::{Edge, Inst};

impl Checker<'_> {
    pub(super) fn initialised(&mut self) {
        let f = self.f;
        if f.is_declaration() {
            return;
        }
        let cfg = Cfg::new(f);
        let defined = self.defined_in(&cfg);
        for &b in cfg.reverse_post_order() {
            let mut set = defined[b.index()].clone();
            for (i, inst) in (f.blocks[b.index()].first.0..).zip(f.block_insts(b)) {
                let at = SourcePlace { block: b, inst: InstId(i) };
                let mut early = Vec::new();
                for_each_operand(f, inst, |o| early.extend(o.as_slot().filter(|s| !set.contains(s.index()))));
                for_each_edge(f, inst, |e| early.extend(self.early_copies(&set, e)));
                early.sort_unstable();
                early.dedup();
                for s in early {
                    self.report_at(at, format!("slot %{} is not defined on every path here", s.0));
                }
                define(self, inst, &mut set);
            }
        }
    }

    fn early_copies(&self, before: &BitSet, e: Edge) -> Vec<Slot> {
        let (mut set, mut early) = (before.clone(), Vec::new());
        for c in edge_copies(self.f, e) {
            early.extend(c.src.as_slot().filter(|s| !set.contains(s.index())));
            set.insert(c.dst.index());
        }
        early
    }

    fn defined_in(&self, cfg: &Cfg) -> Vec<BitSet> {
        let f = self.f;
        let all = BitSet::full(f.slots.len());
        let mut entry = BitSet::new(f.slots.len());
        f.params.iter().for_each(|p| _ = entry.insert(p.slot.index()));
        let mut defined = vec![all; cfg.len()];
        defined[0] = entry;
        let mut changed = true;
        while changed {
            changed = false;
            for &b in cfg.reverse_post_order() {
                let mut out = defined[b.index()].clone();
                f.block_insts(b).iter().for_each(|inst| define(self, inst, &mut out));
                for_each_edge(f, f.terminator(b), |e| changed |= self.meet(&mut defined, &out, e));
            }
        }
        defined
    }

    fn meet(&self, defined: &mut [BitSet], out: &BitSet, e: Edge) -> bool {
        let into: &mut BitSet = &mut defined[BlockId::index(e.target)];
        if e.copies.len == 0 {
            return into.intersect_with(out);
        }
        let mut set = out.clone();
        edge_copies(self.f, e).iter().for_each(|c| _ = set.insert(c.dst.index()));
        into.intersect_with(&set)
    }
}

fn define(c: &Checker<'_>, inst: &Inst, set: &mut BitSet) {
    for_each_result(c.f, inst, |s| _ = set.insert(s.index()));
}
