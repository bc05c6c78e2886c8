//! The declared graph of crates: dependencies go down the list only.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Each crate and the crates of ours that it may use. A crate uses only crates above it in this list.
pub const MAY_USE: &[(&str, &[&str])] = &[
    ("ir", &[]),
    ("load", &["ir"]),
    ("frontend", &["ir", "load"]),
    ("expr", &[]),
    ("smt", &["expr"]),
    ("memory", &["expr"]),
    ("semantics", &["ir", "expr", "memory"]),
    ("state", &["ir", "expr", "memory"]),
    ("exec", &["ir", "expr", "smt", "memory", "semantics", "state"]),
    ("explore", &["ir", "expr", "state"]),
    ("merge", &["ir", "expr", "memory", "state"]),
    ("wp", &["ir", "expr", "memory", "semantics", "state"]),
    ("backward", &["ir", "expr", "smt", "semantics"]),
    ("prune", &["ir", "expr", "smt", "memory", "state", "wp"]),
    ("verify", &["ir", "memory", "state"]),
    ("witness", &[]),
    ("contracts", &["ir"]),
    ("audit", &["ir", "expr", "smt", "memory", "state", "exec", "wp", "prune"]),
    ("report", &["ir"]),
    ("replay", &["load", "report"]),
    (
        "pleach",
        &["ir", "load", "smt", "state", "exec", "explore", "merge", "contracts", "prune", "audit", "report", "replay"],
    ),
    ("command", &["load", "state", "exec", "explore", "verify", "report", "replay", "pleach"]),
    ("cc", &["load", "report", "pleach", "command"]),
    ("backward-session", &["ir", "backward", "prune", "verify", "report", "replay", "pleach", "command"]),
    (
        "session",
        &[
            "ir", "load", "smt", "state", "exec", "explore", "merge", "prune", "verify", "witness", "audit", "report",
            "replay", "pleach", "command",
        ],
    ),
    ("klee", &["ir", "load", "smt", "state", "exec", "explore", "merge", "report", "replay", "pleach", "command"]),
    ("present", &["report", "pleach", "command"]),
    (
        "inspect",
        &[
            "ir", "load", "expr", "memory", "state", "exec", "explore", "prune", "report", "replay", "pleach",
            "command", "session", "present",
        ],
    ),
    ("cli", EVERYTHING),
    ("testkit", &["report"]),
    (
        "campaign",
        &["ir", "load", "smt", "state", "exec", "explore", "merge", "backward", "prune", "audit", "pleach", "testkit"],
    ),
];

/// Only `cli` (and `campaign`, to compare them) names concrete techniques together.
const EVERYTHING: &[&str] = &[
    "ir",
    "load",
    "frontend",
    "expr",
    "smt",
    "memory",
    "semantics",
    "state",
    "exec",
    "explore",
    "merge",
    "wp",
    "backward",
    "prune",
    "verify",
    "audit",
    "report",
    "replay",
    "pleach",
    "command",
    "cc",
    "backward-session",
    "session",
    "klee",
    "present",
    "inspect",
];

/// Crates of ours in the `[dependencies]` of a manifest; what only tests use does not count.
pub fn uses(manifest: &str) -> BTreeSet<String> {
    let mut section = String::new();
    let mut found = BTreeSet::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            section = line.to_owned();
        } else if section == "[dependencies]" && line.starts_with("pleach.") {
            found.insert("pleach".to_owned());
        } else if section == "[dependencies]"
            && let Some(name) = line.strip_prefix("pleach-")
        {
            let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '-').unwrap_or(name.len());
            found.insert(name[..end].to_owned());
        }
    }
    found
}

/// Complaints about the crates below `crates`; empty when all is as declared.
pub fn check(crates: &Path) -> Result<Vec<String>, String> {
    let mut manifests = BTreeMap::new();
    for entry in std::fs::read_dir(crates).map_err(|e| e.to_string())?.flatten() {
        if let Ok(text) = std::fs::read_to_string(entry.path().join("Cargo.toml")) {
            manifests.insert(entry.file_name().to_string_lossy().into_owned(), text);
        }
    }
    Ok(complaints(&manifests))
}

fn complaints(manifests: &BTreeMap<String, String>) -> Vec<String> {
    let mut out = Vec::new();
    let mut seen = BTreeSet::new();
    for (name, allowed) in MAY_USE {
        for above in allowed.iter().filter(|a| !seen.contains(**a)) {
            out.push(format!("the declared graph itself goes up from {name} to {above}"));
        }
        seen.insert(*name);
        let Some(manifest) = manifests.get(*name) else {
            out.push(format!("crate {name} is declared but does not exist"));
            continue;
        };
        for used in uses(manifest).iter().filter(|u| !allowed.contains(&u.as_str())) {
            out.push(format!("crate {name} uses {used}, which the declared graph does not allow"));
        }
    }
    let undeclared = manifests.keys().filter(|m| !seen.contains(m.as_str()));
    out.extend(undeclared.map(|m| format!("crate {m} is not in the declared graph")));
    out
}

/// Dependencies that a crate declares and no source of it mentions.
pub fn unused(crates: &Path) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    for (name, _) in MAY_USE {
        let folder = crates.join(name);
        let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).map_err(|e| format!("{name}: {e}"))?;
        let mut sources = String::new();
        read_sources(&folder, &mut sources).map_err(|e| format!("{name}: {e}"))?;
        let silent = dependencies(&manifest).into_iter().filter(|d| !mentions(&sources, &d.replace('-', "_")));
        out.extend(silent.map(|d| format!("crate {name} declares {d} and does not use it")));
    }
    Ok(out)
}

/// The names in all tables of dependencies of a manifest.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut inside = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if inside && !line.starts_with('#') {
            let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_').unwrap_or(0);
            found.extend((end > 0).then(|| line[..end].to_owned()));
        }
    }
    found
}

/// Whether the text has the name as a word of its own, as in a path or an import.
fn mentions(text: &str, name: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(name).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + name.len()..]);
        !before.ends_with(word) && [":", ";", "!", ",", "}", " as"].iter().any(|c| after.starts_with(c))
    })
}

fn read_sources(folder: &Path, into: &mut String) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            read_sources(&path, into)?;
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push_str(&std::fs::read_to_string(&path)?);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crates_keep_to_the_declared_graph() {
        let complaints = check(&crate::root().join("crates")).unwrap();
        assert!(complaints.is_empty(), "{}", complaints.join("\n"));
    }

    #[test]
    fn every_declared_dependency_is_used() {
        let unused = unused(&crate::root().join("crates")).unwrap();
        assert!(unused.is_empty(), "{}", unused.join("\n"));
        let manifest = "[dependencies]\nserde.workspace = true\n# why\nrustc-hash = \"2\"\n[lints]\nworkspace = true\n";
        assert_eq!(dependencies(manifest), BTreeSet::from(["rustc-hash".to_owned(), "serde".to_owned()]));
        assert!(mentions("use serde::Serialize;", "serde") && !mentions("serde_json::Value, deserde::x", "serde"));
    }

    #[test]
    fn a_dependency_upwards_is_seen() {
        let manifest = "[package]\n[dependencies]\npleach-exec.workspace = true\n[dev-dependencies]\npleach-cli = {}\n";
        assert_eq!(uses(manifest), BTreeSet::from(["exec".to_owned()]));
        let all = MAY_USE.iter().map(|(n, _)| ((*n).to_owned(), String::new()));
        let mut all: BTreeMap<_, _> = all.collect();
        assert!(complaints(&all).is_empty());
        all.insert("memory".into(), manifest.into());
        all.insert("attic".into(), String::new());
        assert_eq!(complaints(&all).len(), 2);
    }
}
