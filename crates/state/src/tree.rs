//! The execution tree: one node per fork, shared by every technique. Only `explore` changes it; techniques keep their
//! data in side tables by node id. Merging makes it a graph without cycles: a merged node has several parents, the
//! leaves that went into it, and is the only child of each.
//!
//! *Invariant*: the edge conditions of siblings are mutually exclusive; `open` of a node counts its children whose
//! subtrees are not complete; a node is tainted when a path below it was lost. A leaf that was merged is complete when
//! the merged node is.

use pleach_expr::TermId;
use pleach_ir::Span;
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl NodeId {
    pub const ROOT: NodeId = NodeId(0);
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// a leaf whose state is still to be explored
    Open,
    /// has children
    Inner,
    Exit,
    Silent,
    Error,
    Cut,
    /// cut by the bound on rounds, of which its interpolant speaks
    Bounded,
    /// subsumed
    Pruned,
    /// went into a merged node, its only child
    Merged,
}

impl Status {
    fn has_children(self) -> bool {
        matches!(self, Status::Inner | Status::Merged)
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Node {
    /// of several, the first: [`Tree::parents`] has them all
    pub parent: NodeId,
    /// the condition under which the parent's state became this one
    pub condition: TermId,
    /// into `Tree::spans`
    span: u32,
    /// children not complete yet
    pub open: u32,
    pub status: Status,
    /// a path below was lost: nothing may be concluded from this subtree
    pub tainted: bool,
    /// a leaf: the number of the test it produced, 0 none; an inner node: its first child
    test_or_child: u32,
    last_child: u32,
    next_sibling: u32,
}

/// The root is nobody's child.
const NONE: u32 = 0;

impl Node {
    fn new(parent: NodeId, condition: TermId, span: u32) -> Node {
        Node {
            parent,
            condition,
            span,
            open: 0,
            status: Status::Open,
            tainted: false,
            test_or_child: 0,
            last_child: NONE,
            next_sibling: NONE,
        }
    }

    /// The number of the test that this leaf produced; 0 none.
    pub fn test(&self) -> u32 {
        if self.status.has_children() { 0 } else { self.test_or_child }
    }

    fn first_child(&self) -> u32 {
        if self.status.has_children() { self.test_or_child } else { NONE }
    }

    /// Something below (or the leaf itself) is still to be explored.
    pub fn is_open(&self) -> bool {
        self.status == Status::Open || self.open > 0
    }
}

/// Nodes are kept in blocks: a tree of millions of nodes is never copied, and never twice in memory.
const BLOCK: usize = 4096;

pub struct Tree {
    blocks: Vec<Vec<Node>>,
    len: usize,
    spans: Vec<Span>,
    span_ids: FxHashMap<Span, u32>,
    /// merged nodes: all their parents
    merged: FxHashMap<NodeId, Vec<NodeId>>,
}

impl Tree {
    pub fn new() -> Tree {
        let (spans, span_ids, merged) = Default::default();
        let mut t = Tree { blocks: Vec::new(), len: 0, spans, span_ids, merged };
        let span = t.span_id(Span::default());
        t.push(Node::new(NodeId::ROOT, pleach_expr::Terms::TRUE, span));
        t
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.blocks[id.index() / BLOCK][id.index() % BLOCK]
    }
    fn node_mut(&mut self, id: NodeId) -> &mut Node {
        &mut self.blocks[id.index() / BLOCK][id.index() % BLOCK]
    }
    fn push(&mut self, n: Node) {
        if self.len.is_multiple_of(BLOCK) {
            // The first block grows as needed: most trees are small.
            self.blocks.push(if self.len == 0 { Vec::new() } else { Vec::with_capacity(BLOCK) });
        }
        self.blocks[self.len / BLOCK].push(n);
        self.len += 1;
    }
    fn span_id(&mut self, s: Span) -> u32 {
        let spans = &mut self.spans;
        *self.span_ids.entry(s).or_insert_with(|| {
            spans.push(s);
            spans.len() as u32 - 1
        })
    }
    /// Where in the source the node was made.
    pub fn span(&self, id: NodeId) -> Span {
        self.spans[self.node(id).span as usize]
    }
    pub fn len(&self) -> usize {
        self.len
    }
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.blocks.iter().flatten().enumerate().map(|(i, n)| (NodeId(i as u32), n))
    }

    /// A new open leaf below `parent`.
    pub fn grow(&mut self, parent: NodeId, condition: TermId, span: Span) -> NodeId {
        let id = NodeId(u32::try_from(self.len).expect("fewer than 2^32 nodes"));
        let span = self.span_id(span);
        self.push(Node::new(parent, condition, span));
        let p = self.node_mut(parent);
        p.status = Status::Inner;
        p.open += 1;
        let before = std::mem::replace(&mut p.last_child, id.0);
        match before {
            NONE => p.test_or_child = id.0,
            last => self.node_mut(NodeId(last)).next_sibling = id.0,
        }
        id
    }

    /// A new open leaf that is nobody's child: the root of a tree of its own.
    pub fn new_root(&mut self, span: Span) -> NodeId {
        let id = NodeId(u32::try_from(self.len).expect("fewer than 2^32 nodes"));
        let span = self.span_id(span);
        self.push(Node::new(id, pleach_expr::Terms::TRUE, span));
        id
    }

    /// The node is the root of the tree, or of one of its own.
    pub fn is_root(&self, id: NodeId) -> bool {
        self.node(id).parent == id
    }

    /// The children in the order in which they grew.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let known = |n: u32| Some(NodeId(n)).filter(|_| n != NONE);
        std::iter::successors(known(self.node(id).first_child()), move |c| known(self.node(*c).next_sibling))
    }

    /// A new open leaf that these open leaves go into: the only child of each.
    pub fn merge(&mut self, leaves: Vec<NodeId>, span: Span) -> NodeId {
        let id = NodeId(u32::try_from(self.len).expect("fewer than 2^32 nodes"));
        let span = self.span_id(span);
        self.push(Node::new(leaves.first().copied().unwrap_or(id), pleach_expr::Terms::TRUE, span));
        for &leaf in &leaves {
            let n = self.node_mut(leaf);
            debug_assert_eq!(n.status, Status::Open, "only open leaves are merged");
            (n.status, n.open, n.test_or_child, n.last_child) = (Status::Merged, 1, id.0, id.0);
        }
        self.merged.insert(id, leaves);
        id
    }

    /// The nodes above: none for a root, several for a merged node.
    pub fn parents(&self, id: NodeId) -> &[NodeId] {
        match self.merged.get(&id) {
            Some(parents) => parents,
            None if self.is_root(id) => &[],
            None => std::slice::from_ref(&self.node(id).parent),
        }
    }

    /// The node, or one above it, is a merged one.
    pub fn is_below_merge(&self, id: NodeId) -> bool {
        let above = |at: &NodeId| (!self.is_root(*at)).then(|| self.node(*at).parent);
        !self.merged.is_empty() && std::iter::successors(Some(id), above).any(|n| self.merged.contains_key(&n))
    }

    /// The leaf's path has ended. Returns the nodes whose subtrees are complete by that, innermost first (the leaf
    /// itself included).
    pub fn end(&mut self, leaf: NodeId, status: Status, test: u32) -> Vec<NodeId> {
        let n = self.node_mut(leaf);
        debug_assert_eq!(n.status, Status::Open, "only open leaves end");
        n.status = status;
        n.test_or_child = test;
        if status == Status::Cut {
            n.tainted = true;
        }
        let mut closed = vec![leaf];
        let mut next = 0;
        while let Some(&at) = closed.get(next) {
            next += 1;
            let tainted = self.node(at).tainted;
            for i in 0..self.parents(at).len() {
                let parent = self.parents(at)[i];
                let p = self.node_mut(parent);
                p.tainted |= tainted;
                p.open -= 1;
                if p.open == 0 {
                    closed.push(parent);
                } else if tainted {
                    // SOUND: the taint must reach every ancestor even though they stay open.
                    self.taint_above(parent);
                }
            }
        }
        closed
    }

    /// The leaf, which was subsumed, is open again, and so is everything above it.
    pub fn reopen(&mut self, leaf: NodeId) {
        let n = self.node_mut(leaf);
        debug_assert_eq!(n.status, Status::Pruned, "only subsumed leaves open again");
        (n.status, n.test_or_child) = (Status::Open, 0);
        let mut todo = vec![leaf];
        while let Some(at) = todo.pop() {
            for i in 0..self.parents(at).len() {
                let parent = self.parents(at)[i];
                let p = self.node_mut(parent);
                p.open += 1;
                if p.open == 1 {
                    todo.push(parent);
                }
            }
        }
    }

    fn taint_above(&mut self, from: NodeId) {
        let mut todo = vec![from];
        while let Some(at) = todo.pop() {
            for i in 0..self.parents(at).len() {
                let parent = self.parents(at)[i];
                if !std::mem::replace(&mut self.node_mut(parent).tainted, true) {
                    todo.push(parent);
                }
            }
        }
    }
}

impl Default for Tree {
    fn default() -> Self {
        Tree::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::Terms;

    #[test]
    fn nodes_close_when_their_last_child_ends_and_taint_flows_up() {
        let mut t = Tree::new();
        let s = Span::default();
        let a = t.grow(NodeId::ROOT, Terms::TRUE, s);
        let b = t.grow(NodeId::ROOT, Terms::TRUE, s);
        let c = t.grow(a, Terms::TRUE, s);
        let d = t.grow(a, Terms::TRUE, s);
        assert_eq!(t.children(NodeId::ROOT).collect::<Vec<_>>(), [a, b]);
        assert_eq!(t.children(a).collect::<Vec<_>>(), [c, d]);
        assert_eq!(t.children(b).count(), 0);
        assert_eq!(t.end(c, Status::Cut, 0), vec![c]);
        assert!(t.node(a).tainted && t.node(NodeId::ROOT).tainted && !t.node(b).tainted);
        assert_eq!(t.end(d, Status::Exit, 1), vec![d, a]);
        assert_eq!(t.end(b, Status::Exit, 2), vec![b, NodeId::ROOT]);
    }

    #[test]
    fn a_leaf_that_opens_again_opens_what_closed_with_it() {
        let mut t = Tree::new();
        let s = Span::default();
        let [a, b] = [0; 2].map(|_| t.grow(NodeId::ROOT, Terms::TRUE, s));
        let [c, d] = [0; 2].map(|_| t.grow(a, Terms::TRUE, s));
        assert_eq!(t.end(c, Status::Pruned, 0), [c]);
        assert_eq!(t.end(d, Status::Pruned, 0), [d, a]);
        t.reopen(c);
        t.reopen(d);
        assert!([a, c, d, NodeId::ROOT].iter().all(|n| t.node(*n).is_open()));
        assert_eq!(t.end(b, Status::Exit, 0), [b]);
        assert_eq!(t.end(c, Status::Exit, 0), [c]);
        assert_eq!(t.end(d, Status::Exit, 0), [d, a, NodeId::ROOT]);
    }

    #[test]
    fn merged_leaves_close_with_the_node_they_went_into() {
        let mut t = Tree::new();
        let s = Span::default();
        let [a, b, c] = [0; 3].map(|_| t.grow(NodeId::ROOT, Terms::TRUE, s));
        let (d, e) = (t.grow(a, Terms::TRUE, s), t.grow(a, Terms::TRUE, s));
        let m = t.merge(vec![d, b], s);
        assert_eq!(t.parents(m), [d, b]);
        assert_eq!([d, b].map(|n| t.children(n).collect::<Vec<_>>()), [[m], [m]]);
        assert!(t.node(d).is_open() && t.is_below_merge(m) && !t.is_below_merge(d));
        assert_eq!(t.end(c, Status::Exit, 1), [c]);
        assert_eq!(t.end(m, Status::Exit, 2), [m, d, b]);
        assert_eq!(t.end(e, Status::Exit, 3), [e, a, NodeId::ROOT]);
    }

    #[test]
    fn what_is_lost_below_a_merged_node_taints_all_who_went_into_it() {
        let mut t = Tree::new();
        let s = Span::default();
        let [a, b, c] = [0; 3].map(|_| t.grow(NodeId::ROOT, Terms::TRUE, s));
        let m = t.merge(vec![a, b], s);
        let (x, y) = (t.grow(m, Terms::TRUE, s), t.grow(m, Terms::TRUE, s));
        assert_eq!(t.end(x, Status::Cut, 0), [x]);
        assert!([m, a, b, NodeId::ROOT].iter().all(|n| t.node(*n).tainted) && !t.node(c).tainted && !t.node(y).tainted);
        assert_eq!(t.end(y, Status::Exit, 0), [y, m, a, b]);
    }
}
