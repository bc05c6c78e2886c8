//! `--all-entries`: a run for each function of the program, and one table.

use crate::config::SessionConfig;
use crate::observer::NoObserver;
use crate::result::ExplorationResult;
use crate::session::{Conclude, Session};
use crate::summary;
use pleach_command::{CliError, Code};
use pleach_report::{RunDir, Summary, names};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What a run from one function found.
#[derive(Clone, Debug, Serialize)]
struct Row {
    entry: String,
    verdict: String,
    complete: bool,
    paths: u64,
    tests: u64,
    errors: Vec<String>,
    run: PathBuf,
}

/// Explores from each function of the program's own that has a body. The limits are those of each run. Errors are those
/// of calls with any arguments, so a caller may rule them out.
pub fn run(mut config: SessionConfig, to: Option<&Path>, json: bool) -> Result<Code, CliError> {
    let parent = RunDir::create(to)?;
    let place = parent.path().to_owned();
    parent.remove()?;
    // The limit on time is that of each run, not of compiling.
    let max_time = config.run.limits.max_time.take();
    let session = Session::load(config)?.with_max_time(max_time);
    let program = session.program.clone();
    let ids = (0..program.functions.len() as u32).map(pleach_ir::FuncId);
    let own = ids.filter(|f| program.is_own(*f) && !program.function(*f).is_declaration());
    let mut names: Vec<&str> = own.map(|f| program.function(f).name.as_str()).collect();
    names.retain(|n| !n.starts_with("__pleach"));
    names.sort_unstable();
    let (rows, mut signal, mut crashed) = (Arc::<Mutex<Vec<Row>>>::default(), None, false);
    for (number, name) in names.iter().enumerate() {
        let conclude = cut_short(&rows, name, names.len() - number - 1, &place, json);
        let found = session.with_entry(name)?.explore(&mut NoObserver, Some(&place.join(name)), &conclude)?;
        (signal, crashed) = (found.signal, crashed || found.crashed);
        let found = written(found);
        lock(&rows).push(row(name, &found.summary, found.dir.path()));
        if signal.is_some() {
            break;
        }
    }
    let rows = lock(&rows);
    say(&rows, &place, json);
    Ok(match signal {
        _ if crashed => Code::Bug,
        _ if rows.iter().any(|r| !r.errors.is_empty()) => Code::Found,
        Some(signal) => Code::of_signal(signal),
        None => Code::Fine,
    })
}

fn lock(rows: &Mutex<Vec<Row>>) -> MutexGuard<'_, Vec<Row>> {
    rows.lock().unwrap_or_else(PoisonError::into_inner)
}

fn say(rows: &[Row], place: &Path, json: bool) {
    if json {
        println!("{}", serde_json::to_string_pretty(rows).unwrap_or_default());
    } else {
        print!("{}", names::readable(&table(rows, place)));
    }
}

/// A run that has to be ended in the middle of a step ends the process: the table has what is known by then.
fn cut_short(rows: &Arc<Mutex<Vec<Row>>>, name: &str, left: usize, place: &Path, json: bool) -> Conclude {
    let (rows, name, place) = (rows.clone(), name.to_owned(), place.to_owned());
    Arc::new(move |found| {
        let found = written(found);
        let mut rows = lock(&rows);
        rows.push(row(&name, &found.summary, found.dir.path()));
        say(&rows, &place, json);
        eprintln!("pleach: the run from `{name}` had to be ended in the middle of a step; {left} functions are left");
        let failed = rows.iter().any(|r| !r.errors.is_empty());
        Ok(found.code(if failed { Code::Found } else { Code::Unknown }))
    })
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
