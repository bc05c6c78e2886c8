//! Does a state satisfy a condition over locations?
//!
//! *Paper*: HeapInterp §V-B. *Idea*: object variables are bound through the points-to literals, following pointer
//! chains; bindings are injective; then every location has a value in the state, and what is left is a condition on the
//! state's own symbolic variables, implied by its path constraint or not. *Direction*: may say no where yes would be
//! right; never the other way.

use crate::literal_cache::LiteralCache;
use pleach_expr::arc::Arc;
use pleach_expr::{IncrementalSubstitution, Model, Op, SymbolId, TermId, Terms, facts, mask};
use pleach_memory::{ObjId, Object, Value};
use pleach_state::State;
pub(crate) use pleach_state::access_path::frames;
use pleach_state::seams::PathOracle;
use pleach_wp::{Condition, Loc, Locs, Sum};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// Object variables of a condition → objects of the state.
pub type Binding = FxHashMap<ObjId, ObjId>;

pub struct Matcher<'a> {
    pub state: &'a State,
    pub locs: &'a Locs,
    /// objects with ids below this are the same in every state (globals, functions)
    pub fixed: u32,
    pub binding: Binding,
    /// object variables are the state's own objects
    pub identity: bool,
    pub decisions: DecisionCounts,
    /// locations and bases → what they are in the state
    values: IncrementalSubstitution,
    numbers: LocationValues,
    /// what earlier entries showed of the state
    known: LiteralCache,
}

/// The state's values under the model of its path constraint.
#[derive(Default)]
struct LocationValues {
    inputs: Model,
    locations: Model,
    /// locations that hold numbers, and those that do not
    fixed: FxHashMap<SymbolId, bool>,
}

/// How many literals were decided by what.
#[derive(Clone, Copy, Default, Debug)]
pub struct DecisionCounts {
    /// the state's values made it a constant
    pub values: u64,
    /// false under a model of the path constraint, or one of its constraints
    pub model: u64,
    pub solver: u64,
}

impl DecisionCounts {
    pub fn add(&mut self, other: DecisionCounts) {
        self.values += other.values;
        self.model += other.model;
        self.solver += other.solver;
    }

    pub fn all(&self) -> u64 {
        self.values + self.model + self.solver
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MatchFailure {
    /// a points-to literal, a size, a liveness
    Binding,
    /// a literal is false or not implied
    Literal,
    /// a bounded loop has more rounds left
    Rounds,
}

impl<'a> Matcher<'a> {
    pub fn new(state: &'a State, locs: &'a Locs, fixed: u32) -> Matcher<'a> {
        Matcher {
            state,
            locs,
            fixed,
            binding: Binding::default(),
            identity: false,
            decisions: DecisionCounts::default(),
            values: IncrementalSubstitution::default(),
            numbers: LocationValues::default(),
            known: LiteralCache::default(),
        }
    }

    /// Ready for another condition; what does not depend on the binding stays.
    pub fn reset(&mut self) {
        self.decisions = DecisionCounts::default();
        if !self.binding.is_empty() {
            self.binding.clear();
            self.values = IncrementalSubstitution::default();
            self.numbers = LocationValues::default();
        }
    }

    /// One of the literals is known not to hold.
    pub fn is_refuted(&self, c: &Condition, last_failed_literal: &Cell<u32>) -> bool {
        let fails = |l: &TermId| self.known.get(*l) == Some(false);
        if c.literals.get(last_failed_literal.get() as usize).is_some_and(fails) {
            return true;
        }
        let found = c.literals.iter().position(fails);
        found.inspect(|i| last_failed_literal.set(*i as u32)).is_some()
    }

    /// For conditions that name the state's own objects.
    pub fn own(state: &'a State, locs: &'a Locs, fixed: u32) -> Matcher<'a> {
        Matcher { identity: true, ..Matcher::new(state, locs, fixed) }
    }

    pub(crate) fn bound(&self, obj: ObjId) -> Option<ObjId> {
        if self.identity || obj.0 < self.fixed { Some(obj) } else { self.binding.get(&obj).copied() }
    }

    /// A literal holds in the state.
    pub fn holds(&mut self, oracle: &mut dyn PathOracle, literal: TermId) -> bool {
        if let Some(holds) = self.by_model(oracle, literal) {
            return holds;
        }
        match self.translate(oracle, literal) {
            Some(t) => oracle.decided(self.state, t).unwrap_or_else(|| oracle.entails(self.state, t)),
            None => false,
        }
    }

    /// The state satisfies the condition.
    pub fn meets(&mut self, oracle: &mut dyn PathOracle, c: &Condition) -> bool {
        self.check(oracle, c, &Cell::new(u32::MAX)).is_ok()
    }

    /// The state satisfies the condition. `last_failed_literal` is the literal that failed last, which is tried first,
    /// and set when one fails.
    pub fn check(
        &mut self,
        oracle: &mut dyn PathOracle,
        c: &Condition,
        last_failed_literal: &Cell<u32>,
    ) -> Result<(), MatchFailure> {
        // SOUND: a state with more rounds left goes on where the recorded path was cut.
        if !c.rounds.iter().all(|r| r.hold_in(self.state)) {
            return Err(MatchFailure::Rounds);
        }
        self.bind(oracle, &c.points_to)?;
        if let Some(blocks) = &c.blocks {
            self.no_other_blocks(blocks)?;
        }
        for v in &c.dereferenceable {
            self.valid(oracle, v)?;
        }
        for d in &c.dangling {
            self.dangling(oracle, d)?;
        }
        for c in &c.choices {
            self.choice(oracle, c)?;
        }
        let first = last_failed_literal.get() as usize;
        if let Some(&l) = c.literals.get(first)
            && let Some(t) = self.literal(oracle, l)?
        {
            self.entailed(oracle, l, t)?;
        }
        let mut open = Vec::new();
        for (i, &l) in c.literals.iter().enumerate().filter(|(i, _)| *i != first) {
            let found = self.literal(oracle, l).inspect_err(|_| last_failed_literal.set(i as u32))?;
            open.extend(found.map(|t| (i, l, t)));
        }
        for s in &c.sums {
            for t in self.sum(oracle, s).ok_or(MatchFailure::Binding)? {
                let found = self.decide(oracle, t)?;
                open.extend(found.map(|t| (first, t, t)));
            }
        }
        for (i, l, t) in open {
            self.entailed(oracle, l, t).inspect_err(|_| last_failed_literal.set(i as u32))?;
        }
        c.satisfiable.iter().try_for_each(|together| self.is_satisfiable(oracle, together))
    }

    /// Some input of the path meets all of these.
    fn is_satisfiable(&mut self, oracle: &mut dyn PathOracle, together: &[TermId]) -> Result<(), MatchFailure> {
        let mut all = Terms::TRUE;
        for &t in together {
            let t = self.translate(oracle, t).ok_or(MatchFailure::Binding)?;
            all = oracle.terms().and(all, t);
        }
        self.decisions.solver += 1;
        if oracle.is_satisfiable_with(self.state, all) { Ok(()) } else { Err(MatchFailure::Literal) }
    }

    /// The path implies what is left of a literal.
    fn entailed(&mut self, oracle: &mut dyn PathOracle, l: TermId, t: TermId) -> Result<(), MatchFailure> {
        self.decisions.solver += 1;
        let holds = oracle.entails(self.state, t);
        self.learn(oracle.terms(), l, holds);
        if holds { Ok(()) } else { Err(MatchFailure::Literal) }
    }

    /// A literal, without the solver; what is left for it otherwise.
    fn literal(&mut self, oracle: &mut dyn PathOracle, l: TermId) -> Result<Option<TermId>, MatchFailure> {
        if let Some(holds) = self.known.get(l) {
            return if holds { Ok(None) } else { Err(MatchFailure::Literal) };
        }
        let found = match self.by_concrete_value(oracle.terms(), l) {
            Some(holds) => {
                self.decisions.values += 1;
                if holds { Ok(None) } else { Err(MatchFailure::Literal) }
            }
            None => match self.by_model(oracle, l) {
                Some(holds) => {
                    self.decisions.model += 1;
                    if holds { Ok(None) } else { Err(MatchFailure::Literal) }
                }
                None => {
                    let t = self.translate(oracle, l).ok_or(MatchFailure::Binding)?;
                    self.decide(oracle, t)
                }
            },
        };
        match found {
            Ok(None) => self.learn(oracle.terms(), l, true),
            Err(MatchFailure::Literal) => self.learn(oracle.terms(), l, false),
            _ => {}
        }
        found
    }

    /// Keeps whether a literal holds, if it means the same in every binding.
    fn learn(&mut self, terms: &mut Terms, l: TermId, holds: bool) {
        if !self.identity {
            self.known.learn(terms, self.locs, self.fixed, l, holds);
        }
    }

    /// Evaluates a literal under the model of the path constraint, without making terms of it. If it is false there,
    /// the path does not imply it; if it is true and its locations hold numbers, it holds.
    fn by_model(&mut self, oracle: &mut dyn PathOracle, l: TermId) -> Option<bool> {
        if oracle.terms().has(l, facts::HAS_BASE) {
            return None;
        }
        let mut numbers = true;
        for k in oracle.terms().support(l).iter() {
            let s = k.symbol();
            if let Some(&fixed) = self.numbers.fixed.get(&s) {
                numbers &= fixed;
                continue;
            }
            let loc = self.locs.get(s)?;
            let var = oracle.terms().var(s);
            let width = oracle.terms().width(var);
            if width > 64 {
                return None;
            }
            let number = self.number(loc).map(|v| v & mask(width));
            let v = match number {
                Some(v) => v,
                None => {
                    let t = self.located(oracle, s, loc, var).filter(|t| *t != var)?;
                    self.under_model(oracle.terms(), t)?
                }
            };
            self.numbers.fixed.insert(s, number.is_some());
            self.numbers.locations.set(*k, v);
            numbers &= number.is_some();
        }
        match oracle.terms().try_eval(l, &self.numbers.locations)? {
            0 => Some(false),
            _ => numbers.then_some(true),
        }
    }

    /// The value of one of the state's terms under the model of its path constraint.
    fn under_model(&mut self, terms: &mut Terms, t: TermId) -> Option<u64> {
        if terms.has(t, facts::HAS_BASE) {
            return None;
        }
        for k in terms.support(t).iter() {
            if k.is_whole() {
                return None;
            }
            if !self.numbers.inputs.contains(*k) {
                self.numbers.inputs.set(*k, self.state.path.model_value(*k));
            }
        }
        terms.try_eval(t, &self.numbers.inputs)
    }

    /// The only value that the path allows a location to have, which holds `value`; `value` if there are several.
    pub(crate) fn only_value(&mut self, oracle: &mut dyn PathOracle, location: TermId, value: TermId) -> TermId {
        let width = oracle.terms().width(value);
        let Some(v) = self.under_model(oracle.terms(), value).filter(|_| width <= 64) else { return value };
        let v = oracle.terms().constant(width, v);
        let same = oracle.terms().eq(location, v);
        if self.holds(oracle, same) { v } else { value }
    }

    /// A comparison of one location with a constant, where the location holds a number.
    fn by_concrete_value(&self, terms: &Terms, l: TermId) -> Option<bool> {
        let (x, arc) = Arc::of(terms, l)?;
        let n = terms.node(x);
        if n.op != Op::Var {
            return None;
        }
        let v = self.number(self.locs.get(SymbolId(n.a))?)?;
        Some(arc.contains(v & mask(n.width), n.width))
    }

    /// Without the solver where that is possible; the condition itself where it is not.
    fn decide(&mut self, oracle: &mut dyn PathOracle, t: TermId) -> Result<Option<TermId>, MatchFailure> {
        let constant = oracle.terms().as_const(t).map(|v| v != 0);
        let by = if constant.is_some() { &mut self.decisions.values } else { &mut self.decisions.model };
        match constant.or_else(|| oracle.decided(self.state, t)) {
            // SOUND: a branch that depends on where objects lie is reported where it is executed.
            Some(true) | None if oracle.terms().has(t, facts::HAS_BASE) && oracle.depends_on_layout(self.state, t) => {
                Err(MatchFailure::Literal)
            }
            Some(holds) => {
                *by += 1;
                if holds { Ok(None) } else { Err(MatchFailure::Literal) }
            }
            None => Ok(Some(t)),
        }
    }

    /// A sum holds in the state.
    pub fn holds_sum(&mut self, oracle: &mut dyn PathOracle, s: &Sum) -> bool {
        let Some(literals) = self.sum(oracle, s) else { return false };
        literals.into_iter().all(|t| oracle.decided(self.state, t).unwrap_or_else(|| oracle.entails(self.state, t)))
    }

    /// What a sum says of the state's own symbolic variables: nothing if all its locations are numbers and it holds.
    fn sum(&mut self, oracle: &mut dyn PathOracle, s: &Sum) -> Option<Vec<TermId>> {
        let mut constant = 0u64;
        let mut rest: Option<TermId> = None;
        // Neighbours are mostly cells of one object.
        let mut last: Option<(ObjId, &Object)> = None;
        for (&loc, &(var, k)) in &s.parts {
            let number = match (loc, last) {
                (Loc::Cell { obj, off, bytes }, Some((o, object))) if o == obj => number_in(object, off, bytes),
                (Loc::Cell { obj, off, bytes }, _) => {
                    let state = self.state;
                    last = self.bound(obj).and_then(|to| state.memory.get(to)).map(|object| (obj, object));
                    last.and_then(|(_, object)| number_in(object, off, bytes))
                }
                _ => self.number(loc),
            };
            if let Some(v) = number {
                constant = constant.wrapping_add(v.wrapping_mul(k));
                continue;
            }
            let value = self.translate(oracle, var)?;
            let terms = oracle.terms();
            let k = terms.constant(s.width, k);
            let part = terms.mul(value, k);
            rest = Some(rest.map_or(part, |r| terms.add(r, part)));
        }
        let Some(rest) = rest else {
            return Some(if s.arc.contains(constant, s.width) { Vec::new() } else { vec![Terms::FALSE] });
        };
        let terms = oracle.terms();
        let k = terms.constant(s.width, constant);
        let total = terms.add(rest, k);
        Some(match terms.as_const(total) {
            Some(v) if s.arc.contains(v, s.width) => Vec::new(),
            Some(_) => vec![Terms::FALSE],
            None => s.arc.write(terms, total),
        })
    }

    /// The value of a location that holds a number.
    fn number(&self, loc: Loc) -> Option<u64> {
        match loc {
            Loc::Reg { depth, slot } => match register(self.state, depth, slot)? {
                Value::Int(v) => Some(v),
                _ => None,
            },
            Loc::Size { obj } => self.state.memory.get(self.bound(obj)?)?.size().fixed(),
            Loc::Cell { obj, off, bytes } => number_in(self.state.memory.get(self.bound(obj)?)?, off, bytes),
        }
    }

    /// The condition's term with the state's values for locations; `None` while an object variable is unbound.
    pub fn translate(&mut self, oracle: &mut dyn PathOracle, t: TermId) -> Option<TermId> {
        let n = oracle.terms().node(t);
        match n.op {
            Op::Var => return self.variable(oracle, SymbolId(n.a), t),
            // A pointer and an offset, most often.
            Op::Add if oracle.terms().op(n.arg_a()) == Op::Var && oracle.terms().is_constant(n.arg_b()) => {
                let a = self.translate(oracle, n.arg_a())?;
                return Some(oracle.terms().add(a, n.arg_b()));
            }
            _ => {}
        }
        for k in oracle.terms().support(t).iter() {
            let s = k.symbol();
            let Some(loc) = self.locs.get(s) else { continue };
            let var = oracle.terms().var(s);
            self.located(oracle, s, loc, var)?;
        }
        if oracle.terms().has(t, facts::HAS_BASE) {
            for b in oracle.terms().bases(t) {
                let to = if b.0 < self.fixed { b } else { self.bound(b)? };
                let (from, to) = (oracle.terms().base(b), oracle.terms().base(to));
                self.values.insert(from, to);
            }
        }
        Some(oracle.terms().substitute_growing(t, &mut self.values))
    }

    fn variable(&mut self, oracle: &mut dyn PathOracle, s: SymbolId, var: TermId) -> Option<TermId> {
        match self.locs.get(s) {
            Some(loc) => self.located(oracle, s, loc, var),
            None => Some(var),
        }
    }

    fn located(&mut self, oracle: &mut dyn PathOracle, s: SymbolId, loc: Loc, var: TermId) -> Option<TermId> {
        if let Some(v) = self.values.get(var) {
            return Some(v);
        }
        let v = self.value(oracle, s, loc)?;
        self.values.insert(var, v);
        Some(v)
    }

    fn value(&mut self, oracle: &mut dyn PathOracle, s: SymbolId, loc: Loc) -> Option<TermId> {
        let var = oracle.terms().var(s);
        let width = oracle.terms().width(var);
        let v = match loc {
            Loc::Reg { depth, slot } => register(self.state, depth, slot)?,
            Loc::Size { obj } => {
                let size = self.state.memory.get(self.bound(obj)?)?.size();
                return Some(size.term(oracle.terms(), width));
            }
            Loc::Cell { obj, off, bytes } => {
                let obj = self.bound(obj)?;
                let o = self.state.memory.get(obj)?;
                if off + u64::from(bytes) > o.capacity() {
                    return None;
                }
                read(oracle.terms(), o, obj, off, bytes)
            }
        };
        match v.to_term(oracle.terms(), width) {
            Some(t) if oracle.terms().width(t) == width => Some(t),
            Some(t) => Some(oracle.terms().resize_unsigned(t, width)),
            // Never written: any value.
            None => Some(var),
        }
    }
}

fn number_in(o: &Object, off: u64, bytes: u32) -> Option<u64> {
    if off + u64::from(bytes) > o.capacity() || bytes > 8 {
        return None;
    }
    o.contents.read_concrete(off, bytes as usize)
}

fn read(terms: &mut Terms, o: &pleach_memory::Object, obj: ObjId, off: u64, bytes: u32) -> Value {
    let n = bytes as usize;
    if n <= 8
        && let Some(v) = o.contents.read_concrete(off, n)
    {
        return Value::Int(v);
    }
    if let Some(v) = o.contents.read_cell(off, n) {
        return v;
    }
    o.contents.clone().read(terms, off, n, obj)
}

/// A register of the frame at a call depth.
pub(crate) fn register(state: &State, depth: u32, slot: u32) -> Option<Value> {
    let frame = frames(state).find(|(d, _)| *d == depth)?.1;
    frame.register(slot)
}
