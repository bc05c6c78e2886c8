//! What commands print as JSON is as `docs/schemas` says.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn schema(name: &str) -> Value {
    let text = std::fs::read(root().join("docs/schemas").join(name)).expect("a schema");
    serde_json::from_slice(&text).expect("JSON")
}

fn is_of_type(value: &Value, name: &str) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        other => panic!("the schema has a type {other}, which this test does not know"),
    }
}

/// The part of JSON Schema that ours use. A keyword that is not known here fails.
fn check(schema: &Value, value: &Value, at: &str, wrong: &mut Vec<String>) {
    let empty = serde_json::Map::new();
    let members = value.as_object().unwrap_or(&empty);
    for (keyword, rule) in schema.as_object().expect("a schema is an object") {
        match keyword.as_str() {
            "$schema" | "title" => {}
            "type" => {
                let names: Vec<&str> = match rule {
                    Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
                    one => one.as_str().into_iter().collect(),
                };
                if !names.iter().any(|n| is_of_type(value, n)) {
                    wrong.push(format!("{at} is {value}, not {names:?}"));
                }
            }
            "minimum" => {
                if value.as_i64().is_some_and(|v| v < rule.as_i64().unwrap_or(0)) {
                    wrong.push(format!("{at} is {value}"));
                }
            }
            "enum" => {
                if !rule.as_array().is_some_and(|all| all.contains(value)) {
                    wrong.push(format!("{at} is {value}, which is not listed"));
                }
            }
            "required" => {
                let missing = rule.as_array().into_iter().flatten().filter_map(Value::as_str);
                wrong.extend(missing.filter(|m| !members.contains_key(*m)).map(|m| format!("{at} has no {m}")));
            }
            "properties" => {
                for (name, rule) in rule.as_object().into_iter().flatten() {
                    if let Some(value) = members.get(name) {
                        check(rule, value, &format!("{at}.{name}"), wrong);
                    }
                }
            }
            "additionalProperties" => {
                let known = |name: &String| schema["properties"].get(name).is_some();
                for (name, value) in members.iter().filter(|(name, _)| !known(name)) {
                    match rule {
                        Value::Bool(true) => {}
                        Value::Bool(false) => wrong.push(format!("{at} has {name}, which the schema does not")),
                        rule => check(rule, value, &format!("{at}.{name}"), wrong),
                    }
                }
            }
            "items" => {
                for (i, value) in value.as_array().into_iter().flatten().enumerate() {
                    check(rule, value, &format!("{at}[{i}]"), wrong);
                }
            }
            other => panic!("the schema has a keyword {other}, which this test does not know"),
        }
    }
}

fn assert_valid(name: &str, value: &Value) {
    let mut wrong = Vec::new();
    check(&schema(name), value, "$", &mut wrong);
    assert!(wrong.is_empty(), "{name}: {wrong:#?}");
}

fn json(args: &[&str], place: &Path) -> Value {
    let out = Command::new(env!("CARGO_BIN_EXE_pleach")).args(args).current_dir(place).output().expect("pleach runs");
    let text = String::from_utf8_lossy(&out.stderr).into_owned();
    serde_json::from_slice(&out.stdout).unwrap_or_else(|why| panic!("{args:?}: {why}\n{text}"))
}

const PROGRAM: &str = "int g(int a) { return 10 / a; }\nint main(void) {\n  extern int klee_range(int, int, const char *);\n  \
    int n = klee_range(0, 9, \"n\"), s = 0;\n  for (int i = 0; i < n; i++)\n    s += i;\n  return g(s - 3);\n}\n";

#[test]
fn outputs_are_as_the_schemas_say() {
    let place = tempfile::tempdir().expect("a directory");
    let place = place.path();
    std::fs::write(place.join("a.c"), PROGRAM).expect("a program");
    let runs: [&[&str]; 7] = [
        &["test", "a.c"],
        &["test", "a.c", "--prune"],
        &["test", "a.c", "--merge=pattern"],
        &["test", "a.c", "--max-forks", "2"],
        &["test", "a.c", "--entry", "g"],
        &["verify", "a.c", "--property", "unreach-call"],
        &["reach", "a.c", "--target", "a.c:6", "--target", "g"],
    ];
    for (number, run) in runs.iter().enumerate() {
        let to = format!("run{number}");
        let printed = json(&[run, &["--json", "--quiet", "--output-dir", &to][..]].concat(), place);
        assert_valid("summary-1.json", &printed);
    }
    assert_valid("replay-all-1.json", &json(&["replay", "run0", "--all", "--packed", "--json"], place));
    assert_valid("all-entries-1.json", &json(&["test", "a.c", "--all-entries", "--json", "-q"], place));
}

#[test]
fn the_check_finds_what_is_wrong() {
    let mut value = serde_json::json!({"tests": [{"test": -1, "predicted": 1, "observed": ""}], "counts": {}, "x": 0});
    let mut wrong = Vec::new();
    check(&schema("replay-all-1.json"), &value, "$", &mut wrong);
    assert_eq!(wrong.len(), 8, "{wrong:#?}");
    value["tests"] = "none".into();
    wrong.clear();
    check(&schema("replay-all-1.json"), &value, "$", &mut wrong);
    assert_eq!(wrong.len(), 6, "{wrong:#?}");
}
