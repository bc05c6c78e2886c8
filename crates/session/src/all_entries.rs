//! `--all-entries`: a run for each function of the program, and one table.

use crate::config::SessionConfig;
use crate::observer::NoObserver;
use crate::result::ExplorationResult;
use crate::session::{Conclude, Session};
use crate::summary;
use pleach_command::{CliError, Code};
use pleach_report::{RunDir, Summary};
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

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
pub fn run(config: SessionConfig, to: Option<&Path>, json: bool) -> Result<Code, CliError> {
    let parent = RunDir::create(to)?;
    let place = parent.path().to_owned();
    parent.remove()?;
    let session = Session::load(config)?;
    let program = session.program.clone();
    let ids = (0..program.functions.len() as u32).map(pleach_ir::FuncId);
    let own = ids.filter(|f| program.is_own(*f) && !program.function(*f).is_declaration());
    let mut names: Vec<&str> = own.map(|f| program.function(f).name.as_str()).collect();
    names.retain(|n| !n.starts_with("__pleach"));
    names.sort_unstable();
    let (mut rows, mut signal, mut crashed) = (Vec::new(), None, false);
    for name in names {
        let conclude: Conclude = Arc::new(|found| Ok(written(found).code(Code::Unknown)));
        let found = session.with_entry(name)?.explore(&mut NoObserver, Some(&place.join(name)), &conclude)?;
        (signal, crashed) = (found.signal, crashed || found.crashed);
        let found = written(found);
        rows.push(row(name, &found.summary, found.dir.path()));
        if signal.is_some() {
            break;
        }
    }
    if json {
        println!("{}", serde_json::to_string_pretty(&rows).unwrap_or_default());
    } else {
        print!("{}", table(&rows, &place));
    }
    Ok(match signal {
        _ if crashed => Code::Bug,
        _ if rows.iter().any(|r| !r.errors.is_empty()) => Code::Found,
        Some(signal) => Code::of_signal(signal),
        None => Code::Fine,
    })
}

fn written(mut found: ExplorationResult) -> ExplorationResult {
    found.summary.verdict = summary::verdict(&found.summary).into();
    found.write();
    let text = summary::describe(&found.summary, &found.counters, found.elapsed, &found.place());
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
