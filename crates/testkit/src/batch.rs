//! Native execution of many programs in one process, on every input of each, with sanitizers: what really happens.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use pleach_report::ErrorKind;

use crate::engine;
use crate::oracle::{self, Outcomes};
use crate::outcome::PathOutcome;
use crate::random::values::Program;
use crate::scratch::Scratch;

const HEAD: &str = include_str!("batch/head.h");
const DRIVER: &str = include_str!("batch/driver.c");
const LIMIT: Duration = Duration::from_secs(600);

/// Handlers of undefined behaviour that the driver has instead of the sanitizer's library.
const HANDLERS: [&str; 12] = [
    "add_overflow",
    "sub_overflow",
    "mul_overflow",
    "negate_overflow",
    "divrem_overflow",
    "shift_out_of_bounds",
    "type_mismatch_v1",
    "load_invalid_value",
    "float_cast_overflow",
    "invalid_builtin",
    "builtin_unreachable",
    "missing_return",
];

/// What happens on each input of each program, by seed. All agree about signed overflow.
pub fn outcomes(programs: &[Program]) -> Result<BTreeMap<u64, Outcomes>, String> {
    let Some(first) = programs.first() else { return Ok(BTreeMap::new()) };
    let scratch = Scratch::new("batch");
    let (source, driver, binary) = (scratch.file("all.c"), scratch.file("driver.c"), scratch.file("all"));
    let write = |path: &Path, text: &str| std::fs::write(path, text).map_err(|e| e.to_string());
    write(&driver, DRIVER)?;
    std::fs::create_dir(scratch.file("klee")).map_err(|e| e.to_string())?;
    write(&scratch.file("klee/klee.h"), oracle::KLEE_H)?;
    write(&source, &one_file(programs))?;

    let object = scratch.file("all.o");
    let mut compile = Command::new("clang-19");
    compile.args(["-O0", "-gline-tables-only", "-w", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all", "-c"]);
    compile.arg(format!("-fsanitize={}", oracle::CHECKS)).args(["-mllvm", "-asan-opt=0"]);
    compile.arg(match first.signed_overflow {
        true => "-fsanitize=signed-integer-overflow,shift-base",
        false => "-fwrapv",
    });
    oracle::succeed(compile.arg("-I").arg(scratch.path()).arg(&source).arg("-o").arg(&object))?;
    let mut link = Command::new("clang-19");
    link.args(["-O1", "-w", "-no-pie", "-fsanitize=address"]);
    link.args(HANDLERS.map(|name| format!("-Wl,--wrap=__ubsan_handle_{name}_abort")));
    link.args(["-x", "c", "-fno-sanitize=all"]).arg(&driver).args(["-x", "none", "-fsanitize=address"]).arg(&object);
    oracle::succeed(link.args(["--rtlib=compiler-rt", "-lm", "-o"]).arg(&binary))?;

    let mut all = Command::new(&binary);
    all.env("ASAN_OPTIONS", format!("{}:handle_sigfpe=0", oracle::ASAN_OPTIONS)).arg(scratch.file("log"));
    let finished = engine::run(&mut all, LIMIT).map_err(|e| e.to_string())?;
    if finished.code != Some(0) {
        return Err(format!("the native programs did not get through their inputs: {}", finished.output()));
    }
    let records = records(&finished.stdout)?;
    let logs = records.iter().filter_map(|(_, _, r)| r.log());
    let lines = oracle::Lines::of(&binary, &|file| file.ends_with(".program"), logs)?;
    let mut outcomes: BTreeMap<u64, Outcomes> = BTreeMap::new();
    for (seed, input, record) in records {
        outcomes.entry(seed).or_default().insert(input, record.outcome(&lines));
    }
    Ok(outcomes)
}

fn one_file(programs: &[Program]) -> String {
    let mut text = HEAD.to_owned();
    for p in programs {
        let _ = writeln!(text, "#line 1 \"{}.program\"\n{}", p.seed, p.part());
    }
    text += "struct program { unsigned long seed; int (*main)(void); };\nconst struct program programs[] = {";
    for p in programs {
        let _ = write!(text, "{{{0}, p{0}_main}}, ", p.seed);
    }
    let _ = writeln!(text, "}};\nconst int program_count = {};", programs.len());
    text
}

fn records(text: &str) -> Result<Vec<(u64, Vec<u8>, oracle::Record)>, String> {
    let mut all = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let bad = || format!("the driver wrote `{line}`");
        let words: Vec<&str> = line.split(' ').collect();
        let [seed, input, rest @ ..] = &words[..] else { return Err(bad()) };
        let seed = seed.parse().map_err(|_| bad())?;
        let input = if *input == "-" { Vec::new() } else { oracle::bytes(input).ok_or_else(bad)? };
        let record = match rest {
            ["exit", code] => oracle::Record::Plain(PathOutcome::Exit(code.parse().map_err(|_| bad())?)),
            ["excluded"] => oracle::Record::Plain(PathOutcome::Excluded),
            ["error", kind, line] => {
                let kind: ErrorKind = kind.parse().map_err(|_| bad())?;
                oracle::Record::Plain(PathOutcome::Error(kind, line.parse().map_err(|_| bad())?))
            }
            ["trap", address] => oracle::Record::Log(format!("trap\n#0 {address}")),
            ["log"] => {
                let log: Vec<_> = lines.by_ref().take_while(|l| *l != "end").collect();
                oracle::Record::Log(log.join("\n"))
            }
            _ => return Err(bad()),
        };
        all.push((seed, input, record));
    }
    Ok(all)
}
