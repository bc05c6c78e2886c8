//! Inputs that are wrong or too much: a clear message, the right exit code, no panic, bounded memory and time.

use pleach_testkit::engine::{Finished, pleach_within};
use pleach_testkit::scratch::Scratch;
use std::process::Command;
use std::time::Duration;

/// Address space for each run, in MiB. The engine's own limit is 2000 MB of use.
const MEMORY: u64 = 8192;
const TIME: Duration = Duration::from_secs(60);

/// Files of a little world, and the arguments of a run in it.
fn run(files: &[(&str, &[u8])], args: &[&str]) -> Finished {
    let world = world(files);
    pleach_within(MEMORY, args, world.path(), TIME).unwrap()
}

fn world(files: &[(&str, &[u8])]) -> Scratch {
    let world = Scratch::new("hostile");
    for (name, contents) in files {
        std::fs::write(world.file(name), contents).unwrap();
    }
    world
}

#[track_caller]
fn ends(finished: &Finished, code: i32, text: &str) {
    let output = finished.output();
    assert!(!finished.crashed(), "it crashed:\n{output}");
    assert!(!finished.timed_out, "it did not end within {TIME:?}:\n{output}");
    assert_eq!(finished.code, Some(code), "{output}");
    assert!(output.contains(text), "`{text}` is not in the output:\n{output}");
}

const FINE: &[u8] = b"int main(void) { return 0; }\n";

#[test]
fn a_file_that_is_not_there() {
    ends(&run(&[], &["test", "nowhere.c"]), 2, "nowhere.c");
    ends(&run(&[], &["test", "nowhere.bc"]), 2, "nowhere.bc");
    ends(&run(&[], &["replay", "nowhere.ktest"]), 2, "");
    ends(&run(&[], &["export", "nowhere"]), 2, "nowhere");
}

#[test]
fn an_empty_file() {
    ends(&run(&[("empty.c", b"")], &["test", "empty.c"]), 2, "empty.c");
    ends(&run(&[("empty.bc", b"")], &["test", "empty.bc"]), 2, "empty.bc");
    ends(&run(&[("empty.ll", b"")], &["test", "empty.ll"]), 2, "empty.ll");
}

#[test]
fn a_directory() {
    let world = world(&[]);
    for name in ["folder.c", "folder.bc"] {
        std::fs::create_dir(world.file(name)).unwrap();
        ends(&pleach_within(MEMORY, &["test", name], world.path(), TIME).unwrap(), 2, name);
    }
}

#[test]
fn c_that_does_not_compile() {
    let finished = run(&[("wrong.c", b"int main(void) { return x }\n")], &["test", "wrong.c"]);
    ends(&finished, 2, "wrong.c:1:");
}

#[test]
fn bytes_that_are_no_bitcode() {
    let noise: Vec<u8> = (0..4000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    ends(&run(&[("noise.bc", &noise)], &["test", "noise.bc"]), 2, "noise.bc");
    ends(&run(&[("noise.ll", b"define i32 @main( {")], &["test", "noise.ll"]), 2, "noise.ll");
    ends(&run(&[("noise.c", &noise)], &["test", "noise.c"]), 2, "noise.c");
}

#[test]
fn truncated_bitcode() {
    let world = world(&[("fine.c", b"int g[9];\nint main(int c, char **v) { return g[c] + (c ? v[0][0] : 0); }\n")]);
    let bitcode = world.file("fine.bc");
    let mut clang = Command::new("clang-19");
    assert!(clang.args(["-c", "-emit-llvm", "-g", "fine.c"]).current_dir(world.path()).status().unwrap().success());
    let whole = std::fs::read(&bitcode).unwrap();
    for part in [1, 3, 5, 7, 9] {
        let cut = whole.len() * part / 10;
        std::fs::write(world.file("cut.bc"), &whole[..cut]).unwrap();
        ends(&pleach_within(MEMORY, &["test", "cut.bc"], world.path(), TIME).unwrap(), 2, "cut.bc");
    }
    // One changed byte may still be a program; it must not be a crash.
    for at in (40..whole.len()).step_by(whole.len() / 12) {
        let mut changed = whole.clone();
        changed[at] ^= 0x55;
        std::fs::write(world.file("changed.bc"), &changed).unwrap();
        let args = ["test", "changed.bc", "--max-time=5s"];
        let finished = pleach_within(MEMORY, &args, world.path(), TIME).unwrap();
        assert!(!finished.crashed() && !finished.timed_out, "byte {at}:\n{}", finished.output());
    }
}

#[test]
fn a_missing_entry() {
    ends(&run(&[("a.c", b"int f(void) { return 0; }\n")], &["test", "a.c"]), 2, "main");
    ends(&run(&[("a.c", FINE)], &["test", "a.c", "--entry", "missing"]), 2, "missing");
    let declared = b"int f(int);\nint main(void) { return f(1); }\n";
    ends(&run(&[("a.c", declared)], &["test", "a.c", "--entry", "f"]), 2, "f");
}

#[test]
fn flags_that_make_no_sense() {
    for flags in [&["--search=best"][..], &["--max-time=soon"], &["--check=everything"], &["--no-such-flag"]] {
        let mut args = vec!["test", "a.c"];
        args.extend(flags);
        ends(&run(&[("a.c", FINE)], &args), 2, "");
    }
    ends(&run(&[], &["test"]), 2, "");
}

#[test]
fn flags_about_memory_that_would_do_nothing() {
    for (flags, why) in [
        (&["--resolution=foo"][..], "fork, ite, segments-dynamic, segments-static"),
        (&["--split-objects", "--split-size=12"], "--split-size must be a multiple of 8 and more than 0, not 12"),
        (&["--split-objects", "--split-size=0"], "--split-size must be a multiple of 8 and more than 0, not 0"),
        (&["--split-size=64"], "--split-size needs --split-objects"),
        (&["--resolution-context=2"], "--resolution-context needs --resolution=segments-dynamic"),
        (&["--no-segment-reuse"], "--no-segment-reuse needs --resolution=segments-dynamic or segments-static"),
        (&["--check-resolution"], "--check-resolution needs another --resolution than fork, or --split-objects"),
        (&["--check-cache"], "--check-cache needs --query-cache=address-aware"),
    ] {
        let mut args = vec!["test", "a.c"];
        args.extend(flags);
        ends(&run(&[("a.c", FINE)], &args), 2, why);
    }
}

#[test]
fn a_recursion_bomb() {
    let bomb = b"int f(int n) { return f(n + 1) + f(n + 2); }\nint main(void) { return f(0); }\n";
    ends(&run(&[("bomb.c", bomb)], &["test", "bomb.c"]), 1, "stack-overflow");
}

#[test]
fn a_path_bomb_ends_in_time() {
    let bomb = b"#include <klee/klee.h>\nint main(void) {\n  int s = 0;\n  for (;;) {\n    \
        unsigned char c;\n    klee_make_symbolic(&c, 1, \"c\");\n    if (c > 9)\n      s++;\n  }\n}\n";
    let finished = run(&[("bomb.c", bomb)], &["test", "bomb.c", "--max-time=3s"]);
    ends(&finished, 3, "");
    assert!(finished.elapsed < Duration::from_secs(15), "{:?}", finished.elapsed);
}

#[test]
fn a_local_of_one_gibibyte() {
    let huge = b"#include <string.h>\nint main(void) {\n  char a[1 << 30];\n  a[5] = 1;\n  return a[5];\n}\n";
    ends(&run(&[("huge.c", huge)], &["test", "huge.c"]), 1, "stack-overflow");
}

#[test]
fn a_symbolic_array_of_one_mebibyte() {
    let large = b"#include <klee/klee.h>\n#include <stdlib.h>\nint main(void) {\n  \
        char *a = malloc(1 << 20);\n  if (!a)\n    return 9;\n  klee_make_symbolic(a, 1 << 20, \"a\");\n  \
        if (a[77777] == 'x')\n    return 1;\n  return 0;\n}\n";
    let finished = run(&[("large.c", large)], &["test", "large.c", "--max-time=30s"]);
    ends(&finished, 0, "2 paths");
}

#[test]
fn a_global_larger_than_memory() {
    let large = b"char a[1ul << 40];\nint main(void) { return a[5]; }\n";
    let finished = run(&[("large.c", large)], &["test", "large.c", "--max-time=10s"]);
    assert!(!finished.crashed() && !finished.timed_out, "{}", finished.output());
}

#[test]
fn an_output_directory_that_cannot_be_used() {
    ends(&run(&[("a.c", FINE)], &["test", "a.c", "--output-dir", "a.c"]), 2, "a.c");
    ends(&run(&[("a.c", FINE)], &["test", "a.c", "--output-dir", "/proc/pleach"]), 2, "/proc/pleach");
    let world = world(&[("a.c", FINE)]);
    std::fs::create_dir(world.file("full")).unwrap();
    std::fs::write(world.file("full/something"), "mine").unwrap();
    let finished = pleach_within(MEMORY, &["test", "a.c", "--output-dir", "full"], world.path(), TIME).unwrap();
    ends(&finished, 2, "full");
    assert_eq!(std::fs::read_to_string(world.file("full/something")).unwrap(), "mine");
}

#[test]
fn runs_without_a_name_count_up() {
    let world = world(&[("a.c", FINE)]);
    for n in 0..2 {
        ends(&pleach_within(MEMORY, &["test", "a.c"], world.path(), TIME).unwrap(), 0, "1 path");
        assert!(world.file(&format!("pleach-out-{n}/summary.json")).is_file());
    }
    assert_eq!(std::fs::read_link(world.file("pleach-last")).unwrap().to_str(), Some("pleach-out-1"));
}

#[test]
fn damaged_tests() {
    let world = world(&[("a.c", FINE)]);
    ends(&pleach_within(MEMORY, &["test", "a.c", "--output-dir", "run"], world.path(), TIME).unwrap(), 0, "");
    for damage in [&b""[..], b"KTEST", b"KTEST\0\0\0\x03\xff\xff\xff\xff\xff\xff\xff\xff"] {
        std::fs::write(world.file("run/test000009.ktest"), damage).unwrap();
        let finished = pleach_within(MEMORY, &["replay", "run/test000009.ktest"], world.path(), TIME).unwrap();
        ends(&finished, 2, "");
    }
}

#[test]
fn properties_that_are_none() {
    let files: &[(&str, &[u8])] =
        &[("a.c", FINE), ("zeros.prp", &[0; 5000]), ("empty.prp", b"\n\n"), ("latin.prp", b"\xff\xfe")];
    for (property, says) in [
        ("zeros.prp", "zeros.prp, line 1: expected `CHECK`"),
        ("empty.prp", "there is no property in this file"),
        ("latin.prp", "latin.prp, line 1"),
        ("missing.prp", "cannot read the property file missing.prp"),
        ("no-such-thing", "there is no property `no-such-thing`"),
        ("", "there is no property ``"),
    ] {
        ends(&run(files, &["verify", "a.c", "-p", property]), 2, says);
    }
    let world = world(files);
    std::fs::create_dir(world.file("folder.prp")).unwrap();
    let finished = pleach_within(MEMORY, &["verify", "a.c", "-p", "folder.prp"], world.path(), TIME).unwrap();
    ends(&finished, 2, "cannot read the property file folder.prp");
}

#[test]
fn targets_that_are_none() {
    let files: &[(&str, &[u8])] = &[("a.c", FINE), ("b.ll", b"define i32 @main() {\n  ret i32 0\n}\n")];
    for (target, says) in [
        ("a.c:77", "a.c:77 has no code; the nearest line with code is 1"),
        ("a.c:99999999999999999999", "is no target"),
        ("b.c:1", "the program has no source file `b.c`"),
        ("f", "the program has no function `f`; it has main"),
        ("label:L", "it has no labels"),
        ("\u{1f333}:\u{1f333}", "is no target"),
        ("", "is no target"),
    ] {
        ends(&run(files, &["reach", "a.c", "-t", target]), 2, says);
    }
    ends(&run(files, &["reach", "a.c", "--all-asserts"]), 2, "the program has no assertions");
    ends(&run(files, &["reach", "a.c"]), 2, "--target");
    // Without debug information there are functions, but no lines.
    ends(&run(files, &["reach", "b.ll", "-t", "main", "--no-replay"]), 0, "reachable");
    ends(&run(files, &["reach", "b.ll", "-t", "b.ll:1"]), 2, "the program has no source file `b.ll`; it has none");
}
