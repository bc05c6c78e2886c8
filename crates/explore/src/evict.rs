//! States evicted at the memory limit. An evicted state is only its node in the execution tree. When nothing else
//! waits, it is re-executed from the start of its path, choosing at each fork the side that the tree records.
//!
//! *Invariant*: the engine is deterministic, so the same choices lead to the same state. That is compared: each edge
//! has the condition that the tree has for it, and where it has not (a query may have an answer now and none then), the
//! path is cut and counted. *Direction*: loses no path silently.

use crate::run::{Run, RunContext};
use crate::step::{Child, Stepper};
use crate::sub_exploration::{Admission, Origin, SubExploration};
use pleach_expr::TermId;
use pleach_state::{Cut, Deferred, End, NodeId, State, StateId, Status};

/// What is left of an evicted state.
#[derive(Clone, Copy)]
pub(crate) struct Evicted {
    node: NodeId,
    /// it had covered something new
    covered_new: bool,
}

/// An edge of the tree.
struct Choice {
    /// which child it leads to, and of how many
    side: usize,
    of: usize,
    condition: TermId,
}

/// The re-execution of one path by its choices.
struct Replay<'a> {
    left: &'a [Choice],
    /// of the whole path
    length: usize,
    /// the state at the end of the choices, or the one where the path could not be followed
    reached: Option<Result<State, Box<State>>>,
}

impl<M: Stepper> SubExploration<M> for Replay<'_> {
    fn before_step(&mut self, run: &mut Run, state: &mut State, _: &mut RunContext<M>) -> Admission {
        let halted = run.halt.reason().is_some();
        if !self.left.is_empty() && !halted {
            return Admission::Step;
        }
        let state = std::mem::replace(state, State::placeholder());
        self.reached = Some(if halted { Err(Box::new(state)) } else { Ok(state) });
        Admission::Stop
    }
    fn on_next(&mut self, _: &mut Run, state: State, _: &mut RunContext<M>) -> Option<State> {
        Some(state)
    }
    fn on_end(&mut self, _: &mut Run, state: State, _: End, _: &mut RunContext<M>) {
        self.reached = Some(Err(Box::new(state)));
    }
    /// A deferred state goes on with a larger budget.
    fn on_deferred(&mut self, _: &mut Run, state: State, _: &mut RunContext<M>) -> Option<State> {
        Some(state)
    }
    fn on_fork(
        &mut self,
        _: &mut Run,
        _: Origin,
        _: State,
        mut children: Vec<Child>,
        _: &mut RunContext<M>,
    ) -> Vec<State> {
        let [choice, rest @ ..] = self.left else { return Vec::new() };
        if let Some(known) = only_feasible(&children, choice) {
            return vec![children.swap_remove(known).state];
        }
        if let [Child { end: None, .. }] = children[..] {
            return vec![children.remove(0).state];
        }
        let same =
            choice.of == children.len() && children.get(choice.side).is_some_and(|c| c.condition == choice.condition);
        if !same {
            let lost = children.pop().map_or_else(State::placeholder, |c| c.state);
            self.reached = Some(Err(Box::new(lost)));
            return Vec::new();
        }
        let child = children.swap_remove(choice.side);
        if child.end.is_some() {
            self.reached = Some(Err(Box::new(child.state)));
            return Vec::new();
        }
        self.left = rest;
        vec![State { depth: (self.length - rest.len()) as u32, ..child.state }]
    }
}

impl Run {
    /// Evicts a state.
    pub(crate) fn evict<M: Stepper>(&mut self, id: StateId, ctx: &mut RunContext<M>) {
        let Some(mut state) = self.states.remove(&id) else { return };
        ctx.change.removed.push(id);
        let last = self.states.is_empty();
        match self.forget(&state).filter(|_| !last) {
            Some(gone) => self.evicted.push(gone),
            // INCOMPLETE: the path is lost; it is counted as cut by memory and still gets its test.
            None => self.finish(&mut state, End::Cut(Cut::Memory), ctx),
        }
    }

    /// What it takes to re-execute a state; `None` with traces kept: the tree then also has nodes that are not forks,
    /// and the path cannot be found by forks alone. Nor can that of a merged state.
    pub(crate) fn forget(&mut self, state: &State) -> Option<Evicted> {
        if state.history.is_kept() || self.tree.is_below_merge(state.node) {
            return None;
        }
        self.counters.evicted += 1;
        Some(Evicted { node: state.node, covered_new: state.covered_new })
    }

    /// Re-executes the state that was evicted last; false when there is none.
    pub(crate) fn restore<M: Stepper>(&mut self, ctx: &mut RunContext<M>) -> bool {
        let Some(gone) = self.evicted.pop() else { return false };
        self.re_execute(gone, None, ctx);
        true
    }

    /// Makes an evicted state again, with the budget that it had at its query.
    pub(crate) fn re_execute<M: Stepper>(
        &mut self,
        Evicted { node, covered_new }: Evicted,
        deferred: Option<Deferred>,
        ctx: &mut RunContext<M>,
    ) {
        let choices = self.choices(node);
        match self.follow(&choices, ctx) {
            Ok(state) => {
                let depth = self.forks_above(node);
                let deferred = deferred.or(state.deferred);
                let id = self.add_state(State { node, depth, covered_new, deferred, ..state });
                ctx.change.added.push(id);
            }
            Err(mut state) => {
                state.node = node;
                let why = self.halt.reason().unwrap_or(Cut::Memory);
                self.finish(&mut state, End::Cut(why), ctx);
            }
        }
    }

    fn forks_above(&self, node: NodeId) -> u32 {
        let above = |at: &NodeId| (*at != NodeId::ROOT).then(|| self.tree.node(*at).parent);
        std::iter::successors(Some(node), above).count() as u32 - 1
    }

    /// Which child to take at each fork from the root to the node.
    fn choices(&self, node: NodeId) -> Vec<Choice> {
        let mut out = Vec::new();
        let mut at = node;
        while at != NodeId::ROOT {
            let parent = self.tree.node(at).parent;
            if self.tree.children(parent).any(|c| self.deferred.is_infeasible(c)) {
                // With its answer known there is no fork.
                at = parent;
                continue;
            }
            let side = self.tree.children(parent).position(|c| c == at).unwrap_or(usize::MAX);
            out.push(Choice { side, of: self.tree.children(parent).count(), condition: self.tree.node(at).condition });
            at = parent;
        }
        out.reverse();
        out
    }

    /// The state after these choices, or the one where the path could not be followed.
    fn follow<M: Stepper>(&mut self, choices: &[Choice], ctx: &mut RunContext<M>) -> Result<State, Box<State>> {
        let several = self.initial.len() > 1;
        let first = if several { choices.first().map_or(0, |c| c.side) } else { 0 };
        let Some(root) = self.initial.get(first).cloned() else { return Err(Box::new(State::placeholder())) };
        let left = choices.get(usize::from(several)..).unwrap_or_default();
        let mut replay = Replay { left, length: choices.len(), reached: None };
        self.drive_outside(root, &mut replay, ctx);
        replay.reached.unwrap_or_else(|| Err(Box::new(State::placeholder())))
    }

    /// The run ends: states that are still evicted are cut for that reason.
    pub(crate) fn cut_evicted<M: Stepper>(&mut self, why: &Cut, ctx: &mut RunContext<M>) {
        for gone in std::mem::take(&mut self.evicted) {
            self.cut_without_test(gone, why, ctx);
        }
    }

    pub(crate) fn cut_without_test<M: Stepper>(&mut self, gone: Evicted, why: &Cut, ctx: &mut RunContext<M>) {
        self.count(&End::Cut(why.clone()));
        self.close(gone.node, Status::Cut, 0, ctx);
    }
}

/// The side that goes on where the other waits for its answer and the path has no fork there: the answer was that it is
/// infeasible.
fn only_feasible(children: &[Child], choice: &Choice) -> Option<usize> {
    let waits = children.iter().any(|c| c.state.pending.is_some());
    let expected = children.iter().any(|c| c.condition == choice.condition);
    if !waits || expected {
        return None;
    }
    children.iter().position(|c| c.state.pending.is_none() && c.end.is_none())
}
