//! A condition on states: a conjunction over locations.

use crate::loc::{Loc, Locs};
use pleach_expr::{SymbolId, TermId, Terms};
use pleach_memory::ObjId;
use rustc_hash::{FxHashMap, FxHashSet};

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
    /// must be a live heap block
    pub heap: bool,
    /// must have exactly this size (an access outside it was the error)
    pub size: Option<u64>,
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Condition {
    pub literals: Vec<TermId>,
    pub valids: Vec<Valid>,
    pub pins: Vec<Pin>,
}

impl Condition {
    pub fn is_true(&self) -> bool {
        self.literals.is_empty() && self.valids.is_empty() && self.pins.is_empty()
    }

    pub fn len(&self) -> usize {
        self.literals.len() + self.valids.len() + self.pins.len()
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
    }

    /// All terms the condition is made of.
    pub fn terms(&self) -> impl Iterator<Item = TermId> + '_ {
        self.literals.iter().copied().chain(self.valids.iter().map(|v| v.ptr)).chain(self.pins.iter().map(|p| p.ptr))
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
        for v in &mut self.valids {
            v.ptr = terms.substitute_used(v.ptr, map);
        }
        for p in &mut self.pins {
            p.ptr = terms.substitute_used(p.ptr, map);
        }
    }
}
