//! What a native run was seen to do.

use std::fmt;

use pleach_report::ErrorKind;
use serde::{Serialize, Serializer};

use crate::sandbox::Exit;

/// A place in the source.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Location {
    /// Function, empty when unknown.
    pub function: String,
    /// File as the compiler recorded it.
    pub file: String,
    /// 1-based line.
    pub line: u32,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Normally, with this code.
    Exit(i32),
    /// In an error of one of these kinds (a fault does not say which), best guess first.
    Error(Vec<ErrorKind>),
    /// By a signal that is no error of the program.
    Signal(i32),
    /// An assumption does not hold for this input.
    AssumptionFailed,
    /// Not within the time limit.
    TimedOut,
    /// The replay library could not read the test.
    BadTest,
    /// Not by the program's doing: it did not start, or a sanitizer could not do its work.
    NotRun,
}

/// What was seen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Observed {
    /// How it ended.
    pub ending: Ending,
    /// One line about the end.
    pub message: String,
    /// Program locations of the end, innermost first.
    pub stack: Vec<Location>,
    /// Inputs that did not fit.
    pub notes: Vec<String>,
    /// Whether sanitizers were on.
    pub sanitized: bool,
    /// Captured standard output.
    #[serde(serialize_with = "as_text")]
    pub stdout: Vec<u8>,
    /// Captured standard error.
    #[serde(serialize_with = "as_text")]
    pub stderr: Vec<u8>,
}

fn as_text<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&String::from_utf8_lossy(bytes))
}

impl fmt::Display for Observed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ending {
            Ending::Exit(code) => write!(f, "it exited with {code}")?,
            Ending::Error(kinds) => {
                let names: Vec<_> = kinds.iter().map(|k| k.as_str()).collect();
                write!(f, "{}", names.join(" or "))?;
                if let Some(at) = self.stack.first() {
                    write!(f, " at {}:{}", at.file, at.line)?;
                }
                if !self.message.is_empty() {
                    write!(f, " ({})", self.message)?;
                }
            }
            Ending::Signal(number) => write!(f, "it was ended by signal {number}")?,
            Ending::AssumptionFailed => f.write_str("an assumption does not hold for this input")?,
            Ending::TimedOut => f.write_str("it did not end within the time limit")?,
            Ending::BadTest => write!(f, "the test could not be read: {}", self.message)?,
            Ending::NotRun => write!(f, "the program could not be run: {}", self.message)?,
        }
        if self.sanitized { f.write_str(", with sanitizers") } else { Ok(()) }
    }
}

/// The notes of the replay library, parsed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Notes {
    /// Whether the program's own code was reached.
    pub started: bool,
    pub end: Option<End>,
    /// Program counters of the end, innermost first.
    pub frames: Vec<u64>,
    /// Watched addresses that were met.
    pub hits: Vec<u64>,
    /// Addresses that could not be watched.
    pub unwatched: Vec<u64>,
    pub notes: Vec<String>,
}

/// An `end` line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct End {
    pub kind: String,
    pub file: String,
    pub line: u32,
    pub text: String,
}

impl Notes {
    /// Parses; the program may have written to the file itself, so lines that make no sense are skipped.
    pub fn parse(text: &str) -> Self {
        let mut all = Notes::default();
        for line in text.lines() {
            let mut fields = line.split('\t');
            let tag = fields.next();
            let mut next = || fields.next().unwrap_or("");
            match tag {
                Some("end") if all.end.is_none() => {
                    let (kind, file) = (next().to_owned(), next().to_owned());
                    let (line, text) = (next().parse().unwrap_or(0), next().to_owned());
                    all.end = Some(End { kind, file, line, text });
                }
                Some("frame") if all.frames.len() < 128 => all.frames.extend(hexadecimal(next())),
                Some("start") => all.started = true,
                Some("unwatched") => all.unwatched.extend(hexadecimal(next())),
                Some("hit") => all.hits.extend(hexadecimal(next())),
                Some("note") if all.notes.len() < 32 => {
                    let (what, detail) = (next(), next());
                    all.notes.push(if detail.is_empty() { what.to_owned() } else { format!("{what}: {detail}") });
                }
                _ => {}
            }
        }
        all
    }
}

fn hexadecimal(text: &str) -> Option<u64> {
    text.strip_prefix("0x").and_then(|a| u64::from_str_radix(a, 16).ok())
}

/// What a signal means that left no note.
pub(crate) fn signal_alone(number: i32) -> Option<Vec<ErrorKind>> {
    use ErrorKind::*;
    match number {
        libc::SIGSEGV | libc::SIGBUS => Some(vec![StackOverflow]),
        libc::SIGABRT => Some(vec![Abort]),
        libc::SIGFPE => Some(vec![DivZero]),
        // `__builtin_trap` ends a program like `abort`.
        libc::SIGILL | libc::SIGTRAP => Some(vec![Unreachable, Abort]),
        _ => None,
    }
}

/// The ending of a plain build.
pub(crate) fn ending(notes: &Notes, exit: Exit) -> Ending {
    use ErrorKind::*;
    if exit == Exit::TimedOut {
        return Ending::TimedOut;
    }
    if !notes.started {
        return Ending::NotRun;
    }
    if let Some(end) = &notes.end {
        match end.kind.as_str() {
            "assert" => return Ending::Error(vec![Assert]),
            "error" => return Ending::Error(vec![Assert, Abort, User]),
            "user" => return Ending::Error(vec![User]),
            "assume" => return Ending::AssumptionFailed,
            "abort" => return Ending::Error(vec![Abort]),
            "fpe" => return Ending::Error(vec![DivZero, SignedOverflow]),
            "ill" => return Ending::Error(vec![Unreachable, Abort]),
            "stack" => return Ending::Error(vec![StackOverflow, OobRead, OobWrite]),
            "null-call" => return Ending::Error(vec![BadCall, Null]),
            "bad-call" => return Ending::Error(vec![BadCall, UseAfterFree, OobRead]),
            "null" => return Ending::Error(vec![Null, BadCall]),
            "fault" => {
                return Ending::Error(vec![OobRead, OobWrite, UseAfterFree, Readonly, BadCall, BadFree, Null]);
            }
            _ => {}
        }
    }
    match exit {
        // The program sent it to itself.
        Exit::Signal(number) if notes.end.as_ref().is_some_and(|e| e.kind == "signal") => Ending::Signal(number),
        Exit::Code(96) if notes.notes.iter().any(|n| n.starts_with("bad-test")) => Ending::BadTest,
        Exit::Code(code) => Ending::Exit(code),
        Exit::Signal(number) => signal_alone(number).map_or(Ending::Signal(number), Ending::Error),
        Exit::TimedOut => Ending::TimedOut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_parsed_and_noise_is_skipped() {
        let notes = Notes::parse(
            "start\nnote\tinput-exhausted\tx\nend\tassert\ta.c\t7\tx > 0\nframe\t0x401000\nframe\tzz\nrubbish\nend\tuser\n",
        );
        assert_eq!(notes.end.as_ref().unwrap().line, 7);
        assert_eq!(notes.frames, [0x40_1000]);
        assert_eq!(notes.notes, ["input-exhausted: x"]);
        assert_eq!(ending(&notes, Exit::Signal(6)), Ending::Error(vec![ErrorKind::Assert]));
        assert_eq!(ending(&notes, Exit::TimedOut), Ending::TimedOut);
        let started = Notes { started: true, ..Notes::default() };
        assert_eq!(ending(&started, Exit::Code(3)), Ending::Exit(3));
        assert_eq!(ending(&started, Exit::Signal(4)), Ending::Error(vec![ErrorKind::Unreachable, ErrorKind::Abort]));
        // The loader, or the kernel, ended it.
        assert_eq!(ending(&Notes::default(), Exit::Code(127)), Ending::NotRun);
        assert_eq!(ending(&Notes::default(), Exit::Signal(11)), Ending::NotRun);
    }
}
