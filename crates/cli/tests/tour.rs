//! The transcripts in `docs/tour`: each command runs, and prints the lines that the page shows.
//!
//! A fence `c NAME` is a file. A fence `console` has commands after `$ `, and below each its output: lines in this
//! order, others may be between them; `…` stands for any text; `[N]` at the end is the exit status, else 0.

use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// Fences with their info strings.
fn fences(text: &str) -> Vec<(&str, Vec<&str>)> {
    let mut out: Vec<(&str, Vec<&str>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        match (line.strip_prefix("```"), inside) {
            (Some(_), true) => inside = false,
            (Some(info), false) => {
                inside = true;
                out.push((info, Vec::new()));
            }
            (None, true) => out.last_mut().expect("a fence").1.push(line),
            (None, false) => {}
        }
    }
    out
}

/// Whether the line is as shown, `…` standing for anything.
fn matches(shown: &str, line: &str) -> bool {
    let mut parts = shown.split('…');
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = if part.is_empty() { rest } else { after };
        last = Some(part);
    }
    match last {
        None => rest.is_empty(),
        Some(part) => part.is_empty() || rest.is_empty() || line.ends_with(part),
    }
}

struct Step<'a> {
    command: &'a str,
    shown: Vec<&'a str>,
    status: i32,
}

fn steps<'a>(lines: &[&'a str]) -> Vec<Step<'a>> {
    let mut out: Vec<Step> = Vec::new();
    for line in lines {
        if let Some(command) = line.strip_prefix("$ ") {
            out.push(Step { command, shown: Vec::new(), status: 0 });
        } else if let Some(step) = out.last_mut() {
            match line.strip_prefix('[').and_then(|l| l.strip_suffix(']')).and_then(|n| n.parse().ok()) {
                Some(status) => step.status = status,
                None => step.shown.extend((!line.trim().is_empty()).then_some(*line)),
            }
        }
    }
    out
}

fn take(name: &str) {
    let text = std::fs::read_to_string(root().join("docs/tour").join(name)).expect("a tour");
    let place = tempfile::tempdir().expect("a directory");
    let bin = Path::new(env!("CARGO_BIN_EXE_pleach")).parent().expect("a directory").to_owned();
    std::os::unix::fs::symlink(root().join("examples"), place.path().join("examples")).expect("a link");
    let mut ran = 0;
    for (info, lines) in fences(&text) {
        if let Some(file) = info.split_once(' ').map(|(_, file)| file) {
            std::fs::write(place.path().join(file), lines.join("\n") + "\n").expect("a file");
        }
        for step in steps(if info == "console" { &lines } else { &[] }) {
            let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
            let mut shell = Command::new("sh");
            let shell = shell.args(["-c", &format!("{{ {}; }} 2>&1", step.command)]);
            let done = shell.current_dir(place.path()).env("PATH", path).output().expect("a shell");
            let said = String::from_utf8_lossy(&done.stdout).into_owned();
            let mut rest = said.lines();
            for shown in &step.shown {
                assert!(
                    rest.any(|l| matches(shown.trim(), l.trim())),
                    "{name}: {}: `{shown}` is not in\n{said}",
                    step.command
                );
            }
            assert_eq!(done.status.code(), Some(step.status), "{name}: {}\n{said}", step.command);
            ran += 1;
        }
    }
    assert!(ran >= 3, "{name} has {ran} commands");
}

#[test]
fn a_c_developer() {
    take("c-developer.md");
}

#[test]
fn a_user_of_klee() {
    take("klee-user.md");
}

#[test]
fn a_participant_of_sv_comp() {
    take("competition.md");
}

#[test]
fn a_pipeline_engineer() {
    take("pipeline.md");
}

#[test]
fn a_fuzzing_engineer() {
    take("fuzzing.md");
}

#[test]
fn a_cxx_developer() {
    take("cxx-developer.md");
}

#[test]
fn a_rust_developer() {
    take("rust-developer.md");
}

#[test]
fn shown_lines_are_compared() {
    assert!(matches("a … c", "a b c") && matches("… c", "b c") && matches("a …", "a b") && matches("a", "a"));
    assert!(!matches("a … c", "a b d") && !matches("a", "a b") && !matches("b …", "a b"));
}
