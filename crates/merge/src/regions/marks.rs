//! Regions that the program marks.

use super::{Extent, Merging};
use crate::config::{MergeEvent, MergeScope};
use crate::loops::Mark;
use pleach_state::{NodeId, RegionId, State, StopPoints};

impl Merging {
    /// The state has just passed a mark.
    pub(super) fn new_mark(&mut self, state: &State) -> Option<Mark> {
        if !self.config.scopes.contains(&MergeScope::Marked) {
            return None;
        }
        let mark = self.facts.of(state.frame.func).mark_before(state.inst)?;
        // A fork at the next instruction leaves its children there.
        (self.passed.insert(state.node, state.position()) != Some(state.position())).then_some(mark)
    }

    /// Deals with a mark; whether the state waits.
    pub(super) fn pass_mark(&mut self, mark: Mark, state: &State) -> bool {
        let marked = self.marked_region(state.node);
        let event = match (mark, marked) {
            (Mark::Open, _) => MergeEvent::Open,
            (Mark::Close, Some(_)) => MergeEvent::Close,
            (Mark::Close, None) => MergeEvent::StrayClose,
        };
        if let Some(tell) = self.config.on_mark {
            tell(event, state);
        }
        match event {
            MergeEvent::Open => {
                let current = self.leaves.remove(&state.node);
                let blocks = self.facts.of(state.frame.func).no_block();
                let stop = StopPoints { func: state.frame.func, depth: 0, blocks };
                let id = self.open_region(Extent::Marked, stop, state.path.clone(), current);
                self.enter(state.node, Some(id));
                current.into_iter().for_each(|c| self.leave(c));
                false
            }
            // Regions inside are left without waiting.
            MergeEvent::Close => {
                while let Some(&id) = self.leaves.get(&state.node)
                    && Some(id) != marked
                {
                    let outer = self.regions.get(&id).and_then(|r| r.outer);
                    self.leaves.remove(&state.node);
                    self.enter(state.node, outer);
                    self.leave(id);
                }
                true
            }
            MergeEvent::StrayClose => false,
        }
    }

    /// The innermost marked region around a leaf.
    fn marked_region(&self, leaf: NodeId) -> Option<RegionId> {
        let first = self.leaves.get(&leaf).copied();
        let outer = |id: &RegionId| self.regions.get(id).and_then(|r| r.outer);
        let is_marked = |id: &RegionId| self.regions.get(id).is_some_and(|r| r.extent == Extent::Marked);
        std::iter::successors(first, outer).find(is_marked)
    }
}
