//! What an exploration says of each target.

use crate::replay_note::NOT_REPLAYED;
use crate::result::ExplorationResult;
use crate::session::Session;
use crate::target_replay::{CONTRADICTS, replay_targets};
use crate::target_tracker::{TargetTracker, TargetWatch};
use pleach::number_format;
use pleach_ir::{FuncId, InstId, Program};
use pleach_replay::Options;
use pleach_report::TargetResult;
use pleach_verify::split::{Moved, split};
use pleach_verify::target::{Target, TargetLocations};
use std::collections::BTreeSet;
use std::rc::Rc;

impl Session {
    /// Splits blocks so that each target begins one. Returns where the targets are then.
    pub fn split_at(&mut self, targets: &[Target]) -> Vec<TargetWatch> {
        let (program, moved) = split(&self.program, &targets.iter().flat_map(locations).collect());
        self.program = Rc::new(program);
        targets.iter().map(|t| watch(&self.program, t, &moved)).collect()
    }

    /// A row of the table of targets.
    pub fn target_row(&self, target: &Target, result: &str, reason: String) -> TargetResult {
        let path = pleach::relative(self.program.path(target.span), &self.directory);
        let at = if target.span.is_known() { format!("{path}:{}", target.span.line) } else { String::new() };
        TargetResult { target: target.name.clone(), at, result: result.into(), reason, ..TargetResult::default() }
    }

    /// A row for each target of an exploration that has ended. Tests are replayed natively if there are options for it.
    pub fn target_results(
        &self,
        targets: &[Target],
        tracker: &TargetTracker,
        found: &ExplorationResult,
        replay: Option<Options>,
    ) -> Vec<TargetResult> {
        let reached = (0..targets.len()).filter_map(|i| Some((i, tracker.test(i)?)));
        let tests: Vec<_> = reached.map(|(i, test)| (test, tracker.lines(i, &self.program))).collect();
        let replays = replay.map(|options| replay_targets(&found.dir, &tests, options));
        let mut replays = replays.unwrap_or_default().into_iter();
        let mut one = |(i, target): (usize, &Target)| {
            let Some(test) = tracker.test(i) else { return self.not_reached(target, found) };
            let replay = replays.next().unwrap_or_else(|| NOT_REPLAYED.into());
            let contradicted = replay.starts_with(CONTRADICTS);
            let (result, reason) =
                if contradicted { ("unknown", replay.clone()) } else { ("reachable", String::new()) };
            let row = self.target_row(target, result, reason);
            if !contradicted && let Err(why) = found.dir.keep_test(test) {
                eprintln!("pleach: {why}");
            }
            TargetResult { test: (!contradicted).then_some(test.id), replay, ..row }
        };
        targets.iter().enumerate().map(&mut one).collect()
    }

    fn not_reached(&self, target: &Target, found: &ExplorationResult) -> TargetResult {
        match found.not_explored().as_slice() {
            [] => {
                if let Some(n) = found.counters.rounds() {
                    let rounds = number_format::count(n.into(), "round");
                    let beyond = number_format::count(found.counters.cut, "path");
                    let reason = format!("no path leads there within {rounds} of each loop; {beyond} went on beyond");
                    return self.target_row(target, "unreachable-within", reason);
                }
                let under = if found.assumptions.is_empty() { "" } else { " under the assumptions below" };
                let nodes = number_format::count(found.nodes, "node");
                let unbounded = found.summary.loops.iter().any(pleach_report::summary::LoopRecord::is_proved);
                let any = if unbounded { ", for any number of iterations" } else { "" };
                let reason = format!("no path leads there{under}{any}: the whole tree has {nodes}");
                self.target_row(target, "unreachable", reason)
            }
            [only] => self.target_row(target, "unknown", only.clone()),
            [first, more @ ..] => {
                let more = number_format::count(more.len() as u64, "further reason");
                self.target_row(target, "unknown", format!("{first}, and {more} (below)"))
            }
        }
    }
}

impl ExplorationResult {
    /// Everything because of which a target that was not reached might still be.
    pub fn not_explored(&self) -> Vec<String> {
        let mut all = self.undefined.clone();
        if !self.finished {
            all.extend(self.counters.cuts.keys().map(|cut| pleach::cut_reason::reason(cut).describe()));
        }
        if all.is_empty() && !self.finished {
            all.push("the engine stopped on an internal error".into());
        }
        all
    }

    /// The topics of `pleach when` about [`not_explored`](Self::not_explored).
    pub fn open_topics(&self) -> Vec<&'static str> {
        let mut topics = Vec::new();
        if !self.undefined.is_empty() {
            topics.push("undefined");
        }
        if !self.finished {
            topics.extend(self.counters.cuts.keys().map(|cut| pleach::cut_reason::reason(cut).name));
        }
        if topics.is_empty() && !self.finished {
            topics.push("internal-error");
        }
        topics
    }
}

fn locations(target: &Target) -> Vec<(FuncId, InstId)> {
    match &target.locations {
        TargetLocations::At(all) => all.iter().copied().collect(),
        TargetLocations::Failing(f, i) => vec![(*f, *i)],
    }
}

/// Where the target is after the blocks were split.
fn watch(program: &Program, target: &Target, moved: &Moved) -> TargetWatch {
    let blocks: BTreeSet<_> = locations(target).into_iter().filter_map(|at| Some((at.0, *moved.get(&at)?))).collect();
    match target.locations {
        TargetLocations::At(_) => TargetWatch { blocks, failing: None },
        TargetLocations::Failing(..) => {
            let call = blocks.first().map(|(f, b)| (*f, program.function(*f).blocks[b.index()].first));
            TargetWatch { blocks: BTreeSet::new(), failing: call }
        }
    }
}
