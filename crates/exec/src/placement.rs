//! Branches that go another way if objects lie elsewhere.
//!
//! *Idea*: an object's address is a hidden number, and only that placement is followed ([`AddressSpace`](pleach_memory::AddressSpace)). Where
//! the program's own code looks at addresses (orders pointers to different objects, tests an alignment, hashes), the condition is evaluated
//! with the objects in other places; if it comes out otherwise, the other placements are cut, once for each place of the program.
//! *Invariant*: a cut has a witness: a placement with the same alignments in which the path's constraints hold and the branch goes the
//! other way. *Direction*: a few placements are tried, so a dependence may stay unseen. Functions of the C library are not looked at: what
//! they do by address (whole words at a time) makes no difference to their results.

use crate::flow::Attempt;
use crate::machine::Machine;
use pleach_expr::{TermId, base_range, facts};
use pleach_ir::{CmpOp, FuncId};
use pleach_memory::space::first_segment;
use pleach_memory::{Entry, ObjId, ObjectKind, Value};
use pleach_smt::Based;
use pleach_smt::link::address::agnostic::is_agnostic;
use pleach_state::State;
use rustc_hash::FxHashMap;

/// Conditions that are tried at one place of the program.
const TRIES: u32 = 16;

/// Per place of the program: how many conditions were tried.
#[derive(Clone, Default)]
pub struct Placements {
    tried: FxHashMap<(FuncId, u32), u32>,
}

impl Machine {
    /// Called for a condition that the path decides as `holds`.
    pub(crate) fn mind_placement(&mut self, st: &mut State, condition: TermId, holds: bool) -> Attempt<()> {
        if !self.terms.has(condition, facts::HAS_BASE) {
            return Ok(());
        }
        if self.is_cut_beside(st) {
            st.placed = true;
            return Ok(());
        }
        if !self.looks_at_addresses(st) {
            return Ok(());
        }
        let plain = self.plain(st, condition);
        let relevant = st.path.relevant(&mut self.terms, plain);
        let bases = self.terms.bases(condition);
        let Some(objects) = bases.iter().map(|&b| home(st, b)).collect::<Option<Vec<_>>>() else { return Ok(()) };
        let otherwise = (0..ELSEWHERE.len()).any(|way| {
            let map: FxHashMap<TermId, TermId> = objects
                .iter()
                .map(|&(b, address, align)| {
                    let bits = self.pointer_bits();
                    let there = ELSEWHERE[way](address, align, base_range(bits).1);
                    (self.terms.base(b), self.terms.constant(bits, there))
                })
                .collect();
            let moved = self.terms.substitute(condition, &map);
            let comes_out = self.terms.try_eval(moved, &relevant.model);
            comes_out == Some(u64::from(!holds))
                && relevant.with_bases().iter().all(|&c| {
                    let moved = self.terms.substitute(c, &map);
                    let plain = self.plain(st, moved);
                    self.terms.try_eval(plain, &relevant.model) == Some(1)
                })
        });
        if otherwise { self.depend(st) } else { Ok(()) }
    }

    /// Called where two concrete values are compared.
    pub(crate) fn mind_order(&mut self, st: &mut State, op: CmpOp, x: Value, y: Value) -> Attempt<()> {
        let depends = match (x, y) {
            (Value::Ptr { obj: a, .. }, Value::Ptr { obj: b, .. }) => {
                a != b && !matches!(op, CmpOp::Eq | CmpOp::Ne) && home(st, a).is_some() && home(st, b).is_some()
            }
            (Value::Ptr { obj, .. }, Value::Int(n)) | (Value::Int(n), Value::Ptr { obj, .. }) => {
                let (first, end) = base_range(self.pointer_bits());
                // A number that is an object's address came from a native call.
                (first..=end).contains(&n) && home(st, obj).is_some() && st.memory.find(n).is_none()
            }
            _ => false,
        };
        if depends && self.looks_at_addresses(st) { self.depend(st) } else { Ok(()) }
    }

    /// Whether this instruction is one to look at.
    fn looks_at_addresses(&mut self, st: &State) -> bool {
        let func = st.frame.func;
        if self.config.one_placement || !self.program.is_own(func) {
            return false;
        }
        let tried = self.placements.tried.entry((func, st.inst)).or_default();
        *tried += 1;
        *tried <= TRIES
    }

    fn depend(&mut self, st: &mut State) -> Attempt<()> {
        st.placed = true;
        let f = self.program.function(st.frame.func);
        let line = f.spans.get(st.inst as usize).map_or(0, |s| s.line);
        let what = format!("where objects lie in memory, which decides a comparison in {} (line {line})", f.name);
        self.cut_beside(st, &what)
    }

    /// Other placements than that of the path are not followed here.
    pub(crate) fn depend_on_place(&mut self, st: &mut State, what: &str) -> Attempt<()> {
        if !self.is_cut_beside(st) {
            let f = self.program.function(st.frame.func);
            let line = f.spans.get(st.inst as usize).map_or(0, |s| s.line);
            let what = format!("{what} in {} (line {line})", f.name);
            self.cut_beside(st, &what)?;
        }
        st.placed = true;
        Ok(())
    }

    /// What the path does natively depends on where objects lie: a branch looked at their addresses, or inputs are equal to them.
    pub fn depends_on_placement(&self, st: &State) -> bool {
        st.placed
            || st.path.groups().filter_map(|g| g.based.as_ref()).any(|constraints| {
                let sizes = crate::feasible::sizes(&self.terms, &st.memory, constraints);
                sizes.is_some_and(|sizes| !is_agnostic(&self.terms, &Based { constraints, sizes: &sizes }))
            })
    }
}

/// An object that could lie elsewhere, with its address and alignment.
fn home(st: &State, obj: ObjId) -> Option<(ObjId, u64, u64)> {
    match st.memory.entry(obj)? {
        // Also in a segment: the program knows nothing of it.
        Entry::Live(o) | Entry::Moved(o, ..) | Entry::Freed(o) if o.kind != ObjectKind::Fixed => {
            Some((obj, o.addr, o.align.max(1)))
        }
        _ => None,
    }
}

/// Other places for an object, from its address, its alignment and the end of all addresses: a little further, in the opposite order, and far apart
/// with low bits that are all zeros or all ones. Different objects stay apart.
const ELSEWHERE: [fn(u64, u64, u64) -> u64; 5] = [
    |address, align, _| address + align,
    |address, align, _| address + 3 * align,
    |address, align, end| (end - address) / align * align,
    |address, _, end| spread(address, end).unwrap_or(address),
    |address, align, end| spread(address, end).map_or(address, |a| (a + LOW_BITS) / align * align),
];

const LOW_BITS: u64 = (1 << 20) - 1;

/// What is spread of segments, which lie above all other objects, comes behind those.
const OF_SEGMENTS: u64 = 1 << 26;

/// Where there is room for it, the address times 2²⁰.
fn spread(address: u64, end: u64) -> Option<u64> {
    let address = address.checked_sub(first_segment(64)).map_or(address, |within| OF_SEGMENTS + within);
    address.checked_mul(LOW_BITS + 1).filter(|a| *a + LOW_BITS <= end)
}
