//! Questions that techniques ask about states.

use crate::machine::Machine;
use pleach_expr::{TermId, Terms};
use pleach_ir::Program;
use pleach_smt::{Answer, Query};
use pleach_state::State;
use pleach_state::seams::Logic;
use std::rc::Rc;

impl Machine {
    fn refuted(&mut self, constraints: &[TermId], negated: TermId) -> bool {
        let mut all: Vec<TermId> = constraints.to_vec();
        if let Err(i) = all.binary_search(&negated) {
            all.insert(i, negated);
        }
        let start = std::time::Instant::now();
        let answer = self.solver.check(&mut self.terms, &Query::new(&all));
        self.solver_time += start.elapsed();
        self.queries += 1;
        matches!(answer, Answer::Unsat(_))
    }
}

impl Logic for Machine {
    fn terms(&mut self) -> &mut Terms {
        &mut self.terms
    }

    fn program(&self) -> Rc<Program> {
        self.program.clone()
    }

    fn decided(&mut self, state: &State, condition: TermId) -> Option<bool> {
        let plain = self.plain(state, condition);
        if let Some(v) = self.terms.as_const(plain) {
            return Some(v != 0);
        }
        let relevant = state.path.relevant(&mut self.terms, plain);
        if relevant.constraints.binary_search(&plain).is_ok() {
            return Some(true);
        }
        match self.terms.try_eval(plain, &relevant.model) {
            Some(0) => Some(false),
            _ => None,
        }
    }

    fn entails(&mut self, state: &State, condition: TermId) -> bool {
        if let Some(d) = self.decided(state, condition) {
            return d;
        }
        let plain = self.plain(state, condition);
        let relevant = state.path.relevant(&mut self.terms, plain);
        let negated = self.terms.not(plain);
        self.refuted(&relevant.constraints, negated)
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
}
