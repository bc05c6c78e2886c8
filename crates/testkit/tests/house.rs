//! Rules of the redesign that a compiler does not check: who may know what, and which facts have one home.

use std::fs;
use std::path::{Path, PathBuf};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The sources of a crate without its tests: path from `crates`, and text.
fn sources(of: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut directories = vec![crates().join(of).join("src")];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(&directory).unwrap().map(|e| e.unwrap().path()) {
            let name = entry.strip_prefix(crates()).unwrap().display().to_string();
            if entry.is_dir() {
                directories.push(entry);
            } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
                found.push((name, fs::read_to_string(&entry).unwrap()));
            }
        }
    }
    assert!(!found.is_empty(), "{of} has no sources");
    found.sort();
    found
}

fn all_sources() -> Vec<(String, String)> {
    let names = fs::read_dir(crates()).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    names.flat_map(|n| sources(&n)).collect()
}

/// `file: line` for each line for which the test holds.
fn lines(sources: &[(String, String)], test: impl Fn(&str) -> bool) -> Vec<String> {
    let each = sources.iter().flat_map(|(name, text)| text.lines().map(move |l| (name, l)));
    each.filter(|(_, l)| test(l)).map(|(name, l)| format!("{name}: {}", l.trim())).collect()
}

#[test]
fn the_command_line_is_small() {
    let total: usize = sources("cli").iter().map(|(_, text)| text.lines().count()).sum();
    assert!(total <= 2500, "cli has {total} lines");
}

#[test]
fn the_executor_hardly_mentions_techniques() {
    let words = ["interpol", "prun", "subsum", "merg", "speculat", "backward"];
    let found = lines(&sources("exec"), |l| {
        let l = l.to_lowercase();
        words.iter().any(|w| l.contains(w))
    });
    assert!(found.len() < 10, "{found:#?}");
}

#[test]
fn a_state_has_no_field_of_a_technique() {
    let text = fs::read_to_string(crates().join("state/src/state.rs")).unwrap();
    let body = text.split("pub struct State {").nth(1).and_then(|t| t.split("\n}").next()).unwrap();
    for field in ["recording", "at_join", "joins", "origin", "fork", "trace"] {
        assert!(!body.contains(&format!("pub {field}:")), "State has the field {field}");
    }
}

#[test]
fn nobody_takes_the_term_table_away() {
    let found = lines(&all_sources(), |l| l.contains("mem::") && l.contains("Terms::new"));
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn one_loop_steps_states() {
    for one in ["machine.step(", "Step::Deferred =>"] {
        let found = lines(&sources("explore"), |l| l.contains(one));
        assert_eq!(found.len(), 1, "{found:#?}");
    }
}

#[test]
fn facts_have_one_home() {
    let all = all_sources();
    for fact in ["enum ErrorKind", "const NULL_PAGE:", "const RED_ZONE:"] {
        let found = lines(&all, |l| l.contains(fact));
        assert_eq!(found.len(), 1, "{found:#?}");
    }
}

#[test]
fn the_audit_uses_the_executor_by_its_methods() {
    let fields = ["terms", "program", "solver", "coverage", "config", "instructions", "stop_points"];
    let touches = |l: &str, field: &str| {
        let use_of = format!("machine.{field}");
        let mut rest = l.split(&use_of).skip(1);
        rest.any(|after| !after.starts_with(['(', '_']))
    };
    let touched = |l: &str| fields.iter().any(|f| touches(l, f));
    let found = lines(&sources("audit"), touched);
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn resolution_is_the_memory_models() {
    let names = ["config.resolution", "config.splitting"];
    let asks = |l: &str| names.iter().any(|n| l.contains(n)) && !l.contains("RelocatableMemory::new");
    let found = lines(&sources("exec"), asks);
    assert!(found.is_empty(), "{found:#?}");
}
