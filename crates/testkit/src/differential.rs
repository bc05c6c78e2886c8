//! The engine against native execution: same outcomes over a small domain of inputs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use pleach_report::RunDir;

use crate::oracle::{self, Domain, Outcomes};
use crate::outcome::{self, PathOutcome, Predicted};
use crate::random::{Program, values};
use crate::scratch::Scratch;
use crate::{batch, engine, random};

const LIMIT: Duration = Duration::from_secs(120);

/// What was found about one program.
#[derive(Debug)]
pub enum Comparison {
    Equal { inputs: usize, tests: usize, outcomes: BTreeSet<PathOutcome> },
    Different(String),
}

/// The program of a seed, explored and executed.
pub fn compare_seed(seed: u64) -> Result<Comparison, String> {
    let program = random::program(seed);
    let scratch = Scratch::new(&format!("random-{seed}"));
    let source = scratch.file("program.c");
    std::fs::write(&source, &program.source).map_err(|e| e.to_string())?;
    let (flags, native) = flags_of(&program);
    let result = compare(&source, &program.domain, &flags, &native)?;
    Ok(match result {
        Comparison::Different(how) => Comparison::Different(describe(&program, &how)),
        equal => equal,
    })
}

/// Programs about values that are compiled together.
pub const BATCH: u64 = 200;
/// Those of them that are explored together.
const TOGETHER: usize = 50;

/// The programs about values of these seeds, executed together and explored some at a time, with further flags.
pub fn compare_values(seeds: std::ops::Range<u64>, flags: &[&str]) -> Result<Vec<(u64, Comparison)>, String> {
    let programs: Vec<values::Program> = seeds.map(values::program).collect();
    let mut all = Vec::new();
    let (overflowing, wrapping): (Vec<_>, Vec<_>) = programs.into_iter().partition(|p| p.signed_overflow);
    for (group, check) in [(overflowing, &["--check", "signed-overflow"][..]), (wrapping, &[])] {
        let real = batch::outcomes(&group)?;
        let flags: Vec<&str> = flags.iter().chain(check).copied().collect();
        for some in group.chunks(TOGETHER) {
            all.extend(compare_together(some, &real, &flags)?);
        }
    }
    Ok(all)
}

fn compare_together(
    programs: &[values::Program],
    real: &BTreeMap<u64, Outcomes>,
    flags: &[&str],
) -> Result<Vec<(u64, Comparison)>, String> {
    let scratch = Scratch::new("values");
    let source = scratch.file("program.c");
    let write = |text: String| std::fs::write(&source, text).map_err(|e| e.to_string());
    // The input that says which one runs is none if there is no choice.
    let prefix = if programs.len() > 1 { 4 } else { 0 };
    write(if prefix > 0 { values::together(programs) } else { programs[0].source() })?;
    let explored = explore(&source, flags)?;
    let mut all = Vec::new();
    for (i, p) in programs.iter().enumerate() {
        let nothing = Outcomes::new();
        let outcomes = real.get(&p.seed).unwrap_or(&nothing);
        let which = &(i as u32).to_le_bytes()[..prefix];
        let own = |tests: &Vec<Predicted>| -> Vec<Predicted> {
            let own = tests.iter().filter_map(|(input, p)| Some((input.strip_prefix(which)?.to_vec(), *p)));
            own.collect()
        };
        let mut comparison = compared(outcomes, explored.as_ref().map(own).map_err(Clone::clone), Missing::Any);
        if let Comparison::Different(how) = &comparison {
            // Alone, it is easier to look at; and one that cannot be explored does not spoil the others.
            write(p.source())?;
            let alone = compared(outcomes, explore(&source, flags)?, Missing::Any);
            let alone = match (alone, &explored) {
                (Comparison::Equal { .. }, Ok(_)) => Some(format!("only together with others: {how}")),
                (Comparison::Different(how), _) => Some(how),
                (equal, Err(_)) => {
                    comparison = equal;
                    None
                }
            };
            if let Some(how) = alone {
                comparison = Comparison::Different(numbered(p.seed, &p.source(), p.signed_overflow, &how));
            }
        }
        all.push((p.seed, comparison));
    }
    Ok(all)
}

/// Caches by query and policies for pointers with multiple targets: what is found must not depend on them.
pub const MEMORY_MODES: [&[&str]; 5] = [
    &["--query-cache=off"],
    &["--query-cache=address-aware", "--check-cache"],
    &["--query-cache=address-aware", "--check-cache", "--resolution=ite", "--check-resolution"],
    &["--query-cache=address-aware", "--check-cache", "--resolution=segments-dynamic", "--check-resolution"],
    &["--resolution=segments-static", "--no-segment-reuse", "--split-objects=8", "--split-size=8"],
];

/// Ways of merging: a merged path has one test, which must do what was predicted, and no error may be missing.
pub const MERGE_MODES: [&[&str]; 5] = [
    &["--merge=tree", "--merge-scope=loops"],
    &["--merge=tree", "--merge-scope=functions"],
    &["--merge=textbook", "--merge-scope=loops,functions"],
    &["--merge=pattern", "--merge-incremental"],
    &["--merge=tree", "--merge-scope=loops", "--prune"],
];

/// The program of a seed, executed once and explored in every one of these modes.
pub fn compare_modes(seed: u64, modes: &[&[&str]]) -> Result<Comparison, String> {
    let program = random::program(seed);
    let scratch = Scratch::new(&format!("modes-{seed}"));
    let source = scratch.file("program.c");
    std::fs::write(&source, &program.source).map_err(|e| e.to_string())?;
    let (checks, native) = flags_of(&program);
    let real = oracle::run(&source, &program.domain, &native)?;
    let mut all = 0;
    for mode in modes {
        let flags: Vec<&str> = checks.iter().chain(*mode).copied().collect();
        match explore_and_compare(&source, &real, &flags)? {
            Comparison::Equal { tests, .. } => all += tests,
            Comparison::Different(how) => {
                let how = format!("with {}: {how}", mode.join(" "));
                return Ok(Comparison::Different(describe(&program, &how)));
            }
        }
    }
    Ok(Comparison::Equal { inputs: real.len(), tests: all, outcomes: distinct(&real) })
}

/// The engine's flags for a program, and the compiler's.
fn flags_of(program: &Program) -> (Vec<&'static str>, Vec<&'static str>) {
    match program.signed_overflow {
        true => (vec!["--check", "signed-overflow"], vec!["-fsanitize=signed-integer-overflow,shift-base"]),
        false => (vec![], vec!["-fwrapv"]),
    }
}

/// Explores `source` with `flags`, executes it with `native` flags on the whole domain, and compares.
pub fn compare(source: &Path, domain: &Domain, flags: &[&str], native: &[&str]) -> Result<Comparison, String> {
    explore_and_compare(source, &oracle::run(source, domain, native)?, flags)
}

fn explore_and_compare(source: &Path, real: &Outcomes, flags: &[&str]) -> Result<Comparison, String> {
    let missing = if flags.iter().any(|f| f.starts_with("--merge")) { Missing::Errors } else { Missing::Any };
    Ok(compared(real, explore(source, flags)?, missing))
}

/// Which outcomes must have a test. The exit codes of merged paths have one together, and a test that a state gets when
/// it is merged says nothing of what follows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Any,
    Errors,
}

/// The tests of a complete run, or how the engine failed.
fn explore(source: &Path, flags: &[&str]) -> Result<Result<Vec<Predicted>, String>, String> {
    let scratch = Scratch::new("explore");
    let run = scratch.file("run");
    let mut args = vec!["test", "--quiet", "--max-time=60s", "--output-dir"];
    let (run_text, source_text) = (run.to_string_lossy(), source.to_string_lossy());
    args.push(&run_text);
    args.extend(flags);
    args.push(&source_text);
    let finished = engine::pleach(&args, scratch.path(), LIMIT)?;
    if finished.crashed() || !matches!(finished.code, Some(0 | 1)) {
        return Ok(Err(format!("the engine failed ({:?}):\n{}", finished.code, finished.output())));
    }
    let run = RunDir::open(&run).map_err(|e| e.to_string())?;
    let summary = run.summary().map_err(|e| e.to_string())?;
    if !summary.complete {
        return Ok(Err(format!("the engine cut paths: {:?}", summary.cut)));
    }
    outcome::of_run(&run).map(Ok)
}

fn compared(real: &Outcomes, tests: Result<Vec<Predicted>, String>, missing: Missing) -> Comparison {
    let tests = match tests {
        Ok(tests) => tests,
        Err(how) => return Comparison::Different(how),
    };
    let how = differences(real, &tests, missing);
    match how.is_empty() {
        true => Comparison::Equal { inputs: real.len(), tests: tests.len(), outcomes: distinct(real) },
        false => Comparison::Different(how),
    }
}

fn distinct(real: &Outcomes) -> BTreeSet<PathOutcome> {
    real.values().copied().filter(|o| *o != PathOutcome::Excluded).collect()
}

/// As text; empty when there are none.
fn differences(real: &Outcomes, tests: &[Predicted], missing: Missing) -> String {
    let mut out = String::new();
    // Each test by itself: its input must do what was predicted.
    for (input, predicted) in tests {
        match (predicted, real.get(input)) {
            (_, None) => writeln!(out, "a test has the input {input:02x?}, which is outside the domain"),
            (Some(p), Some(r)) if p != r => writeln!(out, "input {input:02x?}: natively {r}, the engine says {p}"),
            (None, Some(r)) if missing == Missing::Any => {
                writeln!(out, "input {input:02x?}: natively {r}, the engine says nothing")
            }
            _ => Ok(()),
        }
        .unwrap_or_default();
    }
    // All together: nothing is missing.
    let found: BTreeSet<PathOutcome> = tests.iter().filter_map(|(_, o)| *o).collect();
    let asked = |o: &PathOutcome| missing == Missing::Any || matches!(o, PathOutcome::Error(..));
    for missing in distinct(real).difference(&found).filter(|o| asked(o)) {
        let example = real.iter().find(|(_, o)| *o == missing).map(|(input, _)| input.clone()).unwrap_or_default();
        let _ = writeln!(out, "missing: {missing}, natively on input {example:02x?}");
    }
    out
}

fn describe(program: &Program, how: &str) -> String {
    numbered(program.seed, &program.source, program.signed_overflow, how)
}

fn numbered(seed: u64, source: &str, signed_overflow: bool, how: &str) -> String {
    let numbered: String = source.lines().enumerate().map(|(i, l)| format!("{:4}  {l}\n", i + 1)).collect();
    let flags = if signed_overflow { " (with --check signed-overflow)" } else { "" };
    format!("seed {seed}{flags}\n{numbered}{how}")
}
