//! Regions whose states have waited for too long: they go on separately.

use super::{Extent, Merging};
use pleach_state::{Group, RegionId};

impl Merging {
    /// When a region that is opened now is abandoned, if it may be.
    pub(super) fn until(&self, extent: Extent) -> Option<u64> {
        match extent {
            Extent::Loop(func, l) if self.config.trials => self.wait_budget.until((func, l)),
            _ => None,
        }
    }

    pub(super) fn is_worth_opening(&self, extent: Extent) -> bool {
        !self.config.trials || !matches!(extent, Extent::Loop(..)) || self.until(extent).is_some()
    }

    /// Abandons the regions that have taken too long.
    pub(super) fn abandon_overdue(&mut self, now: u64) {
        self.wait_budget.is_at(now);
        let overdue: Vec<RegionId> =
            self.regions.iter().filter(|(_, r)| r.until.is_some_and(|u| u < now)).map(|(&id, _)| id).collect();
        overdue.into_iter().for_each(|id| self.abandon(id));
    }

    /// Who waits in the region goes on, as if it had not been opened; so does who runs in it.
    fn abandon(&mut self, id: RegionId) {
        let Some(mut r) = self.regions.remove(&id) else { return };
        if let Extent::Loop(func, l) = r.extent {
            self.wait_budget.abandon((func, l), r.began);
        }
        let held = std::mem::take(&mut r.held);
        let running = r.inside - held.len();
        held.iter().for_each(|h| {
            self.leaves.remove(&h.node);
        });
        let waiting = r.waiting.into_members().flatten().chain(held);
        self.early.extend(waiting.map(|m| Group { members: vec![m], before: r.before.clone(), outer: r.outer }));
        match r.outer {
            Some(outer) => self.leaves.values_mut().filter(|at| **at == id).for_each(|at| *at = outer),
            None => self.leaves.retain(|_, at| *at != id),
        }
        let inner = self.regions.values_mut().filter(|i| i.outer == Some(id));
        inner.for_each(|i| i.outer = r.outer);
        if let Some(o) = r.outer.and_then(|o| self.regions.get_mut(&o)) {
            o.inside += running;
            o.inner = o.inner - 1 + r.inner;
        }
    }
}
