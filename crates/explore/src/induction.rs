//! Passes of a proof by induction: the program is explored outside the run, each loop once from a state that stands
//! for all of its rounds.
//!
//! *Idea*: [`Induction`](pleach_state::Induction) makes the states at the starts of loops general and recognises those
//! that came back; here they are explored, depth first, from the run's initial states. *Invariant*: the run is proved
//! only after a pass all of whose paths ended without harm or were covered, with no path cut. *Direction*: an attempt
//! that fails costs time, and says nothing. *Checked by*: the campaign for loops, and `--check-interpolants`.

use crate::run::{Run, RunContext};
use crate::step::{Child, Stepper};
use crate::sub_exploration::{Admission, Origin, SubExploration};
use pleach_state::pruner::{AfterPass, InductionStep, PassEnd};
use pleach_state::seams::Effort;
use pleach_state::{End, History, NodeId, State, StateId};

/// One pass.
struct Pass {
    before: Effort,
    limit: u64,
    forks: u64,
    end: PassEnd,
}

impl Pass {
    fn ended<M: Stepper>(&mut self, end: &End, ctx: &mut RunContext<M>) {
        if !ctx.learners.pruner.induction().is_some_and(|i| i.is_harmless(end)) {
            self.end = PassEnd::Failed;
        }
    }
}

impl<M: Stepper> SubExploration<M> for Pass {
    fn before_step(&mut self, run: &mut Run, state: &mut State, ctx: &mut RunContext<M>) -> Admission {
        let spent = ctx.machine.logic().effort().since(self.before).units(self.forks);
        if self.end == PassEnd::Complete && (spent > self.limit || run.halt.reason().is_some()) {
            self.end = PassEnd::Limit;
        }
        if self.end != PassEnd::Complete {
            return Admission::Stop;
        }
        let Some(induction) = ctx.learners.pruner.induction() else { return Admission::Stop };
        match induction.arrive(state, ctx.machine.logic()) {
            InductionStep::Continue => Admission::Step,
            InductionStep::Covered => Admission::Done,
            InductionStep::GiveUp => {
                self.end = PassEnd::Failed;
                Admission::Stop
            }
        }
    }
    fn on_next(&mut self, _: &mut Run, state: State, _: &mut RunContext<M>) -> Option<State> {
        Some(state)
    }
    fn on_end(&mut self, _: &mut Run, _: State, end: End, ctx: &mut RunContext<M>) {
        self.ended(&end, ctx);
    }
    /// With a larger budget, as long as the attempt has some left.
    fn on_deferred(&mut self, _: &mut Run, state: State, _: &mut RunContext<M>) -> Option<State> {
        Some(state)
    }
    fn on_fork(
        &mut self,
        _: &mut Run,
        origin: Origin,
        _: State,
        children: Vec<Child>,
        ctx: &mut RunContext<M>,
    ) -> Vec<State> {
        self.forks += children.len() as u64;
        let mut going = Vec::new();
        for Child { state, end, .. } in children {
            match end {
                Some(end) => self.ended(&end, ctx),
                // SOUND: a side that is not known to be feasible is explored like one that is.
                None => going.push(State { depth: origin.depth + 1, ..state }),
            }
        }
        // Rounds come before exits: the first loop shows what it does before the loops behind it are reached.
        let program = ctx.machine.logic().program();
        let Some(loops) = ctx.learners.pruner.assumptions() else { return going };
        going.sort_by_key(|s| !loops.leaves_loop(s, &program));
        going
    }
}

impl Run {
    /// Attempts a proof by induction if one is due. True once the program is proved.
    pub(crate) fn is_proved<M: Stepper>(&mut self, ctx: &mut RunContext<M>) -> bool {
        if !self.proved {
            let spent = ctx.machine.logic().effort().units(self.counters.forks);
            let due = ctx.learners.pruner.induction().and_then(|i| i.due(spent));
            self.proved = due.is_some_and(|limit| self.attempt(limit, ctx));
        }
        self.proved
    }

    fn attempt<M: Stepper>(&mut self, limit: u64, ctx: &mut RunContext<M>) -> bool {
        ctx.machine.sub_exploration(true);
        if let Some(induction) = ctx.learners.pruner.induction() {
            induction.begin(&self.initial);
        }
        let mut pass = Pass { before: ctx.machine.logic().effort(), limit, forks: 0, end: PassEnd::Complete };
        let proved = loop {
            pass.end = PassEnd::Complete;
            for root in self.initial.clone() {
                let root = State { history: History::beginning(root.inst), ..root };
                self.drive_outside(root, &mut pass, ctx);
            }
            let Some(induction) = ctx.learners.pruner.induction() else { break false };
            match induction.after_pass(pass.end, ctx.machine.logic()) {
                AfterPass::Again => {}
                AfterPass::Proved => break true,
                AfterPass::GaveUp => break false,
            }
        };
        ctx.machine.sub_exploration(false);
        proved
    }

    /// The program is proved: the state need not be explored.
    pub(crate) fn drop_proved<M: Stepper>(&mut self, id: StateId, ctx: &mut RunContext<M>) {
        self.visited_before(id, NodeId::ROOT, ctx);
    }
}
