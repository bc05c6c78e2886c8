//! `verify` and `reach` on random programs: the answers follow from what `test` finds on a complete run.

use crate::engine;
use crate::random;
use crate::scratch::Scratch;
use pleach_report::{ErrorKind, RunDir, Summary};
use std::path::Path;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(120);

/// Properties, with the flags under which `test` looks for the same errors.
const PROPERTIES: [(&str, &[&str]); 4] = [
    ("errors", &[]),
    ("unreach-call", &[]),
    ("memsafety", &["--check", "leak"]),
    ("no-overflow", &["--check", "signed-overflow"]),
];

/// What is wrong with the answers about the program of a seed; empty when all is as it should be.
pub fn check_seed(seed: u64) -> Result<Vec<String>, String> {
    let scratch = Scratch::new(&format!("answers-{seed}"));
    std::fs::write(scratch.file("program.c"), random::program(seed).source).map_err(|e| e.to_string())?;
    let mut wrong = Vec::new();
    for (property, flags) in PROPERTIES {
        let found = run(&scratch, &[&["test"], flags].concat())?;
        if !found.complete {
            continue;
        }
        let want = expected(property, &found);
        for way in ["--search=dfs", "--no-prune"] {
            let got = run(&scratch, &["verify", "-p", property, "--no-replay", way])?.svcomp;
            if got.split('(').next() != Some(want) {
                wrong.push(format!("seed {seed}: verify -p {property} {way} says {got} instead of {want}"));
            }
        }
    }
    let targets = |way| run(&scratch, &["reach", "--all-blocks", "--no-replay", way]).map(results);
    if targets("--search=dfs")? != targets("--no-prune")? {
        wrong.push(format!("seed {seed}: pruning changes what reach --all-blocks says"));
    }
    Ok(wrong)
}

fn results(summary: Summary) -> Vec<(String, String)> {
    summary.targets.into_iter().map(|t| (t.target, t.result)).collect()
}

fn run(scratch: &Scratch, args: &[&str]) -> Result<Summary, String> {
    let run = Scratch::new("answer");
    let place = run.file("run").to_string_lossy().into_owned();
    let all = [args, &["--quiet", "--max-time=60s", "program.c", "--output-dir", &place]].concat();
    let finished = engine::pleach(all, scratch.path(), LIMIT)?;
    let summary = RunDir::open(Path::new(&place)).and_then(|r| r.summary());
    summary.map_err(|e| format!("{args:?}: {e}\n{}", finished.output()))
}

/// The table of `docs/verify.md`, from the errors of a complete run.
fn expected(property: &str, found: &Summary) -> &'static str {
    use ErrorKind::*;
    let kinds = || found.errors.iter().map(|e| e.kind);
    let violates = |k: ErrorKind| match property {
        "errors" => true,
        "unreach-call" => k == Assert,
        "memsafety" => {
            matches!(k, OobRead | OobWrite | Null | UseAfterFree | Readonly | DoubleFree | BadFree | Leak)
        }
        _ => k == SignedOverflow,
    };
    match () {
        () if kinds().any(violates) => "false",
        () if kinds().any(|k| !matches!(k, Assert | Abort)) => "unknown",
        () => "true",
    }
}
