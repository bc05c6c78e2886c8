use super::*;

fn log(result: &str) -> String {
    format!(
        r#"{{"version": "2.1.0", "runs": [{{
            "tool": {{"driver": {{"name": "t", "rules": [{{"id": "R0", "shortDescription": {{"text": "Division by zero"}}}}]}}}},
            "originalUriBaseIds": {{"SRC": {{"uri": "file:///src/"}}}},
            "artifacts": [{{"location": {{"uri": "listed.c"}}}}],
            "results": [{result}]}}]}}"#
    )
}

fn one(result: &str) -> Warning {
    let (mut found, without_place) = parse(&log(result)).unwrap();
    assert_eq!((found.len(), without_place), (1, 0));
    found.remove(0)
}

#[test]
fn a_place_has_file_line_and_column() {
    let w = one(r#"{"ruleId": "nullPointer", "message": {"text": "x"}, "locations": [{"physicalLocation":
           {"artifactLocation": {"uri": "a%20b.c", "uriBaseId": "SRC"}, "region": {"startLine": 7, "startColumn": 3}}}]}"#);
    assert_eq!((w.file.as_str(), w.line, w.column), ("/src/a b.c", 7, Some(3)));
    assert_eq!(w.topic, Topic::Errors(&[ErrorKind::Null]));
}

#[test]
fn the_rule_of_an_index_says_the_kind() {
    let w = one(r#"{"ruleIndex": 0, "message": {"text": "here"}, "locations": [{"physicalLocation":
           {"artifactLocation": {"index": 0}, "region": {"startLine": 1}}}]}"#);
    assert_eq!((w.rule.as_str(), w.file.as_str()), ("R0", "listed.c"));
    assert_eq!(w.topic, Topic::Errors(&[ErrorKind::DivZero]));
}

#[test]
fn a_rule_counts_before_the_message() {
    assert_eq!(topic("core.NullDereference"), Topic::Errors(&[ErrorKind::Null]));
    assert_eq!(topic("alpha.security.ArrayBoundV2"), Topic::Unsaid);
    assert_eq!(topic("Out of bound memory access"), Topic::Errors(BOUNDS));
    assert_eq!(topic("unix.Malloc: Attempt to free released memory"), Topic::Unsaid);
    assert_eq!(topic("-Wanalyzer-double-free"), Topic::Errors(&[ErrorKind::DoubleFree]));
    assert_eq!(topic("memleak"), Topic::Other("a leak"));
}

#[test]
fn other_versions_and_results_without_a_place_are_said() {
    assert!(parse(r#"{"version": "2.0.0"}"#).unwrap_err().contains("2.0.0"));
    assert!(parse("{}").unwrap_err().contains("no version"));
    assert!(parse("no").is_err());
    assert_eq!(parse(&log(r#"{"message": {"text": "x"}}"#)).unwrap(), (Vec::new(), 1));
}
