//! `docs/flags.md` is what the program says of its flags, and the short help is short.

use std::process::Command;

fn pleach(args: &[&str]) -> String {
    let out = Command::new(env!("CARGO_BIN_EXE_pleach")).args(args).output().expect("pleach runs");
    assert!(out.status.success(), "pleach {args:?}: {}", String::from_utf8_lossy(&out.stderr));
    String::from_utf8(out.stdout).expect("help is UTF-8")
}

#[test]
fn the_page_of_flags_is_current() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/flags.md");
    let text = std::fs::read_to_string(&page).expect("docs/flags.md");
    let fresh = pleach(&["flags"]);
    let differs = fresh.lines().zip(text.lines()).find(|(a, b)| a != b);
    let how = "write it anew: cargo run -p pleach-cli --bin pleach -- flags > docs/flags.md";
    assert!(fresh == text, "docs/flags.md is out of date; {how}\nfirst difference (program, page): {differs:#?}");
}

#[test]
fn the_short_help_is_short() {
    for command in ["test", "verify", "reach"] {
        let short = pleach(&[command, "-h"]);
        let flags = short.lines().filter(|l| l.trim_start().starts_with('-')).count();
        assert!((8..=16).contains(&flags), "pleach {command} -h shows {flags} flags:\n{short}");
        assert!(!short.contains("developers"), "{short}");
        let examples = short.lines().filter(|l| l.starts_with(&format!("  pleach {command} "))).count();
        assert_eq!(examples, 3, "{short}");
    }
}

#[test]
fn the_long_help_ends_with_the_flags_of_developers() {
    for command in ["test", "verify", "reach"] {
        let long = pleach(&[command, "--help"]);
        let headings: Vec<&str> = long.lines().filter(|l| l.ends_with(':') && !l.starts_with(' ')).collect();
        let at =
            |name: &str| headings.iter().position(|h| *h == name).unwrap_or_else(|| panic!("{name} in {headings:?}"));
        let developers = at("For developers of Pleach:");
        for topic in ["Compilation:", "Inputs:", "Output:", "Limits:", "Search:", "Pruning:", "Memory:", "Solving:"] {
            assert!(at(topic) < developers, "{headings:?}");
        }
        assert!(long.contains("--check-pruning"), "{long}");
    }
}
