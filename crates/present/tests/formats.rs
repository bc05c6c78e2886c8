//! The formats of other tools have what their readers require, for a run with one of everything and for empty ones.

mod support;

use pleach_present::Run;
use pleach_present::formats::{annotations, cobertura, code_quality, junit, sarif};
use pleach_report::{RunDir, Summary};
use serde_json::Value;

fn small() -> (tempfile::TempDir, RunDir, Run) {
    let place = tempfile::tempdir().unwrap();
    let dir = support::small(place.path());
    let run = Run::open(dir.path()).unwrap();
    (place, dir, run)
}

/// The same run without errors.
fn clean(dir: &RunDir, change: impl FnOnce(&mut Summary)) -> Run {
    let mut summary = Summary { complete: true, verdict: "safe".into(), ..support::summary() };
    summary.errors.clear();
    summary.cut.clear();
    change(&mut summary);
    dir.write_summary(&summary).unwrap();
    Run::open(dir.path()).unwrap()
}

/// Opening and closing tags match, attributes have no bare `<` or `&`: names of all elements in their order.
fn elements(xml: &str) -> Vec<String> {
    let (mut open, mut all) = (Vec::new(), Vec::new());
    for part in xml.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        assert!(!text.contains('>'), "{text}");
        let name = tag.trim_end_matches('/').split_whitespace().next().unwrap();
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else if !name.starts_with('?') {
            all.push(name.to_owned());
            if !tag.ends_with('/') {
                open.push(name.to_owned());
            }
        }
        for entity in tag.split('&').skip(1).chain(text.split('&').skip(1)) {
            assert!(["amp;", "lt;", "gt;", "quot;", "#"].iter().any(|e| entity.starts_with(e)), "&{entity}");
        }
    }
    assert!(open.is_empty(), "{open:?}");
    all
}

#[test]
fn sarif_results_have_places_paths_and_rules() {
    let (_place, dir, run) = small();
    let log: Value = serde_json::from_str(&sarif::render(&run)).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let (result, driver) = (&run["results"][0], &run["tool"]["driver"]);
    assert_eq!(result["ruleId"], driver["rules"][result["ruleIndex"].as_u64().unwrap() as usize]["id"]);
    let region = &result["locations"][0]["physicalLocation"]["region"];
    assert_eq!((&region["startLine"], &region["startColumn"]), (&4.into(), &3.into()));
    let flow = result["codeFlows"][0]["threadFlows"][0]["locations"].as_array().unwrap();
    let line = |l: &Value| l["location"]["physicalLocation"]["region"]["startLine"].as_u64();
    assert_eq!(flow.iter().filter_map(line).collect::<Vec<_>>(), [2, 4, 4]);
    assert_eq!(result["stacks"][0]["frames"][1]["location"]["logicalLocations"][0]["name"], "main");
    assert!(result["message"]["text"].as_str().unwrap().contains("int x = 2"), "{result}");
    let notes = run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap();
    assert_eq!(notes[0]["descriptor"]["id"], driver["notifications"][0]["id"]);
    assert_eq!(notes[0]["message"]["text"], "external-call: mystery; 1 path not explored to the end");
    let empty: Value = serde_json::from_str(&sarif::render(&clean(&dir, |_| {}))).unwrap();
    assert_eq!(empty["runs"][0]["results"], serde_json::json!([]));
}

#[test]
fn fingerprints_do_not_depend_on_lines() {
    let (_place, dir, run) = small();
    let print = |run: &Run| -> Value {
        let log: Value = serde_json::from_str(&sarif::render(run)).unwrap();
        log["runs"][0]["results"][0]["partialFingerprints"]["pleach/v1"].clone()
    };
    let before = print(&run);
    let mut summary = support::summary();
    summary.errors[0].line = 40;
    summary.errors[0].stack[0].line = 40;
    dir.write_summary(&summary).unwrap();
    assert_eq!(print(&Run::open(dir.path()).unwrap()), before);
    summary.errors[0].message = "another".into();
    dir.write_summary(&summary).unwrap();
    assert_ne!(print(&Run::open(dir.path()).unwrap()), before);
}

#[test]
fn junit_counts_its_cases() {
    let (_place, dir, run) = small();
    let xml = junit::render(&run);
    let names = elements(&xml);
    assert_eq!(names.iter().filter(|n| *n == "testcase").count(), 2, "{xml}");
    assert!(xml.contains(r#"tests="2" failures="1" errors="0" skipped="1" time="2.500""#), "{xml}");
    assert!(xml.contains(r#"classname="a.c" name="assert at a.c:4""#), "{xml}");
    let xml = junit::render(&clean(&dir, |_| {}));
    assert!(xml.contains(r#"tests="2" failures="0" errors="0" skipped="0""#), "{xml}");
    let unknown = clean(&dir, |s| {
        s.complete = false;
        (s.property, s.verdict) = ("memsafety".into(), "unknown".into());
        s.reasons = vec!["the time limit was reached".into()];
    });
    let xml = junit::render(&unknown);
    assert!(xml.contains(r#"<error type="unknown" message="the time limit was reached">"#), "{xml}");
}

#[test]
fn cobertura_has_the_totals_of_the_summary() {
    let (_place, _dir, run) = small();
    let xml = cobertura::render(&run);
    let names = elements(&xml);
    assert_eq!(names[..5], ["coverage", "sources", "source", "packages", "package"]);
    let t = &run.summary.totals;
    assert!(xml.contains(&format!(r#"lines-covered="{}" lines-valid="{}""#, t.lines_covered, t.lines)), "{xml}");
    assert!(xml.contains(&format!(r#"branches-covered="{}" branches-valid="{}""#, t.branches_covered, t.branches)));
    assert!(xml.contains(r#"<line number="4" hits="2" branch="true" condition-coverage="50% (1/2)">"#), "{xml}");
    assert!(xml.contains(r#"<method name="never" signature="" line-rate="0""#), "{xml}");
}

/// What its published definition requires of each element.
#[test]
fn cobertura_has_all_attributes() {
    let (_place, _dir, run) = small();
    let xml = cobertura::render(&run);
    let rates = ["line-rate", "branch-rate", "complexity"];
    let totals = ["lines-covered", "lines-valid", "branches-covered", "branches-valid", "version", "timestamp"];
    let required: [(&str, Vec<&str>); 6] = [
        ("coverage", [&rates[..], &totals].concat()),
        ("package", [&rates[..], &["name"]].concat()),
        ("class", [&rates[..], &["name", "filename"]].concat()),
        ("method", [&rates[..], &["name", "signature"]].concat()),
        ("line", vec!["number", "hits"]),
        ("condition", vec!["number", "type", "coverage"]),
    ];
    for (element, attributes) in required {
        let tags: Vec<&str> = xml.split(&format!("<{element} ")).skip(1).filter_map(|t| t.split('>').next()).collect();
        assert!(!tags.is_empty(), "{element} is not in\n{xml}");
        for (tag, attribute) in tags.iter().flat_map(|t| attributes.iter().map(move |a| (t, a))) {
            assert!(format!(" {tag}").contains(&format!(" {attribute}=\"")), "{element} without {attribute}: {tag}");
        }
    }
}

#[test]
fn annotations_are_one_line_each() {
    let (_place, dir, run) = small();
    let text = annotations::render(&run);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert!(lines[0].starts_with("::error file=a.c,line=4,col=3,title=pleach%3A assert::the assertion"), "{text}");
    assert!(lines[1].starts_with("::warning title="), "{text}");
    assert_eq!(annotations::render(&clean(&dir, |_| {})), "");
    let mut summary = support::summary();
    summary.errors[0].message = "50%\nof::it".into();
    summary.errors[0].test = None;
    dir.write_summary(&summary).unwrap();
    let text = annotations::render(&Run::open(dir.path()).unwrap());
    assert!(text.lines().next().unwrap().ends_with("::50%25%0Aof::it"), "{text}");
}

#[test]
fn code_quality_issues_have_what_gitlab_requires() {
    let (_place, dir, run) = small();
    let issues: Value = serde_json::from_str(&code_quality::render(&run)).unwrap();
    let issue = &issues[0];
    assert_eq!((&issue["check_name"], &issue["location"]["path"]), (&"assert".into(), &"a.c".into()));
    assert_eq!(issue["location"]["lines"]["begin"], 4);
    assert_eq!(issue["fingerprint"].as_str().unwrap().len(), 64);
    assert_eq!(code_quality::render(&clean(&dir, |_| {})), "[]\n");
}
