//! `pleach reach`: which places of the program can be reached, and by which inputs?

use crate::args::ReachArgs;
use crate::assemble;
use crate::exploration_settings::ExplorationSettings;
use pleach::cut_reason::what_to_do;
use pleach::number_format;
use pleach_backward::Config;
use pleach_backward_session::{both_ends, facts, refute};
use pleach_command::duration;
use pleach_command::{CliError, Code};
use pleach_exec::LoopBound;
use pleach_ir::Program;
use pleach_report::{RunDir, Summary, TargetResult, TestCase, TestId};
use pleach_session::{Conclude, ExplorationResult, Reached, Session, TargetTracker, TargetWatch};
use pleach_state::Cut;
use pleach_verify::target::{Target, TargetSpec, all_asserts, all_blocks};
use pleach_verify::{Property, TargetError};
use std::fmt::Write;
use std::rc::Rc;
use std::sync::{Arc, PoisonError};
use std::time::Instant;

pub fn run(mut args: ReachArgs) -> Result<Code, CliError> {
    args.run.read_project()?;
    if args.backward.is_some() {
        return super::backward::run(args);
    }
    let wishes = args.target.iter().map(|t| TargetSpec::parse(t)).collect::<Result<Vec<_>, _>>()?;
    if args.both_ends && !args.each {
        // Half for what is left open.
        args.run.max_time = args.run.max_time.map(|t| t / 2);
    }
    let settings = settings(&args);
    let mut session = Session::load(assemble::session(&args.run, &settings)?)?;
    let mut targets = resolve(&args, &wishes, &session.program)?;
    let (entry, mut notes) = (args.run.entry.as_deref().unwrap_or("main"), String::new());
    if args.both_ends {
        notes = both_ends(&mut session.program, entry, &mut targets, &super::backward::config(&args));
    }
    let watches = session.split_at(&targets);

    let (mut summary, dir, mut text, crashed) = match args.each {
        false => together(&args, &session, &targets, watches)?,
        true => one_by_one(&args, &session, &targets, watches)?,
    };
    text.insert_str(0, &notes);
    conclude(&mut summary, &dir, &text, crashed, args.run.json)
}

fn conclude(summary: &mut Summary, dir: &RunDir, text: &str, crashed: bool, json: bool) -> Result<Code, CliError> {
    let unknown = summary.targets.iter().any(|t| matches!(t.result.as_str(), "unknown" | "unreachable-within"));
    let assumed = !summary.assumptions.is_empty() && summary.targets.iter().any(|t| t.result == "unreachable");
    summary.verdict = if unknown { "unknown" } else { "decided" }.into();
    dir.write_summary(summary)?;
    let text = format!("{}{text}Results are in {}\n", table(&summary.targets), dir.path().display());
    let text = pleach_report::names::readable(&text);
    dir.write_result_text(&text)?;
    match json {
        true => println!("{}", serde_json::to_string_pretty(&summary).unwrap_or_default()),
        false => print!("{text}"),
    }
    Ok(match () {
        () if crashed => Code::Bug,
        () if unknown => Code::Unknown,
        () if assumed => Code::Assumed,
        () => Code::Fine,
    })
}

fn settings(args: &ReachArgs) -> ExplorationSettings {
    ExplorationSettings {
        search: args.proof.search.join(","),
        prune: !args.proof.no_prune,
        unbounded: args.proof.unwind.is_none(),
        loop_bound: args.proof.unwind.map(LoopBound::Cut),
        property: Property::reaching(),
        ..ExplorationSettings::default()
    }
}

fn resolve(args: &ReachArgs, wishes: &[TargetSpec], program: &Program) -> Result<Vec<Target>, TargetError> {
    let mut targets = wishes.iter().map(|w| w.resolve(program)).collect::<Result<Vec<_>, _>>()?;
    if args.all_asserts {
        targets.extend(all_asserts(program)?);
    }
    if args.all_blocks {
        targets.extend(all_blocks(program)?);
    }
    Ok(targets)
}

/// The exploration had to be ended in the middle of a step: what is not known by then is unknown. What was reached
/// stays so, without a native run.
fn cut_short(args: &ReachArgs, session: &Session, targets: &[Target], reached: Reached, others: Others) -> Conclude {
    let rows: Vec<TargetResult> = targets.iter().map(|t| session.target_row(t, "unknown", String::new())).collect();
    let json = args.run.json;
    Arc::new(move |mut found| {
        let reason = found.not_explored().into_iter().next().unwrap_or_default();
        let tests = reached.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for (r, test) in rows.iter().zip(tests) {
            let new = match test {
                Some(test) => {
                    let id = kept(&mut found, test)?;
                    let replay = "not replayed natively: the run had to end".to_owned();
                    TargetResult { result: "reachable".into(), test: Some(id), replay, ..r.clone() }
                }
                None => TargetResult { reason: reason.clone(), ..r.clone() },
            };
            found.summary.targets.push(new);
        }
        found.write();
        let text = account(&found);
        found.summary.targets.splice(0..0, others.before.iter().cloned());
        found.summary.targets.extend(others.after.iter().cloned());
        conclude(&mut found.summary, others.dir.as_ref().unwrap_or(&found.dir), &text, found.crashed, json)
    })
}

/// Targets that have explorations of their own: those decided before, those still to come, where the account of all is.
#[derive(Default)]
struct Others {
    before: Vec<TargetResult>,
    after: Vec<TargetResult>,
    dir: Option<RunDir>,
}

/// A test is on disk, under a number of its own.
fn kept(found: &mut ExplorationResult, mut test: TestCase) -> Result<TestId, CliError> {
    if test.id.0 == 0 {
        found.summary.tests += 1;
        test.id = TestId(u32::try_from(found.summary.tests).unwrap_or(u32::MAX));
    }
    found.dir.keep_test(&test)?;
    Ok(test.id)
}

const NO_TURN: &str = "the run was interrupted before this target's turn";

/// The account with its table, where it is, a text about the explorations, and whether one of them crashed.
type Answered = (Summary, RunDir, String, bool);

/// All targets in one exploration.
fn together(
    args: &ReachArgs,
    session: &Session,
    targets: &[Target],
    watches: Vec<TargetWatch>,
) -> Result<Answered, CliError> {
    let mut tracker = TargetTracker::new(watches);
    let conclude = cut_short(args, session, targets, tracker.reached(), Others::default());
    let mut found = session.explore(&mut tracker, args.run.output_dir.as_deref(), &conclude)?;
    found.summary.targets = session.target_results(targets, &tracker, &found, args.proof.replay.options());
    let notes = if args.both_ends { refute_rest(args, session, &tracker, &mut found) } else { String::new() };
    found.write();
    let text = notes + &account(&found);
    Ok((found.summary, found.dir, text, found.crashed))
}

/// Backward, with what forward execution learned: targets that it has not decided.
fn refute_rest(args: &ReachArgs, session: &Session, tracker: &TargetTracker, found: &mut ExplorationResult) -> String {
    let Some(learned) = found.learned.take() else { return String::new() };
    let entry = args.run.entry.as_deref().unwrap_or("main");
    let facts = Rc::new(facts(learned, &session.program));
    let mut notes = String::new();
    let rows = &mut found.summary.targets;
    let mut left = rows.iter().filter(|r| r.result == "unknown").count() as u32;
    let end = args.run.max_time.map(|t| Instant::now() + t);
    for (i, row) in rows.iter_mut().enumerate().filter(|(_, r)| r.result == "unknown") {
        let time = end.map(|e| e.saturating_duration_since(Instant::now()) / left.max(1));
        left = left.saturating_sub(1);
        let Some(blocks) = tracker.never_reached(i) else { continue };
        let config = Config { time, ..super::backward::config(args) };
        match refute(&session.program, entry, blocks, &facts, &config) {
            Ok(reason) => (row.result, row.reason) = ("unreachable".into(), reason),
            Err(why) => notes.push_str(&format!("  {} is not refuted backward: {why}\n", row.target)),
        }
    }
    notes
}

/// Each target in an exploration of its own, below one directory.
fn one_by_one(
    args: &ReachArgs,
    session: &Session,
    targets: &[Target],
    watches: Vec<TargetWatch>,
) -> Result<Answered, CliError> {
    let base = RunDir::create(args.run.output_dir.as_deref())?;
    let mut all: Option<Summary> = None;
    let (mut text, mut crashed) = (String::new(), false);
    for (i, (target, watch)) in targets.iter().zip(watches).enumerate() {
        let mut tracker = TargetTracker::new(vec![watch]);
        let place = base.file(&format!("target-{}", i + 1));
        let before = all.as_ref().map(|a: &Summary| a.targets.clone()).unwrap_or_default();
        let after = targets[i + 1..].iter().map(|t| session.target_row(t, "unknown", NO_TURN.into())).collect();
        let others = Others { before, after, dir: Some(base.clone()) };
        let conclude = cut_short(args, session, std::slice::from_ref(target), tracker.reached(), others);
        let mut found = session.explore(&mut tracker, Some(&place), &conclude)?;
        found.summary.targets =
            session.target_results(std::slice::from_ref(target), &tracker, &found, args.proof.replay.options());
        found.write();
        if i == 0 {
            base.write_run_info(&found.dir.run_info()?)?;
        }
        let _ = write!(text, "target-{}: {}", i + 1, account(&found));
        crashed |= found.crashed;
        let interrupted = found.counters.cuts.contains_key(&Cut::Interrupted);
        match &mut all {
            None => all = Some(found.summary),
            Some(all) => {
                all.targets.extend(found.summary.targets);
                all.assumptions.extend(found.summary.assumptions);
                all.assumptions.sort();
                all.assumptions.dedup();
            }
        }
        if interrupted {
            break;
        }
    }
    let mut all = all.unwrap_or_default();
    for target in &targets[all.targets.len()..] {
        all.targets.push(session.target_row(target, "unknown", NO_TURN.into()));
    }
    Ok((all, base, text, crashed))
}

fn account(found: &ExplorationResult) -> String {
    let c = &found.counters;
    let pruned = if c.pruned > 0 { format!(", {} pruned", number_format::number(c.pruned)) } else { String::new() };
    let mut out = format!(
        "Explored {}{pruned} ({}) in {}.\n",
        number_format::count(c.completed + c.errored + c.silent, "path"),
        number_format::count(found.nodes, "node"),
        duration::show(found.elapsed)
    );
    if found.summary.targets.iter().any(|t| t.result == "unreachable") {
        let clauses: Vec<String> = found.summary.assumptions.iter().map(|a| a.clause.clone()).collect();
        for clause in pleach::cut_reason::together(&clauses) {
            let _ = writeln!(out, "  assuming that {clause}");
        }
    }
    if found.summary.targets.iter().any(|t| t.result == "unknown") {
        for reason in found.not_explored() {
            let _ = writeln!(out, "  {reason}");
        }
        let contradicted = found.summary.targets.iter().any(|t| t.result == "unknown" && !t.replay.is_empty());
        out += &what_to_do(found.open_topics().into_iter().chain(contradicted.then_some("contradicted")));
    }
    out
}

fn table(rows: &[TargetResult]) -> String {
    let width = rows.iter().map(|r| r.target.chars().count()).max().unwrap_or(0).max(6);
    let mut out = format!("{:<width$}  {:<11}\n", "target", "result").trim_end().to_owned() + "\n";
    for r in rows {
        let why = match r.test {
            Some(test) => format!("{}, {}", test.stem(), r.replay),
            None => r.reason.clone(),
        };
        let at = if r.at == r.target || r.at.is_empty() { String::new() } else { format!(" [{}]", r.at) };
        let _ = writeln!(out, "{:<width$}  {:<11}  {why}{at}", r.target, r.result);
    }
    out
}
