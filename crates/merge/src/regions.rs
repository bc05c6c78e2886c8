//! Where states wait for each other.
//!
//! *Paper*: Memory §5.2, Alg. 3. *Idea*: a region begins at a fork inside a loop (or a call): from there on, states
//! that leave the loop wait where they leave it. When nobody is inside any more, those who left by the same way are
//! merged. Regions nest: a fork in an inner loop begins a region inside the outer one's. *Invariant*: `inside` of a
//! region counts the leaves that are in it and in no inner region; `inner` counts its inner regions; a region with
//! neither is done. Inside a loop each round is a region of its own: what it forks into meets again at the loop's
//! header, so that a loop that forks in each round does not double its states with each. *Deviations*: the thesis has
//! no rounds. Nested loops, loops with calls and several exits are included, which the thesis excludes. A region begins
//! at its first fork, not at the loop's entry, so that loops without forks cost nothing.

mod abandon;
mod groups;
mod marks;
mod statistics;

use crate::config::{MergeConfig, MergeScope};
use crate::guard::MergeMethod;
use crate::held::{HeldStates, Parents};
use crate::loops::ProgramFacts;
use crate::measure::TermSizes;
use crate::pattern::{Counted, PatternText, Words};
use crate::trial::Trials;
use crate::wait_budget::WaitBudget;
use crate::waiting::WaitingGroups;
use groups::each_alone;
use pleach_expr::TermId;
use pleach_ir::bitset::BitSet;
use pleach_ir::loops::LoopId;
use pleach_ir::{BlockId, FuncId, Program};
use pleach_state::seams::{Effort, PathOracle};
use pleach_state::{Fork, Group, Merger, NodeId, PathConstraint, RegionId, State, StopPoints, TrialCost};
use rustc_hash::FxHashMap;
use statistics::MergeStatistics;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;

/// What a region is about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Extent {
    Loop(FuncId, LoopId),
    /// one round of a loop: until its header is reached again
    Round(FuncId, LoopId),
    Call(FuncId),
    Marked,
}

impl Extent {
    fn of_loop(self) -> Option<(FuncId, LoopId)> {
        match self {
            Extent::Loop(f, l) | Extent::Round(f, l) => Some((f, l)),
            Extent::Call(_) | Extent::Marked => None,
        }
    }
}

struct Region {
    extent: Extent,
    stop: StopPoints,
    /// of the loop, if the region is one of its rounds
    header: Option<BlockId>,
    /// where the loop is left, if steps also end inside it
    exits: Option<Rc<BitSet>>,
    before: PathConstraint,
    outer: Option<RegionId>,
    inside: usize,
    inner: usize,
    waiting: WaitingGroups,
    /// states inside that are held for others to join them
    held: HeldStates,
    /// the work done when it was opened, and when it is abandoned, if it may be
    began: u64,
    until: Option<u64>,
}

/// Where a state in a region is.
enum Whereabouts {
    Inside,
    /// where the region is left by a way on which others may follow
    Waits,
    /// where the next round begins
    AtHeader,
    /// left, without a place to wait at
    Outside,
}

impl Region {
    fn is_done(&self) -> bool {
        self.inside == 0 && self.inner == 0
    }

    /// Nobody else runs in it.
    fn is_held(&self) -> bool {
        !self.held.is_empty() && self.held.len() == self.inside && self.inner == 0
    }

    fn place(&self, state: &State, program: &Program) -> Whereabouts {
        let (depth, here) = (state.call_depth(), self.stop.depth);
        let other = |func: FuncId| depth == here && state.frame.func != func;
        let jumped_out = match self.extent {
            // Who returns leaves the loop first: an exception or a long jump went past its exits.
            Extent::Loop(func, _) | Extent::Round(func, _) => depth < here || other(func),
            Extent::Marked => false,
            Extent::Call(func) => depth + 1 < here || other(func),
        };
        if jumped_out {
            return Whereabouts::Outside;
        }
        let first = program.function(state.frame.func).blocks[state.block.index()].first.0;
        let at_start = state.inst == first || depth < here;
        match self.header {
            _ if !at_start || !self.stop.is_at(state) => Whereabouts::Inside,
            Some(header) if header == state.block => Whereabouts::AtHeader,
            // Who leaves the loop waits with those of the other rounds.
            Some(_) => Whereabouts::Outside,
            None if depth == here && self.exits.as_ref().is_some_and(|e| !e.contains(state.block.index())) => {
                Whereabouts::Inside
            }
            None => Whereabouts::Waits,
        }
    }
}

/// Merges states where they leave loops and calls.
pub struct Merging {
    config: MergeConfig,
    facts: ProgramFacts,
    regions: BTreeMap<RegionId, Region>,
    next: u32,
    /// by leaf: the innermost region it is in
    leaves: FxHashMap<NodeId, RegionId>,
    /// regions that are done, in this order
    done: VecDeque<RegionId>,
    /// groups that are handed out before their region is done
    early: VecDeque<Group>,
    /// regions in which all states are held
    all_held: VecDeque<RegionId>,
    /// by leaf in a loop: the path constraint of its parent
    parents: Parents,
    /// the path constraint of the parent of the next state that goes on, if that was merged inside a loop
    above_merged: Option<PathConstraint>,
    /// leaf of the first state of a group that is released
    released: Option<NodeId>,
    /// by leaf: where it last passed a mark or a loop's header
    passed: FxHashMap<NodeId, (u64, u32)>,
    statistics: MergeStatistics,
    trials: Trials,
    wait_budget: WaitBudget,
    /// figures and texts before the last merge, which a trial may undo
    before_merge: Option<(MergeStatistics, usize)>,
    sizes: TermSizes,
    words: Words,
    /// by the leaf of their first member: groups that have a pattern
    patterns: FxHashMap<NodeId, Counted>,
    counters: u32,
    explained: Vec<PatternText>,
}

impl Merging {
    pub fn new(program: Rc<Program>, config: MergeConfig) -> Merging {
        Merging {
            config,
            facts: ProgramFacts::new(program),
            regions: BTreeMap::new(),
            next: 0,
            leaves: FxHashMap::default(),
            done: VecDeque::new(),
            early: VecDeque::new(),
            all_held: VecDeque::new(),
            parents: Parents::default(),
            above_merged: None,
            released: None,
            passed: FxHashMap::default(),
            statistics: MergeStatistics::default(),
            trials: Trials::default(),
            wait_budget: WaitBudget::default(),
            before_merge: None,
            sizes: TermSizes::default(),
            words: Words::default(),
            patterns: FxHashMap::default(),
            counters: 0,
            explained: Vec::new(),
        }
    }

    /// Values and conditions that a check found wrong.
    pub fn wrong(&self) -> u64 {
        self.statistics.checked.wrong
    }

    /// What the fork begins a region for, with the depth of its call. The innermost loop around it, also in a caller,
    /// or the innermost call.
    fn extent_of(&mut self, fork: &Fork, logic: &mut dyn PathOracle) -> Option<(Extent, StopPoints)> {
        let depth = fork.callers.map_or(0, |c| c.depth);
        let wanted = |s| self.config.scopes.contains(&s);
        let size_dependent = wanted(MergeScope::SizeDependent) && depends_on_size(fork, logic);
        if wanted(MergeScope::Loops) || size_dependent {
            let callers = std::iter::successors(fork.callers.map(|c| &**c), |c| c.below.as_deref());
            let frames = std::iter::once((fork.func, fork.block)).chain(callers.map(|c| (c.frame.func, c.frame.block)));
            for (i, (func, block)) in frames.enumerate() {
                let facts = self.facts.of(func);
                if let Some(l) = facts.innermost(block).filter(|l| !self.trials.is_given_up((func, *l))) {
                    let blocks = if self.config.incremental { facts.exits_and_sides(l) } else { facts.exits(l) };
                    let stop = StopPoints { func, depth: depth - i as u32, blocks };
                    return Some((Extent::Loop(func, l), stop));
                }
            }
        }
        if self.config.scopes.contains(&MergeScope::Functions) && depth > 0 {
            let blocks = self.facts.of(fork.func).no_block();
            return Some((Extent::Call(fork.func), StopPoints { func: fork.func, depth, blocks }));
        }
        None
    }

    /// The region in which the children of a fork are.
    fn region_of(&mut self, fork: &Fork, current: Option<RegionId>, logic: &mut dyn PathOracle) -> Option<RegionId> {
        let mut region = current;
        if let Some((extent, stop)) = self.extent_of(fork, logic) {
            let here = current.and_then(|id| self.regions.get(&id));
            let is_same =
                |r: &Region| r.extent == extent || extent.of_loop().is_some_and(|l| r.extent.of_loop() == Some(l));
            let same = here.is_some_and(|r| is_same(r) && r.stop.depth == stop.depth);
            // A call's region does not end inside it, a loop's does.
            let inside = here.is_none_or(|r| stop.depth >= r.stop.depth);
            if !same && inside && self.is_worth_opening(extent) {
                region = Some(self.open_region(extent, stop, fork.before.clone(), current));
            }
        }
        // Once states wait where a loop is left, every fork inside begins a round.
        let here = region.and_then(|id| self.regions.get(&id)).map(|r| (r.extent, r.stop.depth));
        if let Some((Extent::Loop(func, l), depth)) = here.filter(|_| self.config.rounds) {
            let stop = StopPoints { func, depth, blocks: self.facts.of(func).exits_and_header(l) };
            region = Some(self.open_region(Extent::Round(func, l), stop, fork.before.clone(), region));
        }
        region
    }

    fn open_region(
        &mut self,
        extent: Extent,
        stop: StopPoints,
        before: PathConstraint,
        outer: Option<RegionId>,
    ) -> RegionId {
        let id = RegionId(self.next);
        self.next += 1;
        match extent {
            Extent::Round(..) => self.statistics.rounds += 1,
            _ => self.statistics.regions += 1,
        }
        let header = match extent {
            Extent::Round(f, l) => Some(self.facts.of(f).loops.get(l).header),
            _ => None,
        };
        let exits = match extent {
            Extent::Loop(f, l) if self.config.incremental => Some(self.facts.of(f).exits(l)),
            _ => None,
        };
        let (waiting, held) = (WaitingGroups::default(), Vec::new());
        let (began, until) = (self.wait_budget.now(), self.until(extent));
        let region =
            Region { extent, stop, header, exits, before, outer, inside: 0, inner: 0, waiting, held, began, until };
        self.regions.insert(id, region);
        if let Some(o) = outer.and_then(|o| self.regions.get_mut(&o)) {
            o.inner += 1;
        }
        id
    }

    fn enter(&mut self, leaf: NodeId, region: Option<RegionId>) {
        if let Some(id) = region
            && let Some(r) = self.regions.get_mut(&id)
        {
            r.inside += 1;
            self.leaves.insert(leaf, id);
        }
    }

    /// A leaf is no longer in the region.
    fn leave(&mut self, id: RegionId) {
        if let Some(r) = self.regions.get_mut(&id) {
            r.inside -= 1;
            if r.is_done() {
                self.done.push_back(id);
            }
        }
        self.note_held(id);
    }

    fn note_held(&mut self, id: RegionId) {
        if self.regions.get(&id).is_some_and(Region::is_held) && !self.all_held.contains(&id) {
            self.all_held.push_back(id);
        }
    }

    /// Whether a state is held at the start of a block, for others to come there.
    fn is_to_be_held(&self, state: &State, region: &Region) -> bool {
        let block = &self.facts.program.function(state.frame.func).blocks[state.block.index()];
        self.config.incremental
            && matches!(region.extent, Extent::Loop(..))
            && self.parents.contains_key(&state.node)
            && self.passed.get(&state.node) != Some(&state.position())
            && state.inst == block.first.0
            && region.inside > 1
    }

    /// The next group of a region that is done; the region goes with its last.
    fn take_group(&mut self, id: RegionId) -> Option<Group> {
        let r = self.regions.get_mut(&id)?;
        self.trials.of = r.extent.of_loop().filter(|_| self.config.trials && r.header.is_none());
        if let Some(members) = r.waiting.take_first() {
            return Some(Group { members, before: r.before.clone(), outer: r.outer });
        }
        let outer = self.regions.remove(&id)?.outer?;
        let o = self.regions.get_mut(&outer)?;
        o.inner -= 1;
        if o.is_done() {
            self.done.push_back(outer);
        }
        self.note_held(outer);
        None
    }
}

/// A condition of the fork depends on the size of some object.
fn depends_on_size(fork: &Fork, logic: &mut dyn PathOracle) -> bool {
    let terms = logic.terms();
    let mut symbols = |t: TermId| terms.support(t).iter().map(|k| k.symbol()).collect::<Vec<_>>();
    if fork.sizes.is_empty() {
        return false;
    }
    let sizes: Vec<_> = fork.sizes.iter().flat_map(|&s| symbols(s)).collect();
    fork.children.iter().any(|&(_, condition)| symbols(condition).iter().any(|s| sizes.contains(s)))
}

impl Merger for Merging {
    fn is_off(&self) -> bool {
        false
    }

    fn stop_points(&self, leaf: NodeId) -> Option<StopPoints> {
        self.leaves.get(&leaf).and_then(|r| self.regions.get(r)).map(|r| r.stop.clone())
    }

    fn forked(&mut self, fork: Fork, logic: &mut dyn PathOracle) {
        if self.config.trials {
            self.abandon_overdue(logic.effort().units(0));
        }
        let current = self.leaves.remove(&fork.node);
        let region = if fork.children.len() > 1 { self.region_of(&fork, current, logic) } else { current };
        let passed = self.passed.remove(&fork.node);
        self.parents.remove(&fork.node);
        for &(child, _) in fork.children {
            if self.config.incremental && region.is_some() {
                self.parents.insert(child, fork.before.clone());
            }
            self.enter(child, region);
            passed.into_iter().for_each(|at| {
                self.passed.insert(child, at);
            });
        }
        if let Some(id) = current {
            self.leave(id);
        }
    }

    fn grew(&mut self, node: NodeId, child: NodeId) {
        if let Some(at) = self.passed.remove(&node) {
            self.passed.insert(child, at);
        }
        if let Some(before) = self.parents.remove(&node) {
            self.parents.insert(child, before);
        }
        if let Some(r) = self.leaves.remove(&node) {
            self.leaves.insert(child, r);
        }
    }

    fn arrived(&mut self, state: &State) -> bool {
        if let Some(mark) = self.new_mark(state) {
            return self.pass_mark(mark, state);
        }
        while let Some(&id) = self.leaves.get(&state.node)
            && let Some(r) = self.regions.get(&id)
        {
            match r.place(state, &self.facts.program) {
                Whereabouts::Inside => return self.is_to_be_held(state, r),
                Whereabouts::Waits => return true,
                // A fork at its first instruction leaves the children where the round began.
                Whereabouts::AtHeader => return self.passed.get(&state.node) != Some(&state.position()),
                Whereabouts::Outside => {
                    let outer = r.outer;
                    self.leaves.remove(&state.node);
                    self.enter(state.node, outer);
                    self.leave(id);
                }
            }
        }
        false
    }

    fn wait(&mut self, state: Box<State>) {
        let Some(id) = self.leaves.remove(&state.node) else { return };
        let is_held = self.regions.get(&id).is_some_and(|r| {
            matches!(r.place(&state, &self.facts.program), Whereabouts::Inside) && self.is_to_be_held(&state, r)
        });
        let Some(r) = self.regions.get_mut(&id) else { return };
        if is_held {
            self.leaves.insert(state.node, id);
            r.held.push(state);
            return self.note_held(id);
        }
        if let Some(members) = r.waiting.add(state, self.config.max_states) {
            self.early.push_back(Group { members, before: r.before.clone(), outer: r.outer });
        }
        self.leave(id);
    }

    fn left(&mut self, leaf: NodeId) {
        self.passed.remove(&leaf);
        self.parents.remove(&leaf);
        if let Some(id) = self.leaves.remove(&leaf) {
            self.leave(id);
        }
    }

    fn ready(&mut self, all: bool) -> Option<Group> {
        self.trials.of = None;
        if let Some(g) = self.early.pop_front() {
            return Some(g);
        }
        while let Some(id) = self.all_held.pop_front() {
            if self.regions.get(&id).is_some_and(Region::is_held)
                && let Some(group) = self.release(id)
            {
                return Some(group);
            }
        }
        let still_held = || self.regions.iter().find(|(_, r)| !r.held.is_empty()).map(|(&id, _)| id);
        if all
            && self.done.is_empty()
            && let Some(id) = still_held()
        {
            return self.release(id);
        }
        loop {
            let id = match self.done.front() {
                Some(&id) => id,
                None if all => self.regions.iter().find(|(_, r)| !r.waiting.is_empty()).map(|(&id, _)| id)?,
                None => return None,
            };
            let is_done = self.done.front() == Some(&id);
            match self.take_group(id) {
                Some(group) => return Some(group),
                None if is_done => {
                    self.done.pop_front();
                }
                None => {}
            }
        }
    }

    fn partition(&mut self, group: Group, logic: &mut dyn PathOracle) -> Vec<Group> {
        if self.released.take().is_some_and(|first| first == group.members[0].node) {
            return vec![self.same_stores(group, logic)];
        }
        if self.trials.is_over() {
            return each_alone(group);
        }
        if self.config.method == MergeMethod::Pattern {
            return self.partition_by_patterns(group, logic);
        }
        vec![group]
    }

    fn trial(&mut self, _: &Group, effort: Effort) -> Option<u64> {
        self.trials.begin(effort)
    }

    fn trial_of_merged(&mut self, group: &Group, members: &[TrialCost]) -> Option<u64> {
        self.trials.limit_of_merged(group.members.len(), members)
    }

    fn tried(&mut self, group: &Group, members: &[TrialCost], merged: Option<TrialCost>) -> bool {
        let pays = self.trials.end(group.members.len(), members, merged);
        if !pays {
            self.take_back(group);
        }
        pays
    }

    fn merge(&mut self, group: &Group, logic: &mut dyn PathOracle) -> Option<State> {
        self.before_merge = self.trials.of.map(|_| (self.statistics.clone(), self.explained.len()));
        if self.is_exit_over(group) {
            self.take_back(group);
            return None;
        }
        match self.merge_group(group, logic) {
            Ok(state) => {
                let n = group.members.len() as u64;
                self.statistics.groups += 1;
                self.statistics.states += n;
                self.statistics.largest_group = self.statistics.largest_group.max(n);
                Some(state)
            }
            Err(why) => {
                self.above_merged = None;
                *self.statistics.refused.entry(why).or_default() += 1;
                self.statistics.refused_states += group.members.len() as u64;
                None
            }
        }
    }

    fn resumed(&mut self, state: &State, outer: Option<RegionId>) {
        self.enter(state.node, outer);
        // A merged state can be held again.
        if let Some(before) = self.above_merged.take().filter(|_| !self.parents.contains_key(&state.node)) {
            self.parents.insert(state.node, before);
        }
        // The mark or the header at which it waited is behind it.
        self.passed.insert(state.node, state.position());
    }

    fn take_waiting(&mut self) -> Vec<Box<State>> {
        let regions = std::mem::take(&mut self.regions).into_values();
        let groups = regions.flat_map(|r| r.waiting.into_members().chain([r.held]));
        groups.chain(std::mem::take(&mut self.early).into_iter().map(|g| g.members)).flatten().collect()
    }

    fn statistics(&self) -> Vec<(String, u64)> {
        let abandoned = ("loops_abandoned".to_owned(), self.wait_budget.abandoned);
        let trials = self.trials.lines().into_iter().chain([abandoned]).filter(|_| self.config.trials);
        self.statistics.lines(&self.config).into_iter().chain(trials).collect()
    }
}
