//! Numbers for references, and the arrays that memory is made of.
//!
//! *Paper*: Backward §4.1: null is 0, what is allocated is positive, what the input has is negative; one array per
//! field. *Idea*: groups that one access may refer to form a region. A region has one array per piece of its objects that
//! is accessed as a whole (an atom), indexed by the reference; where offsets vary by multiples of m, by reference and
//! offset. *Invariant*: two accesses that may touch the same byte use the same atoms. *Deviations*: typing is not
//! trusted; a region whose accesses are mixed is split down to bytes, and one with mixed pointers and numbers is broken,
//! which cuts every path that touches it.

use crate::graph::{Context, FrameId, Graph, Via};
use crate::pointers::{Group, GroupId, Offset, Pointer, Pointers, constant, gcd};
use crate::stream::{self, Takes};
use pleach_expr::INDEX_BITS;
use pleach_ir::{Inst, Ty};
use std::collections::BTreeSet;

/// A piece of the objects of a region that is read and written as a whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Atom {
    /// where it is, modulo the region's modulus
    pub at: u64,
    pub bytes: u64,
    pub kind: AtomKind,
}

/// The numbers of its arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AtomKind {
    Bits {
        array: usize,
    },
    /// Offsets are stored only where some are not 0.
    Pointer {
        array: usize,
        offsets: Option<usize>,
    },
}

#[derive(Clone, Debug, Default)]
pub struct Region {
    /// Offsets are known modulo this; 0: exactly.
    pub modulus: u64,
    pub atoms: Vec<Atom>,
    pub broken: Option<&'static str>,
}

pub struct Layout {
    pub ref_bits: u16,
    /// per group: its first and last reference
    pub ranges: Vec<(i64, i64)>,
    region_of: Vec<usize>,
    pub regions: Vec<Region>,
    /// per array: width of an element
    pub arrays: Vec<u16>,
    /// something is freed
    pub has_free: bool,
    /// groups of which an object may be freed
    pub freed: BTreeSet<GroupId>,
}

/// One access before regions are known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Shape {
    m: u64,
    r: i64,
    bytes: u64,
    pointer: bool,
}

#[derive(Default)]
struct Collected {
    shapes: BTreeSet<Shape>,
    /// where copied and filled ranges begin and end
    ends: BTreeSet<i64>,
    /// copies from one known offset to another
    copies: BTreeSet<(i64, i64, i64)>,
    /// a pointer with an offset is stored
    offsets: bool,
    broken: Option<&'static str>,
}

/// References must fit into this many bits, so that the rest of an index is left for offsets.
const MAX_REF_BITS: u16 = 16;

impl Layout {
    pub fn new(pointers: &mut Pointers) -> Result<Layout, String> {
        let graph = pointers.graph;
        let mut parent: Vec<usize> = (0..pointers.groups.len()).collect();
        let mut found: Vec<(GroupId, Collected)> = Vec::new();
        let mut has_free = false;
        let mut freed = BTreeSet::new();
        let many = many(pointers);
        let entry = graph.function(pointers.program, FrameId::ENTRY);
        let parameters = entry.params.iter().filter(|p| p.ty == Ty::Ptr).count() as i64;
        // By node: references that a path from there may read.
        let mut longest = vec![0i64; graph.nodes.len()];
        for &n in &graph.order {
            let node = graph.node(n);
            let f = graph.function(pointers.program, node.frame);
            let mut state = pointers.before[n.index()].clone();
            let mut sources = node.edges.iter().map(|e| longest[e.to.index()]).max().unwrap_or(0);
            if node.havoc.is_some() {
                // Every pointer that the loop writes may be another one.
                sources += f.slots.iter().filter(|s| s.ty == Ty::Ptr).count() as i64;
            }
            for i in node.insts.clone() {
                let (accesses, loads, frees) = Layout::accesses(pointers, graph, n, f, i, &state);
                sources += loads;
                has_free |= frees.is_some();
                freed.extend(frees.unwrap_or_default());
                for (at, one) in accesses {
                    let mut groups = at.groups.iter();
                    let Some(&first) = groups.next() else { continue };
                    groups.for_each(|g| union(&mut parent, first.index(), g.index()));
                    found.push((first, one));
                }
                let ends = pointers.scope_ends(n, f, i, &state);
                has_free |= !ends.is_empty();
                freed.extend(ends);
                pointers.step(n, f, i, &mut state);
            }
            longest[n.index()] = sources;
            if node.edges.iter().any(|e| e.via == Via::Return) {
                let ends = pointers.return_ends(n, f, &state);
                has_free |= !ends.is_empty();
                freed.extend(ends);
            }
        }
        // The analysis is at its fixed point, so no group was added.
        debug_assert_eq!(parent.len(), pointers.groups.len());
        let mut layout = Layout {
            ref_bits: 0,
            ranges: Vec::new(),
            region_of: Vec::new(),
            regions: Vec::new(),
            arrays: Vec::new(),
            has_free,
            freed,
        };
        layout.number(pointers, 1 + parameters + longest[graph.entry.index()], &many)?;
        let sizes = (0..parent.len()).map(|i| pointers.size(GroupId(i as u32))).collect();
        layout.make_regions(&mut parent, found, sizes);
        Ok(layout)
    }

    /// The shapes of one instruction, how many references that nothing else has it may give, and whether it frees.
    fn accesses(
        pointers: &mut Pointers,
        graph: &Graph,
        n: crate::graph::NodeId,
        f: &pleach_ir::Function,
        i: usize,
        state: &crate::pointers::State,
    ) -> (Vec<(Pointer, Collected)>, i64, Option<BTreeSet<GroupId>>) {
        let covers = pointers.covers.is_some();
        let frame = graph.node(n).frame;
        let target = &pointers.program.target;
        let of = |ty: Ty, bytes: u64, at: &Pointer| {
            let o = at.offset.unwrap_or(Offset { m: 1, r: 0 });
            let shape = Shape { m: o.m, r: o.r, bytes, pointer: ty == Ty::Ptr };
            Collected { shapes: BTreeSet::from([shape]), ..Collected::default() }
        };
        let mut out = Vec::new();
        let (mut loads, mut frees) = (0, None);
        match f.insts[i] {
            Inst::Load { ty, ptr, .. } => {
                let bytes = u64::from(target.store_bytes(ty));
                let at = pointers.operand(frame, f, ptr, state);
                loads += i64::from(ty == Ty::Ptr);
                out.push((at.clone(), of(ty, bytes, &at)));
            }
            Inst::Store { ty, ptr, value, .. } => {
                let bytes = u64::from(target.store_bytes(ty));
                let at = pointers.operand(frame, f, ptr, state);
                let mut one = of(ty, bytes, &at);
                if ty == Ty::Ptr {
                    let v = pointers.operand(frame, f, value, state);
                    one.offsets = v.unknown || v.offset.is_some_and(|o| o != Offset::known(0));
                }
                out.push((at, one));
            }
            Inst::MemCopy { dst, src, len, .. } => {
                let (to, from) = (pointers.operand(frame, f, dst, state), pointers.operand(frame, f, src, state));
                let mut one = Collected::default();
                let known = |p: &Pointer| p.offset.and_then(Offset::as_known);
                match (known(&to), known(&from), constant(f, len)) {
                    (Some(t), Some(s), Some(len)) => {
                        one.ends.extend([t, s, t + len as i64, s + len as i64]);
                        one.copies.insert((s, t, len as i64));
                    }
                    _ if covers => {}
                    _ => one.broken = Some("a copy whose ends are not known"),
                }
                let mut both = to;
                both.groups.extend(&from.groups);
                out.push((both, one));
            }
            Inst::MemSet { dst, len, .. } => {
                let to = pointers.operand(frame, f, dst, state);
                let mut one = Collected::default();
                match (to.offset.and_then(Offset::as_known), constant(f, len)) {
                    (Some(t), Some(len)) => one.ends.extend([t, t + len as i64]),
                    _ if covers => {}
                    _ => one.broken = Some("a fill whose ends are not known"),
                }
                out.push((to, one));
            }
            Inst::Call { callee, dsts, args } => {
                if let Some((Takes::Object, [to, len, ..])) = stream::taken_by(pointers.program, f, i) {
                    let to = pointers.operand(frame, f, to.value, state);
                    let mut one = Collected::default();
                    match (to.offset.and_then(Offset::as_known), constant(f, len.value)) {
                        (Some(t), Some(len)) => one.ends.extend([t, t + len as i64]),
                        _ if covers => {}
                        _ => one.broken = Some("a symbolic object whose ends are not known"),
                    }
                    out.push((to, one));
                }
                if let pleach_ir::Callee::Direct(g) = callee
                    && matches!(pointers.program.function(g).name.as_str(), "free" | "realloc")
                {
                    let at = pointers.operand(frame, f, f.args[args.as_range()][0].value, state);
                    frees = Some(if at.unknown { pointers.everything() } else { at.groups });
                } else if covers {
                    let (groups, effect) = pointers.touched(n, f, i, state);
                    frees = effect.frees.then_some(groups);
                }
                loads += dsts.len as i64;
            }
            Inst::Alloca { .. } => loads += i64::from(covers),
            Inst::Undef { .. } | Inst::Cast { .. } | Inst::Scalar { .. } | Inst::VaArg { .. } => loads += 1,
            _ => {}
        }
        (out, loads, frees)
    }

    /// Null is 0; one positive number for what is allocated or global, as many negative ones per pool as a path can
    /// meet.
    fn number(&mut self, pointers: &Pointers, sources: i64, many: &BTreeSet<GroupId>) -> Result<(), String> {
        // The last index is no cell of a total array, so -1 is no reference.
        let (mut up, mut down) = (0i64, -1i64);
        for (i, g) in pointers.groups.iter().enumerate() {
            self.ranges.push(match g {
                // SOUND: a path reads at most `sources` references, and only their equality matters: objects of the
                // input that it never reads need no number.
                Group::Pool { .. } => {
                    down -= sources;
                    (down, down + sources - 1)
                }
                // SOUND: as of the input; the loop's allocation gives any of them.
                _ if many.contains(&GroupId(i as u32)) => {
                    up += sources;
                    (up - sources + 1, up)
                }
                _ => {
                    up += 1;
                    (up, up)
                }
            });
        }
        // Pointers of which nothing is known may differ from each other and from all that has a number.
        let anything = pointers.graph.context == Context::Anywhere || pointers.covers.is_some();
        let others = if anything { sources } else { 0 };
        let largest = (up.max(-down) + others) as u64;
        self.ref_bits = (66 - largest.leading_zeros() as u16).max(3);
        if self.ref_bits > MAX_REF_BITS {
            return Err("too many references".into());
        }
        Ok(())
    }

    fn make_regions(&mut self, parent: &mut [usize], found: Vec<(GroupId, Collected)>, sizes: Vec<Option<u64>>) {
        let n = parent.len();
        let mut collected: Vec<Collected> = (0..n).map(|_| Collected::default()).collect();
        for (g, one) in found {
            let c = &mut collected[root(parent, g.index())];
            c.shapes.extend(one.shapes);
            c.ends.extend(one.ends);
            c.copies.extend(one.copies);
            c.offsets |= one.offsets;
            c.broken = c.broken.or(one.broken);
        }
        self.region_of = (0..n).map(|i| root(parent, i)).collect();
        for mut c in collected {
            let region = self.make_region(&mut c);
            self.regions.push(region);
        }
        for (i, size) in sizes.into_iter().enumerate() {
            let region = &mut self.regions[self.region_of[i]];
            // SOUND: an index has too few bits for its offsets.
            if region.modulus != 0 && size.is_some_and(|s| s > 1 << (INDEX_BITS - self.ref_bits - 1)) {
                region.broken.get_or_insert("a large object");
            }
        }
    }

    fn make_region(&mut self, c: &mut Collected) -> Region {
        spread(c);
        let modulus = c.shapes.iter().fold(0, |m, s| gcd(m, s.m));
        let mut region = Region { modulus, atoms: Vec::new(), broken: c.broken };
        // Known offsets of one region differ by multiples of the modulus or are other residues.
        let mut pieces = residues(&c.shapes, region.modulus);
        let too_wide = |pieces: &[(u64, u64, bool)], m: u64| m > 0 && pieces.iter().any(|p| p.0 + p.1 > m);
        if too_wide(&pieces, region.modulus) {
            region.modulus = 1;
            pieces = residues(&c.shapes, 1).into_iter().map(|(_, _, p)| (0, 1, p)).collect();
        }
        let ends: Vec<u64> = match region.modulus {
            0 => c.ends.iter().filter_map(|e| u64::try_from(*e).ok()).collect(),
            m => c.ends.iter().map(|e| (i128::from(*e)).rem_euclid(i128::from(m)) as u64).collect(),
        };
        for (at, bytes, pointer) in atoms(pieces, &ends, &mut region.broken) {
            let kind = if pointer {
                let array = self.array(self.ref_bits);
                AtomKind::Pointer { array, offsets: c.offsets.then(|| self.array(64)) }
            } else {
                AtomKind::Bits { array: self.array((bytes * 8) as u16) }
            };
            region.atoms.push(Atom { at, bytes, kind });
        }
        region
    }

    fn array(&mut self, element: u16) -> usize {
        self.arrays.push(element);
        self.arrays.len() - 1
    }

    pub fn region(&self, g: GroupId) -> usize {
        self.region_of[g.index()]
    }
}

/// Groups of which several objects exist, because a loop that is one pass allocates them.
fn many(pointers: &Pointers) -> BTreeSet<GroupId> {
    let graph = pointers.graph;
    if !graph.has_havoc || pointers.covers.is_none() {
        return BTreeSet::new();
    }
    let in_loop = |g: &Group| match g {
        Group::Allocated { node, .. } => crate::decide::in_some_loop(pointers.program, graph, *node),
        _ => false,
    };
    let all = pointers.groups.iter().enumerate().filter(|(_, g)| in_loop(g));
    all.map(|(i, _)| GroupId(i as u32)).collect()
}

impl Region {
    /// The atoms of an access, each with its distance from the access' start; `None` if it is not made of whole ones.
    pub fn cover(&self, offset: Offset, bytes: u64) -> Option<Vec<(&Atom, u64)>> {
        let mut out = Vec::new();
        let mut done = 0;
        while done < bytes {
            let at = match self.modulus {
                0 => u64::try_from(offset.r + done as i64).ok()?,
                m => (i128::from(offset.r) + i128::from(done)).rem_euclid(i128::from(m)) as u64,
            };
            let atom = self.atoms.iter().find(|a| a.at == at && done + a.bytes <= bytes)?;
            out.push((atom, done));
            done += atom.bytes;
        }
        Some(out)
    }
}

/// Shapes that are copied also exist where they are copied to, and where they are copied from.
fn spread(c: &mut Collected) {
    loop {
        let mut new = Vec::new();
        for &(from, to, len) in &c.copies {
            for s in c.shapes.iter().filter(|s| s.m == 0) {
                let within = |start: i64| s.r >= start && s.r + s.bytes as i64 <= start + len;
                if within(from) {
                    new.push(Shape { r: s.r - from + to, ..*s });
                }
                if within(to) {
                    new.push(Shape { r: s.r - to + from, ..*s });
                }
            }
        }
        let before = c.shapes.len();
        c.shapes.extend(new);
        if c.shapes.len() == before || before > 4096 {
            return;
        }
    }
}

fn residues(shapes: &BTreeSet<Shape>, m: u64) -> Vec<(u64, u64, bool)> {
    let at = |s: &Shape| match m {
        0 => u64::try_from(s.r).ok(),
        m => Some((i128::from(s.r)).rem_euclid(i128::from(m)) as u64),
    };
    let mut all: Vec<_> = shapes.iter().filter_map(|s| Some((at(s)?, s.bytes, s.pointer))).collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Pieces that overlap are split at each other's ends.
fn atoms(pieces: Vec<(u64, u64, bool)>, ends: &[u64], broken: &mut Option<&'static str>) -> Vec<(u64, u64, bool)> {
    const LARGEST: u64 = 8;
    let mut out = Vec::new();
    let mut i = 0;
    while i < pieces.len() {
        let (start, mut end) = (pieces[i].0, pieces[i].0 + pieces[i].1);
        let mut j = i + 1;
        while j < pieces.len() && pieces[j].0 < end {
            end = end.max(pieces[j].0 + pieces[j].1);
            j += 1;
        }
        let cluster = &pieces[i..j];
        let mut cuts: BTreeSet<u64> = cluster.iter().flat_map(|p| [p.0, p.0 + p.1]).collect();
        cuts.extend(ends.iter().filter(|e| start < **e && **e < end));
        let pointer = cluster.iter().any(|p| p.2);
        if pointer && (cluster.len() > 1 || cuts.len() > 2) {
            broken.get_or_insert("memory that holds pointers is also accessed in another way");
        }
        let cuts: Vec<u64> = cuts.into_iter().collect();
        for w in cuts.windows(2) {
            let mut at = w[0];
            while at < w[1] {
                let bytes = (w[1] - at).min(LARGEST);
                out.push((at, bytes, pointer));
                at += bytes;
            }
        }
        i = j;
    }
    out
}

fn root(parent: &mut [usize], mut i: usize) -> usize {
    while parent[i] != i {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    i
}

fn union(parent: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parent, a), root(parent, b));
    parent[a.max(b)] = a.min(b);
}
