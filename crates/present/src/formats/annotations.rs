//! Annotations of GitHub Actions: lines on standard output that its runner shows next to the source.

use super::{cuts, message};
use crate::Run;
use std::fmt::Write;

/// An `::error` per error, a `::warning` per reason why something was not explored.
pub fn render(run: &Run) -> String {
    let mut out = String::new();
    for e in &run.summary.errors {
        let mut properties = Vec::new();
        if !e.file.is_empty() {
            properties.push(format!("file={}", property(&e.file)));
        }
        properties.extend((e.line > 0).then(|| format!("line={}", e.line)));
        properties.extend((e.column > 0).then(|| format!("col={}", e.column)));
        properties.push(format!("title={}", property(&format!("pleach: {}", e.kind))));
        let _ = writeln!(out, "::error {}::{}", properties.join(","), text(&message(run, e)));
    }
    for (_, sentence) in cuts(run) {
        let _ = writeln!(out, "::warning title=pleach%3A not everything was explored::{}", text(&sentence));
    }
    out
}

fn text(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(value: &str) -> String {
    text(value).replace(':', "%3A").replace(',', "%2C")
}
