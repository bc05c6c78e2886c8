//! What a run finds: tests, errors and where they are.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::input::Input;

pub use pleach_ir::ErrorKind;

/// One call on the stack, innermost first wherever frames are listed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StackFrame {
    /// Function name as in the source.
    pub function: String,
    /// Source file, empty when unknown.
    pub file: String,
    /// 1-based line, 0 when unknown.
    pub line: u32,
    /// 1-based column, 0 when unknown.
    pub column: u32,
}

/// Number of a test within its run, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TestId(pub u32);

impl TestId {
    /// File name without extension, as KLEE names tests.
    pub fn stem(self) -> String {
        format!("test{:06}", self.0)
    }

    /// The id in a file name such as `test000012.ktest` or `test000012.null.err`.
    pub fn from_file_name(name: &str) -> Option<TestId> {
        let stem = name.split('.').next()?;
        let digits = stem.strip_prefix("test")?;
        let numeric = digits.len() >= 6 && digits.bytes().all(|b| b.is_ascii_digit());
        if numeric { digits.parse().ok().map(TestId) } else { None }
    }
}

impl fmt::Display for TestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// What the engine says a native run of the test will do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "kebab-case")]
pub enum Prediction {
    /// The program ends normally; the code is absent when it depends on the environment.
    Exit {
        /// Value passed to `exit` or returned from `main`.
        code: Option<i32>,
    },
    /// The program runs into an error.
    Error {
        /// Which.
        kind: ErrorKind,
        /// Source file, empty when unknown.
        file: String,
        /// 1-based line, 0 when unknown.
        line: u32,
        /// One sentence.
        message: String,
    },
    /// The path was cut before its end: nothing is claimed about what follows.
    Cut {
        /// Why.
        reason: String,
    },
}

impl Prediction {
    /// The reason of a path that did not end itself, because it became one with others.
    pub const MERGED: &str = "the path goes on as part of a merged one";
}

/// One input of the program and what it leads to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestCase {
    /// Number within the run.
    pub id: TestId,
    /// Values in the order the program asks for them.
    pub inputs: Vec<Input>,
    /// What happens.
    pub predicted: Prediction,
    /// Whether this path covered something no earlier path did.
    pub covers_new: bool,
    /// Whether the program learned something of the system that the model assumes and that may be otherwise
    /// natively.
    pub given: bool,
    /// Leaf of the execution tree.
    pub path: u64,
    /// Instructions executed on the path.
    pub instructions: u64,
    /// Program arguments, the program's name first.
    pub args: Vec<String>,
}

/// An error with everything a person needs to understand it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorRecord {
    /// Which kind.
    pub kind: ErrorKind,
    /// Source file, empty when unknown.
    pub file: String,
    /// 1-based line, 0 when unknown.
    pub line: u32,
    /// 1-based column, 0 when unknown.
    pub column: u32,
    /// One sentence.
    pub message: String,
    /// Calls, innermost first.
    pub stack: Vec<StackFrame>,
    /// The test that triggers it.
    pub test: Option<TestId>,
}

impl ErrorRecord {
    /// What a replay of its test should show.
    pub fn predicted(&self) -> Prediction {
        let (file, message) = (self.file.clone(), self.message.clone());
        Prediction::Error { kind: self.kind, file, line: self.line, message }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_have_one_spelling() {
        let names: Vec<_> = ErrorKind::ALL.iter().map(|k| k.as_str()).collect();
        assert_eq!(
            names.join(" "),
            "assert abort oob-read oob-write null use-after-free double-free bad-free readonly div-zero \
             overshift signed-overflow misaligned overlap invalid-value float-cast invalid-builtin vla-bound poison uninit \
             leak unreachable stack-overflow bad-call loop-limit user"
        );
        for kind in ErrorKind::ALL {
            assert_eq!(kind.as_str().parse::<ErrorKind>().unwrap(), *kind);
            assert_eq!(serde_json::to_string(kind).unwrap(), format!("\"{kind}\""));
        }
        assert!("oob".parse::<ErrorKind>().is_err());
    }

    #[test]
    fn test_ids_name_files() {
        assert_eq!(TestId(7).stem(), "test000007");
        assert_eq!(TestId::from_file_name("test000007.oob-read.err"), Some(TestId(7)));
        assert_eq!(TestId::from_file_name("test1234567.ktest"), Some(TestId(1_234_567)));
        for bad in ["test.ktest", "test-suite", "test00x001.json", "tests.pack", "test99999999999.json"] {
            assert_eq!(TestId::from_file_name(bad), None, "{bad}");
        }
    }
}
