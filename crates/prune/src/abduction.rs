//! What the path already knows, said over locations: the part of an interpolant that comes from above.
//!
//! *Paper*: TracerX Fig. 7 (ABDUCTION, CORE, SEPARATE), HeapInterp §V-A (deletion). *Idea*: `loc = value` for the
//! locations that matter, and the constraints of the path that the goals need. The values mention the path's symbolic
//! variables. A symbolic variable that some location holds is replaced by that location, so no quantifier is left.
//! *Invariant*: from the context and `given` the goals follow, and the state at hand satisfies the context.
//! *Direction*: may find no such words.

use crate::matching::Matcher;
use pleach_expr::{Op, SymbolId, TermId, Terms, facts};
use pleach_memory::Value;
use pleach_state::State;
use pleach_state::seams::PathOracle;
use pleach_wp::{Condition, Locs, PointsTo};
use rustc_hash::{FxHashMap, FxHashSet};

pub(crate) struct Abduction<'a> {
    pub oracle: &'a mut dyn PathOracle,
    pub state: &'a State,
    pub locs: &'a Locs,
    pub fixed: u32,
}

impl Abduction<'_> {
    /// A conjunction that holds in the state and from which, with `e`, all literals follow: those that have nothing to
    /// do with `e` as they are, the others replaced by the part of the context that is connected with it.
    pub fn abduct(&mut self, e: TermId, literals: &[TermId]) -> Option<Condition> {
        let context = self.context(e, literals)?;
        let mut frame = symbols(self.oracle.terms(), e);
        let (near, _) = separate(self.oracle.terms(), &context.literals, &mut frame);
        let (touched, rest) = separate(self.oracle.terms(), literals, &mut frame.clone());
        let mut out = Condition { points_to: context.points_to, ..Condition::default() };
        rest.iter().for_each(|&l| out.require(l));
        if touched.is_empty() {
            return rest.iter().all(|&l| self.holds(l)).then_some(out);
        }
        near.iter().for_each(|&l| out.require(l));
        // SEPARATE is syntactic; what it left out must not have been needed.
        let all = near.iter().fold(e, |acc, &l| self.oracle.terms().and(acc, l));
        let enough = touched.iter().all(|&l| {
            let claim = self.oracle.terms().implies(all, l);
            self.oracle.valid(claim)
        });
        (enough && rest.iter().all(|&l| self.holds(l))).then_some(out)
    }

    /// The part of the context from which the goals follow, given `given`.
    pub fn context(&mut self, given: TermId, goals: &[TermId]) -> Option<Condition> {
        let mut matter = symbols(self.oracle.terms(), given);
        for &g in goals {
            matter.extend(symbols(self.oracle.terms(), g));
        }
        let mut own = Matcher::own(self.state, self.locs, self.fixed);
        let given = own.translate(self.oracle, given)?;
        let mut needed: Vec<TermId> = Vec::new();
        for &g in goals {
            let g = own.translate(self.oracle, g)?;
            if self.oracle.terms().as_const(g) != Some(1) {
                needed.extend(self.oracle.core(self.state, given, g)?);
            }
        }
        needed.sort_unstable();
        needed.dedup();
        let mut places: Vec<SymbolId> = matter.into_iter().filter(|s| self.locs.get(*s).is_some()).collect();
        places.sort_unstable();
        let mut held: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut values = Vec::new();
        for s in places {
            let place = self.oracle.terms().var(s);
            let value = own.translate(self.oracle, place)?;
            solve(self.oracle.terms(), value, place, &mut held);
            values.push((place, value));
        }
        let mut out = Condition::default();
        for (place, value) in values {
            if self.points_to_object(place, value, &mut out)? {
                continue;
            }
            let value = self.oracle.terms().substitute(value, &held);
            let same = self.oracle.terms().eq(place, value);
            out.require(same);
        }
        for c in needed {
            let c = self.oracle.terms().substitute(c, &held);
            out.require(c);
        }
        let spoken = out.literals.iter().all(|&l| {
            let variables = symbols(self.oracle.terms(), l);
            variables.iter().all(|s| self.locs.get(*s).is_some())
        });
        spoken.then_some(out)
    }

    /// A pointer to an object of the state becomes a points-to literal. `None`: a pointer that cannot be expressed.
    fn points_to_object(&mut self, place: TermId, value: TermId, out: &mut Condition) -> Option<bool> {
        let terms = self.oracle.terms();
        if !terms.has(value, facts::HAS_BASE) {
            return Some(false);
        }
        match Value::from_term(terms, value) {
            Value::Ptr { obj, off: _ } if obj.0 < self.fixed => Some(false),
            Value::Ptr { obj, off } => {
                let off = u64::try_from(off).ok()?;
                let object = self.state.memory.get(obj)?;
                if off > object.sure() {
                    return None;
                }
                let off = Some(off);
                out.require_points_to(PointsTo::new(place, obj, off));
                Some(true)
            }
            _ => None,
        }
    }

    fn holds(&mut self, literal: TermId) -> bool {
        Matcher::own(self.state, self.locs, self.fixed).holds(self.oracle, literal)
    }
}

fn symbols(terms: &mut Terms, t: TermId) -> FxHashSet<SymbolId> {
    terms.support(t).iter().map(|k| k.symbol()).collect()
}

/// Splits literals into those connected with the symbols, directly or through others, and the rest. The symbols grow by
/// what is connected.
fn separate(terms: &mut Terms, literals: &[TermId], frame: &mut FxHashSet<SymbolId>) -> (Vec<TermId>, Vec<TermId>) {
    let mut rest: Vec<(TermId, FxHashSet<SymbolId>)> = literals.iter().map(|&l| (l, symbols(terms, l))).collect();
    let mut near = Vec::new();
    loop {
        let (joined, left): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(_, s)| !s.is_disjoint(frame));
        rest = left;
        if joined.is_empty() {
            return (near, rest.into_iter().map(|r| r.0).collect());
        }
        for (l, s) in joined {
            near.push(l);
            frame.extend(s);
        }
    }
}

/// `value` is what `place` holds: expresses the symbolic variables of the value by the place.
pub(crate) fn solve(terms: &mut Terms, value: TermId, place: TermId, held: &mut FxHashMap<TermId, TermId>) {
    let n = terms.node(value);
    match n.op {
        Op::Var => {
            held.entry(value).or_insert(place);
        }
        Op::Read if terms.op(n.arg_a()) == Op::ArrayVar && terms.as_const(n.arg_b()).is_some() => {
            held.entry(value).or_insert(place);
        }
        Op::ZExt | Op::SExt => {
            let inner = n.arg_a();
            let w = terms.width(inner);
            let part = terms.extract(place, 0, w);
            solve(terms, inner, part, held);
        }
        Op::Concat => {
            let (high, low) = (n.arg_a(), n.arg_b());
            let (hw, lw) = (terms.width(high), terms.width(low));
            let (hp, lp) = (terms.extract(place, lw, hw), terms.extract(place, 0, lw));
            solve(terms, high, hp, held);
            solve(terms, low, lp, held);
        }
        Op::Add => {
            for (x, k) in [(n.arg_a(), n.arg_b()), (n.arg_b(), n.arg_a())] {
                if terms.as_const(k).is_some() {
                    let rest = terms.sub(place, k);
                    solve(terms, x, rest, held);
                    break;
                }
            }
        }
        _ => {}
    }
}
