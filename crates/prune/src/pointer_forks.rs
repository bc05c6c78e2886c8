//! Forks over the objects a pointer may be into.
//!
//! *Idea*: below each child the pointer is pinned to one object; at the fork it is not. There the objects are found by
//! other ways (anchors), what the child says of the pointer becomes literals about its distance from the object, all
//! its literals are needed only where the pointer is within it, and the pointer may be into none but the objects of the
//! children (a choice). *Invariant*: a state that satisfies the choice goes only the children's ways, and on the way of
//! a child the pointer is within its object, because objects do not overlap. *Direction*: gives up where an object has
//! no other way to it, or the error is none of bounds or null.

use crate::matching::Matcher;
use crate::pruner::Interpolation;
use pleach_expr::{TermId, Terms, facts};
use pleach_memory::{ObjId, ObjectKind};
use pleach_state::seams::PathOracle;
use pleach_state::{ErrorKind, SizeBound, State, access_paths};
use pleach_wp::{Condition, MayPointToLiteral, NoInterpolant, OwningFrame, PointsTo, WpResult, room_for};
use rustc_hash::FxHashSet;

const UNKNOWN: NoInterpolant = NoInterpolant::ForkOverTargets;

/// The ways that children went.
#[derive(Clone, Default)]
pub(crate) struct TakenTargets {
    objects: Vec<ObjId>,
    failures: Vec<ErrorKind>,
}

impl TakenTargets {
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.failures.is_empty()
    }

    pub fn went(&mut self, to: Option<ObjId>, failed: Option<ErrorKind>) {
        match to {
            Some(obj) => self.objects.push(obj),
            None => self.failures.extend(failed),
        }
    }
}

/// The object a pointer is into, where it is `p` plus something that does not depend on it.
struct InBounds {
    p: TermId,
    base: TermId,
    obj: ObjId,
    size: u64,
    /// what the object must be
    points_to: PointsTo,
}

impl InBounds {
    /// The distance of a pointer from the object, if it goes with `p`.
    fn offset(&self, terms: &mut Terms, ptr: TermId) -> Option<TermId> {
        let delta = terms.sub(ptr, self.p);
        let of_p: FxHashSet<_> = terms.support(self.p).iter().map(|k| k.symbol()).collect();
        if terms.has(delta, facts::HAS_BASE) || terms.support(delta).iter().any(|k| of_p.contains(&k.symbol())) {
            return None;
        }
        Some(terms.sub(ptr, self.base))
    }

    fn live(&mut self, (write, align): (bool, u8), kind: Option<ObjectKind>, owner: OwningFrame) -> WpResult<()> {
        self.points_to.align = self.points_to.align.max(align);
        self.points_to.write |= write;
        if kind.is_some() && self.points_to.kind.is_some() && kind != self.points_to.kind {
            return Err(UNKNOWN);
        }
        self.points_to.kind = self.points_to.kind.or(kind);
        self.points_to.owner = self.points_to.owner.and(owner).ok_or(UNKNOWN)?;
        Ok(())
    }
}

impl Interpolation {
    /// The access at the fork: pointer, bytes, whether it writes.
    fn access_at(&mut self, oracle: &mut dyn PathOracle, fork: &State) -> WpResult<(TermId, u64, bool)> {
        let program = oracle.program();
        let f = program.function(fork.frame.func);
        let (inst, depth) = (&f.insts[fork.inst as usize], fork.call_depth());
        let (access, _) = self.with_transformer(oracle, Condition::default(), |w| w.access_of(f, depth, inst))?;
        access.ok_or(UNKNOWN)
    }

    /// What the child needs in whose way the pointer is within `obj`, said at the fork.
    pub(crate) fn within(
        &mut self,
        oracle: &mut dyn PathOracle,
        fork: &State,
        obj: ObjId,
        mut psi: Condition,
    ) -> WpResult<Condition> {
        let (p, bytes, write) = self.access_at(oracle, fork)?;
        let size = fork.memory.get(obj).map(|o| o.size()).ok_or(UNKNOWN)?;
        let size = size.fixed().ok_or(NoInterpolant::SymbolicSize)?;
        if bytes > size {
            return Err(UNKNOWN);
        }
        let terms = oracle.terms();
        let base = terms.base(obj);
        let mut w = InBounds {
            p,
            base,
            obj,
            size,
            points_to: PointsTo { write, size: Some(SizeBound::Exactly(size)), ..PointsTo::new(p, obj, None) },
        };
        for points_to in std::mem::take(&mut psi.points_to) {
            let Some(off) = (if points_to.obj == w.obj { w.offset(terms, points_to.ptr) } else { None }) else {
                psi.points_to.push(points_to);
                continue;
            };
            w.live((points_to.write, points_to.align), points_to.kind, points_to.owner)?;
            if room_for(terms, w.size.into(), &points_to) == Terms::FALSE {
                return Err(UNKNOWN);
            }
            if let Some(at) = points_to.off {
                let at = terms.constant(terms.width(off), at);
                let there = terms.eq(off, at);
                psi.require(there);
            }
        }
        for v in std::mem::take(&mut psi.dereferenceable) {
            let Some(off) = (if v.obj == w.obj { w.offset(terms, v.ptr) } else { None }) else {
                psi.dereferenceable.push(v);
                continue;
            };
            w.live((v.write, v.align), None, v.owner)?;
            if v.bounded {
                let last = w.size.checked_sub(v.bytes).ok_or(UNKNOWN)?;
                let last = terms.constant(terms.width(off), last);
                let inside = terms.ule(off, last);
                psi.require(inside);
            }
        }
        let (off, last) = (terms.sub(p, base), terms.constant(terms.width(base), size - bytes));
        let e = terms.ule(off, last);
        let mut condition = self.under(oracle, fork, e, psi);
        for points_to in self.anchors(oracle, fork, obj)? {
            let found = points_to.obj == obj;
            condition.require_points_to(if found {
                PointsTo { ptr: points_to.ptr, off: points_to.off, ..w.points_to }
            } else {
                points_to
            });
        }
        Ok(condition)
    }

    /// The pointer goes the ways of the children and no other.
    pub(crate) fn choose(
        &mut self,
        oracle: &mut dyn PathOracle,
        fork: &State,
        targets: &TakenTargets,
        condition: &mut Condition,
    ) -> WpResult<()> {
        let (ptr, bytes, write) = self.access_at(oracle, fork)?;
        let known = |k: &ErrorKind| matches!(k, ErrorKind::Null | ErrorKind::OobRead | ErrorKind::OobWrite);
        if !targets.failures.iter().all(known) {
            return Err(UNKNOWN);
        }
        let mut objects = targets.objects.clone();
        objects.sort_unstable();
        let null = targets.failures.contains(&ErrorKind::Null);
        let outside = targets.failures.iter().any(|k| *k != ErrorKind::Null);
        let choice = MayPointToLiteral { ptr, objects, bytes, write, outside, null };
        if Matcher::own(fork, &self.locs, self.fixed).choice(oracle, &choice).is_err() {
            return Err(UNKNOWN);
        }
        condition.require_choice(choice);
        Ok(())
    }

    /// Pins that lead from registers and globals to the object; none for one that is the same in every state.
    fn anchors(&mut self, oracle: &mut dyn PathOracle, state: &State, obj: ObjId) -> WpResult<Vec<PointsTo>> {
        let w = oracle.terms().pointer_bits;
        let globals = oracle.program().globals.len() as u32;
        let links = access_paths(state, self.fixed, globals, u64::from(w) / 8, &[obj]).ok_or(UNKNOWN)?;
        Ok(links.into_iter().map(|l| PointsTo::of_link(&mut self.locs, oracle.terms(), l)).collect())
    }
}
