//! All targets at once, function by function, before any of them is decided alone.

use crate::queries::Wanted;
use crate::{Answered, TargetQuery, Work};
use pleach_backward::{Answer, Clock, Effects, Effort, Goal, InputHeap, Loops, SurveyOptions, Surveyed, survey};
use pleach_command::CliError;
use pleach_ir::FuncId;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A target by its row, and which of the row's queries it is.
pub type Key = (usize, usize);

/// Time for one target in a function, without a limit of the run.
const EACH: Duration = Duration::from_secs(1);
/// … and at least, with one.
const LEAST: Duration = Duration::from_millis(50);

impl Work<'_> {
    /// Answers for the targets that are decided together with the others of their functions.
    pub(crate) fn survey(&mut self, wanted: &[Wanted]) -> Result<(), CliError> {
        if self.climber.is_some() || !self.args.survey {
            return Ok(());
        }
        let effects = Arc::new(Effects::new(self.program, &self.calls));
        let most = |inline: u32| inline.min(self.args.config.inline);
        let within = |k: u32| Loops::Unwind(k.min(self.args.config.unwind));
        let mut levels = vec![
            vec![(Loops::Havoc, 0), (Loops::Havoc, most(1)), (Loops::Havoc, most(2))],
            vec![(within(1), most(1)), (within(3), most(2))],
        ];
        for of_kind in &mut levels {
            of_kind.dedup();
            let mut candidates = BTreeMap::new();
            for &(loops, inline) in of_kind.iter() {
                self.look(wanted, (loops, inline), &effects, &mut candidates);
            }
            self.confirm_all(wanted, &candidates)?;
        }
        Ok(())
    }

    /// The targets that have no answer yet, function by function.
    fn look(
        &mut self,
        wanted: &[Wanted],
        (loops, inline): (Loops, u32),
        effects: &Arc<Effects>,
        candidates: &mut BTreeMap<Key, (InputHeap, Effort)>,
    ) {
        let by_entry = self.open_by_entry(wanted);
        let mut left: usize = by_entry.values().map(Vec::len).sum();
        for (entry, keys) in by_entry {
            let targets: Vec<BTreeSet<Goal>> =
                keys.iter().map(|&(row, k)| wanted[row].queries[k].goals.clone()).collect();
            let (clock, each) = self.time_for(keys.len(), left);
            left -= keys.len();
            let (effects, calls) = (effects.clone(), self.calls.clone());
            let look = SurveyOptions { config: &self.args.config, effects, calls, loops, inline, clock, each };
            let mut refuted = Vec::new();
            let found = survey(self.program, entry, &targets, &look, &mut |k, found, effort| match found {
                Surveyed::Refuted => refuted.push((keys[k], effort)),
                Surveyed::Candidate(heap) => drop(candidates.insert(keys[k], (heap, effort))),
                Surveyed::Open(_) => {}
            });
            // Without an answer for the function each target is decided alone.
            let Ok(assumed) = found else { continue };
            for (key, effort) in refuted {
                candidates.remove(&key);
                self.assumed.extend(assumed.iter().cloned());
                self.surveyed.insert(key, refutation(effort));
            }
        }
    }

    /// Targets that begin in the function they are in, by that function.
    fn open_by_entry(&self, wanted: &[Wanted]) -> BTreeMap<FuncId, Vec<Key>> {
        let mut all: BTreeMap<FuncId, Vec<Key>> = BTreeMap::new();
        for (row, w) in wanted.iter().enumerate() {
            for (k, q) in w.queries.iter().enumerate() {
                let own = !q.goals.is_empty() && q.goals.iter().all(|g| g.place().0 == q.entry);
                if own && !self.surveyed.contains_key(&(row, k)) {
                    all.entry(q.entry).or_default().push((row, k));
                }
            }
        }
        all
    }

    /// Time for a function with this many of the targets that are left, and for each of them: together half of what the
    /// run has left.
    fn time_for(&self, targets: usize, left: usize) -> (Clock, Option<Duration>) {
        let Some(deadline) = self.deadline else { return (Clock::default(), Some(EACH)) };
        let time = deadline.saturating_duration_since(Instant::now()) / 2;
        let share = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).max(1);
        let each = time / share(left);
        let own = (each * share(targets)).max(LEAST);
        (Clock::new(Some(own), Some(deadline)), Some(each.clamp(LEAST, EACH)))
    }

    /// Runs the candidates natively; those that do what they should are answers.
    fn confirm_all(
        &mut self,
        wanted: &[Wanted],
        candidates: &BTreeMap<Key, (InputHeap, Effort)>,
    ) -> Result<(), CliError> {
        let mut by_source: BTreeMap<String, Vec<(Key, &TargetQuery, &InputHeap)>> = BTreeMap::new();
        for (&(row, k), (heap, _)) in candidates {
            let query = &wanted[row].queries[k];
            let source = crate::source_of(self.program, query.entry, &self.args.files);
            by_source.entry(source).or_default().push(((row, k), query, heap));
        }
        for (number, (source, all)) in by_source.into_iter().enumerate() {
            let inputs: Vec<(&TargetQuery, &InputHeap)> = all.iter().map(|(_, q, h)| (*q, *h)).collect();
            let notes = self.confirmer.confirm_all(self.program, &source, &inputs, number + 1, self.deadline)?;
            for ((key, _, heap), note) in all.into_iter().zip(notes) {
                let Some(replay) = note else { continue };
                let answer = Answer::Reachable(heap.clone());
                let answered = Answered { answer, effort: candidates[&key].1, replay, note: String::new() };
                self.surveyed.insert(key, answered);
            }
        }
        Ok(())
    }
}

fn refutation(effort: Effort) -> Answered {
    let answer = Answer::Unreachable { unbounded: true };
    Answered { answer, effort, replay: String::new(), note: String::new() }
}
