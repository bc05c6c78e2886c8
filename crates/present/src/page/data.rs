//! What the page shows, as JSON.

use super::packed_tree::PackedTree;
use super::uncovered::{self, Why};
use crate::run::outcome;
use crate::{Run, statistics};
use pleach_report::{ErrorRecord, FileCoverage, NodeStatus, Prediction, TestCase, input_text};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// More tests are not listed; those with an error or new coverage come first.
const MAX_TESTS: usize = 5000;
/// Longer files are shown up to here.
const MAX_LINES: usize = 50_000;
/// More interpolants are left out.
const MAX_INTERPOLANTS: usize = 50_000;
/// More points of a chart than it has pixels show nothing.
const MAX_SAMPLES: usize = 2000;
const MAX_COSTLY: usize = 20;

pub fn of(run: &Run, tree: &PackedTree) -> Value {
    let s = &run.summary;
    let name = |file: u32| run.tree.files.get(file as usize).map_or("", String::as_str);
    json!({
        "verdict": s.verdict,
        "text": run.text,
        "command": command(run),
        "directory": run.info.directory.display().to_string(),
        "run": run.dir.path().display().to_string(),
        "version": s.version,
        "statistics": statistics_of(run),
        "errors": s.errors.iter().map(|e| error(run, e)).collect::<Vec<_>>(),
        "tests": tests(run),
        "testsTotal": run.tests.len(),
        "cuts": cuts(run),
        "assumptions": s.assumptions.iter().map(|a| &a.clause).collect::<Vec<_>>(),
        "warnings": s.warnings,
        "damage": run.damage,
        "targets": s.targets,
        "loops": s.loops,
        "contracts": s.contracts,
        "why": Why::ALL.map(|w| json!({ "key": w, "label": w.label(), "sentence": w.sentence() })),
        "files": files(run),
        "cost": cost(run),
        "samples": samples(run),
        "treeCount": tree.count,
        "places": tree.places.iter().map(|(file, line)| json!([name(*file), line])).collect::<Vec<_>>(),
        "merged": run.tree.merged,
        "interpolants": interpolants(run),
        "interpolantsTotal": run.interpolants.len(),
    })
}

/// The command line, with the program's name instead of its path.
fn command(run: &Run) -> String {
    let mut words = run.info.command.clone();
    if let Some(first) = words.first_mut() {
        *first = first.rsplit('/').next().unwrap_or_default().to_owned();
    }
    words.join(" ")
}

/// The statistics of the summary, under the names that `summary.json` gives them.
fn statistics_of(run: &Run) -> Value {
    let s = &run.summary;
    json!({
        "complete": s.complete,
        "paths": s.paths,
        "errors": s.errors.len(),
        "tests": s.tests,
        "totals": s.totals,
        "instructions": s.instructions,
        "forks": s.forks,
        "states_peak": s.states_peak,
        "elapsed_us": run.timing.elapsed_us,
        "cpu_us": run.timing.cpu_us,
        "memory_peak_bytes": run.timing.memory_peak_bytes,
    })
}

fn error(run: &Run, e: &ErrorRecord) -> Value {
    let test = e.test.and_then(|id| run.tests.get(&id));
    let report = e.test.map(|id| run.dir.file(&format!("{}.{}.err", id.stem(), e.kind)));
    let report = report.and_then(|path| std::fs::read(path).ok());
    let leaf = test.and_then(|t| run.leaf(t));
    json!({
        "kind": e.kind,
        "message": e.message,
        "file": e.file,
        "line": e.line,
        "column": e.column,
        "stack": e.stack,
        "test": e.test,
        "node": leaf,
        "trace": e.test.and_then(|id| run.traces.get(&id)),
        "path": leaf.map(|leaf| run.path_to(leaf)),
        "inputs": test.map(inputs),
        "report": report.map(|text| String::from_utf8_lossy(&text).into_owned()),
        "reproduce": e.test.map(|id| format!("pleach replay {}/{}.ktest", run.dir.path().display(), id.stem())),
    })
}

fn inputs(test: &TestCase) -> Value {
    json!({ "lines": input_text::lines(test), "command": input_text::command(test) })
}

fn tests(run: &Run) -> Value {
    let mut all: Vec<&TestCase> = run.tests.values().collect();
    if all.len() > MAX_TESTS {
        let is_new = |t: &TestCase| t.covers_new || matches!(t.predicted, Prediction::Error { .. });
        all.sort_by_key(|t| (!is_new(t), t.id));
        all.truncate(MAX_TESTS);
    }
    let one = |t: &&TestCase| {
        let kind = match &t.predicted {
            Prediction::Exit { .. } => "completed",
            Prediction::Error { .. } => "errored",
            Prediction::Cut { reason } if reason == Prediction::MERGED => "merged",
            Prediction::Cut { .. } => "cut",
        };
        let (node, new) = (run.leaf(t), t.covers_new);
        json!({ "test": t.id, "kind": kind, "outcome": outcome(&t.predicted), "node": node, "new": new, "inputs": inputs(t) })
    };
    all.iter().map(one).collect()
}

/// Reasons of the summary, and the leaves of those paths whose tests say the same.
fn cuts(run: &Run) -> Value {
    let mut leaves: BTreeMap<&str, Vec<u32>> = BTreeMap::new();
    for test in run.tests.values() {
        if let (Prediction::Cut { reason }, Some(leaf)) = (&test.predicted, run.leaf(test)) {
            leaves.entry(reason).or_default().push(leaf);
        }
    }
    let one = |c: &pleach_report::Cut| {
        let same = leaves.iter().filter(|(text, _)| !c.detail.is_empty() && text.ends_with(&format!(": {}", c.detail)));
        let nodes: Vec<u32> = same.flat_map(|(_, nodes)| nodes.iter().copied()).collect();
        json!({ "reason": c.reason, "count": c.count, "detail": c.detail, "nodes": nodes })
    };
    run.summary.cut.iter().map(one).collect()
}

/// Files with their counts; of a run without coverage yet, those that the tree names.
fn files(run: &Run) -> Vec<Value> {
    if !run.coverage.files.is_empty() {
        return run.coverage.files.iter().map(|(name, file)| source(run, name, file)).collect();
    }
    let named = run.tree.files.iter().filter(|name| !name.is_empty());
    named.map(|name| source(run, name, &FileCoverage::default())).collect()
}

fn source(run: &Run, name: &str, file: &FileCoverage) -> Value {
    let text = std::fs::read(run.source(name)).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).ok();
    let lines = text.as_ref().map(|t| t.lines().take(MAX_LINES).collect::<Vec<_>>());
    let mut branches: BTreeMap<u32, Vec<(u32, u64)>> = BTreeMap::new();
    for ((line, block, _), count) in &file.branches {
        branches.entry(*line).or_default().push((*block, *count));
    }
    json!({
        "name": name,
        "lines": lines,
        "counts": file.lines,
        "branches": branches,
        "functions": file.functions,
        "why": uncovered::reasons(run, name, file),
    })
}

fn cost(run: &Run) -> Value {
    let mut forks: BTreeMap<(Option<u32>, u32), (u64, u64)> = BTreeMap::new();
    for node in run.tree.nodes.values().filter(|n| n.file.is_some()) {
        let entry = forks.entry((node.file, node.line)).or_default();
        match node.status {
            NodeStatus::Inner => entry.0 += 1,
            _ => entry.1 += 1,
        }
    }
    let mut forks: Vec<_> = forks.into_iter().collect();
    forks.sort_by_key(|(place, (inner, leaves))| (std::cmp::Reverse(inner + leaves), *place));
    forks.truncate(MAX_COSTLY);
    let file = |f: Option<u32>| f.and_then(|f| run.tree.files.get(f as usize)).map_or("", String::as_str);
    json!({
        "lines": run.timing.costly_lines,
        "components": run.timing.components_us,
        "answered": statistics::answered(&run.summary),
        "states": forks.iter().map(|((f, line), (inner, leaves))| json!([file(*f), line, inner, leaves])).collect::<Vec<_>>(),
        "pruning": run.summary.pruning,
        "merging": run.summary.merging,
        "memory": run.summary.memory,
    })
}

/// Columns of a chart, thinned out.
fn samples(run: &Run) -> Value {
    let step = run.samples.len().div_ceil(MAX_SAMPLES).max(1);
    let last = run.samples.len().saturating_sub(1);
    let kept: Vec<_> =
        run.samples.iter().enumerate().filter(|(i, _)| i % step == 0 || *i == last).map(|(_, row)| row).collect();
    let column = |of: fn(&pleach_report::StatsRow) -> u64| kept.iter().map(|row| of(row)).collect::<Vec<_>>();
    json!({
        "elapsed_us": column(|r| r.elapsed_us),
        "states": column(|r| r.states),
        "covered_lines": column(|r| r.covered_lines),
        "memory_bytes": column(|r| r.memory_bytes),
        "paths": column(|r| r.paths),
    })
}

fn interpolants(run: &Run) -> Value {
    let one = |i: &pleach_report::Interpolant| {
        let at = json!({ "by": i.subsumed_by, "none": i.no_interpolant, "conjuncts": i.conjuncts });
        (i.node.to_string(), at)
    };
    Value::Object(run.interpolants.values().take(MAX_INTERPOLANTS).map(one).collect())
}
