//! A condition on states: a conjunction over locations.

use crate::linear_sum::Sum;
use crate::location::{Loc, Locs};
use pleach_expr::arc::Meet;
use pleach_expr::{SymbolId, TermId, Terms};
use pleach_ir::BlockId;
use pleach_memory::{ObjId, ObjectKind};
use pleach_state::access_path::frames;
use pleach_state::{Link, PointerSource, SizeBound, State};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;

/// Whose local an object may be.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum OwningFrame {
    Any,
    /// no local of the frames at this call depth or above: it is still there when they have returned
    Outlives(u32),
    /// a local of the frame at this call depth
    LocalOf(u32),
}

impl OwningFrame {
    /// Both at once; `None` if that cannot be said.
    pub fn and(self, other: OwningFrame) -> Option<OwningFrame> {
        match (self, other) {
            (OwningFrame::Any, h) | (h, OwningFrame::Any) => Some(h),
            (OwningFrame::Outlives(a), OwningFrame::Outlives(b)) => Some(OwningFrame::Outlives(a.min(b))),
            (a, b) => (a == b).then_some(a),
        }
    }
}

/// `ptr` points to live memory with room for `bytes`, writable if `write`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Dereferenceable {
    pub ptr: TermId,
    /// where it pointed on the recorded path
    pub obj: ObjId,
    pub off: Option<u64>,
    pub bytes: u64,
    pub write: bool,
    /// false: only that the object is live; inside and outside its bounds are both known
    pub bounded: bool,
    /// the object is promised to lie at a multiple of 2^align
    pub align: u8,
    pub owner: OwningFrame,
}

impl Dereferenceable {
    /// Points into a live object, with room for nothing yet.
    pub fn new(ptr: TermId, obj: ObjId, off: Option<u64>) -> Dereferenceable {
        Dereferenceable { ptr, obj, off, bytes: 0, write: false, bounded: true, align: 0, owner: OwningFrame::Any }
    }
}

/// `ptr` points to the object variable `obj`: at `off`, or anywhere in it. Different object variables are different objects.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PointsTo {
    pub ptr: TermId,
    pub obj: ObjId,
    pub off: Option<u64>,
    /// room needed from `off`
    pub bytes: u64,
    pub write: bool,
    /// must be of this kind
    pub kind: Option<ObjectKind>,
    /// must have this size (an access outside it was the error, or may be)
    pub size: Option<SizeBound>,
    /// the object is promised to lie at a multiple of 2^align
    pub align: u8,
    pub owner: OwningFrame,
}

impl PointsTo {
    /// Points into the object, with no other requirement.
    pub fn new(ptr: TermId, obj: ObjId, off: Option<u64>) -> PointsTo {
        PointsTo { ptr, obj, off, bytes: 0, write: false, kind: None, size: None, align: 0, owner: OwningFrame::Any }
    }

    /// What a link says, as a points-to literal.
    pub fn of_link(locs: &mut Locs, terms: &mut Terms, link: Link) -> PointsTo {
        let w = terms.pointer_bits;
        let loc = match link.holder {
            PointerSource::Register { depth, slot } => Loc::Reg { depth, slot },
            PointerSource::Memory { obj, off } => Loc::Cell { obj, off, bytes: u32::from(w) / 8 },
        };
        PointsTo::new(locs.term(terms, loc, w), link.to, Some(link.off))
    }
}

/// `ptr` points into an object that is no longer there: freed by the program, or a local whose function returned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Dangling {
    pub ptr: TermId,
    /// where it pointed on the recorded path
    pub obj: ObjId,
    pub freed: bool,
    /// at exactly this offset
    pub at: Option<i64>,
}

/// `ptr` points into one of these objects, with room for `bytes`: which of them is for the literals to say.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MayPointToLiteral {
    pub ptr: TermId,
    pub objects: Vec<ObjId>,
    pub bytes: u64,
    pub write: bool,
    /// outside their bounds is known as well
    pub outside: bool,
    /// null is known as well
    pub null: bool,
}

/// Under a bound on loops: the loop at `header`, in the frame at this call depth, went back to its start at least this
/// often, so it has at most as many rounds left as on the recorded path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rounds {
    pub depth: u32,
    pub header: BlockId,
    pub at_least: u32,
}

impl Rounds {
    pub fn hold_in(&self, state: &State) -> bool {
        let frame = frames(state).find(|(depth, _)| *depth == self.depth);
        frame.is_some_and(|(_, f)| f.visits.get(&self.header).copied().unwrap_or(0) >= self.at_least)
    }
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Condition {
    pub literals: Vec<TermId>,
    pub dereferenceable: Vec<Dereferenceable>,
    pub points_to: Vec<PointsTo>,
    pub dangling: Vec<Dangling>,
    /// with leaks checked for: the live heap blocks are among these object variables; everything else would be lost at
    /// the end
    pub blocks: Option<BTreeSet<ObjId>>,
    /// literals with many summands
    pub sums: Vec<Sum>,
    pub choices: Vec<MayPointToLiteral>,
    /// assumptions that some input must meet, each with all that is known where it is made: a state satisfies it if its
    /// path constraint allows all of these together. What is neither a location nor a symbolic variable of the state
    /// may have any value that fits
    pub satisfiable: Vec<Vec<TermId>>,
    /// one for each loop
    pub rounds: Vec<Rounds>,
}

/// Assumptions to be kept possible: more are not worth it.
pub const MAX_POSSIBLE: usize = 8;

impl Condition {
    pub fn is_true(&self) -> bool {
        self.literals.is_empty()
            && self.dereferenceable.is_empty()
            && self.points_to.is_empty()
            && self.dangling.is_empty()
            && self.blocks.is_none()
            && self.sums.is_empty()
            && self.choices.is_empty()
            && self.satisfiable.is_empty()
            && self.rounds.is_empty()
    }

    pub fn len(&self) -> usize {
        let pointers = self.dereferenceable.len() + self.points_to.len() + self.dangling.len() + self.choices.len();
        self.literals.len()
            + pointers
            + self.sums.len()
            + usize::from(self.blocks.is_some())
            + self.satisfiable.len()
            + self.rounds.len()
    }
    pub fn is_empty(&self) -> bool {
        self.is_true()
    }

    /// Equal but for literals and rounds.
    pub fn same_but_literals(&self, other: &Condition) -> bool {
        self.dereferenceable == other.dereferenceable
            && self.points_to == other.points_to
            && self.dangling == other.dangling
            && self.blocks == other.blocks
            && self.sums == other.sums
            && self.choices == other.choices
            && self.satisfiable == other.satisfiable
    }

    pub fn require(&mut self, literal: TermId) {
        if literal != Terms::TRUE && !self.literals.contains(&literal) {
            self.literals.push(literal);
        }
    }

    pub fn require_dereferenceable(&mut self, v: Dereferenceable) {
        if !self.dereferenceable.iter().any(|o| {
            o.ptr == v.ptr
                && o.bytes >= v.bytes
                && (o.write || !v.write)
                && (o.bounded || !v.bounded)
                && o.align >= v.align
                && (o.owner == v.owner || v.owner == OwningFrame::Any)
        }) {
            self.dereferenceable.push(v);
        }
    }

    pub fn require_points_to(&mut self, p: PointsTo) {
        if !self.points_to.contains(&p) {
            self.points_to.push(p);
        }
    }

    pub fn require_dangling(&mut self, d: Dangling) {
        if !self.dangling.contains(&d) {
            self.dangling.push(d);
        }
    }

    pub fn require_sum(&mut self, s: Sum) {
        let same = self.sums.iter_mut().find(|o| o.width == s.width && o.parts == s.parts);
        match same.map(|o| (o.arc.meet(s.arc, s.width), o)) {
            Some((Meet::Arc(both), o)) => o.arc = both,
            Some((Meet::Nothing, _)) => self.require(Terms::FALSE),
            _ => self.sums.push(s),
        }
    }

    /// Turns sums into ordinary literals.
    pub fn write_sums(&mut self, terms: &mut Terms, which: impl Fn(&Sum) -> bool) {
        for s in std::mem::take(&mut self.sums) {
            if which(&s) {
                s.literals(terms).into_iter().for_each(|l| self.require(l));
            } else {
                self.sums.push(s);
            }
        }
    }

    pub fn require_choice(&mut self, c: MayPointToLiteral) {
        if !self.choices.contains(&c) {
            self.choices.push(c);
        }
    }

    /// All of these together must be possible.
    pub fn require_satisfiable(&mut self, mut together: Vec<TermId>) {
        together.retain(|t| *t != Terms::TRUE);
        together.sort_unstable();
        together.dedup();
        if !together.is_empty() && !self.satisfiable.contains(&together) {
            self.satisfiable.push(together);
        }
    }

    /// What must be possible must be so where `e` holds.
    pub fn satisfiable_under(&mut self, e: TermId) {
        for mut together in std::mem::take(&mut self.satisfiable) {
            together.push(e);
            self.require_satisfiable(together);
        }
    }

    pub fn require_rounds(&mut self, r: Rounds) {
        match self.rounds.iter_mut().find(|o| (o.depth, o.header) == (r.depth, r.header)) {
            Some(o) => o.at_least = o.at_least.max(r.at_least),
            None if r.at_least > 0 => self.rounds.push(r),
            None => {}
        }
    }

    pub fn and(&mut self, other: Condition) {
        for r in other.rounds {
            self.require_rounds(r);
        }
        for p in other.satisfiable {
            self.require_satisfiable(p);
        }
        for l in other.literals {
            self.require(l);
        }
        for v in other.dereferenceable {
            self.require_dereferenceable(v);
        }
        for p in other.points_to {
            self.require_points_to(p);
        }
        for d in other.dangling {
            self.require_dangling(d);
        }
        self.blocks = match (self.blocks.take(), other.blocks) {
            (Some(a), Some(b)) => Some(a.intersection(&b).copied().collect()),
            (a, b) => a.or(b),
        };
        for s in other.sums {
            self.require_sum(s);
        }
        for c in other.choices {
            self.require_choice(c);
        }
    }

    /// All terms the condition is made of, but for its sums.
    pub fn terms(&self) -> impl Iterator<Item = TermId> + '_ {
        let satisfiable = self.satisfiable.iter().flatten().copied();
        self.literals.iter().copied().chain(satisfiable).chain(self.pointers())
    }

    /// The pointers that it constrains.
    pub fn pointers(&self) -> impl Iterator<Item = TermId> + '_ {
        let dereferenceable = self.dereferenceable.iter().map(|v| v.ptr);
        let others = self.dangling.iter().map(|d| d.ptr).chain(self.choices.iter().map(|c| c.ptr));
        dereferenceable.chain(self.points_to.iter().map(|p| p.ptr)).chain(others)
    }

    fn pointers_mut(&mut self) -> impl Iterator<Item = &mut TermId> {
        let dereferenceable = self.dereferenceable.iter_mut().map(|v| &mut v.ptr);
        let others = self.dangling.iter_mut().map(|d| &mut d.ptr).chain(self.choices.iter_mut().map(|c| &mut c.ptr));
        dereferenceable.chain(self.points_to.iter_mut().map(|p| &mut p.ptr)).chain(others)
    }

    /// The symbols the condition mentions.
    pub fn support(&self, terms: &mut Terms) -> FxHashSet<SymbolId> {
        let mut s = self.support_but_sums(terms);
        for sum in &self.sums {
            s.extend(sum.parts.values().map(|(t, _)| SymbolId(terms.node(*t).a)));
        }
        s
    }

    /// The symbols of all but the sums, which can be read one by one.
    pub fn support_but_sums(&self, terms: &mut Terms) -> FxHashSet<SymbolId> {
        let mut s = FxHashSet::default();
        for t in self.terms() {
            s.extend(terms.support(t).iter().map(|k| k.symbol()));
        }
        s
    }

    /// One of its terms, other than a sum.
    pub fn has(&self, t: TermId) -> bool {
        self.literals.contains(&t)
            || self.pointers().any(|p| p == t)
            || self.satisfiable.iter().any(|together| together.contains(&t))
    }

    /// Replaces locations by terms, everywhere.
    pub fn substitute(&mut self, terms: &mut Terms, locs: &Locs, map: &FxHashMap<TermId, TermId>) {
        self.substitute_sums(terms, locs, map);
        self.substitute_but_sums(terms, map);
    }

    pub fn substitute_but_sums(&mut self, terms: &mut Terms, map: &FxHashMap<TermId, TermId>) {
        let mut r = terms.replacing(map);
        self.change_literals(|l| terms.substitute_by(l, &mut r));
        self.substitute_satisfiable(terms, map);
        self.substitute_pointers(terms, map);
    }

    /// The same where it is known which of its terms change: all but the sums.
    pub fn change(&mut self, changed: &FxHashMap<TermId, TermId>) {
        if changed.is_empty() {
            return;
        }
        let new = |t: TermId| changed.get(&t).copied().unwrap_or(t);
        self.change_literals(new);
        for together in std::mem::take(&mut self.satisfiable) {
            self.require_satisfiable(together.into_iter().map(new).collect());
        }
        for p in self.pointers_mut() {
            *p = new(*p);
        }
    }

    /// The same in sums alone; those that are none any more become literals.
    pub fn substitute_sums(&mut self, terms: &mut Terms, locs: &Locs, map: &FxHashMap<TermId, TermId>) {
        for s in std::mem::take(&mut self.sums) {
            match s.substitute(terms, locs, map) {
                Some(new) if new.parts.is_empty() => new.literals(terms).into_iter().for_each(|l| self.require(l)),
                Some(new) => self.require_sum(new),
                None => s.literals(terms).into_iter().for_each(|l| self.require(l)),
            }
        }
    }

    pub fn substitute_satisfiable(&mut self, terms: &mut Terms, map: &FxHashMap<TermId, TermId>) {
        let mut r = terms.replacing(map);
        for together in std::mem::take(&mut self.satisfiable) {
            self.require_satisfiable(together.into_iter().map(|t| terms.substitute_by(t, &mut r)).collect());
        }
    }

    /// Those that stay as they are differ already; only new ones are compared with the others.
    fn change_literals(&mut self, mut new: impl FnMut(TermId) -> TermId) {
        let mut changed = |l: TermId| Some(new(l)).filter(|new| *new != l);
        let first = self.literals.iter().enumerate().find_map(|(i, &l)| changed(l).map(|new| (i, new)));
        let Some((at, new)) = first else { return };
        let rest = self.literals.split_off(at);
        let mut added: Vec<TermId> = Vec::new();
        let news = std::iter::once(Some(new));
        for (&l, known) in rest.iter().zip(news.chain(std::iter::repeat(None))) {
            match known.or_else(|| changed(l)) {
                Some(new) if new != Terms::TRUE && !self.literals.contains(&new) => {
                    self.literals.push(new);
                    added.push(new);
                }
                Some(_) => {}
                None if added.contains(&l) => {}
                None => self.literals.push(l),
            }
        }
    }

    pub fn substitute_pointers(&mut self, terms: &mut Terms, map: &FxHashMap<TermId, TermId>) {
        let mut r = terms.replacing(map);
        for p in self.pointers_mut() {
            *p = terms.substitute_by(*p, &mut r);
        }
    }
}
