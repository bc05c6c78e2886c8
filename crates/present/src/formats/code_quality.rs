//! GitLab's code quality report: a list of issues.

use super::{fingerprint, message};
use crate::Run;
use serde_json::{Value, json};

/// One issue per error that has a place in a file.
pub fn render(run: &Run) -> String {
    let located = run.summary.errors.iter().filter(|e| !e.file.is_empty());
    let issues: Vec<Value> = located
        .map(|e| {
            json!({
                "description": message(run, e),
                "check_name": e.kind.as_str(),
                "fingerprint": fingerprint(e),
                "severity": "critical",
                "location": { "path": e.file, "lines": { "begin": e.line.max(1) } },
            })
        })
        .collect();
    serde_json::to_string_pretty(&issues).unwrap_or_default() + "\n"
}
