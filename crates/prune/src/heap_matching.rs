//! Matches what a condition says of objects with a state: which they are, that they exist and are large enough.
//!
//! *Invariant*: bindings are injective, and objects that are the same in every state are bound to themselves.

use crate::matching::{MatchFailure, Matcher, frames};
use crate::pointer_literals::aligned;
use pleach_expr::{TermId, Terms, facts, sign_extend};
use pleach_memory::resolve::candidates;
use pleach_memory::{NULL_PAGE, ObjId, ObjectEntry, ObjectKind, Value};
use pleach_state::seams::PathOracle;
use pleach_state::{Frame, State};
use pleach_wp::{Dangling, Dereferenceable, MayPointToLiteral, OwningFrame, PointsTo, room_for};
use std::collections::BTreeSet;

impl Matcher<'_> {
    /// Every live heap block is one of these variables' objects.
    pub(crate) fn no_other_blocks(&self, blocks: &BTreeSet<ObjId>) -> Result<(), MatchFailure> {
        let known: BTreeSet<ObjId> = blocks.iter().filter_map(|b| self.bound(*b)).collect();
        let mut live = self.state.memory.live().filter(|(_, o)| o.kind == ObjectKind::Heap);
        if live.all(|(id, _)| known.contains(&id)) { Ok(()) } else { Err(MatchFailure::Binding) }
    }

    /// Binds objects through points-to literals until nothing changes; every such literal must hold.
    pub(crate) fn bind(&mut self, oracle: &mut dyn PathOracle, points_to: &[PointsTo]) -> Result<(), MatchFailure> {
        let mut waiting: Vec<&PointsTo> = points_to.iter().collect();
        while !waiting.is_empty() {
            let mut rest = Vec::new();
            for p in &waiting {
                match self.translate(oracle, p.ptr) {
                    None => rest.push(*p),
                    Some(t) => self.meet(oracle, p, t)?,
                }
            }
            if rest.len() == waiting.len() {
                return Err(MatchFailure::Binding);
            }
            waiting = rest;
        }
        Ok(())
    }

    fn meet(&mut self, oracle: &mut dyn PathOracle, p: &PointsTo, t: TermId) -> Result<(), MatchFailure> {
        let (obj, off) = self.target(oracle, t).ok_or(MatchFailure::Binding)?;
        match self.binding.get(&p.obj) {
            Some(&o) if o == obj => {}
            Some(_) => return Err(MatchFailure::Binding),
            None => {
                let fixed = p.obj.0 < self.fixed || obj.0 < self.fixed;
                if (fixed && p.obj != obj) || self.binding.values().any(|o| *o == obj) {
                    return Err(MatchFailure::Binding);
                }
                self.binding.insert(p.obj, obj);
            }
        }
        let Some(o) = self.state.memory.get(obj) else { return Err(MatchFailure::Binding) };
        if (p.write && o.readonly) || p.kind.is_some_and(|k| k != o.kind) || o.kind == ObjectKind::Function {
            return Err(MatchFailure::Binding);
        }
        if !aligned(o, p.align) || !at_home(self.state, p.owner, obj, o.kind) {
            return Err(MatchFailure::Binding);
        }
        let there = match (p.off, off) {
            (None, _) => true,
            (Some(want), Some(have)) => have >= 0 && want == have as u64,
            (Some(_), None) => false,
        };
        let needed = if p.off.is_some() { *p } else { PointsTo { bytes: 0, ..*p } };
        let room = room_for(oracle.terms(), o.size(), &needed);
        if there && self.is_certain(oracle, room) { Ok(()) } else { Err(MatchFailure::Binding) }
    }

    /// What is said of the size of an object: a constant, or entailed by the path where the size is symbolic.
    fn is_certain(&self, oracle: &mut dyn PathOracle, size: TermId) -> bool {
        size == Terms::TRUE || (size != Terms::FALSE && oracle.entails(self.state, size))
    }

    /// The one object a pointer term points into on this path, and the offset if it is constant.
    pub(crate) fn target(&self, oracle: &mut dyn PathOracle, t: TermId) -> Option<(ObjId, Option<i64>)> {
        if let Value::Ptr { obj, off } = Value::from_term(oracle.terms(), t) {
            return Some((obj, Some(off)));
        }
        if !oracle.terms().has(t, facts::HAS_BASE) {
            return None;
        }
        for way in candidates(oracle.terms(), t)? {
            let Some(obj) = way.obj else { continue };
            // At most one of them holds under the model.
            if oracle.decided(self.state, way.guard) != Some(false) && oracle.entails(self.state, way.guard) {
                let w = oracle.terms().width(way.offset);
                return Some((obj, oracle.terms().as_const(way.offset).map(|k| sign_extend(k, w))));
            }
        }
        None
    }

    pub(crate) fn valid(&mut self, oracle: &mut dyn PathOracle, v: &Dereferenceable) -> Result<(), MatchFailure> {
        let t = self.translate(oracle, v.ptr).ok_or(MatchFailure::Binding)?;
        let (obj, off) = self.target(oracle, t).ok_or(MatchFailure::Binding)?;
        let Some(ObjectEntry::Live(o)) = self.state.memory.entry(obj) else { return Err(MatchFailure::Binding) };
        if o.kind == ObjectKind::Function || (v.write && o.readonly) || !at_home(self.state, v.owner, obj, o.kind) {
            return Err(MatchFailure::Binding);
        }
        if !aligned(o, v.align) {
            return Err(MatchFailure::Binding);
        }
        if !v.bounded {
            return Ok(());
        }
        if v.bytes > o.capacity() {
            return Err(MatchFailure::Binding);
        }
        match off {
            Some(off) => {
                let end = u64::try_from(off).ok().and_then(|off| off.checked_add(v.bytes));
                let inside = end.map_or(Terms::FALSE, |end| o.size().at_least(oracle.terms(), end));
                if self.is_certain(oracle, inside) { Ok(()) } else { Err(MatchFailure::Binding) }
            }
            None => {
                let terms = oracle.terms();
                let base = terms.base(obj);
                let off = terms.sub(t, base);
                let inside = o.size().within(terms, off, v.bytes);
                if oracle.entails(self.state, inside) { Ok(()) } else { Err(MatchFailure::Literal) }
            }
        }
    }

    pub(crate) fn dangling(&mut self, oracle: &mut dyn PathOracle, d: &Dangling) -> Result<(), MatchFailure> {
        let t = self.translate(oracle, d.ptr).ok_or(MatchFailure::Binding)?;
        let (obj, off) = self.target(oracle, t).ok_or(MatchFailure::Binding)?;
        if d.at.is_some() && d.at != off {
            return Err(MatchFailure::Binding);
        }
        match self.state.memory.entry(obj) {
            Some(ObjectEntry::Freed(_)) if d.freed => Ok(()),
            Some(ObjectEntry::OutOfScope { .. }) if !d.freed => Ok(()),
            _ => Err(MatchFailure::Binding),
        }
    }

    /// Whatever the pointer may be into is one of the objects, and inside unless outside is known as well.
    pub(crate) fn choice(&mut self, oracle: &mut dyn PathOracle, c: &MayPointToLiteral) -> Result<(), MatchFailure> {
        let t = self.translate(oracle, c.ptr).ok_or(MatchFailure::Binding)?;
        let found = candidates(oracle.terms(), t).ok_or(MatchFailure::Binding)?;
        for way in found {
            let target = way.obj.filter(|o| c.objects.iter().any(|v| self.bound(*v) == Some(*o)));
            let terms = oracle.terms();
            let fine = match target.map(|o| self.state.memory.get(o)) {
                Some(Some(o)) if o.kind != ObjectKind::Function && !(c.write && o.readonly) => match c.outside {
                    true => Terms::TRUE,
                    false => o.size().within(terms, way.offset, c.bytes),
                },
                None if way.obj.is_none() && c.null => {
                    let page = terms.constant(terms.width(way.offset), NULL_PAGE);
                    terms.ult(way.offset, page)
                }
                _ => Terms::FALSE,
            };
            let claim = terms.implies(way.guard, fine);
            if !oracle.entails(self.state, claim) {
                return Err(MatchFailure::Binding);
            }
        }
        Ok(())
    }
}

fn at_home(state: &State, owner: OwningFrame, obj: ObjId, kind: ObjectKind) -> bool {
    let local = |(_, f): (u32, &Frame)| f.locals.contains(&obj);
    match owner {
        OwningFrame::Any => true,
        OwningFrame::Outlives(d) => kind != ObjectKind::Stack || !frames(state).take_while(|f| f.0 >= d).any(local),
        OwningFrame::LocalOf(d) => frames(state).find(|f| f.0 == d).is_some_and(local),
    }
}
