//! Queries that techniques make about states.

use crate::machine::Machine;
use pleach_expr::{Op, TermId, Terms};
use pleach_ir::Program;
use pleach_smt::{Answer, Query};
use pleach_state::State;
use pleach_state::seams::{Effort, PathOracle};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// Products and quotients in a query, by width.
const PRODUCT_BITS: u32 = 64;
/// How far a back end may search for an answer to one: about 20 ms. The same in every run, as a time limit would not
/// be.
const STEPS: u64 = 500;
/// A core of more constraints than this is not minimised one by one.
const MINIMISED: usize = 16;

impl Machine {
    fn refuted(&mut self, constraints: &[TermId], negated: TermId) -> bool {
        self.contradiction(constraints, &[negated]).is_some()
    }

    /// Constraints among these that cannot all be true, if the solver finds some.
    fn contradiction(&mut self, constraints: &[TermId], further: &[TermId]) -> Option<Rc<[TermId]>> {
        match self.answer(constraints, further)? {
            Answer::Unsat(core) => Some(core.0),
            _ => None,
        }
    }

    /// The solver's answer for the conjunction of these; nothing if there was no query.
    pub(crate) fn answer(&mut self, constraints: &[TermId], further: &[TermId]) -> Option<Answer> {
        let mut all: Vec<TermId> = constraints.to_vec();
        for &t in further {
            if let Err(i) = all.binary_search(&t) {
                all.insert(i, t);
            }
        }
        if self.is_hard(&all) {
            return None;
        }
        let start = std::time::Instant::now();
        self.solver.limit_steps(Some(STEPS));
        let answer = self.solver.check(&mut self.terms, &Query::new(&all));
        self.solver.limit_steps(None);
        self.solver_time += start.elapsed();
        self.queries += 1;
        Some(answer)
    }

    /// More products and quotients of symbolic variables than a technique's query is worth. The same in every run, as a
    /// time limit would not be.
    fn is_hard(&self, constraints: &[TermId]) -> bool {
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut todo = constraints.to_vec();
        let mut bits = 0u32;
        while let Some(t) = todo.pop() {
            if !seen.insert(t) {
                continue;
            }
            let n = self.terms.node(t);
            let open = |x: TermId| self.terms.as_const(x).is_none();
            let product = match n.op {
                Op::Mul => open(n.arg_a()) && open(n.arg_b()),
                Op::UDiv | Op::SDiv | Op::URem | Op::SRem => true,
                _ => false,
            };
            bits += if product { u32::from(n.width) } else { 0 };
            if bits > PRODUCT_BITS {
                return true;
            }
            todo.extend(self.terms.args(t));
        }
        false
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
        self.refuted(&relevant.constraints, negated)
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

    fn is_satisfiable(&mut self, condition: TermId) -> bool {
        match self.terms.as_const(condition) {
            Some(v) => v != 0,
            None if self.terms.has(condition, pleach_expr::facts::HAS_BASE) => false,
            None => self.answer(&[], &[condition]).is_some_and(|a| a.is_sat()),
        }
    }

    fn valid(&mut self, condition: TermId) -> bool {
        if let Some(v) = self.terms.as_const(condition) {
            return v != 0;
        }
        if self.terms.has(condition, pleach_expr::facts::HAS_BASE) {
            return false;
        }
        let negated = self.terms.not(condition);
        self.refuted(&[], negated)
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
