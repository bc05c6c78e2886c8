//! Witness files, formats 2.0 and 2.1.

use yaml_rust2::{Yaml, YamlLoader};

/// Larger files are not read.
const MAX_BYTES: usize = 64 << 20;

/// A place in a source file; line and column count from 1.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Location {
    pub file: String,
    pub line: u32,
    /// 0: not given
    pub column: u32,
    /// empty: not given
    pub function: String,
}

impl std::fmt::Display for Location {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "{}:{}", self.file, self.line)?;
        if self.column == 0 { Ok(()) } else { write!(f, ":{}", self.column) }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum InvariantKind {
    /// holds each time before the loop's condition is evaluated; for `do`, before its body begins
    Loop,
    /// holds each time the statement is reached
    Location,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    pub kind: InvariantKind,
    pub at: Location,
    pub value: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WaypointKind {
    /// before the statement, the condition holds
    Assumption,
    /// the condition at the keyword is true or false
    Branching,
    /// the call is entered
    FunctionEnter,
    /// the call returns, and the condition holds of `\result`
    FunctionReturn,
    /// the violation
    Target,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waypoint {
    pub kind: WaypointKind,
    pub at: Location,
    /// empty: none
    pub condition: String,
}

/// What an execution passes next, and what it must not pass before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Segment {
    pub avoid: Vec<Waypoint>,
    pub follow: Waypoint,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Contents {
    Correctness(Vec<Invariant>),
    Violation(Vec<Segment>),
}

/// What a witness says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Read {
    pub contents: Contents,
    /// the programs that it is about, with their SHA-256
    pub hashes: Vec<(String, String)>,
    /// `LP64`, `ILP32`, or empty
    pub data_model: String,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReadError {
    #[error("it is a witness of format 1.0 (GraphML); only formats 2.0 and 2.1 (YAML) are validated")]
    GraphMl,
    #[error("it is not YAML: {0}")]
    Yaml(String),
    #[error("{0}")]
    Malformed(String),
}

fn malformed<T>(why: impl Into<String>) -> Result<T, ReadError> {
    Err(ReadError::Malformed(why.into()))
}

pub fn read(text: &str) -> Result<Read, ReadError> {
    let start = text.trim_start_matches('\u{feff}').trim_start();
    if start.starts_with("<?xml") || start.starts_with("<graphml") || start.starts_with("<!DOCTYPE") {
        return Err(ReadError::GraphMl);
    }
    if text.len() > MAX_BYTES {
        return malformed("it has more than 64 MB");
    }
    let documents = YamlLoader::load_from_str(text).map_err(|e| ReadError::Yaml(e.to_string()))?;
    let entries = match documents.first().and_then(Yaml::as_vec) {
        Some(entries) if !entries.is_empty() => entries,
        _ => return malformed("it is no list of entries"),
    };
    let mut read = Read { contents: Contents::Correctness(Vec::new()), hashes: Vec::new(), data_model: String::new() };
    let mut violations = 0;
    for entry in entries {
        metadata(entry, &mut read)?;
        match text_of(entry, "entry_type")? {
            "invariant_set" => {
                let new = list(entry, "content")?.iter().map(invariant).collect::<Result<Vec<_>, _>>()?;
                match &mut read.contents {
                    Contents::Correctness(all) => all.extend(new),
                    Contents::Violation(_) => return malformed("it has entries of both kinds"),
                }
            }
            "violation_sequence" => {
                violations += 1;
                let segments = list(entry, "content")?.iter().map(segment).collect::<Result<Vec<_>, _>>()?;
                read.contents = Contents::Violation(segments);
            }
            other => return malformed(format!("entries of type `{other}` are not validated")),
        }
    }
    if violations > 0 && entries.len() > 1 {
        return malformed("it has more entries than one violation sequence");
    }
    check_targets(&read.contents)?;
    Ok(read)
}

/// The target comes last, and only there.
fn check_targets(contents: &Contents) -> Result<(), ReadError> {
    let Contents::Violation(segments) = contents else { return Ok(()) };
    let is_target = |s: &Segment| s.follow.kind == WaypointKind::Target;
    match segments.split_last() {
        Some((last, before)) if is_target(last) && !before.iter().any(is_target) => Ok(()),
        _ => malformed("its last segment, and no other, must follow a target"),
    }
}

fn metadata(entry: &Yaml, read: &mut Read) -> Result<(), ReadError> {
    let meta = &entry["metadata"];
    let version = match &meta["format_version"] {
        Yaml::String(v) => v.clone(),
        Yaml::Real(v) => v.clone(),
        _ => return malformed("its metadata have no format_version"),
    };
    if version != "2.0" && version != "2.1" {
        return malformed(format!("its format is {version}; only 2.0 and 2.1 are validated"));
    }
    if let Some(hashes) = meta["task"]["input_file_hashes"].as_hash() {
        for (file, hash) in hashes {
            if let (Some(file), Some(hash)) = (file.as_str(), hash.as_str()) {
                read.hashes.push((file.to_owned(), hash.to_owned()));
            }
        }
    }
    if let Some(model) = meta["task"]["data_model"].as_str() {
        model.clone_into(&mut read.data_model);
    }
    Ok(())
}

fn text_of<'a>(yaml: &'a Yaml, key: &str) -> Result<&'a str, ReadError> {
    match yaml[key].as_str() {
        Some(text) => Ok(text),
        None => malformed(format!("an entry has no `{key}`")),
    }
}

fn list<'a>(yaml: &'a Yaml, key: &str) -> Result<&'a [Yaml], ReadError> {
    match &yaml[key] {
        Yaml::Array(all) => Ok(all),
        Yaml::Null => Ok(&[]),
        _ => malformed(format!("`{key}` is no list")),
    }
}

/// A value of C may look like another of YAML: 1, true.
fn expression(yaml: &Yaml) -> Option<String> {
    match yaml {
        Yaml::String(s) | Yaml::Real(s) => Some(s.clone()),
        Yaml::Integer(n) => Some(n.to_string()),
        Yaml::Boolean(b) => Some(b.to_string()),
        _ => None,
    }
}

fn location(yaml: &Yaml) -> Result<Location, ReadError> {
    let at = &yaml["location"];
    let number = |key: &str| at[key].as_i64().and_then(|n| u32::try_from(n).ok());
    let Some(line) = number("line").filter(|l| *l > 0) else { return malformed("a location has no line") };
    Ok(Location {
        file: text_of(at, "file_name")?.to_owned(),
        line,
        column: number("column").unwrap_or(0),
        function: at["function"].as_str().unwrap_or_default().to_owned(),
    })
}

fn invariant(yaml: &Yaml) -> Result<Invariant, ReadError> {
    let yaml = &yaml["invariant"];
    let kind = match text_of(yaml, "type")? {
        "loop_invariant" => InvariantKind::Loop,
        "location_invariant" => InvariantKind::Location,
        other => return malformed(format!("invariants of type `{other}` are not validated")),
    };
    let at = location(yaml)?;
    let Some(value) = expression(&yaml["value"]) else {
        return malformed(format!("the invariant at {at} has no value"));
    };
    match yaml["format"].as_str() {
        Some("c_expression") | None => Ok(Invariant { kind, at, value }),
        Some(other) => {
            malformed(format!("the invariant at {at} is written as `{other}`; only c_expression is validated"))
        }
    }
}

fn segment(yaml: &Yaml) -> Result<Segment, ReadError> {
    let mut avoid = Vec::new();
    let all = list(yaml, "segment")?;
    for (i, part) in all.iter().enumerate() {
        let yaml = &part["waypoint"];
        let waypoint = waypoint(yaml)?;
        match (text_of(yaml, "action")?, i + 1 == all.len()) {
            ("avoid", false) => avoid.push(waypoint),
            ("follow", true) => return Ok(Segment { avoid, follow: waypoint }),
            _ => break,
        }
    }
    malformed("a segment is no list of waypoints to avoid and a last one to follow")
}

fn waypoint(yaml: &Yaml) -> Result<Waypoint, ReadError> {
    let kind = match text_of(yaml, "type")? {
        "assumption" => WaypointKind::Assumption,
        "branching" => WaypointKind::Branching,
        "function_enter" => WaypointKind::FunctionEnter,
        "function_return" => WaypointKind::FunctionReturn,
        "target" => WaypointKind::Target,
        other => return malformed(format!("waypoints of type `{other}` are not validated")),
    };
    let condition = expression(&yaml["constraint"]["value"]).unwrap_or_default();
    let needs = matches!(kind, WaypointKind::Assumption | WaypointKind::Branching);
    if needs && condition.is_empty() {
        return malformed("a waypoint has no constraint");
    }
    Ok(Waypoint { kind, at: location(yaml)?, condition })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "- entry_type: invariant_set\n  metadata:\n    format_version: \"2.0\"\n";

    #[test]
    fn what_is_refused() {
        let says = |text: &str| read(text).unwrap_err().to_string();
        assert!(says("<?xml version=\"1.0\"?>\n<graphml/>").contains("format 1.0"));
        assert!(says("a: [").starts_with("it is not YAML"));
        assert!(says("a: 1").contains("no list"));
        assert!(says("- entry_type: ghost\n  metadata:\n    format_version: 2.0\n").contains("`ghost`"));
        assert!(says(&HEAD.replace("2.0", "3.0")).contains("its format is 3.0"));
        let sequence = HEAD.replace("invariant_set", "violation_sequence");
        assert!(says(&(sequence + "  content: []\n")).contains("must follow a target"));
    }

    #[test]
    fn invariants() {
        let text = format!(
            "{HEAD}    task:\n      data_model: LP64\n      input_file_hashes:\n        a.c: 00ff\n  content:\n  \
             - invariant:\n      type: loop_invariant\n      location:\n        file_name: a.c\n        line: 3\n      \
             value: 1\n      format: c_expression\n"
        );
        let read = read(&text).unwrap();
        assert_eq!((read.data_model.as_str(), read.hashes.len()), ("LP64", 1));
        let Contents::Correctness(all) = read.contents else { panic!("no correctness witness") };
        assert_eq!((all.len(), all[0].value.as_str(), all[0].at.to_string().as_str()), (1, "1", "a.c:3"));
    }
}
