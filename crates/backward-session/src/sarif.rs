//! Warnings of another analyser, as SARIF 2.1.0 has them, and what they are about.

use pleach_command::CliError;
use pleach_ir::ErrorKind;
use serde_json::Value;
use std::path::Path;

/// One result of a SARIF file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Warning {
    pub rule: String,
    /// as the file has it, without its scheme
    pub file: String,
    pub line: u32,
    pub column: Option<u32>,
    pub topic: Topic,
}

/// Which errors a warning is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Topic {
    /// These; any of them.
    Errors(&'static [ErrorKind]),
    /// One that is no target of backward execution.
    Other(&'static str),
    /// Neither the rule nor the message says.
    Unsaid,
}

/// Words of rules and messages, in lower case without punctuation, and what they say. The first that occurs counts.
const WORDS: [(&str, Topic); 24] = [
    ("leak", Topic::Other("a leak")),
    ("uninit", Topic::Other("an uninitialised value")),
    ("undefinedbinaryoperatorresult", Topic::Other("an uninitialised value")),
    ("doublefree", Topic::Errors(&[ErrorKind::DoubleFree])),
    ("badfree", Topic::Errors(&[ErrorKind::BadFree])),
    ("invalidfree", Topic::Errors(&[ErrorKind::BadFree])),
    ("useafterfree", Topic::Errors(&[ErrorKind::UseAfterFree])),
    ("afterfree", Topic::Errors(&[ErrorKind::UseAfterFree])),
    ("deallocuse", Topic::Errors(&[ErrorKind::UseAfterFree])),
    ("divideby", Topic::Errors(&[ErrorKind::DivZero])),
    ("divisionby", Topic::Errors(&[ErrorKind::DivZero])),
    ("dividezero", Topic::Errors(&[ErrorKind::DivZero])),
    ("zerodiv", Topic::Errors(&[ErrorKind::DivZero])),
    ("divzero", Topic::Errors(&[ErrorKind::DivZero])),
    ("shift", Topic::Errors(&[ErrorKind::Overshift])),
    ("assert", Topic::Errors(&[ErrorKind::Assert])),
    ("integeroverflow", Topic::Other("an arithmetic overflow")),
    ("signedoverflow", Topic::Other("an arithmetic overflow")),
    ("null", Topic::Errors(&[ErrorKind::Null])),
    ("outofbound", Topic::Errors(BOUNDS)),
    ("bounds", Topic::Errors(BOUNDS)),
    ("overrun", Topic::Errors(BOUNDS)),
    ("bufferover", Topic::Errors(BOUNDS)),
    ("underflow", Topic::Errors(BOUNDS)),
];
const BOUNDS: &[ErrorKind] = &[ErrorKind::OobRead, ErrorKind::OobWrite];

/// The results of a file that have a place, and how many have none.
pub fn read(path: &Path) -> Result<(Vec<Warning>, usize), CliError> {
    let text = std::fs::read_to_string(path)
        .map_err(|why| CliError::Usage(format!("--targets: cannot read {}: {why}", path.display())))?;
    parse(&text).map_err(|why| CliError::Usage(format!("--targets: {}: {why}", path.display())))
}

fn parse(text: &str) -> Result<(Vec<Warning>, usize), String> {
    let log: Value = serde_json::from_str(text).map_err(|why| why.to_string())?;
    match log["version"].as_str() {
        Some("2.1.0") => {}
        Some(other) => return Err(format!("SARIF {other} instead of 2.1.0")),
        None => return Err("no SARIF file: it has no version".into()),
    }
    let (mut found, mut without_place) = (Vec::new(), 0);
    for run in items(&log["runs"]) {
        for result in items(&run["results"]) {
            match warning(run, result) {
                Some(w) => found.push(w),
                None => without_place += 1,
            }
        }
    }
    Ok((found, without_place))
}

fn items(v: &Value) -> impl Iterator<Item = &Value> {
    v.as_array().into_iter().flatten()
}

fn warning(run: &Value, result: &Value) -> Option<Warning> {
    let place = &result["locations"][0]["physicalLocation"];
    let number = |v: &Value| v.as_u64().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
    let line = number(&place["region"]["startLine"])?;
    let column = number(&place["region"]["startColumn"]);
    let file = uri(run, &place["artifactLocation"])?;
    let index = result["ruleIndex"].as_u64().or(result["rule"]["index"].as_u64());
    let described = match index {
        Some(i) => &run["tool"]["driver"]["rules"][i as usize],
        None => &Value::Null,
    };
    let first = |all: [&Value; 3]| all.into_iter().find_map(|v| v.as_str().map(str::to_owned));
    let rule = first([&result["ruleId"], &result["rule"]["id"], &described["id"]]).unwrap_or_default();
    let message = result["message"]["text"].as_str().unwrap_or_default();
    let more = [&described["name"], &described["shortDescription"]["text"]].map(|v| v.as_str().unwrap_or_default());
    // What the rule is called says more than a message, which also names what led there.
    let topic = [rule.as_str(), more[0], message, more[1]].into_iter().map(topic).find(|t| *t != Topic::Unsaid);
    Some(Warning { rule, file, line, column, topic: topic.unwrap_or(Topic::Unsaid) })
}

/// The file's name; a base that the run knows comes first.
fn uri(run: &Value, at: &Value) -> Option<String> {
    let index = at["index"].as_u64();
    let named = at["uri"].as_str().or_else(|| run["artifacts"][index? as usize]["location"]["uri"].as_str())?;
    let base = at["uriBaseId"].as_str().and_then(|id| run["originalUriBaseIds"][id]["uri"].as_str());
    let whole = match base {
        Some(base) if !named.contains("://") => format!("{}/{named}", base.trim_end_matches('/')),
        _ => named.to_owned(),
    };
    let path = whole.strip_prefix("file://").unwrap_or(&whole);
    Some(unescaped(path))
}

/// `%20` is a space.
fn unescaped(path: &str) -> String {
    let bytes = path.as_bytes();
    let (mut out, mut i) = (Vec::new(), 0);
    while i < bytes.len() {
        let hex = path.get(i + 1..i + 3).and_then(|h| u8::from_str_radix(h, 16).ok());
        match (bytes[i], hex) {
            (b'%', Some(byte)) => {
                out.push(byte);
                i += 3;
            }
            (byte, _) => {
                out.push(byte);
                i += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn topic(text: &str) -> Topic {
    let plain: String = text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect();
    WORDS.iter().find(|(word, _)| plain.contains(word)).map_or(Topic::Unsaid, |(_, topic)| topic.clone())
}

#[cfg(test)]
#[path = "sarif_tests.rs"]
mod tests;
