//! Dominators and post-dominators.
//!
//! *Paper* Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm" (figure 3). *Idea* immediate dominators are
//! refined over the reverse post-order until they stand still; two candidates meet by walking up the tree.
//! *Deviations* the finished tree is numbered so that `dominates` is two comparisons.

use crate::cfg::{Cfg, reverse_post_order};
use crate::ids::BlockId;

const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Tree {
    parent: Vec<u32>,
    enter: Vec<u32>,
    leave: Vec<u32>,
}

impl Tree {
    fn new(root: BlockId, succs: &[Vec<BlockId>], preds: &[Vec<BlockId>]) -> Tree {
        let n = succs.len();
        let rpo = reverse_post_order(root, succs);
        let mut position = vec![NONE; n];
        for (i, b) in rpo.iter().enumerate() {
            position[b.index()] = i as u32;
        }
        let mut parent = vec![NONE; n];
        parent[root.index()] = root.0;
        let mut changed = true;
        while changed {
            changed = false;
            for b in &rpo[1..] {
                let mut best = NONE;
                for p in &preds[b.index()] {
                    if parent[p.index()] == NONE {
                        continue;
                    }
                    best = if best == NONE { p.0 } else { meet(best, p.0, &parent, &position) };
                }
                if parent[b.index()] != best {
                    parent[b.index()] = best;
                    changed = true;
                }
            }
        }
        Tree::number(root, parent, &rpo)
    }

    fn number(root: BlockId, mut parent: Vec<u32>, rpo: &[BlockId]) -> Tree {
        let n = parent.len();
        let mut children: Vec<Vec<u32>> = vec![Vec::new(); n];
        for b in &rpo[1..] {
            children[parent[b.index()] as usize].push(b.0);
        }
        let (mut enter, mut leave) = (vec![NONE; n], vec![0; n]);
        let mut clock = 0;
        let mut stack = vec![(root.0, 0)];
        while let Some((b, next)) = stack.last_mut() {
            if *next == 0 {
                enter[*b as usize] = clock;
                clock += 1;
            }
            match children[*b as usize].get(*next) {
                Some(&c) => {
                    *next += 1;
                    stack.push((c, 0));
                }
                None => {
                    leave[*b as usize] = clock;
                    stack.pop();
                }
            }
        }
        parent[root.index()] = NONE;
        Tree { parent, enter, leave }
    }

    fn is_ancestor(&self, a: usize, b: usize) -> bool {
        self.enter[a] != NONE
            && self.enter[b] != NONE
            && self.enter[a] <= self.enter[b]
            && self.leave[b] <= self.leave[a]
    }
}

fn meet(mut a: u32, mut b: u32, parent: &[u32], position: &[u32]) -> u32 {
    while a != b {
        if position[a as usize] > position[b as usize] {
            a = parent[a as usize];
        } else {
            b = parent[b as usize];
        }
    }
    a
}

/// `a` dominates `b` when every path from the entry to `b` passes `a`. Says nothing of unreachable blocks.
#[derive(Clone, Debug)]
pub struct Dominators {
    tree: Option<Tree>,
}

impl Dominators {
    pub fn new(cfg: &Cfg) -> Dominators {
        let tree = (!cfg.is_empty()).then(|| Tree::new(BlockId(0), cfg.all_succs(), cfg.all_preds()));
        Dominators { tree }
    }
    /// The closest strict dominator; `None` for the entry and for unreachable blocks.
    pub fn immediate(&self, b: BlockId) -> Option<BlockId> {
        let tree = self.tree.as_ref()?;
        Some(tree.parent[b.index()]).filter(|&p| p != NONE).map(BlockId)
    }
    /// Reflexive; false when either block is unreachable.
    pub fn dominates(&self, a: BlockId, b: BlockId) -> bool {
        self.tree.as_ref().is_some_and(|t| t.is_ancestor(a.index(), b.index()))
    }
}

/// `a` post-dominates `b` when every path from `b` to an end of the function passes `a`. Every block without
/// successors is an end, aborting ones included. Says nothing of blocks that reach no end.
#[derive(Clone, Debug)]
pub struct PostDominators {
    tree: Tree,
    exit: usize,
}

impl PostDominators {
    pub fn new(cfg: &Cfg) -> PostDominators {
        // One more block that follows every end: the root of the turned graph.
        let exit = cfg.len();
        let mut succs = cfg.all_preds().to_vec();
        let mut preds = cfg.all_succs().to_vec();
        let ends: Vec<BlockId> = (0..exit).map(BlockId::new).filter(|&b| cfg.succs(b).is_empty()).collect();
        for b in &ends {
            preds[b.index()].push(BlockId::new(exit));
        }
        succs.push(ends);
        preds.push(Vec::new());
        PostDominators { tree: Tree::new(BlockId::new(exit), &succs, &preds), exit }
    }
    /// The closest strict post-dominator; `None` when only the end of the function is one.
    pub fn immediate(&self, b: BlockId) -> Option<BlockId> {
        Some(self.tree.parent[b.index()]).filter(|&p| p != NONE && p as usize != self.exit).map(BlockId)
    }
    /// Reflexive; false when either block reaches no end.
    pub fn post_dominates(&self, a: BlockId, b: BlockId) -> bool {
        self.tree.is_ancestor(a.index(), b.index())
    }
}
