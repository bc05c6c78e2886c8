//! `pleach verify`: does a property hold of all executions?

use crate::args::VerifyArgs;
use crate::assemble;
use crate::exploration_settings::ExplorationSettings;
use pleach::number_format;
use pleach_command::duration;
use pleach_command::{CliError, Code};
use pleach_exec::LoopBound;
use pleach_ir::Program;
use pleach_report::LoopRecord;
use pleach_session::{Conclude, Counterexample, ExplorationResult, Judged, Session};
use pleach_state::{Cut, Leaks};
use pleach_verify::{Answer, Goal, Property, Verdict, VerificationEvidence};
use std::fmt::Write;
use std::sync::{Arc, PoisonError};

pub fn run(mut args: VerifyArgs) -> Result<Code, CliError> {
    let property = Property::parse(&args.property)?;
    start_where_the_property_says(&mut args, &property)?;
    let (name, settings) = (property.name(), settings(&args, property));
    let mut session = Session::load(assemble::session(&args.run, &settings)?)?;
    if !allocates(&session.program) {
        session.config.exec.leaks = Leaks::Ignored;
    }
    let mut judge = Counterexample::new(&session, args.replay.options());
    let judged = judge.judged();
    let (unwind, json) = (args.unwind, args.run.json);
    let conclude: Conclude = Arc::new(move |found| {
        let judged = judged.lock().unwrap_or_else(PoisonError::into_inner).clone();
        conclude(found, &judged, &name, unwind, json)
    });
    conclude(session.explore(&mut judge, args.run.output_dir.as_deref(), &conclude)?)
}

fn conclude(
    mut found: ExplorationResult,
    judged: &Judged,
    property: &str,
    unwind: Option<u32>,
    json: bool,
) -> Result<Code, CliError> {
    let verdict = verdict(&found, judged);
    let s = &mut found.summary;
    s.verdict = verdict.answer.as_str().into();
    s.property = property.to_owned();
    s.svcomp = verdict.svcomp();
    s.reasons.clone_from(&verdict.reasons);
    s.replay = judged.violation.as_ref().map_or_else(String::new, |v| v.1.clone());
    found.write();
    if json {
        println!("{}", serde_json::to_string_pretty(&found.summary).unwrap_or_default());
    } else {
        print!("{}", describe(&found, &verdict, unwind));
    }
    let code = match verdict.answer {
        _ if found.crashed => Code::Bug,
        Answer::Safe => Code::Fine,
        Answer::SafeAssuming => Code::Assumed,
        Answer::Unsafe => Code::Found,
        Answer::Unknown => Code::Unknown,
    };
    let code = found.code(code);
    found.forget();
    Ok(code)
}

/// `init(f())` of a property file is an entry like `--entry f`.
fn start_where_the_property_says(args: &mut VerifyArgs, property: &Property) -> Result<(), CliError> {
    let Some(entry) = property.entry() else { return Ok(()) };
    match &args.run.entry {
        None if entry == "main" => {}
        None => args.run.entry = Some(entry.to_owned()),
        Some(given) if given == entry => {}
        Some(given) => {
            let file = &args.property;
            return Err(CliError::Usage(format!("--entry says `{given}`, but {file} says `{entry}`")));
        }
    }
    Ok(())
}

fn settings(args: &VerifyArgs, property: Property) -> ExplorationSettings {
    let leaks = match () {
        () if property.has(Goal::ValidMemcleanup) => Leaks::Unfreed,
        () if property.has(Goal::ValidMemtrack) => Leaks::LostAnyway,
        () => Leaks::Ignored,
    };
    ExplorationSettings {
        search: args.search.join(","),
        prune: !args.no_prune && !args.check_uninit,
        unbounded: args.unwind.is_none(),
        errors_only: true,
        overflow: property.has(Goal::NoOverflow),
        uninit: args.check_uninit,
        leaks,
        loop_bound: args.unwind.map(LoopBound::Cut),
        max_tests: None,
        emit_all_errors: false,
        exit_on_error: false,
        exit_on_error_type: Vec::new(),
        error_functions: property.error_functions().to_vec(),
        property,
    }
}

/// Whether the program mentions a function that makes heap blocks; one that does not cannot lose any.
fn allocates(program: &Program) -> bool {
    const MAKE_BLOCKS: [&str; 11] = [
        "malloc",
        "calloc",
        "realloc",
        "aligned_alloc",
        "memalign",
        "posix_memalign",
        "valloc",
        "_Znwm",
        "_Znam",
        "_Znwj",
        "_Znaj",
    ];
    program.functions.iter().any(|f| MAKE_BLOCKS.contains(&f.name.as_str()))
}

fn verdict(found: &ExplorationResult, judged: &Judged) -> Verdict {
    let cut = |(cut, n): (&Cut, &u64)| pleach::cut_reason::reason(cut).account(*n);
    Verdict::of(VerificationEvidence {
        violation: judged.violation.as_ref().map(|(goal, _)| *goal),
        unconfirmed: judged.unconfirmed.clone(),
        undefined: found.undefined.clone(),
        cuts: found.counters.cuts.iter().map(cut).collect(),
        finished: found.summary.complete,
        assumptions: found.assumptions.clone(),
    })
}

/// Human-readable; the last line is for SV-COMP's tools.
fn describe(found: &ExplorationResult, verdict: &Verdict, unwind: Option<u32>) -> String {
    let (s, c) = (&found.summary, &found.counters);
    let mut out = String::new();
    let what = match (s.property.as_str(), verdict.goal) {
        ("errors", _) => "runs into an error".to_owned(),
        (_, Some(goal)) => format!("violates {}", goal.as_str()),
        (name, None) => format!("violates {name}"),
    };
    let unbounded = s.loops.iter().any(|l| !l.invariants.is_empty());
    let _ = match verdict.answer {
        Answer::Safe if unbounded => writeln!(out, "Safe: no execution {what}, for any number of iterations."),
        Answer::Safe => writeln!(out, "Safe: no execution {what}."),
        Answer::SafeAssuming => writeln!(out, "Safe under assumptions: no execution {what},"),
        Answer::Unsafe => writeln!(out, "Unsafe: an execution {what}."),
        Answer::Unknown => writeln!(out, "Unknown: whether an execution {what} could not be decided."),
    };
    if verdict.answer == Answer::Unsafe {
        for e in &s.errors {
            let at = if e.line == 0 { String::new() } else { format!(" at {}:{}", e.file, e.line) };
            let _ = writeln!(out, "  {}{at}: {}", e.kind, e.message);
        }
        let _ = writeln!(out, "  {}.", s.replay);
    }
    for reason in &verdict.reasons {
        let _ = writeln!(out, "  {reason}");
    }
    let unwound = c.cuts.keys().any(|c| matches!(c, Cut::Unwind(_)));
    if let (Answer::Unknown, Some(n), 1, true) = (verdict.answer, unwind, verdict.reasons.len(), unwound) {
        let _ = writeln!(
            out,
            "  Executions in which no loop goes round more than {} are safe.",
            number_format::count(n.into(), "time")
        );
    }
    loops(&mut out, found, verdict.answer);
    let pruned = if c.pruned > 0 { format!(", {} pruned", number_format::number(c.pruned)) } else { String::new() };
    let explored = c.completed + c.errored + c.silent;
    let _ = writeln!(
        out,
        "Explored {}{pruned} ({}) in {}. Results are in {}",
        number_format::count(explored, "path"),
        number_format::count(found.nodes, "node"),
        duration::show(found.elapsed),
        found.place()
    );
    let _ = writeln!(out, "{}", s.svcomp);
    out
}

/// Loops that are named, at most.
const LOOPS: usize = 6;

/// The loops that the answer is about: those with invariants of a proof, those that are open where there is none.
fn loops(out: &mut String, found: &ExplorationResult, answer: Answer) {
    let (proved, open) = (matches!(answer, Answer::Safe | Answer::SafeAssuming), answer == Answer::Unknown);
    let told = |l: &&LoopRecord| proved && !l.invariants.is_empty() || open && l.invariants.is_empty();
    let all: Vec<&LoopRecord> = found.summary.loops.iter().filter(told).collect();
    for l in all.iter().take(LOOPS) {
        let at = format!("{}:{}", l.file, l.line);
        let _ = match (proved, &l.invariants[..]) {
            (true, [one]) if one.is_empty() => writeln!(out, "  loop at {at}: it needs no invariant"),
            (true, [one]) if one.len() <= 3 => writeln!(out, "  loop at {at}: invariant {}", one.join(" and ")),
            (true, several) => writeln!(
                out,
                "  loop at {at}: {} (pleach explain {} --loop {at})",
                number_format::count(several.len() as u64, "invariant"),
                found.place()
            ),
            (false, _) => writeln!(
                out,
                "  loop at {at}: no invariant was found, unrolled {}, at most {} on one path",
                number_format::count(l.unrolled, "time"),
                number_format::count(l.rounds, "round")
            ),
        };
    }
    if all.len() > LOOPS {
        let _ = writeln!(out, "  and {} more (summary.json)", number_format::count((all.len() - LOOPS) as u64, "loop"));
    }
}
