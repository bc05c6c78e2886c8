//! `reach` on random programs with every line as a target, against native execution on every input.

pub mod generate;
mod truth;

use crate::engine;
use crate::scratch::Scratch;
use generate::Program;
use pleach_report::{RunDir, Summary};
use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;
use truth::Truth;

const LIMIT: Duration = Duration::from_secs(120);

/// Programs that are compiled together.
pub const BATCH: u64 = 50;

/// The flags of a run; each program has one of them, or all.
pub const MODES: [&[&str]; 13] = [
    &[],
    &["--no-replay"],
    &["--no-replay", "--each"],
    &["--no-replay", "--search=dfs"],
    &["--no-replay", "--search=bfs"],
    &["--no-replay", "--search=random-path"],
    &["--no-replay", "--no-prune"],
    &["--no-replay", "--search=nurs:covnew"],
    &["--no-replay", "--search=random-state", "--no-prune"],
    &["--no-replay", "--search=nurs:md2u,subtree"],
    &["--no-replay", "--both-ends"],
    &["--no-replay", "--both-ends", "--max-instructions=200"],
    &["--no-replay", "--both-ends", "--max-instructions=600"],
];

/// What was looked at, and what is wrong.
#[derive(Default)]
pub struct Report {
    pub targets: u64,
    pub reachable: u64,
    /// executed lines that are refused: jumps of which the compiler leaves nothing
    pub left_out: u64,
    pub wrong: Vec<String>,
}

/// Checks the programs of these seeds.
pub fn check_seeds(seeds: std::ops::Range<u64>, all_modes: bool) -> Result<Report, String> {
    let programs: Vec<Program> = seeds.map(generate::program).collect();
    let mut truths = truth::truths(&programs)?;
    let mut report = Report::default();
    for p in &programs {
        let truth = truths.remove(&p.seed).unwrap_or_default();
        let modes =
            if all_modes { &MODES[..] } else { std::slice::from_ref(&MODES[(p.seed % MODES.len() as u64) as usize]) };
        if let Err(why) = check(p, &truth, modes, &mut report) {
            report.wrong.push(format!("seed {}: {why}", p.seed));
        }
    }
    Ok(report)
}

fn check(p: &Program, truth: &Truth, modes: &[&[&str]], report: &mut Report) -> Result<(), String> {
    let scratch = Scratch::new("reaching");
    std::fs::write(scratch.file("program.c"), &p.source).map_err(|e| e.to_string())?;
    let marked: BTreeSet<u32> = p.lines.iter().copied().collect();
    let mut targets = p.lines.clone();
    for mode in modes {
        let run = scratch.file("run");
        let _ = std::fs::remove_dir_all(&run);
        let mut summary = reach(scratch.path(), &run, &targets, mode)?;
        if summary.is_none() {
            // What follows a jump is left out by the compiler, and refused as a target.
            let with_code = lines_with_code(scratch.path())?;
            for line in truth.keys().filter(|l| !with_code.contains(l)) {
                if !may_be_left_out(p, *line) {
                    return Err(format!("line {line} is executed and is said to have no code"));
                }
                report.left_out += 1;
            }
            targets = with_code.intersection(&marked).copied().collect();
            summary = reach(scratch.path(), &run, &targets, mode)?;
        }
        let summary = summary.ok_or("the targets are refused")?;
        let first = if mode.contains(&"--each") { run.join("target-1") } else { run.clone() };
        let with_code = counted_lines(&first)?;
        let no_code = |l: &&u32| !marked.contains(l) && !p.ends.contains(l) && !is_set_up(p, **l);
        if let Some(line) = with_code.iter().find(no_code) {
            return Err(format!("line {line} has no code and is said to have some"));
        }
        let covered: BTreeSet<u32> = summary.covered.values().flatten().copied().collect();
        for (i, (line, found)) in targets.iter().zip(&summary.targets).enumerate() {
            report.targets += 1;
            report.reachable += u64::from(found.result == "reachable");
            let inputs = truth.get(line).map_or(&[][..], Vec::as_slice);
            let place = if mode.contains(&"--each") { run.join(format!("target-{}", i + 1)) } else { run.clone() };
            let stopped = mode.iter().any(|flag| flag.starts_with("--max-instructions"));
            let wrong = if stopped && found.result == "unknown" { None } else { judge(&place, found, inputs).err() };
            let wrong =
                wrong.or_else(|| (covered.contains(line) && inputs.is_empty()).then(|| "counts as covered".into()));
            if let Some(why) = wrong {
                report.wrong.push(format!("seed {} {mode:?} line {line}: {why}", p.seed));
            }
        }
        if summary.targets.len() != targets.len() {
            report.wrong.push(format!("seed {} {mode:?}: {} results", p.seed, summary.targets.len()));
        }
    }
    Ok(())
}

/// The compiler leaves nothing of a jump out of a scope with locals to where control goes anyway. Most are found by
/// what stands before them; one behind the end of a branch is not.
fn may_be_left_out(p: &Program, line: u32) -> bool {
    let text = p.source.lines().nth(line as usize - 1).unwrap_or_default().trim();
    text == "break;" || text == "LEAVE;" || text == "continue;" || text.starts_with("goto ")
}

/// The inputs and what is assumed about them.
fn is_set_up(p: &Program, line: u32) -> bool {
    let text = p.source.lines().nth(line as usize - 1).unwrap_or_default();
    text.starts_with("  klee_make_symbolic") || text.starts_with("  klee_assume(in[")
}

fn judge(run: &Path, found: &pleach_report::TargetResult, inputs: &[Vec<u8>]) -> Result<(), String> {
    match (found.result.as_str(), found.test) {
        ("unreachable", _) if inputs.is_empty() => Ok(()),
        ("reachable", Some(id)) => {
            let test = RunDir::open(run).and_then(|r| r.read_test(id)).map_err(|e| e.to_string())?;
            let bytes: Vec<u8> = test.inputs.iter().flat_map(|i| i.bytes.iter().copied()).collect();
            match inputs.contains(&bytes) {
                // A path that an assumption ends later does not come to its end natively.
                true if found.replay.starts_with("native replay does not decide it: the path was cut") => Ok(()),
                true if found.replay.starts_with("replayed natively") || found.replay.starts_with("not replayed") => {
                    Ok(())
                }
                true => Err(format!("the replay: {}", found.replay)),
                false => Err(format!("the input {bytes:02x?} does not lead there, {} others do", inputs.len())),
            }
        }
        (result, _) => Err(format!("{result} ({}), but {} inputs lead there", found.reason, inputs.len())),
    }
}

/// Nothing if a target is refused.
fn reach(folder: &Path, run: &Path, targets: &[u32], mode: &[&str]) -> Result<Option<Summary>, String> {
    let mut args: Vec<String> = ["reach", "--quiet", "--max-time=60s", "--output-dir"].map(String::from).to_vec();
    args.push(run.to_string_lossy().into_owned());
    args.extend(mode.iter().map(ToString::to_string));
    args.extend(targets.iter().map(|l| format!("--target=program.c:{l}")));
    args.push("program.c".into());
    let finished = engine::pleach(args, folder, LIMIT)?;
    if finished.code == Some(2) && finished.stderr.contains("has no code") {
        return Ok(None);
    }
    let summary = RunDir::open(run).and_then(|r| r.summary());
    summary.map(Some).map_err(|e| format!("{mode:?}: {e}\n{}", finished.output()))
}

/// Lines that `coverage.info` counts.
fn counted_lines(run: &Path) -> Result<BTreeSet<u32>, String> {
    let text = std::fs::read_to_string(run.join("coverage.info")).map_err(|e| e.to_string())?;
    let own =
        text.split("end_of_record").filter(|r| r.lines().any(|l| l.starts_with("SF:") && l.ends_with("program.c")));
    let line = |l: &str| l.strip_prefix("DA:")?.split(',').next()?.parse().ok();
    Ok(own.flat_map(|r| r.lines().filter_map(line)).collect())
}

/// Lines that blocks of the program have code of, as `pleach ir` prints them.
fn lines_with_code(folder: &Path) -> Result<BTreeSet<u32>, String> {
    let printed = engine::pleach(["ir", "program.c"], folder, LIMIT)?;
    if printed.code != Some(0) {
        return Err(printed.output());
    }
    let files = printed.stdout.lines().filter(|l| l.starts_with("file "));
    let own = files.into_iter().position(|l| l.ends_with("/program.c\"")).unwrap_or_default().to_string();
    let lists = printed.stdout.lines().filter_map(|l| Some(l.split_once(" spans [")?.1.split_once(']')?.0));
    let spans = lists.flat_map(|l| l.split(", "));
    let line = |span: &str| {
        let mut parts = span.split(':');
        (parts.next() == Some(own.as_str())).then(|| parts.next()?.parse().ok()).flatten()
    };
    Ok(spans.filter_map(line).collect())
}
