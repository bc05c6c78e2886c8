//! Inclusions between sets of objects, solved.
//!
//! *Paper*: Pereira, Berlin: Wave propagation and deep propagation for pointer analysis (CGO 2009). *Idea*: variables
//! on a cycle of inclusions have equal sets and become one; then what is new goes through the graph once, in
//! topological order; then loads and stores make inclusions of the objects found since. Repeated until nothing changes.
//! Pointers with equal sets share their inclusions (`Hub`). *Invariant*: the least solution, whatever the order.
//! *Checked by*: `inclusions_tests.rs`, against a solver that only repeats.

use super::sets::Set;
use rustc_hash::FxHashMap;

pub(super) type Node = u32;

#[derive(Clone, Default)]
pub(super) struct Variable {
    /// what it may point to
    pub set: Set,
    /// the part of it that the variables in `copies` have got
    pub given: Set,
    /// the part of it that loads and stores have looked at
    pub seen: Set,
    pub copies: Vec<Node>,
    pub loads: Vec<Node>,
    pub stores: Vec<Node>,
}

impl Variable {
    pub fn accesses(&self) -> bool {
        !self.loads.is_empty() || !self.stores.is_empty()
    }
}

/// Stands between the pointers with one set and the contents of its objects: `n` pointers to `m` objects need `n + m`
/// inclusions.
#[derive(Clone, Copy)]
struct Hub {
    /// ⊇ the contents of each object: what is loaded through such a pointer
    loaded: Node,
    /// ⊆ the contents of each object: what is stored through such a pointer
    stored: Node,
}

#[derive(Default)]
pub(super) struct Inclusions {
    pub variables: Vec<Variable>,
    /// variables that became one: towards the one
    pub parent: Vec<Node>,
    /// contents of object `o` are variable `contents + o`
    contents: Node,
    hubs: FxHashMap<Set, Hub>,
    /// variables whose objects are reported, with those reported so far
    watched: FxHashMap<Node, Set>,
}

impl Inclusions {
    pub fn new(variables: usize, contents: Node) -> Inclusions {
        Inclusions {
            variables: vec![Variable::default(); variables],
            parent: (0..variables as Node).collect(),
            contents,
            hubs: FxHashMap::default(),
            watched: FxHashMap::default(),
        }
    }

    pub fn variable(&mut self) -> Node {
        let node = self.parent.len() as Node;
        self.variables.push(Variable::default());
        self.parent.push(node);
        node
    }

    pub fn root(&mut self, mut x: Node) -> Node {
        while self.parent[x as usize] != x {
            let up = self.parent[self.parent[x as usize] as usize];
            self.parent[x as usize] = up;
            x = up;
        }
        x
    }

    pub fn points_to(&mut self, node: Node) -> Set {
        let r = self.root(node);
        self.variables[r as usize].set.clone()
    }

    /// `object ∈ node`
    pub fn add(&mut self, node: Node, object: u32) {
        let r = self.root(node);
        self.variables[r as usize].set.grow(&Set::one(object));
    }

    /// `to ⊇ from`
    pub fn include(&mut self, from: Node, to: Node) {
        let (from, to) = (self.root(from), self.root(to));
        if from == to {
            return;
        }
        let source = &mut self.variables[from as usize];
        source.copies.push(to);
        let given = source.given.clone();
        // What is not given yet goes with the next wave.
        self.variables[to as usize].set.grow(&given);
    }

    /// `to ⊇ *pointer`
    pub fn load(&mut self, pointer: Node, to: Node) {
        self.access(pointer).loads.push(to);
    }

    /// `*pointer ⊇ value`
    pub fn store(&mut self, pointer: Node, value: Node) {
        self.access(pointer).stores.push(value);
    }

    /// A pointer that is accessed once more: all its objects are looked at again.
    fn access(&mut self, pointer: Node) -> &mut Variable {
        let p = self.root(pointer);
        let p = &mut self.variables[p as usize];
        p.seen = Set::default();
        p
    }

    /// The objects of this variable are told by `solve`.
    pub fn watch(&mut self, node: Node) {
        self.watched.entry(node).or_default();
    }

    /// One wave after the other. Stops where watched variables point to objects that were not told before, and tells
    /// them; empty at the end.
    pub fn solve(&mut self) -> Vec<(Node, Vec<u32>)> {
        loop {
            let order = self.collapse();
            self.wave(&order);
            let grown = self.look(&order);
            let news = self.news();
            if !news.is_empty() || !grown {
                return news;
            }
        }
    }

    fn news(&mut self) -> Vec<(Node, Vec<u32>)> {
        let mut watched = std::mem::take(&mut self.watched);
        let mut news: Vec<(Node, Vec<u32>)> = Vec::new();
        for (&node, told) in &mut watched {
            let all = self.points_to(node);
            let new: Vec<u32> = all.without(told).iter().collect();
            *told = all;
            if !new.is_empty() {
                news.push((node, new));
            }
        }
        self.watched = watched;
        news.sort_unstable();
        news
    }

    /// What is new in each variable goes to those that include it, in topological order.
    fn wave(&mut self, order: &[Node]) {
        for &v in order {
            let from = &self.variables[v as usize];
            if from.set.same(&from.given) {
                continue;
            }
            let (set, before) = (from.set.clone(), from.given.clone());
            let new = set.without(&before);
            for to in from.copies.clone() {
                let target = &mut self.variables[to as usize].set;
                if target.id() == before.id() {
                    *target = set.clone();
                } else {
                    target.grow(&new);
                }
            }
            self.variables[v as usize].given = set;
        }
    }

    /// Loads and stores meet the objects found since the last time; whether something is left for a wave.
    fn look(&mut self, order: &[Node]) -> bool {
        let mut grown = false;
        for &v in order {
            let p = &mut self.variables[v as usize];
            if !p.accesses() || p.set.same(&p.seen) {
                continue;
            }
            let (set, before) = (p.set.clone(), std::mem::replace(&mut p.seen, p.set.clone()));
            let (loads, stores) = (p.loads.clone(), p.stores.clone());
            let hub = self.hub(&set, &before);
            loads.into_iter().for_each(|to| self.include(hub.loaded, to));
            stores.into_iter().for_each(|from| self.include(from, hub.stored));
            grown = true;
        }
        grown
    }

    /// The hub of a set; `before` is a part of it that may have one.
    fn hub(&mut self, set: &Set, before: &Set) -> Hub {
        if let Some(&hub) = self.hubs.get(set) {
            return hub;
        }
        let hub = Hub { loaded: self.variable(), stored: self.variable() };
        self.hubs.insert(set.clone(), hub);
        let known = self.hubs.get(before).copied();
        if let Some(part) = known {
            self.include(part.loaded, hub.loaded);
            self.include(hub.stored, part.stored);
        }
        let rest = if known.is_some() { set.without(before) } else { set.clone() };
        let mut contents: Vec<Node> = rest.iter().map(|o| self.contents + o).collect();
        contents.iter_mut().for_each(|c| *c = self.root(*c));
        contents.sort_unstable();
        contents.dedup();
        for c in contents {
            self.include(c, hub.loaded);
            self.include(hub.stored, c);
        }
        hub
    }
}
