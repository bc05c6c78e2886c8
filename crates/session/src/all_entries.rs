//! `--all-entries`: a run for each function of the program, and one table.

use crate::config::SessionConfig;
use crate::observer::NoObserver;
use crate::result::ExplorationResult;
use crate::session::{Conclude, Session};
use crate::summary;
use pleach_command::{CliError, Code};
use pleach_report::{RunDir, Summary, names};
use serde::{Deserialize, Serialize};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The rows so far, in the directory of the runs.
const ROWS: &str = "entries.json";

/// The cut for which nothing can go on: the process has no time left.
const PROCESSOR_TIME: &str = "cpu-time";

/// What a run from one function found.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Row {
    entry: String,
    verdict: String,
    complete: bool,
    paths: u64,
    tests: u64,
    errors: Vec<String>,
    run: PathBuf,
}

/// How the command goes on.
pub struct AllEntries {
    /// where the runs go
    pub to: Option<PathBuf>,
    pub json: bool,
    /// what is not explored to the end has a status of its own
    pub require_complete: bool,
    /// whether the runs are below `to` already, and only the functions without one are left
    pub continued: bool,
    /// The command that continues with the functions that are left, given the directory of the runs. A run that cannot
    /// be ended between two steps ends its process.
    pub rest: fn(&Path) -> Command,
}

/// Explores from each function of the program's own that has a body. The limits are those of each run. Errors are those
/// of calls with any arguments, so a caller may rule them out.
pub fn run(mut config: SessionConfig, how: AllEntries) -> Result<Code, CliError> {
    let (place, done) = match &how.to {
        Some(place) if how.continued => (place.clone(), read(place)?),
        to => {
            let parent = RunDir::create(to.as_deref())?;
            let place = parent.path().to_owned();
            parent.remove()?;
            (place, Vec::new())
        }
    };
    // The limit on time is that of each run, not of compiling.
    let max_time = config.run.limits.max_time.take();
    let session = Session::load(config)?.with_max_time(max_time);
    let program = session.program.clone();
    let ids = (0..program.functions.len() as u32).map(pleach_ir::FuncId);
    let own = ids.filter(|f| program.is_own(*f) && !program.function(*f).is_declaration());
    let mut names: Vec<&str> = own.map(|f| program.function(f).name.as_str()).collect();
    names.retain(|n| !n.starts_with("__pleach") && !done.iter().any(|r| r.entry == *n));
    names.sort_unstable();
    let table = Table { rows: Arc::new(Mutex::new(done)), place, json: how.json };
    let (mut signal, mut crashed) = (None, false);
    for (number, name) in names.iter().enumerate() {
        let conclude = table.cut_short(name, names.len() - number - 1, how.rest);
        let to = table.place.join(name);
        let found = session.with_entry(name)?.explore(&mut NoObserver, Some(&to), &conclude)?;
        (signal, crashed) = (found.signal, crashed || found.crashed);
        table.add(name, &written(found));
        // What it used does not count for the next one.
        (session.config.run.release)();
        if signal.is_some() {
            break;
        }
    }
    table.say();
    let rows = lock(&table.rows);
    Ok(match signal {
        _ if crashed => Code::Bug,
        _ if rows.iter().any(|r| !r.errors.is_empty()) => Code::Found,
        Some(signal) => Code::of_signal(signal),
        None if how.require_complete && rows.iter().any(|r| !r.complete) => Code::Unknown,
        None => Code::Fine,
    })
}

fn read(place: &Path) -> Result<Vec<Row>, CliError> {
    let file = place.join(ROWS);
    let failed = |why: String| CliError::Usage(format!("{}: {why}", file.display()));
    let text = std::fs::read_to_string(&file).map_err(|why| failed(why.to_string()))?;
    serde_json::from_str(&text).map_err(|why| failed(why.to_string()))
}

#[derive(Clone)]
struct Table {
    rows: Arc<Mutex<Vec<Row>>>,
    place: PathBuf,
    json: bool,
}

impl Table {
    fn add(&self, name: &str, found: &ExplorationResult) {
        let mut rows = lock(&self.rows);
        rows.push(row(name, &found.summary, found.dir.path()));
        let text = serde_json::to_string_pretty(&*rows).unwrap_or_default();
        if let Err(why) = std::fs::write(self.place.join(ROWS), text + "\n") {
            eprintln!("pleach: results are incomplete: {}: {why}", self.place.join(ROWS).display());
        }
    }

    fn say(&self) {
        let rows = lock(&self.rows);
        if self.json {
            println!("{}", serde_json::to_string_pretty(&*rows).unwrap_or_default());
        } else {
            print!("{}", names::readable(&table(&rows, &self.place)));
        }
    }

    /// A run that has to be ended in the middle of a step ends the process; another one goes on with what is left.
    fn cut_short(&self, name: &str, left: usize, rest: fn(&Path) -> Command) -> Conclude {
        let (table, name) = (self.clone(), name.to_owned());
        Arc::new(move |found| {
            let found = written(found);
            table.add(&name, &found);
            let is_last = found.signal.is_some() || found.summary.cut.iter().any(|c| c.reason == PROCESSOR_TIME);
            if left > 0 && !is_last {
                // It comes back only if it fails.
                let why = rest(&table.place).exec();
                eprintln!("pleach: {left} functions are left, because the program cannot be started again: {why}");
            }
            table.say();
            let failed = lock(&table.rows).iter().any(|r| !r.errors.is_empty());
            Ok(found.code(if failed { Code::Found } else { Code::Unknown }))
        })
    }
}

fn lock(rows: &Mutex<Vec<Row>>) -> MutexGuard<'_, Vec<Row>> {
    rows.lock().unwrap_or_else(PoisonError::into_inner)
}

fn written(mut found: ExplorationResult) -> ExplorationResult {
    found.summary.verdict = summary::verdict(&found.summary).into();
    found.write();
    let text = summary::describe(&found.summary, &found.counters, found.elapsed, &found.place(), found.dir.files());
    let _ = found.dir.write_result_text(&text);
    found
}

fn row(entry: &str, summary: &Summary, run: &Path) -> Row {
    Row {
        entry: entry.to_owned(),
        verdict: summary.verdict.clone(),
        complete: summary.complete,
        paths: summary.paths.total(),
        tests: summary.tests,
        errors: summary.errors.iter().map(|e| format!("{} at {}:{}", e.kind, e.file, e.line)).collect(),
        run: run.to_owned(),
    }
}

fn table(rows: &[Row], place: &Path) -> String {
    let width = rows.iter().map(|r| r.entry.len()).max().unwrap_or(0).max(8);
    let mut out = format!("{:<width$}  {:>8}  {:>6}  {:<9} errors\n", "function", "paths", "tests", "explored");
    for row in rows {
        let explored = if row.complete { "all" } else { "in part" };
        let errors = if row.errors.is_empty() { "none".to_owned() } else { row.errors.join(", ") };
        out += &format!("{:<width$}  {:>8}  {:>6}  {explored:<9} {errors}\n", row.entry, row.paths, row.tests);
    }
    let failing = rows.iter().filter(|r| !r.errors.is_empty()).count();
    out + &format!("{} functions, {failing} with errors; the runs are in {}.\n", rows.len(), place.display())
}
