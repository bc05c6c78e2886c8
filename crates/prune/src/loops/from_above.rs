//! Literals that hold in a header's state and whenever its loop comes back: what is added where the needs alone are not
//! inductive.
//!
//! *Paper*: Unbounded §3 (path-based loop invariants); the deletion is by literal until nothing fails (Houdini), not in
//! the order of a list. *Idea*: bounds of the locations that the needs speak of, their low bits, their differences,
//! linear equations between them and with the loop's registers, and the constraints of the path where they can be said
//! over locations. *Invariant*: each literal kept holds in the states of all leaves that the header subsumes, and is
//! implied by the header's interpolant after each way round.
//! *Direction*: may find too few.

use super::Provisional;
use super::discharge::{Discharged, implies, symbols};
use super::equations::{Values, equations};
use crate::abduction::solve;
use crate::matching::Matcher;
use crate::pruner::Interpolation;
use pleach_expr::{SymbolId, TermId, Terms, facts};
use pleach_state::seams::PathOracle;
use pleach_state::{NodeId, State};
use pleach_wp::{Condition, Loc, WpResult};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Locations of a header that are looked at.
const LOCATIONS: usize = 24;
/// Of these, for differences.
const PAIRS: usize = 10;
/// Constraints of the path that are looked at, the newest first.
const CONSTRAINTS: usize = 64;

/// Which literals are tried.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Literals {
    /// relations between locations: they may hold whatever the inputs are
    General,
    /// what the path says, too: its constants and constraints
    All,
}

/// Literals by header, the oldest header first.
pub(super) type FromAbove = Vec<(NodeId, TermId)>;

impl Interpolation {
    /// What holds from above at each subsuming node and whenever its loop comes back. `tried` is how far the needs
    /// alone came, `found` is what is known without them.
    pub(super) fn literals_from_above(
        &mut self,
        root: NodeId,
        leaves: &[NodeId],
        tried: &Discharged,
        found: &Discharged,
        which: Literals,
        oracle: &mut dyn PathOracle,
    ) -> FromAbove {
        let headers: FxHashSet<NodeId> = leaves.iter().map(|l| self.loops.assumptions[l].by).collect();
        let mut kept: FxHashMap<NodeId, Vec<TermId>> = FxHashMap::default();
        for &h in &headers {
            let literals = self.candidates(h, tried, which, oracle);
            kept.insert(h, literals);
        }
        while self.drop_not_inductive(root, leaves, &mut kept, found, oracle) {}
        // The oldest first: what it has is given to those below.
        let mut kept: FromAbove = kept.into_iter().flat_map(|(h, all)| all.into_iter().map(move |l| (h, l))).collect();
        kept.sort_by_key(|(h, _)| *h);
        kept
    }

    /// Adds literals from above to the interpolants of their headers.
    pub(super) fn require_all(
        &mut self,
        root: NodeId,
        kept: &FromAbove,
        found: &mut Discharged,
        oracle: &mut dyn PathOracle,
    ) -> WpResult<()> {
        for of_header in kept.chunk_by(|a, b| a.0 == b.0) {
            let literals = of_header.iter().map(|(_, l)| *l).collect();
            // SOUND: the nodes above a header must imply what is added there.
            self.require_at(root, of_header[0].0, Condition { literals, ..Condition::default() }, found, oracle)?;
        }
        Ok(())
    }

    /// Drops the literals that one way round does not keep; false if there are none.
    fn drop_not_inductive(
        &mut self,
        root: NodeId,
        leaves: &[NodeId],
        kept: &mut FxHashMap<NodeId, Vec<TermId>>,
        found: &Discharged,
        oracle: &mut dyn PathOracle,
    ) -> bool {
        let mut dropped = false;
        for leaf in leaves {
            let header = self.loops.assumptions[leaf].by;
            for l in kept[&header].clone() {
                // Without a turn to test them, none is kept.
                if self.is_turn_over(oracle) {
                    kept.values_mut().for_each(Vec::clear);
                    return false;
                }
                if !self.is_kept(root, *leaf, l, kept, found, oracle) {
                    kept.entry(header).or_default().retain(|k| *k != l);
                    dropped = true;
                }
            }
        }
        dropped
    }

    /// On the way back from the leaf, each header implies what the literal needs there.
    fn is_kept(
        &mut self,
        root: NodeId,
        leaf: NodeId,
        literal: TermId,
        kept: &FxHashMap<NodeId, Vec<TermId>>,
        found: &Discharged,
        oracle: &mut dyn PathOracle,
    ) -> bool {
        let Some(a) = self.loops.assumptions.get(&leaf) else { return false };
        let state = a.state.clone();
        let start = Condition { literals: vec![literal], ..Condition::default() };
        let Ok(mut need) = self.propagate_trace_to(oracle, start, state.history.trace(), &state) else { return false };
        let mut at = leaf;
        loop {
            if let Some(own) = kept.get(&at) {
                let mut given = found.interpolants.get(&at).cloned().unwrap_or_default();
                own.iter().for_each(|l| given.require(*l));
                return super::discharge::not_implied(oracle, &given, need).is_true();
            }
            if at == root || need.is_true() {
                return need.is_true();
            }
            let Some(Provisional { open, .. }) = self.loops.provisional.get(&at) else { return false };
            let child = open.clone();
            let Ok(part) = self.contribution(oracle, &child, need) else { return false };
            need = part;
            at = child.parent;
            let Some(Provisional { open, .. }) = self.loops.provisional.get(&at) else { return false };
            if let Some(fork) = open.forked.clone() {
                let Ok(c) = self.propagate_to_node(oracle, need, &fork) else { return false };
                need = c;
            }
            need.write_sums(oracle.terms(), |_| true);
            if let Some(have) = found.interpolants.get(&at) {
                need.literals.retain(|l| !implies(oracle, &have.literals, *l));
            }
        }
    }

    /// What holds in the header's state and in those of all its leaves.
    fn candidates(
        &mut self,
        header: NodeId,
        tried: &Discharged,
        which: Literals,
        oracle: &mut dyn PathOracle,
    ) -> Vec<TermId> {
        let Some(Provisional { open, .. }) = self.loops.provisional.get(&header) else { return Vec::new() };
        let state: Rc<State> = open.state.clone();
        let Some(needs) = tried.interpolants.get(&header) else { return Vec::new() };
        let mut places: Vec<SymbolId> = needs
            .literals
            .iter()
            .flat_map(|&l| symbols(oracle.terms(), l))
            .collect::<FxHashSet<_>>()
            .into_iter()
            .collect();
        places.retain(|s| self.locs.get(*s).is_some());
        places.sort_unstable();
        places.truncate(LOCATIONS);
        let leaves = self.loops.leaves.get(&header).cloned().unwrap_or_default();
        let states: Vec<Rc<State>> =
            leaves.iter().filter_map(|l| Some(Rc::new(State::clone(&self.loops.assumptions.get(l)?.state)))).collect();
        let equations = self.equations(&places, &state, &states, which, oracle);
        // What an equation speaks of matters as much as what the needs do.
        for &e in &equations {
            let more: Vec<SymbolId> = symbols(oracle.terms(), e).into_iter().filter(|s| !places.contains(s)).collect();
            places.extend(more);
        }
        places.truncate(LOCATIONS);
        let mut out = self.bounds(&places, &state, which, oracle);
        if which == Literals::All {
            out.extend(self.constraints(&places, &state, oracle));
        }
        out.extend(equations);
        out.sort_unstable();
        out.dedup();
        let mut own = Matcher::own(&state, &self.locs, self.fixed);
        out.retain(|&l| l != Terms::TRUE && own.holds(oracle, l));
        for s in states {
            let mut matcher = Matcher::new(&s, &self.locs, self.fixed);
            out.retain(|&l| matcher.holds(oracle, l));
        }
        out
    }

    /// Linear equations between these places and the registers that the loop still reads.
    fn equations(
        &mut self,
        places: &[SymbolId],
        state: &State,
        leaves: &[Rc<State>],
        which: Literals,
        oracle: &mut dyn PathOracle,
    ) -> Vec<TermId> {
        let program = oracle.program();
        let f = program.function(state.frame.func);
        let mut all: Vec<TermId> = places.iter().map(|s| oracle.terms().var(*s)).collect();
        for slot in self.loops.visited.live(state, &program) {
            let width = program.target.bits(f.slots[slot as usize].ty);
            let register = Loc::Reg { depth: state.call_depth(), slot };
            let register = self.locs.term(oracle.terms(), register, width);
            if all.len() < 2 * LOCATIONS && !all.contains(&register) {
                all.push(register);
            }
        }
        let matchers = [Matcher::own(state, &self.locs, self.fixed)];
        let of_leaves = leaves.iter().map(|s| Matcher::new(s, &self.locs, self.fixed));
        let mut states: Vec<Values> = Vec::new();
        for mut matcher in matchers.into_iter().chain(of_leaves) {
            let mut value = |var: &TermId| {
                let v = matcher.translate(oracle, *var)?;
                if v == *var || oracle.terms().has(v, facts::HAS_BASE) {
                    return None;
                }
                Some(if which == Literals::General { matcher.only_value(oracle, *var, v) } else { v })
            };
            states.push(all.iter().map(&mut value).collect());
        }
        equations(oracle.terms(), &all, &states, which == Literals::All)
    }

    /// Bounds, low bits and differences.
    fn bounds(
        &mut self,
        places: &[SymbolId],
        state: &State,
        which: Literals,
        oracle: &mut dyn PathOracle,
    ) -> Vec<TermId> {
        let mut own = Matcher::own(state, &self.locs, self.fixed);
        let mut values = Vec::new();
        for &s in places {
            let var = oracle.terms().var(s);
            if let Some(v) = own.translate(oracle, var)
                && !oracle.terms().has(v, facts::HAS_BASE)
                && (2..=64).contains(&oracle.terms().width(var))
            {
                values.push((var, v));
            }
        }
        let terms = oracle.terms();
        let mut out = Vec::new();
        for &(x, v) in &values {
            let zero = terms.constant(terms.width(x), 0);
            let signs = [terms.sle(zero, x), terms.sle(x, zero)];
            if terms.as_const(v).is_none() {
                continue;
            }
            out.extend(signs);
            if which == Literals::All {
                out.extend([terms.eq(x, v), terms.sle(v, x), terms.sle(x, v), terms.ule(v, x), terms.ule(x, v)]);
            }
            for bits in [1, 2, 3] {
                let (a, b) = (terms.extract(x, 0, bits), terms.extract(v, 0, bits));
                out.push(terms.eq(a, b));
            }
        }
        for (i, &(x, v)) in values.iter().enumerate().take(PAIRS) {
            for &(y, w) in values.iter().take(PAIRS).skip(i + 1) {
                if terms.width(x) == terms.width(y) {
                    let (d, k) = (terms.sub(x, y), terms.sub(v, w));
                    if which == Literals::All && terms.as_const(k).is_some() {
                        out.push(terms.eq(d, k));
                    }
                    out.extend([terms.sle(x, y), terms.sle(y, x)]);
                }
            }
        }
        out
    }

    /// The path's constraints, over locations.
    fn constraints(&mut self, places: &[SymbolId], state: &State, oracle: &mut dyn PathOracle) -> Vec<TermId> {
        let mut own = Matcher::own(state, &self.locs, self.fixed);
        let mut held: FxHashMap<TermId, TermId> = FxHashMap::default();
        for &s in places {
            let place = oracle.terms().var(s);
            if let Some(v) = own.translate(oracle, place) {
                solve(oracle.terms(), v, place, &mut held);
            }
        }
        let constraints: Vec<TermId> = state.path.iter().take(CONSTRAINTS).collect();
        let mut out = Vec::new();
        for c in constraints {
            let c = oracle.terms().substitute(c, &held);
            if symbols(oracle.terms(), c).iter().all(|s| self.locs.get(*s).is_some()) {
                out.push(c);
            }
        }
        out
    }
}
