//! Rust: the example of `docs/languages.md` that is given as IR, and files that cannot be compiled.

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

/// What the program says of a file with this text.
fn refusal(name: &str, text: &str, path: Option<&str>) -> String {
    let scratch = Scratch::new(name);
    let file = scratch.path().join("program.rs");
    std::fs::write(&file, text).expect("a file");
    let mut run = Command::new(pleach_testkit::engine::binary().expect("the program"));
    run.arg("test").arg("--output-dir").arg(scratch.path().join("out")).arg(&file);
    if let Some(path) = path {
        run.env("PATH", path);
    }
    let run = run.output().expect("pleach");
    assert_eq!(run.status.code(), Some(2), "{}", String::from_utf8_lossy(&run.stdout));
    String::from_utf8_lossy(&run.stderr).into_owned()
}

#[test]
fn without_the_compiler_a_sentence_says_so() {
    let said = refusal("rust-none", "fn main() {}", Some("/nowhere"));
    assert!(said.contains("program.rs: Rust needs the machine's compiler, and rustc was not found"), "{said}");
}

#[test]
fn the_compiler_says_what_is_wrong() {
    let said = refusal("rust-wrong", "fn main() { let x: u8 = \"\"; }", None);
    assert!(said.contains("program.rs: does not compile") && said.contains("mismatched types"), "{said}");
}

#[test]
fn functions_before_main_are_refused() {
    let text = "extern \"C\" fn f() {}\n#[used]\n#[link_section = \".init_array\"]\n\
                static F: extern \"C\" fn() = f;\nfn main() {}\n";
    let said = refusal("rust-before", text, None);
    assert!(said.contains("functions that run before `main`"), "{said}");
}
