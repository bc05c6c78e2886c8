//! A condition on states: a conjunction over locations.

use crate::loc::{Loc, Locs};
use pleach_expr::{SymbolId, TermId, Terms};
use pleach_memory::{ObjId, ObjectKind};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// `ptr` points to live memory with room for `bytes`, writable if `write`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Valid {
    pub ptr: TermId,
    /// where it pointed on the path walked
    pub obj: ObjId,
    pub off: Option<u64>,
    pub bytes: u64,
    pub write: bool,
    /// false: only that the object is live; inside and outside its bounds are both known
    pub bounded: bool,
}

/// `ptr` points to the object variable `obj`: at `off`, or anywhere in it. Different object variables are different objects.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Pin {
    pub ptr: TermId,
    pub obj: ObjId,
    pub off: Option<u64>,
    /// room needed from `off`
    pub bytes: u64,
    pub write: bool,
    /// must be of this kind
    pub kind: Option<ObjectKind>,
    /// must have exactly this size (an access outside it was the error, or may be)
    pub size: Option<u64>,
}

impl Pin {
    /// Points into the object, nothing else asked.
    pub fn new(ptr: TermId, obj: ObjId, off: Option<u64>) -> Pin {
        Pin { ptr, obj, off, bytes: 0, write: false, kind: None, size: None }
    }
}

/// `ptr` points into an object that is no longer there: freed by the program, or a local whose function returned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Dead {
    pub ptr: TermId,
    /// where it pointed on the path walked
    pub obj: ObjId,
    pub freed: bool,
    /// at exactly this offset
    pub at: Option<i64>,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Condition {
    pub literals: Vec<TermId>,
    pub valids: Vec<Valid>,
    pub pins: Vec<Pin>,
    pub dead: Vec<Dead>,
    /// with leaks checked for: the live heap blocks are among these object variables; everything else would be lost at the end
    pub blocks: Option<BTreeSet<ObjId>>,
}

impl Condition {
    pub fn is_true(&self) -> bool {
        self.literals.is_empty()
            && self.valids.is_empty()
            && self.pins.is_empty()
            && self.dead.is_empty()
            && self.blocks.is_none()
    }

    pub fn len(&self) -> usize {
        self.literals.len() + self.valids.len() + self.pins.len() + self.dead.len() + usize::from(self.blocks.is_some())
    }
    pub fn is_empty(&self) -> bool {
        self.is_true()
    }

    pub fn require(&mut self, literal: TermId) {
        if literal != Terms::TRUE && !self.literals.contains(&literal) {
            self.literals.push(literal);
        }
    }

    pub fn require_valid(&mut self, v: Valid) {
        if !self
            .valids
            .iter()
            .any(|o| o.ptr == v.ptr && o.bytes >= v.bytes && (o.write || !v.write) && (o.bounded || !v.bounded))
        {
            self.valids.push(v);
        }
    }

    pub fn require_pin(&mut self, p: Pin) {
        if !self.pins.contains(&p) {
            self.pins.push(p);
        }
    }

    pub fn require_dead(&mut self, d: Dead) {
        if !self.dead.contains(&d) {
            self.dead.push(d);
        }
    }

    pub fn and(&mut self, other: Condition) {
        for l in other.literals {
            self.require(l);
        }
        for v in other.valids {
            self.require_valid(v);
        }
        for p in other.pins {
            self.require_pin(p);
        }
        for d in other.dead {
            self.require_dead(d);
        }
        self.blocks = match (self.blocks.take(), other.blocks) {
            (Some(a), Some(b)) => Some(a.intersection(&b).copied().collect()),
            (a, b) => a.or(b),
        };
    }

    /// All terms the condition is made of.
    pub fn terms(&self) -> impl Iterator<Item = TermId> + '_ {
        self.literals.iter().copied().chain(self.pointers())
    }

    /// The pointers it asks something of.
    pub fn pointers(&self) -> impl Iterator<Item = TermId> + '_ {
        let valids = self.valids.iter().map(|v| v.ptr);
        valids.chain(self.pins.iter().map(|p| p.ptr)).chain(self.dead.iter().map(|d| d.ptr))
    }

    fn pointers_mut(&mut self) -> impl Iterator<Item = &mut TermId> {
        let valids = self.valids.iter_mut().map(|v| &mut v.ptr);
        valids.chain(self.pins.iter_mut().map(|p| &mut p.ptr)).chain(self.dead.iter_mut().map(|d| &mut d.ptr))
    }

    /// The symbols the condition mentions.
    pub fn support(&self, terms: &mut Terms) -> FxHashSet<SymbolId> {
        let mut s = FxHashSet::default();
        for t in self.terms() {
            s.extend(terms.support(t).iter().map(|k| k.symbol()));
        }
        s
    }

    /// Some literal or pin looks into memory.
    pub fn looks_into_memory(&self, terms: &mut Terms, locs: &Locs) -> bool {
        self.support(terms).iter().any(|s| matches!(locs.get(*s), Some(Loc::Cell { .. })))
    }

    /// Replaces locations by terms, everywhere.
    pub fn substitute(&mut self, terms: &mut Terms, map: &FxHashMap<TermId, TermId>) {
        let old = std::mem::take(&mut self.literals);
        for l in old {
            let l = terms.substitute_used(l, map);
            self.require(l);
        }
        self.substitute_pointers(terms, map);
    }

    pub fn substitute_pointers(&mut self, terms: &mut Terms, map: &FxHashMap<TermId, TermId>) {
        for p in self.pointers_mut() {
            *p = terms.substitute_used(*p, map);
        }
    }
}
