//! `pleach verify --check-witness`: whether a witness is right about the program.
//!
//! *Idea*: the witness becomes code in a copy of the source ([`pleach_witness`]), and the copy is explored. A
//! correctness witness is confirmed if the property and all its invariants are proved, refuted if one of them can be
//! violated. A violation witness is confirmed if a violation is found among the executions that it describes, refuted
//! if there is none among all of these. *Direction*: what is not decided is unknown.

use crate::config::SessionConfig;
use crate::counterexample::Counterexample;
use crate::observer::{Observer, PathEnd};
use crate::session::{Conclude, Session};
use crate::verdict_text::verdict;
use crate::{ExplorationResult, Judged};
use pleach_command::{CliError, Code};
use pleach_replay::Options;
use pleach_report::{RunDir, testcomp};
use pleach_state::Cut;
use pleach_verify::Answer;
use pleach_witness::violation::Reading;
use pleach_witness::{Contents, Instrumented, Invariant, Read, Segment, Source, correctness, violation};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};
use std::time::Instant;

/// A witness, and what to validate it against.
pub struct WitnessCheck {
    pub config: SessionConfig,
    pub witness: PathBuf,
    /// how to replay, if that is wanted
    pub replay: Option<Options>,
    pub output_dir: Option<PathBuf>,
    pub json: bool,
}

/// What can be said of a witness.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judgement {
    Confirmed(String),
    Refuted(String),
    Unknown(Vec<String>),
}

impl WitnessCheck {
    /// Validates, writes and prints the answer.
    pub fn run(self) -> Result<Code, CliError> {
        let text = std::fs::read_to_string(&self.witness)
            .map_err(|why| CliError::Usage(format!("cannot read the witness {}: {why}", self.witness.display())))?;
        let refuse = |why: String| CliError::Usage(format!("{}: {why}", self.witness.display()));
        let read = pleach_witness::read(&text).map_err(|e| refuse(e.to_string()))?;
        let source = self.source(&read).map_err(refuse)?;
        let base = RunDir::create(self.output_dir.as_deref())?;
        let program = Program { file: source, base, began: Instant::now(), check: &self };
        let judgement = match &read.contents {
            Contents::Correctness(invariants) => program.correctness(invariants)?,
            Contents::Violation(segments) => program.violation(segments)?,
        };
        judgement.say(&program.base, self.json)
    }

    /// The file that the witness is about.
    fn source(&self, read: &Read) -> Result<PathBuf, String> {
        let model = if self.config.compile.m32 { "ILP32" } else { "LP64" };
        if !read.data_model.is_empty() && read.data_model != model {
            return Err(format!("the witness is for --data-model {0}, not {model}", read.data_model));
        }
        let is_c = |f: &&PathBuf| matches!(f.extension().and_then(|e| e.to_str()), Some("c" | "i" | "h"));
        let sources: Vec<&PathBuf> = self.config.files.iter().filter(is_c).collect();
        let named = |file: &&&PathBuf| match &read.contents {
            Contents::Correctness(all) => all.iter().all(|i| same_name(&i.at.file, file)),
            Contents::Violation(all) => all.iter().all(|s| same_name(&s.follow.at.file, file)),
        };
        let found = match sources.iter().find(named) {
            Some(file) => (*file).clone(),
            None => return Err("the witness is about another file, or about several".into()),
        };
        let other = read.hashes.iter().find(|(file, _)| same_name(file, &found)).is_some_and(|(_, hash)| {
            let own = testcomp::program_hash(&std::fs::read(&found).unwrap_or_default());
            !hash.eq_ignore_ascii_case(&own)
        });
        if other { Err(format!("it is about another text of {}: SHA-256 differs", found.display())) } else { Ok(found) }
    }
}

fn same_name(name: &str, file: &Path) -> bool {
    Path::new(name).file_name() == file.file_name()
}

impl Judgement {
    fn of_error(why: impl Into<String>) -> Judgement {
        Judgement::Unknown(vec![why.into()])
    }

    fn as_str(&self) -> &'static str {
        match self {
            Judgement::Confirmed(_) => "confirmed",
            Judgement::Refuted(_) => "refuted",
            Judgement::Unknown(_) => "unknown",
        }
    }

    fn code(&self) -> Code {
        match self {
            Judgement::Confirmed(_) => Code::Fine,
            Judgement::Refuted(_) => Code::Found,
            Judgement::Unknown(_) => Code::Unknown,
        }
    }

    fn reasons(&self) -> Vec<String> {
        match self {
            Judgement::Confirmed(why) | Judgement::Refuted(why) => vec![why.clone()],
            Judgement::Unknown(reasons) => reasons.clone(),
        }
    }

    /// The last line is the answer.
    fn say(&self, base: &RunDir, json: bool) -> Result<Code, CliError> {
        let whole = serde_json::json!({ "witness": self.as_str(), "reasons": self.reasons() });
        let whole = serde_json::to_string_pretty(&whole).unwrap_or_default();
        base.write("witness-check.json", whole.as_bytes())?;
        if json {
            println!("{whole}");
            return Ok(self.code());
        }
        let word = self.as_str();
        println!("Witness {word}.");
        self.reasons().iter().for_each(|r| println!("  {r}"));
        println!("Results are in {}\n{word}", base.path().display());
        Ok(self.code())
    }
}

/// The program that a witness is about.
struct Program<'a> {
    file: PathBuf,
    base: RunDir,
    began: Instant,
    check: &'a WitnessCheck,
}

impl Program<'_> {
    fn text(&self) -> Result<Source, Judgement> {
        let text = std::fs::read(&self.file).map_err(|e| Judgement::of_error(e.to_string()))?;
        let source = Source::new(String::from_utf8_lossy(&text).into_owned(), &self.check.config.compile.define);
        source.ok_or_else(|| Judgement::of_error("a comment or a string of the program does not end"))
    }

    fn correctness(&self, invariants: &[Invariant]) -> Result<Judgement, CliError> {
        let source = match self.text() {
            Ok(source) => source,
            Err(why) => return Ok(why),
        };
        let text = match correctness::instrument(Instrumented::new(&source, &self.file), invariants) {
            Ok(text) => text,
            Err((Some(number), why)) => return Ok(Judgement::Refuted(format!("invariant {number}: {why}"))),
            Err((None, why)) => return Ok(Judgement::of_error(why)),
        };
        let functions: Vec<String> = (1..=invariants.len()).map(correctness::error_function).collect();
        let mut config = self.copy(&text, "checked")?;
        config.property = config.property.and_never_called(&functions);
        config.exec.error_functions = config.property.error_functions().to_vec();
        let session = match Session::load_for_property(config) {
            Ok(session) => session,
            Err(why) => return Ok(not_compiled(&why, invariants)),
        };
        if let Some(missing) = not_compiled_in(&session.program, correctness::FILE, invariants.len()) {
            return Ok(Judgement::of_error(format!("the code at {} is not compiled", invariants[missing - 1].at)));
        }
        let mut judge = Counterexample::new(&session, self.check.replay.clone()).without_witness();
        let judged = judge.judged();
        let found = self.explore(&session, &mut judge, "check")?;
        let judged = judged.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let judgement = of_correctness(&found, &judged, invariants);
        found.forget();
        Ok(judgement)
    }

    fn violation(&self, segments: &[Segment]) -> Result<Judgement, CliError> {
        let source = match self.text() {
            Ok(source) => source,
            Err(why) => return Ok(why),
        };
        let mut last = Judgement::Unknown(Vec::new());
        for (reading, name) in [(Reading::Strict, "strict"), (Reading::Format, "format")] {
            let (text, places) = match violation::instrument(Instrumented::new(&source, &self.file), segments, reading)
            {
                Ok(changed) => changed,
                Err((number, why)) => return Ok(Judgement::of_error(format!("segment {number}: {why}"))),
            };
            let session = match Session::load_for_property(self.copy(&text, name)?) {
                Ok(session) => session,
                Err(why) => return Ok(Judgement::of_error(why.to_string())),
            };
            if not_compiled_in(&session.program, violation::FILE, places).is_some() {
                return Ok(Judgement::of_error("the code at one of its waypoints is not compiled"));
            }
            let judge = Counterexample::new(&session, self.check.replay.clone()).without_witness();
            let line = segments.last().map_or(0, |s| s.follow.at.line);
            let mut judge = AtTarget { judge, line };
            let judged = judge.judge.judged();
            let found = self.explore(&session, &mut judge, &format!("check-{name}"))?;
            let judged = judged.lock().unwrap_or_else(PoisonError::into_inner).clone();
            last = of_violation(&found, &judged);
            found.forget();
            if matches!(last, Judgement::Confirmed(_)) {
                break;
            }
        }
        Ok(last)
    }

    /// The configuration for a changed copy of the program.
    fn copy(&self, text: &str, name: &str) -> Result<SessionConfig, CliError> {
        changed_copy(&self.check.config, &self.file, text, &self.base, name, self.began)
    }

    fn explore(&self, session: &Session, judge: &mut dyn Observer, name: &str) -> Result<ExplorationResult, CliError> {
        let (base, json) = (self.base.clone(), self.check.json);
        let conclude: Conclude = Arc::new(move |found| Judgement::Unknown(found.not_explored()).say(&base, json));
        let mut found = session.explore(judge, Some(&self.base.file(name)), &conclude)?;
        found.write();
        Ok(found)
    }
}

/// The configuration for a changed copy of `file`, which is written to the directory. What is left of the time is its
/// time.
pub(crate) fn changed_copy(
    config: &SessionConfig,
    file: &Path,
    text: &str,
    base: &RunDir,
    name: &str,
    began: Instant,
) -> Result<SessionConfig, CliError> {
    // Its extension says what it is: what is preprocessed has no more macros.
    let extension = file.extension().and_then(|e| e.to_str()).unwrap_or("c");
    let copy = base.file(&format!("{name}.{extension}"));
    base.write(&format!("{name}.{extension}"), text.as_bytes())?;
    let mut config = config.clone();
    config.files.iter_mut().filter(|f| *f == file).for_each(|f| f.clone_from(&copy));
    let folder = file.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    config.compile.cc_args.push(format!("-iquote{}", folder.display()));
    // The checks are expressions of another tool, in code of another's.
    config.compile.cc_args.push("-w".into());
    config.run.limits.max_time = config.run.limits.max_time.map(|t| t.saturating_sub(began.elapsed()));
    Ok(config)
}

/// Only violations at the target count.
struct AtTarget {
    judge: Counterexample,
    line: u32,
}

impl Observer for AtTarget {
    fn ended(&mut self, mut path: PathEnd) {
        let line = self.line;
        let at_target = |e: &pleach_report::ErrorRecord| e.line == line || e.stack.iter().any(|f| f.line == line);
        path.violation = path.violation.filter(|(_, error)| at_target(error));
        self.judge.ended(path);
    }

    fn stop(&mut self) -> Option<Cut> {
        self.judge.stop()
    }
}

/// The numbers of the invariants that the compiler refuses, by its diagnostics, in their order.
pub(crate) fn refused_invariants(diagnostics: &str) -> Vec<usize> {
    let begins = format!("{}:", correctness::FILE);
    let number = |line: &str| {
        let at = line.find(&begins)?;
        line[at + begins.len()..].split(':').next()?.parse().ok()
    };
    diagnostics.lines().filter(|l| l.contains("error: ")).filter_map(number).collect()
}

/// An invariant that does not compile is wrong; other errors of the compiler are not its fault.
fn not_compiled(why: &CliError, invariants: &[Invariant]) -> Judgement {
    let text = why.to_string();
    match refused_invariants(&text).first().and_then(|n| invariants.get(n.checked_sub(1)?)) {
        Some(Invariant { at, value, .. }) => {
            let said = text.lines().find_map(|l| l.split("error: ").nth(1)).unwrap_or_default();
            Judgement::Refuted(format!("the invariant at {at} (`{value}`) does not compile: {said}"))
        }
        None => Judgement::of_error(text),
    }
}

/// The first line of a file that is only in the changed copy and of which there is no code: the preprocessor left it out.
pub(crate) fn not_compiled_in(program: &pleach_ir::Program, file: &str, lines: usize) -> Option<usize> {
    let mut seen = vec![false; lines];
    let all = program.functions.iter().flat_map(|f| f.spans.iter().chain(f.block_spans.iter().flatten()));
    for span in all.filter(|s| s.is_known() && Path::new(program.path(**s)).ends_with(file)) {
        if let Some(line) = seen.get_mut(span.line as usize - 1) {
            *line = true;
        }
    }
    seen.iter().position(|s| !s).map(|i| i + 1)
}

/// The number of the invariant that the error is about.
pub(crate) fn violated(message: &str) -> Option<usize> {
    let prefix = correctness::error_function(0);
    let rest = message.split(prefix.trim_end_matches('0')).nth(1)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn of_correctness(found: &ExplorationResult, judged: &Judged, invariants: &[Invariant]) -> Judgement {
    let verdict = verdict(found, judged);
    let last = found.summary.errors.last();
    match (verdict.answer, last) {
        (Answer::Unsafe, Some(error)) => {
            let test = error.test.map_or_else(String::new, |t| format!(" ({}/{}.ktest)", found.place(), t.stem()));
            let replay = judged.violation.as_ref().map_or_else(String::new, |v| v.1.clone());
            match violated(&error.message).and_then(|n| invariants.get(n - 1)) {
                Some(i) => Judgement::Refuted(format!(
                    "the invariant at {} (`{}`) does not hold on every execution{test}. {replay}.",
                    i.at, i.value
                )),
                None if Path::new(&error.file).ends_with(correctness::FILE) => Judgement::Refuted(format!(
                    "evaluating invariant {} is undefined: {}{test}. {replay}.",
                    error.line, error.kind
                )),
                None => Judgement::Refuted(format!(
                    "the program violates the property: {} at {}:{}{test}. {replay}.",
                    error.kind, error.file, error.line
                )),
            }
        }
        (Answer::Safe, _) if invariants.is_empty() => {
            Judgement::Confirmed("The property is proved; the witness has no invariants.".into())
        }
        (Answer::Safe, _) => {
            let n = pleach::number_format::count(invariants.len() as u64, "invariant");
            Judgement::Confirmed(format!("The property is proved, with {n}, each of which holds on every execution."))
        }
        (Answer::SafeAssuming, _) if verdict.svcomp() == "true" => {
            Judgement::Confirmed(format!("The property and all invariants are proved, {}.", verdict.reasons.join(", ")))
        }
        _ => Judgement::Unknown(verdict.reasons),
    }
}

fn of_violation(found: &ExplorationResult, judged: &Judged) -> Judgement {
    let verdict = verdict(found, judged);
    match verdict.answer {
        Answer::Unsafe => {
            let error = found.summary.errors.last();
            let test = error.and_then(|e| e.test).map_or_else(String::new, |t| t.stem());
            let note = judged.violation.as_ref().map_or_else(String::new, |v| v.1.clone());
            let at = error.map_or_else(String::new, |e| format!("{} at {}:{}", e.kind, e.file, e.line));
            Judgement::Confirmed(format!("{at}, on a path that it describes ({}/{test}.ktest). {note}.", found.place()))
        }
        Answer::Safe => Judgement::Refuted("no execution that passes its waypoints violates the property".into()),
        Answer::SafeAssuming if verdict.svcomp() == "true" => {
            Judgement::Refuted("no execution that passes its waypoints violates the property".into())
        }
        _ => Judgement::Unknown(verdict.reasons),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_invariants() {
        let said =
            "a.c: does not compile\ninvariant:3:9: error: use of x\ninvariant:3:9: note: y\n/d/invariant:5:1: error: z";
        assert_eq!(refused_invariants(said), [3, 5]);
        assert!(refused_invariants("a.c:3:1: error: x").is_empty());
        assert_eq!(violated("__pleach_invariant_12() is reached"), Some(12));
        assert_eq!(violated("reach_error() is reached"), None);
    }
}
