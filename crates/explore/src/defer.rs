//! States whose query ran out of its budget. They wait, out of the searcher's sight, and are taken up again with a
//! larger budget: when nothing else is left, or when another attempt costs little compared with the others.
//!
//! *Invariant*: a deferred state keeps its open leaf in the tree, so no node above it closes and nothing is learned
//! there before it has ended. What still waits when the run ends is cut, under the place of its query. The order
//! depends on search steps, not on time.

use crate::run::{Run, RunContext};
use crate::step::Stepper;
use pleach_state::seams::Effort;
use pleach_state::{Cut, End, NodeId, State, Status};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

/// One attempt per this many steps: deferred states that are retried early may cost this share of the search.
const SHARE: u64 = 4;
/// The next attempt may cost this many times what the last one did.
const GROWTH: u64 = 4;
/// Equivalents of one search step: a number of instructions, and a number of queries that reach no back end.
const INSTRUCTIONS_PER_STEP: u64 = 1_000;
const QUERIES_PER_STEP: u64 = 10;
/// An attempt of this many steps takes about half a second.
const LONG: u64 = 10_000;

struct Waiting {
    state: Box<State>,
    /// search steps that the attempt which failed took
    cost: u64,
}

/// By how often their query ran out of budget, then by how long they wait.
#[derive(Default)]
pub(crate) struct DeferredStates {
    waiting: BTreeMap<(u32, u64), Waiting>,
    count: u64,
    /// search steps of states that were taken up again
    retried: u64,
    /// leaves that stood for a side which turned out to be infeasible
    infeasible: BTreeSet<NodeId>,
}

impl DeferredStates {
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// The steps that another attempt took.
    pub fn retried(&mut self, steps: u64) {
        self.retried += steps;
    }

    pub fn is_infeasible(&self, leaf: NodeId) -> bool {
        self.infeasible.contains(&leaf)
    }

    fn insert(&mut self, state: Box<State>, cost: u64) {
        let level = state.deferred.map_or(0, |d| d.level);
        self.waiting.insert((level, self.count), Waiting { state, cost });
        self.count += 1;
    }

    /// Whether another attempt is small against what the run has done so far. Other work counts as well as search: with
    /// pruning, much of it may be for nothing as long as a state waits, because nothing is learned above it.
    fn is_due(&self, so_far: Effort) -> bool {
        let work = so_far.steps + so_far.instructions / INSTRUCTIONS_PER_STEP + so_far.queries / QUERIES_PER_STEP;
        let next = self.waiting.values().next();
        next.is_some_and(|w| (self.retried + GROWTH * w.cost).saturating_mul(SHARE) <= work)
    }
}

impl Run {
    /// Defers a state whose last attempt took `steps` steps.
    pub(crate) fn defer(&mut self, state: Box<State>, cost: u64) {
        self.counters.deferred += 1;
        self.deferred.insert(state, cost.max(1));
    }

    /// Takes up the next deferred state if that is due; false if not.
    pub(crate) fn take_up_due<M: Stepper>(&mut self, ctx: &mut RunContext<M>) -> bool {
        self.deferred.len() > 0 && self.deferred.is_due(ctx.machine.logic().effort()) && self.take_up(ctx)
    }

    /// Takes up the next deferred state; false if there is none.
    pub(crate) fn take_up<M: Stepper>(&mut self, ctx: &mut RunContext<M>) -> bool {
        let Some((_, w)) = self.deferred.waiting.pop_first() else { return false };
        if GROWTH.saturating_mul(w.cost) >= LONG {
            self.report(ctx, Instant::now(), true);
        }
        let id = self.add_state(*w.state);
        ctx.change.added.push(id);
        true
    }

    /// The side that a leaf stood for is infeasible: there is no such path.
    pub(crate) fn close_infeasible<M: Stepper>(&mut self, leaf: NodeId, ctx: &mut RunContext<M>) {
        self.deferred.infeasible.insert(leaf);
        self.close(leaf, Status::Silent, 0, ctx);
    }

    /// The run ends: what still waits is cut, under the place of its query.
    pub(crate) fn cut_deferred<M: Stepper>(&mut self, ctx: &mut RunContext<M>) {
        for Waiting { mut state, .. } in std::mem::take(&mut self.deferred.waiting).into_values() {
            let program = ctx.machine.logic().program();
            let at = state.program_place(&program);
            let function = &program.function(at.func).name;
            let place = format!("at {}:{} in `{function}`", program.path(at.span), at.span.line);
            let why = Cut::Solver(format!("no answer within the budget of a query {place}"));
            self.conclude(&mut state, End::Cut(why), ctx);
        }
    }
}
