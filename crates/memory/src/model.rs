//! The memory model: what an access may touch, where a pointer goes, what is wrong where it goes nowhere, and what
//! reading and writing through a pointer with multiple targets means.
//!
//! *Idea*: the executor says what instructions do. It queries the solver, splits paths and words errors. What lies
//! where, and on which conditions that depends, is said here, over terms and an [`AddressSpace`]. *Invariant*: conditions are
//! exact: a [`Target`]'s guard holds on a path exactly if the access is within that object, and the guards of a
//! [`ClassifiedTargets`] are complete, those of faults included.

use crate::object::Window;
use crate::pieces::{SplitAccess, Splitting};
use crate::resolve::{Candidate, mirror};
use crate::segments::SegmentLayout;
use crate::size::Size;
use crate::space::{AddressSpace, NULL_PAGE, Object, ObjectEntry, ObjectKind};
use crate::value::{ObjId, Value};
use pleach_expr::{TermId, Terms};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AccessKind {
    Read,
    Write,
}

/// A place in an object.
#[derive(Clone, Copy, Debug)]
pub enum ResolvedLocation {
    At {
        obj: ObjId,
        off: u64,
    },
    /// within bounds on this path
    Symbolic {
        obj: ObjId,
        off: TermId,
    },
    /// within a piece of an object that was split
    Piece {
        obj: ObjId,
        piece: Window,
        /// from the beginning of the piece
        off: TermId,
    },
}

/// What is wrong with an access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fault {
    /// through null plus this
    Null(u64),
    /// at this address, where no object is
    NoObject(u64),
    /// at this address, in an object that was freed
    InFreed(u64),
    OutOfBounds(ObjId),
    Freed(ObjId),
    /// a local after the end of its scope
    OutOfScope,
    /// a function is no data
    Function,
    Readonly(ObjId),
}

/// Faults that are one error to a program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FaultClass {
    Null,
    /// outside of all objects that may be accessed so
    Bounds,
    /// after the end of its lifetime
    Lifetime,
    Readonly,
}

impl Fault {
    pub fn class(self) -> FaultClass {
        match self {
            Fault::Null(_) => FaultClass::Null,
            Fault::NoObject(_) | Fault::OutOfBounds(_) | Fault::Function => FaultClass::Bounds,
            Fault::InFreed(_) | Fault::Freed(_) | Fault::OutOfScope => FaultClass::Lifetime,
            Fault::Readonly(_) => FaultClass::Readonly,
        }
    }
}

/// One target of a pointer: when, which, where in it.
pub type Target = (TermId, ObjId, TermId);

/// What the candidates of a pointer come to for one access.
#[derive(Default, Debug)]
pub struct ClassifiedTargets {
    pub good: Vec<Target>,
    /// when what is wrong, one of each class of faults
    pub bad: Vec<(TermId, Fault)>,
    /// when the pointer is a number that need not be null: unless this is impossible, only the solver can tell
    pub elsewhere: Option<TermId>,
}

/// A pointer, and the same with addresses for bases.
#[derive(Clone, Copy, Debug)]
pub struct Pointer {
    pub ptr: TermId,
    pub address: TermId,
}

/// What lies at an address, and for which pointers it is the same.
#[derive(Clone, Copy, Debug)]
pub enum AtAddress {
    /// the object, and its base: a number for an object at a fixed address
    Object {
        obj: ObjId,
        base: TermId,
        size: Size,
    },
    Nothing {
        fault: Fault,
        range: TermId,
    },
}

/// What becomes of a path whose pointer may refer to several objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resolution {
    /// one state per object
    Fork,
    /// one state, values guarded by the pointer
    Ite,
    /// one state, the objects joined into a segment
    SegmentsDynamic,
    /// the same with all objects in the same class of the points-to analysis
    SegmentsStatic,
}

impl Resolution {
    /// Whether objects are joined.
    pub fn joins(self) -> bool {
        matches!(self, Resolution::SegmentsDynamic | Resolution::SegmentsStatic)
    }
}

/// Answers about the memory of a path. Conditions are terms with bases where a method gets a pointer, without where it
/// gets an address.
pub trait MemoryModel {
    /// What becomes of a path whose pointer may refer to several objects.
    fn resolution(&self) -> Resolution;

    /// The size of an object that may be accessed so.
    fn touch(&self, space: &AddressSpace, obj: ObjId, access: AccessKind) -> Result<Size, Fault>;

    /// The object at an address, and the offset in it.
    fn at_number(&self, space: &AddressSpace, addr: u64) -> Result<(ObjId, i64), Fault>;

    /// What the candidates of a pointer come to for an access of `n` bytes.
    fn classify(
        &self,
        space: &AddressSpace,
        terms: &mut Terms,
        found: &[Candidate],
        n: u64,
        access: AccessKind,
    ) -> ClassifiedTargets;

    /// What lies at `addr`, an example of where the pointer may go, for an access of `n` bytes.
    fn around(&self, space: &AddressSpace, terms: &mut Terms, pointer: Pointer, addr: u64, n: u64) -> AtAddress;

    /// The value of `n` bytes at one of the targets. *Contract*: one of their guards holds.
    fn read_one_of(
        &self,
        space: &mut AddressSpace,
        terms: &mut Terms,
        ptr: TermId,
        targets: &[Target],
        n: u64,
    ) -> Value;

    /// Writes `n` bytes at one of the targets. *Contract*: as for `read_one_of`.
    fn write_one_of(
        &self,
        space: &mut AddressSpace,
        terms: &mut Terms,
        ptr: TermId,
        targets: &[Target],
        n: u64,
        new: TermId,
    );

    /// The access, if its object is to be split into pieces. `off` is within bounds on the path.
    fn to_split(&self, space: &AddressSpace, obj: ObjId, off: TermId, n: u64) -> Option<SplitAccess>;

    /// Objects are split from now on, or not; returns what was so before.
    fn set_splitting(&mut self, splitting: Option<Splitting>) -> Option<Splitting>;

    /// The program has seen where these objects lie: they stay there.
    fn observe(&self, space: &mut AddressSpace, objects: &[ObjId]);

    /// Moves objects into one segment, if that can be done; `mates` come with them if there is room. Segments joined at
    /// the same `place` of the program lie at the same address on every path. Returns the segment and its
    /// size.
    fn join(
        &mut self,
        space: &mut AddressSpace,
        terms: &mut Terms,
        targets: &[ObjId],
        mates: Vec<ObjId>,
        place: (u32, u32),
    ) -> Option<(ObjId, u64)>;
}

/// A write of at most this many words guards every word; beyond that a segment becomes an array.
const GUARDED_WORDS: u64 = 64;

/// Objects with relocatable addresses, alone or in segments (Memory §3).
pub struct RelocatableMemory {
    resolution: Resolution,
    splitting: Option<Splitting>,
    segments: SegmentLayout,
}

impl RelocatableMemory {
    /// `reuse_segments`: see [`MemoryModel::join`]; without, each segment has an address of its own.
    pub fn new(resolution: Resolution, splitting: Option<Splitting>, reuse_segments: bool) -> RelocatableMemory {
        RelocatableMemory { resolution, splitting, segments: SegmentLayout::new(reuse_segments) }
    }
}

impl MemoryModel for RelocatableMemory {
    fn resolution(&self) -> Resolution {
        self.resolution
    }

    fn touch(&self, space: &AddressSpace, obj: ObjId, access: AccessKind) -> Result<Size, Fault> {
        match space.entry(obj) {
            Some(ObjectEntry::Live(o) | ObjectEntry::InSegment(o, ..)) => match o.kind {
                ObjectKind::Function => Err(Fault::Function),
                _ if o.readonly && access == AccessKind::Write => Err(Fault::Readonly(obj)),
                _ => Ok(o.size()),
            },
            Some(ObjectEntry::Freed(_)) => Err(Fault::Freed(obj)),
            _ => Err(Fault::OutOfScope),
        }
    }

    fn at_number(&self, space: &AddressSpace, addr: u64) -> Result<(ObjId, i64), Fault> {
        match space.find(addr) {
            Some(obj) => Ok((obj, addr.wrapping_sub(space.address(obj)) as i64)),
            None if addr < NULL_PAGE => Err(Fault::Null(addr)),
            None => Err(Fault::NoObject(addr)),
        }
    }

    fn classify(
        &self,
        space: &AddressSpace,
        terms: &mut Terms,
        found: &[Candidate],
        n: u64,
        access: AccessKind,
    ) -> ClassifiedTargets {
        let mut sorted = ClassifiedTargets::default();
        for c in found {
            let (guard, fault) = match c.obj.map(|obj| (obj, self.touch(space, obj, access))) {
                None => {
                    let is_null = below_null_page(terms, c.offset);
                    let not_null = terms.not(is_null);
                    let elsewhere = terms.and(c.guard, not_null);
                    sorted.elsewhere = (elsewhere != Terms::FALSE).then_some(elsewhere);
                    (c.guard, Fault::Null(terms.as_const(c.offset).unwrap_or(0)))
                }
                Some((_, Err(fault))) => (c.guard, fault),
                Some((obj, Ok(size))) => {
                    let inside = size.within(terms, c.offset, n);
                    let ok = terms.and(c.guard, inside);
                    if ok != Terms::FALSE {
                        sorted.good.push((ok, obj, c.offset));
                    }
                    let outside = terms.not(inside);
                    (terms.and(c.guard, outside), Fault::OutOfBounds(obj))
                }
            };
            if guard == Terms::FALSE {
                continue;
            }
            match sorted.bad.iter_mut().find(|b| b.1.class() == fault.class()) {
                Some(known) => known.0 = terms.or(known.0, guard),
                None => sorted.bad.push((guard, fault)),
            }
        }
        sorted
    }

    fn around(&self, space: &AddressSpace, terms: &mut Terms, pointer: Pointer, addr: u64, n: u64) -> AtAddress {
        let Pointer { ptr, address } = pointer;
        let object = space.find(addr).and_then(|id| space.header(id).map(|o| (id, o)));
        if let Some((obj, o)) = object.filter(|(_, o)| holds(o, addr, n)) {
            // With the base, not its address: the query cache knows it again under another one, and the offset is the
            // same wherever the object lies.
            let base = match o.kind {
                ObjectKind::Fixed => terms.constant(terms.pointer_bits, o.addr),
                _ => terms.base(obj),
            };
            return AtAddress::Object { obj, base, size: o.size() };
        }
        // Everything that lies in no object is one error, and everything in freed ones another.
        let (fault, range) = if addr < NULL_PAGE {
            (Fault::Null(addr), below_null_page(terms, ptr))
        } else if space.freed().any(|o| holds(o, addr, n)) {
            (Fault::InFreed(addr), in_ranges(terms, address, n, space.freed().map(range_of)))
        } else {
            let live = space.live().map(|(_, o)| o).filter(|o| o.kind != ObjectKind::Function);
            let inside = in_ranges(terms, address, n, live.chain(space.freed()).map(range_of));
            let outside = terms.not(inside);
            let null_page = terms.constant(terms.pointer_bits, NULL_PAGE);
            let above = terms.ule(null_page, address);
            (Fault::NoObject(addr), terms.and(above, outside))
        };
        AtAddress::Nothing { fault, range }
    }

    fn read_one_of(
        &self,
        space: &mut AddressSpace,
        terms: &mut Terms,
        ptr: TermId,
        targets: &[Target],
        n: u64,
    ) -> Value {
        if let Some(segment) = common_segment(space, targets)
            && space.get(segment).is_some_and(|o| o.contents.is_array())
        {
            let off = segment_offset(space, terms, ptr, targets);
            let Some((contents, w)) = space.contents_mut(segment) else { return Value::Undef };
            return contents.read_array(terms, w, off, n, segment);
        }
        let bits = (n * 8) as u16;
        let read = mirror(terms, ptr, &mut |terms, obj, off| {
            let obj = obj.filter(|o| targets.iter().any(|t| t.1 == *o))?;
            let (contents, w) = space.contents_mut(obj)?;
            let v = match terms.as_const(off) {
                Some(k) if k.checked_add(n).is_none_or(|e| e > w.len) => return None,
                Some(k) => contents.read(terms, w.start + k, n as usize, obj),
                None => contents.read_at(terms, w, off, n, obj),
            };
            v.to_term(terms, bits)
        });
        read.map_or(Value::Undef, |t| Value::from_term(terms, t))
    }

    fn write_one_of(
        &self,
        space: &mut AddressSpace,
        terms: &mut Terms,
        ptr: TermId,
        targets: &[Target],
        n: u64,
        new: TermId,
    ) {
        if let Some(segment) = common_segment(space, targets)
            && words_to_guard(space, terms, targets, n).is_none_or(|words| words > GUARDED_WORDS)
        {
            let off = segment_offset(space, terms, ptr, targets);
            let Some((contents, w)) = space.contents_mut(segment) else { return };
            contents.write_at(terms, w, Terms::TRUE, off, n, new, segment);
            return;
        }
        for &(guard, obj, off) in targets {
            let Some((contents, w)) = space.contents_mut(obj) else { continue };
            let Some(k) = terms.as_const(off) else {
                contents.write_at(terms, w, guard, off, n, new, obj);
                continue;
            };
            let old = contents.read(terms, w.start + k, n as usize, obj).to_term(terms, (n * 8) as u16);
            let Some(old) = old else { continue };
            let v = terms.ite(guard, new, old);
            if v != old {
                let v = Value::from_term(terms, v);
                contents.write(terms, w.start + k, n as usize, v);
            }
        }
    }

    fn to_split(&self, space: &AddressSpace, obj: ObjId, off: TermId, n: u64) -> Option<SplitAccess> {
        let Splitting { threshold, piece } = self.splitting?;
        let size = space.get(obj).map_or(0, |o| o.capacity());
        (size > threshold && n <= piece).then_some(SplitAccess { obj, off, n, piece, size })
    }

    fn set_splitting(&mut self, splitting: Option<Splitting>) -> Option<Splitting> {
        std::mem::replace(&mut self.splitting, splitting)
    }

    fn observe(&self, space: &mut AddressSpace, objects: &[ObjId]) {
        // Objects that are never joined never move.
        if self.resolution.joins() {
            objects.iter().for_each(|o| space.pin(*o));
        }
    }

    fn join(
        &mut self,
        space: &mut AddressSpace,
        terms: &mut Terms,
        targets: &[ObjId],
        mates: Vec<ObjId>,
        place: (u32, u32),
    ) -> Option<(ObjId, u64)> {
        let mut all = mates;
        all.extend(targets);
        all.sort_unstable();
        all.dedup();
        // Of a class that is too large for a segment, only the objects that this pointer means are joined.
        let layout = space.layout(&all).or_else(|| space.layout(targets))?;
        let addr = self.segments.address(place, space.arrangement(&layout), terms.pointer_bits)?;
        Some((space.join(terms, &layout, addr), layout.size))
    }
}

/// The segment that all targets are in.
pub fn common_segment(space: &AddressSpace, targets: &[Target]) -> Option<ObjId> {
    let first = space.segment_of(targets.first()?.1)?.0;
    targets.iter().all(|t| space.segment_of(t.1).is_some_and(|s| s.0 == first)).then_some(first)
}

/// The offset in their segment of a pointer to one of the targets.
fn segment_offset(space: &AddressSpace, terms: &mut Terms, ptr: TermId, targets: &[Target]) -> TermId {
    let w = terms.pointer_bits;
    let off = mirror(terms, ptr, &mut |terms, obj, off| {
        let obj = obj.filter(|o| targets.iter().any(|t| t.1 == *o))?;
        let (_, start) = space.segment_of(obj)?;
        let start = terms.constant(w, start);
        Some(terms.add(off, start))
    });
    off.unwrap_or_else(|| terms.constant(w, 0))
}

/// How many words a write to each of the targets has to change; `None` where it cannot be done word by word.
fn words_to_guard(space: &AddressSpace, terms: &Terms, targets: &[Target], n: u64) -> Option<u64> {
    let mut sum = 0;
    for &(_, obj, off) in targets {
        let (contents, w) = space.contents(obj)?;
        sum += match terms.as_const(off) {
            Some(_) if contents.is_array() => return None,
            Some(_) => 1,
            None => contents.write_words(terms, w, off, n)?,
        };
    }
    Some(sum)
}

fn below_null_page(terms: &mut Terms, ptr: TermId) -> TermId {
    let null_page = terms.constant(terms.pointer_bits, NULL_PAGE);
    terms.ult(ptr, null_page)
}

fn range_of(o: &Object) -> (u64, u64) {
    (o.addr, o.capacity())
}

/// An access of `n` bytes at the address lies in one of these ranges.
fn in_ranges(terms: &mut Terms, address: TermId, n: u64, ranges: impl Iterator<Item = (u64, u64)>) -> TermId {
    let mut any = Terms::FALSE;
    for (addr, size) in ranges.filter(|r| r.1 >= n) {
        let b = terms.constant(terms.pointer_bits, addr);
        let off = terms.sub(address, b);
        let inside = Size::Fixed(size).within(terms, off, n);
        any = terms.or(any, inside);
    }
    any
}

/// An access of `n` bytes at this address lies in the object.
fn holds(o: &Object, addr: u64, n: u64) -> bool {
    o.capacity().checked_sub(n).is_some_and(|last| addr.checked_sub(o.addr).is_some_and(|off| off <= last))
}

#[cfg(test)]
#[path = "model_tests.rs"]
mod tests;
