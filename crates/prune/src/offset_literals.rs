//! An access at a symbolic offset of an object, as a condition on the object and one on the offset.
//!
//! *Idea*: that `a + 4·i` has four readable bytes follows from `a` having sixteen and `4·i ≤ 12`. The first is about
//! the array alone; the second is a literal, which goes where the program's own check of `i` implies it. *Invariant*:
//! the result implies the condition given, and the state at hand satisfies it. *Direction*: requires all of the room
//! that the object has here, so states with smaller objects are not subsumed.

use crate::matching::Matcher;
use crate::tighten::Context;
use pleach_expr::{Op, TermId, Terms, facts};
use pleach_memory::{ObjId, Value};
use pleach_wp::{Condition, Dereferenceable, PointsTo};
use rustc_hash::FxHashMap;

/// `at` points to the object at hand, at this offset; the pointer is `rest` behind it.
struct SplitOffset {
    at: TermId,
    off: u64,
    rest: TermId,
}

pub(crate) fn by_offset(cx: &mut Context, condition: &mut Condition) {
    let mut places: FxHashMap<TermId, TermId> = FxHashMap::default();
    for p in std::mem::take(&mut condition.points_to) {
        let found = if p.off.is_none() { split_offset(cx, p.ptr, p.obj) } else { None };
        let Some(SplitOffset { at, off, .. }) = found else {
            condition.require_points_to(p);
            continue;
        };
        // SOUND: what is some distance from a pointer into the object is a pointer of the same object.
        condition.require_points_to(PointsTo { ptr: at, off: Some(off), ..p });
        let terms = cx.oracle.terms();
        let (base, k) = (terms.base(p.obj), terms.constant(terms.width(at), off));
        places.insert(at, terms.add(base, k));
    }
    for v in std::mem::take(&mut condition.dereferenceable) {
        let found = if v.off.is_none() && v.bounded { split_offset(cx, v.ptr, v.obj) } else { None };
        match found.and_then(|a| within(cx, &v, a)) {
            Some((whole, inside)) => {
                condition.require_dereferenceable(whole);
                condition.require(inside);
            }
            None => condition.require_dereferenceable(v),
        }
    }
    if !places.is_empty() {
        // SOUND: under the points-to literals both forms are equivalent.
        let literals = std::mem::take(&mut condition.literals);
        for l in literals {
            let terms = cx.oracle.terms();
            let new = if terms.has(l, facts::HAS_BASE) { terms.substitute(l, &places) } else { l };
            condition.require(new);
        }
    }
}

/// All the room from there on, and that the access lies in it.
fn within(
    cx: &mut Context,
    v: &Dereferenceable,
    SplitOffset { at, off, rest }: SplitOffset,
) -> Option<(Dereferenceable, TermId)> {
    let room = cx.state.memory.get(v.obj)?.size().fixed()?.checked_sub(off)?;
    let terms = cx.oracle.terms();
    let last = terms.constant(terms.width(rest), room.checked_sub(v.bytes)?);
    let inside = terms.ule(rest, last);
    let whole = Dereferenceable { ptr: at, off: Some(off), bytes: room, ..*v };
    (cx.holds)(cx.oracle, inside).then_some((whole, inside))
}

/// A sum with one summand that points to a place in the object.
fn split_offset(cx: &mut Context, ptr: TermId, obj: ObjId) -> Option<SplitOffset> {
    if cx.oracle.terms().op(ptr) != Op::Add {
        return None;
    }
    let mut matcher = Matcher::own(cx.state, cx.locs, cx.fixed);
    for at in summands(cx.oracle.terms(), ptr) {
        if cx.oracle.terms().op(at) != Op::Var {
            continue;
        }
        let Some(value) = matcher.translate(cx.oracle, at) else { continue };
        if let Value::Ptr { obj: o, off } = Value::from_term(cx.oracle.terms(), value)
            && o == obj
        {
            let rest = cx.oracle.terms().sub(ptr, at);
            return u64::try_from(off).ok().map(|off| SplitOffset { at, off, rest });
        }
    }
    None
}

fn summands(terms: &Terms, t: TermId) -> Vec<TermId> {
    let (mut todo, mut out) = (vec![t], Vec::new());
    while let Some(t) = todo.pop() {
        let n = terms.node(t);
        match n.op {
            Op::Add => todo.extend([n.arg_b(), n.arg_a()]),
            _ => out.push(t),
        }
    }
    out
}
