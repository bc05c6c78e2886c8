//! Native execution over all inputs of a small domain, with sanitizers: what really happens.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use pleach_report::ErrorKind;

use crate::engine;
use crate::outcome::PathOutcome;
use crate::scratch::Scratch;

const DRIVER: &str = include_str!("oracle/driver.c");
pub(crate) const KLEE_H: &str = include_str!("../../../runtime/include/klee/klee.h");
const LIMIT: Duration = Duration::from_secs(300);

pub(crate) const ASAN_OPTIONS: &str = "exitcode=246:symbolize=0:detect_leaks=0:redzone=128:detect_stack_use_after_return=1:\
     allocator_may_return_null=1:print_legend=0:print_full_thread_history=0:max_redzone=512";

/// How many values each input byte takes, from 0 upwards.
pub type Domain = Vec<u16>;

/// What happens on each input of the domain.
pub type Outcomes = BTreeMap<Vec<u8>, PathOutcome>;

/// Undefined behaviour that is an error to the engine too.
pub const CHECKS: &str = "address,null,integer-divide-by-zero,shift-exponent,unreachable,return,\
                          alignment,bool,enum,builtin,vla-bound,float-cast-overflow";

/// Compiles `source` with the checks and runs it on every input of `domain`.
pub fn run(source: &Path, domain: &Domain, flags: &[&str]) -> Result<Outcomes, String> {
    let scratch = Scratch::new("oracle");
    let (driver, program) = (scratch.file("driver.c"), scratch.file("program"));
    let write = |path: &Path, text| std::fs::write(path, text).map_err(|e| e.to_string());
    write(&driver, DRIVER)?;
    std::fs::create_dir(scratch.file("klee")).map_err(|e| e.to_string())?;
    write(&scratch.file("klee/klee.h"), KLEE_H)?;

    let object = scratch.file("program.o");
    let mut compile = Command::new("clang-19");
    compile.args(["-O0", "-g", "-w", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all", "-c"]);
    compile.arg(format!("-fsanitize={CHECKS}")).args(["-Dmain=program_main", "-Dabort=program_abort"]);
    // Otherwise accesses to globals at constant offsets are not looked at.
    compile.args(["-mllvm", "-asan-opt=0"]);
    compile.args(flags).arg("-I").arg(scratch.path()).arg(source).arg("-o").arg(&object);
    succeed(&mut compile)?;
    let mut link = Command::new("clang-19");
    link.args(["-O1", "-g", "-w", "-no-pie", "-fsanitize=address,undefined"]).arg(&object);
    succeed(
        link.arg("-x").arg("c").arg("-fno-sanitize=all").arg(&driver).arg("-fsanitize=address").arg("-o").arg(&program),
    )?;

    let mut all = Command::new(&program);
    all.env("ASAN_OPTIONS", ASAN_OPTIONS).env("UBSAN_OPTIONS", "exitcode=246:symbolize=0");
    all.arg(scratch.file("log")).args(domain.iter().map(u16::to_string));
    let finished = engine::run(&mut all, LIMIT).map_err(|e| e.to_string())?;
    if finished.code != Some(0) {
        return Err(format!("the native program did not get through its inputs: {}", finished.output()));
    }
    let records = records(&finished.stdout)?;
    let own = |file: &Path| file.file_name() == source.file_name();
    let lines = Lines::of(&program, &|file| own(Path::new(file)), records.iter().filter_map(|(_, r)| r.log()))?;
    Ok(records.into_iter().map(|(input, record)| (input, record.outcome(&lines))).collect())
}

pub(crate) fn succeed(command: &mut Command) -> Result<String, String> {
    let done = engine::run(command, LIMIT).map_err(|e| format!("{command:?}: {e}"))?;
    if done.code == Some(0) { Ok(done.stdout) } else { Err(format!("{command:?} failed:\n{}", done.output())) }
}

/// What the driver wrote about one input.
pub(crate) enum Record {
    Plain(PathOutcome),
    Log(String),
}

fn records(text: &str) -> Result<Vec<(Vec<u8>, Record)>, String> {
    let mut all = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let mut words = line.split(' ');
        let bad = || format!("the driver wrote `{line}`");
        let input = words.next().and_then(bytes).ok_or_else(bad)?;
        let record = match (words.next(), words.next()) {
            (Some("exit"), Some(code)) => Record::Plain(PathOutcome::Exit(code.parse().map_err(|_| bad())?)),
            (Some("excluded"), None) => Record::Plain(PathOutcome::Excluded),
            (Some("log"), None) => {
                let log: Vec<_> = lines.by_ref().take_while(|l| *l != "end").collect();
                Record::Log(log.join("\n"))
            }
            _ => return Err(bad()),
        };
        all.push((input, record));
    }
    Ok(all)
}

pub(crate) fn bytes(hex: &str) -> Option<Vec<u8>> {
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(hex.get(i..i + 2)?, 16).ok()).collect()
}

impl Record {
    pub(crate) fn log(&self) -> Option<&str> {
        match self {
            Record::Log(log) => Some(log),
            Record::Plain(_) => None,
        }
    }

    pub(crate) fn outcome(&self, lines: &Lines) -> PathOutcome {
        let log = match self {
            Record::Plain(outcome) => return *outcome,
            Record::Log(log) => log,
        };
        let first = |text: &str| log.find(text).map(|at| &log[at + text.len()..]);
        if let Some(line) = first("assert at ").and_then(number) {
            return PathOutcome::Error(ErrorKind::Assert, line);
        }
        if let Some(at) = log.find(": runtime error: ") {
            let line = log[..at].rsplit('\n').next().and_then(|place| place.rsplit(':').nth(1)?.parse().ok());
            return match (undefined(&log[at + 17..]), line) {
                (Some(kind), Some(line)) => PathOutcome::Error(kind, line),
                _ => PathOutcome::Other,
            };
        }
        let kind = match () {
            _ if log.starts_with("abort()") => Some(ErrorKind::Abort),
            // Division by zero is seen by a check; the other trap is the smallest number divided by -1.
            _ if log.starts_with("trap") => Some(ErrorKind::SignedOverflow),
            _ => address(log),
        };
        match (kind, lines.first(log)) {
            (Some(kind), Some(line)) => PathOutcome::Error(kind, line),
            _ => PathOutcome::Other,
        }
    }
}

fn number(text: &str) -> Option<u32> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text[..digits].parse().ok()
}

fn undefined(text: &str) -> Option<ErrorKind> {
    use ErrorKind::*;
    let line = text.lines().next().unwrap_or("");
    let named = [
        ("division by zero", DivZero),
        ("division of", SignedOverflow),
        ("shift exponent", Overshift),
        ("signed integer overflow", SignedOverflow),
        ("left shift of", SignedOverflow),
        ("negation of", SignedOverflow),
        ("misaligned address", Misaligned),
        ("which is not a valid value for type", InvalidValue),
        ("variable length array bound", VlaBound),
        ("outside the range of representable values", FloatCast),
        ("passing zero to ", InvalidBuiltin),
        ("null pointer", Null),
        ("unreachable program point", Unreachable),
        ("end of a value-returning function", Unreachable),
    ];
    named.into_iter().find(|(part, _)| line.contains(part)).map(|(_, kind)| kind)
}

fn address(log: &str) -> Option<ErrorKind> {
    use ErrorKind::*;
    let (_, text) = log.split_once("ERROR: AddressSanitizer: ")?;
    let write = text.contains("\nWRITE of size") || text.contains("caused by a WRITE");
    let headline = text.lines().next().unwrap_or("");
    let has = |part: &str| headline.contains(part);
    Some(match () {
        _ if has("double-free") => DoubleFree,
        _ if has("not malloc()-ed") || has("bad-free") => BadFree,
        _ if has("use-after") => UseAfterFree,
        _ if has("stack-overflow on") => StackOverflow,
        _ if has("FPE") => DivZero,
        _ if has("-param-overlap") => Overlap,
        _ if has("overflow") || has("underflow") => {
            if write {
                OobWrite
            } else {
                OobRead
            }
        }
        _ if text.contains("zero page") => Null,
        _ => return None,
    })
}

/// Source lines of the addresses in logs, found by one run of the symbolizer.
pub(crate) struct Lines(BTreeMap<String, u32>);

impl Lines {
    /// `own` says of a file's name whether it is the program's.
    pub(crate) fn of<'a>(
        program: &Path,
        own: &dyn Fn(&str) -> bool,
        logs: impl Iterator<Item = &'a str>,
    ) -> Result<Self, String> {
        let addresses: BTreeSet<&str> = logs.flat_map(frames).collect();
        let mut lines = BTreeMap::new();
        if addresses.is_empty() {
            return Ok(Self(lines));
        }
        let mut command = Command::new("llvm-symbolizer-19");
        command.arg("-e").arg(program).args(["--output-style=GNU", "--no-inlines", "-f"]);
        let text = succeed(command.args(&addresses))?;
        // Two lines per address: the function, then file:line.
        let places = text.lines().skip(1).step_by(2);
        for (address, place) in addresses.iter().zip(places) {
            let place = place.split(" (").next().unwrap_or(place);
            if let Some((file, line)) = place.rsplit_once(':')
                && own(file)
            {
                lines.insert((*address).to_owned(), line.parse().unwrap_or(0));
            }
        }
        Ok(Self(lines))
    }

    /// The innermost frame in the program itself.
    fn first(&self, log: &str) -> Option<u32> {
        frames(log).find_map(|address| self.0.get(address).copied())
    }
}

/// Addresses of the first stack in a log: `    #0 0x4f…`.
fn frames(log: &str) -> impl Iterator<Item = &str> {
    let mut last = None;
    log.lines()
        .filter_map(|l| {
            let (n, rest) = l.trim_start().strip_prefix('#')?.split_once(' ')?;
            Some((n.parse::<u32>().ok()?, rest.split(' ').next()?))
        })
        .take_while(move |(n, _)| {
            let next = last.is_none_or(|l| *n > l);
            last = Some(*n);
            next
        })
        .map(|(_, address)| address)
}
