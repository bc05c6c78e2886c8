//! States made general, and what a round changed.
//!
//! *Invariant*: a general state stands for the state that it was made from and for every other that differs from it in
//! registers that the loop writes and in these bytes of memory only, and holds no pointers there.

use super::AtHeader;
use super::places::number;
use pleach_expr::{SymbolKind, TermId, Terms, facts};
use pleach_memory::{Background, ObjId, Object, Value, Window};
use pleach_state::State;
use pleach_state::seams::PathOracle;
use pleach_wp::Locs;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// Objects of which more words change are changed as a whole.
const WORDS: usize = 16;
/// So are objects of which this many neighbours do.
const ELEMENTS: usize = 3;

/// Bytes of an object that rounds of a loop change.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Changed {
    pub obj: ObjId,
    pub start: u64,
    pub len: u64,
}

impl Changed {
    fn window(self) -> Window {
        Window { start: self.start, len: self.len }
    }
}

fn is_pointer(v: Value, terms: &Terms) -> bool {
    match v {
        Value::Ptr { .. } => true,
        Value::Term(t) => terms.has(t, facts::HAS_BASE),
        Value::Int(_) | Value::Undef => false,
    }
}

fn holds_pointers(o: &Object, w: Window, terms: &Terms) -> bool {
    o.contents.held(w).into_iter().any(|v| is_pointer(v, terms))
}

/// What the loop changes may be anything; false if that cannot be said.
pub(super) fn make_general(
    state: &mut State,
    at: &AtHeader,
    objects: &FxHashMap<u32, ObjId>,
    locs: &mut Locs,
    oracle: &mut dyn PathOracle,
) -> bool {
    let terms = oracle.terms();
    for &(r, width) in &at.written {
        let any = locs.fresh_variable(terms, width);
        let register = &mut state.frame.regs[r as usize];
        *register = match objects.get(&r) {
            Some(obj) => {
                let base = terms.base(*obj);
                Value::Term(terms.add(base, any))
            }
            None if is_pointer(*register, terms) => return false,
            None => Value::Term(any),
        };
    }
    for c in &at.memory {
        let Some(o) = state.memory.get(c.obj) else { continue };
        if c.start + c.len > o.capacity() || holds_pointers(o, c.window(), terms) {
            return false;
        }
        if c.len > 8 {
            let array = any_array(locs, terms, c.len);
            let Some(o) = state.memory.get_mut(c.obj) else { return false };
            o.contents.reset(Background::Array(array));
            continue;
        }
        let any = locs.fresh_variable(terms, (c.len * 8) as u16);
        let Some(o) = state.memory.get_mut(c.obj) else { return false };
        o.contents.write(terms, c.start, c.len as usize, Value::Term(any));
    }
    true
}

fn any_array(locs: &mut Locs, terms: &mut Terms, len: u64) -> TermId {
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    let s = locs.fresh_symbol(terms, SymbolKind::Array { element: 8, len });
    terms.array_var(s)
}

/// Adds what changed; what changes as a whole has no single words.
pub(super) fn add_changed(memory: &mut BTreeSet<Changed>, new: BTreeSet<Changed>) {
    memory.extend(new);
    let whole: Vec<Changed> = memory.iter().filter(|c| c.start == 0 && c.len > 8).copied().collect();
    memory.retain(|c| whole.iter().all(|w| w == c || w.obj != c.obj || w.len < c.start + c.len));
}

/// Registers that the loop writes hold what the general state's may.
pub(super) fn fits(state: &State, at: &AtHeader, objects: &FxHashMap<u32, ObjId>, terms: &mut Terms) -> bool {
    at.written.iter().all(|&(r, width)| match (state.frame.regs[r as usize], objects.get(&r)) {
        (Value::Undef, None) => true,
        (v, object) => number(v, width, object.copied(), terms).is_some(),
    })
}

/// What is not as on entry and not known to change; `None`: the state cannot be described so.
pub(super) fn changed_memory(
    state: &State,
    entry: &State,
    known: &BTreeSet<Changed>,
    terms: &Terms,
) -> Option<BTreeSet<Changed>> {
    let same = state.frame.locals == entry.frame.locals
        && state.at_exit == entry.at_exit
        && state.phase == entry.phase
        && state.forking == entry.forking
        && state.callers.as_ref().map(|c| c.depth) == entry.callers.as_ref().map(|c| c.depth);
    if !same {
        return None;
    }
    let mut out = BTreeSet::new();
    let (mut now, mut then) = (state.memory.live(), entry.memory.live());
    loop {
        let (a, b) = match (now.next(), then.next()) {
            (None, None) => return Some(out),
            (Some(a), Some(b)) if a.0 == b.0 => (a, b),
            _ => return None,
        };
        if std::ptr::eq(a.1, b.1) {
            continue;
        }
        out.extend(changed_object(a.0, state, a.1, b.1, known, terms)?);
    }
}

fn changed_object(
    obj: ObjId,
    state: &State,
    now: &Object,
    then: &Object,
    known: &BTreeSet<Changed>,
    terms: &Terms,
) -> Option<Vec<Changed>> {
    let header = |o: &Object| (o.addr, o.align, o.kind, o.readonly, o.size().fixed());
    let size = now.size().fixed()?;
    if header(now) != header(then) || state.memory.segment_of(obj).is_some() {
        return None;
    }
    let whole = Changed { obj, start: 0, len: size };
    let known: Vec<Changed> = known.iter().filter(|c| c.obj == obj).copied().collect();
    // The same number may be that of another object on another path.
    if known.iter().any(|c| c.start + c.len > size) {
        return None;
    }
    // SOUND: the general state has no pointers there.
    if known.iter().any(|c| holds_pointers(now, c.window(), terms)) {
        return None;
    }
    if known.contains(&whole) {
        return Some(Vec::new());
    }
    let Some(bytes) = now.contents.differences(&then.contents) else { return Some(vec![whole]) };
    let mut words: BTreeSet<Changed> = BTreeSet::new();
    for at in bytes {
        if known.iter().any(|c| c.start <= at && at < c.start + c.len) {
            continue;
        }
        let (start, len) = if size <= 8 && size.is_power_of_two() { (0, size) } else { (at / 4 * 4, 4) };
        words.insert(Changed { obj, start, len: len.min(size - start) });
    }
    let mut starts: Vec<u64> = words.iter().chain(&known).map(|c| c.start).collect();
    starts.sort_unstable();
    // Neighbours that change one after the other are elements of an array.
    let elements = starts.windows(ELEMENTS).any(|w| w[ELEMENTS - 1] - w[0] == 4 * (ELEMENTS as u64 - 1));
    let many = elements && !holds_pointers(now, whole.window(), terms) || starts.len() > WORDS;
    if many || words.iter().any(|w| !w.len.is_power_of_two()) {
        return Some(vec![whole]);
    }
    Some(words.into_iter().collect())
}
