//! The exploration that is the run: the searcher selects, subsumed states end, the others step and grow the tree.

use crate::drive::Exploration;
use crate::run::{Run, RunContext};
use crate::step::{Child, Stepper};
use pleach_expr::Terms;
use pleach_state::pruner::Interpolator as _;
use pleach_state::seams::Searcher;
use pleach_state::{End, NodeId, PathConstraint, PruneDecision, State, StateId};

/// A state before its step: what a step consumes cannot be read any more.
#[derive(Clone, Copy)]
pub(crate) struct SteppedState {
    pub id: StateId,
    pub node: NodeId,
    pub depth: u32,
    /// it stood for a side that was not known to be feasible
    pub pending: bool,
    /// search steps of the back ends before
    pub searched: u64,
}

/// The waiting states of the run, in the order of a searcher.
pub(crate) struct SearchedStates<'a> {
    searcher: &'a mut dyn Searcher,
    stepped: Option<SteppedState>,
    /// its query ran out of budget before
    retried: bool,
    /// its path constraint, if states may merge
    before: Option<PathConstraint>,
}

impl<'a> SearchedStates<'a> {
    pub(crate) fn new(searcher: &'a mut dyn Searcher) -> SearchedStates<'a> {
        SearchedStates { searcher, stepped: None, retried: false, before: None }
    }

    fn stepped(&self) -> SteppedState {
        self.stepped.expect("a state was selected")
    }

    /// The next state, subsumed or not; none when the run is over.
    fn select_any<M: Stepper>(&mut self, run: &mut Run, ctx: &mut RunContext<M>) -> Option<StateId> {
        loop {
            ctx.change.added.clear();
            ctx.change.removed.clear();
            if run.poll_limits(ctx) {
                return None;
            }
            if !ctx.change.removed.is_empty() {
                self.searcher.update(None, &[], &ctx.change.removed, run.view(ctx));
                ctx.change.removed.clear();
            }
            if run.take_up_due(ctx) {
                self.searcher.update(None, &ctx.change.added, &[], run.view(ctx));
                ctx.change.added.clear();
            }
            if let Some(id) = self.searcher.select(run.view(ctx)) {
                return Some(id);
            }
            if !run.restore(ctx) && !run.take_up(ctx) && !run.merge_ready(true, ctx) && !run.reopen(true, ctx) {
                return None;
            }
            self.searcher.update(None, &ctx.change.added, &[], run.view(ctx));
        }
    }

    /// Ends the state if it is subsumed, and notes what the step will consume if it is not.
    fn prepare<M: Stepper>(&mut self, id: StateId, run: &mut Run, ctx: &mut RunContext<M>) -> Option<SteppedState> {
        if run.is_proved(ctx) {
            run.drop_proved(id, ctx);
            return None;
        }
        let state = run.states.get_mut(&id)?;
        let mut look = ctx.learners.pruner.check_subsumed(state, &run.tree, ctx.machine.logic());
        if let PruneDecision::Speculate(limit) = look
            && let Some(mut state) = run.states.remove(&id)
        {
            look = run.recheck_after_speculation(&mut state, limit, ctx);
            run.states.insert(id, state);
        }
        if let PruneDecision::Subsumed(_) = look
            && let Some(state) = run.states.remove(&id)
        {
            run.sample_cost(&state, ctx);
            run.states.insert(id, state);
        }
        match look {
            PruneDecision::Continue | PruneDecision::Speculate(_) => {}
            PruneDecision::NewNode => run.new_node(id, ctx),
            PruneDecision::Subsumed(by) => {
                run.prune(id, by, ctx);
                return None;
            }
            PruneDecision::Visited(by) => {
                run.visited_before(id, by, ctx);
                return None;
            }
            PruneDecision::Assumed(by) => {
                run.assume_subsumed(id, by, ctx);
                return None;
            }
        }
        let state = run.states.get_mut(&id)?;
        self.retried = state.budget_level() > 0;
        self.before = (!ctx.merger.is_off()).then(|| {
            ctx.machine.stop_at(ctx.merger.stop_points(state.node));
            state.path.clone()
        });
        let searched = ctx.machine.logic().effort().steps;
        Some(SteppedState { id, node: state.node, depth: state.depth, pending: state.pending.is_some(), searched })
    }
}

impl<M: Stepper> Exploration<M> for SearchedStates<'_> {
    fn select(&mut self, run: &mut Run, ctx: &mut RunContext<M>) -> bool {
        while let Some(id) = self.select_any(run, ctx) {
            self.stepped = self.prepare(id, run, ctx);
            if self.stepped.is_some() {
                return true;
            }
            self.searcher.update(Some(id), &ctx.change.added, &ctx.change.removed, run.view(ctx));
        }
        false
    }
    fn state<'a>(&'a mut self, run: &'a mut Run) -> (&'a mut State, u32) {
        let blocks = run.next_step_blocks();
        (run.states.get_mut(&self.stepped().id).expect("selected"), blocks)
    }
    fn on_step(&mut self, run: &mut Run, ctx: &mut RunContext<M>) {
        if self.retried {
            run.deferred.retried(ctx.machine.logic().effort().steps - self.stepped().searched);
        }
        run.counters.steps += 1;
        run.counters.instructions = ctx.machine.instructions();
    }
    fn on_next(&mut self, run: &mut Run, ctx: &mut RunContext<M>) {
        run.poll_limits_next();
        run.arrive(self.stepped().id, ctx);
    }
    fn on_end(&mut self, run: &mut Run, end: End, ctx: &mut RunContext<M>) {
        if let Some(mut state) = run.remove_stepped(self.stepped().id, ctx) {
            run.finish(&mut state, end, ctx);
        }
    }
    fn on_deferred(&mut self, run: &mut Run, ctx: &mut RunContext<M>) {
        let SteppedState { id, searched, .. } = self.stepped();
        if let Some(state) = run.remove_stepped(id, ctx) {
            run.defer(state, ctx.machine.logic().effort().steps - searched);
        }
    }
    fn on_fork(&mut self, run: &mut Run, children: Vec<Child>, ctx: &mut RunContext<M>) {
        let stepped = self.stepped();
        if children.is_empty() && stepped.pending {
            run.remove_stepped(stepped.id, ctx);
            return run.close_infeasible(stepped.node, ctx);
        }
        run.fork(stepped, children, self.before.as_ref(), ctx);
    }
    fn after_step(&mut self, run: &mut Run, ctx: &mut RunContext<M>) {
        if self.before.take().is_some() {
            ctx.machine.stop_at(None);
            run.merge_ready(false, ctx);
        }
        ctx.machine.refresh();
        let id = self.stepped().id;
        self.searcher.update(Some(id), &ctx.change.added, &ctx.change.removed, run.view(ctx));
    }
}

impl Run {
    /// Gives a state a node of its own below the one it has.
    fn new_node<M: Stepper>(&mut self, id: StateId, ctx: &mut RunContext<M>) {
        let Some(state) = self.states.get_mut(&id) else { return };
        let above = state.node;
        let share = self.shares[above.index()];
        state.node = self.tree.grow(above, Terms::TRUE, ctx.machine.span(state));
        self.shares.push(share);
        ctx.learners.open(state.node, state, &self.tree);
        ctx.merger.grew(above, state.node);
        ctx.sink.on_fork(above, &self.tree);
    }

    fn next_step_blocks(&self) -> u32 {
        let blocks = self.config.step_blocks;
        // Shorter steps towards the limit, as a block may have many instructions.
        self.config.limits.max_instructions.map_or(blocks, |max| {
            let left = max.saturating_sub(self.counters.instructions);
            blocks.min(u32::try_from(left / 16 + 1).unwrap_or(u32::MAX))
        })
    }

    fn remove_stepped<M>(&mut self, id: StateId, ctx: &mut RunContext<M>) -> Option<Box<State>> {
        let state = self.states.remove(&id)?;
        ctx.change.removed.push(id);
        Some(state)
    }
}
