//! The account of a run that left none: it was killed, or its disk was full. What is there is read as far as it can be
//! read.

use std::collections::BTreeSet;
use std::path::Path;

use crate::error::Result;
use crate::model::{ErrorRecord, Prediction, StackFrame, TestCase};
use crate::rundir::RunDir;
use crate::stats::{self, StatsRow};
use crate::summary::{Cut, Paths, Summary, Timing};
use crate::tree::{NodeStatus, TreeReader};

/// Why a run without an account is not complete, as in [`Cut::reason`].
pub const KILLED: &str = "killed";

/// What could be read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recovered {
    /// made from what is there
    pub summary: Summary,
    /// the same
    pub timing: Timing,
    /// what could not be read, in sentences
    pub damage: Vec<String>,
}

impl RunDir {
    /// Whether the run is still going on: its process holds a lock.
    pub fn is_going_on(&self) -> bool {
        let tree = std::fs::File::open(self.file("tree.bin"));
        tree.is_ok_and(|f| matches!(f.try_lock_shared(), Err(std::fs::TryLockError::WouldBlock)))
    }

    /// The account of a run that left none.
    pub fn recover(&self) -> Result<Recovered> {
        let info = self.run_info()?;
        let (tests, mut damage) = self.readable_tests()?;
        let tree = tree(&self.file("tree.bin"), &mut damage);
        let (last, peak) = samples(&self.file("stats.db"), &mut damage);
        let count = |status| tree.count(status) as u64;
        // Leaves that wait are not in the tree yet.
        let open = count(NodeStatus::Live).max(last.states).max(1);
        let cut = Cut { reason: KILLED.into(), count: open, detail: String::new() };
        let errors = self.errors(&tests);
        let summary = Summary {
            paths: Paths {
                completed: count(NodeStatus::Completed),
                errored: count(NodeStatus::Errored),
                cut: count(NodeStatus::Cut) + open,
                pruned: count(NodeStatus::Pruned),
                merged: count(NodeStatus::Merged),
            },
            verdict: if errors.is_empty() { "unknown" } else { "unsafe" }.into(),
            errors,
            cut: vec![cut],
            flags: info.command.iter().skip(2).cloned().collect(),
            version: env!("CARGO_PKG_VERSION").into(),
            entry: info.entry,
            sources: info.sources.iter().map(|s| s.display().to_string()).collect(),
            tests: tests.len() as u64,
            instructions: last.instructions,
            forks: last.forks,
            states_peak: peak,
            warnings: damage.clone(),
            ..Summary::default()
        };
        let timing = Timing {
            elapsed_us: last.elapsed_us,
            memory_peak_bytes: last.memory_bytes,
            components_us: [("solver.time".to_owned(), last.solver_time_us)].into(),
            ..Timing::default()
        };
        Ok(Recovered { summary, timing, damage })
    }

    /// Errors that have a report of their own: the first of their kind and place.
    fn errors(&self, tests: &[TestCase]) -> Vec<ErrorRecord> {
        let entries = std::fs::read_dir(self.path()).into_iter().flatten().flatten();
        let names: BTreeSet<String> = entries.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
        let record = |test: &TestCase| {
            let Prediction::Error { kind, file, line, message } = &test.predicted else { return None };
            let (file, line, message) = (file.clone(), *line, message.clone());
            names.contains(&format!("{}.{kind}.err", test.id.stem())).then(|| ErrorRecord {
                kind: *kind,
                stack: vec![StackFrame { function: String::new(), file: file.clone(), line, column: 0 }],
                file,
                line,
                column: 0,
                message,
                test: Some(test.id),
            })
        };
        tests.iter().filter_map(record).collect()
    }
}

fn tree(path: &Path, damage: &mut Vec<String>) -> TreeReader {
    match TreeReader::open_damaged(path) {
        Ok((tree, None)) => tree,
        Ok((tree, Some(why))) => {
            damage.push(format!("tree.bin is read up to where it is damaged: {why}"));
            tree
        }
        Err(why) => {
            damage.push(why.to_string());
            TreeReader::default()
        }
    }
}

/// The last sample, and most states at a time.
fn samples(path: &Path, damage: &mut Vec<String>) -> (StatsRow, u64) {
    let (rows, why) = stats::read_damaged(path);
    damage.extend(why.map(|why| format!("stats.db is read up to where it is damaged: {why}")));
    let peak = rows.iter().map(|r| r.states).max().unwrap_or(0);
    (rows.last().copied().unwrap_or_default(), peak)
}

#[cfg(test)]
#[path = "recover_tests.rs"]
mod tests;
