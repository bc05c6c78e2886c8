//! Runs the example programs, which are built with the tests.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What an example prints.
fn example(name: &str, file: &str) -> String {
    let me = std::env::current_exe().expect("a running test has a path");
    let build = me.parent().and_then(Path::parent).expect("tests lie in `deps`");
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let output = Command::new(build.join("examples").join(name)).arg(root.join(file)).output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

#[test]
fn explore_finds_the_error_of_the_readme_with_its_input() {
    let text = example("explore", "examples/regexp.c");
    assert!(text.starts_with("Unsafe:"), "{text}");
    assert!(text.contains("oob-read at") && text.contains("regexp.c:17"), "{text}");
    assert!(text.contains("pattern = [91, "), "{text}");
}

#[test]
fn a_search_of_ones_own_is_stopped_by_its_observer() {
    let text = example("search", "examples/regexp.c");
    assert!(text.starts_with("after ") && text.contains("offset 4 of `pattern`"), "{text}");
}

#[test]
fn an_unsound_technique_is_caught() {
    let text = example("technique", "crates/pleach/examples/two_choices.c");
    assert!(text.contains("caught: unsound pruning"), "{text}");
    assert!(!text.starts_with("Safe"), "{text}");
}

#[test]
fn the_real_pruning_finds_the_error_that_the_technique_loses() {
    let text = example("explore", "crates/pleach/examples/two_choices.c");
    assert!(text.starts_with("Unsafe:") && text.contains("abort at"), "{text}");
}
