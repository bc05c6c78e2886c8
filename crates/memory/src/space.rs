//! The address space of a state: objects by id, each with a hidden concrete address.
//!
//! *Paper*: Memory §3.2.1. *Idea*: β is the object's name in terms; the address constraint `β = addr` lives here,
//! separate from the path constraint, and is substituted only on the way into the solver. Relocating an object edits
//! `addr` and nothing else. *Invariant*: live objects are disjoint and separated by red zones; ids are given in order
//! along a path and never reused, so that a dangling pointer keeps naming the object it was made for.

use crate::object::{Background, Contents, Window};
use crate::pvec::PVec;
use crate::size::Size;
use crate::value::ObjId;
use pleach_expr::TermId;
use std::collections::BTreeSet;
use std::rc::Rc;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ObjectKind {
    Global,
    Function,
    Stack,
    Heap,
    /// placed by the program at a fixed address (`klee_define_fixed_object`)
    Fixed,
    /// holds the contents of objects that were joined; no object of the program's
    Segment,
}

/// Where an object came from: a function and an instruction of it (global objects: their index).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Site {
    pub func: u32,
    pub inst: u32,
    /// the calls under way, as a number; 0 where it is not needed
    pub calls: u32,
}

impl Site {
    pub fn new(func: u32, inst: u32) -> Site {
        Site { func, inst, calls: 0 }
    }
}

#[derive(Clone, Debug)]
pub struct Object {
    /// bytes that an access may touch whatever the path: the size where it is a number, else none
    sure: u64,
    size: Size,
    pub addr: u64,
    pub align: u64,
    pub kind: ObjectKind,
    pub readonly: bool,
    pub site: Site,
    /// how many objects there had been when it ended
    pub until: u32,
    pub contents: Contents,
}

impl Object {
    /// An object that may be written and has not ended.
    pub(crate) fn new(size: Size, addr: u64, align: u64, kind: ObjectKind, site: Site, contents: Contents) -> Object {
        let sure = size.fixed().unwrap_or(0);
        Object { sure, size, addr, align, kind, readonly: false, site, until: STILL_THERE, contents }
    }

    /// The same object with another size and other contents.
    pub(crate) fn with(&self, size: Size, contents: Contents) -> Object {
        Object { sure: size.fixed().unwrap_or(0), size, contents, ..*self }
    }

    #[inline]
    pub fn size(&self) -> Size {
        self.size
    }

    /// The first bytes that are within bounds without a look at the path: none where the size is symbolic.
    #[inline]
    pub fn sure(&self) -> u64 {
        self.sure
    }

    /// Bytes that the contents and the address space have room for.
    #[inline]
    pub fn capacity(&self) -> u64 {
        self.size.capacity()
    }
}

/// `Object::until` of an object that has not ended.
pub const STILL_THERE: u32 = u32::MAX;

/// Where and when an object was, live or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extent {
    pub id: ObjId,
    pub addr: u64,
    /// bytes that it occupies at least, and at most
    pub least: u64,
    pub most: u64,
    pub align: u64,
    pub kind: ObjectKind,
    pub until: u32,
}

impl Extent {
    /// Both were there at one time, so that they have no byte in common.
    pub fn coexists(&self, other: &Extent) -> bool {
        self.id.0 < other.until && other.id.0 < self.until
    }
}

#[derive(Clone, Debug)]
pub enum ObjectEntry {
    Live(Rc<Object>),
    /// live, but the contents are in a segment, from this offset on
    InSegment(Rc<Object>, ObjId, u64),
    /// freed by the program: the object without its contents
    Freed(Rc<Object>),
    /// a local whose scope has ended, or a segment that became part of another: only where and when it was is left
    OutOfScope {
        addr: u64,
        size: Size,
        until: u32,
        log_align: u8,
    },
}

/// Addresses below this are null with an offset; no object lies there.
pub const NULL_PAGE: u64 = 4096;
/// Distance kept between objects, also between the members of a segment. Twice that lies between segments.
pub const RED_ZONE: u64 = 32;
/// Every object whose base occurs in terms begins at a multiple of this (the others are fixed ones, known by their
/// numbers).
pub(crate) const ALIGN: u64 = 16;
const FIRST_ADDRESS: u64 = 0x10000;

/// Objects with their offsets.
pub(crate) type Members = Vec<(ObjId, u64)>;

#[derive(Clone)]
pub struct AddressSpace {
    pub(crate) objects: PVec<ObjectEntry>,
    pub(crate) next: u64,
    limit: u64,
    pub(crate) fixed: Vec<(u64, ObjId)>,
    /// segments and what is in them: member, offset
    pub(crate) segments: Rc<Vec<(ObjId, Members)>>,
    /// objects whose address the program has seen: they stay where they are
    pub(crate) pinned: Rc<BTreeSet<ObjId>>,
    /// the symbolic sizes of objects, ended ones too
    pub(crate) sizes: Rc<Vec<TermId>>,
    /// bytes of live objects as the program requested them
    pub live_bytes: u64,
}

/// Where segments begin: above all other objects.
pub fn first_segment(pointer_bits: u16) -> u64 {
    if pointer_bits >= 64 { 3 << 45 } else { 3 << (pointer_bits - 2) }
}

/// Where the space ends.
pub fn last_address(pointer_bits: u16) -> u64 {
    pleach_expr::base_range(pointer_bits).1
}

/// The space is full (only with 32-bit addresses in practice).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Full;

impl AddressSpace {
    pub fn new(pointer_bits: u16) -> AddressSpace {
        AddressSpace {
            objects: PVec::default(),
            next: FIRST_ADDRESS,
            limit: first_segment(pointer_bits),
            fixed: Vec::new(),
            segments: Rc::default(),
            pinned: Rc::default(),
            sizes: Rc::default(),
            live_bytes: 0,
        }
    }

    pub fn allocate(
        &mut self,
        size: impl Into<Size>,
        align: u64,
        kind: ObjectKind,
        site: Site,
        contents: Contents,
    ) -> Result<ObjId, Full> {
        let size = size.into();
        if let Size::Symbolic { size, .. } = size
            && !self.sizes.contains(&size)
        {
            Rc::make_mut(&mut self.sizes).push(size);
        }
        let align = align.clamp(1, 1 << 20);
        let addr = self.next.next_multiple_of(align.max(ALIGN));
        let end = addr.checked_add(size.capacity()).and_then(|e| e.checked_add(RED_ZONE)).ok_or(Full)?;
        if end > self.limit {
            return Err(Full);
        }
        self.next = end;
        let id = ObjId(self.objects.len() as u32);
        let object = Object::new(size, addr, align, kind, site, contents);
        self.objects.push(ObjectEntry::Live(Rc::new(object)));
        self.live_bytes += size.capacity();
        Ok(id)
    }

    /// An object at an address the program chose.
    pub fn place(&mut self, addr: u64, size: u64, site: Site) -> ObjId {
        let id = ObjId(self.objects.len() as u32);
        let contents = Contents::new(size, Background::Zero);
        let object = Object::new(size.into(), addr, 1, ObjectKind::Fixed, site, contents);
        self.objects.push(ObjectEntry::Live(Rc::new(object)));
        self.fixed.push((addr, id));
        id
    }

    /// The symbolic sizes of objects, ended ones too.
    pub fn symbolic_sizes(&self) -> &Rc<Vec<TermId>> {
        &self.sizes
    }

    #[inline]
    pub fn entry(&self, id: ObjId) -> Option<&ObjectEntry> {
        self.objects.get(id.0 as usize)
    }

    /// The live object.
    #[inline]
    pub fn get(&self, id: ObjId) -> Option<&Object> {
        match self.objects.get(id.0 as usize) {
            Some(ObjectEntry::Live(o)) => Some(o),
            _ => None,
        }
    }

    /// The live object for writing; copied if another state shares it.
    #[inline]
    pub fn get_mut(&mut self, id: ObjId) -> Option<&mut Object> {
        match self.objects.get_mut(id.0 as usize) {
            Some(ObjectEntry::Live(o)) => Some(Rc::make_mut(o)),
            _ => None,
        }
    }

    /// The object as the program knows it, live; its contents may be elsewhere.
    #[inline]
    pub fn header(&self, id: ObjId) -> Option<&Object> {
        match self.objects.get(id.0 as usize) {
            Some(ObjectEntry::Live(o) | ObjectEntry::InSegment(o, ..)) => Some(o),
            _ => None,
        }
    }

    /// Where the bytes of a live object are.
    pub fn contents(&self, id: ObjId) -> Option<(&Contents, Window)> {
        match self.objects.get(id.0 as usize) {
            Some(ObjectEntry::Live(o)) => Some((&o.contents, Window { start: 0, len: o.capacity() })),
            Some(ObjectEntry::InSegment(o, segment, start)) => {
                Some((&self.get(*segment)?.contents, Window { start: *start, len: o.capacity() }))
            }
            _ => None,
        }
    }

    /// The same for writing.
    pub fn contents_mut(&mut self, id: ObjId) -> Option<(&mut Contents, Window)> {
        let (holder, w) = match self.objects.get(id.0 as usize) {
            Some(ObjectEntry::Live(o)) => (id, Window { start: 0, len: o.capacity() }),
            Some(ObjectEntry::InSegment(o, segment, start)) => (*segment, Window { start: *start, len: o.capacity() }),
            _ => return None,
        };
        Some((&mut self.get_mut(holder)?.contents, w))
    }

    /// The path has only this size left for a live object. The contents keep their bytes: nothing reads what lies
    /// behind the end.
    pub fn fix_size(&mut self, id: ObjId, n: u64) {
        self.set_size(id, Size::Fixed(n));
    }

    /// The path leaves a live object a size of at most this.
    pub fn narrow(&mut self, id: ObjId, most: u64) {
        if let Some(Size::Symbolic { size, .. }) = self.header(id).map(|o| o.size) {
            self.set_size(id, Size::Symbolic { size, capacity: most });
        }
    }

    fn set_size(&mut self, id: ObjId, size: Size) {
        if let Some(ObjectEntry::Live(o) | ObjectEntry::InSegment(o, ..)) = self.objects.get_mut(id.0 as usize) {
            debug_assert!(size.capacity() <= o.capacity());
            self.live_bytes -= o.capacity() - size.capacity();
            let o = Rc::make_mut(o);
            (o.sure, o.size) = (size.fixed().unwrap_or(0), size);
        }
    }

    /// The object is freed by the program; later uses are use-after-free.
    pub fn free(&mut self, id: ObjId) {
        self.free_at(id, self.objects.len() as u32);
    }

    /// The same for an object that another has come in place of: the other may lie where it lay.
    pub fn replace(&mut self, old: ObjId, new: ObjId) {
        self.free_at(old, new.0);
    }

    fn free_at(&mut self, id: ObjId, until: u32) {
        if let Some(e) = self.objects.get_mut(id.0 as usize)
            && let ObjectEntry::Live(o) | ObjectEntry::InSegment(o, ..) = e
        {
            self.live_bytes -= o.capacity();
            let contents = Contents::new(0, Background::Zero);
            let Object { size, addr, align, kind, readonly, site, .. } = **o;
            let ghost = Object { readonly, until, ..Object::new(size, addr, align, kind, site, contents) };
            *e = ObjectEntry::Freed(Rc::new(ghost));
        }
    }

    /// A local goes out of existence.
    pub fn drop_local(&mut self, id: ObjId) {
        let until = self.objects.len() as u32;
        if let Some(e) = self.objects.get_mut(id.0 as usize)
            && let ObjectEntry::Live(o) | ObjectEntry::InSegment(o, ..) = e
        {
            self.live_bytes -= o.capacity();
            let (addr, log_align) = (o.addr, o.align.max(1).ilog2() as u8);
            *e = ObjectEntry::OutOfScope { addr, size: o.size, until, log_align };
        }
    }

    pub fn len(&self) -> usize {
        self.objects.len()
    }
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The hidden address of an object, live or not.
    pub fn address(&self, id: ObjId) -> u64 {
        match self.entry(id) {
            Some(ObjectEntry::Live(o) | ObjectEntry::Freed(o) | ObjectEntry::InSegment(o, ..)) => o.addr,
            Some(ObjectEntry::OutOfScope { addr, .. }) => *addr,
            None => 0,
        }
    }

    /// Where and when an object was.
    pub fn extent(&self, id: ObjId) -> Option<Extent> {
        Some(match self.entry(id)? {
            ObjectEntry::Live(o) | ObjectEntry::Freed(o) | ObjectEntry::InSegment(o, ..) => {
                let Object { sure, size, addr, align, kind, until, .. } = **o;
                Extent { id, addr, least: sure, most: size.capacity(), align: align.max(1), kind, until }
            }
            ObjectEntry::OutOfScope { addr, size, until, log_align } => {
                let (addr, until, kind) = (*addr, *until, ObjectKind::Stack);
                let (least, most) = (size.fixed().unwrap_or(0), size.capacity());
                Extent { id, addr, least, most, align: 1 << log_align, kind, until }
            }
        })
    }

    /// The bytes that an object occupies which could as well have another address: disjoint from all others, not
    /// before `FIRST_ADDRESS`.
    // SOUND: of a symbolic size it is the capacity. Objects keep that distance in every layout, and a query that
    // depends on σ has it as a term, with σ ≤ capacity.
    pub fn movable_size(&self, id: ObjId) -> Option<u64> {
        match self.entry(id)? {
            ObjectEntry::Live(o) | ObjectEntry::InSegment(o, ..) | ObjectEntry::Freed(o)
                if o.kind != ObjectKind::Fixed =>
            {
                Some(o.capacity())
            }
            _ => None,
        }
    }

    /// Which object's bytes (or the position one past them) hold this address.
    pub fn find(&self, addr: u64) -> Option<ObjId> {
        let holds = |id: ObjId| match self.entry(id) {
            Some(ObjectEntry::Live(o) | ObjectEntry::Freed(o) | ObjectEntry::InSegment(o, ..)) => {
                addr >= o.addr && addr - o.addr <= o.capacity()
            }
            _ => false,
        };
        if addr >= self.limit {
            let members = self.segments.iter().flat_map(|(_, members)| members.iter().map(|m| m.0));
            if let Some(id) = members.into_iter().find(|id| holds(*id)) {
                return Some(id);
            }
        }
        if let Some(&(_, id)) = self.fixed.iter().find(|(_, id)| holds(*id)) {
            return Some(id);
        }
        // Addresses grow with ids, so the last object that starts at or below `addr` is found by bisection; entries
        // without a record are stepped over.
        let (mut lo, mut hi) = (0usize, self.objects.len());
        while lo < hi {
            let mid = lo + (hi - lo) / 2;
            let mut m = mid;
            let start = loop {
                match self.objects.get(m) {
                    Some(ObjectEntry::Live(o) | ObjectEntry::Freed(o))
                        if o.kind != ObjectKind::Fixed && o.addr < self.limit =>
                    {
                        break Some(o.addr);
                    }
                    _ if m > lo => m -= 1,
                    _ => break None,
                }
            };
            match start {
                Some(a) if a > addr => hi = m,
                _ => lo = mid + 1,
            }
        }
        // Any number of locals that are gone may lie between.
        let recorded = |i: &usize| match self.objects.get(*i) {
            Some(ObjectEntry::Live(o) | ObjectEntry::Freed(o)) => o.kind != ObjectKind::Fixed && o.addr < self.limit,
            _ => false,
        };
        (0..lo).rev().find(recorded).map(|i| ObjId(i as u32)).filter(|&id| holds(id))
    }

    /// The program's live objects; the contents may be elsewhere.
    pub fn live(&self) -> impl Iterator<Item = (ObjId, &Object)> {
        self.objects.iter().enumerate().filter_map(|(i, e)| match e {
            ObjectEntry::Live(o) if o.kind == ObjectKind::Segment => None,
            ObjectEntry::Live(o) | ObjectEntry::InSegment(o, ..) => Some((ObjId(i as u32), &**o)),
            _ => None,
        })
    }

    /// An object that the program has freed; its contents are gone.
    pub fn freed_object(&self, id: ObjId) -> Option<&Object> {
        match self.objects.get(id.0 as usize) {
            Some(ObjectEntry::Freed(o)) => Some(o),
            _ => None,
        }
    }

    /// What the program has freed.
    pub fn freed(&self) -> impl Iterator<Item = &Object> {
        self.objects.iter().filter_map(|e| match e {
            ObjectEntry::Freed(o) => Some(&**o),
            _ => None,
        })
    }

    /// Adds an object's entry as it is.
    pub(crate) fn push(&mut self, e: ObjectEntry) -> ObjId {
        let id = ObjId(self.objects.len() as u32);
        self.objects.push(e);
        id
    }

    pub(crate) fn set(&mut self, id: ObjId, entry: ObjectEntry) {
        if let Some(e) = self.objects.get_mut(id.0 as usize) {
            *e = entry;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_keeps_its_address_when_it_is_gone() {
        let mut space = AddressSpace::new(64);
        let site = Site::new(0, 0);
        let contents = Contents::new(4, Background::Uninit);
        let mut local = || space.allocate(4, 4, ObjectKind::Stack, site, contents.clone()).expect("room");
        let (a, b) = (local(), local());
        let before = [space.address(a), space.address(b)];
        space.drop_local(a);
        space.drop_local(b);
        assert_eq!([space.address(a), space.address(b)], before);
        assert!(space.get(a).is_none() && before[0] != before[1]);
    }

    #[test]
    fn what_ended_before_another_began_never_met_it() {
        let mut space = AddressSpace::new(64);
        let site = Site::new(0, 0);
        let block = |space: &mut AddressSpace, kind| {
            space.allocate(4, 4, kind, site, Contents::new(4, Background::Uninit)).expect("room")
        };
        let (a, b) = (block(&mut space, ObjectKind::Heap), block(&mut space, ObjectKind::Stack));
        space.free(a);
        space.drop_local(b);
        let c = block(&mut space, ObjectKind::Heap);
        let met = |x, y| space.extent(x).unwrap().coexists(&space.extent(y).unwrap());
        assert_eq!([met(a, b), met(a, c), met(c, b), met(b, a)], [true, false, false, true]);
    }

    #[test]
    fn an_object_of_symbolic_size_has_room_for_its_capacity() {
        let mut terms = pleach_expr::Terms::new(64);
        let symbol = terms.symbols.named("n", pleach_expr::SymbolKind::Bits(64));
        let size = Size::Symbolic { size: terms.var(symbol), capacity: 24 };
        let mut space = AddressSpace::new(64);
        let site = Site::new(0, 0);
        let contents = Contents::new(24, Background::Uninit);
        let a = space.allocate(size, 16, ObjectKind::Heap, site, contents.clone()).expect("room");
        let b = space.allocate(24, 16, ObjectKind::Heap, site, contents).expect("room");
        assert!(space.address(b) >= space.address(a) + 24 && space.live_bytes == 48);
        let o = space.get(a).expect("live");
        assert_eq!((o.sure(), o.capacity(), o.size()), (0, 24, size));
        assert_eq!(space.find(space.address(a) + 24), Some(a));
        let extent = space.extent(a).expect("known");
        assert_eq!((extent.least, extent.most), (0, 24));

        space.narrow(a, 9);
        assert_eq!(space.contents(a).map(|(_, w)| w.len), Some(9));
        space.fix_size(a, 7);
        let o = space.get(a).expect("live");
        assert_eq!((o.sure(), o.capacity(), o.size()), (7, 7, Size::Fixed(7)));
        assert_eq!(space.live_bytes, 31);
        space.free(a);
        space.free(b);
        assert_eq!(space.live_bytes, 0);
    }
}
