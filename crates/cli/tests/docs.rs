//! The commands on `examples/` in the documentation work, its links lead somewhere, its names exist, its words are
//! those of the field, and its lines are short.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

const WIDTH: usize = 120;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// README.md and its siblings, `docs/` with what is below it, `bench/README.md`: path from the root and text.
fn pages() -> BTreeMap<PathBuf, String> {
    let root = root();
    let mut pages = BTreeMap::new();
    for dir in ["", "docs", "docs/adr", "docs/schemas", "docs/tour", "bench"] {
        for entry in std::fs::read_dir(root.join(dir)).expect("a directory").flatten() {
            let path = entry.path();
            if path.extension().is_some_and(|e| e == "md") {
                let text = std::fs::read_to_string(&path).expect("a page");
                pages.insert(path.strip_prefix(&root).expect("below the root").to_owned(), text);
            }
        }
    }
    assert!(pages.contains_key(Path::new("docs/README.md")) && pages.len() > 30, "{:?}", pages.keys());
    pages
}

/// Lines that are neither in a fence nor an indented block.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut is_code = false;
    text.lines().enumerate().filter_map(move |(i, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        (!is_fence && !is_code && !line.starts_with("    ")).then_some((i + 1, line))
    })
}

/// Without what is in backticks.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect::<Vec<_>>().join("``")
}

/// What GitHub makes of a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter_map(|(_, l)| l.strip_prefix('#').map(|l| l.trim_start_matches('#').trim()));
    headings.map(anchor).collect()
}

/// Targets of `[text](target)`.
fn links(line: &str) -> Vec<String> {
    let line = without_code(line);
    line.match_indices("](").filter_map(|(i, _)| Some(line[i + 2..].split_once(')')?.0.to_owned())).collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let (root, pages) = (root(), pages());
    let mut broken = Vec::new();
    let mut seen = 0;
    for (page, text) in &pages {
        // A link may be wrapped between its words.
        for target in links(&prose(text).map(|(_, l)| l).collect::<Vec<_>>().join("\n")) {
            if target.contains("://") {
                continue;
            }
            seen += 1;
            let (file, heading) = target.split_once('#').map_or((target.as_str(), None), |(f, h)| (f, Some(h)));
            let from = page.parent().unwrap_or(Path::new(""));
            let to = if file.is_empty() { root.join(page) } else { root.join(from).join(file) };
            let is_known = match (to.exists(), heading) {
                (false, _) => false,
                (true, None) => true,
                (true, Some(h)) => std::fs::read_to_string(&to).is_ok_and(|t| anchors(&t).contains(h)),
            };
            if !is_known {
                broken.push(format!("{}: {target}", page.display()));
            }
        }
    }
    assert!(seen > 100, "only {seen} links");
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
}

#[test]
fn lines_are_short() {
    let mut long = Vec::new();
    for (page, text) in &pages() {
        let lines = prose(text).filter(|(_, l)| !l.trim_start().starts_with('|') && l.chars().count() > WIDTH);
        long.extend(lines.map(|(n, _)| format!("{}:{n}", page.display())));
    }
    assert!(long.is_empty(), "lines of more than {WIDTH} columns: {}", long.join(" "));
}

/// All text below `crates`, and the files there.
fn sources() -> (String, BTreeSet<PathBuf>) {
    let (mut text, mut files) = (String::new(), BTreeSet::new());
    let mut dirs = vec![root().join("crates")];
    while let Some(dir) = dirs.pop() {
        for path in std::fs::read_dir(dir).expect("a directory").flatten().map(|e| e.path()) {
            if path.is_dir() {
                dirs.push(path.clone());
            } else if path.extension().is_some_and(|e| e == "rs") && !path.ends_with(file!()) {
                text += &std::fs::read_to_string(&path).expect("a source");
            }
            files.insert(path);
        }
    }
    (text, files)
}

/// `a/{b,c}.rs` as `a/b.rs` and `a/c.rs`.
fn alternatives(path: &str) -> Vec<String> {
    let parts = path.split_once('{').and_then(|(a, rest)| Some((a, rest.split_once('}')?)));
    match parts {
        Some((a, (list, b))) => list.split(',').map(|x| format!("{a}{x}{b}")).collect(),
        None => vec![path.to_owned()],
    }
}

/// Names of the first design, of other engines and of C++, which are not in our sources.
const FOREIGN: [&str; 6] =
    ["CoverCheck", "Interpolator", "StepObserver", "std::exception_ptr", "AddressSpace::copyInConcrete", "Float4"];

#[test]
fn names_in_backticks_exist() {
    let (root, (text, files)) = (root(), sources());
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = text.split(|c: char| !is_word(c)).collect();
    let mut wrong = Vec::new();
    let mut seen = 0;
    for (page, text) in pages().iter().filter(|(page, _)| *page != Path::new("CHANGELOG.md")) {
        for (n, line) in prose(text) {
            for name in line.split('`').skip(1).step_by(2).filter(|name| !FOREIGN.contains(name)) {
                let is_path = name.contains("/src/") || name.starts_with("crates/");
                let is_type =
                    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.contains(|c: char| c.is_lowercase());
                let is_known = if is_path && !name.contains(|c: char| c.is_whitespace() || c == '…') {
                    let exists = |p: &String| {
                        let p = p.trim_end_matches(['*', '/']);
                        p.contains("NAME") || files.contains(&root.join("crates").join(p)) || root.join(p).exists()
                    };
                    alternatives(name).iter().all(exists)
                } else if (is_type || name.contains("::"))
                    && !name.ends_with(':')
                    && name.chars().all(|c| is_word(c) || c == ':')
                {
                    name.split("::").all(|part| words.contains(part))
                } else {
                    continue;
                };
                seen += 1;
                if !is_known {
                    wrong.push(format!("{}:{n}: {name}", page.display()));
                }
            }
        }
    }
    assert!(seen > 200, "only {seen} names");
    assert!(wrong.is_empty(), "names that the sources do not have:\n{}", wrong.join("\n"));
}

/// Commands whose inputs are in the repository, or in the directory of an earlier run.
fn is_runnable(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let inputs = |w: &&&str| w.starts_with("examples/") || w.starts_with("pleach-last");
    matches!(words.get(..2), Some(["./pleach", "test" | "verify" | "reach" | "replay" | "explain"]))
        && words.iter().any(|w| inputs(&w))
}

#[test]
fn commands_on_examples_work() {
    let root = root();
    let scratch = std::env::temp_dir().join(format!("pleach-docs-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).expect("scratch directory");
    std::os::unix::fs::symlink(root.join("examples"), scratch.join("examples")).expect("a link");
    let mut ran = 0;
    let mut wrong = Vec::new();
    for (page, text) in &pages() {
        for line in text.lines().filter(|l| l.starts_with("    ")) {
            let command = line.split(" #").next().unwrap_or(line).trim();
            if !is_runnable(command) {
                continue;
            }
            ran += 1;
            let verb = command.split_whitespace().nth(1).unwrap_or_default();
            // `verify` and `reach` replay where the machine can isolate a program; here one replay is enough.
            let more = if matches!(verb, "verify" | "reach") { &["--no-replay"][..] } else { &[] };
            let pleach = Command::new(env!("CARGO_BIN_EXE_pleach"))
                .args(command.split_whitespace().skip(1))
                .args(more)
                .current_dir(&scratch)
                .output();
            let out = pleach.expect("pleach runs");
            let said = String::from_utf8_lossy(&out.stderr).into_owned() + &String::from_utf8_lossy(&out.stdout);
            // The examples have errors (1), and verdicts (3 and 4) are answers. Anything else is a wrong command line
            // or worse.
            let is_expected = match (verb, out.status.code()) {
                ("replay", Some(0)) | ("explain", Some(0)) | ("test", Some(0 | 1)) => true,
                ("replay", _) => said.contains("isolate"),
                ("verify", Some(0 | 1 | 3 | 4)) | ("reach", Some(0 | 3 | 4)) => true,
                _ => false,
            };
            if !is_expected {
                wrong.push(format!("{}: {command}\n{:?}: {said}", page.display(), out.status));
            }
        }
    }
    let _ = std::fs::remove_dir_all(&scratch);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(ran >= 5, "only {ran} commands were found");
}
