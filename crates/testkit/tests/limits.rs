//! Limits on time, processor time and memory, and runs that end before their time. The bounds are wide: machines may be
//! busy. `bench/limits` measures.

use pleach_testkit::engine::{Finished, binary, pleach, run};
use pleach_testkit::scratch::Scratch;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const TIME: Duration = Duration::from_secs(60);
/// For runs of two seconds and 200 MB.
const LATE: Duration = Duration::from_secs(20);
const LARGE: f64 = 300e6;

/// An error soon, and paths without end.
const BOMB: &str = "#include <klee/klee.h>\nint main(void) {\n  int s = klee_int(\"s\");\n  if (s == 77)\n    \
    klee_report_error(\"bomb.c\", 5, \"found\", \"user\");\n  for (;;) {\n    unsigned char c;\n    \
    klee_make_symbolic(&c, 1, \"c\");\n    if (c > 9)\n      s++;\n    if (c == 3)\n      return 0;\n    if (c == 77)\n      s += 2;\n  }\n}\n";

fn world(files: &[(&str, &str)]) -> Scratch {
    let world = Scratch::new("limits");
    for (name, text) in files {
        std::fs::write(world.file(name), text).unwrap();
    }
    world
}

#[track_caller]
fn says(finished: &Finished, code: i32, text: &str) {
    let output = finished.output();
    assert!(!finished.crashed() && !finished.timed_out, "it did not end well:\n{output}");
    assert_eq!(finished.code, Some(code), "{output}");
    assert!(output.contains(text), "`{text}` is not in the output:\n{output}");
}

fn json(path: &Path) -> serde_json::Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// The program as a body of `main`.
fn main(body: &str) -> String {
    format!("#include <klee/klee.h>\n#include <stdlib.h>\n#include <string.h>\nint main(void) {{ {body} return 0; }}\n")
}

#[test]
fn hostile_programs_keep_their_limits() {
    let index = "unsigned i = klee_int(\"i\"); if (i >= 500000000) return 0;";
    let programs: &[(&str, String, &[&str])] = &[
        ("store", main(&format!("char *p = malloc(500000000); {index} p[i] = 1; if (p[i / 2]) return 1;")), &[]),
        (
            "filled",
            main(&format!(
                "char *p = malloc(500000000); for (unsigned k = 0; k < 500000000; k += 64) p[k] = k; {index} p[i] = 1;"
            )),
            &[],
        ),
        (
            "copy",
            main(
                "char *p = malloc(500000000), *q = malloc(500000000); memcpy(q, p, 500000000); memmove(p + 1, q, 499999999);",
            ),
            &[],
        ),
        (
            "input",
            main("char *p = malloc(500000000); klee_make_symbolic(p, 500000000, \"p\"); if (p[3] == 1) return 1;"),
            &[],
        ),
        ("list", main("for (;;) { char *p = malloc(5000); memset(p, 1, 5000); }"), &["--prune"]),
        (
            "query",
            main(
                "unsigned long a = klee_int(\"a\"), b = klee_int(\"b\"); if (a > 1 && b > 1 && a * b == 1000000016000000063ul) return 1;",
            ),
            &[],
        ),
        ("states", BOMB.to_owned(), &["--search=bfs"]),
        ("pruned", BOMB.to_owned(), &["--prune"]),
        ("written", BOMB.to_owned(), &["--write-all-tests"]),
    ];
    for (name, source, flags) in programs {
        let world = world(&[("a.c", source)]);
        let mut args = vec!["test", "a.c", "--max-time=2s", "--max-memory=200", "--output-dir=run"];
        args.extend(*flags);
        let finished = pleach(args, world.path(), TIME).unwrap();
        let output = finished.output();
        assert!(
            !finished.crashed() && !finished.timed_out && matches!(finished.code, Some(0 | 1 | 3)),
            "{name}: {output}"
        );
        assert!(finished.elapsed < LATE, "{name}: {:?}", finished.elapsed);
        let peak = json(&world.file("run/timing.json"))["memory_peak_bytes"].as_f64().unwrap();
        assert!(peak < LARGE, "{name}: {peak} bytes");
        let summary = json(&world.file("run/summary.json"));
        let cut = summary["cut"].as_array().unwrap();
        assert_eq!(cut.is_empty(), summary["complete"].as_bool().unwrap(), "{name}: {output}");
    }
}

/// A table that doubles takes as much at once as it took until then; no poll sees that in time.
#[test]
fn a_table_does_not_double_beyond_the_memory_limit() {
    let text = main(
        "static int table[64]; unsigned s = 1; \
         for (;;) { unsigned char c; klee_make_symbolic(&c, 1, \"c\"); s += table[c % 64]; }",
    );
    let world = world(&[("table.c", &text)]);
    let args = ["test", "table.c", "--max-time=60s", "--max-memory=200", "--output-dir=run"];
    let finished = pleach(args, world.path(), TIME).unwrap();
    says(&finished, 3, "memory limit");
    let peak = json(&world.file("run/timing.json"))["memory_peak_bytes"].as_f64().unwrap();
    assert!(peak < 210e6, "{peak} bytes");
}

/// Rewriting and bit-blasting are part of a query's budget: what is large waits like what is hard.
#[test]
fn a_query_that_is_large_does_not_stall_the_others() {
    let large = "unsigned long y = x; for (int i = 0; i < 3000; i++) y = ((y >> 3) ^ (x + 3 * i)) + y; \
        if (y < 12345678901ul) return 1; return 2;";
    let others = "int r = 0; for (int i = 0; i < 8; i++) if (c[i] > 100 + i) r += i; return r + 10;";
    let text = main(&format!(
        "unsigned long x; unsigned char c[8]; klee_make_symbolic(&x, sizeof x, \"x\"); \
         klee_make_symbolic(c, sizeof c, \"c\"); if (klee_range(0, 2, \"large\") == 1) {{ {large} }} {others}"
    ));
    let world = world(&[("large.c", &text)]);
    for search in ["dfs", "bfs"] {
        let args = ["test", "large.c", "--max-time=5s", "--search", search, "--output-dir", search];
        let finished = pleach(args, world.path(), TIME).unwrap();
        says(&finished, 0, "not everything was explored");
        // The others, and the side of the large one that its example takes.
        assert_eq!(
            json(&world.file(search).join("summary.json"))["paths"]["completed"],
            257,
            "{search}:\n{}",
            finished.output()
        );
    }
}

/// Rewriting and bit-blasting poll nothing. At the time limit the query is given up, and the run comes to its own end:
/// with the tests of all that waits.
#[test]
fn a_query_that_is_large_is_given_up() {
    let text = main(
        "unsigned long x; unsigned char c[3]; klee_make_symbolic(&x, sizeof x, \"x\"); \
         klee_make_symbolic(c, sizeof c, \"c\"); unsigned long y = x; \
         for (int i = 0; i < 3; i++) if (c[i] > 100 + i) y += i + 1; \
         for (int i = 0; i < 20000; i++) y = ((y >> 3) ^ (x + 3 * i)) + y; if (y < 12345678901ul) return 1;",
    );
    let world = world(&[("large.c", &text)]);
    for solver in ["bitwuzla", "z3"] {
        let flags = ["--max-time=4s", "--query-budget=0", "--search=bfs", "--solver", solver, "--output-dir", solver];
        let finished = pleach([&["test", "large.c"][..], &flags].concat(), world.path(), TIME).unwrap();
        says(&finished, 3, "the time limit (--max-time) was reached; 9 paths were not explored to the end");
        assert!(finished.elapsed < LATE, "{solver}: {:?}", finished.elapsed);
        let summary = json(&world.file(solver).join("summary.json"));
        assert_eq!(summary["tests"], 9, "{solver}: {summary}");
        let warnings = summary["warnings"].to_string();
        assert!(!warnings.contains("middle of a step"), "{solver}: {warnings}");
    }
}

/// States that wait for a larger budget are evicted like others.
#[test]
fn deferred_states_keep_the_memory_limit() {
    let text = main(
        "unsigned long a, b; unsigned char c[9]; unsigned r = 0; klee_make_symbolic(&a, sizeof a, \"a\"); \
         klee_make_symbolic(&b, sizeof b, \"b\"); klee_make_symbolic(c, sizeof c, \"c\"); \
         for (int i = 0; i < 9; i++) if (c[i] > 100) r |= 1u << i; \
         unsigned char *p = malloc(1 << 20); for (int k = 0; k < 1 << 20; k += 1024) p[k] = k + r; \
         if (a > 1 && b > 1 && a < 1ul << 32 && b < 1ul << 32 && a * b == 4611685846628697223ul + 2 * r) return p[r]; \
         return 2;",
    );
    let world = world(&[("waiting.c", &text)]);
    let flags = ["--max-time=15s", "--max-memory=150", "--query-budget=1", "--search=dfs", "--output-dir=run"];
    let finished = pleach([&["test", "waiting.c"][..], &flags].concat(), world.path(), TIME).unwrap();
    let summary = json(&world.file("run/summary.json"));
    assert!(summary["evicted"].as_u64().unwrap() > 100, "{}", finished.output());
    // All 512 come to their queries.
    assert!(summary["paths"]["completed"].as_u64().unwrap() >= 512, "{}", finished.output());
    let peak = json(&world.file("run/timing.json"))["memory_peak_bytes"].as_f64().unwrap();
    assert!(peak < 180e6, "{peak} bytes");
}

#[test]
fn a_compilation_that_takes_too_long() {
    let doubling: String =
        ('A'..'I').map(|c| format!("#define {} {c},{c},{c},{c},{c},{c},{c},{c}\n", (c as u8 + 1) as char)).collect();
    let world = world(&[("a.c", &format!("#define A x+x\n{doubling}int x;\nint main(void) {{ return (I); }}\n"))]);
    let finished = pleach(["test", "a.c", "--max-time=1s"], world.path(), TIME).unwrap();
    says(&finished, 3, "the time limit (--max-time) was reached before the exploration began");
    assert!(finished.elapsed < LATE, "{:?}", finished.elapsed);
    // Clang is ended by the system here, and prints what it says of a crash.
    let mut command = Command::new("bash");
    command.args(["-c", "ulimit -S -t 1; exec \"$0\" test a.c"]).arg(binary().unwrap()).current_dir(world.path());
    let finished = run(&mut command, TIME).unwrap();
    says(&finished, 3, "the time was up (--max-time, ulimit -t) before the program was compiled");
    assert!(!finished.output().contains("Stack dump"), "{}", finished.output());
}

#[test]
fn processor_time_that_the_system_limits() {
    let world = world(&[("bomb.c", BOMB)]);
    for (limits, dir) in [("ulimit -S -t 2; ulimit -H -t 20", "soft"), ("ulimit -t 4", "hard")] {
        let mut command = Command::new("bash");
        command.arg("-c").arg(format!("{limits}; exec \"$0\" \"$@\"")).arg(binary().unwrap());
        command.args(["test", "bomb.c", "--output-dir", dir]).current_dir(world.path());
        says(&run(&mut command, TIME).unwrap(), 1, "the limit on processor time (ulimit -t) was reached");
        assert_eq!(json(&world.file(dir).join("summary.json"))["errors"].as_array().unwrap().len(), 1);
    }
}

/// The program, with signals as a terminal has them: who runs the tests may ignore some.
fn started_afresh() -> Command {
    let mut command = Command::new("env");
    command.arg("--default-signal=INT,HUP,TERM").arg(binary().unwrap());
    command
}

/// A run that has found the error and goes on.
fn going_on(world: &Scratch) -> Child {
    let mut command = started_afresh();
    command.args(["test", "bomb.c", "--output-dir=run"]).current_dir(world.path());
    let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    let packed = || std::fs::metadata(world.file("run/tests.pack")).is_ok_and(|m| m.len() > 100);
    let found = || {
        std::fs::read_dir(world.file("run"))
            .is_ok_and(|d| d.flatten().any(|e| e.path().extension() == Some("err".as_ref())))
    };
    while !(found() && packed()) {
        assert!(start.elapsed() < TIME, "nothing was found");
        std::thread::sleep(Duration::from_millis(20));
    }
    child
}

/// By the shell's own `kill`: an empty Debian has no other.
fn signal(child: &Child, name: &str) {
    let mut shell = Command::new("bash");
    shell.args(["-c", "kill -s \"$0\" \"$1\"", name, &child.id().to_string()]);
    assert!(shell.status().unwrap().success());
}

#[test]
fn a_run_that_is_killed() {
    let world = world(&[("bomb.c", BOMB)]);
    let mut child = going_on(&world);
    let report = || pleach(["report", "run"], world.path(), TIME).unwrap();
    says(&report(), 0, "The run is still going on.");
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!world.file("run/summary.json").exists());
    let said = report();
    says(&said, 0, "The run was killed, or could not write its results.");
    says(&said, 0, "user at bomb.c:5");
    let summary = json(&world.file("run/summary.json"));
    assert_eq!((&summary["verdict"], &summary["complete"]), (&"unsafe".into(), &false.into()));
    assert_eq!(summary["cut"][0]["reason"], "killed");
    says(&report(), 0, "The run was killed.");
    // Damage is read up to where it is.
    for name in ["tests.pack", "tree.bin", "stats.db"] {
        let whole = std::fs::read(world.file("run").join(name)).unwrap();
        std::fs::write(world.file("run").join(name), &whole[..whole.len() * 2 / 3]).unwrap();
    }
    std::fs::remove_file(world.file("run/summary.json")).unwrap();
    says(&report(), 0, "user at bomb.c:5");
}

#[test]
fn a_run_that_is_interrupted() {
    // Without an error the status says what happened.
    let plain = BOMB.replace("klee_report_error(\"bomb.c\", 5, \"found\", \"user\")", "s++");
    for (name, code, source) in
        [("INT", 1, BOMB), ("HUP", 1, BOMB), ("TERM", 143, &plain), ("HUP", 129, &plain), ("INT", 130, &plain)]
    {
        let world = world(&[("bomb.c", source)]);
        let mut child = match code {
            1 => going_on(&world),
            _ => {
                let mut command = started_afresh();
                command.args(["test", "bomb.c", "--output-dir=run"]).current_dir(world.path());
                let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
                let start = Instant::now();
                while !world.file("run/stats.db").exists() && start.elapsed() < TIME {
                    std::thread::sleep(Duration::from_millis(20));
                }
                std::thread::sleep(Duration::from_millis(200));
                child
            }
        };
        signal(&child, name);
        assert_eq!(child.wait().unwrap().code(), Some(code), "{name}");
        let summary = json(&world.file("run/summary.json"));
        assert_eq!(summary["complete"], false);
        assert!(summary["cut"].as_array().unwrap().iter().any(|c| c["reason"] == "interrupted"), "{name}: {summary}");
        says(&pleach(["report", "run"], world.path(), TIME).unwrap(), 0, "interrupted");
    }
}

#[test]
fn a_disk_that_is_full() {
    let world = world(&[("bomb.c", BOMB)]);
    let mut command = Command::new("bash");
    command.arg("-c").arg("ulimit -f 64; exec \"$0\" \"$@\"").arg(binary().unwrap());
    command.args(["test", "bomb.c", "--max-time=20s", "--output-dir=run"]).current_dir(world.path());
    let finished = run(&mut command, TIME).unwrap();
    says(&finished, 1, "results are incomplete");
    says(&pleach(["report", "run"], world.path(), TIME).unwrap(), 0, "user at bomb.c:5");
}

#[test]
fn names_that_are_not_utf_8() {
    let world = world(&[]);
    let joined = |parts: [&[u8]; 2]| OsStr::from_bytes(&parts.concat()).to_owned();
    let odd = |rest: &str| joined([b"\xff\xfe", rest.as_bytes()]);
    let dir = world.path().join(odd(""));
    std::fs::create_dir_all(dir.join(odd("include"))).unwrap();
    std::fs::write(dir.join(odd("include")).join("n.h"), "#define N 7\n").unwrap();
    let source = "#include <klee/klee.h>\n#include <n.h>\nint main(void) { return klee_int(\"x\") == N; }\n";
    std::fs::write(dir.join(odd("a.c")), source).unwrap();
    let include = joined([b"-I", odd("include").as_bytes()]);
    for (command, more) in
        [("test", &[][..]), ("verify", &["--no-replay"]), ("reach", &["--no-replay", "--all-blocks"])]
    {
        let mut args = vec![command.into(), odd("a.c"), include.clone(), "--output-dir".into(), odd(command)];
        args.extend(more.iter().map(Into::into));
        says(&pleach(args, &dir, TIME).unwrap(), 0, "");
        says(&pleach(["report".into(), odd(command)], &dir, TIME).unwrap(), 0, "");
    }
    let ktest = dir.join(odd("test")).join("test000001.ktest");
    let finished = pleach([OsStr::new("replay"), ktest.as_os_str()], &dir, TIME).unwrap();
    assert!(!finished.crashed(), "{}", finished.output());
    let mut clang = Command::new("clang-19");
    clang.args(["-c", "-emit-llvm"]).arg(&include).arg(odd("a.c")).arg("-o").arg(odd("a.bc")).current_dir(&dir);
    clang.arg(concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../runtime/include"));
    assert!(clang.status().unwrap().success());
    for args in [vec!["klee".into(), odd("a.bc")], vec!["test".into(), odd("missing.c")], vec![odd("nothing")]] {
        let finished = pleach(args, &dir, TIME).unwrap();
        assert!(!finished.crashed() && !finished.timed_out, "{}", finished.output());
    }
}

#[test]
fn inputs_that_are_no_files() {
    let world = world(&[]);
    assert!(Command::new("mkfifo").arg(world.file("pipe.c")).status().unwrap().success());
    for (path, what) in [("/dev/zero", "a device"), ("pipe.c", "a pipe"), (".", "a directory")] {
        for command in ["test", "verify", "ir"] {
            let finished = pleach([command, path], world.path(), TIME).unwrap();
            says(&finished, 2, &format!("{path} cannot be read: it is {what}, not a file"));
            assert_eq!(finished.output().lines().count(), 1, "{}", finished.output());
        }
    }
    says(&pleach(["replay", "/dev/zero"], world.path(), TIME).unwrap(), 2, "it is a device, not a file");
    says(&pleach(["klee", "/dev/zero"], world.path(), TIME).unwrap(), 1, "it is a device, not a file");
}

#[test]
fn every_test_as_a_file() {
    let source = main(
        "unsigned char b[4]; klee_make_symbolic(b, 4, \"b\"); int s = 0; for (int i = 0; i < 4; i++) if (b[i] > 9) s++; return s;",
    );
    let world = world(&[("a.c", &source)]);
    says(
        &pleach(["test", "a.c", "--write-all-tests", "--output-dir=run"], world.path(), TIME).unwrap(),
        0,
        "all 16 paths",
    );
    for n in 1..=16 {
        assert!(world.file(&format!("run/test{n:06}.ktest")).is_file(), "{n}");
    }
    // Those that show nothing new have the rest in the archive.
    let packed = (1..=16).find(|n| !world.file(&format!("run/test{n:06}.json")).exists()).unwrap();
    let path = format!("run/test{packed:06}.ktest");
    says(&pleach(["replay", &path], world.path(), TIME).unwrap(), 0, "The program did what was predicted.");
}
