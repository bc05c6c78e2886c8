//! Everything that is cut, assumed, given up or unknown has an entry in `docs/when.md`, and messages lead to it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|why| panic!("{path}: {why}"))
}

fn when(topics: &[&str]) -> (Option<i32>, String) {
    let out = Command::new(env!("CARGO_BIN_EXE_pleach")).arg("when").args(topics).output().expect("pleach runs");
    (out.status.code(), String::from_utf8_lossy(&out.stdout).into_owned())
}

/// The first string literals behind marks on the lines of a source, up to the tests.
fn literals(path: &str, marks: &[&str]) -> BTreeSet<String> {
    let text = read(path);
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let behind = |line: &'_ str| {
        let rest = marks.iter().find_map(|m| Some(&line[line.find(m)? + m.trim_end_matches('"').len()..]))?;
        rest.split('"').nth(1).map(str::to_owned)
    };
    code.lines().filter_map(behind).collect()
}

#[test]
fn cuts_and_assumptions_have_entries() {
    let mut topics = literals("crates/pleach/src/cut_reason.rs", &[" with(\"", " limit(\"", "..limit(\"", "name: \""]);
    assert!(topics.len() >= 13 && topics.contains("unwind") && topics.contains("external-call"), "{topics:?}");
    let assumptions = literals("crates/state/src/assumption.rs", &["Assumption::"]);
    let is_name = |a: &String| !a.is_empty() && a.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let assumptions = assumptions.into_iter().filter(is_name);
    topics.extend(assumptions);
    assert!(topics.len() >= 19 && topics.contains("fuzz-size"), "{topics:?}");
    topics.insert("killed".into());
    for file in ["crates/session/src/target_results.rs", "crates/session/src/verdict_text.rs"] {
        topics.extend(literals(file, &["topics.push("]));
    }
    topics.extend(literals("crates/cli/src/commands/reach.rs", &["then_some("]));
    let backward = read("crates/backward-session/src/topics.rs");
    let pairs = backward.lines().filter(|l| l.trim_start().starts_with("(\""));
    topics.extend(pairs.filter_map(|l| l.split('"').nth(3).map(str::to_owned)));
    topics.extend(["backward".to_owned(), "bounds".to_owned()]);
    assert!(topics.len() >= 27, "{topics:?}");
    for topic in &topics {
        let (status, text) = when(&[topic]);
        assert!(status == Some(0) && text.starts_with(topic) && text.lines().count() >= 3, "{topic}: {text}");
    }
}

#[test]
fn reasons_of_techniques_are_explained() {
    let pages = [
        ("crates/wp/src/no_interpolant.rs", "NoInterpolant::", "docs/soundness.md", 40),
        ("crates/merge/src/fields.rs", "Refusal::", "docs/merging.md", 5),
        ("crates/memory/src/merge.rs", "SpaceConflict::", "docs/merging.md", 5),
        ("crates/merge/src/pattern/mod.rs", "NoPattern::", "docs/merging.md", 6),
    ];
    let mut missing = Vec::new();
    for (source, mark, page, at_least) in pages {
        let reasons = literals(source, &[mark]);
        assert!(reasons.len() >= at_least, "{source}: {reasons:?}");
        let text = read(page).split_whitespace().collect::<Vec<_>>().join(" ");
        missing.extend(reasons.into_iter().filter(|r| !text.contains(r)).map(|r| format!("{page}: {r}")));
    }
    assert!(missing.is_empty(), "not explained:\n{}", missing.join("\n"));
}

#[test]
fn a_message_leads_to_an_entry() {
    let dir = tempfile::tempdir().expect("a directory");
    let program = "int other(int);\nint main(void) { return other(1); }\n";
    std::fs::write(dir.path().join("a.c"), program).expect("written");
    for command in ["test", "verify"] {
        let out = Command::new(env!("CARGO_BIN_EXE_pleach"))
            .args([command, "a.c"])
            .current_dir(dir.path())
            .output()
            .expect("pleach runs");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let line = text.lines().find_map(|l| l.strip_prefix("What to do: pleach when ")).expect(&text);
        assert_eq!(line, "external-call", "{text}");
    }
}

#[test]
fn topics_that_are_none_are_refused() {
    let out = Command::new(env!("CARGO_BIN_EXE_pleach")).args(["when", "external"]).output().expect("pleach runs");
    let said = String::from_utf8_lossy(&out.stderr).into_owned();
    assert!(out.status.code() == Some(2) && said.contains("did you mean `external-call`"), "{said}");
    let (status, all) = when(&[]);
    assert!(status == Some(0) && all.contains("\n  max-time ") && all.contains("A technique gave up:"), "{all}");
}
