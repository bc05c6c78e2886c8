//! What a condition says of objects, asked of a state: which they are, that they are there and large enough.
//!
//! *Invariant*: bindings are injective, and objects that are the same in every state are bound to themselves.

use crate::matching::{Matcher, Miss, NULL_PAGE, frames};
use pleach_expr::{TermId, Terms, facts, sign_extend};
use pleach_memory::resolve::candidates;
use pleach_memory::{Entry, ObjId, ObjectKind, Value};
use pleach_state::seams::Logic;
use pleach_state::{Frame, State};
use pleach_wp::{Choice, Dead, Home, Pin, Valid};
use std::collections::BTreeSet;

impl Matcher<'_> {
    /// Every live heap block is one of these variables' objects.
    pub(crate) fn no_other_blocks(&self, blocks: &BTreeSet<ObjId>) -> Result<(), Miss> {
        let known: BTreeSet<ObjId> = blocks.iter().filter_map(|b| self.bound(*b)).collect();
        let mut live = self.state.memory.live().filter(|(_, o)| o.kind == ObjectKind::Heap);
        if live.all(|(id, _)| known.contains(&id)) { Ok(()) } else { Err(Miss::Binding) }
    }

    /// Binds pinned objects until nothing changes; every pin must be met.
    pub(crate) fn bind(&mut self, logic: &mut dyn Logic, pins: &[Pin]) -> Result<(), Miss> {
        let mut waiting: Vec<&Pin> = pins.iter().collect();
        while !waiting.is_empty() {
            let mut rest = Vec::new();
            for p in &waiting {
                match self.translate(logic, p.ptr) {
                    None => rest.push(*p),
                    Some(t) => self.meet(logic, p, t)?,
                }
            }
            if rest.len() == waiting.len() {
                return Err(Miss::Binding);
            }
            waiting = rest;
        }
        Ok(())
    }

    fn meet(&mut self, logic: &mut dyn Logic, p: &Pin, t: TermId) -> Result<(), Miss> {
        let (obj, off) = self.target(logic, t).ok_or(Miss::Binding)?;
        match self.binding.get(&p.obj) {
            Some(&o) if o == obj => {}
            Some(_) => return Err(Miss::Binding),
            None => {
                let fixed = p.obj.0 < self.fixed || obj.0 < self.fixed;
                if (fixed && p.obj != obj) || self.binding.values().any(|o| *o == obj) {
                    return Err(Miss::Binding);
                }
                self.binding.insert(p.obj, obj);
            }
        }
        let Some(o) = self.state.memory.get(obj) else { return Err(Miss::Binding) };
        if (p.write && o.readonly) || p.kind.is_some_and(|k| k != o.kind) || o.kind == ObjectKind::Function {
            return Err(Miss::Binding);
        }
        if p.size.is_some_and(|s| s != o.size) || !at_home(self.state, p.home, obj, o.kind) {
            return Err(Miss::Binding);
        }
        match (p.off, off) {
            (None, _) => Ok(()),
            (Some(want), Some(have)) if p.size.is_some() && have >= 0 && want == have as u64 => Ok(()),
            (Some(want), Some(have)) if have >= 0 && want == have as u64 && want + p.bytes <= o.size => Ok(()),
            _ => Err(Miss::Binding),
        }
    }

    /// The one object a pointer term points into on this path, and the offset if it is constant.
    pub(crate) fn target(&self, logic: &mut dyn Logic, t: TermId) -> Option<(ObjId, Option<i64>)> {
        if let Value::Ptr { obj, off } = Value::from_term(logic.terms(), t) {
            return Some((obj, Some(off)));
        }
        if !logic.terms().has(t, facts::HAS_BASE) {
            return None;
        }
        for way in candidates(logic.terms(), t)? {
            let Some(obj) = way.obj else { continue };
            // At most one of them holds under the model.
            if logic.decided(self.state, way.guard) != Some(false) && logic.entails(self.state, way.guard) {
                let w = logic.terms().width(way.offset);
                return Some((obj, logic.terms().as_const(way.offset).map(|k| sign_extend(k, w))));
            }
        }
        None
    }

    pub(crate) fn valid(&mut self, logic: &mut dyn Logic, v: &Valid) -> Result<(), Miss> {
        let t = self.translate(logic, v.ptr).ok_or(Miss::Binding)?;
        let (obj, off) = self.target(logic, t).ok_or(Miss::Binding)?;
        let Some(Entry::Live(o)) = self.state.memory.entry(obj) else { return Err(Miss::Binding) };
        if o.kind == ObjectKind::Function || (v.write && o.readonly) || !at_home(self.state, v.home, obj, o.kind) {
            return Err(Miss::Binding);
        }
        if !v.bounded {
            return Ok(());
        }
        if v.bytes > o.size {
            return Err(Miss::Binding);
        }
        match off {
            Some(off) if off >= 0 && off as u64 + v.bytes <= o.size => Ok(()),
            Some(_) => Err(Miss::Binding),
            None => {
                let terms = logic.terms();
                let base = terms.base(obj);
                let off = terms.sub(t, base);
                let last = terms.constant(terms.width(off), o.size - v.bytes);
                let inside = terms.ule(off, last);
                if logic.entails(self.state, inside) { Ok(()) } else { Err(Miss::Literal) }
            }
        }
    }

    pub(crate) fn dead(&mut self, logic: &mut dyn Logic, d: &Dead) -> Result<(), Miss> {
        let t = self.translate(logic, d.ptr).ok_or(Miss::Binding)?;
        let (obj, off) = self.target(logic, t).ok_or(Miss::Binding)?;
        if d.at.is_some() && d.at != off {
            return Err(Miss::Binding);
        }
        match self.state.memory.entry(obj) {
            Some(Entry::Freed(_)) if d.freed => Ok(()),
            Some(Entry::Gone { .. }) if !d.freed => Ok(()),
            _ => Err(Miss::Binding),
        }
    }

    /// Whatever the pointer may be into is one of the objects, and inside unless outside is known as well.
    pub(crate) fn choice(&mut self, logic: &mut dyn Logic, c: &Choice) -> Result<(), Miss> {
        let t = self.translate(logic, c.ptr).ok_or(Miss::Binding)?;
        let found = candidates(logic.terms(), t).ok_or(Miss::Binding)?;
        for way in found {
            let among = way.obj.filter(|o| c.objects.iter().any(|v| self.bound(*v) == Some(*o)));
            let terms = logic.terms();
            let fine = match among.map(|o| self.state.memory.get(o)) {
                Some(Some(o)) if o.kind != ObjectKind::Function && !(c.write && o.readonly) => {
                    let last = o.size.checked_sub(c.bytes).map(|k| terms.constant(terms.width(way.offset), k));
                    match last {
                        _ if c.outside => Terms::TRUE,
                        Some(last) => terms.ule(way.offset, last),
                        None => Terms::FALSE,
                    }
                }
                None if way.obj.is_none() && c.null => {
                    let page = terms.constant(terms.width(way.offset), NULL_PAGE);
                    terms.ult(way.offset, page)
                }
                _ => Terms::FALSE,
            };
            let claim = terms.implies(way.guard, fine);
            if !logic.entails(self.state, claim) {
                return Err(Miss::Binding);
            }
        }
        Ok(())
    }
}

fn at_home(state: &State, home: Home, obj: ObjId, kind: ObjectKind) -> bool {
    let local = |(_, f): (u32, &Frame)| f.locals.contains(&obj);
    match home {
        Home::Any => true,
        Home::Outlives(d) => kind != ObjectKind::Stack || !frames(state).take_while(|f| f.0 >= d).any(local),
        Home::LocalOf(d) => frames(state).find(|f| f.0 == d).is_some_and(local),
    }
}
