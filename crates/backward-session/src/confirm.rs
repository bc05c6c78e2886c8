//! A native run of a candidate: what the solver says of an input is accepted only if the program does it.

use super::{BackwardSession, TargetQuery, program_of, source_of};
use pleach_backward::{Confirmation, Exactness, InputHeap, harness_of_many};
use pleach_command::CliError;
use pleach_ir::{FuncId, Program};
use pleach_replay::{Ending, Line, Options, ReplayError, Replayer, Verdict};
use pleach_report::{EntryKind, ErrorKind, Prediction, RunDir, RunInfo, TestCase, TestId};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// For a native run of one of many inputs.
const TIME: Duration = Duration::from_secs(2);

pub struct Confirmer<'a> {
    dir: &'a RunDir,
    options: Option<Options>,
    files: Vec<PathBuf>,
    directory: PathBuf,
    cc_flags: Vec<String>,
    /// what the last run showed
    note: String,
}

impl<'a> Confirmer<'a> {
    pub fn new(args: &BackwardSession, dir: &'a RunDir) -> Result<Confirmer<'a>, CliError> {
        let directory =
            std::env::current_dir().map_err(|why| CliError::System { what: "find the current directory", why })?;
        Ok(Confirmer {
            dir,
            options: args.replay.clone(),
            files: args.files.clone(),
            directory,
            cc_flags: pleach::cc_flags(&args.compile),
            note: String::new(),
        })
    }

    /// How to build the program.
    pub fn run_info(&self, entry: &str) -> RunInfo {
        RunInfo {
            sources: self.files.clone(),
            directory: self.directory.clone(),
            cc_flags: self.cc_flags.clone(),
            libraries: Vec::new(),
            error_functions: Vec::new(),
            malloc_may_fail: false,
            entry: entry.to_owned(),
            entry_kind: EntryKind::Main,
            argv: vec!["harness".into()],
            command: std::env::args_os().map(|a| a.to_string_lossy().into_owned()).collect(),
        }
    }

    pub fn take_note(&mut self) -> String {
        std::mem::take(&mut self.note)
    }

    pub fn confirm(
        &mut self,
        program: &Program,
        query: &TargetQuery,
        heap: &InputHeap,
        exact: Exactness,
        number: usize,
    ) -> Confirmation {
        let text = program_of(program, query, heap, &self.files);
        let name = format!("target-{number}.c");
        if let Err(why) = self.dir.write(&name, text.as_bytes()) {
            return Confirmation::Refuted(why.to_string());
        }
        let Some(options) = self.options.clone() else {
            self.note = "not replayed natively (--replay=never)".into();
            return match exact {
                Exactness::Exact => Confirmation::Confirmed,
                Exactness::Abstracted => Confirmation::Refuted(self.take_note()),
            };
        };
        let cache = format!("replay-{number}");
        let replayer = self.replayer(program, query, &self.dir.file(&name), &cache, options);
        match observed_target(&replayer, program, query, None) {
            Ok(note) => {
                self.note = note;
                Confirmation::Confirmed
            }
            Err(why) => Confirmation::Refuted(why),
        }
    }

    /// What native runs showed of inputs of functions of one source: nothing where they do not confirm the input. All
    /// are in one program, which is built once.
    pub fn confirm_all(
        &mut self,
        program: &Program,
        source: &str,
        inputs: &[(&TargetQuery, &InputHeap)],
        number: usize,
        deadline: Option<Instant>,
    ) -> Result<Vec<Option<String>>, CliError> {
        let mut notes = vec![None; inputs.len()];
        let (Some(mut options), Some((first, _))) = (self.options.clone(), inputs.first()) else { return Ok(notes) };
        options.limits.time = options.limits.time.min(TIME);
        let has_main = program.functions.iter().any(|f| f.name == "main" && !f.is_declaration());
        let all: Vec<(FuncId, &InputHeap)> = inputs.iter().map(|(q, heap)| (q.entry, *heap)).collect();
        let text = harness_of_many(program, &all, source, has_main);
        let name = format!("inputs-{number}.c");
        self.dir.write(&name, text.as_bytes())?;
        let cache = format!("replay-inputs-{number}");
        let replayer = self.replayer(program, first, &self.dir.file(&name), &cache, options);
        for (k, (query, _)) in inputs.iter().enumerate() {
            if deadline.is_some_and(|d| Instant::now() >= d) {
                break;
            }
            // What is not confirmed here is looked at alone.
            notes[k] = observed_target(&replayer, program, query, Some(k)).ok();
        }
        Ok(notes)
    }

    fn replayer(&self, program: &Program, q: &TargetQuery, harness: &Path, cache: &str, options: Options) -> Replayer {
        let included = &source_of(program, q.entry, &self.files);
        let absolute = |f: &PathBuf| self.directory.join(f);
        let same = |f: &PathBuf| absolute(f) == Path::new(included) || absolute(f).ends_with(included);
        let mut sources = vec![std::path::absolute(harness).unwrap_or_else(|_| harness.to_owned())];
        sources.extend(self.files.iter().filter(|f| !same(f)).cloned());
        let info = RunInfo { sources, ..self.run_info("main") };
        Replayer::for_program(info, self.dir.file(cache), options)
    }
}

/// What a native run showed of the target, or why it does not confirm it. `input`: which of the program's inputs it is.
fn observed_target(
    replayer: &Replayer,
    program: &Program,
    query: &TargetQuery,
    input: Option<usize>,
) -> Result<String, String> {
    let test = |predicted: Prediction| {
        let args = input.map_or_else(Vec::new, |k| vec!["harness".into(), k.to_string()]);
        TestCase { args, ..test(predicted) }
    };
    let (file, line) = (program.path(query.span).to_owned(), query.span.line);
    if query.kinds.is_empty() {
        let lines = lines(program, query);
        let passed = replayer.passes(&test(Prediction::Cut { reason: "the target".into() }), &lines).map_err(text)?;
        let hit = passed.iter().position(|p| *p == Some(true));
        return match hit {
            Some(i) => Ok(format!("replayed natively: {}:{} was executed", base(&lines[i].file), lines[i].line)),
            None if passed.contains(&None) => Err("a native run does not show whether the line is executed".into()),
            None => Err("a native run of the input does not reach it".into()),
        };
    }
    let mut why = String::new();
    // The kinds that may still be seen.
    let mut seen: Option<Vec<ErrorKind>> = None;
    for &kind in query.kinds.iter() {
        if seen.as_ref().is_some_and(|all| !all.contains(&kind)) {
            continue;
        }
        let message = String::new();
        let predicted = Prediction::Error { kind, file: file.clone(), line, message };
        let report = replayer.replay(&test(predicted)).map_err(text)?;
        if report.observed.sanitized {
            seen = Some(match report.observed.ending {
                Ending::Error(kinds) => kinds,
                _ => Vec::new(),
            });
        }
        match report.verdict {
            Verdict::Agrees => return Ok(format!("replayed natively: {} at {}:{line}", kind.as_str(), base(&file))),
            Verdict::Disagrees { observed, .. } => {
                why = format!("a native run of the input ends otherwise: {observed}")
            }
            Verdict::Undetermined { why: reason } => why = format!("a native run does not decide it: {reason}"),
        }
    }
    Err(why)
}

fn text(why: ReplayError) -> String {
    format!("native replay is not possible: {}", why.in_one_line())
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn test(predicted: Prediction) -> TestCase {
    TestCase {
        id: TestId(1),
        inputs: Vec::new(),
        predicted,
        covers_new: false,
        given: false,
        path: 0,
        instructions: 0,
        args: Vec::new(),
    }
}

/// The lines of the goals.
fn lines(program: &Program, query: &TargetQuery) -> Vec<Line> {
    let mut all = BTreeSet::new();
    if query.span.is_known() {
        all.insert(Line { file: program.path(query.span).to_owned(), line: query.span.line });
    }
    for goal in &query.goals {
        let (f, i) = goal.place();
        let span = program.function(f).spans.get(i.index()).copied().unwrap_or_default();
        if span.is_known() && !query.span.is_known() {
            all.insert(Line { file: program.path(span).to_owned(), line: span.line });
        }
    }
    all.into_iter().collect()
}
