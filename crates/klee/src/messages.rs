//! What KLEE says, where it says it: standard error, and `messages.txt` or `warnings.txt` of the run's directory.

use std::fs::File;
use std::io::Write;
use std::path::Path;

pub struct MessageLog {
    messages: Option<File>,
    warnings: Option<File>,
    /// warnings go to their file only
    warn_quietly: bool,
}

impl MessageLog {
    /// Before there is a directory.
    pub fn new(warn_quietly: bool) -> MessageLog {
        MessageLog { messages: None, warnings: None, warn_quietly }
    }

    pub fn keep_in(&mut self, directory: &Path) -> std::io::Result<()> {
        self.messages = Some(File::create(directory.join("messages.txt"))?);
        self.warnings = Some(File::create(directory.join("warnings.txt"))?);
        Ok(())
    }

    pub fn message(&mut self, text: &str) {
        eprintln!("KLEE: {text}");
        write(&mut self.messages, &format!("KLEE: {text}"));
    }

    pub fn warning(&mut self, text: &str) {
        self.warn("WARNING", text);
    }

    pub fn warning_once(&mut self, text: &str) {
        self.warn("WARNING ONCE", text);
    }

    fn warn(&mut self, prefix: &str, text: &str) {
        let line = format!("KLEE: {prefix}: {text}");
        if !self.warn_quietly {
            eprintln!("{line}");
        }
        write(&mut self.warnings, &line);
    }

    /// KLEE ends with this.
    pub fn error(&mut self, text: &str) {
        eprintln!("KLEE: ERROR: {text}");
        write(&mut self.warnings, &format!("KLEE: ERROR: {text}"));
    }
}

/// A message that cannot be logged is still on standard error.
fn write(file: &mut Option<File>, line: &str) {
    if let Some(f) = file {
        let _ = writeln!(f, "{line}");
    }
}
