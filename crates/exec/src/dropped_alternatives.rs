//! Alternatives dropped from a path that goes on: what the engine assumes at a location of the program although it may
//! be otherwise.

use crate::feasibility::FeasibleSide;
use crate::flow::{Child, Flow, Step, StepResult};
use crate::machine::Machine;
use pleach_expr::Terms;
use pleach_ir::FuncId;
use pleach_smt::UnknownReason;
use pleach_state::{Cut, End, ForkKind, State};
use rustc_hash::FxHashSet;

/// Places of the program where something was cut.
#[derive(Clone, Default)]
pub struct DroppedAlternatives {
    cut: FxHashSet<(FuncId, u32)>,
    /// those where an error was reported
    reported: FxHashSet<(FuncId, u32)>,
    /// those where the solver did not say whether there is an error
    lost: FxHashSet<(FuncId, u32)>,
}

impl Machine {
    pub(crate) fn is_alternative_dropped(&self, st: &State) -> bool {
        self.dropped.cut.contains(&(st.frame.func, st.inst))
    }

    /// Cuts what is not explored here, once for each location of the program: the state executes the instruction again,
    /// and nothing happens.
    pub(crate) fn drop_alternative(&mut self, st: &mut State, what: &str) -> StepResult<()> {
        self.drop_alternative_at_end(st, what, None)
    }

    /// An error was reported as an alternative end here.
    pub(crate) fn is_alternative_reported(&self, st: &State) -> bool {
        self.dropped.reported.contains(&(st.frame.func, st.inst))
    }

    /// Alternative ends of a path that goes on, once for each location of the program, where more holds than on the
    /// path.
    pub(crate) fn end_alternative(&mut self, st: &mut State, end: End, more: Option<FeasibleSide>) -> StepResult<()> {
        if !self.dropped.reported.insert((st.frame.func, st.inst)) {
            return Ok(());
        }
        Err(self.split_alternative(st, (end, more), None))
    }

    /// A query about this location had no answer: an alternative is lost, once for each location.
    pub(crate) fn lose_alternative(&mut self, st: &mut State, why: &UnknownReason) -> StepResult<()> {
        if !self.dropped.lost.insert((st.frame.func, st.inst)) {
            return Ok(());
        }
        Err(self.split_alternative(st, (End::Cut(Cut::Solver(why.to_string())), None), None))
    }

    /// The same for a state that ends here, if there is such an end.
    pub(crate) fn drop_alternative_at_end(
        &mut self,
        st: &mut State,
        what: &str,
        here_ends: Option<End>,
    ) -> StepResult<()> {
        if !self.dropped.cut.insert((st.frame.func, st.inst)) {
            return Ok(());
        }
        Err(self.split_alternative(st, (End::Cut(Cut::Concretized(what.into())), None), here_ends))
    }

    /// One state goes on, or ends as it does, and one ends otherwise.
    fn split_alternative(
        &mut self,
        st: &mut State,
        (end, more): (End, Option<FeasibleSide>),
        here_ends: Option<End>,
    ) -> Flow {
        let relevant = st.path.relevant(&mut self.terms, Terms::TRUE);
        let model = relevant.model.clone();
        let here = FeasibleSide { condition: Terms::TRUE, address_free: Terms::TRUE, relevant, model };
        let mut other = st.clone();
        other.clear_new_coverage();
        if let Some(more) = more {
            self.add(&mut other, more);
        }
        let mut flow = self.split(st, vec![(here, here_ends)], ForkKind::Other);
        if let Flow::Stop(Step::Fork(children)) = &mut flow {
            children.push(Child { block: other.block, state: other, condition: Terms::TRUE, end: Some(end) });
        }
        flow
    }
}
