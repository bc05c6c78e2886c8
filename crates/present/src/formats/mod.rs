//! A run in the formats of other tools: one file each, and one function that gives its text.

pub mod annotations;
pub mod cobertura;
pub mod code_quality;
mod error_rules;
pub mod junit;
pub mod sarif;

use crate::Run;
use pleach_report::{ErrorRecord, input_text, names};

/// Longer inputs are cut off where only a line is shown.
const LONGEST_INPUT: usize = 400;

/// The message of an error and the input that leads to it, in one line.
fn message(run: &Run, error: &ErrorRecord) -> String {
    let test = error.test.and_then(|id| run.tests.get(&id)).filter(|t| !t.inputs.is_empty());
    let Some(test) = test else { return error.message.clone() };
    let all = input_text::lines(test).join(", ");
    match all.char_indices().nth(LONGEST_INPUT) {
        Some((at, _)) => format!("{} (input: {}…)", error.message, &all[..at]),
        None => format!("{} (input: {all})", error.message),
    }
}

/// Stays the same when lines are added elsewhere in the file: kind, file, function and message.
pub fn fingerprint(error: &ErrorRecord) -> String {
    let function = names::readable(error.stack.first().map_or("", |f| f.function.as_str()));
    let message = names::readable(&error.message);
    let text = [error.kind.as_str(), &error.file, &function, &message].join("\n");
    pleach_report::testcomp::program_hash(text.as_bytes())
}

/// What was not explored, in a sentence each.
fn cuts(run: &Run) -> Vec<(String, String)> {
    let sentence = |c: &pleach_report::Cut| {
        let detail = if c.detail.is_empty() { String::new() } else { format!(": {}", c.detail) };
        let paths = pleach::number_format::count(c.count, "path");
        (c.reason.clone(), format!("{}{detail}; {paths} not explored to the end", c.reason))
    };
    run.summary.cut.iter().map(sentence).collect()
}
