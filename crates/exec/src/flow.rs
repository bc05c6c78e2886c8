//! What an instruction did to control, as data.

use pleach_state::{Cut, Detail, End, ErrorKind, ProgramError};

pub use pleach_state::{Child, Step};

/// The outcome of one instruction off the fast path.
pub(crate) enum Flow {
    /// on to the next instruction
    Next,
    /// `state.block` and `state.inst` were set
    Jump,
    /// the top frame is another one now
    Frame,
    Stop(Step),
}

impl Flow {
    pub fn error(kind: ErrorKind, message: impl Into<String>) -> Flow {
        Flow::Stop(Step::End(End::Error(ProgramError::new(kind, message))))
    }
    pub fn error_with(kind: ErrorKind, message: impl Into<String>, detail: Detail) -> Flow {
        Flow::Stop(Step::End(End::Error(ProgramError { kind, message: message.into(), detail })))
    }
    pub fn cut(cut: Cut) -> Flow {
        Flow::Stop(Step::End(End::Cut(cut)))
    }
}

/// `Ok`: go on with the value. `Err`: the instruction does something else to control.
pub(crate) type StepResult<T> = Result<T, Flow>;
