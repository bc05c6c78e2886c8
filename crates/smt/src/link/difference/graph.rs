//! Difference bounds `v − u ≤ c` over the integers, one at a time.
//!
//! *Paper*: Cotton and Maler, "Fast and Flexible Difference Constraint Propagation for DPLL(T)" (SAT 2006), §3. *Idea*:
//! the bounds are edges u → v of a graph; the values of the nodes satisfy all edges. A new edge that is violated lowers
//! v, then what depends on v; if that comes back to u, the edge closes a negative cycle, and the cycle is the reason.
//! *Invariant*: after a successful `add`, value(v) ≤ value(u) + c for every edge.

use super::reasons::Reasons;
use smallvec::SmallVec;

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: u16,
    to: u16,
    bound: i128,
    reason: u8,
}

#[derive(Default)]
pub(super) struct Graph {
    edges: Vec<Edge>,
    /// edges that leave each node
    out: Vec<SmallVec<[u16; 8]>>,
    pub value: Vec<i128>,
    /// the edge that lowered a node last
    cause: Vec<u16>,
    waiting: Vec<bool>,
    queue: Vec<u16>,
}

/// Where to go back to.
pub(super) struct Mark {
    edges: usize,
    value: SmallVec<[i128; 16]>,
}

impl Graph {
    pub fn clear(&mut self) {
        self.edges.clear();
        self.out.iter_mut().for_each(SmallVec::clear);
        self.value.clear();
    }

    pub fn node(&mut self) -> u16 {
        let n = self.value.len();
        self.value.push(0);
        if self.out.len() <= n {
            self.out.push(SmallVec::new());
            self.cause.push(0);
            self.waiting.push(false);
        }
        n as u16
    }

    pub fn mark(&self) -> Mark {
        Mark { edges: self.edges.len(), value: SmallVec::from_slice(&self.value) }
    }

    pub fn undo(&mut self, mark: &Mark) {
        while self.edges.len() > mark.edges {
            if let Some(e) = self.edges.pop() {
                self.out[usize::from(e.from)].pop();
            }
        }
        self.value.copy_from_slice(&mark.value);
    }

    /// Adds `to − from ≤ bound`, or says why it cannot be.
    pub fn add(&mut self, from: u16, to: u16, bound: i128, reason: u8) -> Result<(), Reasons> {
        let new = self.edges.len() as u16;
        self.edges.push(Edge { from, to, bound, reason });
        self.out[usize::from(from)].push(new);
        if self.value[usize::from(to)] <= self.value[usize::from(from)] + bound {
            return Ok(());
        }
        let found = self.lower(new);
        for &n in &self.queue {
            self.waiting[usize::from(n)] = false;
        }
        self.queue.clear();
        match found {
            None => Ok(()),
            Some(last) => Err(self.cycle(new, last)),
        }
    }

    /// Lowers what the edge `new` and its followers require; the edge that comes back to its origin, if one does.
    fn lower(&mut self, new: u16) -> Option<u16> {
        let source = self.edges[usize::from(new)].from;
        let first = self.edges[usize::from(new)];
        self.value[usize::from(first.to)] = self.value[usize::from(source)] + first.bound;
        self.cause[usize::from(first.to)] = new;
        self.queue.push(first.to);
        self.waiting[usize::from(first.to)] = true;
        let mut head = 0;
        while head < self.queue.len() {
            let u = usize::from(self.queue[head]);
            head += 1;
            self.waiting[u] = false;
            for i in 0..self.out[u].len() {
                let at = self.out[u][i];
                let e = self.edges[usize::from(at)];
                let v = usize::from(e.to);
                if self.value[v] <= self.value[u] + e.bound {
                    continue;
                }
                if e.to == source {
                    return Some(at);
                }
                self.value[v] = self.value[u] + e.bound;
                self.cause[v] = at;
                if !self.waiting[v] {
                    self.waiting[v] = true;
                    self.queue.push(e.to);
                }
            }
        }
        None
    }

    /// The reasons of the edges from `last` back to `new`.
    // SOUND: without `new` the values satisfied all edges, so each negative cycle holds `new`, and until its origin is
    // reached again the causes form a tree under `new`.
    fn cycle(&self, new: u16, last: u16) -> Reasons {
        let mut reasons = Reasons::default();
        let mut at = last;
        for _ in 0..=self.value.len() {
            let e = self.edges[usize::from(at)];
            reasons.insert(e.reason);
            if at == new {
                break;
            }
            at = self.cause[usize::from(e.from)];
        }
        reasons
    }
}
