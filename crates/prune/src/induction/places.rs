//! Places whose values candidates speak of: registers of the innermost frame, and words of memory that the loop writes.

use super::general::Changed;
use super::{AtHeader, LoopEntry};
use pleach_expr::{TermId, Terms, facts};
use pleach_memory::{ObjId, Value};
use pleach_state::State;
use pleach_wp::{Loc, Locs};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum LoopLocation {
    Register(u32),
    Word {
        obj: ObjId,
        start: u64,
        bytes: u8,
    },
    /// all bytes of an object, as an array
    Array(ObjId),
}

/// Values of places; a pointer has its offset.
pub(super) type Values = FxHashMap<LoopLocation, TermId>;

/// Words of memory that may be places.
fn word_locations(at: &AtHeader) -> impl Iterator<Item = LoopLocation> + '_ {
    let word = |c: &Changed| match c.len {
        1 | 2 | 4 | 8 => Some(LoopLocation::Word { obj: c.obj, start: c.start, bytes: c.len as u8 }),
        _ => None,
    };
    at.memory.iter().filter_map(word)
}

/// Objects that change as a whole.
pub(super) fn arrays(at: &AtHeader) -> impl Iterator<Item = ObjId> + '_ {
    at.memory.iter().filter(|c| c.start == 0 && c.len > 8).map(|c| c.obj)
}

/// Where written registers that are pointers point to.
pub(super) fn note_objects(state: &State, at: &AtHeader, objects: &mut FxHashMap<u32, ObjId>, terms: &Terms) {
    for &(r, _) in &at.written {
        match state.frame.regs[r as usize] {
            Value::Ptr { obj, .. } => drop(objects.insert(r, obj)),
            Value::Term(t) if terms.has(t, facts::HAS_BASE) => {
                if let [obj] = terms.bases(t)[..] {
                    objects.insert(r, obj);
                }
            }
            _ => {}
        }
    }
}

/// A number: the value itself, or its distance from the start of the object that it has to point to.
pub(super) fn number(v: Value, width: u16, object: Option<ObjId>, terms: &mut Terms) -> Option<TermId> {
    let t = v.to_term(terms, width)?;
    let t = match object {
        Some(obj) => {
            let base = terms.base(obj);
            terms.sub(t, base)
        }
        None => t,
    };
    (!terms.has(t, facts::HAS_BASE) && terms.width(t) == width).then_some(t)
}

pub(super) fn values(state: &State, at: &AtHeader, objects: &FxHashMap<u32, ObjId>, terms: &mut Terms) -> Values {
    let mut out = Values::default();
    for &(r, width) in at.written.iter().chain(&at.kept).filter(|(_, w)| (8..=64).contains(w)) {
        let object = objects.get(&r).copied();
        if let Some(t) = number(state.frame.regs[r as usize], width, object, terms) {
            out.insert(LoopLocation::Register(r), t);
        }
    }
    for place in word_locations(at) {
        let LoopLocation::Word { obj, start, bytes } = place else { continue };
        if let Some(o) = state.memory.get(obj)
            && start + u64::from(bytes) <= o.capacity()
        {
            let v = o.contents.clone().read(terms, start, usize::from(bytes), obj);
            if let Some(t) = number(v, u16::from(bytes) * 8, None, terms) {
                out.insert(place, t);
            }
        }
    }
    for obj in arrays(at).chain(at.sources.iter().copied()) {
        if let Some(o) = state.memory.get(obj).filter(|o| o.size().fixed().is_some()) {
            let mut contents = o.contents.clone();
            let all = contents.whole();
            out.insert(LoopLocation::Array(obj), contents.flatten(terms, all, obj));
        }
    }
    out
}

/// The places as locations, to be explained.
pub(super) fn locations(at: &AtHeader, entry: &LoopEntry, locs: &mut Locs, terms: &mut Terms) -> Values {
    let mut out = Values::default();
    for &(r, width) in at.written.iter().chain(&at.kept).filter(|(r, _)| !entry.objects.contains_key(r)) {
        let loc = Loc::Reg { depth: entry.depth, slot: r };
        out.insert(LoopLocation::Register(r), locs.term(terms, loc, width));
    }
    for place in word_locations(at) {
        let LoopLocation::Word { obj, start, bytes } = place else { continue };
        let loc = Loc::Cell { obj, off: start, bytes: u32::from(bytes) };
        out.insert(place, locs.term(terms, loc, u16::from(bytes) * 8));
    }
    out
}
