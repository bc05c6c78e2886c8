//! Loops without a bound: states subsumed by nodes that are not complete, under an assumption that is discharged later.
//!
//! *Paper*: Unbounded §4. *Idea*: a state that comes back to a point where a node of the tree is still open is taken as
//! subsumed by that node, whatever its interpolant will be. Everything above such a leaf closes provisionally. When all
//! nodes that the assumptions below a node speak of lie at or below it, the interpolants are strengthened until they
//! are inductive: what a subsuming node needs is needed at the leaf and is propagated back from there. A leaf whose
//! state does not satisfy the result is explored after all: its loop is unrolled once more, on that path only.
//! *Invariant*: when the assumptions of a subtree are discharged, each of its leaves satisfies the interpolant of its
//! subsuming node, and each interpolant is sufficient for those of its children; so no run from a subsumed state,
//! however often it goes round, leaves the explored paths. *Deviations*: nothing is abstracted and no error is
//! spurious: all states of the tree are states of the program, and the paper's invariants are the interpolants of
//! headers. Literals that hold in the header's state are added only where the needs alone are not inductive
//! ([`from_above`]). *Direction*: an assumption that cannot be discharged costs time, never a path. *Checked by*:
//! `--check-interpolants`, which executes every edge of the cyclic graph forward, and the tests that compare verdicts
//! with enumeration.

mod account;
mod arrival;
mod discharge;
mod equations;
mod from_above;
mod minimise;
mod sides;
mod visited;

use crate::audit_log::AuditOutcome;
use crate::budget::Mark;
use crate::explain::Explained;
use crate::point::Point;
use crate::pruner::{Interpolation, OpenNode};
use crate::table::TableEntry;
use account::LoopAccounts;
pub use account::{InvariantInC, LoopExplanation};
use discharge::Discharged;
pub(crate) use equations::null_space;
use pleach_expr::SymbolId;
use pleach_state::seams::PathOracle;
use pleach_state::{NodeId, State, Tree};
use pleach_wp::{Condition, WpResult};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use visited::Visited;

/// What a node of a group costs when its assumptions are looked at, in units of the budget.
const PER_NODE: u64 = 20;

/// A leaf that is taken as subsumed.
pub(crate) struct Assumption {
    /// with its trace
    pub state: Box<State>,
    pub by: NodeId,
    /// what the subsuming node was known to need then, over the objects of the state
    pub given: Condition,
}

/// A node all of whose paths have ended or are taken as subsumed.
pub(crate) struct Provisional {
    pub open: OpenNode,
    /// what its paths need as far as they have ended
    pub needs: WpResult<Condition>,
    /// the oldest node that an assumption below speaks of
    pub oldest: NodeId,
}

/// Why a leaf is explored after all.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Revoked {
    /// its state does not satisfy what the subsuming node is known to need
    Unsatisfied,
    /// the interpolants did not become inductive
    NotInductive,
}

#[derive(Default)]
pub(crate) struct Loops {
    pub on: bool,
    /// drop literals from above that the proof does not need
    pub minimise: bool,
    assumptions: FxHashMap<NodeId, Assumption>,
    /// by subsuming node: its leaves
    leaves: FxHashMap<NodeId, Vec<NodeId>>,
    provisional: FxHashMap<NodeId, Provisional>,
    /// by point: open nodes, the oldest first
    open_at: FxHashMap<Point, Vec<NodeId>>,
    /// what nodes that are open again need at least
    known: FxHashMap<NodeId, Condition>,
    /// by point: locations whose values decided that an assumption failed
    relevant: FxHashMap<Point, FxHashSet<SymbolId>>,
    /// by point: how often a state differed in these
    refused: FxHashMap<Point, u64>,
    revoked: FxHashMap<NodeId, Revoked>,
    /// by point: how many open nodes there must be before a state is taken as subsumed by one of them again
    patience: FxHashMap<Point, usize>,
    /// what assumptions have cost that could not be discharged, in units of the budget
    wasted: u64,
    /// since when a group is being discharged, and what that may cost
    turn: Option<(Mark, u64)>,
    /// a literal that a branch needs is kept guarded by it, as interpolants were not inductive otherwise
    pub guarded: bool,
    #[expect(
        clippy::vec_box,
        reason = "the run keeps states in boxes: moving the box is cheap, moving the state is not"
    )]
    reopened: Vec<Box<State>>,
    accounts: LoopAccounts,
    visited: Visited,
    /// for the audit: where other sides of loop tests were taken as known, by function and instruction
    pub used_sides: FxHashSet<(u32, u32)>,
    /// by function
    natural: FxHashMap<u32, pleach_ir::loops::Loops>,
    pub statistics: LoopStatistics,
}

#[derive(Default)]
pub(crate) struct LoopStatistics {
    /// leaves taken as subsumed
    assumed: u64,
    /// of these, explored after all
    revoked: u64,
    /// nodes below which all assumptions were discharged
    discharged: u64,
    /// nodes whose interpolant is an invariant
    pub invariants: u64,
    /// interpolants made stronger
    strengthened: u64,
    /// literals from above that were not needed
    dropped: u64,
}

impl Loops {
    /// Statistics by name.
    pub fn list(&self) -> Vec<(String, u64)> {
        let s = &self.statistics;
        let all = [
            ("loop-assumptions", s.assumed),
            ("loop-unrollings", s.revoked),
            ("loops-discharged", s.discharged),
            ("loop-invariants", s.invariants),
            ("loop-strengthenings", s.strengthened),
            ("loop-literals-dropped", s.dropped),
            ("loop-states-visited-again", self.visited.again),
        ];
        all.map(|(name, n)| (name.to_owned(), n)).into()
    }
}

impl Loops {
    /// Nothing is assumed, and nothing waits to be explored after all.
    pub fn is_settled(&self) -> bool {
        self.assumptions.is_empty() && self.reopened.is_empty()
    }

    pub fn is_provisional(&self, node: NodeId) -> bool {
        self.provisional.contains_key(&node)
    }

    pub fn opened(&mut self, node: NodeId, point: &Point) {
        if self.on {
            self.open_at.entry(point.clone()).or_default().push(node);
        }
    }

    pub fn closed(&mut self, node: NodeId, point: &Point) {
        if let Some(at) = self.open_at.get_mut(point) {
            at.retain(|n| *n != node);
        }
    }

    #[expect(
        clippy::vec_box,
        reason = "the run keeps states in boxes: moving the box is cheap, moving the state is not"
    )]
    pub fn take_reopened(&mut self) -> Vec<Box<State>> {
        std::mem::take(&mut self.reopened)
    }

    /// The closing node is such a leaf, or there are some below it.
    pub fn rests_on_assumption(&self, node: NodeId, open: &OpenNode) -> bool {
        !open.provisional.is_empty() || self.assumptions.contains_key(&node)
    }

    /// The oldest node that an assumption at or below the closing node speaks of; `None`: there is no assumption.
    fn oldest(&self, node: NodeId, open: &OpenNode) -> Option<NodeId> {
        let by = self.assumptions.get(&node).map(|a| self.provisional.get(&a.by).map_or(a.by, |p| p.oldest.min(a.by)));
        let below = open.provisional.iter().filter_map(|(child, _)| Some(self.provisional.get(child)?.oldest));
        below.chain(by).min()
    }
}

impl Interpolation {
    /// The state is taken as subsumed by a node that is not complete.
    pub(crate) fn assume(&mut self, state: Box<State>, by: NodeId, program: &pleach_ir::Program) {
        let leaf = state.node;
        self.loops.statistics.assumed += 1;
        self.loops.leaves.entry(by).or_default().push(leaf);
        if !self.loops.is_provisional(by) {
            let rounds = self.loops.open_at.get(&Point::of(&state)).map_or(0, Vec::len);
            self.note_round(&state, rounds, program);
        }
        let given = self.pending.take().map_or_else(Condition::default, |p| p.condition);
        self.loops.assumptions.insert(leaf, Assumption { state, by, given });
    }

    /// What a leaf needs, as far as its subsuming node was known.
    fn needs_of_leaf(&mut self, leaf: NodeId, oracle: &mut dyn PathOracle) -> Option<WpResult<Condition>> {
        let a = self.loops.assumptions.get(&leaf)?;
        let (given, state) = (a.given.clone(), a.state.clone());
        Some(self.propagate_trace_to(oracle, given, state.history.trace(), &state))
    }

    /// A node closes. Gives it back if nothing below is assumed any more, with its interpolant.
    pub(crate) fn close_in_loop(
        &mut self,
        node: NodeId,
        open: OpenNode,
        tree: &Tree,
        oracle: &mut dyn PathOracle,
    ) -> Option<(OpenNode, WpResult<Condition>)> {
        let oldest = self.loops.oldest(node, &open)?;
        let leaf = self.needs_of_leaf(node, oracle);
        let mut whole = open.clone();
        for (_, part) in std::mem::take(&mut whole.provisional) {
            match (&mut whole.needs, part) {
                (Ok(needs), Ok(part)) => needs.and(part),
                (needs @ Ok(_), Err(why)) => *needs = Err(why),
                (Err(_), _) => {}
            }
        }
        let needs = match tree.node(node).tainted {
            true => Err(pleach_wp::NoInterpolant::Tainted),
            false if self.is_paused() => Err(crate::pruner::PAUSED),
            false => leaf.unwrap_or_else(|| self.interpolant(oracle, &mut whole)),
        };
        self.loops.provisional.insert(node, Provisional { open, needs: needs.clone(), oldest });
        while oldest >= node
            && let Some(group) = self.group(node)
        {
            self.begin_turn(oracle);
            let (mark, size) = (self.budget.mark(oracle.effort()), group.len() as u64);
            match self.discharge(node, &group, oracle) {
                Ok(interpolants) => return self.commit(node, group, interpolants, oracle),
                Err(revoked) => {
                    self.loops.wasted += self.budget.since(mark, oracle.effort()) + PER_NODE * size;
                    let before = self.loops.assumptions.len();
                    revoked.into_iter().for_each(|(leaf, why)| self.revoke(leaf, why));
                    if !self.loops.is_provisional(node) {
                        return None;
                    }
                    // SOUND: only leaves elsewhere, which a node of the group subsumes, are explored after all. This
                    // node stays closed, and its parent has to get what it needs.
                    if self.loops.assumptions.len() == before {
                        break;
                    }
                }
            }
        }
        self.insert_provisional(node, oracle);
        let open = self.loops.provisional[&node].open.clone();
        self.pass_to_parent(oracle, Some(node), &open, needs);
        None
    }

    /// Subsumes states, under the assumptions below it.
    fn insert_provisional(&mut self, node: NodeId, oracle: &mut dyn PathOracle) {
        let Some(Provisional { open, needs: Ok(c), .. }) = self.loops.provisional.get(&node) else { return };
        if !self.loops.assumptions.contains_key(&node) && open.is_comparable() {
            let entry = TableEntry::new(node, c.clone(), open.work);
            self.table.insert(oracle.terms(), &self.locs, open.point.clone(), entry);
        }
    }

    /// The provisional nodes at and below this one, if they are all that the assumptions below it speak of.
    fn group(&self, node: NodeId) -> Option<Vec<NodeId>> {
        let mut group = vec![node];
        let mut next = 0;
        while let Some(&at) = group.get(next) {
            next += 1;
            let below = &self.loops.provisional.get(&at)?.open.provisional;
            group.extend(below.iter().map(|(child, _)| *child));
        }
        let members: FxHashSet<NodeId> = group.iter().copied().collect();
        let within = |n: &NodeId| self.loops.assumptions.get(n).is_none_or(|a| members.contains(&a.by));
        group.iter().all(within).then_some(group)
    }

    /// All assumptions of the group hold: its nodes are complete. Gives back the uppermost.
    fn commit(
        &mut self,
        root: NodeId,
        group: Vec<NodeId>,
        found: Discharged,
        oracle: &mut dyn PathOracle,
    ) -> Option<(OpenNode, WpResult<Condition>)> {
        let Discharged { mut interpolants, mut subsuming } = found;
        self.loops.statistics.discharged += 1;
        let mut uppermost = None;
        let parents: FxHashMap<NodeId, NodeId> =
            group.iter().filter_map(|n| Some((*n, self.loops.provisional.get(n)?.open.parent))).collect();
        for node in group {
            let Some(Provisional { mut open, .. }) = self.loops.provisional.remove(&node) else { continue };
            self.table.remove(&open.point, node);
            self.loops.known.remove(&node);
            let psi = interpolants.remove(&node).ok_or(pleach_wp::NoInterpolant::Moved);
            let leaf = self.loops.assumptions.remove(&node);
            let leaves = self.loops.leaves.remove(&node).unwrap_or_default();
            if leaves.iter().any(|l| self.is_below(*l, node, &parents)) {
                self.loops.statistics.invariants += 1;
                let explained = Explained::new(&oracle.program(), &open.state, psi.clone(), None);
                self.note_invariant(node, &open.state, explained);
            }
            if let (Some(Assumption { state, by, .. }), Some(psi)) = (leaf.as_ref(), subsuming.remove(&node))
                && self.audit_log.is_some()
            {
                open.outcome = AuditOutcome::Subsumed { at: Rc::new(State::clone(state)), by: *by, psi };
            }
            if node == root {
                uppermost = Some((open, psi));
            } else {
                self.keep_interpolant(node, &open, &psi, leaf.is_some(), oracle);
            }
        }
        uppermost
    }

    /// The leaf lies below the node.
    fn is_below(&self, leaf: NodeId, node: NodeId, parents: &FxHashMap<NodeId, NodeId>) -> bool {
        let above = |n: &NodeId| parents.get(n).copied().filter(|p| p != n);
        std::iter::successors(Some(leaf), above).any(|n| n == node)
    }

    /// The leaf is explored after all, and the nodes above it are open again.
    fn revoke(&mut self, leaf: NodeId, why: Revoked) {
        let Some(Assumption { mut state, by, .. }) = self.loops.assumptions.remove(&leaf) else { return };
        self.loops.statistics.revoked += 1;
        self.note_unrolled(&state);
        self.loops.revoked.insert(leaf, why);
        if let Some(l) = self.loops.leaves.get_mut(&by) {
            l.retain(|n| *n != leaf);
        }
        let (mut at, mut below) = (leaf, None);
        while let Some(Provisional { mut open, needs, .. }) = self.loops.provisional.remove(&at) {
            self.table.remove(&open.point, at);
            if let (Ok(c), true) = (needs, at != leaf) {
                self.loops.known.insert(at, c);
            }
            open.provisional.retain(|(child, _)| Some(*child) != below);
            self.loops.opened(at, &open.point);
            below = Some(at);
            let parent = open.parent;
            self.open.insert(at, open);
            if parent == at {
                break;
            }
            at = parent;
        }
        if let Some(above) = self.open.get_mut(&at) {
            above.provisional.retain(|(child, _)| Some(*child) != below);
        }
        if why == Revoked::NotInductive && by < leaf {
            let point = Point::of(&state);
            let rounds = self.loops.open_at.get(&point).map_or(0, Vec::len);
            self.loops.patience.insert(point, 2 * rounds.max(1));
        }
        state.history.set_at_join();
        self.loops.reopened.push(state);
    }

    /// No more can be learned: all leaves that are still taken as subsumed are to be explored.
    pub(crate) fn revoke_all(&mut self) {
        let mut leaves: Vec<NodeId> = self.loops.assumptions.keys().copied().collect();
        leaves.sort_unstable();
        leaves.into_iter().for_each(|leaf| self.revoke(leaf, Revoked::NotInductive));
    }
}
