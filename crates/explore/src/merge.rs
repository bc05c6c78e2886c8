//! Merging in the run loop: states that wait for others, and the nodes that several leaves go into. Which states wait
//! and what becomes of them is the [`Merger`](pleach_state::Merger)'s.

use crate::run::{Run, RunContext};
use crate::step::{Child, Stepper};
use pleach_expr::TermId;
use pleach_ir::{BlockId, FuncId};
use pleach_state::{CallStack, Fork, Group, Interpolator as _, NodeId, PathConstraint, State, StateId};
use std::rc::Rc;

/// A fork that the merger is told of.
pub(crate) struct TrackedFork<'a> {
    node: NodeId,
    block: BlockId,
    before: &'a PathConstraint,
    func: FuncId,
    callers: Option<Rc<CallStack>>,
    sizes: Rc<Vec<TermId>>,
    pub children: Vec<(NodeId, TermId)>,
}

impl<'a> TrackedFork<'a> {
    pub fn new(node: NodeId, before: &'a PathConstraint, first: &Child) -> TrackedFork<'a> {
        let (func, callers) = (first.state.frame.func, first.state.callers.clone());
        let sizes = first.state.memory.symbolic_sizes().clone();
        TrackedFork { node, block: first.block, before, func, callers, sizes, children: Vec::new() }
    }

    pub fn fork(&self) -> Fork<'_> {
        let TrackedFork { node, block, before, func, .. } = *self;
        Fork { node, block, before, func, callers: self.callers.as_ref(), sizes: &self.sizes, children: &self.children }
    }
}

impl Run {
    /// A state has been stepped: it may have to wait now.
    pub(crate) fn arrive<M: Stepper>(&mut self, id: StateId, ctx: &mut RunContext<M>) {
        if ctx.merger.is_off() || !self.states.get(&id).is_some_and(|s| ctx.merger.arrived(s)) {
            return;
        }
        if let Some(state) = self.states.remove(&id) {
            ctx.change.removed.push(id);
            ctx.merger.wait(state);
        }
    }

    /// A state that the searcher does not know goes on, or waits.
    pub(crate) fn resume<M: Stepper>(&mut self, state: Box<State>, ctx: &mut RunContext<M>) {
        if ctx.merger.arrived(&state) {
            ctx.merger.wait(state);
        } else {
            let id = self.add_state(*state);
            ctx.change.added.push(id);
        }
    }

    /// Merges what need not wait any more; false if there is nothing. `all`: nothing else is left to do.
    pub(crate) fn merge_ready<M: Stepper>(&mut self, all: bool, ctx: &mut RunContext<M>) -> bool {
        let mut any = false;
        while let Some(group) = ctx.merger.ready(all) {
            any = true;
            let parts = match group.members.len() {
                1 => vec![group],
                _ => ctx.merger.partition(group, ctx.machine.logic()),
            };
            parts.into_iter().for_each(|part| self.merge_group(part, ctx));
        }
        any
    }

    fn merge_group<M: Stepper>(&mut self, mut group: Group, ctx: &mut RunContext<M>) {
        let several = group.members.len() > 1;
        let merged = several.then(|| ctx.merger.merge(&group, ctx.machine.logic())).flatten();
        let Some(mut state) = merged.filter(|m| self.merging_pays(m, &group, ctx)) else {
            for state in group.members {
                ctx.merger.resumed(&state, group.outer);
                self.resume(state, ctx);
            }
            return;
        };
        if let Some(limit) = self.config.check_merging {
            self.recheck_merge(&state, &group.members, limit, ctx);
        }
        let leaves: Vec<NodeId> = group.members.iter().map(|m| m.node).collect();
        self.counters.merged += leaves.len() as u64;
        self.counters.merged_into += 1;
        self.test_members(&group.members, ctx);
        state.covered_new = false;
        self.shares.push(leaves.iter().map(|l| self.shares[l.index()]).sum());
        state.node = self.tree.merge(leaves, ctx.machine.span(&state));
        ctx.learners.merged(&mut state, &mut group.members, &self.tree);
        ctx.merger.resumed(&state, group.outer);
        for m in &group.members {
            ctx.sink.on_fork(m.node, &self.tree);
        }
        self.resume(Box::new(state), ctx);
    }

    /// What only one member covers would be lost to the tests of the merged path.
    fn test_members<M: Stepper>(&mut self, members: &[Box<State>], ctx: &mut RunContext<M>) {
        for m in members.iter().filter(|m| m.covered_new) {
            if self.config.limits.max_tests.is_none_or(|max| self.counters.tests < max) {
                self.counters.tests += u64::from(ctx.sink.on_merged(ctx.machine, m) != 0);
            }
        }
    }
}
