//! The execution tree: one node per fork, shared by every technique. Only `explore` changes it; techniques keep their data in
//! side tables by node id.
//!
//! *Invariant*: the edge conditions of siblings are mutually exclusive; `open` of a node counts its children whose
//! subtrees are not complete; a node is tainted when a path below it was lost.

use pleach_expr::TermId;
use pleach_ir::Span;

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
    /// covered by an interpolant
    Pruned,
    Merged,
}

#[derive(Clone, Copy, Debug)]
pub struct Node {
    pub parent: NodeId,
    /// the condition under which the parent's state became this one
    pub condition: TermId,
    pub span: Span,
    /// children not complete yet
    pub open: u32,
    pub status: Status,
    /// a path below was lost: nothing may be concluded from this subtree
    pub tainted: bool,
    /// number of the test that this leaf produced; 0 none
    pub test: u32,
    first_child: u32,
    last_child: u32,
    next_sibling: u32,
}

/// The root is nobody's child.
const NONE: u32 = 0;

impl Node {
    fn new(parent: NodeId, condition: TermId, span: Span) -> Node {
        Node {
            parent,
            condition,
            span,
            open: 0,
            status: Status::Open,
            tainted: false,
            test: 0,
            first_child: NONE,
            last_child: NONE,
            next_sibling: NONE,
        }
    }

    /// Something below (or the leaf itself) is still to be explored.
    pub fn is_open(&self) -> bool {
        self.status == Status::Open || self.open > 0
    }
}

pub struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    pub fn new() -> Tree {
        Tree { nodes: vec![Node::new(NodeId::ROOT, pleach_expr::Terms::TRUE, Span::default())] }
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &Node)> {
        self.nodes.iter().enumerate().map(|(i, n)| (NodeId(i as u32), n))
    }

    /// A new open leaf below `parent`.
    pub fn grow(&mut self, parent: NodeId, condition: TermId, span: Span) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("fewer than 2^32 nodes"));
        self.nodes.push(Node::new(parent, condition, span));
        let p = &mut self.nodes[parent.index()];
        p.status = Status::Inner;
        p.open += 1;
        let before = std::mem::replace(&mut p.last_child, id.0);
        match before {
            NONE => p.first_child = id.0,
            last => self.nodes[last as usize].next_sibling = id.0,
        }
        id
    }

    /// The children in the order in which they grew.
    pub fn children(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let known = |n: u32| Some(NodeId(n)).filter(|_| n != NONE);
        std::iter::successors(known(self.node(id).first_child), move |c| known(self.node(*c).next_sibling))
    }

    /// The leaf's path has ended. Returns the nodes whose subtrees are complete by that, innermost first (the leaf itself
    /// included).
    pub fn end(&mut self, leaf: NodeId, status: Status, test: u32) -> Vec<NodeId> {
        let n = &mut self.nodes[leaf.index()];
        debug_assert_eq!(n.status, Status::Open, "only open leaves end");
        n.status = status;
        n.test = test;
        if status == Status::Cut {
            n.tainted = true;
        }
        let mut closed = vec![leaf];
        let mut at = leaf;
        while at != NodeId::ROOT {
            let tainted = self.nodes[at.index()].tainted;
            let parent = self.nodes[at.index()].parent;
            let p = &mut self.nodes[parent.index()];
            p.tainted |= tainted;
            p.open -= 1;
            if p.open > 0 {
                // SOUND: the taint must reach every ancestor even though they stay open.
                if tainted {
                    self.taint_above(parent);
                }
                break;
            }
            closed.push(parent);
            at = parent;
        }
        closed
    }

    fn taint_above(&mut self, from: NodeId) {
        let mut at = from;
        while at != NodeId::ROOT {
            at = self.nodes[at.index()].parent;
            if std::mem::replace(&mut self.nodes[at.index()].tainted, true) {
                break;
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
}
