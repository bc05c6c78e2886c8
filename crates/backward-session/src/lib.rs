//! A session of backward execution: its targets, native confirmation of their inputs, the account in a run directory.
//!
//! The flags of the command line are not known here.
//!
//! ```
//! let text = "target \"x86_64-pc-linux-gnu\" ptr 8\nfunc @main() -> (i32) {\nb0:\n  return (i32 i32 0)\n}\n";
//! let program = pleach_ir::text::parse(text).expect("it is a program");
//! assert!(pleach_backward_session::all_errors(&program).is_empty(), "a return cannot fail");
//! ```

#[macro_use(print, println)]
extern crate pleach_command;

mod confirm;
mod errors;

use confirm::Confirmer;
use errors::ErrorTarget;
pub use errors::all_errors;
use pleach::CompileOptions;
use pleach_backward::{Answer, Config, Effort, Goal, InputHeap, decide, harness, picture, precondition};
use pleach_command::{CliError, Code};
use pleach_ir::{FuncId, Program, Span};
use pleach_report::{Assumption, ErrorKind, RunDir, Summary, TargetResult};
use pleach_verify::TargetError;
use pleach_verify::target::{Target, TargetLocations, TargetSpec};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;

/// What is wanted of backward execution.
pub struct BackwardSession {
    pub files: Vec<PathBuf>,
    pub compile: CompileOptions,
    /// by name, as [`TargetSpec::parse`] takes them
    pub targets: Vec<String>,
    pub all_asserts: bool,
    pub all_errors: bool,
    /// where execution begins; `None`: in the function that a target is in
    pub entry: Option<String>,
    pub config: Config,
    /// how inputs are replayed; `None`: not at all
    pub replay: Option<pleach_replay::Options>,
    pub output_dir: Option<PathBuf>,
    pub json: bool,
}

/// One target with the function that execution begins in.
pub struct TargetQuery {
    name: String,
    span: Span,
    entry: FuncId,
    goals: BTreeSet<Goal>,
    /// which errors a native run has to show, if the target is one
    kinds: Vec<ErrorKind>,
}

/// Answers for every target, in a run directory and in print.
pub fn run(args: &BackwardSession) -> Result<Code, CliError> {
    let wishes = args.targets.iter().map(|t| TargetSpec::parse(t)).collect::<Result<Vec<_>, _>>()?;
    let program = pleach::load(&args.files, &args.compile)?;
    let queries = queries(args, &wishes, &program)?;
    let dir = RunDir::create(args.output_dir.as_deref())?;
    let config = &args.config;
    let mut confirmer = Confirmer::new(args, &dir)?;
    let entry = queries.first().map_or("", |q| program.function(q.entry).name.as_str());
    dir.write_run_info(&confirmer.run_info(entry))?;
    let (mut rows, mut text) = (Vec::new(), String::new());
    let mut assumed = BTreeSet::new();
    for (i, query) in queries.iter().enumerate() {
        let mut ask = |heap: &InputHeap, exact| confirmer.confirm(&program, query, heap, exact, i + 1);
        let (answer, effort) = decide(&program, query.entry, &query.goals, config, &mut ask);
        let replay = confirmer.take_note();
        rows.push(row(&program, query, &answer, replay, &effort));
        if let Answer::Reachable(heap) = &answer {
            text.push_str(&describe(&program, query, heap, &dir, i + 1)?);
        } else if !matches!(answer, Answer::Unknown(_)) {
            assumed.extend(pleach_backward::assumptions(&program, query.entry));
        }
    }
    conclude(args, &dir, rows, &text, assumed)
}

fn queries(args: &BackwardSession, wishes: &[TargetSpec], program: &Program) -> Result<Vec<TargetQuery>, CliError> {
    let entry = match &args.entry {
        Some(name) => Some(program.function_named(name).ok_or_else(|| no_function(program, name))?),
        None => None,
    };
    let mut all = Vec::new();
    let mut targets = wishes.iter().map(|w| w.resolve(program)).collect::<Result<Vec<_>, _>>()?;
    if args.all_asserts {
        targets.extend(pleach_verify::target::all_asserts(program)?);
    }
    for target in targets {
        all.extend(of_target(program, target, entry));
    }
    if args.all_errors {
        let found = all_errors(program);
        if found.is_empty() {
            return Err(TargetError::Nothing("operations that can fail").into());
        }
        for ErrorTarget { name, span, function, goal, kinds } in found {
            let entry = entry.unwrap_or(function);
            all.push(TargetQuery { name, span, entry, goals: BTreeSet::from([goal]), kinds });
        }
    }
    Ok(all)
}

fn no_function(program: &Program, name: &str) -> CliError {
    let mut known: Vec<String> =
        program.functions.iter().filter(|f| !f.is_declaration()).map(|f| f.name.clone()).collect();
    known.sort();
    TargetError::NoFunction { name: name.to_owned(), known }.into()
}

/// The queries of one target: one per function that it is in, or one from the given entry.
fn of_target(program: &Program, target: Target, entry: Option<FuncId>) -> Vec<TargetQuery> {
    let mut by_entry: BTreeMap<FuncId, BTreeSet<Goal>> = BTreeMap::new();
    let mut is_assert = false;
    match &target.locations {
        TargetLocations::At(all) => {
            for &(f, i) in all {
                by_entry.entry(entry.unwrap_or(f)).or_default().insert(Goal::At(f, i));
                is_assert |= errors::fails_assertion(program, f, i);
            }
        }
        TargetLocations::Failing(f, i) => {
            by_entry.entry(entry.unwrap_or(*f)).or_default().insert(Goal::Fails(*f, *i));
            is_assert = true;
        }
    }
    let kinds = if is_assert { vec![ErrorKind::Assert] } else { Vec::new() };
    let one = |(entry, goals): (FuncId, BTreeSet<Goal>)| TargetQuery {
        name: target.name.clone(),
        span: target.span,
        entry,
        goals,
        kinds: kinds.clone(),
    };
    by_entry.into_iter().map(one).collect()
}

fn row(program: &Program, query: &TargetQuery, answer: &Answer, replay: String, effort: &Effort) -> TargetResult {
    let from = &program.function(query.entry).name;
    let ms = effort.goals.as_secs_f64() * 1000.0;
    let work = format!("{} nodes, {} checks, {ms:.1} ms", effort.nodes, effort.checks);
    let (result, reason) = match answer {
        Answer::Reachable(_) => ("reachable", format!("from {from} ({work})")),
        Answer::Unreachable { unbounded: true } => {
            ("unreachable", format!("from {from}, for any number of iterations ({work})"))
        }
        Answer::Unreachable { unbounded: false } => ("unreachable", format!("from {from} ({work})")),
        Answer::UnreachableWithin(cuts) => {
            let all: Vec<String> = cuts.iter().map(ToString::to_string).collect();
            ("unreachable-within", format!("from {from} within the bounds; beyond: {} ({work})", all.join("; ")))
        }
        Answer::Unknown(why) => ("unknown", why.clone()),
    };
    let at =
        if query.span.is_known() { format!("{}:{}", program.path(query.span), query.span.line) } else { String::new() };
    TargetResult { target: query.name.clone(), at, result: result.into(), reason, replay, ..TargetResult::default() }
}

/// The input as text and as files.
fn describe(
    program: &Program,
    query: &TargetQuery,
    heap: &InputHeap,
    dir: &RunDir,
    number: usize,
) -> Result<String, CliError> {
    let dot = format!("target-{number}.dot");
    dir.write(&dot, picture(program, heap).as_bytes())?;
    let entry = &program.function(query.entry).name;
    let mut out = format!("\n{} is reached from {entry} if\n", query.name);
    for line in precondition(program, heap) {
        let _ = writeln!(out, "  {line}");
    }
    let _ = writeln!(out, "  harness: target-{number}.c   heap: {dot}");
    Ok(out)
}

/// The C program of an input.
pub fn program_of(program: &Program, query: &TargetQuery, heap: &InputHeap) -> String {
    let source = program.path(program.function(query.entry).span);
    let has_main = |f: &pleach_ir::Function| f.name == "main" && !f.is_declaration();
    harness(program, query.entry, heap, source, program.functions.iter().any(has_main))
}

fn conclude(
    args: &BackwardSession,
    dir: &RunDir,
    rows: Vec<TargetResult>,
    text: &str,
    assumed: BTreeSet<String>,
) -> Result<Code, CliError> {
    let unknown = rows.iter().any(|t| matches!(t.result.as_str(), "unknown" | "unreachable-within"));
    let assumption = |clause: String| Assumption { kind: "parameter".into(), clause };
    let summary = Summary {
        verdict: if unknown { "unknown" } else { "decided" }.into(),
        targets: rows,
        assumptions: assumed.into_iter().map(assumption).collect(),
        version: env!("CARGO_PKG_VERSION").into(),
        sources: args.files.iter().map(|f| f.display().to_string()).collect(),
        ..Summary::default()
    };
    dir.write_summary(&summary)?;
    if args.json {
        println!("{}", serde_json::to_string_pretty(&summary).unwrap_or_default());
    } else {
        print!("{}{text}", table(&summary.targets));
        for a in &summary.assumptions {
            println!("  assuming that {}", a.clause);
        }
        println!("Results are in {}", dir.path().display());
    }
    let unreachable = summary.targets.iter().any(|t| t.result == "unreachable");
    Ok(match () {
        () if unknown => Code::Unknown,
        () if unreachable && !summary.assumptions.is_empty() => Code::Assumed,
        () => Code::Fine,
    })
}

fn table(rows: &[TargetResult]) -> String {
    let width = rows.iter().map(|r| r.target.chars().count()).max().unwrap_or(0).max(6);
    let mut out = format!("{:<width$}  {:<18}\n", "target", "result").trim_end().to_owned() + "\n";
    for r in rows {
        let replay = if r.replay.is_empty() { String::new() } else { format!("; {}", r.replay) };
        let _ = writeln!(out, "{:<width$}  {:<18}  {}{replay}", r.target, r.result, r.reason);
    }
    out
}
