//! The engine against native execution: same outcomes over a small domain of inputs.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::time::Duration;

use pleach_report::RunDir;

use crate::oracle::{self, Domain, Outcomes};
use crate::outcome::{self, PathOutcome, Predicted};
use crate::random::Program;
use crate::scratch::Scratch;
use crate::{engine, random};

const LIMIT: Duration = Duration::from_secs(120);

/// What was found about one program.
#[derive(Debug)]
pub enum Comparison {
    Equal { outcomes: usize, tests: usize },
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

/// Caches by query and policies for pointers with multiple targets: what is found must not depend on them.
pub const MEMORY_MODES: [&[&str]; 5] = [
    &["--query-cache=off"],
    &["--query-cache=address-aware", "--check-cache"],
    &["--query-cache=address-aware", "--check-cache", "--resolution=ite", "--check-resolution"],
    &["--query-cache=address-aware", "--check-cache", "--resolution=segments-dynamic", "--check-resolution"],
    &["--resolution=segments-static", "--no-segment-reuse", "--split-objects=8", "--split-size=8"],
];

/// The program of a seed, executed once and explored in every one of these modes.
pub fn compare_modes(seed: u64) -> Result<(), String> {
    let program = random::program(seed);
    let scratch = Scratch::new(&format!("modes-{seed}"));
    let source = scratch.file("program.c");
    std::fs::write(&source, &program.source).map_err(|e| e.to_string())?;
    let (checks, native) = flags_of(&program);
    let real = oracle::run(&source, &program.domain, &native)?;
    for mode in MEMORY_MODES {
        let flags: Vec<&str> = checks.iter().chain(mode).copied().collect();
        if let Comparison::Different(how) = explore_and_compare(&source, &real, &flags)? {
            return Err(describe(&program, &format!("with {}: {how}", mode.join(" "))));
        }
    }
    Ok(())
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
    let scratch = Scratch::new("explore");
    let run = scratch.file("run");
    let mut args = vec!["test", "--quiet", "--max-time=60s", "--output-dir"];
    let (run_text, source_text) = (run.to_string_lossy(), source.to_string_lossy());
    args.push(&run_text);
    args.extend(flags);
    args.push(&source_text);
    let finished = engine::pleach(&args, scratch.path(), LIMIT)?;
    if finished.crashed() || !matches!(finished.code, Some(0 | 1)) {
        return Ok(Comparison::Different(format!("the engine failed ({:?}):\n{}", finished.code, finished.output())));
    }
    let run = RunDir::open(&run).map_err(|e| e.to_string())?;
    let summary = run.summary().map_err(|e| e.to_string())?;
    if !summary.complete {
        return Ok(Comparison::Different(format!("the engine cut paths: {:?}", summary.cut)));
    }
    let tests = outcome::of_run(&run)?;
    let how = differences(real, &tests);
    Ok(match how.is_empty() {
        true => Comparison::Equal { outcomes: distinct(real).len(), tests: tests.len() },
        false => Comparison::Different(how),
    })
}

fn distinct(real: &Outcomes) -> BTreeSet<PathOutcome> {
    real.values().copied().filter(|o| *o != PathOutcome::Excluded).collect()
}

/// As text; empty when there are none.
fn differences(real: &Outcomes, tests: &[Predicted]) -> String {
    let mut out = String::new();
    // Each test by itself: its input must do what was predicted.
    for (input, predicted) in tests {
        match (predicted, real.get(input)) {
            (_, None) => writeln!(out, "a test has the input {input:02x?}, which is outside the domain"),
            (Some(p), Some(r)) if p != r => writeln!(out, "input {input:02x?}: natively {r}, the engine says {p}"),
            (None, Some(r)) => writeln!(out, "input {input:02x?}: natively {r}, the engine says nothing"),
            _ => Ok(()),
        }
        .unwrap_or_default();
    }
    // All together: nothing is missing.
    let found: BTreeSet<PathOutcome> = tests.iter().filter_map(|(_, o)| *o).collect();
    for missing in distinct(real).difference(&found) {
        let example = real.iter().find(|(_, o)| *o == missing).map(|(input, _)| input.clone()).unwrap_or_default();
        let _ = writeln!(out, "missing: {missing}, natively on input {example:02x?}");
    }
    out
}

fn describe(program: &Program, how: &str) -> String {
    let numbered: String = program.source.lines().enumerate().map(|(i, l)| format!("{:4}  {l}\n", i + 1)).collect();
    let flags = if program.signed_overflow { " (with --check signed-overflow)" } else { "" };
    format!("seed {}{flags}\n{numbered}{how}", program.seed)
}
