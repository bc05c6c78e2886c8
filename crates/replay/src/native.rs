//! Replaying one test.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use pleach_report::{ErrorKind, KTest, Prediction, RunDir, RunInfo, TestCase, TestId};
use serde::Serialize;

use crate::compile::{Binary, Builder};
use crate::error::{ReplayError, Result, complaint};
use crate::options::{Options, SanitizerUse};
use crate::outcome::{Ending, Location, Notes, Observed, ending};
use crate::sandbox::{Exit, Finished, Places, Refusal, Run, Sandbox};
use crate::sanitizer::{self, Finding};
use crate::symbolize;
use crate::verdict::{Verdict, at_line, compare, sanitizers_help, unseen};
use crate::watch::{self, Line};

/// What a replay showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// The test.
    pub test: TestId,
    /// Whether it did what was predicted.
    pub verdict: Verdict,
    /// What it did, in the build that decided.
    pub observed: Observed,
}

/// Replays a `.ktest` file of the run whose directory it is in.
pub fn replay_path(path: &Path, options: Options) -> Result<Report> {
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Replayer::new(&RunDir::open(parent)?, options)?.replay_file(path)
}

/// Replays tests of one run. Builds are made on first use and kept in the run directory.
pub struct Replayer {
    info: RunInfo,
    cache: PathBuf,
    options: Options,
    plain: Mutex<Option<Binary>>,
    sanitized: Mutex<Option<Binary>>,
    sandbox: OnceLock<Sandbox>,
    runs: AtomicU64,
}

impl Replayer {
    /// For the tests of a run.
    pub fn new(run: &RunDir, options: Options) -> Result<Self> {
        Ok(Self::for_program(run.run_info()?, run.file("replay"), options))
    }

    /// For a program; `cache` keeps the builds.
    pub fn for_program(info: RunInfo, cache: PathBuf, options: Options) -> Self {
        let cache = std::path::absolute(&cache).unwrap_or(cache);
        Self {
            info,
            cache,
            options,
            plain: Mutex::default(),
            sanitized: Mutex::default(),
            sandbox: OnceLock::new(),
            runs: AtomicU64::new(0),
        }
    }

    /// Replays a `.ktest` file. The prediction is in the `.json` file next to it; without one, as for a test of
    /// another tool, the program is only run.
    pub fn replay_file(&self, path: &Path) -> Result<Report> {
        let data = fs::read(path).map_err(ReplayError::io("read", path))?;
        let ktest = KTest::from_bytes(&data)?;
        let known = fs::read_to_string(path.with_extension("json"));
        let mut test = match known {
            Ok(text) => pleach_report::json::from_str(&text)?,
            Err(_) => TestCase {
                id: TestId(0),
                inputs: Vec::new(),
                predicted: Prediction::Cut { reason: "there is no prediction for this file".into() },
                covers_new: false,
                given: false,
                path: 0,
                instructions: 0,
                args: ktest.args.clone(),
            },
        };
        // The .ktest file decides, also when it was changed by hand.
        if KTest::from(&test).objects != ktest.objects {
            test.inputs = ktest.untyped_inputs();
        }
        self.replay(&test)
    }

    /// Replays a test.
    pub fn replay(&self, test: &TestCase) -> Result<Report> {
        let mut report = self.compared(test)?;
        if let (true, Verdict::Disagrees { expected, observed }) = (test.given, &report.verdict) {
            let why = format!(
                "it depends on the modelled system, and this one may differ: expected {expected}, but {observed}"
            );
            report.verdict = Verdict::undetermined(why);
        }
        Ok(report)
    }

    fn compared(&self, test: &TestCase) -> Result<Report> {
        let report = |verdict, observed| Ok(Report { test: test.id, verdict, observed });
        if self.options.sanitizers == SanitizerUse::Always {
            let (observed, findings) = self.run(test, true)?;
            let (verdict, observed) = self.judge(test, observed, &findings);
            return report(verdict, observed);
        }
        let (plain, _) = self.run(test, false)?;
        let verdict = compare(&test.predicted, &plain);
        let needed = match &test.predicted {
            Prediction::Error { kind, .. } => sanitizers_help(*kind) && verdict != Verdict::Agrees,
            _ => false,
        };
        if !needed || self.options.sanitizers == SanitizerUse::Never {
            return report(verdict, plain);
        }
        match self.run(test, true) {
            Ok((observed, findings)) => {
                let (verdict, observed) = self.judge(test, observed, &findings);
                report(verdict, observed)
            }
            Err(ReplayError::Build(why)) => {
                let why = complaint(&why);
                report(Verdict::undetermined(format!("the program does not build with sanitizers ({why})")), plain)
            }
            Err(error) => Err(error),
        }
    }

    /// The verdict of a sanitized run: the matching report counts, undefined behaviour found on the way does not.
    fn judge(&self, test: &TestCase, mut observed: Observed, findings: &[Finding]) -> (Verdict, Observed) {
        let Prediction::Error { kind, file, line, .. } = &test.predicted else {
            return (compare(&test.predicted, &observed), observed);
        };
        let fits = |f: &&Finding| f.kinds.contains(kind) && at_line(*kind, file, *line, &f.stack);
        let near = |f: &&Finding| f.kinds.contains(kind);
        if let Some(found) = findings.iter().find(fits).or_else(|| findings.iter().find(near)) {
            show(&mut observed, found);
            return (compare(&test.predicted, &observed), observed);
        }
        if observed.ending == Ending::NotRun {
            return (compare(&test.predicted, &observed), observed);
        }
        let verdict = if self.builder().instrumentable() {
            unseen(&test.predicted, *kind, &observed)
        } else if matches!(observed.ending, Ending::Exit(_)) {
            Verdict::undetermined("sanitizers see little of a program given as bitcode, and it ended normally")
        } else {
            compare(&test.predicted, &observed)
        };
        (verdict, observed)
    }

    /// Which of these lines a native run with the test's input comes to; nothing is known where no code of the line is
    /// found.
    pub fn passes(&self, test: &TestCase, lines: &[Line]) -> Result<Vec<Option<bool>>> {
        let binary = self.binary(false)?;
        let addresses = watch::addresses(&binary.path, lines);
        let all: Vec<u64> = addresses.iter().flatten().copied().collect();
        if all.is_empty() || !cfg!(any(target_arch = "x86_64", target_arch = "x86")) {
            return Ok(vec![None; lines.len()]);
        }
        let (finished, notes, _) = self.run_once(&binary, test, false, &all)?;
        let whole = !matches!(ending(&notes, finished.exit), Ending::TimedOut | Ending::NotRun | Ending::Signal(_));
        let passed = |of: &BTreeSet<u64>| {
            let met = of.iter().any(|a| notes.hits.contains(a));
            // A run that was cut off, or not watched everywhere, does not show that a line is not met.
            let unmet = whole && !of.is_empty() && !of.iter().any(|a| notes.unwatched.contains(a));
            if met { Some(true) } else { unmet.then_some(false) }
        };
        Ok(addresses.iter().map(passed).collect())
    }

    fn run(&self, test: &TestCase, sanitized: bool) -> Result<(Observed, Vec<Finding>)> {
        let binary = self.binary(sanitized)?;
        let (finished, notes, log) = self.run_once(&binary, test, sanitized, &[])?;
        let findings = sanitizer::findings(&log);
        let said = String::from_utf8_lossy(&finished.stderr).into_owned();
        let failure = sanitizer::failure(&log).or_else(|| sanitizer::failure(&said));
        Ok((self.observe(&binary, notes, finished, (&findings, failure), sanitized), findings))
    }

    /// Runs it once, watching addresses: how it ended, what the replay library noted, and what sanitizers wrote.
    fn run_once(
        &self,
        binary: &Binary,
        test: &TestCase,
        sanitized: bool,
        watched: &[u64],
    ) -> Result<(Finished, Notes, String)> {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let scratch = self.cache.join(format!("scratch-{}-{number}", std::process::id()));
        let given = if test.args.is_empty() { &self.info.argv } else { &test.args };
        let mut arguments: Vec<Vec<u8>> = given.iter().map(|a| a.as_bytes().to_vec()).collect();
        if arguments.is_empty() {
            arguments.push(binary.path.as_os_str().as_encoded_bytes().to_vec());
        }
        let leak = matches!(test.predicted, Prediction::Error { kind: ErrorKind::Leak, .. });
        // The environment is no input of the test: the program gets the same, empty one everywhere.
        let environment = |places: &Places| {
            let mut all = vec![
                ("PLEACH_KTEST", places.input.display().to_string()),
                ("PLEACH_OUTCOME", places.notes.display().to_string()),
            ];
            if !watched.is_empty() {
                let list: Vec<String> = watched.iter().map(|a| format!("{a:#x}")).collect();
                all.push(("PLEACH_WATCH", list.join(",")));
            }
            if sanitized {
                all.extend(sanitizer::environment(&places.log, self.options.limits.memory, leak));
            }
            all
        };
        let run = Run {
            program: &binary.path,
            arguments,
            environment: &environment,
            input: &KTest::from(test).to_bytes(),
            variables: Vec::new(),
            files: &[],
            stdin: None,
            stdout: None,
            scratch: &scratch,
            limit_memory: !sanitized,
        };
        let finished = self.sandbox().and_then(|s| s.run(&run)).map_err(|refusal| match refusal {
            Refusal::Isolation(step, source) => ReplayError::Isolation { missing: step.to_string(), source },
            Refusal::System(source) => ReplayError::io("run", &binary.path)(source),
        })?;
        let notes = Notes::parse(&String::from_utf8_lossy(&finished.notes));
        let log = String::from_utf8_lossy(&finished.log).into_owned();
        Ok((finished, notes, log))
    }

    fn sandbox(&self) -> std::result::Result<&Sandbox, Refusal> {
        match self.sandbox.get() {
            Some(made) => Ok(made),
            None => {
                let made = Sandbox::new(self.options.isolation, self.options.limits)?;
                Ok(self.sandbox.get_or_init(|| made))
            }
        }
    }

    fn observe(
        &self,
        binary: &Binary,
        notes: Notes,
        finished: Finished,
        (findings, failure): (&[Finding], Option<&str>),
        sanitized: bool,
    ) -> Observed {
        let mut stack = symbolize::locations(&binary.path, &notes.frames);
        let mut message = String::new();
        if let Some(end) = &notes.end {
            message = end.text.clone();
            // The place that the program itself named comes first; the macro may span several lines.
            if end.line > 0 {
                let named = Location { function: "__assert_fail".into(), file: end.file.clone(), line: end.line };
                stack.insert(0, named);
            }
        }
        let mut observed = Observed {
            ending: ending(&notes, finished.exit),
            message,
            stack,
            notes: notes.notes,
            sanitized,
            stdout: finished.stdout,
            stderr: finished.stderr,
        };
        let ended = notes.end.is_some() || finished.exit == Exit::TimedOut;
        if let Some(fatal) = findings.iter().find(|f| f.fatal && !ended) {
            show(&mut observed, fatal);
        } else if let Some(why) = failure.filter(|_| sanitized && !ended) {
            (observed.ending, observed.message) = (Ending::NotRun, why.to_owned());
        } else if observed.ending == Ending::NotRun {
            observed.message = why_not_started(finished.exit, &observed.stderr);
        }
        explain_abort(&mut observed);
        observed
    }

    fn builder(&self) -> Builder<'_> {
        Builder { info: &self.info, cache: self.cache.clone(), compilers: &self.options.compilers }
    }

    fn binary(&self, sanitized: bool) -> Result<Binary> {
        let slot = if sanitized { &self.sanitized } else { &self.plain };
        let mut slot = slot.lock().unwrap_or_else(|e| e.into_inner());
        if slot.is_none() {
            *slot = Some(self.builder().build(sanitized)?);
        }
        Ok(slot.clone().expect("just filled"))
    }
}

fn show(observed: &mut Observed, found: &Finding) {
    observed.message = found.message.clone();
    observed.stack = found.stack.clone();
    // Stopped for something that is no error of ours: what would have followed is not known.
    observed.ending = if found.kinds.is_empty() { Ending::NotRun } else { Ending::Error(found.kinds.clone()) };
}

/// Nothing of the program was executed: the loader says why, or the kernel ended it.
fn why_not_started(exit: Exit, stderr: &[u8]) -> String {
    let said = String::from_utf8_lossy(stderr).lines().map(str::trim).find(|l| !l.is_empty()).map(str::to_owned);
    said.unwrap_or_else(|| match exit {
        Exit::Signal(number) => format!("signal {number} ended it before its first instruction"),
        Exit::Code(code) => format!("it ended with status {code} before its first instruction"),
        Exit::TimedOut => "it did not start within the time limit".into(),
    })
}

/// An abort may be the C library's way to say that `free` was misused, or a program's own `reach_error`.
fn explain_abort(observed: &mut Observed) {
    let Ending::Error(kinds) = &mut observed.ending else {
        return;
    };
    if kinds[..] != [ErrorKind::Abort] {
        return;
    }
    let stderr = String::from_utf8_lossy(&observed.stderr);
    let heap = ["free(): ", "double free", "munmap_chunk()", "malloc(): ", "realloc(): ", "corrupted"];
    if let Some(line) = stderr.lines().find(|l| heap.iter().any(|h| l.contains(h))) {
        observed.message = line.to_owned();
        *kinds = vec![ErrorKind::DoubleFree, ErrorKind::BadFree];
    } else if observed.stack.iter().any(|l| matches!(l.function.as_str(), "reach_error" | "__VERIFIER_error")) {
        *kinds = vec![ErrorKind::Assert, ErrorKind::Abort];
    }
}
