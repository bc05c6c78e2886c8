//! Why a line was not executed, as far as the run directory knows.
//!
//! A run that followed every path to its end has shown that a line is unreachable. Pruning in `verify` and `reach` keeps
//! errors and targets, not lines: there it shows nothing about lines.

use crate::Run;
use pleach_report::{FileCoverage, NodeStatus};
use serde::Serialize;
use std::collections::BTreeMap;

/// Why no path executes a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Why {
    /// Every path was followed to its end, and none executes it.
    Unreachable,
    /// The same, under the assumptions of the run.
    UnreachableAssuming,
    /// The same, but an error ended paths that might have come to it.
    UnreachableBeforeErrors,
    /// Subsumed paths may execute it.
    Pruned,
    /// Paths were cut in its function.
    Cut,
    /// Its function was not called on an explored path.
    NotCalled,
    /// No explored path came to it.
    NeverReached,
}

impl Why {
    pub const ALL: [Why; 7] = [
        Why::Unreachable,
        Why::UnreachableAssuming,
        Why::UnreachableBeforeErrors,
        Why::Pruned,
        Why::Cut,
        Why::NotCalled,
        Why::NeverReached,
    ];

    /// A word or two for the margin.
    pub fn label(self) -> &'static str {
        match self {
            Why::Unreachable | Why::UnreachableAssuming | Why::UnreachableBeforeErrors => "unreachable",
            Why::Pruned => "pruned",
            Why::Cut => "cut",
            Why::NotCalled => "not called",
            Why::NeverReached => "never reached",
        }
    }

    pub fn sentence(self) -> &'static str {
        match self {
            Why::Unreachable => "All paths were explored, and none executes this line.",
            Why::UnreachableAssuming => {
                "All paths that satisfy the assumptions of the run were explored, and none executes this line."
            }
            Why::UnreachableBeforeErrors => {
                "All paths were explored, and none executes this line before it ends. Some end in an error."
            }
            Why::Pruned => {
                "No explored path executes this line. Pruned paths may: this command keeps errors, not lines."
            }
            Why::Cut => "No explored path executes this line. Paths were cut in this function before they came to it.",
            Why::NotCalled => "No explored path calls this function. Not everything was explored.",
            Why::NeverReached => "No explored path came to this line. Not everything was explored.",
        }
    }
}

/// For each line with code that was not executed.
pub fn reasons(run: &Run, name: &str, file: &FileCoverage) -> BTreeMap<u32, Why> {
    let unexecuted = file.lines.iter().filter(|(_, n)| **n == 0).map(|(line, _)| *line);
    if let Some(why) = whole_run(run) {
        return unexecuted.map(|line| (line, why)).collect();
    }
    let proved = proved_unreachable(run, name);
    let cuts: Vec<u32> = run
        .tree
        .nodes
        .values()
        .filter(|n| n.status == NodeStatus::Cut && run.tree.file(n) == name)
        .map(|n| n.line)
        .collect();
    let reason = |line: u32| {
        let (from, to, called) = function_around(file, line);
        match () {
            () if proved.contains(&line) => Why::Unreachable,
            () if !called => Why::NotCalled,
            () if cuts.iter().any(|cut| (from..to).contains(cut)) => Why::Cut,
            () => Why::NeverReached,
        }
    };
    unexecuted.map(|line| (line, reason(line))).collect()
}

/// Where the same holds of every line that was not executed.
fn whole_run(run: &Run) -> Option<Why> {
    let s = &run.summary;
    // Only `test` without or with pruning keeps lines; `verify` names its property and `reach` has targets.
    let keeps_lines = s.property.is_empty() && s.targets.is_empty() || s.paths.pruned == 0;
    match (s.complete, keeps_lines) {
        (false, _) => None,
        (true, false) => Some(Why::Pruned),
        (true, true) if !s.errors.is_empty() => Some(Why::UnreachableBeforeErrors),
        (true, true) if !s.assumptions.is_empty() => Some(Why::UnreachableAssuming),
        (true, true) => Some(Why::Unreachable),
    }
}

/// Lines that `reach` proved unreachable.
fn proved_unreachable(run: &Run, name: &str) -> Vec<u32> {
    let targets = run.summary.targets.iter().filter(|t| t.result == "unreachable");
    let at = targets.filter_map(|t| t.at.rsplit_once(':')).filter(|(file, _)| *file == name);
    at.filter_map(|(_, line)| line.parse().ok()).collect()
}

/// The function that a line is in: its first line, the first line of the next one, and whether it was called.
fn function_around(file: &FileCoverage, line: u32) -> (u32, u32, bool) {
    let around = file.functions.values().filter(|f| f.line <= line).max_by_key(|f| f.line);
    let next = file.functions.values().map(|f| f.line).filter(|l| *l > line).min().unwrap_or(u32::MAX);
    around.map_or((0, next, true), |f| (f.line, next, f.count > 0))
}
