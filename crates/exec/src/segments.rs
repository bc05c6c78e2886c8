//! Joining the targets of a pointer into one segment.
//!
//! *Paper*: Memory §3.2.3. *Idea*: objects that one pointer may refer to go into one segment
//! (`pleach_memory::segments`). A pointer whose objects all lie there needs no further resolution; one that only the
//! solver can resolve is decided by a single query: does it lie in the segment? *Deviations*: whether an access is in
//! bounds is decided by the bounds of the object that the pointer was made for wherever the pointer says so, never by
//! the segment's. *Direction*: what cannot be joined (its address was seen, it is too large) is handled as with `ite`,
//! or forks where only the solver knows the targets. Static segments (§3.2.3.1) take in all live objects of the
//! points-to classes of the targets when the first pointer with multiple targets is accessed, not when they are
//! allocated: until then accesses are as cheap as without, and the analysis is not made.

use crate::access::{AccessKind, ResolvedLocation};
use crate::feasibility::Feasibility;
use crate::flow::{Flow, Step, StepResult};
use crate::machine::Machine;
use crate::multi_target_access::ResolvedAccess;
use crate::resolution::ResolutionSide;
use pleach_expr::{TermId, Terms};
use pleach_ir::CmpOp;
use pleach_memory::segments::Pins;
use pleach_memory::{NULL_PAGE, ObjId, Object, ObjectKind, Resolution, Value};
use pleach_state::{ForkKind, State};
use std::collections::BTreeSet;

impl Machine {
    /// Moves objects into one segment, if that can be done.
    pub(crate) fn join(&mut self, st: &mut State, objects: &[ObjId]) -> Option<ObjId> {
        let mut targets = objects.to_vec();
        targets.sort_unstable();
        targets.dedup();
        if targets.len() < 2 {
            return None;
        }
        let segments: Option<Vec<ObjId>> = targets.iter().map(|o| st.memory.segment_of(*o).map(|s| s.0)).collect();
        if let Some(segment) = segments.and_then(|h| only(h.into_iter())) {
            return Some(segment);
        }
        let mates = self.points_to_class(st, &targets);
        let place = (st.frame.func.0, st.inst);
        let (segment, size) = self.model.join(&mut st.memory, &mut self.terms, &targets, mates, place)?;
        self.resolved.joined(size);
        Some(segment)
    }

    /// Movable objects in the same points-to class as these.
    fn points_to_class(&self, st: &State, objects: &[ObjId]) -> Vec<ObjId> {
        if self.model.resolution() != Resolution::SegmentsStatic {
            return Vec::new();
        }
        let partition = self.partition.get_or_init(|| pleach_ir::pointsto::partition(&self.code.program));
        let class = |o: &Object| match o.kind {
            ObjectKind::Global if o.site.func == u32::MAX => partition.of_global(o.site.inst),
            ObjectKind::Heap | ObjectKind::Stack => partition.of_site(o.site.func, o.site.inst),
            _ => None,
        };
        let wanted: BTreeSet<u32> = objects.iter().filter_map(|o| class(st.memory.header(*o)?)).collect();
        let belongs = |o: &Object| class(o).is_some_and(|c| wanted.contains(&c));
        let mates = st.memory.live().filter(|(_, o)| belongs(o)).map(|(id, _)| id);
        mates.filter(|id| st.memory.layout(&[*id]).is_some()).collect()
    }

    /// A pointer that is not a choice between bases.
    pub(crate) fn locate_by_solver(
        &mut self,
        st: &mut State,
        t: TermId,
        n: u64,
        purpose: AccessKind,
    ) -> StepResult<ResolvedAccess> {
        if !self.model.resolution().joins() {
            return self.symbolic_place(st, t, n, purpose).map(ResolvedAccess::One);
        }
        if let Some(segment) = self.mentioned_segment(st, t) {
            let within = self.within_segment(st, t, segment, n, purpose);
            let before = self.queries;
            let decision = self.decide(st, within);
            self.resolved.queries += self.queries - before;
            if matches!(decision, Feasibility::True) {
                return Ok(ResolvedAccess::One(self.place_in_segment(st, t, segment)));
            }
        }
        let before = self.queries;
        let pins = st.memory.pins();
        let scanned = self.scan(st, t, n, purpose);
        let joined = match &scanned {
            Ok((sides, None)) => self.join_found(st, t, n, purpose, sides, pins),
            _ => None,
        };
        self.resolved.queries += self.queries - before;
        let (sides, lost) = scanned?;
        let Some(segment) = joined else {
            return self.place_of(st, t, sides, lost, n, purpose).map(ResolvedAccess::One);
        };
        self.resolved.multiple += 1;
        // What was found out before the objects moved holds after it: it is a condition on inputs.
        let (good, mut sides): (Vec<_>, Vec<_>) = sides.into_iter().partition(|s| s.1.is_none());
        if sides.is_empty() {
            return Ok(ResolvedAccess::One(self.place_in_segment(st, t, segment)));
        }
        let within = good.iter().fold(Terms::FALSE, |all, g| self.terms.or(all, g.0.address_free));
        let mut lost = None;
        match self.is_satisfiable(st, within) {
            Ok(Some(side)) => sides.push((side, None, None)),
            Ok(None) => {}
            Err(why) => lost = Some(why),
        }
        match self.children_of_resolution(st, Terms::FALSE, sides, lost) {
            Err(Flow::Stop(Step::Fork(mut children))) => {
                children.iter_mut().for_each(|c| c.state.history.set_fork(ForkKind::Other));
                Err(Flow::Stop(Step::Fork(children)))
            }
            other => other.map(ResolvedAccess::One),
        }
    }

    /// Joins the objects that the solver found for a pointer. Its queries read addresses, and pinned them; but they
    /// show nothing of a pointer that moves with its objects, as one does that was read from a table. Whether it does
    /// is one query: it must lie in the segment afterwards. Where it does not, all stays as it was.
    fn join_found(
        &mut self,
        st: &mut State,
        t: TermId,
        n: u64,
        purpose: AccessKind,
        sides: &[ResolutionSide],
        pins: Pins,
    ) -> Option<ObjId> {
        let objects: Vec<ObjId> = sides.iter().filter_map(|s| s.2.map(|t| t.0)).collect();
        self.learn_contexts(st, objects.iter().copied());
        if objects.len() < 2 {
            return None;
        }
        let statistics = self.resolved;
        let mut moved = st.clone();
        moved.memory.set_pins(pins);
        let segment = self.join(&mut moved, &objects)?;
        let inside = self.within_segment(&mut moved, t, segment, n, purpose);
        let good = sides.iter().filter(|s| s.1.is_none()).map(|s| s.0.address_free);
        let found = good.fold(Terms::FALSE, |all, g| self.terms.or(all, g));
        let outside = self.terms.not(inside);
        let lost = self.terms.and(found, outside);
        if matches!(self.without_budget(|m| m.is_satisfiable(&mut moved, lost)), Ok(None)) {
            *st = moved;
            return Some(segment);
        }
        self.resolved = statistics;
        None
    }

    /// The only segment that has objects which a pointer mentions; of several, the only one with a likely target.
    fn mentioned_segment(&self, st: &State, t: TermId) -> Option<ObjId> {
        if !st.memory.has_segments() {
            return None;
        }
        let mentioned = self.terms.bases(t).into_iter().filter_map(|b| Some((b, st.memory.segment_of(b)?.0)));
        let mentioned: Vec<(ObjId, ObjId)> = mentioned.collect();
        only(mentioned.iter().map(|m| m.1))
            .or_else(|| only(mentioned.iter().filter(|m| self.is_likely(st, m.0)).map(|m| m.1)))
    }

    /// The access stays within one of a segment's objects.
    fn within_segment(&mut self, st: &mut State, t: TermId, segment: ObjId, n: u64, purpose: AccessKind) -> TermId {
        let address_free = self.substitute_addresses(st, t);
        let mut within = Terms::FALSE;
        for (obj, _) in st.memory.members(segment).to_vec() {
            let Ok(size) = self.live_size(st, obj, purpose) else { continue };
            let base = self.terms.constant(self.pointer_bits(), st.memory.address(obj));
            let off = self.terms.sub(address_free, base);
            let here = self.within(size, off, n);
            within = self.terms.or(within, here);
        }
        within
    }

    fn place_in_segment(&mut self, st: &State, t: TermId, segment: ObjId) -> ResolvedLocation {
        let address_free = self.substitute_addresses(st, t);
        let base = self.terms.constant(self.pointer_bits(), st.memory.address(segment));
        let off = self.terms.sub(address_free, base);
        match self.terms.as_const(off) {
            Some(k) => ResolvedLocation::At { obj: segment, off: k },
            None => ResolvedLocation::Symbolic { obj: segment, off },
        }
    }

    /// Objects that a term shows the address of stay where they are.
    pub(crate) fn pin_bases(&mut self, st: &mut State, t: TermId) {
        if self.model.resolution().joins() && self.terms.has(t, pleach_expr::facts::HAS_BASE) {
            let shown = self.numbers.bases(&self.terms, t);
            self.model.observe(&mut st.memory, &shown);
        }
    }

    /// A condition is decided on this path: objects whose order or distance it depends on stay where they are.
    pub(crate) fn pin_observed(&mut self, st: &mut State, condition: TermId) {
        if self.model.resolution().joins() && self.terms.has(condition, pleach_expr::facts::HAS_BASE) {
            let shown = self.numbers.observed(&self.terms, condition);
            self.model.observe(&mut st.memory, &shown);
        }
    }

    pub(crate) fn is_segment(&self, st: &State, obj: ObjId) -> bool {
        st.memory.get(obj).is_some_and(|o| o.kind == ObjectKind::Segment)
    }

    /// Two concrete values are compared as numbers.
    pub(crate) fn pin_compared(&mut self, st: &mut State, op: CmpOp, x: Value, y: Value) {
        let (a, b) = match (x, y) {
            (Value::Ptr { obj: a, .. }, Value::Ptr { obj: b, .. }) if a != b => (Some(a), Some(b)),
            (Value::Ptr { obj, .. }, Value::Int(_)) | (Value::Int(_), Value::Ptr { obj, .. }) => (Some(obj), None),
            _ => return,
        };
        let number = x.int().or(y.int()).unwrap_or(0);
        let equality = matches!(op, CmpOp::Eq | CmpOp::Ne) && number < NULL_PAGE;
        if !equality {
            self.model.observe(&mut st.memory, a.as_slice());
            self.model.observe(&mut st.memory, b.as_slice());
        }
    }
}

/// What all of them are.
fn only(mut all: impl Iterator<Item = ObjId>) -> Option<ObjId> {
    let first = all.next()?;
    all.all(|s| s == first).then_some(first)
}
