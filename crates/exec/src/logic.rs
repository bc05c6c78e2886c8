//! Queries that techniques make about states and terms.

use crate::machine::Machine;
use pleach_expr::{Op, TermId, Terms, facts};
use pleach_ir::Program;
use pleach_smt::{Answer, Query, Solver};
use pleach_state::State;
use pleach_state::seams::{Effort, PathOracle, TermOracle};
use rustc_hash::FxHashSet;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// Products and quotients in a query, by width.
const PRODUCT_BITS: u32 = 64;
/// How far a back end may search for an answer to one: about 20 ms. The same in every run, as a time limit would not
/// be.
const STEPS: u64 = 500;
/// The same for a proof by induction, whose queries read arrays at symbolic indices.
const STEPS_OF_ELEMENTS: u64 = 5_000;
/// A core of more constraints than this is not minimised one by one.
const MINIMISED: usize = 16;

/// The solver for techniques: a query is not worth much, and is given up early.
pub(crate) struct TechniqueSolver<'a> {
    solver: &'a mut dyn Solver,
    time: &'a mut Duration,
    queries: &'a mut u64,
    /// how far a back end may search
    steps: u64,
}

impl TechniqueSolver<'_> {
    /// Constraints among these that cannot all be true, if the solver finds some.
    fn contradiction(&mut self, terms: &mut Terms, constraints: &[TermId], further: &[TermId]) -> Option<Rc<[TermId]>> {
        match self.answer(terms, constraints, further)? {
            Answer::Unsat(core) => Some(core.0),
            _ => None,
        }
    }

    /// What the solver says of all of these together; nothing if it is not asked.
    pub fn answer(&mut self, terms: &mut Terms, constraints: &[TermId], further: &[TermId]) -> Option<Answer> {
        let mut all: Vec<TermId> = constraints.to_vec();
        for &t in further {
            if let Err(i) = all.binary_search(&t) {
                all.insert(i, t);
            }
        }
        if is_hard(terms, &all) {
            return None;
        }
        let start = Instant::now();
        self.solver.limit_steps(Some(self.steps));
        let answer = self.solver.check(terms, &Query::new(&all));
        self.solver.limit_steps(None);
        *self.time += start.elapsed();
        *self.queries += 1;
        Some(answer)
    }
}

impl TermOracle for TechniqueSolver<'_> {
    fn valid(&mut self, terms: &mut Terms, condition: TermId) -> bool {
        if let Some(v) = terms.as_const(condition) {
            return v != 0;
        }
        if terms.has(condition, pleach_expr::facts::HAS_BASE) {
            return false;
        }
        let negated = terms.not(condition);
        self.contradiction(terms, &[], &[negated]).is_some()
    }

    fn is_satisfiable(&mut self, terms: &mut Terms, condition: TermId) -> bool {
        match terms.as_const(condition) {
            Some(v) => v != 0,
            None if terms.has(condition, pleach_expr::facts::HAS_BASE) => false,
            None => self.answer(terms, &[], &[condition]).is_some_and(|a| a.is_sat()),
        }
    }
}

/// More products and quotients of symbolic variables than a technique's query is worth. The same in every run, as a
/// time limit would not be.
fn is_hard(terms: &Terms, constraints: &[TermId]) -> bool {
    let mut seen: FxHashSet<TermId> = FxHashSet::default();
    let mut todo = constraints.to_vec();
    let mut bits = 0u32;
    while let Some(t) = todo.pop() {
        if !seen.insert(t) {
            continue;
        }
        let n = terms.node(t);
        let open = |x: TermId| terms.as_const(x).is_none();
        let product = match n.op {
            Op::Mul => open(n.arg_a()) && open(n.arg_b()),
            Op::UDiv | Op::SDiv | Op::URem | Op::SRem => true,
            _ => false,
        };
        bits += if product { u32::from(n.width) } else { 0 };
        if bits > PRODUCT_BITS {
            return true;
        }
        todo.extend(terms.args(t));
    }
    false
}

impl Machine {
    /// The table of terms, and the solver for techniques.
    pub(crate) fn technique_solver(&mut self) -> (&mut Terms, TechniqueSolver<'_>) {
        let steps = if self.weak_quantifiers { STEPS_OF_ELEMENTS } else { STEPS };
        let (time, queries) = (&mut self.solver_time, &mut self.queries);
        let solver = TechniqueSolver { solver: &mut *self.solver, time, queries, steps };
        (&mut self.terms, solver)
    }

    fn contradiction(&mut self, constraints: &[TermId], further: &[TermId]) -> Option<Rc<[TermId]>> {
        let (terms, mut solver) = self.technique_solver();
        solver.contradiction(terms, constraints, further)
    }

    /// What the solver says of all of these together; nothing if it is not asked.
    pub(crate) fn answer(&mut self, constraints: &[TermId], further: &[TermId]) -> Option<Answer> {
        let (terms, mut solver) = self.technique_solver();
        solver.answer(terms, constraints, further)
    }
}

/// Whether a condition holds on a path, with a counterexample if not.
pub enum Refuted {
    Holds,
    Fails(Rc<pleach_expr::Model>),
    /// the solver returned unknown
    Unknown,
}

/// For those who check other techniques.
impl Machine {
    /// Queries whether the condition may be false on the path.
    pub fn refute(&mut self, state: &State, condition: TermId) -> Refuted {
        let address_free = self.substitute_addresses(state, condition);
        match self.terms.as_const(address_free) {
            Some(0) => return Refuted::Fails(Rc::new(state.path.model())),
            Some(_) => return Refuted::Holds,
            None => {}
        }
        let mut all: Vec<TermId> = state.path.relevant(&mut self.terms, address_free).constraints.to_vec();
        let negated = self.terms.not(address_free);
        if let Err(i) = all.binary_search(&negated) {
            all.insert(i, negated);
        }
        match self.solver.check(&mut self.terms, &Query::new(&all)) {
            Answer::Unsat(_) => Refuted::Holds,
            Answer::Sat(model) => Refuted::Fails(model),
            Answer::Unknown(_) => Refuted::Unknown,
        }
    }

    /// Adds a condition to the path; false if it cannot hold there, `None` if the solver returns unknown.
    pub fn constrain(&mut self, state: &mut State, condition: TermId) -> Option<bool> {
        match self.is_satisfiable(state, condition) {
            Ok(Some(side)) => {
                self.add(state, side);
                Some(true)
            }
            Ok(None) => Some(false),
            Err(_) => None,
        }
    }
}

impl PathOracle for Machine {
    fn effort(&self) -> Effort {
        Effort {
            instructions: self.instructions,
            queries: self.queries,
            hard: self.solver.hard_queries(),
            steps: self.solver.search_steps(),
            solving: self.solver_time,
        }
    }

    fn terms(&mut self) -> &mut Terms {
        &mut self.terms
    }

    fn program(&self) -> Rc<Program> {
        self.program.clone()
    }

    fn decided(&mut self, state: &State, condition: TermId) -> Option<bool> {
        let address_free = self.substitute_addresses(state, condition);
        if let Some(v) = self.terms.as_const(address_free) {
            return Some(v != 0);
        }
        let relevant = state.path.relevant(&mut self.terms, address_free);
        if relevant.constraints.binary_search(&address_free).is_ok() {
            return Some(true);
        }
        let elements = self.weak_quantifiers && self.terms.has(address_free, facts::HAS_FORALL);
        if elements || self.may_violate(&relevant) {
            return None;
        }
        match self.terms.try_eval(address_free, &relevant.model) {
            Some(0) => Some(false),
            _ => None,
        }
    }

    fn entails(&mut self, state: &State, condition: TermId) -> bool {
        if let Some(d) = self.decided(state, condition) {
            return d;
        }
        let address_free = self.substitute_addresses(state, condition);
        let relevant = state.path.relevant(&mut self.terms, address_free);
        let negated = self.terms.not(address_free);
        self.contradiction(&relevant.constraints, &[negated]).is_some()
    }

    fn is_satisfiable_with(&mut self, state: &State, condition: TermId) -> bool {
        let address_free = self.substitute_addresses(state, condition);
        match self.terms.as_const(address_free) {
            Some(v) => v != 0,
            None => {
                let relevant = state.path.relevant(&mut self.terms, address_free);
                self.answer(&relevant.constraints, &[address_free]).is_some_and(|a| a.is_sat())
            }
        }
    }

    fn split(&mut self) -> (&mut Terms, Box<dyn TermOracle + '_>) {
        let (terms, solver) = self.technique_solver();
        (terms, Box::new(solver))
    }

    fn constrain(&mut self, state: &mut State, condition: TermId, model: &Rc<pleach_expr::Model>) {
        let address_free = self.substitute_addresses(state, condition);
        let relevant = state.path.relevant(&mut self.terms, address_free);
        state.path.add(&mut self.terms, condition, address_free, &relevant, model.clone());
    }

    fn assume(&mut self, state: &mut State, condition: TermId) -> Option<bool> {
        Machine::constrain(self, state, condition)
    }

    fn weaken_quantifiers(&mut self, on: bool) {
        self.weak_quantifiers = on;
        self.solver.weaken_quantifiers(on);
    }

    fn depends_on_layout(&mut self, state: &State, condition: TermId) -> bool {
        !self.config.fixed_layout && self.terms.bases(condition).len() > 1 && self.depends(state, condition, true)
    }

    fn core(&mut self, state: &State, given: TermId, goal: TermId) -> Option<Vec<TermId>> {
        let both = self.terms.and(given, goal);
        if self.terms.has(both, pleach_expr::facts::HAS_BASE) {
            return None;
        }
        let relevant = state.path.relevant(&mut self.terms, both);
        if relevant.based.is_some() {
            return None;
        }
        let negated = self.terms.not(goal);
        let used = self.contradiction(&relevant.constraints, &[given, negated])?;
        let mut core: Vec<TermId> =
            used.iter().copied().filter(|c| relevant.constraints.binary_search(c).is_ok()).collect();
        let mut i = 0;
        while core.len() <= MINIMISED && i < core.len() {
            let one = core.remove(i);
            if self.contradiction(&core, &[given, negated]).is_none() {
                core.insert(i, one);
                i += 1;
            }
        }
        Some(core)
    }
}
