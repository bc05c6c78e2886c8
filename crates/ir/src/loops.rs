//! Natural loops: headers, bodies, exits, nesting.
//!
//! A back edge goes to a block that dominates its source; the loops of one header are one loop. Two loops are nested
//! or disjoint. A cycle entered in two places has no dominating header and forms no loop: the retreating edge that
//! closes it is kept in `irreducible`, so that every cycle passes a header or the target of such an edge.

use crate::bitset::BitSet;
use crate::cfg::Cfg;
use crate::dominators::Dominators;
use crate::ids::BlockId;

/// A loop within its function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct LoopId(pub u32);

impl LoopId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
pub struct Loop {
    pub header: BlockId,
    /// sources of the back edges
    pub latches: Vec<BlockId>,
    /// all blocks, those of inner loops and the header included
    pub body: BitSet,
    /// edges from a block of the body to one outside
    pub exits: Vec<(BlockId, BlockId)>,
    /// the loop around this one
    pub parent: Option<LoopId>,
    pub children: Vec<LoopId>,
    /// 1 for an outermost loop
    pub depth: u32,
}

impl Loop {
    pub fn contains(&self, b: BlockId) -> bool {
        self.body.contains(b.index())
    }
}

#[derive(Clone, Debug)]
pub struct Loops {
    loops: Vec<Loop>,
    innermost: Vec<Option<LoopId>>,
    irreducible: Vec<(BlockId, BlockId)>,
}

/// By block: the body of the loop that begins there. Who counts the rounds of a loop and who reasons about that count
/// must agree on which edges go back.
pub fn bodies_by_header(f: &crate::Function) -> Vec<Option<BitSet>> {
    let mut bodies = vec![None; f.blocks.len()];
    if !f.blocks.is_empty() {
        let cfg = Cfg::new(f);
        for l in Loops::new(&cfg, &Dominators::new(&cfg)).loops {
            bodies[l.header.index()] = Some(l.body);
        }
    }
    bodies
}

impl Loops {
    pub fn new(cfg: &Cfg, dom: &Dominators) -> Loops {
        let (found, irreducible) = back_edges(cfg, dom);
        let mut loops: Vec<Loop> = Vec::with_capacity(found.len());
        let mut innermost: Vec<Option<LoopId>> = vec![None; cfg.len()];
        // Headers come in reverse post-order, so an enclosing loop always comes before those it holds.
        for (header, latches) in found {
            let id = LoopId(loops.len() as u32);
            let parent = innermost[header.index()];
            let depth = parent.map_or(1, |p| loops[p.index()].depth + 1);
            if let Some(p) = parent {
                loops[p.index()].children.push(id);
            }
            let body = natural_body(cfg, header, &latches);
            for b in body.iter() {
                innermost[b] = Some(id);
            }
            let exits = exits(cfg, &body);
            loops.push(Loop { header, latches, body, exits, parent, children: Vec::new(), depth });
        }
        Loops { loops, innermost, irreducible }
    }

    /// Outer loops before inner ones.
    pub fn iter(&self) -> impl Iterator<Item = (LoopId, &Loop)> {
        self.loops.iter().enumerate().map(|(i, l)| (LoopId(i as u32), l))
    }
    pub fn len(&self) -> usize {
        self.loops.len()
    }
    pub fn is_empty(&self) -> bool {
        self.loops.is_empty()
    }
    pub fn get(&self, id: LoopId) -> &Loop {
        &self.loops[id.index()]
    }
    /// The smallest loop around `b`.
    pub fn innermost(&self, b: BlockId) -> Option<LoopId> {
        self.innermost[b.index()]
    }
    /// How many loops are around `b`.
    pub fn depth(&self, b: BlockId) -> u32 {
        self.innermost(b).map_or(0, |l| self.get(l).depth)
    }
    /// The loop `b` is the header of.
    pub fn headed_by(&self, b: BlockId) -> Option<LoopId> {
        // A header's innermost loop is its own: an inner loop would have to be dominated by another header.
        self.innermost(b).filter(|&l| self.get(l).header == b)
    }
    /// Retreating edges whose target does not dominate their source.
    pub fn irreducible(&self) -> &[(BlockId, BlockId)] {
        &self.irreducible
    }
    /// Headers and targets of irreducible edges, ascending: every cycle passes one.
    pub fn cut_points(&self) -> Vec<BlockId> {
        let headers = self.loops.iter().map(|l| l.header);
        let mut all: Vec<BlockId> = headers.chain(self.irreducible.iter().map(|&(_, to)| to)).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

type Headers = Vec<(BlockId, Vec<BlockId>)>;

fn back_edges(cfg: &Cfg, dom: &Dominators) -> (Headers, Vec<(BlockId, BlockId)>) {
    let (mut headers, mut irreducible) = (Headers::new(), Vec::new());
    for &to in cfg.reverse_post_order() {
        let mut latches = Vec::new();
        for &from in cfg.preds(to) {
            if dom.dominates(to, from) {
                latches.push(from);
            } else if cfg.position(from).is_some_and(|p| Some(p) >= cfg.position(to)) {
                irreducible.push((from, to));
            }
        }
        if !latches.is_empty() {
            headers.push((to, latches));
        }
    }
    (headers, irreducible)
}

/// Everything that reaches a latch without passing the header.
fn natural_body(cfg: &Cfg, header: BlockId, latches: &[BlockId]) -> BitSet {
    let mut body = BitSet::new(cfg.len());
    body.insert(header.index());
    let mut work: Vec<BlockId> = latches.iter().copied().filter(|b| body.insert(b.index())).collect();
    while let Some(b) = work.pop() {
        for &p in cfg.preds(b) {
            if cfg.is_reachable(p) && body.insert(p.index()) {
                work.push(p);
            }
        }
    }
    body
}

fn exits(cfg: &Cfg, body: &BitSet) -> Vec<(BlockId, BlockId)> {
    let inside = body.iter().map(BlockId::new);
    inside.flat_map(|b| cfg.succs(b).iter().filter(|s| !body.contains(s.index())).map(move |&s| (b, s))).collect()
}
