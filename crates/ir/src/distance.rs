//! How far it is, counted in instructions, to the return of a function and to code not covered yet.
//!
//! The second is KLEE's `md2u`. A call costs itself plus the shortest way through a callee; a call that cannot return
//! has no way through. The way back out of a function depends on the stack and is added by `along_stack`.
//!
//! *Invariant* `to_return(b) = cost(b)` where `b` returns, otherwise `cost(b) + min to_return(succ)`;
//! `md2u(b) = 0` where `b` is uncovered, otherwise the least of `cost(b) + md2u(succ)` and, for each call in `b`,
//! `cost before it + 1 + md2u(entry of a callee)`.

use crate::callgraph::CallGraph;
use crate::cfg::Cfg;
use crate::ids::{BlockId, FuncId, InstId};
use crate::inst::{Callee, Inst};
use crate::program::Program;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// No way there. Sums saturate at it.
pub const UNREACHABLE: u32 = u32::MAX;

/// A block of some function; nodes of one function are consecutive, in block order.
#[derive(Clone, Debug)]
struct Node {
    first: u32,
    end: u32,
    calls: std::ops::Range<u32>,
    succs: Vec<u32>,
    returns: bool,
}

#[derive(Clone, Debug)]
struct CallSite {
    at: u32,
    callees: Vec<FuncId>,
    /// the call itself and the shortest way through
    cost: u32,
}

/// The part that depends on the program alone.
#[derive(Clone, Debug)]
pub struct Distances {
    first_node: Vec<u32>,
    nodes: Vec<Node>,
    calls: Vec<CallSite>,
    preds: Vec<Vec<u32>>,
    /// per node: (a node, instructions from its start to the start of this one), over jumps and calls
    arrivals: Vec<Vec<(u32, u32)>>,
    to_return: Vec<u32>,
    through: Vec<u32>,
}

/// Distances to uncovered code as of one moment.
#[derive(Clone, Debug)]
pub struct ToUncovered {
    dist: Vec<u32>,
}

impl Distances {
    pub fn new(p: &Program, calls: &CallGraph) -> Distances {
        let mut d = Distances {
            first_node: Vec::new(),
            nodes: Vec::new(),
            calls: Vec::new(),
            preds: Vec::new(),
            arrivals: Vec::new(),
            to_return: Vec::new(),
            through: Vec::new(),
        };
        for i in 0..p.functions.len() {
            d.add_function(p, calls, FuncId::new(i));
        }
        d.to_return = vec![UNREACHABLE; d.nodes.len()];
        for group in calls.components() {
            // Ways through only get shorter, so this ends.
            let mut changed = true;
            while changed {
                changed = group.iter().filter(|&&f| d.update_function(f)).count() > 0;
            }
        }
        d.link_arrivals();
        d
    }

    fn add_function(&mut self, p: &Program, graph: &CallGraph, id: FuncId) {
        let (f, base) = (p.function(id), self.nodes.len() as u32);
        self.first_node.push(base);
        // What stands behind a declaration is a model: it returns unless said otherwise.
        self.through.push(if f.is_declaration() && !f.noreturn { 0 } else { UNREACHABLE });
        let cfg = Cfg::new(f);
        for b in (0..f.blocks.len()).map(BlockId::new) {
            let first = f.blocks[b.index()].first.0;
            let first_call = self.calls.len() as u32;
            for (at, inst) in (first..).zip(f.block_insts(b)) {
                let Inst::Call { callee, .. } = inst else { continue };
                let callees = match callee {
                    Callee::Direct(c) => vec![*c],
                    Callee::Indirect(_) => graph.candidates(id, InstId(at)).to_vec(),
                };
                self.calls.push(CallSite { at, callees, cost: UNREACHABLE });
            }
            self.nodes.push(Node {
                first,
                end: first + f.blocks[b.index()].len,
                calls: first_call..self.calls.len() as u32,
                succs: cfg.succs(b).iter().map(|s| base + s.0).collect(),
                returns: matches!(f.terminator(b), Inst::Return { .. }),
            });
            self.preds.push(cfg.preds(b).iter().map(|s| base + s.0).collect());
        }
    }

    fn nodes_of(&self, f: FuncId) -> std::ops::Range<usize> {
        let end = self.first_node.get(f.index() + 1).map_or(self.nodes.len(), |&n| n as usize);
        self.first_node[f.index()] as usize..end
    }

    /// Whether the way through got shorter.
    fn update_function(&mut self, f: FuncId) -> bool {
        let nodes = self.nodes_of(f);
        if nodes.is_empty() {
            return false;
        }
        let sites = self.nodes[nodes.start].calls.start as usize..self.nodes[nodes.end - 1].calls.end as usize;
        for site in &mut self.calls[sites] {
            // A pointer that fits nothing known: count the call alone.
            let way = site.callees.iter().map(|c| self.through[c.index()]).min().unwrap_or(0);
            site.cost = way.saturating_add(1);
        }
        let cost: Vec<u32> = nodes.clone().map(|n| self.walk(n, self.nodes[n].first, |_, _| {})).collect();
        let mut heap = BinaryHeap::new();
        for n in nodes.clone() {
            self.to_return[n] = UNREACHABLE;
            if self.nodes[n].returns && cost[n - nodes.start] != UNREACHABLE {
                self.to_return[n] = cost[n - nodes.start];
                heap.push(Reverse((self.to_return[n], n as u32)));
            }
        }
        while let Some(Reverse((dist, n))) = heap.pop() {
            if dist > self.to_return[n as usize] {
                continue;
            }
            for &p in &self.preds[n as usize] {
                let via = dist.saturating_add(cost[p as usize - nodes.start]);
                if via < self.to_return[p as usize] {
                    self.to_return[p as usize] = via;
                    heap.push(Reverse((via, p)));
                }
            }
        }
        let way = self.to_return[nodes.start];
        let shorter = way < self.through[f.index()];
        self.through[f.index()] = way.min(self.through[f.index()]);
        shorter
    }

    fn link_arrivals(&mut self) {
        let mut arrivals = vec![Vec::new(); self.nodes.len()];
        for n in 0..self.nodes.len() {
            let cost = self.walk(n, self.nodes[n].first, |before, site| {
                for &c in &site.callees {
                    if let Some(entry) = self.entry(c) {
                        arrivals[entry].push((n as u32, before.saturating_add(1)));
                    }
                }
            });
            if cost != UNREACHABLE {
                self.nodes[n].succs.iter().for_each(|&s| arrivals[s as usize].push((n as u32, cost)));
            }
        }
        self.arrivals = arrivals;
    }

    fn entry(&self, f: FuncId) -> Option<usize> {
        let nodes = self.nodes_of(f);
        (!nodes.is_empty()).then_some(nodes.start)
    }

    /// Goes from instruction `from` to the end of its block, shows each call reached with what lies before it, and
    /// gives the cost of it all.
    fn walk(&self, node: usize, from: u32, mut on_call: impl FnMut(u32, &CallSite)) -> u32 {
        let node = &self.nodes[node];
        let (mut cost, mut here) = (0u32, from);
        for site in &self.calls[node.calls.start as usize..node.calls.end as usize] {
            if site.at < from {
                continue;
            }
            cost = cost.saturating_add(site.at - here);
            on_call(cost, site);
            cost = cost.saturating_add(site.cost);
            here = site.at + 1;
            if cost == UNREACHABLE {
                return UNREACHABLE;
            }
        }
        cost.saturating_add(node.end.saturating_sub(here))
    }

    fn node_at(&self, f: FuncId, at: InstId) -> Option<usize> {
        let nodes = self.nodes_of(f);
        let after = self.nodes[nodes.clone()].partition_point(|n| n.first <= at.0);
        let n = nodes.start + after.checked_sub(1)?;
        (at.0 < self.nodes[n].end).then_some(n)
    }

    /// The shortest way from the start of the block up to and with a return.
    pub fn to_return(&self, f: FuncId, b: BlockId) -> u32 {
        self.to_return[self.first_node[f.index()] as usize + b.index()]
    }

    /// The same from an instruction.
    pub fn to_return_at(&self, f: FuncId, at: InstId) -> u32 {
        let Some(n) = self.node_at(f, at) else { return UNREACHABLE };
        let rest = self.walk(n, at.0, |_, _| {});
        if self.nodes[n].returns {
            return rest;
        }
        let next = self.nodes[n].succs.iter().map(|&s| self.to_return[s as usize]).min();
        rest.saturating_add(next.unwrap_or(UNREACHABLE))
    }

    /// The shortest way through the function; 0 for a declaration that returns.
    pub fn through(&self, f: FuncId) -> u32 {
        self.through[f.index()]
    }

    /// Distances to blocks for which `covered` does not hold; to be computed anew as coverage grows.
    pub fn to_uncovered(&self, mut covered: impl FnMut(FuncId, BlockId) -> bool) -> ToUncovered {
        let mut dist = vec![UNREACHABLE; self.nodes.len()];
        let mut heap = BinaryHeap::new();
        for f in (0..self.first_node.len()).map(FuncId::new) {
            for (b, n) in self.nodes_of(f).enumerate() {
                if !covered(f, BlockId::new(b)) {
                    dist[n] = 0;
                    heap.push(Reverse((0, n as u32)));
                }
            }
        }
        while let Some(Reverse((d, n))) = heap.pop() {
            if d > dist[n as usize] {
                continue;
            }
            for &(p, weight) in &self.arrivals[n as usize] {
                let via = d.saturating_add(weight);
                if via < dist[p as usize] {
                    dist[p as usize] = via;
                    heap.push(Reverse((via, p)));
                }
            }
        }
        ToUncovered { dist }
    }
}

impl ToUncovered {
    /// From the start of a block, without returning from its function.
    pub fn from_block(&self, d: &Distances, f: FuncId, b: BlockId) -> u32 {
        self.dist[d.first_node[f.index()] as usize + b.index()]
    }

    /// From an instruction, without returning from its function. Its own block counts as entered.
    pub fn from_inst(&self, d: &Distances, f: FuncId, at: InstId) -> u32 {
        let Some(n) = d.node_at(f, at) else { return UNREACHABLE };
        let mut best = UNREACHABLE;
        let rest = d.walk(n, at.0, |before, site| {
            for entry in site.callees.iter().filter_map(|&c| d.entry(c)) {
                best = best.min(before.saturating_add(1).saturating_add(self.dist[entry]));
            }
        });
        for &s in &d.nodes[n].succs {
            best = best.min(rest.saturating_add(self.dist[s as usize]));
        }
        best
    }

    /// From the top of a stack, given outermost frame first: each outer frame with the instruction it returns to, the
    /// last with the one about to run.
    pub fn along_stack(&self, d: &Distances, frames: impl IntoIterator<Item = (FuncId, InstId)>) -> u32 {
        frames.into_iter().fold(UNREACHABLE, |outside, (f, at)| {
            self.from_inst(d, f, at).min(d.to_return_at(f, at).saturating_add(outside))
        })
    }

    /// Whether any uncovered block is left at all.
    pub fn is_exhausted(&self) -> bool {
        self.dist.iter().all(|&d| d != 0)
    }
}
