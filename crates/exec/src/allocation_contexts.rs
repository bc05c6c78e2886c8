//! Guessing by contexts which objects a pointer means.
//!
//! *Paper*: Memory §3.2.3.3, context-based resolution. *Idea*: objects that one instruction accesses were mostly made
//! by the same calls. The context of an object is its allocation with the last k calls under way. Where an instruction
//! meets a pointer again, candidates with a context that was among its targets before are queried one by one. All
//! others are excluded by a single query, or queried as well. *Invariant*: the targets found are the possible ones,
//! with contexts or without: guards of candidates are disjoint and complete. *Deviations*: the candidates are those
//! that the pointer mentions, not all objects; where every one of them is likely, the final query is left out, because
//! there is nothing else the pointer could refer to. A pointer that only the solver can resolve is enumerated by
//! models, which yields feasible objects only; contexts choose the segment that is tried first.

use crate::config::Resolution;
use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use crate::multi_target_access::TargetAccess;
use pleach_expr::Terms;
use pleach_memory::{ObjId, Site};
use pleach_state::{Cut, State};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// Contexts of the objects that were targets at an instruction, on any path.
#[derive(Default)]
pub(crate) struct Contexts {
    /// by function and instruction
    seen: FxHashMap<(u32, u32), FxHashSet<Site>>,
}

impl Machine {
    fn uses_contexts(&self) -> bool {
        self.model.resolution() == Resolution::SegmentsDynamic && self.config.contexts.is_some()
    }

    /// The last calls under way, as a number, for the context of an object made now. Equal numbers for different calls
    /// do no harm.
    pub(crate) fn calls_under_way(&self, st: &State) -> u32 {
        let Some(calls) = self.config.contexts.filter(|_| self.uses_contexts()) else { return 0 };
        let mut h = FxHasher::default();
        let mut callers = st.callers.as_deref();
        for _ in 0..calls {
            let Some(c) = callers else { break };
            (c.frame.func.0, c.frame.inst).hash(&mut h);
            callers = c.below.as_deref();
        }
        (h.finish() ^ h.finish() >> 32) as u32
    }

    /// Whether an object with this one's context was a target here before.
    pub(crate) fn is_likely(&self, st: &State, obj: ObjId) -> bool {
        let Some(seen) = self.contexts.seen.get(&(st.frame.func.0, st.inst)) else { return false };
        st.memory.header(obj).is_some_and(|o| seen.contains(&o.site))
    }

    pub(crate) fn learn_contexts(&mut self, st: &State, objects: impl Iterator<Item = ObjId>) {
        if !self.uses_contexts() {
            return;
        }
        let contexts = objects.filter_map(|o| st.memory.header(o)).map(|o| o.site);
        self.contexts.seen.entry((st.frame.func.0, st.inst)).or_default().extend(contexts);
    }

    /// The targets that are possible on this path; those in one segment need not be.
    pub(crate) fn possible_targets(
        &mut self,
        st: &mut State,
        targets: Vec<TargetAccess>,
    ) -> StepResult<Vec<TargetAccess>> {
        let before = self.queries;
        let verdicts = self.by_context(st, &targets);
        let mut kept = Vec::with_capacity(targets.len());
        for (t, verdict) in targets.into_iter().zip(verdicts) {
            let stays = match verdict {
                Some(known) => known,
                // Without an answer it stays among them.
                None => !matches!(self.is_satisfiable(st, t.0), Ok(None)),
            };
            if stays {
                kept.push(t);
            }
        }
        self.resolved.queries += self.queries - before;
        if kept.is_empty() {
            return Err(Flow::cut(Cut::Solver("no target of a pointer is possible".into())));
        }
        self.learn_contexts(st, kept.iter().map(|t| t.1));
        Ok(kept)
    }

    /// Which targets stay or go without a query of their own.
    fn by_context(&mut self, st: &mut State, targets: &[TargetAccess]) -> Vec<Option<bool>> {
        let undecided = vec![None; targets.len()];
        if !self.uses_contexts() {
            return undecided;
        }
        let likely: Vec<bool> = targets.iter().map(|t| self.is_likely(st, t.1)).collect();
        let segments = targets.iter().zip(&likely).filter(|t| *t.1).map(|t| st.memory.segment_of(t.0.1).map(|s| s.0));
        let segments: Vec<Option<ObjId>> = segments.collect();
        // Nothing is known about the place.
        let Some(&first) = segments.first() else { return undecided };
        let segment = first.filter(|_| segments.iter().all(|h| *h == first));
        let in_segment = |t: &TargetAccess| segment.is_some() && st.memory.segment_of(t.1).map(|s| s.0) == segment;
        let verdicts = targets.iter().zip(likely).map(|(t, likely)| match in_segment(t) {
            // It is with the likely ones already; nothing is to be moved for it.
            true => Some(true),
            false if likely => None,
            false => Some(false),
        });
        let verdicts: Vec<Option<bool>> = verdicts.collect();
        let rest = targets.iter().zip(&verdicts).filter(|t| *t.1 == Some(false)).map(|t| t.0.0);
        let rest: Vec<_> = rest.collect();
        // A single one takes one query anyway.
        if rest.len() < 2 && segment.is_none() {
            return undecided;
        }
        let any = rest.into_iter().fold(Terms::FALSE, |all, g| self.terms.or(all, g));
        if matches!(self.is_satisfiable(st, any), Ok(None)) {
            self.resolved.context_hits += 1;
            return verdicts;
        }
        self.resolved.context_misses += 1;
        undecided
    }
}
