//! The page of a run has the numbers of the summary and everything that the run directory has.

mod support;

use pleach_present::{Run, page};
use serde_json::Value;

fn data(html: &str) -> Value {
    let text = html.split(r#"id="data">"#).nth(1).unwrap().split("</script>").next().unwrap();
    serde_json::from_str(text).unwrap()
}

#[test]
fn figures_are_those_of_the_summary() {
    let place = tempfile::tempdir().unwrap();
    let dir = support::small(place.path());
    let data = data(&page::render(&Run::open(dir.path()).unwrap()));
    let summary: Value = serde_json::from_slice(&std::fs::read(dir.file("summary.json")).unwrap()).unwrap();
    for key in ["complete", "paths", "tests", "totals", "instructions", "forks", "states_peak"] {
        assert_eq!(data["statistics"][key], summary[key], "{key}");
    }
    assert_eq!(data["statistics"]["errors"], summary["errors"].as_array().unwrap().len());
    assert_eq!(data["verdict"], summary["verdict"]);
    assert_eq!(data["treeCount"], 7);
    assert_eq!(data["testsTotal"], 3);
}

#[test]
fn errors_say_what_the_terminal_says() {
    let place = tempfile::tempdir().unwrap();
    let dir = support::small(place.path());
    let html = page::render(&Run::open(dir.path()).unwrap());
    assert!(html.contains("<pre id=\"result\">Explored 2 paths in 2.5s: 1 error.</pre>"), "{html}");
    let error = &data(&html)["errors"][0];
    let file = std::fs::read_to_string(dir.file("test000002.assert.err")).unwrap();
    assert_eq!(error["report"], file);
    assert_eq!((&error["node"], &error["path"]), (&3.into(), &serde_json::json!([0, 1, 3])));
}

#[test]
fn why_lines_are_not_covered() {
    let place = tempfile::tempdir().unwrap();
    let dir = support::small(place.path());
    let why =
        |dir: &pleach_report::RunDir| data(&page::render(&Run::open(dir.path()).unwrap()))["files"][0]["why"].clone();
    assert_eq!(why(&dir), serde_json::json!({ "5": "cut", "8": "not-called" }));
    // All paths were explored, and an error ended some.
    let mut summary = pleach_report::Summary { complete: true, ..support::summary() };
    dir.write_summary(&summary).unwrap();
    assert_eq!(why(&dir)["8"], "unreachable-before-errors");
    summary.errors.clear();
    dir.write_summary(&summary).unwrap();
    assert_eq!(why(&dir)["8"], "unreachable-assuming");
    summary.assumptions.clear();
    dir.write_summary(&summary).unwrap();
    assert_eq!(why(&dir)["8"], "unreachable");
    // `verify` prunes paths that may execute other lines.
    summary.property = "errors".into();
    dir.write_summary(&summary).unwrap();
    assert_eq!(why(&dir)["8"], "pruned");
}

#[test]
fn text_of_the_program_is_data() {
    let place = tempfile::tempdir().unwrap();
    let dir = support::small(place.path());
    let html = page::render(&Run::open(dir.path()).unwrap());
    assert_eq!(html.matches("</script>").count(), 3, "the source has one more");
    assert!(!html.contains("http://") && !html.contains("https://"));
}

#[test]
fn a_killed_run_has_a_page() {
    let place = tempfile::tempdir().unwrap();
    let dir = support::small(place.path());
    for file in ["summary.json", "timing.json", "coverage.info", "result.txt", "interpolants.jsonl"] {
        std::fs::remove_file(dir.file(file)).unwrap();
    }
    let html = page::render(&Run::open(dir.path()).unwrap());
    assert!(html.contains("The run was killed, or could not write its results."), "{html}");
    assert_eq!(data(&html)["errors"][0]["kind"], "assert");
}
