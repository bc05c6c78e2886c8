//! The seams: small traits that techniques implement, and their no-op forms. The run loop knows only these.

use crate::state::{State, StateId};
use crate::tree::{NodeId, Tree};
use std::collections::BTreeMap;

/// The states that wait to be explored, by id.
pub type States = BTreeMap<StateId, Box<State>>;

/// Metrics of a state's position in the program, as of now.
pub trait SearchMetrics {
    /// Instructions to the nearest block that no path has covered yet; `None` when there is no way to one.
    fn to_uncovered(&self, state: &State) -> Option<u32>;
    /// How often any path has been in the block where the state is.
    fn visits(&self, state: &State) -> u64;
}

/// What a searcher may look at. A state that was removed may be gone from `states` already.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub states: &'a States,
    pub tree: &'a Tree,
    pub statistics: &'a dyn SearchMetrics,
}

/// Which state next?
pub trait Searcher {
    /// One of the states that were added and not removed; `None` when there is none.
    fn select(&mut self, view: View) -> Option<StateId>;
    /// `current` has been stepped (it may be among the removed); these came, these left.
    fn update(&mut self, current: Option<StateId>, added: &[StateId], removed: &[StateId], view: View);
    fn name(&self) -> String;
}

impl Searcher for Box<dyn Searcher> {
    fn select(&mut self, view: View) -> Option<StateId> {
        (**self).select(view)
    }
    fn update(&mut self, current: Option<StateId>, added: &[StateId], removed: &[StateId], view: View) {
        (**self).update(current, added, removed, view);
    }
    fn name(&self) -> String {
        (**self).name()
    }
}

/// What the run has cost so far.
#[derive(Clone, Copy, Default, Debug)]
pub struct Effort {
    pub instructions: u64,
    /// queries to the solver chain
    pub queries: u64,
    /// those of them that went to a back end
    pub hard: u64,
    /// how far those searched for answers, as they count it
    pub steps: u64,
    pub solving: std::time::Duration,
}

impl Effort {
    /// What was added since `before`.
    pub fn since(self, before: Effort) -> Effort {
        Effort {
            instructions: self.instructions - before.instructions,
            queries: self.queries - before.queries,
            hard: self.hard - before.hard,
            steps: self.steps - before.steps,
            solving: self.solving - before.solving,
        }
    }
}

/// Queries about terms that techniques may make, without a state.
pub trait TermOracle {
    /// The condition holds for all values of its symbolic variables; false also when the solver returns unknown.
    fn valid(&mut self, terms: &mut pleach_expr::Terms, condition: pleach_expr::TermId) -> bool;
    /// Some values of its symbolic variables make the condition true; false also when the solver returns unknown.
    fn is_satisfiable(&mut self, terms: &mut pleach_expr::Terms, condition: pleach_expr::TermId) -> bool;
}

/// Queries about a state that techniques may make.
pub trait PathOracle {
    fn effort(&self) -> Effort;
    fn terms(&mut self) -> &mut pleach_expr::Terms;
    fn program(&self) -> std::rc::Rc<pleach_ir::Program>;
    /// The truth of a condition where it shows without the solver: constant, or false under the state's model.
    fn decided(&mut self, state: &State, condition: pleach_expr::TermId) -> Option<bool>;
    /// The path constraint implies the condition; false also when the solver returns unknown.
    fn entails(&mut self, state: &State, condition: pleach_expr::TermId) -> bool;
    /// The path constraint allows the condition; false also when the solver returns unknown.
    fn is_satisfiable_with(&mut self, state: &State, condition: pleach_expr::TermId) -> bool;
    /// The table of terms, and separately who answers queries about terms alone.
    fn split(&mut self) -> (&mut pleach_expr::Terms, Box<dyn TermOracle + '_>);
    /// [`TermOracle::is_satisfiable`]
    fn is_satisfiable(&mut self, condition: pleach_expr::TermId) -> bool {
        let (terms, mut oracle) = self.split();
        oracle.is_satisfiable(terms, condition)
    }
    /// [`TermOracle::valid`]
    fn valid(&mut self, condition: pleach_expr::TermId) -> bool {
        let (terms, mut oracle) = self.split();
        oracle.valid(terms, condition)
    }
    /// Adds a condition to a state's path constraint. *Contract*: the model satisfies it and the path constraint.
    fn constrain(&mut self, state: &mut State, condition: pleach_expr::TermId, model: &std::rc::Rc<pleach_expr::Model>);
    /// The condition, which holds, compares objects and would not hold if they lay elsewhere.
    fn depends_on_layout(&mut self, state: &State, condition: pleach_expr::TermId) -> bool;
    /// Constraints of the path that imply `goal` together with `given`, as few as were found. `None`: not implied, no
    /// answer, or it depends on where objects lie.
    fn core(
        &mut self,
        state: &State,
        given: pleach_expr::TermId,
        goal: pleach_expr::TermId,
    ) -> Option<Vec<pleach_expr::TermId>>;
}

/// What a pruner says to a state that is about to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PruneDecision {
    Continue,
    /// worth a node of its own, so that others can be compared with it
    NewNode,
    /// everything below is known from this node
    Subsumed(NodeId),
    /// everything below will be known from this node, which is not complete yet
    Assumed(NodeId),
    /// may be worth exploring without its path constraint, for at most this many instructions; otherwise as `NewNode`
    Speculate(u64),
}

/// Learns from complete subtrees and subsumes states by what it learned. Called in this order: `open` for a new node,
/// then either `ended` or `on_subsumed` for a leaf, then `close` when everything below the node is done (post-order).
pub trait Pruner {
    fn check_subsumed(&mut self, state: &mut State, tree: &Tree, logic: &mut dyn PathOracle) -> PruneDecision;
    /// `state` stands at the new node.
    fn open(&mut self, node: NodeId, state: &mut State, tree: &Tree);
    /// `state` stands at a new node, which these leaves went into. They close after it.
    fn merged(&mut self, state: &mut State, _leaves: &mut [Box<State>], tree: &Tree) {
        self.open(state.node, state, tree);
    }
    fn ended(&mut self, state: &mut State, end: &crate::outcome::End, logic: &mut dyn PathOracle);
    /// The last `check_subsumed` subsumed a state: whether to explore it in a sub-exploration, or to go on with that
    /// after this effort and this number of forks, to measure what subsumption saves. If so, `sampled` follows.
    fn wants_sample(&mut self, _: Effort, _forks: u64) -> bool {
        false
    }
    /// That was explored, to the end or not.
    fn sampled(&mut self, _: Effort, _forks: u64, _ended: bool) {}
    /// The state was subsumed by `by`, as the last `check_subsumed` said.
    fn on_subsumed(&mut self, state: &mut State, by: NodeId, logic: &mut dyn PathOracle);
    /// The state is taken as subsumed by `by`, as the last `check_subsumed` said. Its leaf closes as subsumed.
    fn on_assumed(&mut self, _state: Box<State>, _by: NodeId) {}
    /// States of leaves that were taken as subsumed and have to be explored after all. After each `close`; if there are
    /// some, the leaves and all nodes above them, that one included, are open again. `all`: nothing else is left to
    /// do, or the run ends, so that no such leaf may remain.
    fn take_reopened(&mut self, _all: bool) -> Vec<Box<State>> {
        Vec::new()
    }
    /// A tainted node yields nothing.
    fn close(&mut self, node: NodeId, tree: &Tree, logic: &mut dyn PathOracle);
    /// A speculation about the state, which is as it was at the last `check_subsumed`, has ended: whether everything
    /// was known, and what it cost in instructions.
    fn speculated(&mut self, _: &State, _known: bool, _instructions: u64) {}
    /// What was reached below a complete node, if that is kept ([`crate::CheckedPruner`]).
    fn known_below(&self, _: NodeId) -> Option<(&crate::reached_set::Blocks, &crate::reached_set::Reached)> {
        None
    }
    /// Statistics by name.
    fn statistics(&self) -> Vec<(String, u64)> {
        Vec::new()
    }
    /// Time spent, by part.
    fn times(&self) -> Vec<(String, std::time::Duration)> {
        Vec::new()
    }
}

/// Learns nothing.
pub struct NoPruner;
impl Pruner for NoPruner {
    fn check_subsumed(&mut self, _: &mut State, _: &Tree, _: &mut dyn PathOracle) -> PruneDecision {
        PruneDecision::Continue
    }
    fn open(&mut self, _: NodeId, _: &mut State, _: &Tree) {}
    fn ended(&mut self, _: &mut State, _: &crate::outcome::End, _: &mut dyn PathOracle) {}
    fn on_subsumed(&mut self, _: &mut State, _: NodeId, _: &mut dyn PathOracle) {}
    fn close(&mut self, _: NodeId, _: &Tree, _: &mut dyn PathOracle) {}
}

/// Checks a searcher: what it selects is there, and it never forgets a state.
pub struct CheckedSearcher<S> {
    inner: S,
    waiting: std::collections::BTreeSet<StateId>,
}

impl<S: Searcher> CheckedSearcher<S> {
    pub fn new(inner: S) -> Self {
        CheckedSearcher { inner, waiting: Default::default() }
    }
}

impl<S: Searcher> Searcher for CheckedSearcher<S> {
    fn select(&mut self, view: View) -> Option<StateId> {
        let chosen = self.inner.select(view);
        match chosen {
            Some(id) => assert!(self.waiting.contains(&id), "{} chose a state it does not have", self.inner.name()),
            None => assert!(self.waiting.is_empty(), "{} forgot {} states", self.inner.name(), self.waiting.len()),
        }
        chosen
    }
    fn update(&mut self, current: Option<StateId>, added: &[StateId], removed: &[StateId], view: View) {
        for a in added {
            assert!(self.waiting.insert(*a), "a state was added twice");
        }
        for r in removed {
            assert!(self.waiting.remove(r), "a state was removed that was not there");
        }
        self.inner.update(current, added, removed, view);
    }
    fn name(&self) -> String {
        self.inner.name()
    }
}
