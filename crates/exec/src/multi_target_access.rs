//! Loads and stores by policy: how to resolve a pointer that may refer to several objects.
//!
//! *Paper*: Memory §3.1 (the merging model, here `ite`). *Idea*: one state goes on. A read gives a choice between the
//! objects' values that has the shape of the pointer itself; a write puts the new value into each object where the
//! pointer is into it. What would be an error still ends as a state of its own, under the same conditions as with
//! `fork`. With `segments` (`segments.rs`) the targets are first moved into one segment, so that a write to many words
//! is one store to an array. *Invariant*: on the path, exactly one of the targets' guards holds. *Direction*: loses
//! nothing. *Checked by*: `resolution_check.rs`.

use crate::access::{AccessKind, ResolvedLocation, size_bound};
use crate::alignment::Wanted;
use crate::feasibility::Feasibility;
use crate::flow::{Flow, Step, StepResult};
use crate::machine::Machine;
use crate::resolution::{ResolutionSide, TargetSides};
use pleach_expr::{TermId, Terms};
pub(crate) use pleach_memory::Target as TargetAccess;
use pleach_memory::model::common_segment;
use pleach_memory::symbolic::trailing_zeros;
use pleach_memory::{ObjId, Resolution, Value};
use pleach_semantics::fixed_objects;
use pleach_state::{Access, ForkKind, MayPointTo, State, access_paths};
use std::rc::Rc;

/// An access to more objects is not worth to be described.
const MAX_RECORDED: usize = 8;

/// Where an access goes.
#[derive(Clone, Debug)]
pub(crate) enum ResolvedAccess {
    One(ResolvedLocation),
    /// into one of several objects, by the pointer
    MayPointTo {
        ptr: TermId,
        targets: Rc<[TargetAccess]>,
    },
}

impl Machine {
    /// The value of `n` bytes that a pointer points to.
    pub(crate) fn read(&mut self, st: &mut State, p: Value, n: u64, align: u8) -> StepResult<Value> {
        let from = self.locate_aligned(st, p, Wanted { bytes: n, purpose: AccessKind::Read, align })?;
        Ok(match from {
            ResolvedAccess::One(place) => self.read_place(st, place, n),
            ResolvedAccess::MayPointTo { ptr, targets } => {
                let v = self.read_may_point_to(st, ptr, &targets, n);
                if self.config.check_resolution {
                    self.check_targets(st, ptr, &targets, n, AccessKind::Read, Some(v));
                }
                v
            }
        })
    }

    pub(crate) fn write_target(&mut self, st: &mut State, to: ResolvedAccess, n: u64, v: Value) {
        match to {
            ResolvedAccess::One(place) => self.write_place(st, place, n, v),
            ResolvedAccess::MayPointTo { ptr, targets } => {
                if self.config.check_resolution {
                    self.check_targets(st, ptr, &targets, n, AccessKind::Write, None);
                }
                self.write_may_point_to(st, ptr, &targets, n, v);
            }
        }
    }

    /// Where an access of `n` bytes goes, by the policy for pointers with multiple targets.
    pub(crate) fn find(&mut self, st: &mut State, p: Value, n: u64, purpose: AccessKind) -> StepResult<ResolvedAccess> {
        Ok(match p {
            Value::Term(t) if self.model.resolution() != Resolution::Fork && !st.decided.contains_key(&t) => {
                self.locate_by_policy(st, t, n, purpose)?
            }
            _ => ResolvedAccess::One(self.place(st, p, n, purpose)?),
        })
    }

    pub(crate) fn record_located(&mut self, st: &mut State, located: &ResolvedAccess, n: u64) {
        match located {
            ResolvedAccess::One(place) => self.record(st, *place, n),
            ResolvedAccess::MayPointTo { targets, .. } => self.record_may_point_to(st, targets, n),
        }
    }

    /// Records an access to one of several objects, with ways to them.
    fn record_may_point_to(&self, st: &mut State, targets: &[TargetAccess], n: u64) {
        if !st.history.is_kept() {
            return;
        }
        let mut objects: Vec<MayPointTo> = Vec::new();
        for &(_, obj, off) in targets {
            let k = self.terms.as_const(off);
            let aligned = n.is_power_of_two() && u32::from(trailing_zeros(&self.terms, off)) >= n.trailing_zeros();
            match objects.iter_mut().find(|o| o.obj == obj) {
                Some(o) => {
                    o.off = o.off.filter(|_| o.off == k);
                    o.aligned &= aligned;
                }
                None => {
                    let size = size_bound(st, obj);
                    objects.push(MayPointTo { obj, size, off: k, aligned });
                }
            }
        }
        let program = &self.code.program;
        let word = u64::from(self.pointer_bits()) / 8;
        let wanted: Vec<ObjId> = objects.iter().map(|o| o.obj).collect();
        // What happens in a segment may happen to any member.
        let is_small = wanted.len() <= MAX_RECORDED && !wanted.iter().any(|o| self.is_segment(st, *o));
        let links = match is_small {
            true => access_paths(st, fixed_objects(program), program.globals.len() as u32, word, &wanted),
            false => None,
        };
        st.history.access(match links {
            Some(links) => Access::MayPointTo { objects: objects.into(), links: links.into() },
            None => Access::Opaque,
        });
    }

    pub(crate) fn locate_by_policy(
        &mut self,
        st: &mut State,
        t: TermId,
        n: u64,
        purpose: AccessKind,
    ) -> StepResult<ResolvedAccess> {
        let Some((ptr, found)) = self.take_apart(st, t) else { return self.locate_by_solver(st, t, n, purpose) };
        if found.len() == 1 {
            return self.symbolic_place(st, t, n, purpose).map(ResolvedAccess::One);
        }
        let Some(sorted) = self.sort_targets(st, &found, n, purpose) else {
            return self.locate_by_solver(st, t, n, purpose);
        };
        if sorted.good.len() <= 1 {
            // An object or an error: there is nothing to join, and the path knows from here on which object it is.
            return self.fork_targets(st, t, sorted).map(ResolvedAccess::One);
        }
        let before = self.queries;
        let targets = self.without_errors(st, sorted);
        self.resolved.queries += self.queries - before;
        let mut targets = targets?;
        if self.model.resolution().joins() && targets.len() > 1 && common_segment(&st.memory, &targets).is_none() {
            targets = self.possible_targets(st, targets)?;
            let objects: Vec<ObjId> = targets.iter().map(|t| t.1).collect();
            self.join(st, &objects);
        }
        if let [(_, obj, off)] = targets[..] {
            return self.place_in(st, obj, off, n, purpose).map(ResolvedAccess::One);
        }
        if !self.model.resolution().joins()
            && let Some(only) = self.only_target(st, &targets)
        {
            // As with `fork`: the path goes on with the one object, and what is read there is no choice.
            return self.children_of_resolution(st, t, vec![only], None).map(ResolvedAccess::One);
        }
        self.resolved.multiple += 1;
        Ok(ResolvedAccess::MayPointTo { ptr, targets: targets.into() })
    }

    /// The one target that the path leaves a pointer, as a side of the path: one query, about the target of the path's
    /// model.
    fn only_target(&mut self, st: &mut State, targets: &[TargetAccess]) -> Option<ResolutionSide> {
        let &(guard, obj, off) = targets.iter().find(|t| {
            let address_free = self.substitute_addresses(st, t.0);
            let model = st.path.relevant(&mut self.terms, address_free).model;
            self.terms.try_eval(address_free, &model) == Some(1)
        })?;
        let before = self.queries;
        let decision = self.decide(st, guard);
        self.resolved.queries += self.queries - before;
        matches!(decision, Feasibility::True).then(|| (self.feasible_side(st, guard), None, Some((obj, off))))
    }

    /// The targets of a pointer that is within one of them on this path. Where it may be bad, the path splits: one
    /// state per kind of error, and one that executes the instruction again.
    fn without_errors(
        &mut self,
        st: &mut State,
        TargetSides { good, bad }: TargetSides,
    ) -> StepResult<Vec<TargetAccess>> {
        let mut fine = Terms::TRUE;
        for (guard, _) in bad.values() {
            let not = self.terms.not(*guard);
            fine = self.terms.and(fine, not);
        }
        let (mut sides, mut lost) = self.failing_sides(st, bad);
        if sides.is_empty() && lost.is_none() {
            return Ok(good);
        }
        match self.is_satisfiable(st, fine) {
            Ok(Some(side)) => sides.push((side, None, None)),
            Ok(None) => {}
            Err(why) => lost = Some(why),
        }
        match self.children_of_resolution(st, Terms::FALSE, sides, lost) {
            Err(Flow::Stop(Step::Fork(mut children))) => {
                for c in &mut children {
                    c.state.history.set_fork(ForkKind::Other);
                }
                Err(Flow::Stop(Step::Fork(children)))
            }
            other => other.map(|_| good),
        }
    }

    pub(crate) fn read_may_point_to(&mut self, st: &mut State, ptr: TermId, targets: &[TargetAccess], n: u64) -> Value {
        self.model.read_one_of(&mut st.memory, &mut self.terms, ptr, targets, n)
    }

    pub(crate) fn write_may_point_to(
        &mut self,
        st: &mut State,
        ptr: TermId,
        targets: &[TargetAccess],
        n: u64,
        v: Value,
    ) {
        let new = self.term(st, v, (n * 8) as u16);
        self.model.write_one_of(&mut st.memory, &mut self.terms, ptr, targets, n, new);
    }
}
