//! The seams: small traits that techniques implement, and their no-op forms. The run loop knows only these.

use crate::state::{State, StateId};
use crate::tree::Tree;
use std::collections::BTreeMap;

/// The states that wait to be explored, by id.
pub type States = BTreeMap<StateId, Box<State>>;

/// Metrics of a state's position in the program, as of now.
pub trait SearchMetrics {
    /// Instructions to the nearest block that no path has covered yet; `None` when there is no way to one.
    fn to_uncovered(&self, state: &State) -> Option<u32>;
    /// How often any path has been in the block where the state is.
    fn visits(&self, state: &State) -> u64;
    /// How many inputs are to be followed first.
    fn seeds(&self) -> u32 {
        0
    }
    /// Those of the seeds that satisfy the path constraint; its first `known` conjuncts hold for all of them.
    fn satisfied_seeds(&self, _state: &State, _among: &[u32], _known: usize) -> Vec<u32> {
        Vec::new()
    }
}

/// What a searcher may look at. A state that was removed may be gone from `states` already.
#[derive(Clone, Copy)]
pub struct View<'a> {
    pub states: &'a States,
    pub tree: &'a Tree,
    pub statistics: &'a dyn SearchMetrics,
}

/// Of states, by the order in which they were made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Age {
    Oldest,
    Newest,
}

/// Which state next?
pub trait Searcher {
    /// One of the states that were added and not removed; `None` when there is none.
    fn select(&mut self, view: View) -> Option<StateId>;
    /// `current` has been stepped (it may be among the removed); these came, these left.
    fn update(&mut self, current: Option<StateId>, added: &[StateId], removed: &[StateId], view: View);
    /// Which states it is likely to select last. They are evicted first at the memory limit.
    fn selects_last(&self) -> Age {
        Age::Oldest
    }
    fn name(&self) -> String;
}

impl Searcher for Box<dyn Searcher> {
    fn select(&mut self, view: View) -> Option<StateId> {
        (**self).select(view)
    }
    fn update(&mut self, current: Option<StateId>, added: &[StateId], removed: &[StateId], view: View) {
        (**self).update(current, added, removed, view);
    }
    fn selects_last(&self) -> Age {
        (**self).selects_last()
    }
    fn name(&self) -> String {
        (**self).name()
    }
}

/// Other explorations of the same program, which take turns with the run.
pub trait Portfolio {
    /// The run has cost so much so far, in units of [`Effort`]. True: another exploration has decided the program, so
    /// that the run may end.
    fn has_decided(&mut self, spent: u64) -> bool;
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

/// What a query costs in units of about one executed instruction; one that reaches a back end; the back end's polling
/// once more whether it should stop, which counts its search; a side of a fork, with its part of the end of a path.
const QUERY: u64 = 25;
const HARD_QUERY: u64 = 2500;
const STEP: u64 = 300;
const FORK: u64 = 75;

impl Effort {
    /// The effort in units of about one executed instruction, which do not depend on the clock.
    pub fn units(self, forks: u64) -> u64 {
        self.instructions + self.queries * QUERY + self.hard * HARD_QUERY + self.steps * STEP + forks * FORK
    }

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
    /// Adds a condition to a state's path constraint, which it has to allow; whether it does. `None`: not known.
    fn assume(&mut self, _: &mut State, _condition: pleach_expr::TermId) -> Option<bool> {
        None
    }
    /// From now on states may seem to be there that violate a quantifier of their path. For explorations that may
    /// follow paths which do not exist.
    fn weaken_quantifiers(&mut self, _: bool) {}
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
    fn selects_last(&self) -> Age {
        self.inner.selects_last()
    }
    fn name(&self) -> String {
        self.inner.name()
    }
}
