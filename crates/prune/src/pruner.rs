//! Interpolation over the execution tree.
//!
//! *Paper*: HeapInterp §III–V, TracerX §3–5. *Idea*: when everything below a node is explored without loss, the weakest
//! precondition over its paths gives a condition on the node's state under which nothing else can happen below it. A
//! state at the same point that satisfies it is subsumed. *Invariant*: for an entry (p, Ψ): every state at p with Ψ
//! reaches no error location and no block that the explored subtree did not reach. *Deviations*: conditions are kept
//! over locations (registers, cells of objects) and not over the first path's symbolic variables, so that matching
//! needs no quantifiers. *Direction*: may miss prunings, loses no path. *Checked by*: the tests that compare runs with
//! and without `--prune`.

use crate::audit_log::{AuditOutcome, AuditRecord};
use crate::budget::{Budget, Cost, Work};
use crate::explain::{Explained, Explanation};
use crate::induction::InductionState;
use crate::linear::Written;
use crate::loops::Loops;
use crate::matching::{MatchFailure, Matcher};
use crate::modular::Readings;
use crate::open_nodes::OpenNodes;
use crate::point::Point;
use crate::pointer_forks::TakenTargets;
use crate::speculation_policy::Speculations;
use crate::statistics::Statistics;
use crate::table::{SubsumptionTable, TableEntry};
use pleach_ir::Program;
use pleach_state::pruner::{Assumptions, CostSampler, Induction, Interpolator, PruneDecision, Pruner, Subsumption};
use pleach_state::seams::{Effort, PathOracle};
use pleach_state::{End, ErrorKind, Exit, ForkKind, Leaks, NodeId, State, Status, Trace, Tree};
use pleach_wp::{Condition, Locs, NoInterpolant, WpResult};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::time::{Duration, Instant};

#[derive(Clone)]
pub(crate) struct OpenNode {
    pub(crate) parent: NodeId,
    pub(crate) point: Point,
    /// the state at the node
    pub(crate) state: Rc<State>,
    /// from the parent's fork (or its point, if it did not fork) to this node
    pub(crate) entry: Trace,
    pub(crate) fork: ForkKind,
    /// the parent's state at its fork; `None` for a node with one child
    pub(crate) origin: Option<Rc<State>>,
    /// what the children need, at this node's fork or at its point
    pub(crate) needs: WpResult<Condition>,
    /// the children were made by a fork whose state is this one
    pub(crate) forked: Option<Rc<State>>,
    /// by which edges children left a branch or switch
    pub(crate) exits: Vec<Exit>,
    /// the path ended here, before another instruction was executed
    pub(crate) at_end: bool,
    /// how it failed, if it did so at its first instruction
    pub(crate) failed: Option<ErrorKind>,
    /// the ways of a pointer that children went
    pub(crate) targets: TakenTargets,
    /// it, or a node above it, is a merged one
    pub(crate) below_merge: bool,
    /// the node that subsumes it
    pub(crate) by: Option<NodeId>,
    /// what everything below cost or would have cost
    pub(crate) work: Cost,
    /// for the audit log
    pub(crate) outcome: AuditOutcome,
    /// of a merged node: the leaves that went into it, and the way from each
    pub(crate) merged: Vec<(NodeId, Trace)>,
    /// children that rest on assumptions, and what each needs as far as its paths have ended
    pub(crate) provisional: Vec<(NodeId, WpResult<Condition>)>,
}

impl OpenNode {
    /// Its interpolant says something of other states at its point.
    pub(crate) fn is_comparable(&self) -> bool {
        // SOUND: the failing side of a check ended because of its edge, which another state at the same point need not
        // take.
        let by_edge = self.at_end && matches!(self.fork, ForkKind::Check(_) | ForkKind::Target(None));
        !by_edge && Point::is_comparable(&self.state)
    }
}

/// A state that is subsumed.
pub(crate) struct PendingSubsumption {
    pub(crate) condition: Condition,
    entry: Rc<TableEntry>,
    /// what it counts for, if it was explored, and whether to the end
    found: Option<(u64, bool)>,
}

/// How a branch is crossed on the way back, and what a node keeps.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Method {
    /// weakest preconditions: a literal that needs the branch is guarded by it
    #[default]
    Wp,
    /// conjunctions only: a literal that needs the branch is replaced by the context that implies it
    Abduction,
    /// what the path knew, less everything that the subtree does not depend on
    Deletion,
}

/// Which errors the machine checks besides those it always does.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Checks {
    /// signed overflow
    pub overflow: bool,
    pub leaks: Leaks,
}

/// No ancestor learns of what happens while pruning paused.
pub(crate) const PAUSED: NoInterpolant = NoInterpolant::Paused;

pub struct Interpolation {
    pub(crate) locs: Locs,
    pub(crate) open: OpenNodes,
    pub(crate) table: SubsumptionTable,
    /// a subsumed state, from its check until `subsumed`
    pub(crate) pending: Option<PendingSubsumption>,
    pub(crate) budget: Budget,
    pub(crate) written: Written,
    pub(crate) readings: Readings,
    pub(crate) speculations: Speculations,
    pub(crate) loops: Loops,
    pub(crate) induction: InductionState,
    /// what a subsumed state would reach matters only if it is an error
    pub errors_only: bool,
    /// interpolants speak of the rounds that bounded loops have left
    pub rounds: bool,
    pub(crate) fixed: u32,
    pub(crate) checks: Checks,
    pub(crate) method: Method,
    pub statistics: Statistics,
    /// interpolants by node, kept on request
    pub explain: Option<BTreeMap<NodeId, Explained>>,
    /// what an audit needs, kept on request
    pub audit_log: Option<Vec<AuditRecord>>,
}

impl Interpolation {
    pub fn new(program: &Program, checks: Checks, method: Method) -> Interpolation {
        Interpolation {
            locs: Locs::new(program),
            open: OpenNodes::default(),
            table: SubsumptionTable::default(),
            pending: None,
            budget: Budget::default(),
            written: Written::default(),
            readings: Readings::default(),
            speculations: Speculations::default(),
            loops: Loops::default(),
            induction: InductionState::default(),
            errors_only: false,
            rounds: true,
            fixed: pleach_wp::fixed_objects(program),
            checks,
            method,
            statistics: Statistics::default(),
            explain: None,
            audit_log: None,
        }
    }

    /// About what the table of interpolants may take; nodes that are not complete may take a quarter of it.
    pub fn limit_memory(&mut self, bytes: u64) {
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        self.table.max_bytes = bytes;
        self.open.max_bytes = bytes / 4;
    }

    /// Pruning goes on even where it costs more than it brings.
    pub fn always_on(&mut self, always: bool) {
        self.budget.always = always;
    }

    /// Requests speculation (exploration without the path constraint) where that may help.
    pub fn speculate(&mut self, on: bool) {
        self.speculations.on = on;
    }

    pub(crate) fn is_paused(&self) -> bool {
        self.budget.is_paused() && self.speculations.nested == 0
    }

    /// The node that subsumes the state.
    fn compare(&mut self, state: &State, oracle: &mut dyn PathOracle) -> Option<NodeId> {
        self.statistics.subsumption_checks += 1;
        self.budget.spend(Work::Check, 1);
        let point = Point::of(state);
        let mut matcher = Matcher::new(state, &self.locs, self.fixed);
        let assumes = self.may_assume(state);
        for entry in self.table.candidates(&point, state) {
            if !assumes && self.loops.is_provisional(entry.node) {
                continue;
            }
            if matcher.is_refuted(&entry.condition, &entry.last_failed_literal) {
                self.budget.spend(Work::Refute, 1);
                self.statistics.missed(MatchFailure::Literal);
                continue;
            }
            matcher.reset();
            let result = matcher.check(oracle, &entry.condition, &entry.last_failed_literal);
            self.statistics.decided.add(matcher.decisions);
            self.budget.spend(Work::Try, 1);
            self.budget.spend(Work::TryLiteral, matcher.decisions.all());
            match result {
                Ok(()) => {
                    let binding = std::mem::take(&mut matcher.binding);
                    self.statistics.subsumed += 1;
                    self.open.has_subsumed = true;
                    entry.hits.set(entry.hits.get().saturating_add(1));
                    let condition = self.rename(oracle, &binding, state, &entry.condition);
                    self.pending = Some(PendingSubsumption { condition, entry: entry.clone(), found: None });
                    return Some(entry.node);
                }
                Err(failure) => self.statistics.missed(failure),
            }
        }
        None
    }

    /// What may be spent on a speculation about a state that is not subsumed, if one is worth it.
    fn speculation(&mut self, state: &State, oracle: &dyn PathOracle) -> Option<u64> {
        let point = Point::of(state);
        if state.path.is_empty() || !self.table.knows(&point) {
            return None;
        }
        self.speculations.worth(state, oracle.effort().instructions)
    }

    pub fn locs(&self) -> &Locs {
        &self.locs
    }

    /// Takes states that come back to an open node as subsumed, and discharges that assumption.
    pub fn unbounded(&mut self, on: bool) {
        self.loops.on = on;
    }

    /// With an audit: where other sides of loop tests were taken as known, by function and instruction.
    pub fn used_sides(&self) -> &FxHashSet<(u32, u32)> {
        &self.loops.used_sides
    }

    /// Drops literals from above that an invariant does not need.
    pub fn minimise_invariants(&mut self, on: bool) {
        self.loops.minimise = on;
    }

    /// A node nothing below which is assumed, with its interpolant.
    fn complete(
        &mut self,
        node: NodeId,
        mut info: OpenNode,
        tree: &Tree,
        oracle: &mut dyn PathOracle,
    ) -> (OpenNode, WpResult<Condition>) {
        let subsumed = tree.node(node).status == Status::Pruned;
        let psi = match tree.node(node).tainted {
            true => Err(NoInterpolant::Tainted),
            false if self.is_paused() => Err(PAUSED),
            // A subsumed leaf has the condition of the subsuming node, which was minimised when it was found.
            false if subsumed && self.explain.is_none() => {
                std::mem::replace(&mut info.needs, Err(NoInterpolant::Moved))
            }
            false => self.interpolant(oracle, &mut info),
        };
        (info, psi)
    }

    /// Keeps the interpolant of a complete node: in the table, and for those who ask later.
    pub(crate) fn keep_interpolant(
        &mut self,
        node: NodeId,
        info: &OpenNode,
        psi: &WpResult<Condition>,
        subsumed: bool,
        oracle: &mut dyn PathOracle,
    ) {
        if let Some(e) = &mut self.explain {
            e.insert(node, Explained::new(&oracle.program(), &info.state, psi.clone(), info.by));
        }
        if let (Some(audit_log), Ok(c)) = (&mut self.audit_log, psi) {
            audit_log.extend(AuditRecord::all(node, info, c));
        }
        // A subsumed leaf adds nothing that the subsuming node does not have.
        if let Ok(c) = psi
            && !subsumed
        {
            *self.statistics.sizes.entry(c.len()).or_default() += 1;
            if info.is_comparable() {
                let entry = TableEntry::new(node, c.clone(), info.work);
                self.table.insert(oracle.terms(), &self.locs, info.point.clone(), entry);
            }
        }
    }

    /// What was kept for explanation, as text.
    pub fn explanations(&self, oracle: &mut dyn PathOracle) -> Vec<Explanation> {
        let program = oracle.program();
        let kept = self.explain.iter().flatten();
        kept.map(|(n, e)| e.explanation(*n, oracle.terms(), &program, &self.locs)).collect()
    }
}

impl Subsumption for Interpolation {
    fn check_subsumed(&mut self, state: &mut State, _: &Tree, oracle: &mut dyn PathOracle) -> PruneDecision {
        if !state.history.take_at_join() {
            return PruneDecision::Continue;
        }
        if self.is_paused() || !Point::is_comparable(state) {
            return PruneDecision::Continue;
        }
        let watch = Stopwatch::start(oracle);
        let early = if self.comes_back(state, oracle) { self.open_node_for(state, oracle) } else { None };
        let found = if early.is_none() { self.compare(state, oracle) } else { None };
        let assumed = early.or_else(|| if found.is_none() { self.open_node_for(state, oracle) } else { None });
        let again = if found.or(assumed).is_none() { self.visited_before(state, oracle) } else { None };
        let spent = watch.stop(oracle, self);
        self.statistics.times.compare += spent;
        match found.or(assumed) {
            Some(node) if assumed.is_some() || self.loops.is_provisional(node) => PruneDecision::Assumed(node),
            Some(node) => PruneDecision::Subsumed(node),
            None if let Some(again) = again => again,
            None if state.history.trace().is_empty() => {
                self.visit(state.node, state);
                PruneDecision::Continue
            }
            None => {
                state.history.throttle_joins();
                match self.speculations.on {
                    true => self.speculation(state, oracle).map_or(PruneDecision::NewNode, PruneDecision::Speculate),
                    false => PruneDecision::NewNode,
                }
            }
        }
    }

    fn speculated(&mut self, state: &State, known: bool, instructions: u64) {
        self.speculations.ended(state, known, instructions);
    }
}

impl Interpolator for Interpolation {
    fn open(&mut self, node: NodeId, state: &mut State, tree: &Tree) {
        if !state.history.is_kept() {
            return;
        }
        let parent = tree.node(node).parent;
        let origin = state.history.take_origin();
        if origin.is_some() {
            self.budget.forked();
        }
        if self.is_paused() && origin.is_some() {
            // SOUND: the parent hears nothing of this child, so it must not have an interpolant.
            if let Some(p) = self.open.get_mut(&parent) {
                p.needs = Err(PAUSED);
            }
            self.statistics.declined += 1;
            state.history.stop();
            return;
        }
        let start = Instant::now();
        self.budget.spend(Work::Node, 1);
        let entry = state.history.take_trace(state.inst);
        let fork = state.history.fork();
        let history = std::mem::take(&mut state.history);
        let kept = Rc::new(state.clone());
        state.history = history;
        let info = OpenNode {
            parent,
            point: Point::of(state),
            entry,
            fork,
            origin,
            needs: Ok(Condition::default()),
            forked: None,
            exits: Vec::new(),
            failed: None,
            targets: TakenTargets::default(),
            below_merge: self.loops.on && tree.is_below_merge(node),
            by: None,
            at_end: false,
            state: kept,
            work: Cost::default(),
            outcome: AuditOutcome::default(),
            merged: Vec::new(),
            provisional: Vec::new(),
        };
        if info.origin.is_none() {
            self.loops.opened(node, &info.point);
            self.visit(node, state);
        }
        self.open.insert(node, info);
        self.statistics.times.record += start.elapsed();
    }

    fn merged(&mut self, state: &mut State, leaves: &mut [Box<State>], tree: &Tree) {
        let known = leaves.iter().all(|l| l.history.is_kept() && self.open.contains_key(&l.node));
        if !known || self.is_paused() {
            // SOUND: nothing is learned at the merged node, so the leaves must not have interpolants.
            for l in leaves.iter() {
                if let Some(o) = self.open.get_mut(&l.node) {
                    o.needs = Err(PAUSED);
                }
            }
            state.history.stop();
            return;
        }
        let way = |l: &mut Box<State>| {
            let depth = l.call_depth();
            l.history.leave(l.frame.func, l.inst, depth, Exit::Fall, l.inst);
            (l.node, l.history.take_trace(l.inst))
        };
        let merged = leaves.iter_mut().map(way).collect();
        self.open(state.node, state, tree);
        if let Some(o) = self.open.get_mut(&state.node) {
            o.merged = merged;
        }
    }

    fn ended(&mut self, state: &mut State, end: &End, oracle: &mut dyn PathOracle) {
        self.statistics.ended += 1;
        self.budget.poll(oracle.effort(), self.statistics.leaves());
        if !self.open.contains_key(&state.node) {
            return;
        }
        let watch = Stopwatch::start(oracle);
        let depth = state.call_depth();
        state.history.leave(state.frame.func, state.inst, depth, Exit::Fall, state.inst);
        let trace = state.history.take_trace(state.inst);
        let at_end = trace.is_empty();
        let last = match self.is_paused() {
            true => Err(PAUSED),
            false => self.at_end(oracle, state, end, at_end),
        };
        if let (true, End::Error(e), Some(o)) = (at_end, end, self.open.get_mut(&state.node)) {
            o.failed = Some(e.kind);
        }
        let psi = match last {
            Ok(c) => self.propagate_trace(oracle, c, &trace),
            Err(why) => Err(why),
        };
        if let Err(why) = psi {
            *self.statistics.no_interpolant.entry(why.describe()).or_default() += 1;
        }
        if let Some(o) = self.open.get_mut(&state.node) {
            o.needs = psi;
            o.work = Cost::executed(state.instructions - o.state.instructions, 0);
            o.at_end = at_end;
            if self.audit_log.is_some() {
                let (func, inst) = (state.frame.func.0, state.inst);
                o.outcome = AuditOutcome::Ended { end: end.clone(), func, inst, at_once: at_end };
            }
        }
        let spent = watch.stop(oracle, self);
        self.statistics.times.propagate += spent;
    }

    fn on_subsumed(&mut self, state: &mut State, by: NodeId, oracle: &mut dyn PathOracle) {
        let Some(PendingSubsumption { condition, entry, found }) = self.pending.take() else {
            // SOUND: the other state may not be complete, so nothing may be concluded from it above.
            if let Some(o) = self.open.get_mut(&state.node) {
                (o.needs, o.by) = (Err(NoInterpolant::VisitedBefore), Some(by));
            }
            return;
        };
        let saved = found.map_or_else(|| self.budget.estimated_saving(entry.work.whole), |(cost, _)| cost);
        // What an end was seen of is true further up as well.
        let work = Cost::saved(found.filter(|f| f.1).map_or(entry.work.whole, |f| f.0));
        if !self.open.contains_key(&state.node) {
            return self.budget.saved(saved);
        }
        let watch = Stopwatch::start(oracle);
        let trace = state.history.take_trace(state.inst);
        let kept = self.audit_log.is_some().then(|| condition.clone());
        let psi = self.propagate_trace_to(oracle, condition, &trace, state);
        if let Some(o) = self.open.get_mut(&state.node) {
            o.needs = psi;
            o.by = Some(by);
            if let Some(psi) = kept {
                o.outcome = AuditOutcome::Subsumed { at: Rc::new(state.clone()), by, psi };
            }
            o.work = work.and(Cost::executed(state.instructions - o.state.instructions, 0));
        }
        self.budget.saved(saved);
        let spent = watch.stop(oracle, self);
        self.statistics.times.propagate += spent;
    }

    fn close(&mut self, node: NodeId, tree: &Tree, oracle: &mut dyn PathOracle) {
        let Some(info) = self.open.remove(&node) else { return };
        let watch = Stopwatch::start(oracle);
        self.loops.closed(node, &info.point);
        let complete = match self.loops.rests_on_assumption(node, &info) {
            true => self.close_in_loop(node, info, tree, oracle),
            false => Some(self.complete(node, info, tree, oracle)),
        };
        if let Some((info, psi)) = complete {
            let subsumed = tree.node(node).status == Status::Pruned;
            self.keep_interpolant(node, &info, &psi, subsumed, oracle);
            self.pass_to_parents(oracle, info, psi);
        }
        let spent = watch.stop(oracle, self);
        self.statistics.times.propagate += spent;
        self.budget.poll(oracle.effort(), self.statistics.leaves());
    }
}

impl CostSampler for Interpolation {
    fn wants_sample(&mut self, effort: Effort, forks: u64) -> bool {
        let wants_sample = |e: &TableEntry| self.budget.wants_sample(e.work.whole, e.hits.get(), effort, forks);
        self.pending.as_ref().is_some_and(|c| wants_sample(&c.entry))
    }

    fn sampled(&mut self, effort: Effort, forks: u64, ended: bool) {
        if let Some(c) = &mut self.pending {
            c.found = Some((self.budget.sampled(c.entry.work.whole, effort, forks, ended), ended));
        }
    }
}

impl Assumptions for Interpolation {
    fn on_assumed(&mut self, state: Box<State>, by: NodeId, oracle: &mut dyn PathOracle) {
        self.assume(state, by, &oracle.program());
    }

    fn take_reopened(&mut self, all: bool) -> Vec<Box<State>> {
        if all {
            self.revoke_all();
        }
        self.loops.take_reopened()
    }

    fn are_settled(&self) -> bool {
        self.errors_only && self.explain.is_none() && self.audit_log.is_none() && self.loops.is_settled()
    }

    fn leaves_loop(&mut self, state: &State, program: &Program) -> bool {
        let Some(origin) = state.history.origin().filter(|o| o.frame.func == state.frame.func) else { return false };
        let natural = self.loops.natural_loops(state.frame.func, program);
        natural.innermost(origin.block).is_some_and(|l| !natural.get(l).contains(state.block))
    }
}

impl Pruner for Interpolation {
    fn assumptions(&mut self) -> Option<&mut dyn Assumptions> {
        self.loops.on.then_some(self as &mut dyn Assumptions)
    }

    fn induction(&mut self) -> Option<&mut dyn Induction> {
        self.induction.on.then_some(self as &mut dyn Induction)
    }

    fn knows_rounds(&self) -> bool {
        self.rounds
    }

    fn run_cost(&self, effort: Effort, _: u64) -> u64 {
        self.budget.spent() + self.budget.executed(effort)
    }

    fn cost_sampler(&mut self) -> Option<&mut dyn CostSampler> {
        Some(self)
    }

    fn statistics(&self) -> Vec<(String, u64)> {
        let mut statistics = self.statistics.list(self.table.len(), self.table.evicted);
        statistics.push(("dropped".to_owned(), self.open.dropped));
        statistics.extend(self.budget.list());
        if self.loops.on {
            statistics.extend(self.loops.list());
            statistics.extend(self.induction.list());
        }
        statistics
    }

    fn times(&self) -> Vec<(String, Duration)> {
        self.statistics.times()
    }
}

/// Measures one call from outside: its time and its queries.
struct Stopwatch {
    start: Instant,
    before: Effort,
}

impl Stopwatch {
    fn start(oracle: &dyn PathOracle) -> Stopwatch {
        Stopwatch { start: Instant::now(), before: oracle.effort() }
    }

    fn stop(self, oracle: &dyn PathOracle, pruner: &mut Interpolation) -> Duration {
        let after = oracle.effort();
        pruner.budget.count_queries(self.before, after);
        pruner.statistics.times.solver += after.solving - self.before.solving;
        self.start.elapsed()
    }
}
