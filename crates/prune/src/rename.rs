//! The condition of a subsuming node over the objects of the state that it subsumes.

use crate::matching::Matcher;
use crate::pruner::Interpolation;
use pleach_expr::{SymbolId, TermId};
use pleach_state::State;
use pleach_state::seams::PathOracle;
use pleach_wp::{Condition, Loc};
use rustc_hash::FxHashMap;

impl Interpolation {
    /// The condition of the subsuming node with its object variables replaced by the objects of the subsumed state.
    pub(crate) fn rename(
        &mut self,
        oracle: &mut dyn PathOracle,
        matcher_binding: &FxHashMap<pleach_memory::ObjId, pleach_memory::ObjId>,
        state: &State,
        c: &Condition,
    ) -> Condition {
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
        let moved = |obj: &pleach_memory::ObjId| matcher_binding.get(obj).copied().filter(|to| to != obj);
        let cells = c.sums.iter().flat_map(|s| {
            let own = matcher_binding.keys().filter(|o| moved(o).is_some());
            own.flat_map(|o| s.cells(*o, 0, u64::MAX)).map(|(_, t, _)| t)
        });
        let cells: Vec<SymbolId> = cells.map(|t| SymbolId(oracle.terms().node(t).a)).collect();
        for s in c.support_but_sums(oracle.terms()).into_iter().chain(cells) {
            if let Some(Loc::Cell { obj, off, bytes }) = self.locs.get(s)
                && let Some(to) = moved(&obj)
            {
                let var = oracle.terms().var(s);
                let width = oracle.terms().width(var);
                let new = self.locs.term(oracle.terms(), Loc::Cell { obj: to, off, bytes }, width);
                map.insert(var, new);
            }
        }
        let has_sizes = self.locs.has_sizes;
        for (&from, &to) in matcher_binding.iter().filter(|(from, to)| has_sizes && from != to) {
            let width = oracle.terms().pointer_bits;
            let [a, b] = [from, to].map(|obj| self.locs.term(oracle.terms(), Loc::Size { obj }, width));
            map.insert(a, b);
        }
        for (&from, &to) in matcher_binding.iter().filter(|(from, to)| from != to) {
            let (a, b) = (oracle.terms().base(from), oracle.terms().base(to));
            map.insert(a, b);
        }
        let mut out = c.clone();
        // A block without a binding is not there; leaving it out says no less.
        out.blocks = out.blocks.map(|b| b.iter().filter_map(|o| matcher_binding.get(o).copied()).collect());
        for p in &mut out.points_to {
            p.obj = matcher_binding.get(&p.obj).copied().unwrap_or(p.obj);
        }
        for c in &mut out.choices {
            c.objects.iter_mut().for_each(|o| *o = matcher_binding.get(o).copied().unwrap_or(*o));
        }
        if !map.is_empty() {
            out.substitute(oracle.terms(), &self.locs, &map);
        }
        // Where a valid pointer points is a fact about the subsumed state.
        for v in &mut out.dereferenceable {
            let mut own = Matcher::own(state, &self.locs, self.fixed);
            if let Some(t) = own.translate(oracle, v.ptr)
                && let Some((obj, off)) = own.target(oracle, t)
            {
                v.obj = obj;
                v.off = off.and_then(|o| u64::try_from(o).ok());
            }
        }
        for d in &mut out.dangling {
            let mut own = Matcher::own(state, &self.locs, self.fixed);
            if let Some(t) = own.translate(oracle, d.ptr)
                && let Some((obj, _)) = own.target(oracle, t)
            {
                d.obj = obj;
            }
        }
        out
    }
}
