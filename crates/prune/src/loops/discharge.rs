//! Interpolants of a cyclic part of the tree, made stronger until they are inductive.
//!
//! *Invariant*: what [`Interpolation::discharge`] returns satisfies, for each leaf of the group, that its state
//! satisfies the interpolant of its subsuming node and that the leaf has that as its own; and for each node, that its
//! interpolant implies what its children need. *Direction*: gives up on leaves, which are explored then.

use super::from_above::Literals;
use super::{Provisional, Revoked};
use crate::matching::Matcher;
use crate::point::Point;
use crate::pruner::Interpolation;
use pleach_expr::{SymbolId, TermId, Terms};
use pleach_state::seams::PathOracle;
use pleach_state::{NodeId, State};
use pleach_wp::{Condition, NoInterpolant, Rounds, WpResult};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::rc::Rc;

/// How often what a node needs may come back to a leaf before it is given up.
const ROUNDS: u32 = 6;
/// Literals of a condition that are looked at when another is compared with it.
const MANY: usize = 96;

/// Inductive interpolants.
#[derive(Default)]
pub(super) struct Discharged {
    /// by node
    pub interpolants: FxHashMap<NodeId, Condition>,
    /// by leaf: the interpolant of the subsuming node over the objects of the leaf's state
    pub subsuming: FxHashMap<NodeId, Condition>,
}

/// Leaves to explore after all.
pub(super) type RevokedLeaves = Vec<(NodeId, Revoked)>;

impl Interpolation {
    pub(super) fn discharge(
        &mut self,
        root: NodeId,
        group: &[NodeId],
        oracle: &mut dyn PathOracle,
    ) -> Result<Discharged, RevokedLeaves> {
        let leaves: Vec<NodeId> = group.iter().copied().filter(|n| self.loops.assumptions.contains_key(n)).collect();
        let unsatisfied: RevokedLeaves =
            leaves.iter().filter_map(|leaf| Some((*leaf, self.is_unsatisfied(*leaf, oracle)?))).collect();
        if !unsatisfied.is_empty() {
            return Err(unsatisfied);
        }
        let mut found = self.start(group, oracle);
        match self.strengthen(root, &leaves, &mut found, oracle) {
            Ok(()) => return Ok(found),
            // What was needed after one way round at most is needed whatever else holds.
            Err((revoked, rounds)) if rounds <= 1 => return Err(revoked),
            Err(_) => {}
        }
        let mut last = Vec::new();
        for which in [Literals::General, Literals::All] {
            let mut second = self.start(group, oracle);
            let mut kept = self.literals_from_above(root, &leaves, &found, &second, which, oracle);
            if self.require_all(root, &kept, &mut second, oracle).is_err() {
                (second, kept) = (self.start(group, oracle), Vec::new());
            }
            if kept.is_empty() && which == Literals::General {
                continue;
            }
            match self.strengthen(root, &leaves, &mut second, oracle) {
                Ok(()) => return Ok(self.minimise(root, group, &leaves, kept, second, oracle)),
                Err((revoked, _)) => last = revoked,
            }
        }
        self.loops.guarded = true;
        Err(last)
    }

    /// What is known before any leaf gives what its subsuming node needs.
    pub(super) fn start(&mut self, group: &[NodeId], oracle: &mut dyn PathOracle) -> Discharged {
        let mut found = Discharged::default();
        for node in group {
            if let Some(Provisional { needs: Ok(c), .. }) = self.loops.provisional.get(node) {
                let mut c = c.clone();
                c.write_sums(oracle.terms(), |_| true);
                found.interpolants.insert(*node, c);
            }
            if let Some(a) = self.loops.assumptions.get(node) {
                found.subsuming.insert(*node, a.given.clone());
            }
        }
        found
    }

    /// The leaf's state does not satisfy what its subsuming node is known to need.
    fn is_unsatisfied(&mut self, leaf: NodeId, oracle: &mut dyn PathOracle) -> Option<Revoked> {
        let assumption = self.loops.assumptions.get(&leaf)?;
        let Some(Provisional { needs, .. }) = self.loops.provisional.get(&assumption.by) else {
            return Some(Revoked::NotInductive);
        };
        let Ok(c) = needs else { return Some(Revoked::NotInductive) };
        let mut matcher = Matcher::new(&assumption.state, &self.locs, self.fixed);
        let failed = Cell::new(u32::MAX);
        if matcher.check(oracle, c, &failed).is_ok() {
            return None;
        }
        if let Some(&l) = c.literals.get(failed.get() as usize) {
            let places: Vec<SymbolId> = oracle.terms().support(l).iter().map(|k| k.symbol()).collect();
            let point = Point::of(&assumption.state);
            self.loops.relevant.entry(point).or_default().extend(places);
        }
        Some(Revoked::Unsatisfied)
    }

    /// Gives each leaf what its subsuming node needs, and propagates that upward, until nothing is new. Fails with the
    /// leaves whose states do not satisfy it, and how often needs went round at most.
    pub(super) fn strengthen(
        &mut self,
        root: NodeId,
        leaves: &[NodeId],
        found: &mut Discharged,
        oracle: &mut dyn PathOracle,
    ) -> Result<(), (RevokedLeaves, u32)> {
        let mut todo: Vec<NodeId> = leaves.to_vec();
        let mut rounds: FxHashMap<NodeId, u32> = FxHashMap::default();
        let mut failed = Vec::new();
        while let Some(leaf) = todo.pop() {
            if self.is_turn_over(oracle) {
                failed.push((leaf, Revoked::NotInductive));
                continue;
            }
            let new = match self.pass_to_leaf(leaf, found, oracle) {
                Ok(new) => new,
                Err(why) => {
                    failed.push((leaf, why));
                    continue;
                }
            };
            if new.is_true() {
                continue;
            }
            let n = rounds.entry(leaf).or_default();
            *n += 1;
            if *n > ROUNDS {
                failed.push((leaf, Revoked::NotInductive));
                continue;
            }
            let changed = self.propagate_up(root, leaf, new, found, oracle);
            let Ok(changed) = changed else {
                failed.push((leaf, Revoked::NotInductive));
                continue;
            };
            for node in changed {
                for &l in self.loops.leaves.get(&node).into_iter().flatten() {
                    if !todo.contains(&l) && !failed.iter().any(|(f, _)| *f == l) {
                        todo.push(l);
                    }
                }
            }
        }
        let most = rounds.values().copied().max().unwrap_or(0);
        if failed.is_empty() { Ok(()) } else { Err((failed, most)) }
    }

    /// What the subsuming node needs and the leaf was not given yet, over the leaf's objects.
    fn pass_to_leaf(
        &mut self,
        leaf: NodeId,
        found: &mut Discharged,
        oracle: &mut dyn PathOracle,
    ) -> Result<Condition, Revoked> {
        let assumption = self.loops.assumptions.get(&leaf).ok_or(Revoked::NotInductive)?;
        let (by, point) = (assumption.by, Point::of(&assumption.state));
        let state: Rc<State> = Rc::new(State::clone(&assumption.state));
        let needed = found.interpolants.get(&by).ok_or(Revoked::NotInductive)?.clone();
        let mut matcher = Matcher::new(&state, &self.locs, self.fixed);
        let failed = Cell::new(u32::MAX);
        if matcher.check(oracle, &needed, &failed).is_err() {
            if let Some(&l) = needed.literals.get(failed.get() as usize) {
                let places: Vec<SymbolId> = oracle.terms().support(l).iter().map(|k| k.symbol()).collect();
                self.loops.relevant.entry(point).or_default().extend(places);
            }
            return Err(Revoked::NotInductive);
        }
        let binding = std::mem::take(&mut matcher.binding);
        let whole = self.rename(oracle, &binding, &state, &needed);
        let given = found.subsuming.insert(leaf, whole.clone()).unwrap_or_default();
        Ok(without(&given, whole))
    }

    /// From a leaf to the root of the group. Returns the nodes whose interpolants became stronger.
    pub(super) fn propagate_up(
        &mut self,
        root: NodeId,
        leaf: NodeId,
        new: Condition,
        found: &mut Discharged,
        oracle: &mut dyn PathOracle,
    ) -> WpResult<Vec<NodeId>> {
        let state = self.loops.assumptions.get(&leaf).ok_or(NoInterpolant::Moved)?.state.clone();
        let new = self.propagate_trace_to(oracle, new, state.history.trace(), &state)?;
        self.require_at(root, leaf, new, found, oracle)
    }

    /// The node needs this, too, and so do those above it. Returns the nodes whose interpolants became stronger.
    pub(super) fn require_at(
        &mut self,
        root: NodeId,
        node: NodeId,
        mut new: Condition,
        found: &mut Discharged,
        oracle: &mut dyn PathOracle,
    ) -> WpResult<Vec<NodeId>> {
        let (mut at, mut changed) = (node, Vec::new());
        loop {
            // SOUND: of a node that has none, this would be all that is known to be needed.
            let have = found.interpolants.get_mut(&at).ok_or(NoInterpolant::Moved)?;
            new = not_implied(oracle, have, new);
            if new.is_true() {
                return Ok(changed);
            }
            have.and(new.clone());
            self.loops.statistics.strengthened += 1;
            changed.push(at);
            if at == root {
                return Ok(changed);
            }
            let child = self.loops.provisional.get(&at).ok_or(NoInterpolant::Moved)?.open.clone();
            new = self.contribution(oracle, &child, new)?;
            at = child.parent;
            let parent = self.loops.provisional.get(&at).ok_or(NoInterpolant::Moved)?;
            let (fork, state) = (parent.open.forked.clone(), parent.open.state.clone());
            if let Some(fork) = fork {
                new = self.propagate_to_node(oracle, new, &fork)?;
            }
            new = self.tighten(oracle, &state, new)?;
            new.write_sums(oracle.terms(), |_| true);
        }
    }
}

/// The conjuncts of `c` that `given` does not have.
fn without(given: &Condition, mut c: Condition) -> Condition {
    c.literals.retain(|l| !given.literals.contains(l));
    c.points_to.retain(|p| !given.points_to.contains(p));
    c.dangling.retain(|d| !given.dangling.contains(d));
    c.choices.retain(|x| !given.choices.contains(x));
    c.satisfiable.retain(|s| !given.satisfiable.contains(s));
    c.rounds.retain(|r| {
        let same = |g: &&Rounds| (g.depth, g.header) == (r.depth, r.header);
        given.rounds.iter().find(same).is_none_or(|g| g.at_least < r.at_least)
    });
    c.dereferenceable.retain(|v| {
        let mut with = Condition { dereferenceable: given.dereferenceable.clone(), ..Condition::default() };
        with.require_dereferenceable(*v);
        with.dereferenceable.len() > given.dereferenceable.len()
    });
    if c.blocks == given.blocks {
        c.blocks = None;
    }
    c
}

/// The conjuncts of `c` that `have` does not imply.
pub(super) fn not_implied(oracle: &mut dyn PathOracle, have: &Condition, c: Condition) -> Condition {
    let mut c = without(have, c);
    if let (Some(new), Some(old)) = (&c.blocks, &have.blocks)
        && old.is_subset(new)
    {
        c.blocks = None;
    }
    let mut literals = std::mem::take(&mut c.literals);
    literals.retain(|&l| !implies(oracle, &have.literals, l));
    c.literals = literals;
    c
}

/// The literals imply this one.
pub(super) fn implies(oracle: &mut dyn PathOracle, literals: &[TermId], l: TermId) -> bool {
    let mut near = symbols(oracle.terms(), l);
    let mut claim = Terms::TRUE;
    // What shares a location with the literal, or with what does.
    let mut rest: Vec<(TermId, Vec<SymbolId>)> =
        literals.iter().rev().take(MANY).map(|&k| (k, symbols(oracle.terms(), k))).collect();
    for _ in 0..3 {
        let before = near.len();
        let known = near.clone();
        rest.retain(|(k, its)| {
            let joined = its.iter().any(|s| known.contains(s));
            if joined {
                near.extend(its.iter().copied().filter(|s| !known.contains(s)));
                claim = oracle.terms().and(claim, *k);
            }
            !joined
        });
        if near.len() == before {
            break;
        }
    }
    let claim = oracle.terms().implies(claim, l);
    claim == Terms::TRUE || oracle.valid(claim)
}

pub(super) fn symbols(terms: &mut Terms, t: TermId) -> Vec<SymbolId> {
    let mut all: Vec<SymbolId> = terms.support(t).iter().map(|k| k.symbol()).collect();
    all.dedup();
    all
}
