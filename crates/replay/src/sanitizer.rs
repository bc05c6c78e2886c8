//! Reading the reports of AddressSanitizer, LeakSanitizer and UndefinedBehaviorSanitizer.

use std::path::Path;

use pleach_report::ErrorKind;

use crate::outcome::Location;

/// The variables that the runtimes read: reports go to files whose names begin with `log`, and memory is bounded.
pub(crate) fn environment(log: &Path, memory: u64, leak: bool) -> [(&'static str, String); 3] {
    let symbolizer = match symbolizer() {
        Some(path) => format!(":external_symbolizer_path={path}"),
        None => String::new(),
    };
    let common = format!("log_path={}:color=never{symbolizer}", log.display());
    let megabytes = (memory >> 20).max(64);
    let leak = u8::from(leak);
    let address = format!(
        "{common}:exitcode=86:detect_leaks={leak}:detect_stack_use_after_return=1:allocator_may_return_null=1:\
         handle_abort=0:detect_odr_violation=0:hard_rss_limit_mb={megabytes}"
    );
    [
        ("ASAN_OPTIONS", address),
        ("UBSAN_OPTIONS", format!("{common}:print_stacktrace=1:halt_on_error=0")),
        ("LSAN_OPTIONS", "exitcode=86".into()),
    ]
}

fn symbolizer() -> Option<&'static str> {
    const KNOWN: [&str; 3] =
        ["/usr/lib/llvm-19/bin/llvm-symbolizer", "/usr/bin/llvm-symbolizer-19", "/usr/bin/llvm-symbolizer"];
    KNOWN.into_iter().find(|path| Path::new(path).exists())
}

/// One report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    /// What it can mean, best guess first; empty when it is no error of ours.
    pub kinds: Vec<ErrorKind>,
    /// The report's headline.
    pub message: String,
    /// Program locations, innermost first.
    pub stack: Vec<Location>,
    /// Whether the program was stopped by it.
    pub fatal: bool,
}

/// All reports in a sanitizer log, in order.
pub(crate) fn findings(log: &str) -> Vec<Finding> {
    let mut all: Vec<Finding> = Vec::new();
    // The first stack of a report is where it happened; later ones tell where memory came from.
    let mut open = false;
    for line in log.lines() {
        if let Some(text) = headline(line, "AddressSanitizer: ").or_else(|| headline(line, "LeakSanitizer: ")) {
            all.push(Finding { kinds: address_kinds(text), message: text.into(), stack: vec![], fatal: true });
            open = true;
        } else if let Some((place, text)) = line.split_once(": runtime error: ") {
            let stack = location("", place).into_iter().collect();
            all.push(Finding { kinds: undefined_kinds(text), message: text.into(), stack, fatal: false });
            open = true;
        } else if let Some(finding) = all.last_mut().filter(|_| open) {
            refine(finding, line);
            match frame(line) {
                Some(found) => {
                    let known = finding.stack.last().is_some_and(|l| l.file == found.file && l.line == found.line);
                    if known {
                        // The headline of undefined behaviour has the place, the frame adds the function.
                        finding.stack.pop();
                    }
                    finding.stack.push(found);
                }
                None if line.trim().is_empty() => open = finding.stack.is_empty(),
                None => {}
            }
        }
    }
    all
}

/// Why a sanitizer could not do its work, when it says so: it could not reserve its memory, ran out of what it may use,
/// or could not look at the program.
pub(crate) fn failure(text: &str) -> Option<&str> {
    const FAILURES: [&str; 13] = [
        "Sanitizer failed to allocate",
        "Sanitizer failed to deallocate",
        "Sanitizer: failed to",
        "Sanitizer CHECK failed",
        "Sanitizer: CHECK failed",
        "ReserveShadowMemoryRange failed",
        "failed to reserve",
        "Shadow memory range interleaves",
        "has encountered a fatal error",
        "hard rss limit exhausted",
        "Sanitizer: out of memory",
        "Sanitizer: out-of-memory",
        "Sanitizer: internal allocator is out of memory",
    ];
    let said = text.lines().find(|line| FAILURES.iter().any(|f| line.contains(f)))?;
    let said = said.trim().trim_start_matches('=').trim_start_matches(|c: char| c.is_ascii_digit());
    Some(said.trim_start_matches('=').trim_start_matches("ERROR: "))
}

fn headline<'a>(line: &'a str, tool: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once("ERROR: ")?;
    rest.strip_prefix(tool)
}

fn address_kinds(text: &str) -> Vec<ErrorKind> {
    use ErrorKind::*;
    let starts = |prefixes: &[&str]| prefixes.iter().any(|p| text.starts_with(p));
    if starts(&["heap-use-after-free", "stack-use-after", "use-after-poison"]) {
        vec![UseAfterFree]
    } else if starts(&["attempting double-free"]) {
        vec![DoubleFree, BadFree]
    } else if starts(&["attempting free on address", "bad-free", "alloc-dealloc-mismatch", "attempting to call"]) {
        vec![BadFree]
    } else if starts(&["stack-overflow"]) {
        vec![StackOverflow]
    } else if starts(&["FPE"]) {
        vec![DivZero, SignedOverflow]
    } else if starts(&["ILL", "TRAP"]) {
        vec![Unreachable, Abort]
    } else if text.contains("-param-overlap") {
        vec![Overlap]
    } else if starts(&["detected memory leaks"]) {
        vec![Leak]
    } else if text.contains("buffer-overflow")
        || text.contains("buffer-underflow")
        || starts(&["negative-size-param", "container-overflow", "intra-object", "unknown-crash"])
    {
        vec![OobRead, OobWrite]
    } else if starts(&["SEGV", "BUS"]) {
        vec![OobRead, OobWrite, UseAfterFree, BadCall, Readonly, Null, BadFree]
    } else {
        vec![]
    }
}

/// Later lines of a report say more: read or write, the zero page.
fn refine(finding: &mut Finding, line: &str) {
    use ErrorKind::*;
    let bounds = finding.kinds == [OobRead, OobWrite];
    let fault = finding.kinds.len() > 3;
    let text = line.trim_start();
    if bounds && text.starts_with("READ of size") {
        finding.kinds = vec![OobRead];
    } else if bounds && text.starts_with("WRITE of size") {
        finding.kinds = vec![OobWrite];
    } else if fault && line.contains("address points to the zero page") {
        finding.kinds = vec![Null, BadCall];
    } else if fault && line.contains("caused by a WRITE") {
        finding.kinds.retain(|k| *k != OobRead);
    } else if fault && line.contains("caused by a READ") {
        finding.kinds.retain(|k| *k != OobWrite && *k != Readonly);
    }
}

fn undefined_kinds(text: &str) -> Vec<ErrorKind> {
    use ErrorKind::*;
    let has = |part: &str| text.contains(part);
    if has("division by zero") {
        vec![DivZero]
    } else if text.starts_with("division of") {
        vec![SignedOverflow, DivZero]
    } else if has("signed integer overflow") || text.starts_with("negation of") {
        vec![SignedOverflow]
    } else if has("shift exponent") {
        vec![Overshift]
    } else if text.starts_with("left shift of") {
        vec![Overshift, SignedOverflow]
    } else if has("misaligned address") {
        vec![Misaligned]
    } else if has("which is not a valid value for type") {
        vec![InvalidValue]
    } else if has("variable length array bound") {
        vec![VlaBound]
    } else if has("outside the range of representable values") {
        vec![FloatCast]
    } else if text.starts_with("passing zero to ") {
        vec![InvalidBuiltin]
    } else if has("null pointer") {
        vec![Null]
    } else if has("out of bounds for type") || has("insufficient space") {
        vec![OobRead, OobWrite]
    } else if has("unreachable program point") || has("end of a value-returning function") {
        vec![Unreachable]
    } else if has("through pointer to incorrect function type") {
        vec![BadCall]
    } else {
        vec![]
    }
}

/// `    #1 0x55 in main /tmp/a.c:2:35`; only frames with a line, and none of the runtime's own.
fn frame(line: &str) -> Option<Location> {
    let rest = line.trim_start().strip_prefix('#')?;
    let (_, rest) = rest.split_once(" in ")?;
    let (function, place) = rest.split_once(' ')?;
    let found = location(function, place)?;
    let runtime = ["/compiler-rt/", "/sysdeps/", "csu/"].iter().any(|d| found.file.contains(d))
        || found.file.ends_with("/replay.c") && (function.starts_with("__") || function.starts_with("klee_"))
        || function == "pleach_entry";
    (!runtime).then_some(found)
}

/// `file:line:column` or `file:line`.
fn location(function: &str, place: &str) -> Option<Location> {
    let (head, last) = place.trim_end().rsplit_once(':')?;
    let last: u32 = last.parse().ok()?;
    let (file, line) = match head.rsplit_once(':').and_then(|(f, l)| Some((f, l.parse::<u32>().ok()?))) {
        Some((file, line)) => (file, line),
        None => (head, last),
    };
    Some(Location { function: function.to_owned(), file: file.to_owned(), line })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_report() {
        let log = "=====\n==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x50 at pc 0x1\n\
            READ of size 4 at 0x50 thread T0\n    #0 0x1 in get /t/a.c:2:35\n    #1 0x2 in main /t/a.c:9:3\n    \
            #2 0x3 in __libc_start csu/../x.h:58:16\n\n0x50 is located\nallocated by:\n    #0 0x4 in f /t/a.c:1:1\n";
        let all = findings(log);
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].kinds, [ErrorKind::OobRead]);
        let lines: Vec<_> = all[0].stack.iter().map(|l| l.line).collect();
        assert_eq!(lines, [2, 9]);
    }

    #[test]
    fn failures_of_the_sanitizer_are_no_findings() {
        let log = "==7==ERROR: AddressSanitizer failed to allocate 0xdfff0001000 (15392894357504) bytes at address 2008\
                   fff7000 (errno: 12)\n==7==ReserveShadowMemoryRange failed while trying to map 0xd bytes.\n";
        assert!(findings(log).is_empty());
        assert!(failure(log).unwrap().starts_with("AddressSanitizer failed to allocate"), "{:?}", failure(log));
        assert!(failure("==1==LeakSanitizer has encountered a fatal error.\n").is_some());
        assert!(failure("==9==AddressSanitizer: hard rss limit exhausted (64Mb vs 90Mb)\n").is_some());
        assert_eq!(failure("==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x1\n"), None);
    }

    #[test]
    fn undefined_reports() {
        let log = "/t/a.c:5:10: runtime error: signed integer overflow: 1 + 2\n    #0 0x1 in add /t/a.c:5:10\n    \
            #1 0x1 in main /t/a.c:8:1\n\n/t/a.c:6:1: runtime error: shift exponent 40 is too large\n";
        let all = findings(log);
        assert_eq!(all[0].kinds, [ErrorKind::SignedOverflow]);
        assert_eq!(all[0].stack.len(), 2);
        assert_eq!(all[0].stack[0].function, "add");
        assert_eq!(all[1].kinds, [ErrorKind::Overshift]);
        assert_eq!(all[1].stack[0].line, 6);
    }

    #[test]
    fn null_and_leak() {
        let log = "==1==ERROR: AddressSanitizer: SEGV on unknown address 0x0\n==1==The signal is caused by a WRITE\n\
            ==1==Hint: address points to the zero page.\n    #0 0x1 in main a.c:3:2\n";
        assert_eq!(findings(log)[0].kinds, [ErrorKind::Null, ErrorKind::BadCall]);
        assert_eq!(findings("==1==ERROR: LeakSanitizer: detected memory leaks\n")[0].kinds, [ErrorKind::Leak]);
        assert!(findings("noise\n#0 x in y z\n: runtime error: \n").len() <= 1);
    }
}
