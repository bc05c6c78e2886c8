//! Runs that are executed again: in the server of `pleach view`, as a trace; and seeds, and runs from every function.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

fn pleach(args: &[&str], directory: &Path) -> Output {
    let out = Command::new(env!("CARGO_BIN_EXE_pleach")).args(args).current_dir(directory).output();
    out.expect("pleach runs")
}

fn text(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

const PROGRAM: &str = "struct node { int value; struct node *next; };\n\
    void *malloc(unsigned long);\n\
    int f(int x, int y) {\n  struct node *list = 0;\n  for (int i = 0; i < 2; i++) {\n    \
    struct node *n = malloc(sizeof *n);\n    if (!n)\n      return 1;\n    n->value = i + 40;\n    n->next = list;\n    list = n;\n  }\n  \
    if (x > 10)\n    if (y == x + 1)\n      __builtin_trap();\n  return list->value;\n}\n";

fn explored(flags: &[&str]) -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a directory");
    std::fs::write(place.path().join("a.c"), PROGRAM).expect("a program");
    let args = [&["test", "a.c", "--entry", "f", "--output-dir", "run"], flags].concat();
    let out = pleach(&args, place.path());
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    place
}

/// A started server, ended with the value.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(directory: &Path) -> Server {
        let mut process = Command::new(env!("CARGO_BIN_EXE_pleach"))
            .args(["view", "run"])
            .current_dir(directory)
            .stdout(Stdio::piped())
            .spawn()
            .expect("pleach runs");
        let mut line = String::new();
        let out = process.stdout.take().expect("its output");
        BufReader::new(out).read_line(&mut line).expect("a line");
        let address = line.strip_prefix("http://").and_then(|l| l.split('/').next()).expect("an address").to_owned();
        assert!(address.starts_with("127.0.0.1:"), "{line}");
        Server { process, address }
    }

    /// Status and body.
    fn get(&self, path: &str, host: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.address).expect("a connection");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("a request");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        let (head, body) = answer.split_once("\r\n\r\n").expect("a head");
        let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).expect("a status");
        (status, body.to_owned())
    }

    fn json(&self, path: &str) -> serde_json::Value {
        let (status, body) = self.get(path, &self.address);
        assert_eq!(status, 200, "{body}");
        serde_json::from_str(&body).expect("JSON")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The node in which the failing test ends.
fn failing_node(run: &Path) -> String {
    let tests = std::fs::read_dir(run).expect("a run").flatten().map(|e| e.path());
    let json = tests.filter(|p| p.extension().is_some_and(|e| e == "err")).map(|p| {
        let name = p.file_name().expect("a name").to_string_lossy().into_owned();
        run.join(format!("{}.json", name.split('.').next().expect("a name")))
    });
    let test = std::fs::read(json.into_iter().next().expect("an error")).expect("a test");
    let test: serde_json::Value = serde_json::from_slice(&test).expect("JSON");
    test["path"].to_string()
}

#[test]
fn the_state_at_a_node() {
    for flags in [&[][..], &["--prune"]] {
        let place = explored(flags);
        let server = Server::start(place.path());
        let state = server.json(&format!("/api/node/{}", failing_node(&place.path().join("run"))));
        assert_eq!(state["stack"][0]["function"], "f", "{state}");
        let constraint = state["constraint"].to_string();
        assert!(constraint.contains("x >= 11") && constraint.contains('y'), "{constraint}");
        let variables = state["stack"][0]["variables"].as_array().expect("variables");
        let list = variables.iter().find(|v| v["name"] == "list").expect("list");
        let objects = state["objects"].as_array().expect("objects");
        let named = |id: &serde_json::Value| objects.iter().find(|o| o["id"] == *id).expect("an object");
        let second = named(&list["object"]);
        assert_eq!((&second["kind"], &second["cells"][0]["value"]), (&"heap".into(), &"41".into()), "{second}");
        let next = second["cells"].as_array().expect("cells").iter().find(|c| !c["object"].is_null()).expect("next");
        assert_eq!(named(&next["object"])["cells"][0]["value"], "40");
        assert!(state["end"].as_str().is_some_and(|e| e.starts_with("abort")), "{}", state["end"]);
        assert_eq!(server.json("/api/run")["finished"], true);
    }
}

#[test]
fn a_freed_block_is_shown_where_its_use_fails() {
    let place = tempfile::tempdir().expect("a directory");
    let source = "void *malloc(unsigned long);\nvoid free(void *);\nint f(int x) {\n  int *p = malloc(4);\n  \
        if (!p)\n    return 0;\n  *p = x;\n  free(p);\n  return *p;\n}\n";
    std::fs::write(place.path().join("a.c"), source).expect("a program");
    let out = pleach(&["test", "a.c", "--entry", "f", "--output-dir", "run"], place.path());
    assert!(text(&out).contains("use-after-free"), "{}", text(&out));
    let server = Server::start(place.path());
    let state = server.json(&format!("/api/node/{}", failing_node(&place.path().join("run"))));
    let block = &state["objects"].as_array().expect("objects")[0];
    assert_eq!((&block["kind"], &block["freed"]), (&"heap".into(), &true.into()), "{state}");
    assert_eq!(state["stack"][0]["line"], 9, "{state}");
}

#[test]
fn only_this_machine_is_served() {
    let place = explored(&[]);
    let server = Server::start(place.path());
    let (status, page) = server.get("/", &server.address);
    assert_eq!(status, 200);
    assert!(page.contains("connect-src 'self'") && page.contains("\"served\":true"));
    assert_eq!(server.get("/", "example.org").0, 403);
    assert_eq!(server.get("/api/node/0", "example.org:80").0, 403);
    let (status, body) = server.get("/api/node/99999", &server.address);
    assert_eq!((status, body.contains("no node 99999")), (404, true), "{body}");
    assert_eq!(server.get("/api/node/x", &server.address).0, 400);
    assert_eq!(server.get("/../etc/passwd", &server.address).0, 404);
}

#[test]
fn a_trace_has_lines_and_values() {
    let place = explored(&[]);
    let out = pleach(&["replay", "run/test000001.ktest", "--trace"], place.path());
    let said = text(&out);
    assert!(out.status.success(), "{said}");
    for part in ["a.c:4: ", "struct node *list = 0;", "i = 1", "a.c:10: ", "n->next = list;"] {
        assert!(said.contains(part), "{part}\n{said}");
    }
}

#[test]
fn seeds_are_followed_first() {
    let place = tempfile::tempdir().expect("a directory");
    let source = "int LLVMFuzzerTestOneInput(const unsigned char *d, unsigned long n) {\n  int sum = 0;\n  \
        for (unsigned long i = 0; i < n; i++)\n    if (d[i] > 'm')\n      sum++;\n  if (n == 6 && d[0] == 'M' && \
        d[1] == 'A' && d[2] == 'G')\n    return sum == 3 ? 7 : 8;\n  return 0;\n}\n";
    std::fs::write(place.path().join("a.c"), source).expect("a program");
    for (directory, name, bytes) in [("corpus", "a", "MAGxyz"), ("sync/main/queue", "id:000000,orig:a", "MAGxyz")] {
        std::fs::create_dir_all(place.path().join(directory)).expect("a directory");
        std::fs::write(place.path().join(directory).join(name), bytes).expect("a seed");
    }
    for (number, flag) in [["--seed-corpus", "corpus"], ["--afl-sync", "sync"]].into_iter().enumerate() {
        let run = format!("run{number}");
        let args = [&["test", "a.c", "--max-tests", "1", "--output-dir", &run], &flag[..]].concat();
        let out = pleach(&args, place.path());
        let corpus = format!("out{number}");
        let exported = pleach(&["export", &run, "--format", "raw", "--output", &corpus], place.path());
        assert!(exported.status.success(), "{}{}", text(&out), text(&exported));
        let first = std::fs::read(place.path().join(corpus).join("test000001")).expect("a test");
        assert!(first.starts_with(b"MAG") && first[3..].iter().all(|b| *b > b'm'), "{first:?}");
    }
    let queue = std::fs::read_dir(place.path().join("sync/pleach/queue")).expect("a queue");
    assert_eq!(queue.count(), 1);
    // Seeds change the order and nothing else.
    let count = |flags: &[&str], run: &str| {
        let args = [&["test", "a.c", "--max-fuzz-size", "4", "--output-dir", run, "--json"], flags].concat();
        let summary: serde_json::Value = serde_json::from_slice(&pleach(&args, place.path()).stdout).expect("JSON");
        (summary["paths"].to_string(), summary["covered"].to_string(), summary["complete"].to_string())
    };
    assert_eq!(count(&["--seed-corpus", "corpus"], "with"), count(&[], "without"));
    let none = pleach(&["test", "a.c", "--seed-corpus", "nothing"], place.path());
    assert_eq!(none.status.code(), Some(2), "{}", text(&none));
}

#[test]
fn a_run_from_every_function() {
    let place = tempfile::tempdir().expect("a directory");
    let source = "static int g(int a) { return 10 / a; }\nint h(int x) { return x > 0 ? g(x) : 0; }\n\
        int main(void) { return h(2); }\n";
    std::fs::write(place.path().join("a.c"), source).expect("a program");
    let out = pleach(&["test", "a.c", "--all-entries", "--output-dir", "all", "--json", "-q"], place.path());
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    let rows: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let rows = rows.as_array().expect("rows");
    let seen: Vec<_> = rows.iter().map(|r| (r["entry"].as_str(), r["errors"].as_array().map(Vec::len))).collect();
    assert_eq!(seen, [(Some("g"), Some(1)), (Some("h"), Some(0)), (Some("main"), Some(0))]);
    let replayed = pleach(&["replay", "all/g", "--all"], place.path());
    assert!(text(&replayed).contains("2 agree, 0 disagree"), "{}", text(&replayed));
    let clash = pleach(&["test", "a.c", "--all-entries", "--entry", "g"], place.path());
    assert_eq!(clash.status.code(), Some(2));
}

/// A run that its limit ends in the middle of a step ends its process, one that is asked between steps does not: on a
/// machine with other work it is the first. In both cases the functions behind it have their runs.
#[test]
fn functions_behind_one_that_is_ended() {
    let place = tempfile::tempdir().expect("a directory");
    let source = "#include <string.h>\nstatic char big[1 << 26];\nint a(int x) { return x > 3; }\n\
        int b(int x) {\n  for (int i = 0; i < 1000; i++) {\n    memset(big, i, sizeof big);\n    big[x & 255] = 1;\n    \
        memmove(big + 1, big, sizeof big - 1);\n  }\n  return big[5];\n}\n\
        int c(int x) { return 10 / (x + 1); }\nint d(int x) { return x; }\n";
    std::fs::write(place.path().join("a.c"), source).expect("a program");
    let flags = ["--all-entries", "--output-dir", "all", "--json", "-q", "--max-memory", "100", "--max-time", "30s"];
    let out = pleach(&[&["test", "a.c"][..], &flags].concat(), place.path());
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    let rows: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let rows = rows.as_array().expect("rows");
    let seen: Vec<_> = rows.iter().map(|r| (r["entry"].as_str(), r["complete"].as_bool())).collect();
    assert_eq!(seen, [("a", true), ("b", false), ("c", true), ("d", true)].map(|(n, c)| (Some(n), Some(c))));
    let read = |file: &str| -> serde_json::Value {
        let text = std::fs::read(place.path().join("all").join(file)).expect("a file");
        serde_json::from_slice(&text).expect("JSON")
    };
    let summary = read("b/summary.json");
    assert_eq!(summary["cut"][0]["reason"], "max-memory");
    let said = summary["warnings"].to_string();
    assert!(said.contains("in the middle of a step") || said.contains("states were dropped"), "{said}");
    assert_eq!(read("entries.json").as_array().map(Vec::len), Some(4));
    // What is not explored to the end has a status, if nothing else has.
    let alone = source.replace("10 / (x + 1)", "x");
    std::fs::write(place.path().join("a.c"), alone).expect("a program");
    let again = [&["test", "a.c", "--require-complete"][..], &flags[..2], &["again"], &flags[3..]].concat();
    let again = pleach(&again, place.path());
    assert_eq!(again.status.code(), Some(3), "{}", text(&again));
}

#[test]
fn a_run_under_way_is_followed() {
    let place = tempfile::tempdir().expect("a directory");
    let source = "int f(unsigned char *s) {\n  int n = 0;\n  for (int i = 0; i < 40; i++)\n    if (s[i] > 'a')\n      \
        n++;\n  return n;\n}\n";
    std::fs::write(place.path().join("a.c"), source).expect("a program");
    let mut run = Command::new(env!("CARGO_BIN_EXE_pleach"))
        .args(["test", "a.c", "--entry", "f", "--param", "s:bytes[40]", "--output-dir", "run", "-q"])
        .current_dir(place.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("pleach runs");
    let begun = std::time::Instant::now();
    while !place.path().join("run/tree.bin").exists() {
        assert!(begun.elapsed().as_secs() < 60, "the run does not begin");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let server = Server::start(place.path());
    let nodes = |server: &Server| server.json("/api/run")["nodes"].as_u64().expect("a number");
    let before = nodes(&server);
    let first = server.json("/api/data");
    assert_eq!((&first["data"]["live"], &first["data"]["cuts"]), (&true.into(), &serde_json::json!([])));
    while nodes(&server) <= before {
        assert!(begun.elapsed().as_secs() < 90, "the tree does not grow");
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    assert!(server.get("/", &server.address).1.contains("follow(window.page)"));
    let interrupted = Command::new("kill").args(["-INT", &run.id().to_string()]).status();
    assert!(interrupted.is_ok_and(|s| s.success()));
    run.wait().expect("it ends");
    let last = server.json("/api/data");
    assert_eq!(last["data"]["live"], false);
    assert_eq!(last["data"]["cuts"][0]["reason"], "interrupted", "{}", last["data"]["cuts"]);
    assert_eq!(server.json("/api/run")["finished"], true);
}

/// Memory, Fig. 1.8: the first call of a chain finds its character at k1, the second one k3 + 1 behind it. (k2 counts
/// the rounds of the first call's states that found none.)
#[test]
fn offsets_in_a_chain_of_scans_are_sums_of_counters() {
    let place = tempfile::tempdir().expect("a directory");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/merging/pattern_strchr.c");
    let program = program.to_str().expect("a path");
    let out = pleach(&["test", program, "--merge=pattern", "--output-dir", "run"], place.path());
    assert_eq!(out.status.code(), Some(0), "{}", text(&out));
    let explained = text(&pleach(&["explain", "run"], place.path()));
    for wanted in [
        "k1 <= 10 && (forall i < k1: (s[i] != 0) && (s[i] != 47)) && s[k1] == 47\n",
        "k3 <= 9 && (forall i < k3: (s[(k1 + i) + 1] != 0) && (s[(k1 + i) + 1] != 47)) && s[(k1 + k3) + 1] == 47\n",
    ] {
        assert!(explained.contains(wanted), "{wanted}: {explained}");
    }
}
