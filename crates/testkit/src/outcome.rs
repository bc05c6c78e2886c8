//! What a program does with one input, as the engine and as the machine see it.

use std::fmt;

use pleach_report::{ErrorKind, Prediction, RunDir, TestCase};

/// How a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PathOutcome {
    /// Normally, with this code.
    Exit(u8),
    /// In an error at a line.
    Error(ErrorKind, u32),
    /// The input is outside the domain: an assumption does not hold.
    Excluded,
    /// Something else; nothing is claimed.
    Other,
}

impl fmt::Display for PathOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exit(code) => write!(f, "exit {code}"),
            Self::Error(kind, line) => write!(f, "{kind} at line {line}"),
            Self::Excluded => f.write_str("excluded by an assumption"),
            Self::Other => f.write_str("something else"),
        }
    }
}

/// What the engine says about a test; none where it says nothing.
pub fn predicted(test: &TestCase) -> Option<PathOutcome> {
    match &test.predicted {
        Prediction::Exit { code } => code.map(|c| PathOutcome::Exit(c as u8)),
        Prediction::Error { kind, line, .. } => Some(PathOutcome::Error(*kind, *line)),
        Prediction::Cut { .. } => None,
    }
}

/// All inputs of a test as one byte string, and what the engine says about it.
pub type Predicted = (Vec<u8>, Option<PathOutcome>);

/// The tests of a run.
pub fn of_run(run: &RunDir) -> Result<Vec<Predicted>, String> {
    let tests = run.tests().map_err(|e| e.to_string())?;
    Ok(tests.iter().map(|t| (t.inputs.iter().flat_map(|i| i.bytes.clone()).collect(), predicted(t))).collect())
}
