//! How a path ends. A program bug found, a path cut by a limit of the engine, and a normal end are different things.

use pleach_ir::{FuncId, InstId, Span};

pub use pleach_ir::ErrorKind;

/// A bug of the program under test.
#[derive(Clone, Debug)]
pub struct ProgramError {
    pub kind: ErrorKind,
    /// one sentence
    pub message: String,
    pub detail: Detail,
}

impl ProgramError {
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> ProgramError {
        ProgramError { kind, message: message.into(), detail: Detail::None }
    }
}

/// What a kind leaves open, for reports in the format of other tools.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Detail {
    #[default]
    None,
    /// the text of the assertion
    Assertion(String),
    FreeOfLocal,
    FreeOfGlobal,
    /// the address is in no object
    NoObject,
    /// a computed jump, not a call
    Jump,
    /// an assumption that cannot hold
    Assumption,
    /// in KLEE's words
    KleeText {
        message: &'static str,
        suffix: &'static str,
    },
    /// a wrong call, in KLEE's words
    Misuse(&'static str),
    /// the program reports it itself (`klee_report_error`): the suffix of the file
    Reported(String),
    /// a check of the sanitizer fails: its name, and KLEE's suffix of the file
    Sanitizer {
        check: &'static str,
        suffix: &'static str,
    },
}

/// Why a path was only partially explored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cut {
    /// an instruction or construct that is not supported yet
    Unsupported(String),
    /// a function without a body
    External(String),
    /// the solver returned unknown
    Solver(String),
    /// a value was concretised (other values not explored)
    Concretized(String),
    Time,
    /// processor time that the system allows (`ulimit -t`)
    Processor,
    Memory,
    Instructions,
    Forks,
    Depth,
    Tests,
    /// a loop or a recursion went on beyond the bound
    Unwind(u32),
    Interrupted,
    /// the rest of the paths were not looked at because an error was found (`--exit-on-error`)
    Stopped(String),
}

/// Which heap blocks are an error when the program ends.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Leaks {
    #[default]
    Ignored,
    /// those that nothing points to any more, when the program ends normally
    Lost,
    /// the same however the program ends: by `abort` or a failed assertion too
    LostAnyway,
    /// all that were not freed, when the program ends normally
    Unfreed,
}

#[derive(Clone, Debug)]
pub enum End {
    /// `main` returned or the program called `exit`; the status if it is concrete
    Exit(Option<i32>),
    /// terminated silently (no test) (`klee_silent_exit`, an assumption that cannot hold)
    Silent,
    Error(ProgramError),
    Cut(Cut),
}

/// One line of a call stack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct StackLine {
    pub func: FuncId,
    pub inst: InstId,
    pub span: Span,
}
