//! Non-uniform random search: a state is drawn with a probability proportional to its weight.
//!
//! The weights are KLEE's. *Deviations*: the instruction count of `icnt` is that of the block; `cpicnt` counts a whole
//! step for the call path at which the step ended.

use crate::rng::Rng;
use crate::search::Pdf;
use pleach_state::access_path::frames;
use pleach_state::seams::{Searcher, View};
use pleach_state::{State, StateId};
use rustc_hash::FxHashMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Weight {
    /// `depth`
    Depth,
    /// `2^-depth`
    RandomPath,
    /// `1 / visits²`
    InstCount,
    /// `1 / instructions on this call path`
    CallPathInstCount,
    /// `1 / seconds spent solving`, 1 below a tenth of a second
    QueryCost,
    /// `1 / md2u²`
    MinDistToUncovered,
    /// `1 / md2u² + 1 / (instructions since new coverage - 1000)²`
    CoveringNew,
}

/// Stands for "no way to uncovered code".
const FAR: u32 = 10_000;
/// At most this many frames distinguish call paths.
const FRAMES: usize = 64;

pub struct Weighted {
    weight: Weight,
    pdf: Pdf<StateId>,
    call_paths: CallPaths,
    rng: Rng,
}

impl Weighted {
    pub fn new(weight: Weight, rng: Rng) -> Weighted {
        Weighted { weight, pdf: Pdf::default(), call_paths: CallPaths::default(), rng }
    }

    fn weigh(&self, state: &State, view: View) -> f64 {
        let inverse = |n: f64| 1.0 / n.max(1.0);
        let near = || inverse(f64::from(view.statistics.to_uncovered(state).filter(|d| *d > 0).unwrap_or(FAR)));
        match self.weight {
            Weight::Depth => f64::from(state.depth),
            Weight::RandomPath => 0.5f64.powi(i32::try_from(state.depth).unwrap_or(i32::MAX)),
            Weight::InstCount => inverse(view.statistics.visits(state) as f64).powi(2),
            Weight::CallPathInstCount => inverse(self.call_paths.count(state) as f64),
            Weight::QueryCost => {
                let seconds = state.query_cost as f64 / 1e6;
                if seconds < 0.1 { 1.0 } else { 1.0 / seconds }
            }
            Weight::MinDistToUncovered => near().powi(2),
            Weight::CoveringNew => {
                let fresh = match state.since_new_coverage {
                    0 => 0.0,
                    n => inverse(n as f64 - 1000.0),
                };
                fresh.powi(2) + near().powi(2)
            }
        }
    }

    fn depends_on_progress(&self) -> bool {
        !matches!(self.weight, Weight::Depth | Weight::RandomPath)
    }
}

impl Searcher for Weighted {
    fn select(&mut self, _: View) -> Option<StateId> {
        let at = self.rng.unit();
        self.pdf.choose(at)
    }
    fn update(&mut self, current: Option<StateId>, added: &[StateId], removed: &[StateId], view: View) {
        if self.weight == Weight::CallPathInstCount {
            self.call_paths.update(current, added, removed, view);
        }
        for r in removed {
            self.pdf.remove(*r);
        }
        let stepped = current.filter(|c| self.depends_on_progress() && !removed.contains(c));
        for id in stepped.iter().chain(added) {
            if let Some(state) = view.states.get(id) {
                self.pdf.set(*id, self.weigh(state, view));
            }
        }
    }
    fn name(&self) -> String {
        crate::search::Strategy::Nurs(self.weight).as_str().into()
    }
}

/// Instructions by call path.
#[derive(Default)]
struct CallPaths {
    counts: FxHashMap<u64, u64>,
    /// instructions of each waiting state when last seen
    seen: FxHashMap<StateId, u64>,
}

impl CallPaths {
    fn key(state: &State) -> u64 {
        let mix =
            |h: u64, f: u32, i: u32| (h ^ (u64::from(f) << 32 | u64::from(i))).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let callers = frames(state).skip(1).take(FRAMES);
        callers.fold(mix(1, state.func().0, 0), |hash, (_, f)| mix(hash, f.func.0, f.inst))
    }

    fn count(&self, state: &State) -> u64 {
        self.counts.get(&Self::key(state)).copied().unwrap_or(0)
    }

    fn update(&mut self, current: Option<StateId>, added: &[StateId], removed: &[StateId], view: View) {
        // After a fork the first child tells how far the parent came.
        let before = current.and_then(|c| self.seen.get(&c).copied());
        let now = current.and_then(|c| view.states.get(&c)).or_else(|| view.states.get(added.first()?));
        if let (Some(before), Some(now)) = (before, now) {
            *self.counts.entry(Self::key(now)).or_default() += now.instructions.saturating_sub(before);
        }
        for r in removed {
            self.seen.remove(r);
        }
        let stepped = current.filter(|c| !removed.contains(c));
        for id in stepped.iter().chain(added) {
            if let Some(state) = view.states.get(id) {
                self.seen.insert(*id, state.instructions);
            }
        }
    }
}
