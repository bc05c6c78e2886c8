//! The sink of a run in KLEE's manner: tests and errors as files with KLEE's names and contents, and KLEE's messages.

use super::error_text;
use super::messages::MessageLog;
use pleach::GuidedExecutor;
use pleach::inputs::Types;
use pleach_exec::{ExecMessage, Machine};
use pleach_explore::{Ended, Progress, Sink};
use pleach_ir::{FuncId, Program};
use pleach_report::{KTest, KTestObject, Prediction, TestCase, TestId, testcomp};
use pleach_state::access_path::frames;
use pleach_state::{Cut, Detail, End, ErrorKind, State};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

/// What is written.
pub struct Wanted {
    pub directory: PathBuf,
    /// of the program, its name first
    pub args: Vec<String>,
    pub emit_all_errors: bool,
    pub exit_on_error: bool,
    pub only_covering_new: bool,
    pub dump_states_on_halt: bool,
    /// any files for tests
    pub tests: bool,
    pub ktests: bool,
    pub smt2s: bool,
    /// of Test-Comp
    pub xmls: bool,
    pub silent_assume: bool,
    /// `.cov`: lines that this path was the first to cover
    pub lines: bool,
    /// `.path`: branches, and `.sym.path`: those with two possible sides
    pub paths: bool,
    pub sym_paths: bool,
}

pub struct KleeSink {
    wanted: Wanted,
    program: Rc<Program>,
    pub log: MessageLog,
    /// numbered tests, and those written
    tests: u32,
    pub generated: u32,
    pub completed: u64,
    pub partial: u64,
    /// as of the last end of a path, where another thread can see it
    pub counts: Arc<Mutex<Counts>>,
    /// (function, instruction, message) of errors that were reported
    types: Types,
    told: BTreeSet<(FuncId, u32, String)>,
    fixed: BTreeSet<String>,
    halting: bool,
    /// an error ended the run
    pub exiting: bool,
    failed: Option<String>,
}

impl KleeSink {
    pub fn new(wanted: Wanted, program: Rc<Program>, log: MessageLog) -> KleeSink {
        KleeSink {
            wanted,
            log,
            tests: 0,
            generated: 0,
            completed: 0,
            partial: 0,
            counts: Arc::default(),
            types: Types::new(&program),
            told: BTreeSet::new(),
            fixed: BTreeSet::new(),
            halting: false,
            exiting: false,
            failed: None,
            program,
        }
    }

    /// Passes on the executor's messages, in order.
    pub fn drain_messages(&mut self, machine: &mut GuidedExecutor) {
        for message in machine.machine.messages() {
            match message {
                ExecMessage::Warning(text) => self.log.warning(&text),
                ExecMessage::Once(text) => self.log.warning_once(&text),
                ExecMessage::Note(text) => eprintln!("{text}"),
                ExecMessage::Printed { to, bytes } => {
                    // A closed pipe is no reason to stop.
                    let _ = match to {
                        1 => std::io::stdout().write_all(&bytes).and_then(|()| std::io::stdout().flush()),
                        _ => std::io::stderr().write_all(&bytes),
                    };
                }
            }
        }
    }

    fn write(&mut self, suffix: &str, contents: &[u8]) {
        let path = self.wanted.directory.join(format!("test{:06}.{suffix}", self.tests));
        if let Err(why) = pleach_report::write_atomically(&path, contents) {
            self.failed.get_or_insert(why.to_string());
        }
    }

    /// The files of a test; its number.
    fn test(&mut self, machine: &mut GuidedExecutor, state: &State, told: Option<(&str, &str)>) -> u32 {
        self.tests += 1;
        if !self.wanted.tests {
            return self.tests;
        }
        let inputs = machine.machine.test_inputs(state);
        if self.wanted.xmls {
            let test = TestCase {
                id: TestId(self.tests),
                inputs: inputs.iter().map(|i| self.types.input(&self.program, i.clone())).collect(),
                predicted: Prediction::Exit { code: None },
                covers_new: state.covered_new,
                path: u64::from(state.node.0),
                instructions: state.instructions,
                args: self.wanted.args.clone(),
                given: Default::default(),
            };
            self.write("xml", testcomp::testcase(&test).as_bytes());
        }
        if self.wanted.ktests {
            let objects = inputs;
            let objects = objects.into_iter().map(|i| KTestObject { name: i.name, bytes: i.bytes }).collect();
            let test = KTest { args: self.wanted.args.clone(), objects, ..KTest::default() };
            self.write("ktest", &test.to_bytes());
            self.generated += 1;
        }
        if self.wanted.smt2s {
            let assertions: Vec<_> = state.path.iter().collect();
            let text = machine.machine.terms.smtlib(&assertions);
            self.write("smt2", text.as_bytes());
        }
        self.write_record(state);
        if let Some((suffix, contents)) = told {
            self.write(suffix, contents.as_bytes());
        }
        self.tests
    }

    /// Files about the way the path took.
    fn write_record(&mut self, state: &State) {
        let Some(record) = state.record.clone() else { return };
        let list = |free: bool| -> String {
            let kept = record.decisions.iter().filter(|d| d.free || !free);
            kept.map(|d| if d.taken { "1\n" } else { "0\n" }).collect()
        };
        if self.wanted.paths {
            self.write("path", list(false).as_bytes());
        }
        if self.wanted.sym_paths {
            self.write("sym.path", list(true).as_bytes());
        }
        if self.wanted.lines {
            let mut lines = BTreeSet::new();
            for &(func, block) in &record.covered {
                let spans = self.program.function(func).block_spans.get(block.index());
                let known = spans.into_iter().flatten().filter(|s| s.line != 0);
                lines.extend(known.map(|s| format!("{}:{}\n", self.program.path(*s), s.line)));
            }
            self.write("cov", lines.into_iter().collect::<String>().as_bytes());
        }
    }

    /// The function of the C library that the program called and that failed, where a native call of it would.
    fn failed_external(&self, machine: &GuidedExecutor, state: &State, end: &End) -> Option<error_text::KleeErrorText> {
        machine.machine.config.externals?;
        let End::Error(e) = end else { return None };
        if e.kind != ErrorKind::Null && e.detail != Detail::NoObject {
            return None;
        }
        let stack = state.stack(&self.program);
        let called = stack.iter().take_while(|l| self.program.from_library.contains(&l.func)).last()?;
        Some(error_text::failed_external(&self.program.function(called.func).name))
    }

    fn error(
        &mut self,
        machine: &mut GuidedExecutor,
        state: &State,
        error: &error_text::KleeErrorText,
        suffix_text: &str,
    ) -> u32 {
        let stack = state.stack(&self.program);
        let at = stack.iter().find(|l| l.span.line != 0);
        let (func, inst) = state.error_site(&self.program);
        let place = (func, inst.0, error.message.clone());
        if !self.told.insert(place) && !self.wanted.emit_all_errors {
            return 0;
        }
        let mut text = format!("Error: {}\n", error.message);
        match at {
            Some(l) => {
                let file = self.program.path(l.span).to_owned();
                self.log.message(&format!("ERROR: {file}:{}:{suffix_text} {}", l.span.line, error.message));
                let _ = writeln!(text, "File: {file}\nLine: {}\nState: {}", l.span.line, state.id.0);
            }
            None => self.log.message(&format!("ERROR: (location information missing){suffix_text} {}", error.message)),
        }
        if !self.wanted.emit_all_errors {
            self.log.message("NOTE: now ignoring this error at this location");
        }
        text.push_str("Stack: \n");
        self.dump_stack(state, &mut text);
        let test = self.test(machine, state, Some((&error.suffix, &text)));
        if self.wanted.exit_on_error {
            self.log.error(&format!("EXITING ON ERROR:\n{text}\n"));
            self.exiting = true;
        }
        test
    }

    fn dump_stack(&self, state: &State, out: &mut String) {
        for (i, (line, (_, frame))) in state.stack(&self.program).iter().zip(frames(state)).enumerate() {
            let f = self.program.function(line.func);
            let argument = |p: &pleach_ir::Param| {
                let name = p.name.as_ref().map_or_else(String::new, |n| format!("{n}="));
                format!("{name}{}", Machine::display_value(state, frame.regs[p.slot.index()]))
            };
            let args: Vec<String> = f.params.iter().map(argument).collect();
            let _ = write!(out, "\t#{i}{:08} in {}({})", line.inst.0, f.name, args.join(", "));
            if line.span.line != 0 {
                let _ = write!(out, " at {}:{}", self.program.path(line.span), line.span.line);
            }
            out.push('\n');
        }
    }

    /// A path that a limit ended.
    fn early(&mut self, machine: &mut GuidedExecutor, state: &State, cut: &Cut) -> u32 {
        let (message, halts) = match cut {
            Cut::Depth => ("max-depth exceeded.\n", false),
            Cut::Memory => ("Memory limit exceeded.\n", false),
            Cut::Forks => ("max-forks reached.\n", false),
            _ => ("Execution halting.\n", true),
        };
        if halts && self.wanted.dump_states_on_halt && !self.halting {
            self.log.message("halting execution, dumping remaining states");
        }
        self.halting |= halts;
        if (halts && !self.wanted.dump_states_on_halt) || (self.wanted.only_covering_new && !state.covered_new) {
            return 0;
        }
        self.test(machine, state, Some(("early", message)))
    }
}

/// What the last lines say.
#[derive(Clone, Copy, Default)]
pub struct Counts {
    pub instructions: u64,
    pub completed: u64,
    pub partial: u64,
    pub generated: u32,
}

impl Counts {
    pub fn describe(self) -> String {
        format!(
            "\nKLEE: done: total instructions = {}\nKLEE: done: completed paths = {}\n\
             KLEE: done: partially completed paths = {}\nKLEE: done: generated tests = {}\n",
            self.instructions, self.completed, self.partial, self.generated,
        )
    }
}

impl Sink<GuidedExecutor> for KleeSink {
    fn on_path_end(&mut self, machine: &mut GuidedExecutor, ended: Ended) -> u32 {
        self.drain_messages(machine);
        if self.exiting {
            return 0;
        }
        let test = self.ended(machine, ended);
        let (completed, partial, generated) = (self.completed, self.partial, self.generated);
        let instructions = machine.machine.instructions;
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner) =
            Counts { instructions, completed, partial, generated };
        test
    }

    fn on_progress(&mut self, machine: &mut GuidedExecutor, _: Progress) {
        self.drain_messages(machine);
    }

    fn stop(&mut self) -> Option<Cut> {
        let failed = self.failed.as_ref().map(|why| Cut::Stopped(format!("results cannot be written: {why}")));
        failed.or_else(|| self.exiting.then(|| Cut::Stopped("an error was found (--exit-on-error)".into())))
    }
}

impl KleeSink {
    fn ended(&mut self, machine: &mut GuidedExecutor, ended: Ended) -> u32 {
        let Ended { state, end, skip_test, .. } = ended;
        if skip_test && matches!(end, End::Cut(_)) {
            // The time is up, and states are many.
            self.partial += 1;
            self.log.warning_once("the time is up: not all remaining states are dumped");
            return 0;
        }
        match end {
            End::Exit(_) => {
                self.completed += 1;
                match self.wanted.only_covering_new && !state.covered_new {
                    true => 0,
                    false => self.test(machine, state, None),
                }
            }
            // Not a path: what one of several values leaves out.
            End::Cut(Cut::Concretized(what)) if error_text::of(end).is_none() => {
                if self.fixed.insert(what.clone()) {
                    self.log.warning_once(&format!("a value was concretised (other values not explored): {what}"));
                }
                0
            }
            End::Silent => {
                self.partial += 1;
                0
            }
            _ => {
                self.partial += 1;
                match (error_text::of(end), end) {
                    (Some(w), End::Error(e))
                        if self.wanted.silent_assume && e.detail == pleach_state::Detail::Assumption =>
                    {
                        drop(w);
                        0
                    }
                    (Some(w), _) if w.suffix == "early" => {
                        self.log.warning(&w.message);
                        self.test(machine, state, Some(("early", &w.message)))
                    }
                    (Some(w), _) => {
                        let w = self.failed_external(machine, state, end).unwrap_or(w);
                        self.error(machine, state, &w, error_text::place(end))
                    }
                    (None, End::Cut(cut)) => self.early(machine, state, cut),
                    (None, _) => 0,
                }
            }
        }
    }
}
