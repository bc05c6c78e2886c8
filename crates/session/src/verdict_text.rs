//! What is said of a verification: the verdict from the evidence, and its words.

use crate::{ExplorationResult, Judged};
use pleach::cut_reason::{accounts, together, what_to_do};
use pleach::number_format;
use pleach_command::{CliError, Code, duration};
use pleach_ir::{OWN_ALLOCATION, Program};
use pleach_report::{ContractRecord, LoopRecord, ReportError};
use pleach_verify::{Answer, Verdict, VerificationEvidence};
use std::fmt::Write;
use std::path::Path;

/// Whether the program mentions a function that makes heap blocks; one that does not cannot lose any.
pub(crate) fn allocates(program: &Program) -> bool {
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
    program.functions.iter().any(|f| MAKE_BLOCKS.contains(&f.name.strip_prefix(OWN_ALLOCATION).unwrap_or(&f.name)))
}

/// The verdict that the evidence allows.
pub(crate) fn verdict(found: &ExplorationResult, judged: &Judged) -> Verdict {
    // Where nothing else is missing, the bound on rounds is an assumption.
    let cuts = if found.finished { Vec::new() } else { accounts(&found.counters.cuts) };
    Verdict::of(VerificationEvidence {
        violation: judged.violation.as_ref().map(|(goal, _)| *goal),
        unconfirmed: judged.unconfirmed.clone(),
        undefined: found.undefined.clone(),
        cuts,
        finished: found.finished,
        assumptions: found.assumptions.clone(),
    })
}

/// Completes, writes and prints the account of a verification. `files` writes what else is wanted of its directory.
pub fn conclude<T>(
    mut found: ExplorationResult,
    judged: &Judged,
    property: &str,
    json: bool,
    files: impl Fn(&Path) -> Result<T, ReportError>,
) -> Result<Code, CliError> {
    let verdict = verdict(&found, judged);
    let s = &mut found.summary;
    s.verdict = verdict.answer.as_str().into();
    s.property = property.to_owned();
    s.svcomp = verdict.svcomp();
    s.reasons.clone_from(&verdict.reasons);
    s.replay = judged.violation.as_ref().map_or_else(String::new, |v| v.1.clone());
    found.write();
    found.say(&describe(&found, &verdict), json);
    let written = files(found.dir.path());
    found.keep(written);
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

/// Human-readable; the last line is for SV-COMP's tools.
fn describe(found: &ExplorationResult, verdict: &Verdict) -> String {
    let (s, c) = (&found.summary, &found.counters);
    let mut out = String::new();
    let what = match (s.property.as_str(), verdict.goal) {
        ("errors", _) => "runs into an error".to_owned(),
        (_, Some(goal)) => format!("violates {}", goal.as_str()),
        (name, None) => format!("violates {name}"),
    };
    let unbounded = s.loops.iter().any(LoopRecord::is_proved);
    let _ = match verdict.answer {
        Answer::Safe if unbounded => writeln!(out, "Safe: no execution {what}, for any number of iterations."),
        Answer::Safe => writeln!(out, "Safe: no execution {what}."),
        Answer::SafeAssuming => writeln!(out, "Safe {}: no execution {what},", under(c.rounds())),
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
    for reason in together(&verdict.reasons) {
        let _ = writeln!(out, "  {reason}");
    }
    if verdict.answer == Answer::SafeAssuming && c.cut > 0 {
        let _ = writeln!(out, "  {} went on beyond the bound (--unwind)", number_format::count(c.cut, "path"));
    }
    loops(&mut out, found, verdict.answer);
    s.contracts.iter().for_each(|c| contract(&mut out, c));
    if let Some(flags) = s.portfolio.as_ref().and_then(|p| p.decided_by.as_deref()) {
        let did = if verdict.answer == Answer::Unsafe { "found" } else { "explored" };
        let _ = writeln!(out, "  {did} with {flags}, which was tried in turns with the default");
    }
    out += &what_to_do(topics(found, verdict));
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

/// What `pleach when` has about the reasons of the answer.
fn topics(found: &ExplorationResult, verdict: &Verdict) -> Vec<&'static str> {
    match verdict.answer {
        Answer::Safe | Answer::Unsafe => Vec::new(),
        Answer::SafeAssuming => found.assumptions.iter().map(|a| a.name()).collect(),
        Answer::Unknown => {
            let mut topics = found.open_topics();
            let explained =
                found.undefined.len() + if found.finished { 0 } else { accounts(&found.counters.cuts).len() };
            if verdict.reasons.len() > explained && !topics.contains(&"internal-error") {
                topics.push("unconfirmed");
            }
            if found.summary.loops.iter().any(|l| l.line > 0 && l.invariants.is_empty()) {
                topics.push("no-invariant");
            }
            topics
        }
    }
}

/// Under which assumptions, in short.
fn under(rounds: Option<u32>) -> String {
    let within = |n: u32| format!("within {}", number_format::count(n.into(), "round"));
    rounds.map_or_else(|| "under assumptions".to_owned(), within)
}

/// Loops that are named, at most.
const LOOPS: usize = 6;

/// The loops that the answer is about: those with invariants of a proof, those that are open where there is none.
fn loops(out: &mut String, found: &ExplorationResult, answer: Answer) {
    let (proved, open) = (matches!(answer, Answer::Safe | Answer::SafeAssuming), answer == Answer::Unknown);
    // A loop without a line is of the model of the system.
    let told = |l: &&LoopRecord| l.line > 0 && (proved && l.is_proved() || open && l.invariants.is_empty());
    let all: Vec<&LoopRecord> = found.summary.loops.iter().filter(told).collect();
    for l in all.iter().take(LOOPS) {
        let at = format!("{}:{}", l.file, l.line);
        let _ = match (proved, &l.invariants[..]) {
            (true, []) => {
                writeln!(out, "  loop at {at}: explored from each of its {}", number_format::count(l.states, "state"))
            }
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

/// A recursive function and what holds of its calls.
fn contract(out: &mut String, c: &ContractRecord) {
    let all = |claims: &[String]| if claims.is_empty() { "nothing".to_owned() } else { claims.join(" and ") };
    let (file, line, function) = (&c.file, c.line, &c.function);
    let _ = writeln!(out, "  `{function}` at {file}:{line}, however deep its calls are:");
    let _ = writeln!(out, "    requires {}", all(&c.requires));
    let _ = writeln!(out, "    ensures {}", all(&c.ensures));
}

/// A loop with all its invariants.
pub fn describe_loop(l: &LoopRecord) -> String {
    let unrolled = number_format::count(l.unrolled, "time");
    let mut out = format!("Loop at {}:{} in {}, unrolled {unrolled}:\n", l.file, l.line, l.function);
    if l.states > 0 {
        let _ = writeln!(out, "  states seen at its start: {}", number_format::number(l.states));
    }
    if l.invariants.is_empty() {
        out += "  no invariant was found\n";
    }
    for (n, invariant) in l.invariants.iter().enumerate() {
        let _ = writeln!(out, "  invariant {}:", n + 1);
        let conjuncts = if invariant.is_empty() { &["true".to_owned()][..] } else { invariant };
        for c in conjuncts {
            let _ = writeln!(out, "    {c}");
        }
    }
    out
}
