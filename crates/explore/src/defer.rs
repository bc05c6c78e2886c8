//! States whose query ran out of its budget. They wait, out of the searcher's sight, and are taken up again with a
//! larger budget: when nothing else is left, or when another attempt costs little compared with the others.
//!
//! *Invariant*: a deferred state keeps its open leaf in the tree, so no node above it closes and nothing is learned
//! there before it has ended. What still waits when the run ends is cut, under the place of its query. The order
//! depends on search steps, not on time. Near the memory limit deferred states are evicted before others, those that
//! wait longest first; they keep their turn and the size of their next budget.

use crate::evict::Evicted;
use crate::run::{Run, RunContext};
use crate::step::Stepper;
use pleach_state::seams::Effort;
use pleach_state::{Cut, Deferred, End, NodeId, State, Status};
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
    body: Body,
    /// search steps that the attempt which failed took
    cost: u64,
}

enum Body {
    InMemory(Box<State>),
    Evicted {
        state: Evicted,
        deferred: Option<Deferred>,
        /// the reason to be cut if the run ends before its turn
        why: Cut,
    },
}

/// By how often their query ran out of budget, then by how long they wait.
#[derive(Default)]
pub(crate) struct DeferredStates {
    waiting: BTreeMap<(u32, u64), Waiting>,
    /// how many of them are not evicted
    in_memory: usize,
    count: u64,
    /// search steps of states that were taken up again
    retried: u64,
    /// leaves that stood for a side which turned out to be infeasible
    infeasible: BTreeSet<NodeId>,
}

impl DeferredStates {
    /// All that wait, evicted or not.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    pub fn in_memory(&self) -> usize {
        self.in_memory
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
        self.waiting.insert((level, self.count), Waiting { body: Body::InMemory(state), cost });
        self.in_memory += 1;
        self.count += 1;
    }

    /// The one whose turn comes first.
    fn pop_first(&mut self) -> Option<Waiting> {
        let (_, w) = self.waiting.pop_first()?;
        self.in_memory -= usize::from(matches!(w.body, Body::InMemory(_)));
        Some(w)
    }

    /// The turns of those in memory whose turns come last.
    fn last_in_memory(&self, count: usize) -> Vec<(u32, u64)> {
        let in_memory = self.waiting.iter().rev().filter(|(_, w)| matches!(w.body, Body::InMemory(_)));
        in_memory.map(|(turn, _)| *turn).take(count).collect()
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
        let Some(w) = self.deferred.pop_first() else { return false };
        if GROWTH.saturating_mul(w.cost) >= LONG {
            self.report(ctx, Instant::now(), true);
        }
        match w.body {
            Body::InMemory(state) => {
                let id = self.add_state(*state);
                ctx.change.added.push(id);
            }
            Body::Evicted { state, deferred, .. } => self.re_execute(state, deferred, ctx),
        }
        true
    }

    /// Evicts up to `count` deferred states; returns how many.
    pub(crate) fn evict_deferred<M: Stepper>(&mut self, count: usize, ctx: &mut RunContext<M>) -> usize {
        let turns = self.deferred.last_in_memory(count);
        for &turn in &turns {
            let Some(Waiting { body: Body::InMemory(mut state), cost }) = self.deferred.waiting.remove(&turn) else {
                continue;
            };
            self.deferred.in_memory -= 1;
            match self.forget(&state) {
                Some(gone) => {
                    let body = Body::Evicted { state: gone, deferred: state.deferred, why: unanswered(&state, ctx) };
                    self.deferred.waiting.insert(turn, Waiting { body, cost });
                }
                // INCOMPLETE: the path is lost; it is counted as cut by memory and still gets its test.
                None => self.finish(&mut state, End::Cut(Cut::Memory), ctx),
            }
        }
        turns.len()
    }

    /// The side that a leaf stood for is infeasible: there is no such path.
    pub(crate) fn close_infeasible<M: Stepper>(&mut self, leaf: NodeId, ctx: &mut RunContext<M>) {
        self.deferred.infeasible.insert(leaf);
        self.close(leaf, Status::Silent, 0, ctx);
    }

    /// The run ends: what still waits is cut, under the place of its query.
    pub(crate) fn cut_deferred<M: Stepper>(&mut self, ctx: &mut RunContext<M>) {
        while let Some(w) = self.deferred.pop_first() {
            match w.body {
                Body::InMemory(mut state) => {
                    let why = unanswered(&state, ctx);
                    self.conclude(&mut state, End::Cut(why), ctx);
                }
                Body::Evicted { state, why, .. } => self.cut_without_test(state, &why, ctx),
            }
        }
    }
}

/// The place of the query that a state waits for, as a reason to be cut.
fn unanswered<M: Stepper>(state: &State, ctx: &mut RunContext<M>) -> Cut {
    let program = ctx.machine.logic().program();
    let at = state.program_place(&program);
    let function = &program.function(at.func).name;
    let place = format!("at {}:{} in `{function}`", program.path(at.span), at.span.line);
    Cut::Solver(format!("no answer within the budget of a query {place}"))
}
