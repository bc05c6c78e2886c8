//! One thing has one name, the field's: old words do not come back, and pages name only what exists.
//!
//! The words are data: `tests/vocabulary.tsv` says what not to write, where, and what to say instead.

use pleach_testkit::root;
use regex_lite::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

const TABLE: &str = "tests/vocabulary.tsv";
/// History keeps its words; the table and this test have to name them.
const NOT_SEARCHED: [&str; 3] = ["CHANGELOG.md", TABLE, "crates/testkit/tests/vocabulary.rs"];
/// What is searched, by the beginning of its path.
const SEARCHED: [&str; 11] = [
    "crates/",
    "runtime/",
    "tests/fixtures/",
    "bench/",
    "scripts/",
    "docs/",
    "examples/",
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    "CLAUDE.md",
];

struct Row {
    kind: String,
    scope: Vec<String>,
    old: String,
    say: String,
}

impl Row {
    fn applies_to(&self, path: &str) -> bool {
        let page = path.ends_with(".md");
        self.scope.iter().any(|s| match s.as_str() {
            "all" => true,
            "pages" => page,
            "code" => !page,
            prefix => path.starts_with(prefix),
        })
    }

    /// The lines it forbids, as an expression.
    fn pattern(&self) -> Option<String> {
        let word = regex_lite::escape(&self.old);
        match self.kind.as_str() {
            "text" => Some(self.old.clone()),
            "ident" => Some(format!(r"\b{word}\b")),
            "item" => Some(format!(r"\b(fn|const|static|mod|struct|enum|trait|type) {word}\b")),
            "type" => Some(format!(r"\b(struct|enum|trait|type) {word}\b")),
            _ => None,
        }
    }
}

fn parse(text: &str) -> Vec<Row> {
    let rows = text.lines().enumerate().filter(|(_, l)| !l.is_empty() && !l.starts_with('#'));
    rows.map(|(n, line)| {
        let columns: Vec<&str> = line.split('\t').collect();
        let [kind, scope, old, say] = columns[..] else { panic!("{TABLE}:{}: not four columns", n + 1) };
        let scope = scope.split(',').map(str::to_owned).collect();
        Row { kind: kind.into(), scope, old: old.into(), say: say.into() }
    })
    .collect()
}

fn table() -> Vec<Row> {
    parse(&std::fs::read_to_string(root().join(TABLE)).unwrap())
}

/// The longest text that every match of the expression contains. Alternatives stand in groups only.
fn literal(pattern: &str) -> String {
    let (mut runs, mut run, mut depth) = (Vec::new(), String::new(), 0);
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        let plain = match c {
            '\\' => {
                let escaped = chars.next();
                escaped.filter(|e| !e.is_ascii_alphanumeric())
            }
            '?' | '*' => {
                run.pop();
                None
            }
            '{' | '(' | '[' => {
                if c == '{' {
                    run.pop();
                }
                depth += 1;
                None
            }
            ')' | ']' | '}' => {
                depth -= 1;
                None
            }
            '.' | '+' | '^' | '$' | '|' => None,
            _ => Some(c),
        };
        match plain {
            Some(c) if depth == 0 => run.push(c),
            _ => runs.push(std::mem::take(&mut run)),
        }
    }
    runs.push(run);
    runs.into_iter().max_by_key(String::len).unwrap_or_default()
}

struct Finder<'r> {
    row: &'r Row,
    literal: String,
    pattern: Regex,
}

fn finders(rows: &[Row]) -> Vec<Finder<'_>> {
    let find = |row| {
        let pattern = Row::pattern(row)?;
        let literal = literal(&pattern);
        assert!(literal.trim().len() >= 3, "{TABLE}: `{}` matches almost anything", row.old);
        Some(Finder { row, literal, pattern: Regex::new(&pattern).unwrap_or_else(|e| panic!("{TABLE}: {e}")) })
    };
    rows.iter().filter_map(find).collect()
}

/// A line without its indentation and the marker of a comment.
fn bare(line: &str) -> &str {
    line.trim_start_matches([' ', '\t', '/', '!', '#', '*']).trim_end()
}

/// The old words in a text, as lines of a report. A phrase may be broken between two lines.
fn old_words(finders: &[Finder], path: &str, text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.lines().collect();
    let flat = lines.iter().map(|l| bare(l)).collect::<Vec<_>>().join(" ");
    let mut out = BTreeSet::new();
    for f in finders.iter().filter(|f| f.row.applies_to(path)) {
        let mut note = |n: usize| out.insert((n + 1, format!("`{}`: say `{}`", f.row.old, f.row.say)));
        let old = |line: &str| line.contains(&f.literal) && f.pattern.is_match(line) && !line.contains("alias");
        let found = text.matches(&f.literal).count();
        if found > 0 {
            lines.iter().enumerate().filter(|(_, line)| old(line)).for_each(|(n, _)| _ = note(n));
        }
        if f.row.kind == "text" && flat.matches(&f.literal).count() > found {
            for (n, pair) in lines.windows(2).enumerate() {
                let joined = format!("{} {}", bare(pair[0]), bare(pair[1]));
                if old(&joined) && !pair.iter().any(|line| f.pattern.is_match(line)) {
                    note(n);
                }
            }
        }
    }
    out.into_iter().map(|(n, what)| format!("{path}:{n}: {what}")).collect()
}

/// The files of the repository that are searched, with their texts.
fn texts() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    read_below(root().as_ref(), &mut texts);
    assert!(texts.len() > 500, "there are {} files", texts.len());
    texts
}

/// Whatever lies below the directory, but for what is built and what runs leave behind.
fn read_below(directory: &Path, texts: &mut BTreeMap<String, String>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
        if name.starts_with('.') || name == "target" || name.starts_with("pleach-out") || name == "pleach-last" {
            continue;
        }
        if path.is_dir() {
            read_below(&path, texts);
            continue;
        }
        let Ok(inside) = path.strip_prefix(root()) else { continue };
        let inside = inside.to_string_lossy().into_owned();
        let ours = SEARCHED.iter().any(|s| inside.starts_with(s)) && !NOT_SEARCHED.contains(&inside.as_str());
        if let (true, Ok(text)) = (ours, std::fs::read_to_string(&path)) {
            texts.insert(inside, text);
        }
    }
}

#[test]
fn old_words_do_not_come_back() {
    let rows = table();
    let (finders, texts) = (finders(&rows), texts());
    let mut found: Vec<String> = texts.iter().flat_map(|(path, text)| old_words(&finders, path, text)).collect();
    for row in rows.iter().filter(|r| r.kind == "file" && root().join(&r.old).exists()) {
        found.push(format!("{}: call it `{}`", row.old, row.say));
    }
    assert!(found.is_empty(), "{} old words:\n{}", found.len(), found.join("\n"));
}

#[test]
fn old_words_are_found() {
    let rows = parse(
        "text\tall\t\\bcoverers?\\b\tsubsuming node\ntext\tpages\t\\bso many\\b\tN\n\
         item\tcrates/a\tlook\tpoll\ntype\tcrates\tLook\tPruneDecision\nident\tcrates\tlook_aside\tcheck\n",
    );
    let finders = finders(&rows);
    let lines = |path, text| old_words(&finders, path, text).len();
    assert_eq!(lines("crates/a/src/x.rs", "/// Its coverer.\nfn look() {}\nstruct Look;\nlook_aside()\n"), 4);
    assert_eq!(lines("crates/b/src/x.rs", "fn look() {}\n// so many, uncovered, looked\nlet look = 1;\n"), 0);
    assert_eq!(lines("docs/a.md", "So many? No, so many coverers.\n"), 2);
    assert_eq!(lines("docs/a.md", "There are so\nmany of\nso\n"), 1);
    assert_eq!(lines("crates/a/src/x.rs", "#[serde(alias = \"coverer\")]\n"), 0);
    let texts = [(r"\bcoverers?\b", "coverer"), (r"(a|the) states? (is|are) covered", " covered"), ("a.{1,3}bc", "bc")];
    assert!(texts.iter().all(|(pattern, text)| literal(pattern) == *text));
}

/// What a page may name: the identifiers of our code, the words that can be flags, and the files.
struct Names {
    /// with the files that have them
    identifiers: BTreeMap<String, BTreeSet<usize>>,
    /// those that look declared: a function, a field, a variant
    declared: BTreeMap<String, BTreeSet<usize>>,
    flags: BTreeSet<String>,
    files: BTreeSet<String>,
    foreign: BTreeSet<String>,
}

impl Names {
    fn new(texts: &BTreeMap<String, String>, rows: &[Row]) -> Names {
        let mut names = Names {
            identifiers: BTreeMap::new(),
            declared: BTreeMap::new(),
            flags: BTreeSet::new(),
            files: texts.keys().cloned().collect(),
            foreign: rows.iter().filter(|r| r.kind == "foreign").map(|r| r.old.clone()).collect(),
        };
        let declaration = Regex::new(r"\b(?:fn|const|static|mod|struct|enum|trait|type) (\w+)|(\w+)\s*[:({,]").unwrap();
        for (n, (path, text)) in texts.iter().filter(|(path, _)| !path.ends_with(".md")).enumerate() {
            let code = text.lines().filter(|l| path.ends_with(".rs") && !l.trim_start().starts_with("//"));
            for line in code {
                let note = |to: &mut BTreeMap<String, BTreeSet<usize>>, word: &str| {
                    to.entry(word.to_owned()).or_default().insert(n);
                };
                let words = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
                words.for_each(|w| note(&mut names.identifiers, w));
                let declared = declaration.captures_iter(line).filter_map(|c| c.get(1).or(c.get(2)));
                declared.for_each(|w| note(&mut names.declared, w.as_str()));
            }
            let dashed = text.replace('_', "-");
            let flags = dashed.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
            names.flags.extend(flags.map(|w| w.trim_matches('-').to_owned()));
        }
        names
    }

    /// What is wrong with a name in backticks.
    fn fault(&self, name: &str) -> Option<String> {
        let is = |c: char, more: &str| c.is_ascii_alphanumeric() || more.contains(c);
        if self.foreign.contains(name) {
            return None;
        }
        if name.starts_with("--") {
            let flags = name.split([' ', '=', '[', ',', '|']).filter_map(|w| w.strip_prefix("--"));
            let unknown = |f: &&str| {
                let is_flag = !f.is_empty() && f.chars().all(|c| is(c, "-"));
                is_flag && !self.flags.contains(*f) && !self.foreign.contains(&format!("--{f}"))
            };
            return flags.into_iter().find(unknown).map(|f| format!("there is no flag `--{f}`"));
        }
        if name.chars().all(|c| is(c, "_./-")) {
            return (!self.has_path(name)).then(|| format!("there is no `{name}`"));
        }
        let parts: Vec<&str> = name.trim_end_matches("()").split("::").collect();
        let rust = parts.len() > 1 && parts.iter().all(|p| !p.is_empty() && p.chars().all(|c| is(c, "_")));
        (rust && !self.has_item(&parts)).then(|| format!("there is no `{name}`"))
    }

    /// The parts of a path of Rust exist. What a type has is declared in a file that names the type.
    fn has_item(&self, parts: &[&str]) -> bool {
        let known = |p: &&str| self.identifiers.contains_key(*p) || self.is_module(p);
        let files = |of: &BTreeMap<String, BTreeSet<usize>>, p: &str| of.get(p).cloned().unwrap_or_default();
        parts.iter().all(known)
            && parts.windows(2).all(|pair| {
                let owners = files(&self.identifiers, pair[0]);
                self.is_module(pair[0]) || !owners.is_disjoint(&files(&self.declared, pair[1]))
            })
    }

    /// A path that begins like one of ours, or a file of Rust, or a type, exists.
    fn has_path(&self, name: &str) -> bool {
        let exists = |path: &str| {
            let folder = format!("{}/", path.trim_end_matches('/'));
            self.files.contains(path)
                || self.files.range(folder.clone()..).next().is_some_and(|f| f.starts_with(&folder))
        };
        let mut parts = name.trim_start_matches("./").split('/');
        let (first, second) = (parts.next().unwrap_or_default(), parts.next());
        let ours =
            ["crates", "runtime", "bench", "scripts", "docs"].contains(&first) || name.starts_with("tests/fixtures/");
        match second {
            Some(_) if ours => exists(name),
            Some("src" | "tests") if first != "target" => exists(&format!("crates/{name}")),
            None if name.ends_with(".rs") => self.files.iter().any(|f| f.ends_with(&format!("/{name}"))),
            None if is_camel_case(name) => self.identifiers.contains_key(name),
            _ => true,
        }
    }

    fn is_module(&self, name: &str) -> bool {
        let crate_name = name.strip_prefix("pleach_").unwrap_or(name);
        self.files.contains(&format!("crates/{crate_name}/Cargo.toml"))
            || self.files.iter().any(|f| f.ends_with(&format!("/{name}.rs")) || f.ends_with(&format!("/{name}/mod.rs")))
    }
}

/// A name like those of types in Rust: a capital first, and another one after small letters.
fn is_camel_case(name: &str) -> bool {
    let mut chars = name.chars();
    let small =
        chars.next().is_some_and(|c| c.is_ascii_uppercase()) && chars.next().is_some_and(|c| c.is_ascii_lowercase());
    small && name.chars().all(|c| c.is_ascii_alphanumeric())
}

/// The names in backticks with their lines; blocks of code are left out.
fn quoted(page: &str) -> Vec<(usize, &str)> {
    let (mut out, mut fenced) = (Vec::new(), false);
    for (n, line) in page.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            out.extend(line.split('`').skip(1).step_by(2).map(|name| (n + 1, name)));
        }
    }
    out
}

#[test]
fn pages_name_what_exists() {
    let texts = texts();
    let names = Names::new(&texts, &table());
    let mut faults = Vec::new();
    let pages =
        texts.iter().filter(|(path, _)| path.ends_with(".md") && Path::new(path).parent() != Some("docs/adr".as_ref()));
    for (path, text) in pages {
        let found =
            quoted(text).into_iter().filter_map(|(n, name)| Some(format!("{path}:{n}: {}", names.fault(name)?)));
        faults.extend(found);
    }
    assert!(faults.is_empty(), "{} names of nothing:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn names_of_nothing_are_found() {
    let texts = [
        ("crates/a/src/lib.rs", "// Only here\nstruct Point;\nfn candidates() { one_flag }\n"),
        ("crates/a/src/resolve.rs", "\"max-time\"\nfn elsewhere() {}\n"),
        ("bench/run", ""),
    ];
    let texts = texts.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
    let names = Names::new(&texts, &parse("foreign\tpages\t--their-flag\tKLEE\nforeign\tpages\tTheirs\tKLEE\n"));
    let good = "`Point` `resolve::candidates` `Point::candidates()` `a/src/lib.rs` `lib.rs` `bench/` `--one-flag N` \
        `--max-time=5s` `--their-flag` `Theirs` `crates/a` `int x` `summary.json` `KLEE` `--max-…`";
    let bad = "`Only` `resolve::nothing` `nothing::candidates` `a/src/point.rs` `point.rs` `bench/walk` `--no-such N` \
        `--max-time --none` `crates/b` `Point::elsewhere`";
    let faults = |text| quoted(text).into_iter().filter(|(_, name)| names.fault(name).is_some()).count();
    assert_eq!((faults(good), faults(bad)), (0, 10));
    assert_eq!(quoted("a `b`\n```\n`c`\n```\n`d` `e`\n"), [(1, "b"), (5, "d"), (5, "e")]);
}
