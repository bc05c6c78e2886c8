//! Merging address spaces: one space that stands for several, each under its own condition.
//!
//! *Paper*: Memory §5.2.3. *Idea*: what the spaces share is kept; where bytes differ, a [`Choice`] makes one value of
//! theirs. Ids are local to a path: an id names the same object in two spaces only if everything but the contents is
//! equal. *Direction*: what cannot be expressed is refused, with the reason; refusing loses nothing.

use crate::object::Contents;
use crate::size::Size;
use crate::space::{AddressSpace, Object, ObjectEntry, ObjectKind, Site};
use crate::value::{ObjId, Value};
use pleach_expr::Terms;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Makes one value of several, one per member, in the order of the members.
pub trait Choice {
    fn choose(&mut self, terms: &mut Terms, values: &[Value], bits: u16) -> Value;
}

/// Why spaces are not merged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SpaceConflict {
    /// a live object that not all have
    ObjectOfOneSide,
    /// freed, or out of scope, in some only
    EndedOnOneSide,
    /// one id, different objects
    DifferentObjects,
    /// objects were joined into different segments, or split in different ways
    Segments,
    /// bytes that were never written on one side are something else on another
    Background,
}

impl SpaceConflict {
    pub fn describe(self) -> &'static str {
        match self {
            SpaceConflict::ObjectOfOneSide => "an object that not all states have",
            SpaceConflict::EndedOnOneSide => "an object that some states have freed",
            SpaceConflict::DifferentObjects => "different objects",
            SpaceConflict::Segments => "different segments",
            SpaceConflict::Background => "different initial contents of an object",
        }
    }
}

impl AddressSpace {
    /// One space for all of these. `one_sided`: also where some lack a live object that others have allocated.
    pub fn merge(
        spaces: &[&AddressSpace],
        one_sided: bool,
        terms: &mut Terms,
        choice: &mut dyn Choice,
    ) -> Result<AddressSpace, SpaceConflict> {
        let Some(longest) = spaces.iter().copied().rev().max_by_key(|s| s.len()) else {
            return Err(SpaceConflict::DifferentObjects);
        };
        let mut merged = longest.clone();
        let mut differing = BTreeSet::new();
        for s in spaces {
            let segments = Rc::ptr_eq(&s.segments, &longest.segments) || s.segments == longest.segments;
            if !segments || s.fixed != longest.fixed {
                return Err(SpaceConflict::Segments);
            }
            differing.extend(s.objects.unshared(&longest.objects));
            differing.extend(s.len()..longest.len());
            merged.next = merged.next.max(s.next);
            for size in s.sizes.iter().filter(|size| !longest.sizes.contains(size)) {
                if !merged.sizes.contains(size) {
                    Rc::make_mut(&mut merged.sizes).push(*size);
                }
            }
            if !Rc::ptr_eq(&s.pinned, &merged.pinned) {
                Rc::make_mut(&mut merged.pinned).extend(s.pinned.iter());
            }
        }
        for i in differing {
            let id = ObjId(i as u32);
            let entries: Vec<Option<&ObjectEntry>> = spaces.iter().map(|s| s.entry(id)).collect();
            if let Some(entry) = merge_entries(&entries, id, one_sided, terms, choice)? {
                let before = merged.get(id).map_or(0, Object::capacity);
                merged.set(id, entry);
                merged.live_bytes = merged.live_bytes - before + merged.get(id).map_or(0, Object::capacity);
            }
        }
        Ok(merged)
    }
}

/// The entry for all; `None` if the one with the most objects has it already.
fn merge_entries(
    entries: &[Option<&ObjectEntry>],
    id: ObjId,
    one_sided: bool,
    terms: &mut Terms,
    choice: &mut dyn Choice,
) -> Result<Option<ObjectEntry>, SpaceConflict> {
    let mut live: Vec<&Rc<Object>> = Vec::with_capacity(entries.len());
    let mut ended = 0;
    for e in entries {
        match e {
            Some(ObjectEntry::Live(o)) => live.push(o),
            Some(ObjectEntry::InSegment(..) | ObjectEntry::Freed(_) | ObjectEntry::OutOfScope { .. }) => ended += 1,
            None => {}
        }
    }
    if live.is_empty() {
        return if all_same(entries) { Ok(None) } else { Err(SpaceConflict::DifferentObjects) };
    }
    let missing = entries.iter().any(Option::is_none);
    if ended > 0 {
        return Err(if missing && !one_sided { SpaceConflict::ObjectOfOneSide } else { SpaceConflict::EndedOnOneSide });
    }
    let first = live[0];
    if missing {
        if !one_sided {
            return Err(SpaceConflict::ObjectOfOneSide);
        }
        // SOUND: a member that has no such object has no pointer to it either, so nobody looks there under its
        // condition: it may have what another has.
        live = entries.iter().map(|e| if let Some(ObjectEntry::Live(o)) = e { o } else { first }).collect();
    }
    if live.iter().all(|o| Rc::ptr_eq(o, first)) {
        return Ok(None);
    }
    if !live.iter().all(|o| header(o) == header(first) && o.contents.size() == first.contents.size()) {
        return Err(SpaceConflict::DifferentObjects);
    }
    let size = merge_sizes(&live, terms, choice);
    let contents: Vec<&Contents> = live.iter().map(|o| &o.contents).collect();
    let contents = Contents::merge(&contents, id, terms, choice)?;
    Ok(Some(ObjectEntry::Live(Rc::new(first.with(size, contents)))))
}

/// Sizes that differ become one term. Each member's path constraint keeps its own within the capacity.
fn merge_sizes(live: &[&Rc<Object>], terms: &mut Terms, choice: &mut dyn Choice) -> Size {
    let first = live[0];
    if live.iter().all(|o| o.size() == first.size()) {
        return first.size();
    }
    let value = |o: &&Rc<Object>| match o.size() {
        Size::Fixed(n) => Value::Int(n),
        Size::Symbolic { size, .. } => Value::Term(size),
    };
    let values: Vec<Value> = live.iter().map(value).collect();
    let bits = terms.pointer_bits;
    let capacity = live.iter().map(|o| o.capacity()).max().unwrap_or(0);
    match choice.choose(terms, &values, bits).to_term(terms, bits) {
        Some(size) => Size::Symbolic { size, capacity },
        None => first.size(),
    }
}

/// Objects that nobody has any more, or whose contents are in a segment. A local out of scope can only be named by a
/// pointer that may not be used; all such locals are alike.
fn all_same(entries: &[Option<&ObjectEntry>]) -> bool {
    let mut there = entries.iter().flatten();
    let Some(first) = there.next() else { return true };
    let missing = entries.iter().any(Option::is_none);
    match first {
        ObjectEntry::InSegment(..) if missing => false,
        ObjectEntry::InSegment(o, segment, start) => there
            .all(|e| matches!(e, ObjectEntry::InSegment(p, s, at) if same_header(o, p) && s == segment && at == start)),
        ObjectEntry::Freed(o) => {
            there.all(|e| matches!(e, ObjectEntry::Freed(p) if same_header(o, p) && o.until == p.until))
        }
        ObjectEntry::OutOfScope { .. } => there.all(|e| matches!(e, ObjectEntry::OutOfScope { .. })),
        ObjectEntry::Live(_) => false,
    }
}

/// Everything but the size and the contents.
fn header(o: &Object) -> (u64, u64, ObjectKind, bool, Site) {
    (o.addr, o.align, o.kind, o.readonly, o.site)
}

/// Everything but the contents.
fn same_header(a: &Object, b: &Object) -> bool {
    a.size() == b.size() && header(a) == header(b)
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
