//! What the members of a group have in their path constraints beyond the one that they share, as one tree.
//!
//! *Idea*: the path constraints are lists that share their older links. A link that an earlier member went through is
//! known, so all lists together are read once; the k-th leaf of a loop has k constraints, and their sum is quadratic.
//! *Invariant*: two members are below one node if and only if their constraints up to it are equal.

use crate::measure::TermSizes;
use pleach_expr::{TermId, Terms};
use pleach_state::PathConstraint;
use rustc_hash::FxHashMap;

#[derive(Clone, Debug)]
struct SuffixNode {
    constraint: TermId,
    parent: usize,
    /// by their first members
    children: Vec<usize>,
    /// members that have no further constraints
    ending: Vec<usize>,
    /// how many members are here and below
    members: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Suffixes {
    nodes: Vec<SuffixNode>,
    /// by member: where it ends
    ends: Vec<usize>,
    child: FxHashMap<(usize, TermId), usize>,
}

/// Above all constraints.
pub(crate) const ROOT: usize = 0;

impl Suffixes {
    fn empty() -> Suffixes {
        let root = SuffixNode { constraint: Terms::TRUE, parent: ROOT, children: vec![], ending: vec![], members: 0 };
        Suffixes { nodes: vec![root], ends: Vec::new(), child: FxHashMap::default() }
    }

    /// Of path constraints that extend `before`; `None` if one does not.
    pub fn of<'a>(paths: impl Iterator<Item = &'a PathConstraint>, before: &PathConstraint) -> Option<Suffixes> {
        let mut all = Suffixes::empty();
        let mut known = FxHashMap::default();
        for path in paths {
            let further = path.len().checked_sub(before.len())?;
            let mut unknown = Vec::new();
            let mut at = path.newest();
            let mut from = ROOT;
            for _ in 0..further {
                let link = at?;
                if let Some(&node) = known.get(&std::ptr::from_ref(link)) {
                    from = node;
                    break;
                }
                unknown.push(link);
                at = link.before.as_deref();
            }
            let reached = unknown.len() == further;
            if reached && at.map(std::ptr::from_ref) != before.newest().map(std::ptr::from_ref) {
                return None;
            }
            for link in unknown.into_iter().rev() {
                from = all.below(from, link.constraint);
                known.insert(std::ptr::from_ref(link), from);
            }
            all.end(from);
        }
        all.count();
        Some(all)
    }

    #[cfg(test)]
    pub fn of_lists(lists: &[Vec<TermId>]) -> Suffixes {
        let mut all = Suffixes::empty();
        for list in lists {
            let end = list.iter().fold(ROOT, |from, c| all.below(from, *c));
            all.end(end);
        }
        all.count();
        all
    }

    /// The node behind this one and the constraint.
    fn below(&mut self, parent: usize, constraint: TermId) -> usize {
        let next = self.nodes.len();
        let node = *self.child.entry((parent, constraint)).or_insert(next);
        if node == next {
            self.nodes[parent].children.push(node);
            self.nodes.push(SuffixNode { constraint, parent, children: vec![], ending: vec![], members: 0 });
        }
        node
    }

    fn end(&mut self, node: usize) {
        self.nodes[node].ending.push(self.ends.len());
        self.ends.push(node);
    }

    /// Children come behind their parents.
    fn count(&mut self) {
        for i in (0..self.nodes.len()).rev() {
            self.nodes[i].members += self.nodes[i].ending.len();
            let (members, parent) = (self.nodes[i].members, self.nodes[i].parent);
            if i != ROOT {
                self.nodes[parent].members += members;
            }
        }
    }

    pub fn members(&self, node: usize) -> usize {
        self.nodes[node].members
    }

    /// The only member at and below a node.
    pub fn only_member(&self, node: usize) -> Option<usize> {
        match self.nodes[node] {
            SuffixNode { members: 1, ref ending, .. } => ending.first().copied(),
            _ => None,
        }
    }

    /// Goes down as long as all members have the same next constraint, which it adds.
    pub fn follow_common(&self, mut node: usize, common: &mut Vec<TermId>) -> usize {
        while let SuffixNode { children, ending, .. } = &self.nodes[node]
            && let ([only], []) = (&children[..], &ending[..])
        {
            node = *only;
            common.push(self.nodes[node].constraint);
        }
        node
    }

    /// The next constraints and the nodes behind them; `None` if a member has none.
    pub fn next(&self, node: usize) -> Option<Vec<(TermId, usize)>> {
        let n = &self.nodes[node];
        n.ending.is_empty().then(|| n.children.iter().map(|c| (self.nodes[*c].constraint, *c)).collect())
    }

    /// How many members there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// All constraints of a member, oldest first.
    pub fn of_member(&self, member: usize) -> Vec<TermId> {
        let mut all = Vec::new();
        let mut at = self.ends[member];
        while at != ROOT {
            all.push(self.nodes[at].constraint);
            at = self.nodes[at].parent;
        }
        all.reverse();
        all
    }

    /// Nodes of all members' constraints.
    pub fn size(&self, terms: &Terms, sizes: &mut TermSizes) -> u64 {
        let constraints = self.nodes.iter().skip(1);
        let counted = constraints.map(|n| sizes.of(terms, n.constraint).saturating_mul(n.members as u64));
        counted.fold(0u64, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::{Model, SymbolKind};
    use std::rc::Rc;

    fn add(terms: &mut Terms, path: &mut PathConstraint, constraint: TermId) {
        let relevant = path.relevant(terms, constraint);
        path.add(terms, constraint, constraint, &relevant, Rc::new(Model::new()));
    }

    /// Paths that leave a loop, one in each round.
    #[test]
    fn each_link_is_read_once() {
        let mut t = Terms::new(64);
        let bits: Vec<TermId> = (0..8)
            .map(|i| {
                let s = t.symbols.named(&format!("b{i}"), SymbolKind::Bits(1));
                t.var(s)
            })
            .collect();
        let mut before = PathConstraint::default();
        add(&mut t, &mut before, bits[0]);
        let (mut inside, mut left, mut lists) = (before.clone(), Vec::new(), Vec::new());
        let mut so_far = Vec::new();
        for &b in &bits[1..] {
            let (mut leaves, not) = (inside.clone(), t.not(b));
            add(&mut t, &mut leaves, b);
            left.push(leaves);
            lists.push([&so_far[..], &[b]].concat());
            add(&mut t, &mut inside, not);
            so_far.push(not);
        }
        let found = Suffixes::of(left.iter(), &before).expect("all extend it");
        // Two sides of each round and the root; the last side that stays inside is nobody's.
        assert_eq!(found.nodes.len(), 2 * lists.len());
        for (m, list) in lists.iter().enumerate() {
            assert_eq!(found.of_member(m), *list);
            assert_eq!(left[m].since(&before).as_ref(), Some(list));
        }
        let size: u64 = lists.iter().map(|l| TermSizes::default().all(&t, l)).sum();
        assert_eq!(found.size(&t, &mut TermSizes::default()), size);
        // One that was not made from it, and one that was made before it.
        let mut other = PathConstraint::default();
        add(&mut t, &mut other, bits[1]);
        add(&mut t, &mut other, bits[2]);
        assert!(Suffixes::of([&left[0], &other].into_iter(), &before).is_none());
        assert!(Suffixes::of([&PathConstraint::default()].into_iter(), &before).is_none());
        // One that is all that they share has nothing further.
        let found = Suffixes::of([&before, &left[0]].into_iter(), &before).expect("both extend it");
        assert_eq!((found.of_member(0), found.next(ROOT)), (vec![], None));
    }
}
