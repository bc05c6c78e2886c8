//! Branches whose direction depends on the address layout.
//!
//! *Idea*: an object's address is a hidden number, and only that address layout is explored
//! ([`AddressSpace`](pleach_memory::AddressSpace)). Where the program's own code looks at addresses (orders pointers to
//! different objects, tests an alignment, hashes), the condition is evaluated with the objects at other addresses. If
//! its value differs, the other layouts are cut, once for each location of the program. *Invariant*: a cut has a
//! witness: an address layout with the same alignments in which the path's constraints hold and the branch goes the
//! other way. *Direction*: a few layouts are tried (`layouts.rs`), so a dependence may stay unseen; whether two known
//! pointers may be equal is decided without trying. Functions of the C library are not looked at: what they do by
//! address (whole words at a time) makes no difference to their results.

use crate::flow::StepResult;
use crate::layouts::{ELSEWHERE, may_be_at, movable, touching};
use crate::machine::Machine;
use pleach_expr::{TermId, Terms, base_range, facts};
use pleach_ir::{CmpOp, FuncId, Init};
use pleach_memory::{Extent, ObjectKind, Value};
use pleach_smt::BasedQueryRef;
use pleach_smt::link::address::agnostic::is_agnostic;
use pleach_state::{IndependentSlice, State};
use rustc_hash::FxHashMap;

/// Conditions that are tried at one place of the program.
const TRIES: u32 = 16;

/// Per place of the program: how many conditions were tried.
#[derive(Clone, Default)]
pub struct AddressDependence {
    tried: FxHashMap<(FuncId, u32), u32>,
}

impl Machine {
    /// Called for a condition that the path decides as `holds`.
    pub(crate) fn check_address_dependence(
        &mut self,
        st: &mut State,
        condition: TermId,
        holds: bool,
    ) -> StepResult<()> {
        if !self.terms.has(condition, facts::HAS_BASE) {
            return Ok(());
        }
        if self.is_alternative_dropped(st) {
            st.address_dependent = true;
            return Ok(());
        }
        if !self.looks_at_addresses(st) {
            return Ok(());
        }
        if self.depends(st, condition, holds) { self.report_address_dependence(st) } else { Ok(()) }
    }

    /// Some other layout makes the condition, which is `holds` in this one, come out otherwise.
    pub(crate) fn depends(&mut self, st: &State, condition: TermId, holds: bool) -> bool {
        let address_free = self.substitute_addresses(st, condition);
        let relevant = st.path.relevant(&mut self.terms, address_free);
        let bases = self.terms.bases(condition);
        let Some(objects) = bases.iter().map(|&b| movable(st, b)).collect::<Option<Vec<_>>>() else { return false };
        let bits = self.pointer_bits();
        let end = base_range(bits).1;
        let shifted = ELSEWHERE.iter().map(|way| objects.iter().map(|o| way(o.addr, o.align, end)).collect());
        let layouts: Vec<(Vec<u64>, bool)> = shifted
            .map(|layout| (layout, false))
            .chain(touching(&objects).into_iter().map(|layout| (layout, true)))
            .collect();
        layouts.into_iter().any(|(layout, touches)| {
            let places = objects.iter().zip(layout);
            let map: FxHashMap<TermId, TermId> =
                places.map(|(o, there)| (self.terms.base(o.id), self.terms.constant(bits, there))).collect();
            self.comes_out_otherwise(st, condition, holds, &relevant, &map, touches)
        })
    }

    /// With the objects at the addresses in `map`, under the model of the path; on request, also under any other input
    /// of the path.
    fn comes_out_otherwise(
        &mut self,
        st: &State,
        condition: TermId,
        holds: bool,
        relevant: &IndependentSlice,
        map: &FxHashMap<TermId, TermId>,
        any_input: bool,
    ) -> bool {
        let moved = self.terms.substitute(condition, map);
        let moved = self.substitute_addresses(st, moved);
        let otherwise = if holds { self.terms.not(moved) } else { moved };
        if otherwise == Terms::FALSE {
            return false;
        }
        let mut constraints: Vec<TermId> = Vec::with_capacity(relevant.constraints.len() + 1);
        for &c in relevant.with_bases().iter() {
            let moved = self.terms.substitute(c, map);
            constraints.push(self.substitute_addresses(st, moved));
        }
        constraints.push(otherwise);
        if constraints.iter().all(|&c| self.terms.try_eval(c, &relevant.model) == Some(1)) {
            return true;
        }
        if !any_input {
            return false;
        }
        constraints.sort_unstable();
        constraints.dedup();
        self.answer(&constraints, &[]).is_some_and(|a| a.is_sat())
    }

    /// Called where two concrete values are compared.
    pub(crate) fn check_pointer_order_dependence(
        &mut self,
        st: &mut State,
        op: CmpOp,
        x: Value,
        y: Value,
    ) -> StepResult<()> {
        let depends = match (x, y) {
            (Value::Ptr { obj: a, .. }, Value::Ptr { obj: b, .. }) if a == b => false,
            (Value::Ptr { obj: a, off: i }, Value::Ptr { obj: b, off: j }) => match (movable(st, a), movable(st, b)) {
                (Some(x), Some(y)) if matches!(op, CmpOp::Eq | CmpOp::Ne) => {
                    let distance = i.wrapping_sub(j);
                    may_be_at(&x, &y, distance) || self.may_share(&x, &y, distance)
                }
                (Some(_), Some(_)) => true,
                _ => false,
            },
            (Value::Ptr { obj, .. }, Value::Int(n)) | (Value::Int(n), Value::Ptr { obj, .. }) => {
                let (first, end) = base_range(self.pointer_bits());
                // A number that is an object's address came from a native call.
                (first..=end).contains(&n) && movable(st, obj).is_some() && st.memory.find(n).is_none()
            }
            _ => false,
        };
        if depends && self.looks_at_addresses(st) { self.report_address_dependence(st) } else { Ok(()) }
    }

    /// Whether this instruction is one to look at.
    fn looks_at_addresses(&mut self, st: &State) -> bool {
        let func = st.frame.func;
        if self.config.fixed_layout || !self.program.is_own(func) {
            return false;
        }
        let tried = self.address_dependence.tried.entry((func, st.inst)).or_default();
        *tried += 1;
        *tried <= TRIES
    }

    fn report_address_dependence(&mut self, st: &mut State) -> StepResult<()> {
        st.address_dependent = true;
        let f = self.program.function(st.frame.func);
        let line = f.spans.get(st.inst as usize).map_or(0, |s| s.line);
        let what = format!("the address layout, which decides a comparison in {} (line {line})", f.name);
        self.drop_alternative(st, &what)
    }

    /// Other address layouts than that of the path are not explored here.
    pub(crate) fn depend_on_place(&mut self, st: &mut State, what: &str) -> StepResult<()> {
        if !self.is_alternative_dropped(st) {
            let f = self.program.function(st.frame.func);
            let line = f.spans.get(st.inst as usize).map_or(0, |s| s.line);
            let what = format!("{what} in {} (line {line})", f.name);
            self.drop_alternative(st, &what)?;
        }
        st.address_dependent = true;
        Ok(())
    }

    /// Two objects whose addresses mean nothing, of which one may lie `distance` bytes behind the other's start: where
    /// they overlap, their bytes are equal.
    fn may_share(&self, x: &Extent, y: &Extent, distance: i64) -> bool {
        let bytes = |o: &Extent| {
            let global = self.program.globals.get(o.id.0 as usize);
            let g = global.filter(|g| o.kind == ObjectKind::Global && g.unnamed && g.constant)?;
            match &g.init {
                Init::Bytes { bytes, relocs } if relocs.is_empty() => Some(bytes),
                _ => None,
            }
        };
        let (Some(x), Some(y)) = (bytes(x), bytes(y)) else { return false };
        let of_x = usize::try_from(distance).map_or(Some(&x[..]), |d| x.get(d..));
        let of_y = usize::try_from(distance.wrapping_neg()).map_or(Some(&y[..]), |d| y.get(d..));
        let (Some(a), Some(b)) = (of_x, of_y) else { return false };
        !a.is_empty() && !b.is_empty() && a.iter().zip(b).all(|(a, b)| a == b)
    }

    /// What the path does natively depends on where objects lie: a branch looked at their addresses, or inputs are
    /// equal to them.
    pub fn depends_on_layout(&self, st: &State) -> bool {
        st.address_dependent
            || st.path.groups().filter_map(|g| g.based.as_ref()).any(|constraints| {
                let sizes = crate::feasibility::sizes(&self.terms, &st.memory, constraints);
                sizes.is_some_and(|sizes| !is_agnostic(&self.terms, &BasedQueryRef { constraints, sizes: &sizes }))
            })
    }
}
