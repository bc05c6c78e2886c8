//! Segments: several objects in one.
//!
//! *Paper*: Memory §3.2.3 (dynamically segmented memory model). *Idea*: objects that one pointer may refer to are moved
//! into one fresh segment, β_i = β_s + o_i; addresses are symbols, so the program does not see it. Members keep their
//! size, kind and life: what a pointer may touch is decided as before, and what lies between members is a red zone.
//! Only the contents are in the segment, where one array term can stand for all of them. *Invariant*: an object is a
//! member of at most one segment; the offsets of members ascend and leave red zones; a pinned object is none.
//! *Deviations*: a segment that is joined with others moves as a whole, its members at their old distances. Terms are
//! not rewritten: a pointer's bases are looked up where it is used.

use crate::access::byte_of;
use crate::object::{Background, Contents};
use crate::space::{AddressSpace, Object, ObjectEntry, ObjectKind, RED_ZONE, Site, first_segment, last_address};
use crate::value::ObjId;
use pleach_expr::Terms;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// Segments do not become larger.
const MAX_BYTES: u64 = 1 << 20;

/// Objects whose address the program has seen.
pub type Pins = Rc<BTreeSet<ObjId>>;

/// Where the members of a segment to be are going to lie.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// a segment or an object of its own, and its offset
    blocks: Vec<(ObjId, u64)>,
    pub size: u64,
    pub align: u64,
}

/// A layout without the names of the segments in it, which differ from path to path.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SegmentArrangement {
    members: Vec<(ObjId, u64)>,
    size: u64,
    align: u64,
}

/// What decides the address of a segment: the function and instruction, and how its members lie.
type SegmentKey = (u32, u32, SegmentArrangement);

/// Where segments lie. The same objects joined at the same place have the same address on every path, so that equal
/// queries are equal. *Invariant*: segments that can be on one path do not overlap, so a segment that took in others
/// has another address than one of the same objects that did not.
#[derive(Default)]
pub(crate) struct SegmentLayout {
    known: FxHashMap<SegmentKey, u64>,
    next: u64,
    /// addresses are used again
    reuse: bool,
}

impl SegmentLayout {
    pub fn new(reuse: bool) -> SegmentLayout {
        SegmentLayout { reuse, ..SegmentLayout::default() }
    }

    /// Where a segment lies that is joined at this place of the program; `None` if there is no room.
    pub fn address(&mut self, (func, inst): (u32, u32), of: SegmentArrangement, pointer_bits: u16) -> Option<u64> {
        let (size, align) = (of.size, of.align);
        let key = (func, inst, of);
        if let Some(&addr) = self.known.get(&key)
            && self.reuse
        {
            return Some(addr);
        }
        let addr = self.next.max(first_segment(pointer_bits)).next_multiple_of(align);
        let end = addr + size + 2 * RED_ZONE;
        if end > last_address(pointer_bits) {
            return None;
        }
        self.next = end;
        self.known.insert(key, addr);
        Some(addr)
    }
}

impl AddressSpace {
    /// The segment an object is in, and where.
    pub fn segment_of(&self, id: ObjId) -> Option<(ObjId, u64)> {
        match self.entry(id) {
            Some(ObjectEntry::InSegment(_, segment, start)) => Some((*segment, *start)),
            _ => None,
        }
    }

    /// What is in a segment, with the offsets; some of it may be dead.
    pub fn members(&self, segment: ObjId) -> &[(ObjId, u64)] {
        self.segments.iter().find(|s| s.0 == segment).map_or(&[], |s| &s.1)
    }

    pub fn has_segments(&self) -> bool {
        !self.segments.is_empty()
    }

    /// The program has seen where the object lies.
    pub(crate) fn pin(&mut self, id: ObjId) {
        if !self.pinned.contains(&id) {
            Rc::make_mut(&mut self.pinned).insert(id);
        }
    }

    /// Which objects are pinned.
    pub fn pins(&self) -> Pins {
        self.pinned.clone()
    }

    pub fn set_pins(&mut self, pins: Pins) {
        self.pinned = pins;
    }

    /// How these objects can be joined; `None` if they cannot.
    pub fn layout(&self, ids: &[ObjId]) -> Option<Layout> {
        let mut layout = Layout { blocks: Vec::new(), size: 0, align: 16 };
        let mut seen = FxHashSet::default();
        for &id in ids {
            let block = self.segment_of(id).map_or(id, |s| s.0);
            if !seen.insert(block) {
                continue;
            }
            let o = self.get(block)?;
            let movable = match o.kind {
                ObjectKind::Global | ObjectKind::Stack | ObjectKind::Heap => !self.pinned.contains(&block),
                ObjectKind::Segment => !self.members(block).iter().any(|m| self.pinned.contains(&m.0)),
                ObjectKind::Function | ObjectKind::Fixed => false,
            };
            if !movable {
                return None;
            }
            layout.align = layout.align.max(o.align);
            let end = if layout.blocks.is_empty() { 0 } else { layout.size + RED_ZONE };
            let at = end.next_multiple_of(o.align.max(16));
            layout.blocks.push((block, at));
            layout.size = at + o.capacity();
            if layout.size > MAX_BYTES {
                return None;
            }
        }
        // Every word of an access is whole.
        layout.size = layout.size.next_multiple_of(8);
        Some(layout)
    }

    /// Where every member of a segment to be is going to lie.
    pub fn arrangement(&self, layout: &Layout) -> SegmentArrangement {
        let mut members = Vec::new();
        for &(block, at) in &layout.blocks {
            match self.members(block) {
                [] => members.push((block, at)),
                inner => members.extend(inner.iter().map(|&(id, o)| (id, at + o))),
            }
        }
        SegmentArrangement { members, size: layout.size, align: layout.align }
    }

    /// Moves the blocks of a layout into a new segment at this address.
    pub fn join(&mut self, terms: &mut Terms, layout: &Layout, addr: u64) -> ObjId {
        let parts: Vec<(u64, &Contents)> =
            layout.blocks.iter().filter_map(|(id, at)| Some((*at, &self.get(*id)?.contents))).collect();
        let mut brake = terms.brake.clone();
        let contents = Contents::concat(&parts, layout.size, &mut |v, n, i| byte_of(terms, v, n, i), &mut brake);
        terms.brake = brake;
        let segment = ObjId(self.len() as u32);
        let site = Site::new(u32::MAX, u32::MAX);
        let object = Object::new(layout.size.into(), addr, layout.align, ObjectKind::Segment, site, contents);
        self.push(ObjectEntry::Live(Rc::new(object)));
        let members = self.arrangement(layout).members;
        for &(block, _) in &layout.blocks {
            if !self.members(block).is_empty() {
                let (addr, until) = (self.address(block), self.len() as u32);
                self.set(block, ObjectEntry::OutOfScope { addr, size: 0.into(), until, log_align: 0 });
            }
        }
        for &(id, at) in &members {
            let moved = |o: &Object| {
                let mut o = o.clone();
                (o.addr, o.contents) = (addr + at, Contents::new(0, Background::Zero));
                Rc::new(o)
            };
            let entry = match self.entry(id) {
                Some(ObjectEntry::Live(o) | ObjectEntry::InSegment(o, ..)) => {
                    ObjectEntry::InSegment(moved(o), segment, at)
                }
                Some(ObjectEntry::Freed(o)) => ObjectEntry::Freed(moved(o)),
                _ => continue,
            };
            self.set(id, entry);
        }
        let all = Rc::make_mut(&mut self.segments);
        all.retain(|s| !layout.blocks.iter().any(|b| b.0 == s.0));
        all.push((segment, members));
        segment
    }
}
