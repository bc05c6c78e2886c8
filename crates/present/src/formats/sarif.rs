//! SARIF 2.1.0: errors as results with their path as a code flow, cuts and warnings as notifications.

use super::{cuts, error_rules, fingerprint, message};
use crate::Run;
use pleach_report::{ErrorKind, ErrorRecord};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
/// Longer paths lose their middle.
const LONGEST_FLOW: usize = 1000;

/// The log.
pub fn render(run: &Run) -> String {
    let s = &run.summary;
    let kinds: Vec<ErrorKind> = s.errors.iter().map(|e| e.kind).collect::<BTreeSet<_>>().into_iter().collect();
    let reasons: BTreeSet<&str> = s.cut.iter().map(|c| c.reason.as_str()).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "Pleach",
                "version": s.version,
                "rules": kinds.iter().map(|k| rule(*k)).collect::<Vec<_>>(),
                "notifications": reasons.iter().map(|r| json!({ "id": r })).collect::<Vec<_>>(),
            } },
            "invocations": [invocation(run)],
            "originalUriBaseIds": { "SRCROOT": { "uri": directory_uri(&run.info.directory) } },
            "results": s.errors.iter().map(|e| result(run, e, &kinds)).collect::<Vec<_>>(),
            "properties": { "verdict": s.verdict, "complete": s.complete, "paths": s.paths },
        }],
    });
    serde_json::to_string_pretty(&log).unwrap_or_default() + "\n"
}

fn rule(kind: ErrorKind) -> Value {
    let (text, weakness) = error_rules::rule(kind);
    let tags: Vec<String> = (weakness > 0).then(|| format!("external/cwe/cwe-{weakness}")).into_iter().collect();
    json!({
        "id": kind.as_str(),
        "shortDescription": { "text": text },
        "defaultConfiguration": { "level": "error" },
        "properties": { "tags": tags },
    })
}

fn invocation(run: &Run) -> Value {
    let cut = cuts(run).into_iter().map(
        |(reason, text)| json!({ "level": "warning", "descriptor": { "id": reason }, "message": { "text": text } }),
    );
    let notes = |all: Vec<String>| all.into_iter().map(|text| json!({ "level": "note", "message": { "text": text } }));
    let assumed = run.summary.assumptions.iter().map(|a| format!("Assuming that {}.", a.clause)).collect();
    let notifications: Vec<Value> = cut.chain(notes(run.summary.warnings.clone())).chain(notes(assumed)).collect();
    json!({
        "executionSuccessful": true,
        "commandLine": run.info.command.join(" "),
        "workingDirectory": { "uri": directory_uri(&run.info.directory) },
        "toolExecutionNotifications": notifications,
    })
}

fn result(run: &Run, error: &ErrorRecord, kinds: &[ErrorKind]) -> Value {
    let here = location(&error.file, error.line, error.column);
    let frames: Vec<Value> = error
        .stack
        .iter()
        .map(|f| {
            let mut at = location(&f.file, f.line, f.column).unwrap_or_else(|| json!({}));
            at["logicalLocations"] = json!([{ "name": f.function, "kind": "function" }]);
            json!({ "location": at })
        })
        .collect();
    let mut value = json!({
        "ruleId": error.kind.as_str(),
        "ruleIndex": kinds.iter().position(|k| *k == error.kind),
        "level": "error",
        "message": { "text": message(run, error) },
        "locations": here.iter().collect::<Vec<_>>(),
        "partialFingerprints": { "pleach/v1": fingerprint(error) },
        "stacks": [{ "message": { "text": "Calls, innermost first" }, "frames": frames }],
    });
    if let Some(flow) = flow(run, error) {
        value["codeFlows"] = json!([{ "threadFlows": [{ "locations": flow }] }]);
    }
    if let Some(test) = error.test {
        let command = format!("pleach replay {}/{}.ktest", run.dir.path().display(), test.stem());
        value["properties"] = json!({ "test": test, "reproduce": command });
    }
    value
}

/// The places at which the path forked or was compared, and the error.
fn flow(run: &Run, error: &ErrorRecord) -> Option<Vec<Value>> {
    let leaf = run.leaf(run.tests.get(&error.test?)?)?;
    let mut places = run.places(leaf);
    if places.len() > LONGEST_FLOW {
        places.drain(LONGEST_FLOW / 2..places.len() - LONGEST_FLOW / 2);
    }
    let step = |(file, line): (&str, u32)| Some(json!({ "location": location(file, line, 0)? }));
    let mut flow: Vec<Value> = places.into_iter().filter_map(step).collect();
    let mut end = location(&error.file, error.line, error.column)?;
    end["message"] = json!({ "text": error.message });
    flow.push(json!({ "location": end, "importance": "essential" }));
    Some(flow)
}

fn location(file: &str, line: u32, column: u32) -> Option<Value> {
    if file.is_empty() {
        return None;
    }
    let artifact = match file.starts_with('/') {
        true => json!({ "uri": format!("file://{}", encode(file)) }),
        false => json!({ "uri": encode(file), "uriBaseId": "SRCROOT" }),
    };
    let mut at = json!({ "artifactLocation": artifact });
    if line > 0 {
        at["region"] =
            if column > 0 { json!({ "startLine": line, "startColumn": column }) } else { json!({ "startLine": line }) };
    }
    Some(json!({ "physicalLocation": at }))
}

fn directory_uri(directory: &Path) -> String {
    format!("file://{}/", encode(directory.display().to_string().trim_end_matches('/')))
}

/// A path as a part of a URI.
fn encode(path: &str) -> String {
    let mut out = String::new();
    for byte in path.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' | b'+' => out.push(byte as char),
            _ => drop(write!(out, "%{byte:02X}")),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_become_uris() {
        assert_eq!(encode("a b/ü#.c"), "a%20b/%C3%BC%23.c");
        assert_eq!(
            location("/usr/a.c", 0, 0).unwrap()["physicalLocation"]["artifactLocation"]["uri"],
            "file:///usr/a.c"
        );
        assert_eq!(location("", 3, 0), None);
        assert_eq!(directory_uri(Path::new("/")), "file:///");
    }
}
