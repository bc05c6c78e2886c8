//! Leaves that are taken as subsumed by a node that is not complete, and opened again where that does not hold.

use crate::run::{Run, RunContext};
use crate::step::Stepper;
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
