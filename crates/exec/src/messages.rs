//! What is said during a run, in order: by the engine about the program, and by the program itself where its output is
//! wanted.

/// One utterance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExecMessage {
    /// about the run, or `klee_warning`
    Warning(String),
    /// the same, once per run
    Once(String),
    /// requested by the program: `klee_print_expr` and its like
    Note(String),
    /// the program wrote to standard output (1) or standard error (2)
    Printed { to: u8, bytes: Vec<u8> },
}

impl ExecMessage {
    /// The words, unless they are the program's output.
    pub fn describe(self) -> Option<String> {
        match self {
            ExecMessage::Warning(words) | ExecMessage::Once(words) | ExecMessage::Note(words) => Some(words),
            ExecMessage::Printed { .. } => None,
        }
    }
}
