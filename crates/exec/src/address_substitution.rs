//! Terms with the objects' addresses substituted, cached from one instruction to the next.
//!
//! *Idea*: what the program does with a pointer mentions the same few large terms again and again (the choice of a hash
//! table's entry), and the states that follow each other mostly have their objects in the same places. So one table
//! serves all states as long as they agree. *Invariant*: everything in `done` was made with the addresses in
//! `addresses`; a state that has one of a term's objects elsewhere empties both.

use crate::machine::Machine;
use pleach_expr::{BaseId, TermId, Terms, facts};
use pleach_state::State;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Terms to remember at most.
const MAX_REMEMBERED_TERMS: usize = 1 << 18;

#[derive(Default)]
pub struct AddressSubstitution {
    /// of terms that were requested
    bases: FxHashMap<TermId, Rc<[BaseId]>>,
    /// of these, the ones whose address a condition depends on
    observed: FxHashMap<TermId, Rc<[BaseId]>>,
    addresses: FxHashMap<BaseId, u64>,
    done: FxHashMap<TermId, TermId>,
}

impl AddressSubstitution {
    pub(crate) fn bases(&mut self, terms: &Terms, t: TermId) -> Rc<[BaseId]> {
        remembered(&mut self.bases, t, || terms.bases(t))
    }

    pub(crate) fn observed(&mut self, terms: &Terms, condition: TermId) -> Rc<[BaseId]> {
        remembered(&mut self.observed, condition, || pleach_memory::observed_addresses::observed(terms, condition))
    }

    /// Makes the table one in which these objects have these addresses.
    fn agree(&mut self, st: &State, bases: &[BaseId]) {
        let differs = |b: &BaseId| self.addresses.get(b).is_some_and(|&a| a != st.memory.address(*b));
        if self.done.len() > MAX_REMEMBERED_TERMS || bases.iter().any(differs) {
            self.done = FxHashMap::default();
            self.addresses.clear();
        }
        self.addresses.extend(bases.iter().map(|&b| (b, st.memory.address(b))));
    }
}

fn remembered(
    known: &mut FxHashMap<TermId, Rc<[BaseId]>>,
    t: TermId,
    find: impl FnOnce() -> Vec<BaseId>,
) -> Rc<[BaseId]> {
    if known.len() > MAX_REMEMBERED_TERMS {
        known.clear();
    }
    known.entry(t).or_insert_with(|| find().into()).clone()
}

impl Machine {
    /// `t` with the addresses of its objects substituted.
    pub(crate) fn substitute_addresses(&mut self, st: &State, t: TermId) -> TermId {
        if !self.terms.has(t, facts::HAS_BASE) {
            return t;
        }
        let bases = self.numbers.bases(&self.terms, t);
        self.numbers.agree(st, &bases);
        if let Some(&address_free) = self.numbers.done.get(&t) {
            return address_free;
        }
        let bits = self.pointer_bits();
        let addresses: Vec<(BaseId, TermId)> =
            bases.iter().map(|&b| (b, self.terms.constant(bits, st.memory.address(b)))).collect();
        let mut address = |b: BaseId| addresses[addresses.partition_point(|a| a.0 < b)].1;
        self.terms.substitute_bases_again(t, &mut address, &mut self.numbers.done)
    }
}
