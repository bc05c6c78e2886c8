//! The seams: small traits that techniques implement, and their no-op forms. The run loop knows only these.

use crate::event::{Event, Wanted};
use crate::state::{State, StateId};
use crate::tree::{NodeId, Tree};
use std::collections::BTreeMap;

/// The states that wait to be explored, by id.
pub type States = BTreeMap<StateId, Box<State>>;

/// Figures about where a state stands in the program, as of now.
pub trait Figures {
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
    pub figures: &'a dyn Figures,
}

/// Which state next?
pub trait Searcher {
    /// One of the states that were added and not removed; `None` when there is none.
    fn select(&mut self, view: View) -> Option<StateId>;
    /// `current` has been stepped (it may be among the removed); these came, these left.
    fn update(&mut self, current: Option<StateId>, added: &[StateId], removed: &[StateId], view: View);
    fn name(&self) -> String;
}

/// Sees what steps do. `wanted` is asked once per run.
pub trait StepObserver {
    fn wanted(&self) -> Wanted;
    fn observe(&mut self, state: &State, event: &Event);
}

/// Is everything below this state already known?
pub trait CoverCheck {
    /// The node whose interpolant covers the state.
    fn covered(&mut self, state: &State, tree: &Tree) -> Option<NodeId>;
}

/// Post-order: called when a node's last child ended. A tainted node yields nothing.
pub trait Interpolator {
    fn on_close(&mut self, node: NodeId, tree: &Tree);
}

/// Runs a state now or parks it for merging.
pub trait MergePolicy {
    fn park(&mut self, state: &State) -> bool;
}

pub struct NoObserver;
impl StepObserver for NoObserver {
    fn wanted(&self) -> Wanted {
        0
    }
    fn observe(&mut self, _: &State, _: &Event) {}
}

pub struct NeverCovered;
impl CoverCheck for NeverCovered {
    fn covered(&mut self, _: &State, _: &Tree) -> Option<NodeId> {
        None
    }
}

pub struct NoInterpolator;
impl Interpolator for NoInterpolator {
    fn on_close(&mut self, _: NodeId, _: &Tree) {}
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
