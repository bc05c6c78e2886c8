//! The transcripts in `docs/tour`: each command runs, and prints the lines that the page shows.
//!
//! A fence `c NAME` is a file. A fence `console` has commands after `$ `, and below each its output: lines in this
//! order, others may be between them; `…` stands for any text; `[N]` at the end is the exit status, else 0. `cd` and
//! `export` hold for the commands below.

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
    take_with(name, |_| {});
}

/// `prepare` puts into the directory what the page says is there.
fn take_with(name: &str, prepare: impl FnOnce(&Path)) {
    let text = std::fs::read_to_string(root().join("docs/tour").join(name)).expect("a tour");
    let place = tempfile::tempdir().expect("a directory");
    let bin = Path::new(env!("CARGO_BIN_EXE_pleach")).parent().expect("a directory").to_owned();
    std::os::unix::fs::symlink(root().join("examples"), place.path().join("examples")).expect("a link");
    prepare(place.path());
    let bin = format!("{}:{}", place.path().join("klee/bin").display(), bin.display());
    let (mut ran, mut lasting) = (0, String::new());
    for (info, lines) in fences(&text) {
        if let Some(file) = info.split_once(' ').map(|(_, file)| file) {
            std::fs::write(place.path().join(file), lines.join("\n") + "\n").expect("a file");
        }
        for step in steps(if info == "console" { &lines } else { &[] }) {
            let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
            let mut shell = Command::new("sh");
            let shell = shell.args(["-c", &format!("{{ {lasting}{}; }} 2>&1", step.command)]);
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
            let lasts = |c: &str| !c.contains("&&") && (c.starts_with("cd ") || c.starts_with("export "));
            if lasts(step.command) {
                lasting += &format!("{}; ", step.command);
            }
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
fn a_reader_of_klees_tutorials() {
    take_with("klee-tutorials.md", |place| {
        use std::os::unix::fs::symlink;
        let (klee, runtime) = (place.join("klee"), root().join("runtime"));
        std::fs::create_dir_all(klee.join("bin"))
            .and_then(|()| std::fs::create_dir_all(klee.join("build/lib")))
            .unwrap();
        for name in ["klee", "ktest-tool", "klee-replay", "klee-stats", "extract-bc"] {
            symlink(env!("CARGO_BIN_EXE_pleach"), klee.join("bin").join(name)).unwrap();
        }
        for (name, is) in [("clang", "clang-19"), ("llvm-nm", "llvm-nm-19")] {
            let script = format!("#!/bin/sh\nexec {is} \"$@\"\n");
            // Written by a process of its own: one that is forked meanwhile would hold it open for writing.
            let write = format!("printf '%s' '{script}' > {name} && chmod +x {name}");
            let done = Command::new("sh").args(["-c", &write]).current_dir(klee.join("bin")).status();
            assert!(done.is_ok_and(|s| s.success()));
        }
        symlink(runtime.join("include"), klee.join("include")).unwrap();
        let library = klee.join("build/lib/libkleeRuntest.so");
        let mut clang = Command::new("clang-19");
        clang.args(["-shared", "-fPIC", "-O1", "-I"]).arg(runtime.join("include")).arg("-o").arg(library);
        assert!(clang.arg(runtime.join("replay/runtest.c")).status().is_ok_and(|s| s.success()));
    });
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
