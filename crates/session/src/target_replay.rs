//! What native runs of tests show of the targets that the tests reach.

use crate::replay_note::impossible;
use pleach_replay::{Line, Options, ReplayError, Replayer, Verdict};
use pleach_report::{RunDir, TestCase};
use std::collections::{BTreeMap, BTreeSet};

/// How the note on a native run begins that did something else than was predicted.
pub const CONTRADICTS: &str = "native replay contradicts";

/// What native runs of the tests show of their targets, row by row; each test is run once for how it ends and once for
/// where it comes to.
pub fn replay_targets(dir: &RunDir, rows: &[(&TestCase, Vec<Line>)], options: Options) -> Vec<String> {
    let replayer = match Replayer::new(dir, options) {
        Ok(replayer) => replayer,
        Err(why) => return rows.iter().map(|_| impossible(&why)).collect(),
    };
    let (mut ends, mut passed) = (BTreeMap::new(), BTreeMap::new());
    let mut notes = Vec::new();
    for (test, lines) in rows {
        let end = ends.entry(test.id).or_insert_with(|| replayer.replay(test).map(|r| r.verdict));
        let passed = passed.entry(test.id).or_insert_with(|| {
            let of_test = rows.iter().filter(|r| r.0.id == test.id).flat_map(|r| r.1.iter().cloned());
            let all: Vec<Line> = of_test.collect::<BTreeSet<Line>>().into_iter().collect();
            let seen = replayer.passes(test, &all).unwrap_or_default();
            all.into_iter().zip(seen).collect::<BTreeMap<Line, Option<bool>>>()
        });
        notes.push(replay_text(end, ReplayOutcome::of(lines, passed)));
    }
    notes
}

/// Whether a native run came to one of the lines that a target stands for.
enum ReplayOutcome {
    Yes(String),
    No(String),
    /// no code of a line was found, or none of them can be watched
    Unknown,
}

impl ReplayOutcome {
    fn of(lines: &[Line], seen: &BTreeMap<Line, Option<bool>>) -> ReplayOutcome {
        let was = |l: &&Line, what| seen.get(*l).copied().flatten() == Some(what);
        let name = |l: &Line| format!("{}:{}", file_name(&l.file), l.line);
        match (lines.iter().find(|l| was(l, true)), lines.first()) {
            (Some(l), _) => ReplayOutcome::Yes(name(l)),
            (None, Some(l)) if lines.iter().all(|l| was(&l, false)) => ReplayOutcome::No(name(l)),
            _ => ReplayOutcome::Unknown,
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn replay_text(end: &Result<Verdict, ReplayError>, passed: ReplayOutcome) -> String {
    match (end, passed) {
        (Ok(Verdict::Agrees), ReplayOutcome::Yes(at)) => {
            format!("replayed natively: {at} was executed, and the program ended as predicted")
        }
        (Ok(Verdict::Agrees), ReplayOutcome::No(at)) => {
            format!("{CONTRADICTS}: the program ended as predicted, but {at} was not executed")
        }
        (Ok(Verdict::Agrees), ReplayOutcome::Unknown) => "replayed natively: the program ended as predicted".into(),
        (Ok(Verdict::Disagrees { expected, observed }), _) => {
            format!("{CONTRADICTS}: expected {expected}, but {observed}")
        }
        (Ok(Verdict::Undetermined { why }), ReplayOutcome::Yes(at)) => {
            format!("replayed natively: {at} was executed (how it ends is not decided: {why})")
        }
        (Ok(Verdict::Undetermined { why }), _) => format!("native replay does not decide it: {why}"),
        (Err(why), _) => impossible(why),
    }
}
