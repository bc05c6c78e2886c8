//! How a command ends: exit code and message.

use std::process::ExitCode;

/// Exit codes of every command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// No error was found, or all replays agree.
    Fine = 0,
    /// Errors were found in the program, or a replay disagrees.
    Found = 1,
    /// The input or the command line is wrong.
    Input = 2,
    /// The verdict is unknown.
    Unknown = 3,
    /// The answer is "yes" only under the assumptions that are said.
    Assumed = 4,
    /// An internal error.
    Bug = 70,
    /// A signal ended the run early, and no error was found until then: the shell's number for it.
    HungUp = 129,
    Interrupted = 130,
    Terminated = 143,
}

impl Code {
    pub fn status(self) -> u8 {
        self as u8
    }

    /// After this signal.
    pub fn of_signal(signal: u8) -> Code {
        match signal {
            1 => Code::HungUp,
            15 => Code::Terminated,
            _ => Code::Interrupted,
        }
    }
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> ExitCode {
        ExitCode::from(code.status())
    }
}

#[derive(Debug, thiserror::Error)]
pub enum CliError {
    #[error(transparent)]
    Frontend(#[from] pleach_load::LoadError),
    #[error(transparent)]
    Carried(#[from] pleach_load::embedded_bitcode::CarriedError),
    #[error(transparent)]
    Setup(#[from] pleach_exec::SetupError),
    #[error(transparent)]
    Report(#[from] pleach_report::ReportError),
    #[error(transparent)]
    Replay(#[from] pleach_replay::ReplayError),
    #[error(transparent)]
    Search(#[from] pleach_explore::SearchError),
    #[error(transparent)]
    Property(#[from] pleach_verify::PropertyError),
    #[error(transparent)]
    Target(#[from] pleach_verify::TargetError),
    #[error("{0}")]
    Usage(String),
    #[error("{} before the exploration began", pleach::cut_reason::reason(why).describe())]
    TooEarly { why: pleach_state::Cut, signal: Option<u8> },
    #[error("cannot {what}: {why}")]
    System { what: &'static str, why: std::io::Error },
}

impl From<pleach::Error> for CliError {
    fn from(error: pleach::Error) -> CliError {
        match error {
            pleach::Error::Load(e) => CliError::Frontend(e),
            pleach::Error::EmbeddedBitcode(e) => CliError::Carried(e),
            pleach::Error::Setup(e) => CliError::Setup(e),
            pleach::Error::Search(e) => CliError::Search(e),
            pleach::Error::Usage(text) => CliError::Usage(text),
            pleach::Error::System { what, why } => CliError::System { what, why },
        }
    }
}

impl CliError {
    pub fn exit_code(&self) -> Code {
        match self {
            CliError::Frontend(pleach_load::LoadError::OutOfTime) => Code::Unknown,
            CliError::TooEarly { signal: Some(signal), .. } => Code::of_signal(*signal),
            CliError::TooEarly { .. } => Code::Unknown,
            _ => Code::Input,
        }
    }
}
