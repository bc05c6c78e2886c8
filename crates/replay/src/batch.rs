//! Replaying all tests of a run.

use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use pleach_report::{RunDir, TestCase, TestId};
use serde::Serialize;

use crate::error::{ReplayError, Result};
use crate::native::{Replayer, Report};
use crate::options::Options;
use crate::verdict::{Verdict, describe};

/// Of more tests than this, those that agree are not listed.
const MAX_LISTED: usize = 1000;

/// How far a batch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Tests done.
    pub done: usize,
    /// All tests.
    pub total: usize,
}

/// How many tests got which verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Did what was predicted.
    pub agrees: usize,
    /// Did something else.
    pub disagrees: usize,
    /// Not decided.
    pub undetermined: usize,
}

/// One row of a batch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Replayed {
    /// The test.
    pub test: TestId,
    /// What was predicted, as text.
    pub predicted: String,
    /// What was observed, as text.
    pub observed: String,
    /// The verdict.
    pub verdict: Verdict,
}

impl Counts {
    /// Counts verdicts.
    pub fn of(rows: &[Replayed]) -> Self {
        let mut counts = Self::default();
        for row in rows {
            match row.verdict {
                Verdict::Agrees => counts.agrees += 1,
                Verdict::Disagrees { .. } => counts.disagrees += 1,
                Verdict::Undetermined { .. } => counts.undetermined += 1,
            }
        }
        counts
    }
}

/// Replays tests of the run, `options.jobs` at a time; rows are in the order of the tests. `progress` is called after
/// each test, from any of the threads. Tests that were not begun when `stop` was set have no row.
pub fn replay_all(
    run: &RunDir,
    tests: &[TestCase],
    options: Options,
    stop: &AtomicBool,
    progress: &(dyn Fn(Progress, &Report) + Sync),
) -> Result<Vec<Replayed>> {
    let jobs = options.jobs.clamp(1, 64).min(tests.len().max(1));
    let replayer = Replayer::new(run, options)?;
    let (next, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let rows: Mutex<Vec<Replayed>> = Mutex::default();
    let failure: Mutex<Option<ReplayError>> = Mutex::default();
    let work = || {
        while let Some(test) = tests.get(next.fetch_add(1, Ordering::Relaxed)) {
            if stop.load(Ordering::Relaxed) {
                return;
            }
            match replayer.replay_of_many(test) {
                Ok(report) => {
                    let done = done.fetch_add(1, Ordering::Relaxed) + 1;
                    progress(Progress { done, total: tests.len() }, &report);
                    rows.lock().unwrap_or_else(|e| e.into_inner()).push(row(test, report));
                }
                Err(error) => {
                    // What fails for one test (no compiler, does not build) fails for all.
                    next.store(tests.len(), Ordering::Relaxed);
                    *failure.lock().unwrap_or_else(|e| e.into_inner()) = Some(error);
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs {
            scope.spawn(work);
        }
        work();
    });
    if let Some(error) = failure.into_inner().unwrap_or_else(|e| e.into_inner()) {
        return Err(error);
    }
    let mut rows = rows.into_inner().unwrap_or_else(|e| e.into_inner());
    rows.sort_by_key(|r| r.test);
    Ok(rows)
}

fn row(test: &TestCase, report: Report) -> Replayed {
    Replayed {
        test: test.id,
        predicted: describe(&test.predicted),
        observed: report.observed.to_string(),
        verdict: report.verdict,
    }
}

/// The rows as a table with the counts below. Of many tests those that agree are only counted.
pub fn table(rows: &[Replayed]) -> String {
    let all = rows;
    let few: Vec<Replayed>;
    let rows = if all.len() > MAX_LISTED {
        few = all.iter().filter(|r| r.verdict != Verdict::Agrees).cloned().collect();
        &few
    } else {
        all
    };
    let width = rows.iter().map(|r| r.predicted.chars().count()).max().unwrap_or(0).clamp(9, 60);
    let mut out = String::new();
    if !rows.is_empty() {
        let _ = writeln!(out, "{:<11} {:<13} {:<width$} observed", "test", "verdict", "predicted");
    }
    for row in rows {
        let _ = writeln!(
            out,
            "{:<11} {:<13} {:<width$} {}",
            row.test.stem(),
            row.verdict.as_str(),
            row.predicted,
            row.observed
        );
    }
    let counts = Counts::of(all);
    let unlisted = if rows.len() < all.len() { " (not listed)" } else { "" };
    let _ = writeln!(
        out,
        "{} tests: {} agree{unlisted}, {} disagree, {} undetermined",
        all.len(),
        counts.agrees,
        counts.disagrees,
        counts.undetermined
    );
    out
}
