//! Candidates for the elements of arrays.
//!
//! *Idea*: a loop writes or reads element by element, by an index or a pointer that moves one way. What it did to the
//! elements from where it began up to the index is guessed from what the function stores and compares; the others are
//! as they were on entry.

use super::candidates::{Candidate, constants};
use super::places::{LoopLocation, Values, arrays};
use super::{AtHeader, LoopEntry};
use pleach_expr::{INDEX_BITS, Op, TermId, Terms, sign_extend};
use pleach_ir::{Const, FuncId, Inst, OpndKind, Program};
use pleach_memory::ObjId;
use std::collections::BTreeSet;

/// Constants, shapes and indices that are looked at, and candidates of one header.
const CONSTANTS: usize = 6;
const SHAPES: usize = 6;
const INDICES: usize = 4;
const MAX_CANDIDATES: usize = 400;
/// Larger elements are none.
const STRIDE: i64 = 64;
/// An array that was written more often one by one is not compared with.
const STORES: usize = 64;

/// Where the numbers are in an array of structures: bytes, distance of neighbours, and where the first one is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) struct Shape {
    bytes: u8,
    stride: u8,
    offset: u8,
}

/// What tells how far the loop is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
struct Index {
    place: LoopLocation,
    /// it is a pointer into the array
    points: bool,
    /// it comes from above
    down: bool,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Elements {
    obj: ObjId,
    /// how many the array has
    count: u64,
    shape: Shape,
    index: Index,
    says: Says,
}

/// What all of the elements are.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Says {
    Constant(i64),
    Differs(i64),
    AtLeast(i64),
    AtMost(i64),
    /// compared with another place: equal, different, at least, at most
    Value(LoopLocation),
    DiffersFrom(LoopLocation),
    AtLeastValue(LoopLocation),
    AtMostValue(LoopLocation),
    /// their index times the first and the second
    Affine(i64, i64),
    /// the element of another array with the same index
    SameAs(ObjId),
    /// the others are as on entry
    OthersKept,
}

impl Elements {
    pub fn on_entry(&self) -> Vec<LoopLocation> {
        let mut all = vec![self.index.place];
        if self.says == Says::OthersKept {
            all.push(LoopLocation::Array(self.obj));
        }
        all
    }

    pub fn is_about_others(&self) -> bool {
        self.says == Says::OthersKept
    }

    /// The index as a number of elements.
    fn number(&self, x: TermId, terms: &mut Terms) -> TermId {
        let mut x = x;
        if self.index.points {
            let (w, stride) = (terms.width(x), u64::from(self.shape.stride));
            let by = terms.constant(w, stride);
            x = if stride.is_power_of_two() {
                let by = terms.constant(w, u64::from(stride.trailing_zeros()));
                terms.lshr(x, by)
            } else {
                terms.udiv(x, by)
            };
        }
        terms.resize_unsigned(x, INDEX_BITS)
    }

    pub fn term(&self, now: &Values, entry: &Values, terms: &mut Terms) -> Option<TermId> {
        let array = *now.get(&LoopLocation::Array(self.obj))?;
        let (from, to) = (*entry.get(&self.index.place)?, *now.get(&self.index.place)?);
        let (from, to) = (self.number(from, terms), self.number(to, terms));
        let one = terms.constant(INDEX_BITS, 1);
        let (lo, hi) = match self.index.down {
            true => (terms.add(to, one), terms.add(from, one)),
            false => (from, to),
        };
        let j = terms.variable_to_bind(INDEX_BITS);
        let x = self.shape.element(array, j, terms)?;
        let width = terms.width(x);
        let of_width = |p: LoopLocation, terms: &Terms| now.get(&p).copied().filter(|v| terms.width(*v) == width);
        let body = match self.says {
            Says::Constant(k) | Says::Differs(k) | Says::AtLeast(k) | Says::AtMost(k) => {
                let k = terms.constant(width, k as u64);
                self.compare(x, k, terms)
            }
            Says::Value(p) | Says::DiffersFrom(p) | Says::AtLeastValue(p) | Says::AtMostValue(p) => {
                let v = of_width(p, terms)?;
                self.compare(x, v, terms)
            }
            Says::Affine(a, b) => {
                let (a, b) = (terms.constant(width, a as u64), terms.constant(width, b as u64));
                let j = terms.resize_unsigned(j, width);
                let (times, x) = (terms.mul(j, a), x);
                let is = terms.add(times, b);
                terms.eq(x, is)
            }
            Says::SameAs(other) => {
                let other = *now.get(&LoopLocation::Array(other))?;
                let y = self.shape.element(other, j, terms)?;
                terms.eq(x, y)
            }
            Says::OthersKept => {
                let before = *entry.get(&LoopLocation::Array(self.obj))?;
                if stores(before, terms) > STORES {
                    return None;
                }
                let y = self.shape.element(before, j, terms)?;
                let same = terms.eq(x, y);
                let (above, below) = (terms.ule(lo, j), terms.ult(j, hi));
                let inside = terms.and(above, below);
                let body = terms.or(inside, same);
                let count = terms.constant(INDEX_BITS, self.count);
                return Some(terms.forall(j, count, body));
            }
        };
        Some(terms.forall_in(j, lo, hi, body))
    }

    fn compare(&self, x: TermId, v: TermId, terms: &mut Terms) -> TermId {
        match self.says {
            Says::Differs(_) | Says::DiffersFrom(_) => terms.ne(x, v),
            Says::AtLeast(_) | Says::AtLeastValue(_) => terms.sle(v, x),
            Says::AtMost(_) | Says::AtMostValue(_) => terms.sle(x, v),
            _ => terms.eq(x, v),
        }
    }
}

impl Shape {
    /// The number with this index.
    fn element(self, array: TermId, index: TermId, terms: &mut Terms) -> Option<TermId> {
        let stride = terms.constant(INDEX_BITS, u64::from(self.stride));
        let first = terms.mul(index, stride);
        let mut out = None;
        for i in 0..self.bytes {
            let k = terms.constant(INDEX_BITS, u64::from(self.offset) + u64::from(i));
            let at = terms.add(first, k);
            let byte = terms.read(array, at);
            out = Some(out.map_or(byte, |low| terms.concat(byte, low)));
        }
        out
    }
}

/// How many writes the array has.
fn stores(mut array: TermId, terms: &Terms) -> usize {
    let mut n = 0;
    while terms.op(array) == Op::Store {
        (n, array) = (n + 1, terms.node(array).arg_a());
    }
    n
}

/// What the function does with numbers in memory.
struct Uses {
    shapes: Vec<Shape>,
    stored: BTreeSet<i64>,
}

fn uses(func: FuncId, program: &Program) -> Uses {
    let f = program.function(func);
    let (mut sizes, mut strides, mut offsets) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::from([0]));
    let mut stored = BTreeSet::from([0]);
    for inst in &f.insts {
        match *inst {
            Inst::Store { ty, value, .. } => {
                sizes.insert(program.target.store_bytes(ty));
                if let OpndKind::Const(c) = value.kind()
                    && let Some(Const::Int { value, width }) = f.consts.get(c as usize)
                    && stored.len() < CONSTANTS
                {
                    stored.insert(sign_extend(*value, *width));
                }
            }
            Inst::Load { ty, .. } => drop(sizes.insert(program.target.store_bytes(ty))),
            Inst::Gep { offset, parts, .. } => {
                offsets.insert(offset);
                strides.extend(f.scaled[parts.as_range()].iter().map(|s| s.scale));
            }
            _ => {}
        }
    }
    sizes.retain(|b| matches!(b, 1 | 2 | 4 | 8));
    strides.extend(sizes.iter().map(|b| *b as i64));
    let mut shapes = Vec::new();
    for &stride in strides.iter().filter(|s| (1..=STRIDE).contains(*s)) {
        for &bytes in sizes.iter().filter(|b| **b as i64 <= stride) {
            for &offset in offsets.iter().filter(|o| (0..=stride - bytes as i64).contains(*o)) {
                shapes.push(Shape { bytes: bytes as u8, stride: stride as u8, offset: offset as u8 });
            }
        }
    }
    // Plain arrays first.
    shapes.sort_by_key(|s| (s.bytes != s.stride, *s));
    shapes.truncate(SHAPES);
    Uses { shapes, stored }
}

/// Registers and words that move one way, as far as is known by now.
fn indices(at: &AtHeader, entry: &LoopEntry, obj: ObjId, terms: &Terms) -> Vec<Index> {
    let mut places: Vec<LoopLocation> = entry.values.keys().copied().collect();
    places.sort_unstable();
    let mut out = Vec::new();
    for place in places {
        let points = match place {
            LoopLocation::Register(r) => {
                let to = entry.objects.get(&r);
                if !at.written.iter().any(|w| w.0 == r) || to.is_some_and(|o| *o != obj) {
                    continue;
                }
                to.is_some()
            }
            LoopLocation::Word { .. } => false,
            LoopLocation::Array(_) => continue,
        };
        let grows = at.dropped.contains(&Candidate::AtMostEntry(place, true));
        let shrinks = at.dropped.contains(&Candidate::AtLeastEntry(place, true));
        if grows != shrinks && matches!(terms.width(entry.values[&place]), 32 | 64) {
            out.push(Index { place, points, down: shrinks });
        }
    }
    out.truncate(INDICES);
    out
}

/// What elements may be.
pub(super) fn guess(at: &AtHeader, entry: &LoopEntry, program: &Program, terms: &Terms) -> Vec<Candidate> {
    let func = FuncId(entry.header.0);
    let used = uses(func, program);
    let width = |r: u32| entry.values.get(&LoopLocation::Register(r)).map(|v| terms.width(*v));
    let of = |all: &[(u32, u16)], shape: Shape| -> Vec<LoopLocation> {
        let wide = u16::from(shape.bytes) * 8;
        let fits = |r: &(u32, u16)| width(r.0) == Some(wide) && !entry.objects.contains_key(&r.0);
        all.iter().copied().filter(fits).map(|r| LoopLocation::Register(r.0)).collect()
    };
    let changed: Vec<ObjId> = arrays(at).collect();
    let mut out = Vec::new();
    for (obj, changes) in changed.iter().map(|o| (*o, true)).chain(at.sources.iter().map(|o| (*o, false))) {
        let Some(len) = entry.state_size(obj) else { continue };
        for index in indices(at, entry, obj, terms) {
            for &shape in &used.shapes {
                let mut says: Vec<Says> = Vec::new();
                let compared: Vec<i64> = constants(func, u16::from(shape.bytes) * 8, program).into_iter().collect();
                if changes {
                    says.push(Says::OthersKept);
                    says.extend(used.stored.iter().map(|k| Says::Constant(*k)));
                    says.extend(used.stored.iter().flat_map(|k| [Says::AtLeast(*k), Says::AtMost(*k)]));
                    says.extend(of(&at.kept, shape).into_iter().map(Says::Value));
                    says.extend([(1, 0), (1, 1), (2, 0), (2, 1)].map(|(a, b)| Says::Affine(a, b)));
                    let others = changed.iter().chain(&at.sources).filter(|o| **o != obj);
                    says.extend(others.map(|o| Says::SameAs(*o)));
                } else {
                    let moving = of(&at.written, shape).into_iter().filter(|p| *p != index.place);
                    says.extend(moving.flat_map(|p| [Says::AtLeastValue(p), Says::AtMostValue(p)]));
                    says.extend(of(&at.kept, shape).into_iter().map(Says::DiffersFrom));
                    says.extend(compared.iter().take(CONSTANTS).flat_map(|k| [Says::Constant(*k), Says::Differs(*k)]));
                    says.extend(at.sources.iter().filter(|o| **o > obj).map(|o| Says::SameAs(*o)));
                }
                let count = len / u64::from(shape.stride);
                let elements = |says| Elements { obj, count, shape, index, says };
                out.extend(says.into_iter().map(|s| Candidate::Elements(elements(s))));
            }
        }
    }
    out.retain(|c| !at.dropped.contains(c));
    out.truncate(MAX_CANDIDATES);
    out
}
