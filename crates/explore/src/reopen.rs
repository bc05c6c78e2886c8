//! Leaves that are taken as subsumed by a node that is not complete, and opened again where that does not hold.

use crate::run::{Run, RunContext};
use crate::step::{Child, Stepper};
use pleach_state::{NodeId, StateId, Status};

impl Run {
    /// The state is taken as subsumed. The pruner keeps it until that is certain.
    pub(crate) fn assume_subsumed<M: Stepper>(&mut self, id: StateId, by: NodeId, ctx: &mut RunContext<M>) {
        let Some(state) = self.states.remove(&id) else { return };
        ctx.change.removed.push(id);
        self.counters.pruned += 1;
        ctx.sink.on_pruned(&state, by);
        let leaf = state.node;
        ctx.learners.assume(state, by, ctx.machine.logic());
        self.close(leaf, Status::Pruned, 0, ctx);
    }

    /// Of the two sides of a loop's test the one that leaves the loop comes first: what follows the loop is then known
    /// before the next round, and an error a few rounds deep is found early, although the search is depth first.
    pub(crate) fn exits_first<M: Stepper>(children: &mut [Child], ctx: &mut RunContext<M>) {
        let program = ctx.machine.logic().program();
        if let (Some(a), [x, y]) = (ctx.learners.pruner.assumptions(), &*children)
            && a.leaves_loop(&y.state, &program)
            && !a.leaves_loop(&x.state, &program)
        {
            children.swap(0, 1);
        }
    }

    /// No state waits that what is learned could subsume.
    pub(crate) fn need_not_learn<M: Stepper>(&self, ctx: &mut RunContext<M>) -> bool {
        let none_waits = self.states.is_empty() && self.evicted.is_empty() && self.deferred.len() == 0;
        none_waits && ctx.merger.is_off() && ctx.learners.pruner.assumptions().is_some_and(|a| a.are_settled())
    }

    /// Takes up the states that are not subsumed after all; false if there are none. `all`: none may remain.
    pub(crate) fn reopen<M: Stepper>(&mut self, all: bool, ctx: &mut RunContext<M>) -> bool {
        let states = ctx.learners.pruner.assumptions().map_or_else(Vec::new, |a| a.take_reopened(all));
        let any = !states.is_empty();
        for state in states {
            self.tree.reopen(state.node);
            self.counters.pruned -= 1;
            self.counters.progress_share -= self.shares[state.node.index()];
            let id = self.add_state(*state);
            ctx.change.added.push(id);
        }
        any
    }
}
