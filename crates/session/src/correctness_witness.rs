//! The witness of a proof: invariants of loops in C, each checked on the program itself.
//!
//! *Idea*: what the proof knows of a loop is true of the states that it compared, at the places where it compared them.
//! Said in C at the loop's keyword it is a candidate. All candidates become checks in a copy of the source
//! ([`pleach_witness::correctness`]), which is explored. Those that are violated are dropped, until none is.
//! *Invariant*: what is written holds each time the loop is reached, by a proof of its own. *Direction*: invariants are
//! left out: those that C cannot say, those that do not hold, and all if the time for the check is over.

use crate::ExplorationResult;
use crate::config::SessionConfig;
use crate::counterexample::witness;
use crate::explanations::LoopInC;
use crate::observer::{Observer, PathEnd};
use crate::progress::Style;
use crate::session::{Conclude, Session};
use crate::witness_check::{changed_copy, not_compiled_in, refused_invariants, violated};
use pleach_command::{CliError, Code};
use pleach_ir::Program;
use pleach_report::RunDir;
use pleach_verify::witness::{Contents, Location, LoopInvariant};
use pleach_witness::{Instrumented, Invariant, InvariantKind, Source, Structure, correctness, loops};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// States of one header that are said together, at most.
const DISJUNCTS: usize = 12;
/// Invariants of one witness, at most.
const INVARIANTS: usize = 60;
/// How often candidates are dropped.
const ROUNDS: usize = 6;
/// Longer expressions help nobody.
const LENGTH: usize = 2000;

/// What is to be written when a proof is found.
pub struct CorrectnessWitness<'a> {
    session: &'a Session,
    dir: RunDir,
    loops: Vec<LoopInC>,
    elapsed: Duration,
}

impl<'a> CorrectnessWitness<'a> {
    pub fn new(session: &'a Session, found: &ExplorationResult) -> CorrectnessWitness<'a> {
        let (dir, loops) = (found.dir.clone(), found.loops_in_c.clone());
        CorrectnessWitness { session, dir, loops, elapsed: found.elapsed }
    }

    /// Writes the witness, if the answer with this status is a proof.
    pub fn write(self, code: Code) -> Result<(), CliError> {
        if !matches!(code, Code::Fine | Code::Assumed) {
            return Ok(());
        }
        // Should the check not come to its end, the witness says nothing of loops.
        self.put(Vec::new())?;
        let Some((file, source)) = self.source() else { return Ok(()) };
        let candidates = self.candidates(&file, &source);
        if candidates.is_empty() {
            return Ok(());
        }
        let place = self.dir.file("witness-check");
        let checked = self.checked(&file, &source, candidates, &place, code);
        // Nobody needs the copies of the program.
        let _ = std::fs::remove_dir_all(&place);
        self.put(checked)
    }

    fn put(&self, invariants: Vec<Invariant>) -> Result<(), CliError> {
        let location = |at: pleach_witness::Location| Location {
            file: at.file,
            line: at.line,
            column: at.column,
            function: at.function,
        };
        let loops = invariants.into_iter().map(|i| LoopInvariant { at: location(i.at), value: i.value }).collect();
        let config = &self.session.config;
        let specification = config.property.specification(None, None);
        let whole = witness(&self.session.program, &config.files, specification, Contents::Correctness(loops));
        Ok(self.dir.write("witness.yml", whole.to_yaml().as_bytes())?)
    }

    /// The only source, if there is one and it is C.
    fn source(&self) -> Option<(PathBuf, Source)> {
        let config = &self.session.config;
        let [file] = &config.files[..] else { return None };
        let is_c = matches!(file.extension().and_then(|e| e.to_str()), Some("c" | "i"));
        let text = is_c.then(|| std::fs::read_to_string(file).ok()).flatten()?;
        Some((file.clone(), Source::new(text, &config.compile.define)?))
    }

    fn candidates(&self, file: &Path, source: &Source) -> Vec<Invariant> {
        let structure = Structure::of(source);
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let mut out: Vec<Invariant> = Vec::new();
        for l in &self.loops {
            let line = pleach_witness::physical_line(&text, &l.file, l.span.line);
            let Some(place) = loops::around(source, &structure, line, l.span.column) else { continue };
            let at = pleach_witness::Location {
                file: file.display().to_string(),
                line: place.line,
                column: place.column,
                function: l.function.clone(),
            };
            for value in values(l, &place) {
                let new = Invariant { kind: InvariantKind::Loop, at: at.clone(), value };
                if new.value.len() <= LENGTH && out.len() < INVARIANTS && !out.contains(&new) {
                    out.push(new);
                }
            }
        }
        out
    }

    /// Those of the candidates that hold.
    fn checked(
        &self,
        file: &Path,
        source: &Source,
        mut candidates: Vec<Invariant>,
        place: &Path,
        code: Code,
    ) -> Vec<Invariant> {
        let began = Instant::now();
        let Ok(base) = RunDir::create(Some(place)) else { return Vec::new() };
        for round in 0..ROUNDS {
            if candidates.is_empty() {
                break;
            }
            let Some(wrong) = self.violated(file, source, &candidates, &base, round, began, code) else {
                return Vec::new();
            };
            if wrong.is_empty() {
                return candidates;
            }
            candidates = without(candidates, &wrong, source);
        }
        Vec::new()
    }

    /// The numbers of the candidates that do not hold, or cannot be compiled; `None`: that is not known.
    #[expect(clippy::too_many_arguments, reason = "one exploration of a changed program, by all that changes it")]
    fn violated(
        &self,
        file: &Path,
        source: &Source,
        candidates: &[Invariant],
        base: &RunDir,
        round: usize,
        began: Instant,
        code: Code,
    ) -> Option<BTreeSet<usize>> {
        let text = match correctness::instrument(Instrumented::new(source, file), candidates) {
            Ok(text) => text,
            Err((number, _)) => return number.map(|n| BTreeSet::from([n])),
        };
        let functions: Vec<String> = (1..=candidates.len()).map(correctness::error_function).collect();
        let name = format!("round-{round}");
        let mut config = changed_copy(&self.quiet(), file, &text, base, &name, began).ok()?;
        config.property = config.property.and_never_called(&functions);
        config.exec.error_functions = config.property.error_functions().to_vec();
        let session = match Session::load_for_property(config) {
            Ok(session) => session,
            Err(why) => {
                let refused: BTreeSet<usize> = refused_invariants(&why.to_string()).into_iter().collect();
                return (!refused.is_empty()).then_some(refused);
            }
        };
        if let Some(missing) = not_compiled_in(&session.program, correctness::FILE, candidates.len()) {
            return Some(BTreeSet::from([missing]));
        }
        // The answer is out; only the witness is missing.
        let conclude: Conclude = Arc::new(move |_| Ok(code));
        let mut violations = Violations { numbers: BTreeSet::new(), program: session.program.clone() };
        let found = session.explore(&mut violations, Some(&base.file(&format!("run-{round}"))), &conclude).ok()?;
        let complete = found.summary.complete && !found.crashed;
        found.forget();
        match violations.numbers.is_empty() {
            false => Some(violations.numbers),
            true => complete.then(BTreeSet::new),
        }
    }

    /// The user's configuration, without words, and with as much time as the proof took.
    fn quiet(&self) -> SessionConfig {
        let mut config = self.session.config.clone();
        config.output.print_findings = false;
        config.output.progress = Style::choose(false, true);
        config.output.write_all_tests = false;
        (config.check_interpolants, config.portfolio) = (None, false);
        let limits = &mut config.run.limits;
        let time = Duration::from_secs(1) + self.elapsed;
        limits.max_time = Some(limits.max_time.map_or(time, |t| time.min(t.saturating_sub(self.elapsed))));
        config
    }
}

/// The candidates for a loop.
fn values(l: &LoopInC, place: &loops::LoopPlace) -> Vec<String> {
    let all = &l.invariants;
    if all.is_empty() || all.len() > DISJUNCTS || all.iter().any(|i| i.conjuncts.is_empty()) {
        return Vec::new();
    }
    let guard = match (&place.condition, all.iter().all(|i| i.at_header)) {
        // What was found behind the condition holds where that is true.
        (Some(c), false) if place.tests_first && c != "1" => Some(c),
        _ => None,
    };
    let guarded = |value: String| guard.map_or_else(|| value.clone(), |c| format!("!({c}) || ({value})"));
    if let [one] = &all[..] {
        return one.conjuncts.iter().map(|c| guarded(c.clone())).collect();
    }
    let conjunction = |c: &[String]| c.iter().map(|c| format!("({c})")).collect::<Vec<_>>().join(" && ");
    let disjuncts: Vec<String> = all.iter().map(|i| format!("({})", conjunction(&i.conjuncts))).collect();
    vec![guarded(disjuncts.join(" || "))]
}

/// The candidates but those with these numbers. One that does not hold where the loop ends may hold where it goes on.
fn without(candidates: Vec<Invariant>, wrong: &BTreeSet<usize>, source: &Source) -> Vec<Invariant> {
    let structure = Structure::of(source);
    let mut out = Vec::new();
    for (i, mut c) in candidates.into_iter().enumerate() {
        if wrong.contains(&(i + 1)) {
            let place = loops::around(source, &structure, c.at.line, c.at.column);
            let condition = place.filter(|p| p.tests_first).and_then(|p| p.condition);
            match condition {
                Some(text) if text != "1" && text != c.value && !c.value.starts_with(&format!("!({text})")) => {
                    c.value = format!("!({text}) || ({})", c.value);
                }
                _ => continue,
            }
        }
        out.push(c);
    }
    out
}

/// Which checks fail.
struct Violations {
    numbers: BTreeSet<usize>,
    program: Rc<Program>,
}

impl Observer for Violations {
    fn ended(&mut self, path: PathEnd) {
        let called = pleach_verify::called(&self.program, path.state);
        if let (pleach_state::End::Error(_), Some(number)) = (path.end, called.and_then(violated)) {
            self.numbers.insert(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_ir::Span;
    use pleach_prune::InvariantInC;

    #[test]
    fn candidates_at_the_keyword() {
        let invariant =
            |at_header, c: &[&str]| InvariantInC { at_header, conjuncts: c.iter().map(|c| (*c).to_owned()).collect() };
        let of = |invariants: Vec<InvariantInC>, condition: Option<&str>| {
            let l = LoopInC { file: "a.c".into(), span: Span::default(), function: "f".into(), invariants };
            let condition = condition.map(str::to_owned);
            values(&l, &loops::LoopPlace { line: 1, column: 1, condition, tests_first: true })
        };
        assert_eq!(of(vec![invariant(true, &["x > 0", "y"])], Some("c")), ["x > 0", "y"]);
        assert_eq!(of(vec![invariant(false, &["x > 0"])], Some("c")), ["!(c) || (x > 0)"]);
        assert_eq!(of(vec![invariant(false, &["x > 0"])], None), ["x > 0"]);
        assert_eq!(of(vec![invariant(false, &["x > 0"])], Some("1")), ["x > 0"]);
        let two = vec![invariant(true, &["x"]), invariant(true, &["y", "z"])];
        assert_eq!(of(two, None), ["((x)) || ((y) && (z))"]);
        assert!(of(vec![invariant(true, &["x"]), invariant(true, &[])], None).is_empty());
    }
}
