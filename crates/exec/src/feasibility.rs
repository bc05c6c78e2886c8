//! Deciding conditions on a path, and splitting it.
//!
//! *Idea*: the path's model decides one side of a condition by evaluation; only the other side may need a query, and
//! only over the constraints that share symbolic variables with the condition.

use crate::flow::{Child, Flow, Step, StepResult};
use crate::machine::Machine;
use pleach_expr::{BaseId, Model, SymbolKind, SymbolOrigin, TermId, Terms, facts};
use pleach_memory::{AddressSpace, Value};
use pleach_smt::{Answer, BasedQuery, LazyBasedQuery, Query, UnknownReason};
use pleach_state::{Cut, End, ErrorKind, ForkKind, IndependentSlice, ProgramError, State};
use std::rc::Rc;

/// A condition with what is needed to add it to the path.
#[derive(Clone)]
pub(crate) struct FeasibleSide {
    /// as the program has it, with bases
    pub condition: TermId,
    pub address_free: TermId,
    pub relevant: IndependentSlice,
    pub model: Rc<Model>,
}

pub(crate) enum Feasibility {
    True,
    False,
    /// both are possible: (holds, does not hold)
    Both(FeasibleSide, FeasibleSide),
    /// one side is feasible, for the other the solver returned unknown
    OtherUnknown {
        holds: bool,
        side: FeasibleSide,
        why: UnknownReason,
    },
}

impl Machine {
    /// Can `plain` (with bases: `extra`) hold with the rest?
    pub(crate) fn query(
        &mut self,
        st: &mut State,
        relevant: &IndependentSlice,
        extra: TermId,
        address_free: TermId,
    ) -> Answer {
        let constraints = with(&relevant.constraints, address_free);
        let wanted = (relevant.based.is_some() || extra != address_free) && self.solver.reads_bases();
        let bits = self.pointer_bits();
        let memory = &st.memory;
        let make = |terms: &mut Terms| {
            let constraints = in_segments(terms, memory, bits, with(relevant.with_bases(), extra));
            let sizes = sizes(terms, memory, &constraints)?;
            Some(BasedQuery { constraints, sizes })
        };
        let based = wanted.then_some(LazyBasedQuery(&make));
        let query = Query { based, goal: Some(address_free), ..Query::new(&constraints) };
        if self.is_exhausted() {
            // The instruction is executed again anyway.
            return Answer::Unknown(UnknownReason::Steps);
        }
        let allowed = self.steps_allowed(st);
        let start = std::time::Instant::now();
        let hard = self.solver.hard_queries();
        self.solver.limit_steps(allowed);
        let answer = self.solver.check(&mut self.terms, &query);
        self.solver.limit_steps(None);
        let spent = start.elapsed();
        st.query_cost += spent.as_micros() as u64;
        self.solver_time += spent;
        self.queries += 1;
        if self.solver.hard_queries() != hard {
            self.query_costs.add(st.program_place(&self.program), spent);
        }
        if allowed.is_some() && matches!(answer, Answer::Unknown(UnknownReason::Steps)) {
            self.exhaust(st);
        }
        answer
    }

    pub(crate) fn decide(&mut self, st: &mut State, condition: TermId) -> Feasibility {
        self.pin_observed(st, condition);
        let address_free = self.substitute_addresses(st, condition);
        match self.terms.as_const(address_free) {
            Some(0) => return Feasibility::False,
            Some(_) => return Feasibility::True,
            None => {}
        }
        let negated = self.terms.not(address_free);
        let relevant = st.path.relevant(&mut self.terms, address_free);
        if relevant.constraints.binary_search(&address_free).is_ok() {
            return Feasibility::True;
        }
        if relevant.constraints.binary_search(&negated).is_ok() {
            return Feasibility::False;
        }
        let by_model = !self.may_violate(&relevant);
        let holds = match by_model.then(|| self.terms.try_eval(address_free, &relevant.model)).flatten() {
            Some(v) => v != 0,
            None => return self.decide_by_solver(st, condition, address_free, negated, relevant),
        };
        if st.path.decides(&mut self.terms, address_free) {
            return if holds { Feasibility::True } else { Feasibility::False };
        }
        let not_condition = self.terms.not(condition);
        let (other_condition, other) = if holds { (not_condition, negated) } else { (condition, address_free) };
        let answer = self.query(st, &relevant, other_condition, other);
        let known = relevant.model.clone();
        let side = |holds: bool, model: Rc<Model>, relevant: IndependentSlice| {
            if holds {
                FeasibleSide { condition, address_free, relevant, model }
            } else {
                FeasibleSide { condition: not_condition, address_free: negated, relevant, model }
            }
        };
        match answer {
            Answer::Unsat(_) => {
                if holds {
                    Feasibility::True
                } else {
                    Feasibility::False
                }
            }
            Answer::Sat(model) => {
                let mine = side(holds, known, relevant.clone());
                let theirs = side(!holds, model, relevant);
                if holds { Feasibility::Both(mine, theirs) } else { Feasibility::Both(theirs, mine) }
            }
            Answer::Unknown(why) => Feasibility::OtherUnknown { holds, side: side(holds, known, relevant), why },
        }
    }

    /// The model of the path may violate a quantifier of it (`weaken_quantifiers`).
    pub(crate) fn may_violate(&self, relevant: &IndependentSlice) -> bool {
        self.weak_quantifiers && relevant.constraints.iter().any(|c| self.terms.has(*c, facts::HAS_FORALL))
    }

    /// Without evaluation (quantifiers): both sides by the solver.
    fn decide_by_solver(
        &mut self,
        st: &mut State,
        condition: TermId,
        address_free: TermId,
        negated: TermId,
        relevant: IndependentSlice,
    ) -> Feasibility {
        let not_condition = self.terms.not(condition);
        let yes = self.query(st, &relevant, condition, address_free);
        let no = self.query(st, &relevant, not_condition, negated);
        let side = |c, p, m| FeasibleSide { condition: c, address_free: p, relevant: relevant.clone(), model: m };
        match (yes, no) {
            (Answer::Unsat(_), _) => Feasibility::False,
            (_, Answer::Unsat(_)) => Feasibility::True,
            (Answer::Sat(a), Answer::Sat(b)) => {
                Feasibility::Both(side(condition, address_free, a), side(not_condition, negated, b))
            }
            (Answer::Sat(a), Answer::Unknown(why)) => {
                Feasibility::OtherUnknown { holds: true, side: side(condition, address_free, a), why }
            }
            (Answer::Unknown(why), Answer::Sat(b)) => {
                Feasibility::OtherUnknown { holds: false, side: side(not_condition, negated, b), why }
            }
            // INCOMPLETE: neither side is known; follow the one that holds under the model of the rest and report the
            // loss.
            (Answer::Unknown(why), Answer::Unknown(_)) => {
                self.defer_whole();
                Feasibility::OtherUnknown {
                    holds: true,
                    side: side(condition, address_free, relevant.model.clone()),
                    why,
                }
            }
        }
    }

    pub(crate) fn add(&mut self, st: &mut State, side: FeasibleSide) {
        st.path.add(&mut self.terms, side.condition, side.address_free, &side.relevant, side.model);
    }

    /// Can the condition hold on this path? With a model if so.
    pub(crate) fn is_satisfiable(
        &mut self,
        st: &mut State,
        condition: TermId,
    ) -> Result<Option<FeasibleSide>, UnknownReason> {
        if let Some(side) = self.holds_by_model(st, condition) {
            return Ok(Some(side));
        }
        Ok(match self.decide(st, condition) {
            Feasibility::True => Some(self.feasible_side(st, condition)),
            Feasibility::False => None,
            Feasibility::Both(yes, _) => Some(yes),
            Feasibility::OtherUnknown { holds: true, side, .. } => Some(side),
            Feasibility::OtherUnknown { holds: false, why, .. } => return Err(why),
        })
    }

    /// The side where the condition holds, if the path's model is on it: whether there is another need not be known.
    fn holds_by_model(&mut self, st: &mut State, condition: TermId) -> Option<FeasibleSide> {
        self.pin_observed(st, condition);
        let address_free = self.substitute_addresses(st, condition);
        if self.terms.as_const(address_free).is_some() {
            return None;
        }
        let relevant = st.path.relevant(&mut self.terms, address_free);
        if self.may_violate(&relevant) {
            return None;
        }
        let model = relevant.model.clone();
        (self.terms.try_eval(address_free, &model)? != 0).then_some(FeasibleSide {
            condition,
            address_free,
            relevant,
            model,
        })
    }

    /// A condition that holds on this path, as a side of it.
    pub(crate) fn feasible_side(&mut self, st: &State, condition: TermId) -> FeasibleSide {
        let address_free = self.substitute_addresses(st, condition);
        let relevant = st.path.relevant(&mut self.terms, address_free);
        let model = relevant.model.clone();
        FeasibleSide { condition, address_free, relevant, model }
    }

    /// The path must satisfy `ok`: if it may fail, the failing side ends with the error and the other side executes the
    /// same instruction again, knowing that it holds.
    pub(crate) fn require(
        &mut self,
        st: &mut State,
        ok: TermId,
        kind: ErrorKind,
        message: impl FnOnce() -> String,
    ) -> StepResult<()> {
        self.require_at_end(st, ok, kind, message, None)
    }

    /// The same for a state that ends here, if there is such an end: then the other side ends so.
    pub(crate) fn require_at_end(
        &mut self,
        st: &mut State,
        ok: TermId,
        kind: ErrorKind,
        message: impl FnOnce() -> String,
        here_ends: Option<End>,
    ) -> StepResult<()> {
        match self.decide(st, ok) {
            Feasibility::True => Ok(()),
            Feasibility::False => Err(Flow::error(kind, message())),
            Feasibility::Both(good, bad) => {
                let end = End::Error(ProgramError::new(kind, message()));
                Err(self.split(st, vec![(bad, Some(end)), (good, here_ends)], ForkKind::Check(kind)))
            }
            Feasibility::OtherUnknown { holds: true, side, why } => {
                Err(self.split_with_unknown(st, side, here_ends, false, &why))
            }
            Feasibility::OtherUnknown { holds: false, side, why } => {
                let end = End::Error(ProgramError::new(kind, message()));
                Err(self.split_with_unknown(st, side, Some(end), true, &why))
            }
        }
    }

    /// Replaces the state by one child per side.
    pub(crate) fn split(&mut self, st: &mut State, sides: Vec<(FeasibleSide, Option<End>)>, kind: ForkKind) -> Flow {
        let (n, block) = (sides.len(), st.block);
        if self.config.record {
            st.keep_origin(kind);
        }
        let mut children = Vec::with_capacity(n);
        let heir = sides.iter().position(|s| s.1.is_none()).unwrap_or(0);
        st.depth += 1;
        for (i, (side, end)) in sides.into_iter().enumerate() {
            let mut child = if i + 1 == n { std::mem::replace(st, State::placeholder()) } else { st.clone() };
            let condition = side.condition;
            if i != heir {
                child.clear_new_coverage();
            }
            self.add(&mut child, side);
            child.failing = matches!(end, Some(End::Error(_)));
            children.push(Child { state: child, condition, block, end });
        }
        Flow::Stop(Step::Fork(children))
    }

    /// One side goes on (or ends with `end`), the other waits for a larger budget, or is lost because the solver
    /// returned unknown. The children stand in the order that they have where both are known: this one `first`, or
    /// second.
    pub(crate) fn split_with_unknown(
        &mut self,
        st: &mut State,
        side: FeasibleSide,
        end: Option<End>,
        first: bool,
        why: &UnknownReason,
    ) -> Flow {
        let condition = self.terms.not(side.condition);
        let other = self.pending_side(condition, why).unwrap_or_else(|| {
            let mut state = st.clone();
            state.clear_new_coverage();
            Child { block: state.block, state, condition, end: Some(End::Cut(Cut::Solver(why.to_string()))) }
        });
        let Flow::Stop(Step::Fork(mut children)) = self.split(st, vec![(side, end)], ForkKind::Other) else {
            return Flow::Next;
        };
        children.insert(usize::from(first), other);
        Flow::Stop(Step::Fork(children))
    }

    /// Adds a condition that is known to be possible; the path ends silently if it is not.
    pub(crate) fn assume(&mut self, st: &mut State, condition: TermId) -> StepResult<()> {
        match self.decide(st, condition) {
            Feasibility::True => Ok(()),
            Feasibility::False => Err(Flow::Stop(Step::End(End::Silent))),
            Feasibility::Both(yes, _) | Feasibility::OtherUnknown { holds: true, side: yes, .. } => {
                self.add(st, yes);
                Ok(())
            }
            Feasibility::OtherUnknown { holds: false, why, .. } => Err(Flow::cut(Cut::Solver(why.to_string()))),
        }
    }

    /// One number for a value on this path. If it could have others, that is forked off as a cut with the reason.
    pub(crate) fn concretize(&mut self, st: &mut State, v: Value, width: u16, why: &str) -> StepResult<u64> {
        self.one_value(st, v, width, why, false)
    }

    /// The number of a value on this path. Where it can have several, the path splits; none is lost.
    pub(crate) fn each_value(&mut self, st: &mut State, v: Value, width: u16, what: &str) -> StepResult<u64> {
        self.one_value(st, v, width, what, true)
    }

    fn one_value(&mut self, st: &mut State, v: Value, width: u16, why: &str, each: bool) -> StepResult<u64> {
        if let Value::Ptr { obj, .. } = v {
            self.model.observe(&mut st.memory, &[obj]);
        }
        if let Some(n) = self.concrete_number(st, v) {
            return Ok(n);
        }
        let t = self.term(st, v, width);
        self.pin_bases(st, t);
        let address_free = self.substitute_addresses(st, t);
        if let Some(n) = self.terms.as_const(address_free) {
            return Ok(n);
        }
        let relevant = st.path.relevant(&mut self.terms, address_free);
        let Some(n) = self.terms.try_eval(address_free, &relevant.model) else {
            return Err(Flow::cut(Cut::Unsupported(format!("a value without a concrete example ({why})"))));
        };
        let c = self.terms.constant(width, n);
        let same = self.terms.eq(t, c);
        match self.decide(st, same) {
            Feasibility::True => Ok(n),
            Feasibility::Both(yes, no) if each => Err(self.split(st, vec![(no, None), (yes, None)], ForkKind::Other)),
            Feasibility::Both(yes, no) => {
                // Of two values both are followed.
                let second = self.terms.try_eval(address_free, &no.model).map(|n| self.terms.constant(width, n));
                let third = second.map(|second| {
                    let other = self.terms.ne(t, second);
                    let not_first = self.terms.not(same);
                    self.terms.and(not_first, other)
                });
                let two = third.is_some_and(|third| matches!(self.is_satisfiable(st, third), Ok(None)));
                let rest = (!two).then(|| End::Cut(Cut::Concretized(why.to_string())));
                Err(self.split(st, vec![(no, rest), (yes, None)], ForkKind::Other))
            }
            Feasibility::OtherUnknown { holds: true, side, why } => {
                Err(self.split_with_unknown(st, side, None, false, &why))
            }
            Feasibility::False | Feasibility::OtherUnknown { .. } => {
                Err(Flow::cut(Cut::Solver("a model does not satisfy its own query".into())))
            }
        }
    }

    /// The value as a term; an uninitialised value becomes a fresh symbolic variable.
    pub(crate) fn term(&mut self, st: &mut State, v: Value, width: u16) -> TermId {
        match v.to_term(&mut self.terms, width) {
            Some(t) => t,
            None => self.fresh(st, width),
        }
    }

    /// A symbolic variable for a value that was never initialised.
    pub(crate) fn fresh(&mut self, st: &mut State, width: u16) -> TermId {
        if self.config.uninit == crate::config::Uninit::Zero {
            return self.terms.constant(width, 0);
        }
        let number = st.fresh_number();
        let name = || format!("undef!{number}");
        let s = self.terms.symbols.intern(SymbolOrigin::Undefined(number), SymbolKind::Bits(width), name);
        self.terms.var(s)
    }
}

/// The constraints over the segments that objects were moved into: β_i becomes β_s + o_i.
fn in_segments(terms: &mut Terms, memory: &AddressSpace, bits: u16, mut constraints: Vec<TermId>) -> Vec<TermId> {
    if !memory.has_segments() {
        return constraints;
    }
    for c in &mut constraints {
        let mut map = rustc_hash::FxHashMap::default();
        for b in terms.bases(*c) {
            if let Some((segment, start)) = memory.segment_of(b) {
                let (member, s) = (terms.base(b), terms.base(segment));
                let at = terms.constant(bits, start);
                map.insert(member, terms.add(s, at));
            }
        }
        *c = terms.substitute(*c, &map);
    }
    constraints.retain(|c| *c != Terms::TRUE);
    constraints.sort_unstable();
    constraints.dedup();
    constraints
}

/// The objects whose bases the constraints mention, with their sizes; nothing if one of them has a fixed address.
pub(crate) fn sizes(terms: &Terms, memory: &AddressSpace, constraints: &[TermId]) -> Option<Vec<(BaseId, u64)>> {
    let mut bases: Vec<BaseId> = constraints.iter().flat_map(|&c| terms.bases(c)).collect();
    bases.sort_unstable();
    bases.dedup();
    bases.into_iter().map(|b| Some((b, memory.movable_size(b)?))).collect()
}

/// The sorted constraints and one more.
fn with(constraints: &[TermId], extra: TermId) -> Vec<TermId> {
    let mut all = Vec::with_capacity(constraints.len() + 1);
    all.extend_from_slice(constraints);
    if let Err(i) = all.binary_search(&extra) {
        all.insert(i, extra);
    }
    all
}
