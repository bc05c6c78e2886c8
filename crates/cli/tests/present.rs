//! What is made of a run, from the command line: the page, the formats of other tools, corpora, unit tests.

use std::path::Path;
use std::process::{Command, Output};

fn pleach(args: &[&str], directory: &Path) -> Output {
    let out = Command::new(env!("CARGO_BIN_EXE_pleach")).args(args).current_dir(directory).output();
    out.expect("pleach runs")
}

fn text(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).expect("a file")).expect("JSON")
}

const PROGRAM: &str = "int f(int x) {\n  if (x == 7)\n    __builtin_trap();\n  return x > 3;\n}\n";

/// A run of a function with an error, and files for other tools.
fn explored(flags: &[&str]) -> (tempfile::TempDir, Output) {
    let place = tempfile::tempdir().expect("a directory");
    std::fs::write(place.path().join("a.c"), PROGRAM).expect("a program");
    let args = [&["test", "a.c", "--entry", "f", "--output-dir", "run"], flags].concat();
    let out = pleach(&args, place.path());
    (place, out)
}

#[test]
fn files_for_other_tools() {
    let (place, out) =
        explored(&["--sarif", "a.sarif", "--junit", "a.xml", "--cobertura", "c.xml", "--html", "a.html"]);
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    let summary = json(&place.path().join("run/summary.json"));
    let log = json(&place.path().join("a.sarif"));
    let region = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], summary["errors"][0]["line"]);
    // What the terminal says is what the page says.
    let said = String::from_utf8_lossy(&out.stdout).trim_end().to_owned();
    let page = std::fs::read_to_string(place.path().join("a.html")).expect("a page");
    assert!(page.contains(&format!("<pre id=\"result\">{said}</pre>")), "{said}");
    let lines = summary["totals"]["lines"].as_u64().expect("a number");
    let coverage = std::fs::read_to_string(place.path().join("c.xml")).expect("coverage");
    assert!(coverage.contains(&format!("lines-valid=\"{lines}\"")), "{coverage}");
    // The same afterwards.
    let again = pleach(&["report", "run", "--sarif", "b.sarif"], place.path());
    assert!(again.status.success(), "{}", text(&again));
    assert_eq!(log, json(&place.path().join("b.sarif")));
    let annotations = pleach(&["report", "run", "--github"], place.path());
    assert!(text(&annotations).starts_with("::error file=a.c,line=3"), "{}", text(&annotations));
}

#[test]
fn a_file_that_cannot_be_written() {
    let (_place, out) = explored(&["--sarif", "no/such/a.sarif"]);
    assert!(text(&out).contains("pleach: results are incomplete: cannot write no/such/a.sarif"), "{}", text(&out));
    assert_eq!(out.status.code(), Some(1), "the error is found anyway");
    let place = tempfile::tempdir().expect("a directory");
    let none = pleach(&["report", "nothing", "--html", "a.html"], place.path());
    assert_eq!(none.status.code(), Some(2), "{}", text(&none));
    assert!(text(&none).starts_with("pleach: nothing is not a run directory"), "{}", text(&none));
}

#[test]
fn inputs_as_people_write_them() {
    let program = "#include <assert.h>\n#include <string.h>\n#include <stdio.h>\n\
        int main(int argc, char **argv) {\n  if (argc > 1 && strcmp(argv[1], \"-b\") == 0)\n    \
        assert(getchar() != '%');\n  return 0;\n}\n";
    let place = tempfile::tempdir().expect("a directory");
    std::fs::write(place.path().join("a.c"), program).expect("a program");
    let out = pleach(&["test", "a.c", "--sym-arg", "2", "--sym-stdin", "1", "--output-dir", "run"], place.path());
    let said = text(&out);
    for line in ["     argv[1] = \"-b\"\n", "     stdin = \"%\"\n", " by hand: printf '%%' | ./a -b\n"] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    assert!(!said.contains("__pleach_start") && !said.contains("n_args"), "{said}");
}

#[test]
fn unit_tests_compile_and_fail_where_predicted() {
    let (place, _) = explored(&[]);
    let out = pleach(&["export", "run", "--format", "c", "--output", "t.c"], place.path());
    assert!(out.status.success(), "{}", text(&out));
    let built = Command::new("clang-19").args(["-w", "t.c", "a.c", "-o", "t"]).current_dir(place.path()).output();
    let built = built.expect("the front end needs clang");
    assert!(built.status.success(), "{}", text(&built));
    let ran = Command::new(place.path().join("t")).output().expect("it runs");
    assert!(ran.status.success(), "{}", text(&ran));
    let failing = json(&place.path().join("run/summary.json"))["errors"][0]["test"].to_string();
    let ran = Command::new(place.path().join("t")).arg(failing).output().expect("it runs");
    assert!(!ran.status.success());
}

#[test]
fn completions_and_manual_pages() {
    let place = tempfile::tempdir().expect("a directory");
    let script = pleach(&["completions", "bash"], place.path());
    assert!(script.status.success() && text(&script).contains("--max-time"), "{}", text(&script));
    let man = pleach(&["man", "man1"], place.path());
    assert!(man.status.success(), "{}", text(&man));
    let page = std::fs::read_to_string(place.path().join("man1/pleach-verify.1")).expect("a page");
    assert!(page.contains("SV\\-COMP") || page.contains("property"), "{page}");
    assert!(place.path().join("man1/pleach.1").exists());
}

#[test]
fn a_baseline_leaves_out_what_is_known() {
    let (place, _) = explored(&[]);
    // Another line is no new error.
    std::fs::write(place.path().join("a.c"), format!("\n\n{PROGRAM}")).expect("a program");
    let again = ["test", "a.c", "--entry", "f", "--baseline", "run", "--sarif", "b.sarif"];
    let out = pleach(&again, place.path());
    assert_eq!(out.status.code(), Some(0), "{}", text(&out));
    assert!(text(&out).contains("0 of 1 error are not in the baseline."), "{}", text(&out));
    assert_eq!(json(&place.path().join("b.sarif"))["runs"][0]["results"], serde_json::json!([]));
    let wrong = pleach(&["report", "run", "--baseline", "nothing"], place.path());
    assert_eq!(wrong.status.code(), Some(2), "{}", text(&wrong));
}

#[test]
fn files_and_flags_of_a_build() {
    let place = tempfile::tempdir().expect("a directory");
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).expect("a file");
    std::fs::create_dir_all(place.path().join("build/inc")).expect("a directory");
    write("build/inc/h.h", "#define LIMIT 3\n");
    write("a.c", "#include <h.h>\nint g(int);\nint f(int x) {\n  return x > LIMIT + MORE ? g(x) : 0;\n}\n");
    write("b.c", "int g(int x) {\n  return x;\n}\n");
    let database = r#"[
      {"directory": ".", "file": "../a.c", "command": "cc -O2 -Iinc -DMORE=1 -c ../a.c -o a.o"},
      {"directory": ".", "file": "../b.c", "arguments": ["cc", "-c", "../b.c"]}
    ]"#;
    write("build/compile_commands.json", database);
    let out = pleach(&["test", "-p", "build", "--entry", "f"], place.path());
    assert_eq!(out.status.code(), Some(0), "{}", text(&out));
    assert!(text(&out).contains("Explored all 2 paths"), "{}", text(&out));
    let out = pleach(&["test", "-p", "build", "c.c", "--entry", "f"], place.path());
    assert_eq!(out.status.code(), Some(2), "{}", text(&out));
    assert!(
        text(&out).starts_with("pleach: c.c is not in build/compile_commands.json, and does not exist"),
        "{}",
        text(&out)
    );
    let out = pleach(&["test", "-p", "nowhere", "--entry", "f"], place.path());
    assert!(text(&out).starts_with("pleach: cannot read nowhere: "), "{}", text(&out));
}

#[test]
fn the_page_has_the_path_of_an_error_with_values() {
    let place = tempfile::tempdir().expect("a directory");
    let program = "int f(const char *t) {\n  int n = 0;\n  if (t[0] == 'a')\n    n = 3;\n  return 10 / (n - 3);\n}\n";
    std::fs::write(place.path().join("a.c"), program).expect("a program");
    let flags = ["test", "a.c", "--entry", "f", "--param", "t:string[2]", "--output-dir", "run", "--html", "now.html"];
    let out = pleach(&flags, place.path());
    assert!(text(&out).contains("char t[3] = \"a\""), "strings as strings: {}", text(&out));
    let out = pleach(&["report", "run", "--html", "later.html"], place.path());
    assert!(out.status.success(), "{}", text(&out));
    for page in ["now.html", "later.html"] {
        let page = std::fs::read_to_string(place.path().join(page)).expect("the page");
        assert!(page.contains(r#"{"depth":0,"file":"a.c","line":3,"values":["n = 3"]}"#), "{page}");
        assert!(page.contains(r#"{"depth":0,"file":"a.c","line":5,"values":[]}]"#), "it ends at the error");
    }
}

#[test]
fn a_harness_finds_the_error() {
    let place = tempfile::tempdir().expect("a directory");
    let program = "struct s { int a; };\nint f(const char *t, struct s *s, int n) {\n  \
        return t[0] == 'x' && s->a == 5 ? 10 / n : 0;\n}\n";
    std::fs::write(place.path().join("a.c"), program).expect("a program");
    let out = pleach(&["init", "a.c", "f"], place.path());
    assert!(out.status.success(), "{}", text(&out));
    let out = pleach(&["test", "harness.c"], place.path());
    assert!(text(&out).contains("div-zero at a.c:3"), "{}", text(&out));
    let called = "typedef int (*each)(char);\nint g(const char *t, unsigned len, each e) {\n  \
        int n = 0;\n  for (unsigned i = 0; i < len; i++) n += e ? e(t[i]) : t[i] == 'x';\n  return n;\n}\n";
    std::fs::write(place.path().join("b.c"), called).expect("a program");
    let out = pleach(&["init", "b.c", "g", "-o", "counted.c"], place.path());
    assert!(out.status.success(), "{}", text(&out));
    let out = pleach(&["test", "counted.c", "--html", "page.html"], place.path());
    assert!(text(&out).contains("no errors"), "as many elements as there are, no function: {}", text(&out));
    let again = pleach(&["init", "a.c", "f"], place.path());
    assert_eq!(again.status.code(), Some(2), "an edited harness is kept: {}", text(&again));
    let none = pleach(&["init", "a.c", "g", "-o", "other.c"], place.path());
    assert!(text(&none).starts_with("pleach: a.c has no function `g`"), "{}", text(&none));
}
