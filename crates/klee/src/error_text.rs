//! Ends of paths as KLEE reports them: the message, and the suffix of the file next to the test.

use pleach_state::{Cut, Detail, End, ErrorKind, ProgramError};

/// How KLEE would tell it.
pub struct KleeErrorText {
    pub message: String,
    pub suffix: String,
}

fn klee_text(message: impl Into<String>, suffix: &str) -> KleeErrorText {
    KleeErrorText { message: message.into(), suffix: suffix.into() }
}

pub fn failed_external(name: &str) -> KleeErrorText {
    klee_text(format!("failed external call: {name}"), "external.err")
}

/// None for an end that KLEE does not call an error.
pub fn of(end: &End) -> Option<KleeErrorText> {
    match end {
        End::Exit(_) | End::Silent => None,
        End::Error(error) => Some(of_error(error)),
        End::Cut(cut) => of_cut(cut),
    }
}

/// KLEE reports what the sanitizer finds at a place of its own runtime; here that follows the program's place.
pub fn place(end: &End) -> &'static str {
    match end {
        End::Error(ProgramError { detail: Detail::Sanitizer { .. }, .. }) => {
            " in runtime/Sanitizer/ubsan/ubsan_handlers.cpp:1:"
        }
        _ => "",
    }
}

fn of_error(error: &ProgramError) -> KleeErrorText {
    match (error.kind, &error.detail) {
        (_, Detail::KleeText { message, suffix }) => klee_text(*message, suffix),
        (_, Detail::Misuse(text)) => klee_text(*text, "user.err"),
        (_, Detail::Sanitizer { check, suffix }) => klee_text(*check, suffix),
        (_, Detail::Reported(suffix)) => {
            KleeErrorText { message: of_option(&error.message).to_owned(), suffix: suffix.clone() }
        }
        (ErrorKind::Assert, Detail::Assertion(text)) => klee_text(format!("ASSERTION FAIL: {text}"), "assert.err"),
        (ErrorKind::Assert, _) => klee_text(format!("ASSERTION FAIL: {}", error.message), "assert.err"),
        (ErrorKind::Abort, _) => klee_text("abort failure", "abort.err"),
        (ErrorKind::OobRead | ErrorKind::OobWrite, _) => klee_text("memory error: out of bound pointer", "ptr.err"),
        (ErrorKind::Null, _) => klee_text("memory error: null page access", "ptr.err"),
        (ErrorKind::UseAfterFree, _) => klee_text("memory error: use after free", "ptr.err"),
        (ErrorKind::DoubleFree, _) => klee_text("memory error: double free", "ptr.err"),
        (ErrorKind::BadFree, Detail::FreeOfLocal) => klee_text("free of alloca", "free.err"),
        (ErrorKind::BadFree, Detail::FreeOfGlobal) => klee_text("free of global", "free.err"),
        (ErrorKind::BadFree, _) => klee_text("memory error: invalid pointer: free", "ptr.err"),
        (ErrorKind::Readonly, _) => klee_text("memory error: object read only", "read_only.err"),
        (ErrorKind::DivZero, _) => klee_text("divide by zero", "div.err"),
        (ErrorKind::Overshift, _) => klee_text("overshift error", "overshift.err"),
        (ErrorKind::Unreachable, _) => klee_text("reached \"unreachable\" instruction", "exec.err"),
        (ErrorKind::BadCall, Detail::Jump) => klee_text("indirectbr: illegal label address", "exec.err"),
        (ErrorKind::BadCall, _) => klee_text("invalid function pointer", "exec.err"),
        (ErrorKind::StackOverflow, _) => klee_text("Maximum stack size reached.", "early"),
        (ErrorKind::User, Detail::Assumption) => klee_text("invalid klee_assume call (provably false)", "user.err"),
        // What KLEE does not look for keeps our words.
        (ErrorKind::SignedOverflow, _) if error.message == pleach_exec::ABS_OVERFLOW => {
            klee_text("llvm.abs called with poison and INT_MIN", "exec.err")
        }
        (ErrorKind::SignedOverflow, _) => klee_text(&error.message, "overflow.err"),
        (ErrorKind::InvalidBuiltin, _) => klee_text(&error.message, "invalid_builtin_use.err"),
        (ErrorKind::InvalidValue, _) => klee_text(&error.message, "invalid_load.err"),
        (ErrorKind::Misaligned | ErrorKind::VlaBound | ErrorKind::Overlap, _) => klee_text(&error.message, "ptr.err"),
        (ErrorKind::FloatCast, _) => klee_text(&error.message, "overflow.err"),
        (ErrorKind::Poison | ErrorKind::Uninit, _) => klee_text(&error.message, "exec.err"),
        (ErrorKind::Leak | ErrorKind::LoopLimit | ErrorKind::User, _) => klee_text(&error.message, "user.err"),
    }
}

/// What is wrong with the options of the symbolic environment.
fn of_option(message: &str) -> &str {
    match message {
        "--sym-files is given twice" => "Multiple --sym-files are not allowed.",
        "--sym-files is given no files" => "The first argument to --sym-files (number of files) cannot be 0",
        "--sym-files is given files of no bytes" => "The second argument to --sym-files (file size) cannot be 0",
        "--sym-args is given an empty range" => "Invalid range to --sym-args",
        "more than 100 symbolic arguments" => "No more than 100 symbolic arguments allowed.",
        other => other,
    }
}

/// What stands in parentheses at the end.
fn size_in(what: &str) -> &str {
    what.rsplit_once('(').map_or("", |(_, size)| size.trim_end_matches(')'))
}

/// A path that was only partially explored. Limits are no errors; KLEE ends such paths early.
fn of_cut(cut: &Cut) -> Option<KleeErrorText> {
    match cut {
        Cut::Unsupported(what) if what.starts_with("inline assembly") => {
            Some(klee_text("external calls disallowed (in particular inline asm)", "exec.err"))
        }
        Cut::Concretized(what) if what == pleach_exec::ALLOCATION_SIZE || what == pleach_exec::LOCAL_SIZE => {
            Some(klee_text("concretized symbolic size", "model.err"))
        }
        Cut::Unsupported(what) if what.starts_with(pleach_exec::LARGE_INPUT) => {
            let message = format!("Symbolic objects larger than 4 GiB are not allowed (requested {}).", size_in(what));
            Some(klee_text(message, "exec.err"))
        }
        Cut::Unsupported(what) if what.contains(pleach_exec::LARGE_OBJECT) => {
            let access = if what.starts_with("a read") { "reads" } else { "writes" };
            let size = size_in(what);
            let message =
                format!("Symbolic {access} from objects larger than 4 GiB are not allowed (object size: {size}).");
            Some(klee_text(message, "exec.err"))
        }
        Cut::External(name) => Some(failed_external(name)),
        Cut::Unsupported(what) => Some(klee_text(what, "exec.err")),
        Cut::Solver(why) => Some(klee_text(why, "solver.err")),
        _ => None,
    }
}
