//! `pleach reach --backward`: from a target to the inputs of the function that it is in.

mod confirm;
mod errors;

use crate::args::ReachArgs;
use crate::assemble;
use confirm::Confirmer;
use errors::{ErrorTarget, all_errors};
use pleach_backward::{Answer, Config, Effort, Goal, InputHeap, decide, harness, picture, precondition};
use pleach_command::{CliError, Code};
use pleach_ir::{FuncId, Program, Span};
use pleach_report::{Assumption, ErrorKind, RunDir, Summary, TargetResult};
use pleach_verify::TargetError;
use pleach_verify::target::{Target, TargetLocations, TargetSpec};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// One target with the function that execution begins in.
pub struct TargetQuery {
    name: String,
    span: Span,
    entry: FuncId,
    goals: BTreeSet<Goal>,
    /// which errors a native run has to show, if the target is one
    kinds: Vec<ErrorKind>,
}

pub fn run(args: ReachArgs) -> Result<Code, CliError> {
    refuse(&args)?;
    let wishes = args.target.iter().map(|t| TargetSpec::parse(t)).collect::<Result<Vec<_>, _>>()?;
    let compile = assemble::compile(&args.run.compile, false);
    let program = pleach::load(&args.run.files, &compile)?;
    let queries = queries(&args, &wishes, &program)?;
    let dir = RunDir::create(args.run.output_dir.as_deref())?;
    let config = config(&args);
    let mut confirmer = Confirmer::new(&args, &dir)?;
    let entry = queries.first().map_or("", |q| program.function(q.entry).name.as_str());
    dir.write_run_info(&confirmer.run_info(entry))?;
    let (mut rows, mut text) = (Vec::new(), String::new());
    let mut assumed = BTreeSet::new();
    for (i, query) in queries.iter().enumerate() {
        let mut ask = |heap: &InputHeap, exact| confirmer.confirm(&program, query, heap, exact, i + 1);
        let (answer, effort) = decide(&program, query.entry, &query.goals, &config, &mut ask);
        let replay = confirmer.take_note();
        rows.push(row(&program, query, &answer, replay, &effort));
        if let Answer::Reachable(heap) = &answer {
            text.push_str(&describe(&program, query, heap, &dir, i + 1)?);
        } else if !matches!(answer, Answer::Unknown(_)) {
            assumed.extend(pleach_backward::assumptions(&program, query.entry));
        }
    }
    conclude(&args, &dir, rows, &text, assumed)
}

/// Flags that mean something forward only.
fn refuse(args: &ReachArgs) -> Result<(), CliError> {
    let usage = |what: &str| Err(CliError::Usage(format!("--backward does not take {what}")));
    match () {
        () if args.each => usage("--each: every target has an answer of its own"),
        () if args.no_prune => usage("--no-prune: nothing is pruned"),
        () if args.all_blocks => usage("--all-blocks"),
        () if !args.run.param.is_empty() => usage("--param"),
        () if !args.run.args.is_empty() => usage("arguments of the program"),
        () => Ok(()),
    }
}

fn config(args: &ReachArgs) -> Config {
    let default = Config::default();
    Config {
        style: args.backward.map_or(default.style, Into::into),
        unwind: args.unwind.unwrap_or(default.unwind),
        inline: args.inline.unwrap_or(default.inline),
        abstract_loops: !args.no_abstract_loops,
        time: args.run.max_time,
        backend: assemble::backend(&args.run),
        ..default
    }
}

fn queries(args: &ReachArgs, wishes: &[TargetSpec], program: &Program) -> Result<Vec<TargetQuery>, CliError> {
    let entry = match &args.run.entry {
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
    args: &ReachArgs,
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
        sources: args.run.files.iter().map(|f| f.display().to_string()).collect(),
        ..Summary::default()
    };
    dir.write_summary(&summary)?;
    if args.run.json {
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
