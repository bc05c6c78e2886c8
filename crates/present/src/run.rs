//! A run directory, read as a whole.

use pleach_report::tree::TreeReader;
use pleach_report::{
    Coverage, ErrorRecord, Interpolant, Prediction, ReportError, RunDir, RunInfo, StatsRow, Summary, TestCase, TestId,
    Timing, names, recover, stats,
};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Everything that a run left. What it did not write is empty.
pub struct Run {
    pub dir: RunDir,
    pub info: RunInfo,
    pub summary: Summary,
    pub timing: Timing,
    /// What the command said at its end, or what can be said of a run that did not come to its end.
    pub text: String,
    pub coverage: Coverage,
    /// By number.
    pub tests: BTreeMap<TestId, TestCase>,
    pub tree: TreeReader,
    pub samples: Vec<StatsRow>,
    pub interpolants: BTreeMap<u32, Interpolant>,
    /// Paths of errors, where somebody has executed them again.
    pub traces: Traces,
    /// What could not be read, in sentences.
    pub damage: Vec<String>,
}

/// A line of the program on a path, and the variables that have changed when the next is executed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TraceStep {
    pub file: String,
    pub line: u32,
    /// calls around it
    pub depth: u32,
    /// `name = value`
    pub values: Vec<String>,
}

/// The last steps of the paths of tests.
pub type Traces = BTreeMap<TestId, Vec<TraceStep>>;

/// Executes the paths of the errors of a run again.
pub type Trace = fn(&Path) -> Traces;

/// What a run says of itself, or what was found of one that says nothing.
pub struct Account {
    pub summary: Summary,
    pub timing: Timing,
    /// What happened to a run that did not come to its end, in sentences.
    pub state: String,
}

impl Run {
    /// Reads the run directory at `path`.
    pub fn open(path: &Path) -> Result<Run, ReportError> {
        let dir = RunDir::open(path)?;
        let info = dir.run_info()?;
        let Account { mut summary, timing, state } = account(&dir)?;
        summary.errors.iter_mut().for_each(readable);
        let text = match dir.result_text() {
            Some(text) if state.is_empty() => text,
            _ => state + &crate::statistics::found(&summary),
        };
        let (tests, mut damage) = dir.readable_tests()?;
        let tree = read_tree(&dir, &mut damage);
        let samples = match dir.file("stats.db") {
            path if path.exists() => stats::read_damaged(&path),
            _ => (Vec::new(), None),
        };
        damage.extend(samples.1.map(|why| format!("stats.db is read up to where it is damaged: {why}")));
        if !dir.file("summary.json").exists() && dir.is_going_on() {
            // Files end in the middle of a record while they are written.
            damage.clear();
            summary.warnings.clear();
            summary.totals.lines_covered = samples.0.last().map_or(0, |s| s.covered_lines);
        }
        Ok(Run {
            coverage: dir.coverage()?,
            interpolants: dir.interpolants()?.unwrap_or_default(),
            tests: tests.into_iter().map(|t| (t.id, t)).collect(),
            samples: samples.0,
            traces: Traces::new(),
            dir,
            info,
            summary,
            timing,
            text,
            tree,
            damage,
        })
    }

    /// The command that explores has not ended.
    pub fn is_under_way(&self) -> bool {
        self.dir.result_text().is_none() && self.dir.is_going_on()
    }

    /// The leaf of the tree in which a test ends, if the tree has it.
    pub fn leaf(&self, test: &TestCase) -> Option<u32> {
        u32::try_from(test.path).ok().filter(|id| self.tree.nodes.contains_key(id))
    }

    /// From the root to a node: numbers of nodes.
    pub fn path_to(&self, leaf: u32) -> Vec<u32> {
        let mut path = vec![leaf];
        // Parents have smaller numbers: a damaged tree cannot make this go round.
        while let Some(parent) = self.tree.nodes.get(&path[path.len() - 1]).and_then(|n| n.parent) {
            if parent >= path[path.len() - 1] {
                break;
            }
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// Places at which a path forked or was compared, from its beginning: file and line, neighbours distinct.
    pub fn places(&self, leaf: u32) -> Vec<(&str, u32)> {
        let nodes = self.path_to(leaf).into_iter().filter_map(|id| self.tree.nodes.get(&id));
        let mut places: Vec<(&str, u32)> =
            nodes.map(|n| (self.tree.file(n), n.line)).filter(|(file, line)| !file.is_empty() && *line > 0).collect();
        places.dedup();
        places
    }

    /// Where a source file is: paths of a run are relative to the directory in which it was started.
    pub fn source(&self, file: &str) -> std::path::PathBuf {
        self.info.directory.join(file)
    }
}

fn read_tree(dir: &RunDir, damage: &mut Vec<String>) -> TreeReader {
    let path = dir.file("tree.bin");
    if !path.exists() {
        return TreeReader::default();
    }
    match TreeReader::open_damaged(&path) {
        Ok((tree, why)) => {
            damage.extend(why.map(|why| format!("tree.bin is read up to where it is damaged: {why}")));
            tree
        }
        Err(why) => {
            damage.push(why.to_string());
            TreeReader::default()
        }
    }
}

/// The account of a run. A killed run gets its summary here.
pub fn account(dir: &RunDir) -> Result<Account, ReportError> {
    let mut state = String::new();
    if dir.file("summary.json").exists() {
        let summary = dir.summary()?;
        // A summary that was written late, from what was there, has no times.
        let timing = dir.timing().or_else(|_| dir.recover().map(|r| r.timing))?;
        if summary.cut.iter().any(|c| c.reason == recover::KILLED) {
            state.push_str("The run was killed. This is what it left.\n");
        }
        return Ok(Account { summary, timing, state });
    }
    let mut recovered = dir.recover()?;
    if dir.is_going_on() {
        state.push_str("The run is still going on. This is what it has found so far.\n");
        let waiting: u64 = recovered.summary.cut.drain(..).map(|c| c.count).sum();
        recovered.summary.paths.cut -= waiting;
        recovered.damage.clear();
    } else {
        state.push_str("The run was killed, or could not write its results. This is what it left.\n");
        match dir.write_summary(&recovered.summary) {
            Ok(()) => state.push_str("summary.json was written from it.\n"),
            Err(why) => drop(writeln!(state, "No summary could be written from it: {why}")),
        }
    }
    for damage in &recovered.damage {
        let _ = writeln!(state, "  {damage}");
    }
    Ok(Account { summary: recovered.summary, timing: recovered.timing, state })
}

/// Names of C++ and Rust are shown as people write them.
fn readable(error: &mut ErrorRecord) {
    error.message = names::readable(&error.message);
    for frame in &mut error.stack {
        frame.function = names::readable(&frame.function);
    }
}

/// How a path ended, in a few words.
pub fn outcome(predicted: &Prediction) -> String {
    match predicted {
        Prediction::Exit { code: Some(code) } => format!("exit {code}"),
        Prediction::Exit { code: None } => "exit".into(),
        Prediction::Error { kind, file, line, .. } if !file.is_empty() => format!("{kind} at {file}:{line}"),
        Prediction::Error { kind, .. } => kind.to_string(),
        Prediction::Cut { reason } if reason == Prediction::MERGED => reason.clone(),
        Prediction::Cut { reason } => format!("cut: {reason}"),
    }
}
