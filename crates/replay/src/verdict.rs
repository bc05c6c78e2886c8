//! Did the program do what was predicted?

use std::fmt;
use std::path::Path;

use pleach_report::{ErrorKind, Prediction};
use serde::Serialize;

use crate::outcome::{Ending, Location, Observed, signal_alone};

/// The answer of a replay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "verdict", rename_all = "kebab-case")]
pub enum Verdict {
    /// The program did what was predicted.
    Agrees,
    /// It did something else.
    Disagrees {
        /// What was predicted.
        expected: String,
        /// What was seen.
        observed: String,
    },
    /// The run says nothing about the prediction.
    Undetermined {
        /// Why.
        why: String,
    },
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Agrees => f.write_str("The program did what was predicted."),
            Self::Disagrees { expected, observed } => {
                write!(f, "The program did not do what was predicted: expected {expected}, but {observed}.")
            }
            Self::Undetermined { why } => {
                write!(f, "The replay does not decide the prediction: {why}.")
            }
        }
    }
}

impl Verdict {
    /// One word.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Disagrees { .. } => "disagrees",
            Self::Undetermined { .. } => "undetermined",
        }
    }

    pub(crate) fn undetermined(why: impl Into<String>) -> Self {
        Self::Undetermined { why: why.into() }
    }
}

/// The prediction as text.
pub(crate) fn describe(predicted: &Prediction) -> String {
    match predicted {
        Prediction::Exit { code: Some(code) } => format!("exit with {code}"),
        Prediction::Exit { code: None } => "a normal exit".into(),
        Prediction::Error { kind, file, line, .. } if *line > 0 => format!("{kind} at {file}:{line}"),
        Prediction::Error { kind, .. } => kind.to_string(),
        Prediction::Cut { reason } if reason == Prediction::MERGED => format!("nothing ({reason})"),
        Prediction::Cut { reason } => format!("nothing (the path was cut: {reason})"),
    }
}

/// Compares one run with the prediction.
pub(crate) fn compare(predicted: &Prediction, observed: &Observed) -> Verdict {
    let disagrees = || Verdict::Disagrees { expected: describe(predicted), observed: observed.to_string() };
    match (predicted, &observed.ending) {
        (_, Ending::BadTest | Ending::NotRun) => Verdict::undetermined(observed.to_string()),
        (Prediction::Cut { reason }, _) if reason == Prediction::MERGED => {
            Verdict::undetermined(format!("{reason}, natively {observed}"))
        }
        (Prediction::Cut { reason }, _) => {
            Verdict::undetermined(format!("the path was cut ({reason}), natively {observed}"))
        }
        (_, _) if observed.notes.iter().any(|n| n.starts_with("not-replayable")) => {
            Verdict::undetermined(format!("the program uses an intrinsic that has no native counterpart, {observed}"))
        }
        (Prediction::Error { kind: ErrorKind::LoopLimit, .. }, Ending::TimedOut) => Verdict::Agrees,
        // An assumption that cannot hold is the user's error.
        (Prediction::Error { kind: ErrorKind::User, .. }, Ending::AssumptionFailed) => Verdict::Agrees,
        (Prediction::Error { kind: ErrorKind::User, .. }, Ending::Exit(_)) if !observed.notes.is_empty() => {
            Verdict::undetermined(format!("the inputs do not fit the program ({})", observed.notes.join(", ")))
        }
        (Prediction::Error { kind: ErrorKind::LoopLimit, .. }, Ending::Exit(_)) => {
            Verdict::undetermined("the bound on loops is the engine's own, natively the loop ended")
        }
        (Prediction::Error { kind: ErrorKind::Leak, .. }, Ending::Error(kinds))
            if kinds.contains(&ErrorKind::Abort) =>
        {
            Verdict::undetermined("leaks are not looked for when the program aborts")
        }
        (Prediction::Error { kind: ErrorKind::Abort, message, .. }, Ending::Signal(_) | Ending::Error(_))
            if signal_in(message).is_some() =>
        {
            let same = signal_in(message).is_some_and(|n| match &observed.ending {
                Ending::Signal(seen) => n == *seen,
                // The program has given it back to the system, so that nothing is noted of it.
                Ending::Error(kinds) => signal_alone(n).as_ref() == Some(kinds),
                _ => false,
            });
            if same { Verdict::Agrees } else { disagrees() }
        }
        // How large the stack is, and a frame in this build, is no property of the program.
        (Prediction::Error { kind, .. }, Ending::Error(kinds))
            if kinds.first() == Some(&ErrorKind::StackOverflow) && !kinds.contains(kind) =>
        {
            Verdict::undetermined(format!("the native stack was too small: {observed}"))
        }
        (Prediction::Exit { .. }, Ending::Error(kinds)) if kinds.first() == Some(&ErrorKind::StackOverflow) => {
            Verdict::undetermined(format!("the native stack was too small: {observed}"))
        }
        (_, Ending::TimedOut | Ending::Signal(_)) => Verdict::undetermined(observed.to_string()),
        (Prediction::Exit { code }, Ending::Exit(seen)) => match code {
            Some(code) if code & 0xff != *seen => disagrees(),
            _ => Verdict::Agrees,
        },
        (Prediction::Error { kind, file, line, .. }, Ending::Error(kinds))
            if kinds.contains(kind) && at_line(*kind, file, *line, &observed.stack) =>
        {
            Verdict::Agrees
        }
        _ => disagrees(),
    }
}

/// Whether AddressSanitizer compares the ranges of the function that the message begins with.
fn sanitizer_compares(predicted: &Prediction) -> bool {
    let Prediction::Error { message, .. } = predicted else { return true };
    let who = message.split(' ').next().unwrap_or_default();
    matches!(who, "memcpy" | "strcpy" | "strcat" | "strncpy" | "strncat")
}

/// The signal that ends the program, as the engine words it.
fn signal_in(message: &str) -> Option<i32> {
    message.strip_prefix("signal ")?.strip_suffix(" ends the program")?.parse().ok()
}

/// What to say of an error that neither build showed.
pub(crate) fn unseen(predicted: &Prediction, kind: ErrorKind, observed: &Observed) -> Verdict {
    use ErrorKind::*;
    if !matches!(observed.ending, Ending::Exit(_)) {
        return compare(predicted, observed);
    }
    let why = match kind {
        OobRead | OobWrite => "the sanitizer does not see this access: it may jump over the red zone into other memory",
        UseAfterFree => "the sanitizer does not see this access: the memory may have been handed out again",
        Readonly => "the memory is writable in a native build",
        Leak => "the sanitizer does not count memory that something still seems to point to",
        StackOverflow => "the native stack was large enough",
        BadCall => "the call does no visible harm in a native build",
        Misaligned => "natively the object lies where the access is aligned",
        Poison => "a sanitizer sees the operation, and the bitcode has only its result",
        Overlap if !sanitizer_compares(predicted) => "no sanitizer looks at the ranges of this function",
        Uninit => "no sanitizer of this build looks at memory that was never written",
        _ => return compare(predicted, observed),
    };
    Verdict::undetermined(why)
}

/// Whether sanitizers can show an error of this kind that a plain build may hide.
pub(crate) fn sanitizers_help(kind: ErrorKind) -> bool {
    use ErrorKind::*;
    !matches!(kind, Assert | Abort | User | LoopLimit)
}

/// Functions whose caller is where people say that the error is.
fn reports_errors(function: &str) -> bool {
    matches!(
        function,
        "reach_error" | "__VERIFIER_error" | "__VERIFIER_assert" | "__assert_fail" | "__assert" | "klee_assert_fail"
    )
}

/// Whether an end at `stack` is an end at `file:line`. Without any location only the kind is compared.
pub(crate) fn at_line(kind: ErrorKind, file: &str, line: u32, stack: &[Location]) -> bool {
    let anywhere = matches!(kind, ErrorKind::StackOverflow | ErrorKind::Leak);
    if anywhere || line == 0 || stack.is_empty() {
        return true;
    }
    for location in stack {
        if location.line == line && same_file(file, &location.file) {
            return true;
        }
        if !reports_errors(&location.function) {
            return false;
        }
    }
    false
}

/// One may be relative to a directory the other does not know.
fn same_file(a: &str, b: &str) -> bool {
    let name = |path| Path::new(path).file_name().map(ToOwned::to_owned);
    a.is_empty() || b.is_empty() || name(a) == name(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(ending: Ending, stack: &[(&str, u32)]) -> Observed {
        let location = |(function, line): &(&str, u32)| Location {
            function: (*function).into(),
            file: "/x/a.c".into(),
            line: *line,
        };
        Observed {
            ending,
            message: String::new(),
            stack: stack.iter().map(location).collect(),
            notes: vec![],
            sanitized: false,
            stdout: vec![],
            stderr: vec![],
        }
    }

    fn error(kind: ErrorKind, line: u32) -> Prediction {
        Prediction::Error { kind, file: "a.c".into(), line, message: String::new() }
    }

    #[test]
    fn exits() {
        let exit = |code| Prediction::Exit { code };
        assert_eq!(compare(&exit(Some(-1)), &seen(Ending::Exit(255), &[])), Verdict::Agrees);
        assert_eq!(compare(&exit(None), &seen(Ending::Exit(3), &[])), Verdict::Agrees);
        assert_eq!(compare(&exit(Some(1)), &seen(Ending::Exit(0), &[])).as_str(), "disagrees");
        assert_eq!(compare(&exit(Some(1)), &seen(Ending::AssumptionFailed, &[])).as_str(), "disagrees");
        assert_eq!(compare(&exit(Some(1)), &seen(Ending::TimedOut, &[])).as_str(), "undetermined");
    }

    #[test]
    fn the_signal_is_the_one_that_was_predicted() {
        let message = "signal 15 ends the program".to_owned();
        let predicted = Prediction::Error { kind: ErrorKind::Abort, file: String::new(), line: 0, message };
        let said = |ending| compare(&predicted, &seen(ending, &[])).as_str();
        assert_eq!(said(Ending::Signal(15)), "agrees");
        assert_eq!(said(Ending::Signal(9)), "disagrees");
        assert_eq!(said(Ending::Error(vec![ErrorKind::Abort])), "disagrees");
        assert_eq!(said(Ending::Exit(0)), "disagrees");
    }

    #[test]
    fn what_the_program_did_not_do_contradicts_nothing() {
        for ending in [Ending::NotRun, Ending::BadTest, Ending::Error(vec![ErrorKind::StackOverflow])] {
            let seen = seen(ending, &[]);
            assert_eq!(compare(&Prediction::Exit { code: Some(0) }, &seen).as_str(), "undetermined", "{seen}");
            assert_eq!(compare(&error(ErrorKind::OobRead, 3), &seen).as_str(), "undetermined", "{seen}");
        }
        let stack = seen(Ending::Error(vec![ErrorKind::StackOverflow]), &[]);
        assert_eq!(compare(&error(ErrorKind::StackOverflow, 3), &stack).as_str(), "agrees");
    }

    #[test]
    fn a_trap_is_an_abort() {
        let trap = seen(Ending::Error(vec![ErrorKind::Unreachable, ErrorKind::Abort]), &[("main", 3)]);
        for kind in [ErrorKind::Abort, ErrorKind::Unreachable] {
            assert_eq!(compare(&error(kind, 3), &trap).as_str(), "agrees", "{kind}");
        }
        assert_eq!(compare(&error(ErrorKind::Null, 3), &trap).as_str(), "disagrees");
    }

    #[test]
    fn lines_and_error_functions() {
        let ending = || Ending::Error(vec![ErrorKind::Assert]);
        let in_helper = seen(ending(), &[("reach_error", 2), ("main", 9), ("start", 11)]);
        for (line, verdict) in [(2, "agrees"), (9, "agrees"), (11, "disagrees")] {
            assert_eq!(compare(&error(ErrorKind::Assert, line), &in_helper).as_str(), verdict, "{line}");
        }
        let plain = seen(ending(), &[("f", 2), ("main", 9)]);
        assert_eq!(compare(&error(ErrorKind::Assert, 9), &plain).as_str(), "disagrees");
        assert_eq!(compare(&error(ErrorKind::Null, 2), &plain).as_str(), "disagrees");
    }

    #[test]
    fn unseen_errors() {
        let exit = seen(Ending::Exit(0), &[]);
        let verdict = |kind| unseen(&error(kind, 2), kind, &exit).as_str();
        assert_eq!(verdict(ErrorKind::OobRead), "undetermined");
        assert_eq!(verdict(ErrorKind::SignedOverflow), "disagrees");
    }
}
