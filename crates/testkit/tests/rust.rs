//! The Rust example of `docs/languages.md`.

use pleach_testkit::scratch::Scratch;
use std::path::Path;
use std::process::Command;

const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/rust/command.rs");

#[test]
fn the_example_panics_where_it_should() {
    let scratch = Scratch::new("rust");
    let ir = scratch.path().join("command.ll");
    let flags = ["--edition=2021", "--crate-type=staticlib", "--emit=llvm-ir", "-Cpanic=abort", "-Copt-level=0", "-g"];
    let made = Command::new("rustc").args(flags).arg(EXAMPLE).arg("-o").arg(&ir).output().expect("rustc");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let to = scratch.path().join("out");
    let mut run = Command::new(pleach_testkit::engine::binary().expect("the program"));
    let run = run.args(["test", "--json", "--quiet", "--output-dir"]).arg(&to).arg(&ir).output().expect("pleach");
    let summary: serde_json::Value = serde_json::from_slice(&run.stdout).expect("a summary");
    assert_eq!(summary["complete"], true, "{summary}");
    let errors = summary["errors"].as_array().expect("errors");
    let lines: Vec<_> = errors.iter().map(|e| (e["kind"].as_str(), e["line"].as_u64())).collect();
    assert_eq!(lines, [(Some("abort"), Some(line_of("Some(TABLE[")))]);
}

fn line_of(text: &str) -> u64 {
    let source = std::fs::read_to_string(Path::new(EXAMPLE)).expect("the example");
    source.lines().position(|l| l.contains(text)).expect("the line") as u64 + 1
}
