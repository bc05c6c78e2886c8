//! Queries with a budget. A query that runs out of it does not end the path: the state waits and executes the
//! instruction again with a larger one.
//!
//! *Idea*: an instruction changes nothing that its second execution would not change again until its queries are
//! answered, because a check that splits the path has the good side execute the same instruction. So the state at the
//! query is the one to go on from. Where that does not hold, as after an input was made ([`Machine::commit`]), queries
//! have no budget. *Invariant*: no answer that a larger budget could change has an effect on the state. The budget
//! counts search steps of the back end, not time: the same in every run.

use crate::flow::{Child, Flow, Step};
use crate::machine::Machine;
use pleach_expr::{TermId, Terms};
use pleach_smt::UnknownReason;
use pleach_state::State;

/// Default of the first attempt: about 40 ms of search.
pub const QUERY_BUDGET: u64 = 1_000;
/// A factor where histories are kept: whoever asked for them learns nothing above a state that waits.
const WITH_HISTORY: u64 = 16;
/// A budget is this many times the one before.
const GROWTH: u64 = 4;

#[derive(Default)]
pub(crate) struct QueryBudget {
    /// steps of the first attempt, while budgets are in force
    first: Option<u64>,
    /// where an instruction did something that must not be done twice
    committed: Option<(u64, u32)>,
    /// the state at a query that ran out of its budget
    exhausted: Option<Box<State>>,
    /// neither side of the condition is known: the state waits as a whole
    whole: bool,
}

/// Search steps that a state may use for one query after `attempts` attempts.
pub fn budget_at(first: u64, level: u32) -> u64 {
    first.saturating_mul(GROWTH.saturating_pow(level))
}

impl Machine {
    /// Runs a state for at most `blocks` blocks, with budgets for its queries.
    pub fn step_within_budget(&mut self, state: &mut State, blocks: u32) -> Step {
        // The check of resolutions queries copies of the state.
        let factor = if self.config.record { WITH_HISTORY } else { 1 };
        let first = self.config.query_budget.filter(|_| !self.config.check_resolution);
        self.query_budget.first = first.map(|n| n.saturating_mul(factor));
        let step = self.step(state, blocks);
        self.query_budget.first = None;
        step
    }

    /// What the next query of this state may use.
    pub(crate) fn steps_allowed(&self, st: &State) -> Option<u64> {
        let first = self.query_budget.first?;
        (self.query_budget.committed != Some(st.position())).then(|| budget_at(first, st.budget_level()))
    }

    pub(crate) fn is_exhausted(&self) -> bool {
        self.query_budget.exhausted.is_some()
    }

    /// A query ran out of its budget here.
    pub(crate) fn exhaust(&mut self, st: &State) {
        self.query_budget.exhausted = Some(Box::new(st.clone()));
    }

    /// Of the condition that ran out of its budget neither side is known.
    pub(crate) fn defer_whole(&mut self) {
        self.query_budget.whole = self.is_exhausted();
    }

    /// The instruction cannot be executed again from the start: its further queries have no budget.
    pub(crate) fn commit(&mut self, st: &State) {
        self.query_budget.committed = Some(st.position());
    }

    /// Queries about another state than the one that executes: an instruction is not executed again because of them.
    pub(crate) fn without_budget<T>(&mut self, query: impl FnOnce(&mut Machine) -> T) -> T {
        let first = self.query_budget.first.take();
        let answer = query(self);
        self.query_budget.first = first;
        answer
    }

    /// The state as it was at the query that ran out of its budget.
    pub(crate) fn defer(&mut self, st: &mut State) -> Step {
        self.query_budget.whole = false;
        if let Some(before) = self.query_budget.exhausted.take() {
            *st = *before;
        }
        st.defer();
        Step::Deferred
    }

    /// The side whose query ran out of its budget, as a child that waits; none where histories are kept: a fork
    /// with a side that turns out to be infeasible is not described there.
    pub(crate) fn pending_side(&mut self, condition: TermId, why: &UnknownReason) -> Option<Child> {
        if *why != UnknownReason::Steps || self.config.record || self.query_budget.whole {
            return None;
        }
        let mut state = *self.query_budget.exhausted.take()?;
        state.clear_new_coverage();
        state.defer();
        state.pending = Some(condition);
        Some(Child { block: state.block, state, condition, end: None })
    }

    /// Decides whether the side that this state stands for is feasible; `None`: it is, and the state goes on.
    pub(crate) fn settle_pending(&mut self, st: &mut State) -> Option<Step> {
        let condition = st.pending?;
        match self.is_satisfiable(st, condition) {
            Ok(Some(side)) => {
                if side.address_free != Terms::TRUE {
                    self.add(st, side);
                }
                st.pending = None;
                None
            }
            Ok(None) => Some(Step::Fork(Vec::new())),
            Err(_) if self.is_exhausted() => Some(self.defer(st)),
            Err(why) => match Flow::cut(pleach_state::Cut::Solver(why.to_string())) {
                Flow::Stop(step) => Some(step),
                _ => None,
            },
        }
    }
}
