//! The path of a test as lines of the source, with the values that change: `pleach replay TEST --trace` prints it,
//! [`record`] gives those of the errors of a run, for its page.

use crate::names::Names;
use crate::path::{Paths, Walked};
use crate::view::Configure;
use pleach_command::CliError;
use pleach_exec::{FixedInputs, Machine};
use pleach_ir::{Callee, Inst, Program, Span};
use pleach_present::{TraceStep, Traces};
use pleach_report::diagnostic::SourceCache;
use pleach_report::{ErrorRecord, KTest, RunDir, TestCase, TestId};
use pleach_session::Session;
use pleach_state::access_path::frames;
use pleach_state::{End, State};
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};

/// Errors whose paths are kept, how many of the last steps of each, blocks that a path may have, and the time for all.
const MAX_RECORDED: usize = 50;
const MAX_STEPS: usize = 400;
const MAX_BLOCKS: u64 = 1_000_000;
const MAX_TIME: Duration = Duration::from_secs(3);

/// What is shown of a path, in its order.
enum Shown {
    Line { file: String, line: u32, text: String },
    Values(Vec<String>),
}

/// Prints the path that the test takes in the engine. Returns how it ends.
pub fn print(session: &Session, test: &TestCase) -> Result<(), CliError> {
    let mut paths = Paths::new(session, Some(inputs(test)))?;
    let mut trace = Trace::new(&session.directory);
    let mut each = |machine: &mut Machine, state: &State, at| {
        trace.step(machine, state, at, &mut |depth, shown| {
            let indent = "  ".repeat(depth as usize);
            match shown {
                Shown::Line { file, line, text } => println!("{file}:{line}: {indent}{text}"),
                Shown::Values(values) => println!("        {indent}{}", values.join(", ")),
            }
        });
    };
    let end = paths.walk(&mut each).map_err(CliError::Usage)?;
    println!("{}", describe(&end));
    Ok(())
}

/// The paths of the errors of a finished run, for its page. What cannot be executed again is left out.
pub fn record(run: &Path, configure: Configure) -> Traces {
    try_record(run, configure).unwrap_or_default()
}

fn try_record(run: &Path, configure: Configure) -> Result<Traces, CliError> {
    let run = RunDir::open(run)?;
    let errors = run.summary()?.errors;
    let wanted: BTreeMap<TestId, &ErrorRecord> =
        errors.iter().filter_map(|e| Some((e.test?, e))).take(MAX_RECORDED).collect();
    let mut found = Traces::new();
    if wanted.is_empty() {
        return Ok(found);
    }
    let (tests, info) = (run.readable_tests()?.0, run.run_info()?);
    let until = Instant::now() + MAX_TIME;
    within(&info.directory, || {
        let session = Session::load(configure(&info)?)?;
        for test in &tests {
            let Some(error) = wanted.get(&test.id) else { continue };
            if let Some(steps) = steps(&session, test, error, until) {
                found.insert(test.id, steps);
            }
        }
        Ok(())
    })?;
    Ok(found)
}

/// Files of a run are relative to where its command was started.
fn within<T>(directory: &Path, act: impl FnOnce() -> Result<T, CliError>) -> Result<T, CliError> {
    let system = |why| CliError::System { what: "go to the run", why };
    let here = std::env::current_dir().map_err(system)?;
    std::env::set_current_dir(directory).map_err(system)?;
    let done = act();
    std::env::set_current_dir(here).map_err(system)?;
    done
}

/// The last steps of the path of a test: it is executed once to know its length, and once more to read values.
fn steps(session: &Session, test: &TestCase, error: &ErrorRecord, until: Instant) -> Option<Vec<TraceStep>> {
    let mut blocks = 0;
    let mut count = |_: &mut Machine, _: &State, _| {
        blocks += 1;
        blocks <= MAX_BLOCKS && Instant::now() < until
    };
    Paths::new(session, Some(inputs(test))).ok()?.walk_while(&mut count).ok()?;
    // A step shows at least a part of a block.
    let skipped = blocks.saturating_sub(4 * MAX_STEPS as u64);
    let mut trace = Trace::new(&session.directory);
    let mut out: VecDeque<TraceStep> = VecDeque::new();
    let (mut at_block, mut in_last_block) = (0, 0);
    let mut each = |machine: &mut Machine, state: &State, at| {
        at_block += 1;
        if at_block > skipped {
            let mut lines = 0;
            trace.step(machine, state, at, &mut |depth, shown| match shown {
                Shown::Line { file, line, .. } => {
                    lines += 1;
                    out.push_back(TraceStep { file, line, depth, values: Vec::new() });
                }
                Shown::Values(values) => {
                    if let Some(last) = out.back_mut() {
                        last.values.extend(values);
                    }
                }
            });
            in_last_block = if lines > 0 { lines } else { in_last_block };
            while out.len() > MAX_STEPS {
                out.pop_front();
            }
        }
        Instant::now() < until
    };
    Paths::new(session, Some(inputs(test))).ok()?.walk_while(&mut each).ok()?;
    let mut steps = Vec::from(out);
    end_at(&mut steps, in_last_block, error);
    Some(steps)
}

/// An error ends the path within its last block: the lines behind it are not executed.
fn end_at(steps: &mut Vec<TraceStep>, in_last_block: usize, error: &ErrorRecord) {
    let first = steps.len().saturating_sub(in_last_block);
    let is_error = |s: &TraceStep| s.line == error.line && s.file == error.file;
    if let Some(at) = steps[first..].iter().position(is_error).map(|i| first + i) {
        let changed: Vec<String> = steps.drain(at + 1..).flat_map(|s| s.values).collect();
        steps[at].values.extend(changed);
    }
}

fn inputs(test: &TestCase) -> FixedInputs {
    let objects = KTest::from(test).objects.into_iter().map(|o| (o.name, o.bytes)).collect();
    FixedInputs { objects, by_name: false }
}

fn describe(end: &End) -> String {
    match end {
        End::Exit(Some(code)) => format!("exit with {code}"),
        End::Exit(None) => "exit".into(),
        End::Error(error) => format!("error[{}]: {}", error.kind, error.message),
        End::Cut(why) => format!("cut: {}", pleach::cut_reason::reason(why).describe()),
        End::Silent => "ends on purpose".into(),
    }
}

struct Trace<'a> {
    directory: &'a Path,
    sources: SourceCache,
    /// of each active call: the function, the line, and what its variables were
    values: BTreeMap<u32, (u32, BTreeMap<String, String>)>,
    /// the lines shown last: calls around, instructions executed, and which part of the block
    shown: Option<(u32, u64, usize)>,
}

impl<'a> Trace<'a> {
    fn new(directory: &'a Path) -> Trace<'a> {
        Trace { directory, sources: SourceCache::default(), values: BTreeMap::new(), shown: None }
    }

    /// What has changed until here, and the lines that the state is about to execute: those up to the next call.
    fn step(&mut self, machine: &mut Machine, state: &State, at: Walked, show: &mut dyn FnMut(u32, Shown)) {
        let program = machine.program.clone();
        if !program.is_own(state.frame.func) {
            return;
        }
        let depth = state.call_depth();
        self.values.retain(|d, _| *d <= depth);
        let changes = self.changes(machine, state, depth);
        if !changes.is_empty() {
            show(depth, Shown::Values(changes));
        }
        if at == Walked::End {
            return;
        }
        let (from, spans) = next_spans(&program, state);
        // A fork is decided in the middle of a block.
        if self.shown.replace((depth, state.instructions, from)) == Some((depth, state.instructions, from)) {
            return;
        }
        let mut last = 0;
        for span in spans.iter().filter(|s| s.is_known()) {
            let Some(file) = program.files.get(span.file as usize) else { continue };
            if std::mem::replace(&mut last, span.line) == span.line {
                continue;
            }
            let text = self.sources.line(Path::new(&file.path), span.line).unwrap_or_default().trim().to_owned();
            let file = pleach::relative(&file.path, self.directory).to_string();
            show(depth, Shown::Line { file, line: span.line, text });
        }
    }

    fn changes(&mut self, machine: &mut Machine, state: &State, depth: u32) -> Vec<String> {
        let names = Names::concrete(machine, state);
        let Some((_, frame)) = frames(state).next() else { return Vec::new() };
        let now = names.variables(machine, state, frame);
        let concrete: Vec<(String, String)> = now.into_iter().map(|v| (v.name, v.value)).collect();
        let known = self.values.entry(depth).or_insert_with(|| (frame.func.0, BTreeMap::new()));
        if known.0 != frame.func.0 {
            *known = (frame.func.0, BTreeMap::new());
        }
        let mut out = Vec::new();
        for (name, value) in concrete {
            if known.1.get(&name) != Some(&value) {
                out.push(format!("{name} = {value}"));
                known.1.insert(name, value);
            }
        }
        out
    }
}

/// The code of the state's block from its next instruction on, up to the next call of a function with a body.
fn next_spans<'a>(program: &'a Program, state: &State) -> (usize, &'a [Span]) {
    let f = program.function(state.frame.func);
    let all = f.spans_of(state.block);
    let block = f.blocks[state.block.index()];
    let (first, next) = (block.first.index(), state.inst as usize);
    let enters = |inst: &Inst| match inst {
        Inst::Call { callee: Callee::Direct(g), .. } => !program.function(*g).blocks.is_empty(),
        Inst::Call { callee: Callee::Indirect(_), .. } => true,
        _ => false,
    };
    // Code that lowering has removed has a span and no instruction.
    let behind = |i: usize| all.iter().position(|s| f.spans.get(i) == Some(s)).map_or(0, |at| at + 1);
    let calls: Vec<usize> = (first..first + block.len as usize).filter(|i| enters(&f.insts[*i])).collect();
    // The rest of the line with the call was shown with it.
    let same_line = |i: usize| f.spans.get(i).map_or(0, |call| call.line);
    let rest = |i: usize| all[behind(i)..].iter().take_while(|s| s.line == same_line(i)).count();
    let from = calls.iter().rev().find(|i| **i < next).map_or(0, |i| behind(*i) + rest(*i));
    let to = calls.iter().find(|i| **i >= next).map_or(all.len(), |i| behind(*i).max(from));
    (from, &all[from..to])
}
