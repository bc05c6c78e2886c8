//! Pins and valid obligations, fewer and stronger: what they say of globals becomes a literal, several on one pointer
//! become one.
//!
//! *Invariant*: the condition means the same before and after.

use pleach_expr::{Op, TermId, Terms, facts};
use pleach_memory::{ObjId, Object, ObjectKind, Value};
use pleach_state::State;
use pleach_wp::{Condition, Dereferenceable, PointsTo};

/// The offset of a pointer that names a global itself: `β + offset`.
fn offset_in(terms: &mut Terms, fixed: u32, ptr: TermId, obj: ObjId) -> Option<TermId> {
    if obj.0 >= fixed || !terms.has(ptr, facts::HAS_BASE) {
        return None;
    }
    let base = terms.base(obj);
    let off = terms.sub(ptr, base);
    (!terms.has(off, facts::HAS_BASE)).then_some(off)
}

/// A points-to literal or an obligation on a pointer into a named global is a comparison of its offset: globals are
/// always there and never change size.
pub fn globals(terms: &mut Terms, state: &State, fixed: u32, condition: &mut Condition) {
    for p in std::mem::take(&mut condition.points_to) {
        match (offset_in(terms, fixed, p.ptr, p.obj), p.off) {
            (Some(off), Some(at)) if p.size.is_none() => {
                let at = terms.constant(terms.width(off), at);
                let same = terms.eq(off, at);
                condition.require(same);
            }
            (Some(_), None) => {}
            _ => condition.points_to.push(p),
        }
    }
    for v in std::mem::take(&mut condition.dereferenceable) {
        match (offset_in(terms, fixed, v.ptr, v.obj), state.memory.get(v.obj)) {
            (Some(off), Some(o)) if v.bounded && v.bytes <= o.sure() => {
                let last = terms.constant(terms.width(off), o.sure() - v.bytes);
                let inside = terms.ule(off, last);
                condition.require(inside);
            }
            _ => condition.dereferenceable.push(v),
        }
    }
}

/// An object of the state at hand that is promised less than an access needs is not asked for more.
pub fn alignments(state: &State, condition: &mut Condition) {
    // SOUND: what depends on where the object lies was reported as cut where the access was executed, once for each
    // place. Whatever is subsumed would report the same place.
    let met = |obj: ObjId, align: u8| state.memory.header(obj).is_none_or(|o| aligned(o, align));
    for p in condition.points_to.iter_mut().filter(|p| !met(p.obj, p.align)) {
        p.align = 0;
    }
    for v in condition.dereferenceable.iter_mut().filter(|v| !met(v.obj, v.align)) {
        v.align = 0;
    }
}

/// The object is promised to lie at a multiple of 2^align, or its place is known.
pub(crate) fn aligned(o: &Object, align: u8) -> bool {
    o.align >= 1 << align || matches!(o.kind, ObjectKind::Fixed | ObjectKind::Segment)
}

/// `x + k` as x and k, signed.
fn split_constant(terms: &Terms, ptr: TermId) -> (TermId, i64) {
    let n = terms.node(ptr);
    match n.op {
        Op::Add => terms.as_const(n.arg_b()).map_or((ptr, 0), |k| (n.arg_a(), pleach_expr::sign_extend(k, n.width))),
        _ => (ptr, 0),
    }
}

/// `x + 8 points to o + 24` is `x points to o + 16`; points-to literals of one pointer to one location become one, with
/// room for all; obligations on one pointer become one over all their bytes, because an object has no holes.
pub fn merge_places(terms: &Terms, fixed: u32, condition: &mut Condition) {
    // What points to a constant place in a global says nothing about the state: the access there succeeded.
    let evident = |ptr: TermId, obj: ObjId, off: Option<u64>| match Value::from_term(terms, ptr) {
        Value::Ptr { obj: o, off: k } => o == obj && o.0 < fixed && off.is_none_or(|w| k >= 0 && w == k as u64),
        _ => false,
    };
    let mut points_to: Vec<PointsTo> = Vec::new();
    for mut p in std::mem::take(&mut condition.points_to) {
        if p.size.is_none() && evident(p.ptr, p.obj, p.off) {
            continue;
        }
        let (x, k) = split_constant(terms, p.ptr);
        if let (Some(off), Ok(k)) = (p.off, u64::try_from(k))
            && p.size.is_none()
            && k <= off
        {
            p.ptr = x;
            p.off = Some(off - k);
            p.bytes += k;
        }
        let one_kind = |q: &PointsTo| q.kind.is_none() || p.kind.is_none() || q.kind == p.kind;
        let same = |q: &PointsTo| q.ptr == p.ptr && q.obj == p.obj && q.off == p.off && q.size == p.size && one_kind(q);
        match points_to.iter_mut().find_map(|q| if same(q) { q.owner.and(p.owner).map(|h| (q, h)) } else { None }) {
            Some((q, owner)) => {
                q.owner = owner;
                q.bytes = q.bytes.max(p.bytes);
                q.write |= p.write;
                q.align = q.align.max(p.align);
                q.kind = q.kind.or(p.kind);
            }
            None => points_to.push(p),
        }
    }
    let mut dereferenceable: Vec<Dereferenceable> = Vec::new();
    for v in std::mem::take(&mut condition.dereferenceable) {
        if evident(v.ptr, v.obj, v.off) {
            continue;
        }
        let (x, k) = split_constant(terms, v.ptr);
        // A pinned pointer is live: what is left of an obligation is room.
        let known = points_to.iter_mut().find(|p| p.ptr == x && p.off.is_some() && p.size.is_none());
        if let (Some(p), Ok(k)) = (known, u64::try_from(k))
            && p.obj == v.obj
            && v.bounded
            && let Some(owner) = p.owner.and(v.owner)
        {
            p.owner = owner;
            p.bytes = p.bytes.max(k.saturating_add(v.bytes));
            p.write |= v.write;
            p.align = p.align.max(v.align);
            continue;
        }
        let same = |o: &Dereferenceable| {
            split_constant(terms, o.ptr).0 == x
                && o.obj == v.obj
                && o.bounded
                && v.bounded
                && o.owner.and(v.owner).is_some()
        };
        match dereferenceable.iter_mut().find(|o| same(o)) {
            Some(o) => {
                let at = split_constant(terms, o.ptr).1;
                let (first, last) =
                    (at.min(k), (at as i128 + i128::from(o.bytes)).max(k as i128 + i128::from(v.bytes)));
                let bytes = u64::try_from(last - first as i128).unwrap_or(u64::MAX);
                let owner = o.owner.and(v.owner).unwrap_or(o.owner);
                let align = o.align.max(v.align);
                *o = Dereferenceable { bytes, owner, align, write: o.write | v.write, ..if k < at { v } else { *o } };
            }
            None => dereferenceable.push(v),
        }
    }
    condition.points_to = points_to;
    condition.dereferenceable = dereferenceable;
}
