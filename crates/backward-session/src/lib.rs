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

mod both_ends;
mod climb;
mod confirm;
mod errors;
mod queries;
mod refute;
mod sarif;
mod survey;
mod topics;

pub use both_ends::both_ends;
use climb::Climber;
use confirm::Confirmer;
pub use errors::all_errors;
use pleach::CompileOptions;
use pleach_backward::{
    ALLOCATIONS_SUCCEED, Answer, Config, Effort, Goal, InputHeap, decide, drawing, harness, picture, precondition,
};
use pleach_command::{CliError, Code};
use pleach_ir::callgraph::CallGraph;
use pleach_ir::{FuncId, Program, Span};
use pleach_report::{Assumption, ErrorKind, RunDir, Summary, TargetResult, names};
use queries::{About, Wanted};
pub use refute::{facts, refute};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What is wanted of backward execution.
pub struct BackwardSession {
    pub files: Vec<PathBuf>,
    pub compile: CompileOptions,
    /// by name, as [`TargetSpec::parse`](pleach_verify::target::TargetSpec::parse) takes them
    pub targets: Vec<String>,
    pub all_asserts: bool,
    pub all_errors: bool,
    /// a SARIF file whose results are targets
    pub warnings: Option<PathBuf>,
    /// where execution begins; `None`: in the function that a target is in
    pub entry: Option<String>,
    /// climb through the callers to this function, by at most this many calls
    pub to: Option<(String, u32)>,
    pub config: Config,
    /// look at all targets of a function together first
    pub survey: bool,
    /// for all targets together
    pub max_time: Option<Duration>,
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

/// An answer, and what goes with it.
struct Answered {
    answer: Answer,
    effort: Effort,
    /// what the native run showed
    replay: String,
    /// where it was refuted on the way
    note: String,
}

/// One session at work.
struct Work<'a> {
    args: &'a BackwardSession,
    program: &'a Program,
    dir: &'a RunDir,
    confirmer: Confirmer<'a>,
    climber: Option<Climber<'a>>,
    deadline: Option<Instant>,
    calls: Arc<CallGraph>,
    /// answers of targets that were decided together with others
    surveyed: BTreeMap<survey::Key, Answered>,
    rows: Vec<TargetResult>,
    text: String,
    assumed: BTreeSet<String>,
}

/// Answers for every target, in a run directory and in print.
pub fn run(args: &BackwardSession) -> Result<Code, CliError> {
    let program = pleach::load(&args.files, &args.compile)?;
    let deadline = args.max_time.map(|t| Instant::now() + t);
    let wanted = queries::wanted(args, &program)?;
    let climber = match &args.to {
        Some((name, depth)) => Some(climber(&program, name, *depth)?),
        None => None,
    };
    let dir = RunDir::create(args.output_dir.as_deref())?;
    let confirmer = Confirmer::new(args, &dir)?;
    let first = wanted.iter().flat_map(|q| &q.queries).next();
    let entry = first.map_or("", |q| program.function(q.entry).name.as_str());
    dir.write_run_info(&confirmer.run_info(entry))?;
    let calls = Arc::new(CallGraph::new(&program));
    let (rows, text, assumed) = (Vec::new(), String::new(), BTreeSet::new());
    let surveyed = BTreeMap::new();
    let mut work =
        Work { args, program: &program, dir: &dir, confirmer, climber, deadline, calls, surveyed, rows, text, assumed };
    work.survey(&wanted)?;
    let mut left = work.open(&wanted);
    for (row, q) in wanted.iter().enumerate() {
        let known = work.is_known(row, q);
        work.answer(row, q, left)?;
        left -= usize::from(!known);
    }
    let Work { rows, text, assumed, .. } = work;
    conclude(args, &dir, rows, &text, assumed)
}

fn climber<'a>(program: &'a Program, name: &str, depth: u32) -> Result<Climber<'a>, CliError> {
    let root = program.function_named(name).ok_or_else(|| queries::no_function(program, name))?;
    Ok(Climber::new(program, root, depth))
}

impl Work<'_> {
    fn is_known(&self, row: usize, q: &Wanted) -> bool {
        (0..q.queries.len()).all(|k| self.surveyed.contains_key(&(row, k)))
    }

    /// Rows that have no answer yet.
    fn open(&self, wanted: &[Wanted]) -> usize {
        wanted.iter().enumerate().filter(|(row, q)| !self.is_known(*row, q)).count()
    }

    /// Adds the row of a target; `left` have no answer yet.
    fn answer(&mut self, row: usize, q: &Wanted, left: usize) -> Result<(), CliError> {
        let number = self.rows.len() + 1;
        if let About::Open(why) = &q.about {
            self.rows.push(self.new_row(q, "open", why.clone(), String::new()));
            return Ok(());
        }
        let share = self.share(left);
        let mut all: Vec<Answered> = Vec::new();
        for (k, query) in q.queries.iter().enumerate() {
            let one = match self.surveyed.remove(&(row, k)) {
                Some(known) => known,
                None => self.ask(query, share, number),
            };
            if let Answer::Reachable(heap) = &one.answer {
                self.dir.write(
                    &format!("target-{number}.c"),
                    program_of(self.program, query, heap, &self.args.files).as_bytes(),
                )?;
                self.text.push_str(&describe(self.program, query, heap, self.dir, number)?);
            } else if !matches!(one.answer, Answer::Unknown(_)) {
                self.assumed.extend(pleach_backward::assumptions(self.program, query.entry, &self.calls));
            }
            let reached = matches!(one.answer, Answer::Reachable(_));
            all.push(one);
            if reached {
                break;
            }
        }
        // Of several the one that decides: what is reached, else what is not known, else anything.
        let rank = |a: &Answered| match a.answer {
            Answer::Reachable(_) => 0,
            Answer::Unknown(_) => 1,
            Answer::UnreachableWithin(_) => 2,
            Answer::Unreachable { .. } => 3,
        };
        let Some(at) = (0..all.len()).min_by_key(|i| rank(&all[*i])) else { return Ok(()) };
        let row = self.row(q, &q.queries[at], &all[at]);
        self.rows.push(row);
        Ok(())
    }

    /// Time for one target: an equal share of what is left, but enough for an easy one.
    fn share(&self, left: usize) -> Option<Duration> {
        const LEAST: Duration = Duration::from_millis(250);
        let time = self.deadline?.saturating_duration_since(Instant::now());
        Some((time / u32::try_from(left).unwrap_or(u32::MAX).max(1)).max(LEAST))
    }

    fn ask(&mut self, query: &TargetQuery, share: Option<Duration>, number: usize) -> Answered {
        let calls = Some(self.calls.clone());
        let config = Config { time: share, deadline: self.deadline, calls, ..self.args.config.clone() };
        let (program, confirmer) = (self.program, &mut self.confirmer);
        let mut confirm = |heap: &InputHeap, exact| confirmer.confirm(program, query, heap, exact, number);
        let (answer, effort, note) = match &self.climber {
            None => {
                let (answer, effort) = decide(program, query.entry, &query.goals, &config, &mut confirm);
                (answer, effort, String::new())
            }
            Some(climber) => {
                let functions = query.goals.iter().map(|g| g.place().0).collect();
                climber.decide(query, &functions, &config, &mut confirm)
            }
        };
        Answered { answer, effort, note, replay: self.confirmer.take_note() }
    }

    fn new_row(&self, q: &Wanted, result: &str, reason: String, replay: String) -> TargetResult {
        let at = match q.span.is_known() {
            true => format!("{}:{}", self.program.path(q.span), q.span.line),
            false => String::new(),
        };
        TargetResult { target: q.name.clone(), at, result: result.into(), reason, replay, ..TargetResult::default() }
    }

    fn row(&self, q: &Wanted, query: &TargetQuery, a: &Answered) -> TargetResult {
        let (result, reason) = outcome(self.program, query, a);
        let (result, reason) = match (&q.about, result) {
            (About::Target | About::Open(_), result) => (result, reason),
            (About::Checks | About::AnyCheck, "reachable") => ("real", reason),
            (About::AnyCheck, "unreachable") => {
                ("open", format!("{}; no check of the line fails {reason}", queries::UNSAID))
            }
            (About::Line(why), "reachable") => ("open", format!("{why}; the line is reached {reason}")),
            (_, "unreachable") => ("false", reason),
            (_, "unreachable-within") => ("open", format!("not reached {reason}")),
            (_, _) => ("open", reason),
        };
        self.new_row(q, result, reason, a.replay.clone())
    }
}

/// The word of an answer, and the reason.
fn outcome(program: &Program, query: &TargetQuery, a: &Answered) -> (&'static str, String) {
    let from = &program.function(query.entry).name;
    let ms = a.effort.goals.as_secs_f64() * 1000.0;
    let note = if a.note.is_empty() { String::new() } else { format!("{}; ", a.note) };
    let work = format!("{note}{} nodes, {} checks, {ms:.1} ms", a.effort.nodes, a.effort.checks);
    match &a.answer {
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
    }
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
    dir.write(&format!("target-{number}.svg"), drawing(program, heap).as_bytes())?;
    let entry = &program.function(query.entry).name;
    let mut out = format!("\n{} is reached from {entry} if\n", query.name);
    for line in precondition(program, heap) {
        let _ = writeln!(out, "  {line}");
    }
    let _ = writeln!(out, "  harness: target-{number}.c   heap: {dot}, target-{number}.svg");
    Ok(out)
}

/// The file that a harness includes: the function's own, or the program's only one if that is a header.
fn source_of(program: &Program, entry: FuncId, files: &[PathBuf]) -> String {
    let own = program.path(program.function(entry).span);
    match files {
        [only] if own.ends_with(".h") => std::path::absolute(only).unwrap_or(only.clone()).display().to_string(),
        _ => own.to_owned(),
    }
}

/// The C program of an input.
pub fn program_of(program: &Program, query: &TargetQuery, heap: &InputHeap, files: &[PathBuf]) -> String {
    let source = &source_of(program, query.entry, files);
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
    let unknown = rows.iter().any(|t| matches!(t.result.as_str(), "unknown" | "unreachable-within" | "open"));
    let kind = |clause: &str| if clause == ALLOCATIONS_SUCCEED { "allocation" } else { "parameter" };
    let assumption = |clause: String| Assumption { kind: kind(&clause).into(), clause };
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
        print!("{}", names::readable(&format!("{}{text}", table(&summary.targets))));
        for a in &summary.assumptions {
            println!("  assuming that {}", a.clause);
        }
        print!("{}", pleach::cut_reason::what_to_do(topics::open_topics(&summary.targets)));
        println!("Results are in {}", dir.path().display());
    }
    let unreachable = summary.targets.iter().any(|t| matches!(t.result.as_str(), "unreachable" | "false"));
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
