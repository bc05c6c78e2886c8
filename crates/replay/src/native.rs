//! Replaying one test.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use pleach_report::{ErrorKind, KTest, Prediction, RunDir, RunInfo, TestCase, TestId};
use serde::Serialize;

use crate::compile::{Binary, Builder};
use crate::debug_build::DebugBuild;
use crate::error::{ReplayError, Result, complaint};
use crate::options::{Options, SanitizerUse};
use crate::outcome::{Ending, Location, Notes, Observed, ending};
use crate::sandbox::{Exit, Finished, LARGEST_INPUT, Places, Refusal, Run, Sandbox};
use crate::sanitizer::{self, Finding};
use crate::servers::{ServerKind, Servers};
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

/// Reads a `.ktest` file. The prediction is in the `.json` file next to it; a test of another tool has none.
pub fn read_test(path: &Path) -> Result<TestCase> {
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
    Ok(test)
}

/// Replays tests of one run. Builds are made on first use and kept in the run directory.
pub struct Replayer {
    info: RunInfo,
    cache: PathBuf,
    options: Options,
    plain: Mutex<Option<Binary>>,
    sanitized: Mutex<Option<Binary>>,
    sandbox: OnceLock<Sandbox>,
    servers: Servers,
    stacks: symbolize::Cache,
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
            servers: Servers::default(),
            stacks: symbolize::Cache::default(),
            runs: AtomicU64::new(0),
        }
    }

    /// The plain build and everything to start it with this test, outside the sandbox.
    pub fn debug_build(&self, test: &TestCase) -> Result<DebugBuild> {
        let binary = self.binary(false)?;
        DebugBuild::make(binary.path, self.scratch(), test, &self.info)
    }

    /// Replays a test, as one of many: where it does what was predicted, in a sandbox that it shares with others.
    pub fn replay_of_many(&self, test: &TestCase) -> Result<Report> {
        let shared = self.compared(test, true)?;
        // Whatever else a test does must not depend on those before it.
        let decided = shared.verdict == Verdict::Agrees || shared.observed.ending == Ending::TimedOut;
        if decided { Ok(shared) } else { self.replay(test) }
    }

    /// Replays a test.
    pub fn replay(&self, test: &TestCase) -> Result<Report> {
        let mut report = self.compared(test, false)?;
        if let (true, Verdict::Disagrees { expected, observed }) = (test.given, &report.verdict) {
            let why = format!(
                "it depends on the modelled system, and this one may differ: expected {expected}, but {observed}"
            );
            report.verdict = Verdict::undetermined(why);
        }
        Ok(report)
    }

    fn compared(&self, test: &TestCase, shared: bool) -> Result<Report> {
        let report = |verdict, observed| Ok(Report { test: test.id, verdict, observed });
        if self.options.sanitizers == SanitizerUse::Always {
            let (observed, findings) = self.run(test, true, shared)?;
            let (verdict, observed) = self.judge(test, observed, &findings);
            return report(verdict, observed);
        }
        let (plain, _) = self.run(test, false, shared)?;
        let verdict = compare(&test.predicted, &plain);
        let needed = match &test.predicted {
            Prediction::Error { kind, .. } => sanitizers_help(*kind) && verdict != Verdict::Agrees,
            _ => false,
        };
        if !needed || self.options.sanitizers == SanitizerUse::Never {
            return report(verdict, plain);
        }
        match self.run(test, true, shared) {
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

    fn run(&self, test: &TestCase, sanitized: bool, shared: bool) -> Result<(Observed, Vec<Finding>)> {
        let binary = self.binary(sanitized)?;
        let finished = if shared { self.run_shared(&binary, test, sanitized) } else { None };
        let (finished, notes, log) = match finished {
            Some(finished) => read(finished),
            None => self.run_once(&binary, test, sanitized, &[])?,
        };
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
        // The environment is no input of the test: the program gets the same, empty one everywhere.
        let leak = predicts_leak(test);
        let environment = |places: &Places| {
            let mut all = self.environment(places, sanitized, leak);
            if !watched.is_empty() {
                let list: Vec<String> = watched.iter().map(|a| format!("{a:#x}")).collect();
                all.push(("PLEACH_WATCH", list.join(",")));
            }
            all
        };
        let (scratch, input) = (self.scratch(), KTest::from(test).to_bytes());
        let run = self.prepare(binary, test, sanitized, &environment, (&scratch, &input));
        let finished = self.sandbox().and_then(|s| s.run(&run)).map_err(|refusal| match refusal {
            Refusal::Isolation(step, source) => ReplayError::Isolation { missing: step.to_string(), source },
            Refusal::System(source) => ReplayError::io("run", &binary.path)(source),
        })?;
        Ok(read(finished))
    }

    /// Runs it in a server, if that is possible.
    fn run_shared(&self, binary: &Binary, test: &TestCase, sanitized: bool) -> Option<Finished> {
        let input = KTest::from(test).to_bytes();
        let same_arguments = test.args.is_empty() || test.args == self.info.argv;
        if !same_arguments || input.len() > LARGEST_INPUT || self.servers.are_refused() {
            return None;
        }
        let kind = ServerKind { sanitized, leak: predicts_leak(test) };
        let start = || {
            let environment = |places: &Places| self.environment(places, sanitized, kind.leak);
            let scratch = self.scratch();
            let run = self.prepare(binary, test, sanitized, &environment, (&scratch, &[]));
            self.sandbox().and_then(|s| s.serve(run))
        };
        self.servers.run(kind, &input, start)
    }

    fn environment(&self, places: &Places, sanitized: bool, leak: bool) -> Vec<(&'static str, String)> {
        let mut all = vec![
            ("PLEACH_KTEST", places.input.display().to_string()),
            ("PLEACH_OUTCOME", places.notes.display().to_string()),
        ];
        if sanitized {
            all.extend(sanitizer::environment(&places.log, self.options.limits.memory, leak));
        }
        all
    }

    fn scratch(&self) -> PathBuf {
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        self.cache.join(format!("scratch-{}-{number}", std::process::id()))
    }

    fn prepare<'a>(
        &self,
        binary: &'a Binary,
        test: &TestCase,
        sanitized: bool,
        environment: &'a dyn Fn(&Places) -> Vec<(&'static str, String)>,
        (scratch, input): (&'a Path, &'a [u8]),
    ) -> Run<'a> {
        let given = if test.args.is_empty() { &self.info.argv } else { &test.args };
        let mut arguments: Vec<Vec<u8>> = given.iter().map(|a| a.as_bytes().to_vec()).collect();
        if arguments.is_empty() {
            arguments.push(binary.path.as_os_str().as_encoded_bytes().to_vec());
        }
        Run {
            program: &binary.path,
            arguments,
            environment,
            input,
            variables: Vec::new(),
            files: &[],
            stdin: None,
            stdout: None,
            scratch,
            limit_memory: !sanitized,
            serves: false,
        }
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
        let mut stack = self.stacks.locations(&binary.path, &notes.frames);
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

fn read(finished: Finished) -> (Finished, Notes, String) {
    let notes = Notes::parse(&String::from_utf8_lossy(&finished.notes));
    let log = String::from_utf8_lossy(&finished.log).into_owned();
    (finished, notes, log)
}

fn predicts_leak(test: &TestCase) -> bool {
    matches!(test.predicted, Prediction::Error { kind: ErrorKind::Leak, .. })
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
