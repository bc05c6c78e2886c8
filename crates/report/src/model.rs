//! What a run finds: tests, errors and where they are.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::ReportError;
use crate::input::Input;

macro_rules! error_kinds {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// The kinds of program error, with one spelling everywhere.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum ErrorKind {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl ErrorKind {
            /// Every kind, in the order of the documentation.
            pub const ALL: &'static [ErrorKind] = &[$(ErrorKind::$variant,)*];

            /// The kind's name in files, flags and messages.
            pub fn as_str(self) -> &'static str {
                match self { $(ErrorKind::$variant => $name,)* }
            }
        }
    };
}

error_kinds! {
    /// A failed `assert`, `klee_assert` or `__VERIFIER_assert`, or a call of `reach_error`.
    Assert => "assert",
    /// A call of `abort` or `klee_abort`.
    Abort => "abort",
    /// A read outside its object.
    OobRead => "oob-read",
    /// A write outside its object.
    OobWrite => "oob-write",
    /// An access through a null pointer.
    Null => "null",
    /// An access to an object after its lifetime.
    UseAfterFree => "use-after-free",
    /// A second `free` of the same allocation.
    DoubleFree => "double-free",
    /// `free` of something that is not the start of a heap allocation.
    BadFree => "bad-free",
    /// A write to a constant object.
    Readonly => "readonly",
    /// Integer division or remainder by zero (or the overflowing quotient).
    DivZero => "div-zero",
    /// A shift by at least the width.
    Overshift => "overshift",
    /// Signed arithmetic overflow.
    SignedOverflow => "signed-overflow",
    /// An access at an address that the type does not allow.
    Misaligned => "misaligned",
    /// A copy between ranges that overlap.
    Overlap => "overlap",
    /// A `_Bool` or an enumeration that holds none of its values.
    InvalidValue => "invalid-value",
    /// A floating-point value that the integer type does not have.
    FloatCast => "float-cast",
    /// A builtin called with an argument it has no result for.
    InvalidBuiltin => "invalid-builtin",
    /// A variable-length array whose size is not positive.
    VlaBound => "vla-bound",
    /// A constant that the compiler folded from undefined behaviour.
    Poison => "poison",
    /// A branch, address or output that depends on memory never written.
    Uninit => "uninit",
    /// Heap memory lost at exit.
    Leak => "leak",
    /// An `unreachable` instruction was reached.
    Unreachable => "unreachable",
    /// Call depth or stack size exceeded.
    StackOverflow => "stack-overflow",
    /// A call through something that is not a fitting function.
    BadCall => "bad-call",
    /// A loop ran beyond its bound.
    LoopLimit => "loop-limit",
    /// `klee_report_error`.
    User => "user",
}

impl fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ErrorKind {
    type Err = ReportError;

    fn from_str(name: &str) -> Result<Self, ReportError> {
        ErrorKind::ALL
            .iter()
            .copied()
            .find(|kind| kind.as_str() == name)
            .ok_or_else(|| ReportError::UnknownErrorKind(name.to_owned()))
    }
}

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
