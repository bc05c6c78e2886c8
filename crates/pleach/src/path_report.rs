//! A path that ended as a test and, if it ended in an error, as a report of the error.

use crate::inputs::Types;
use crate::source_paths::relative;
use pleach_exec::Machine;
use pleach_explore::Ended;
use pleach_ir::{Program, Span};
use pleach_report::{ErrorRecord, Prediction, StackFrame, TestCase, TestId};
use pleach_state::{ProgramError, State};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The model of the operating system starts the program here.
const START: &str = "__pleach_start";

/// Turns paths into tests and reports of errors.
pub struct PathReporter {
    program: Rc<Program>,
    types: Types,
    /// What source paths are relative to.
    directory: PathBuf,
    /// Program arguments, the program's name first.
    argv: Vec<String>,
}

impl PathReporter {
    pub fn new(program: Rc<Program>, directory: &Path, argv: Vec<String>) -> PathReporter {
        PathReporter { types: Types::new(&program), program, directory: directory.to_owned(), argv }
    }

    /// What is predicted for a normal end.
    pub fn exit(&self, machine: &Machine, state: &State, code: Option<i32>) -> Prediction {
        not_determined_by_input(machine, state).unwrap_or(Prediction::Exit { code })
    }

    /// What is predicted for an error.
    pub fn of_error(&self, machine: &Machine, state: &State, predicted: Prediction) -> Prediction {
        if machine.depends_on_external(state) {
            return Prediction::Cut { reason: "the path depends on what a function without a body does".into() };
        }
        not_determined_by_input(machine, state).unwrap_or(predicted)
    }

    fn path(&self, span: Span) -> &str {
        if span.is_known() { relative(self.program.path(span), &self.directory) } else { "" }
    }

    fn frames(&self, state: &State) -> Vec<StackFrame> {
        let frame = |line: &pleach_state::StackLine| StackFrame {
            function: self.program.function(line.func).name.clone(),
            file: self.path(line.span).to_owned(),
            line: line.span.line,
            column: line.span.column,
        };
        let mut frames: Vec<StackFrame> = state.stack(&self.program).iter().map(frame).collect();
        // What calls `main` is no part of the program.
        if frames.len() > 1 && frames.last().is_some_and(|f| f.function == START) {
            frames.pop();
        }
        // Nor what calls the `main` of a Rust program.
        if frames.iter().any(|f| f.function.ends_with("3std2rt19lang_start_internal"))
            && let Some(last) = frames.iter().rposition(|f| f.line != 0)
        {
            frames.truncate(last + 1);
        }
        frames
    }

    /// The report of an error, with its stack.
    pub fn record(&self, state: &State, error: &ProgramError, test: TestId) -> ErrorRecord {
        let stack = self.frames(state);
        let at = stack.iter().find(|f| f.line != 0);
        ErrorRecord {
            kind: error.kind,
            file: at.map_or_else(String::new, |f| f.file.clone()),
            line: at.map_or(0, |f| f.line),
            column: at.map_or(0, |f| f.column),
            message: error.message.clone(),
            stack,
            test: Some(test),
        }
    }

    /// The test that makes the program take the path.
    pub fn test(&mut self, machine: &mut Machine, ended: &Ended, id: TestId, predicted: Prediction) -> TestCase {
        let inputs = machine.test_inputs(ended.state);
        let inputs = inputs.into_iter().map(|i| self.types.input(&self.program, i)).collect();
        TestCase {
            id,
            inputs,
            predicted,
            covers_new: ended.state.covered_new,
            given: machine.depends_on_system(ended.state),
            path: u64::from(ended.node.0),
            instructions: ended.state.instructions,
            args: self.argv.clone(),
        }
    }
}

/// Where the inputs alone do not decide what happens.
fn not_determined_by_input(machine: &Machine, state: &State) -> Option<Prediction> {
    let reason = if machine.depends_on_uninitialised(state) {
        "the path depends on memory that was never written"
    } else if machine.depends_on_layout(state) {
        "the path depends on the address layout"
    } else {
        return None;
    };
    Some(Prediction::Cut { reason: reason.into() })
}
