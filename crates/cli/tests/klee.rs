//! `pleach klee` from outside: command lines, messages and files as KLEE has them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

struct Scratch(TempDir);

impl Scratch {
    fn new() -> Scratch {
        Scratch(tempfile::tempdir().expect("a temporary directory"))
    }

    /// A program as bitcode, with its line numbers.
    fn program(&self, source: &str) -> PathBuf {
        let (c, bc) = (self.0.path().join("prog.c"), self.0.path().join("prog.bc"));
        std::fs::write(&c, source).expect("write");
        let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/include");
        let mut clang = Command::new("clang-19");
        clang.args(["-emit-llvm", "-g", "-O0", "-c", "-I"]).arg(headers).arg("-o").arg(&bc).arg(&c);
        assert!(clang.status().expect("clang-19").success());
        bc
    }

    fn klee(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
        command.arg("klee").args(args).current_dir(self.0.path()).output().expect("pleach")
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.path().join(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const ASSERTS: &str = "#include <assert.h>\n#include <klee/klee.h>\n\
    int main(void) {\n  int x;\n  klee_make_symbolic(&x, sizeof x, \"x\");\n  assert(x != 7);\n  return 0;\n}\n";

#[test]
fn messages_and_files() {
    let scratch = Scratch::new();
    scratch.program(ASSERTS);
    let output = scratch.klee(&["-search=dfs", "--write-smt2s", "prog.bc"]);
    let log = stderr(&output);
    assert!(output.status.success(), "errors alone are no failure: {log}");
    for words in [
        "KLEE: output directory is \"",
        "prog.c:6: ASSERTION FAIL: x != 7",
        "KLEE: NOTE: now ignoring this error at this location",
        "KLEE: done: completed paths = 1",
        "KLEE: done: partially completed paths = 1",
        "KLEE: done: generated tests = 2",
    ] {
        assert!(log.contains(words), "{words}\n{log}");
    }
    assert_eq!(std::fs::read_link(scratch.0.path().join("klee-last")).unwrap(), Path::new("klee-out-0"));
    let failing = (1..=2)
        .find(|n| scratch.0.path().join(format!("klee-last/test00000{n}.assert.err")).exists())
        .expect("an error");
    let report = scratch.file(&format!("klee-last/test00000{failing}.assert.err"));
    assert!(report.starts_with("Error: ASSERTION FAIL: x != 7\nFile: "), "{report}");
    assert!(report.contains("\nLine: 6\n") && report.contains("\nStack: \n\t#0"), "{report}");
    assert!(scratch.file("klee-last/test000001.smt2").contains("(check-sat)"));
    assert!(scratch.file("klee-last/info").contains("KLEE: done: explored paths = 2"));
    assert!(scratch.file("klee-last/messages.txt").contains("KLEE: ERROR: "));
    let shown = scratch.klee(&["ktest-tool", &format!("klee-last/test00000{failing}.ktest")]);
    let shown = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(shown.contains("object 0: name: 'x'") && shown.contains("object 0: int : 7"), "{shown}");
}

#[test]
fn stopping_at_errors_and_replaying() {
    let scratch = Scratch::new();
    scratch.program(ASSERTS);
    let output = scratch.klee(&["--output-dir=out", "--exit-on-error", "prog.bc"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("KLEE: ERROR: EXITING ON ERROR:\nError: ASSERTION FAIL: x != 7\n"));
    let output = scratch.klee(&["--output-dir=again", "--replay-ktest-dir", "out", "prog.bc"]);
    let log = stderr(&output);
    assert!(log.contains("KLEE: replaying: out/test000001.ktest (4 bytes) (1/"), "{log}");
    assert!(log.contains("ASSERTION FAIL: x != 7"), "{log}");
}

#[test]
fn options_without_effect_are_named_once() {
    let scratch = Scratch::new();
    scratch.program("int main(int argc, char **argv) { return argc == 3 && argv[1][1] == 's' ? 0 : 1; }\n");
    let output =
        scratch.klee(&["--no-such-option", "--write-cvcs", "--optimize", "--exit-on-error", "prog.bc", "-search", "x"]);
    let log = stderr(&output);
    let warnings: Vec<&str> = log.lines().filter(|l| l.contains("WARNING")).collect();
    assert_eq!(
        warnings,
        [
            "KLEE: WARNING: options that are unknown: --no-such-option; options that are without effect here: --write-cvcs"
        ]
    );
    assert!(output.status.success(), "{log}");
}

#[test]
fn other_functions_in_place_of_main_and_of_each_other() {
    let scratch = Scratch::new();
    scratch.program(
        "#include <assert.h>\nint two(int x) { return 2 * x; }\nint three(int x) { return 3 * x; }\n\
         int start(void) { assert(two(7) == 21); return 0; }\n",
    );
    let output = scratch.klee(&["--entry-point=start", "--function-alias=two:three", "--exit-on-error", "prog.bc"]);
    let log = stderr(&output);
    assert!(output.status.success() && log.contains("KLEE: function-alias: replaced @two with @three"), "{log}");
    let output = scratch.klee(&["--entry-point=start", "--function-alias=t.*o:start", "prog.bc"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("KLEE: ERROR: function-alias: no (replacable) match for 't.*o' found"));
    let output = scratch.klee(&["prog.bc"]);
    assert!(stderr(&output).contains("KLEE: ERROR: Entry function 'main' not found in module."));
}

/// Each side of a fork can show something new, and a branch that skips code too; the fourth path shows nothing.
#[test]
fn tests_that_cover_something_new() {
    let scratch = Scratch::new();
    scratch.program(
        "#include <klee/klee.h>\nint main(void) {\n  int a, b, n = 0;\n  klee_make_symbolic(&a, sizeof a, \"a\");\n\
         klee_make_symbolic(&b, sizeof b, \"b\");\n  if (a)\n    n++;\n  if (b)\n    n++;\n  return n;\n}\n",
    );
    let output = scratch.klee(&["-search=dfs", "--only-output-states-covering-new", "prog.bc"]);
    let log = stderr(&output);
    assert!(log.contains("completed paths = 4") && log.contains("generated tests = 3"), "{log}");
}

#[test]
fn wishes_for_tests() {
    let scratch = Scratch::new();
    scratch.program(
        "#include <klee/klee.h>\nint main(void) {\n  char c[2];\n  klee_make_symbolic(c, sizeof c, \"c\");\n\
         klee_prefer_cex(c, c[0] == 'o');\n  klee_prefer_cex(c, c[1] == 'k');\n  klee_prefer_cex(c, c[1] == 'x');\n  return 0;\n}\n",
    );
    scratch.klee(&["prog.bc"]);
    let shown = scratch.klee(&["ktest-tool", "klee-last/test000001.ktest"]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("data: b'ok'"));
}

#[test]
fn functions_at_symbolic_addresses() {
    let scratch = Scratch::new();
    scratch.program(
        "#include <klee/klee.h>\nstatic int one(void) { return 1; }\nstatic int two(void) { return 2; }\n\
         int main(void) {\n  int (*f)(void);\n  klee_make_symbolic(&f, sizeof f, \"f\");\n\
         if (f != one && f != two)\n    klee_assume(f == 0);\n  return f();\n}\n",
    );
    let log = stderr(&scratch.klee(&["prog.bc"]));
    assert!(log.contains("prog.c:9: invalid function pointer") && log.contains("completed paths = 2"), "{log}");
}

const TWO_BRANCHES: &str = "#include <klee/klee.h>\n#include <stdio.h>\nint main(void) {\n  int x;\n\
    klee_make_symbolic(&x, sizeof x, \"x\");\n  int sum = 0;\n  if (x & 1)\n    sum += 1;\n  else\n    sum += 2;\n\
    if (x & 2)\n    sum += 10;\n  if (sum > 10)\n    sum += 100;\n  printf(\"sum %d\\n\", sum);\n  return 0;\n}\n";

#[test]
fn the_way_of_a_path_is_written_and_can_be_followed() {
    let scratch = Scratch::new();
    scratch.program(TWO_BRANCHES);
    scratch.klee(&["--write-paths", "--write-sym-paths", "--write-cov", "--output-dir=all", "prog.bc"]);
    let all: Vec<String> = (1..=4).map(|n| scratch.file(&format!("all/test00000{n}.path"))).collect();
    let third = all.iter().position(|p| p == "1\n1\n1\n").expect("a path with three branches, the last one forced");
    assert_eq!(scratch.file(&format!("all/test00000{}.sym.path", third + 1)), "1\n1\n");
    // Each line is in the file of the path that came there first.
    let lines: Vec<String> = (1..=4).map(|n| scratch.file(&format!("all/test00000{n}.cov"))).collect();
    for line in [8, 10, 12, 14] {
        let with = lines.iter().filter(|l| l.contains(&format!("prog.c:{line}\n"))).count();
        assert_eq!(with, 1, "line {line}: {lines:?}");
    }
    let path = format!("--replay-path=all/test00000{}.path", third + 1);
    let output = scratch.klee(&[&path, "--output-dir=one", "prog.bc"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "sum 111\n");
    assert!(stderr(&output).contains("completed paths = 1\n"), "{}", stderr(&output));
    std::fs::write(scratch.0.path().join("wrong.path"), "1\n1\n0\n").unwrap();
    let log = stderr(&scratch.klee(&["--replay-path=wrong.path", "--output-dir=none", "prog.bc"]));
    assert!(log.contains("hit invalid branch in replay path mode") && log.contains("completed paths = 0"), "{log}");
}

#[test]
fn a_test_for_each_side_that_covers_something_new() {
    let scratch = Scratch::new();
    scratch.program(TWO_BRANCHES);
    let log = stderr(&scratch.klee(&["--only-output-states-covering-new", "--search=bfs", "prog.bc"]));
    let count = |text: &str| log.split(text).nth(1).and_then(|t| t.lines().next()?.parse::<u32>().ok());
    assert!(count("generated tests = ").is_some_and(|n| n >= 2), "{log}");
}

#[test]
fn switches_by_cases_and_shares_of_forks() {
    let scratch = Scratch::new();
    scratch.program(
        "#include <klee/klee.h>\nint main(void) {\n  int x;\n  klee_make_symbolic(&x, sizeof x, \"x\");\n\
         switch (x) {\n  case 1: case 3: case 5: return 1;\n  case 7: return 2;\n  }\n  return 0;\n}\n",
    );
    assert!(stderr(&scratch.klee(&["prog.bc"])).contains("completed paths = 3\n"));
    assert!(stderr(&scratch.klee(&["--switch-type=simple", "prog.bc"])).contains("completed paths = 5\n"));
    scratch.program(
        "#include <klee/klee.h>\nint main(void) {\n  int x, n = 0;\n  klee_make_symbolic(&x, sizeof x, \"x\");\n\
         for (int i = 0; i < 5; i++)\n    if (x & (1 << i))\n      n++;\n  return n;\n}\n",
    );
    // All forks are at one place: after the first one it has more than its share.
    let log = stderr(&scratch.klee(&["--max-static-fork-pct=0.5", "--max-static-pct-check-delay=1", "prog.bc"]));
    assert!(log.contains("skipping fork and concretizing condition (MaxStatic*Pct limit reached) at "), "{log}");
    assert!(log.contains("completed paths = 2\n"), "{log}");
}

#[test]
fn symbolic_files_have_any_attributes() {
    let scratch = Scratch::new();
    scratch.program(
        "#include <fcntl.h>\n#include <stdio.h>\n#include <sys/stat.h>\n#include <unistd.h>\nint main(void) {\n  struct stat s;\n\
         puts(open(\"A\", O_RDWR | O_TRUNC) < 0 ? \"refused\" : \"opened\");\n\
         if (fstat(0, &s)) return 1;\n  puts(isatty(0) ? \"terminal\" : S_ISDIR(s.st_mode) ? \"directory\" : \"other\");\n\
         return s.st_size != 4;\n}\n",
    );
    let output = scratch.klee(&["--posix-runtime", "prog.bc", "--sym-files", "1", "8", "--sym-stdin", "4"]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    for (word, times) in [("refused", 1), ("opened", 1), ("terminal", 2), ("directory", 2), ("other", 2)] {
        assert_eq!(printed.lines().filter(|l| *l == word).count(), times, "{printed}");
    }
    let log = stderr(&scratch.klee(&["--posix-runtime", "prog.bc", "--sym-args", "3", "2", "1"]));
    assert!(log.contains("Invalid range to --sym-args"), "{log}");
}

#[test]
fn what_is_printed_is_shown_also_with_an_unknown_length() {
    let scratch = Scratch::new();
    scratch.program(
        "#include <klee/klee.h>\n#include <stdio.h>\nint main(void) {\n  int x;\n  klee_make_symbolic(&x, sizeof x, \"x\");\n\
         klee_assume(x == 0);\n  printf(\"x is %d\\n\", x);\n  return 0;\n}\n",
    );
    let output = scratch.klee(&["--libc=uclibc", "prog.bc"]);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "x is 0\n");
}

#[test]
fn tests_are_made_and_replayed_natively() {
    let scratch = Scratch::new();
    std::fs::write(scratch.0.path().join("in.txt"), "abcd").unwrap();
    std::fs::write(
        scratch.0.path().join("prog.c"),
        "#include <stdio.h>\n#include <string.h>\n#include <sys/stat.h>\nint main(int argc, char **argv) {\n  char text[8] = \"\";\n\
         struct stat s;\n  FILE *f = fopen(\"A\", \"r\");\n  if (argc != 3 || strcmp(argv[1], \"-o\") || strcmp(argv[2], \"x\")) return 1;\n\
         if (!f || fread(text, 1, 8, f) != 4 || strcmp(text, \"abcd\")) return 2;\n\
         if (fread(text, 1, 8, stdin) != 4 || fstat(1, &s) || s.st_size != 1024) return 3;\n  return 0;\n}\n",
    )
    .unwrap();
    let mut clang = Command::new("clang-19");
    assert!(clang.args(["-o", "prog", "prog.c"]).current_dir(scratch.0.path()).status().expect("clang-19").success());
    let streams = ["--sym-stdin", "in.txt", "--sym-file", "in.txt", "--sym-stdout", "in.txt", "--bout-file", "a.ktest"];
    assert!(scratch.klee(&[&["ktest-gen", "-o", "x"][..], &streams].concat()).status.success());
    let log = stderr(&scratch.klee(&["klee-replay", "prog", "a.ktest"]));
    assert!(log.contains("KLEE-REPLAY: NOTE: Arguments: \"prog\" \"-o\" \"x\"\n"), "{log}");
    assert!(log.contains("KLEE-REPLAY: NOTE: EXIT STATUS: NORMAL (0 seconds)"), "{log}");
    assert!(scratch.klee(&["ktest-gen", "-o", "--bout-file", "b.ktest"]).status.success());
    let log = stderr(&scratch.klee(&["klee-replay", "prog", "b.ktest"]));
    assert!(log.contains("EXIT STATUS: ABNORMAL 1"), "{log}");
}

#[test]
fn a_replayed_program_stays_in_its_sandbox() {
    let scratch = Scratch::new();
    std::fs::write(scratch.0.path().join("precious"), "precious").unwrap();
    std::fs::write(
        scratch.0.path().join("prog.c"),
        "#include <stdio.h>\n#include <unistd.h>\nint main(int argc, char **argv) {\n  puts(\"hello\");\n\
         if (!unlink(argv[1]) || fopen(argv[1], \"w\") || fopen(argv[1], \"r\")) return 1;\n\
         if (!fopen(\"mine\", \"w\")) return 2;\n  return getppid() == 1 ? 0 : 3;\n}\n",
    )
    .unwrap();
    let mut clang = Command::new("clang-19");
    assert!(clang.args(["-o", "prog", "prog.c"]).current_dir(scratch.0.path()).status().expect("clang-19").success());
    let target = scratch.0.path().join("precious").display().to_string();
    assert!(scratch.klee(&["ktest-gen", &target, "--bout-file", "a.ktest"]).status.success());
    let output = scratch.klee(&["klee-replay", "prog", "a.ktest"]);
    assert!(stderr(&output).contains("EXIT STATUS: NORMAL"), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "hello\n");
    assert_eq!(scratch.file("precious"), "precious");
}

#[test]
fn a_program_that_sorts_and_prints_symbolic_numbers() {
    let scratch = Scratch::new();
    scratch.program(
        "#include <assert.h>\n#include <klee/klee.h>\n#include <stdio.h>\n\
         static void by_insertion(int *a, unsigned n) {\n  for (unsigned i = 1; i < n; i++) {\n    int x = a[i];\n    unsigned j = i;\n\
         for (; j && a[j - 1] > x; j--) a[j] = a[j - 1];\n    a[j] = x;\n  }\n}\n\
         static void by_bubbles(int *a, unsigned n) {\n  for (unsigned done = 0; !done;) {\n    done = 1;\n\
         for (unsigned i = 0; i + 1 < n; i++)\n      if (a[i + 1] < a[i]) { int t = a[i]; a[i] = a[i + 1]; a[i + 1] = t; done = 0; }\n\
         break; /* the mistake: one round */\n  }\n}\n\
         int main(void) {\n  int given[3] = {4, 3, 2}, one[3], two[3];\n  klee_make_symbolic(given, sizeof given, \"given\");\n\
         for (unsigned i = 0; i < 3; i++) one[i] = two[i] = given[i];\n\
         by_insertion(one, 3);\n  by_bubbles(two, 3);\n\
         printf(\"given: [%d, %d, %d]\\n\", given[0], given[1], given[2]);\n  printf(\"one: [%d, %d, %d]\\n\", one[0], one[1], one[2]);\n\
         for (unsigned i = 0; i < 3; i++) assert(one[i] == two[i]);\n  return 0;\n}\n",
    );
    let output = scratch.klee(&["prog.bc"]);
    let said = stderr(&output);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("ASSERTION FAIL: one[i] == two[i]"), "{said}");
    // As many as three numbers have orders.
    assert!(said.contains("completed paths = 4\n") && said.contains("partially completed paths = 2\n"), "{said}");
    // Each path prints one example of its numbers, in order, and no path is made by printing.
    let lines: Vec<Vec<i64>> = text
        .lines()
        .filter_map(|l| l.strip_prefix("one: [")?.strip_suffix(']'))
        .map(|l| l.split(", ").map(|n| n.parse().expect("a number")).collect())
        .collect();
    assert!(lines.len() == 6 && lines.iter().all(|l| l.is_sorted() && l.len() == 3), "{text}");
}

#[test]
fn errors_of_realloc_and_of_calls_out_of_the_program() {
    let scratch = Scratch::new();
    scratch.program(
        "#include <klee/klee.h>\n#include <stdlib.h>\n#include <string.h>\nint main(void) {\n\
         switch (klee_range(0, 4, \"which\")) {\n  case 0: free((void *)0xdeadbeef); break;\n\
         case 1: return realloc((void *)0xdeadbeef, 8) == 0;\n  case 2: return strlen((char *)0xdeadbeef) == 3;\n\
         case 3: return abs(-2147483647 - 1);\n  }\n  return 0;\n}\n",
    );
    let log = stderr(&scratch.klee(&["prog.bc"]));
    for words in [
        "prog.c:6: memory error: invalid pointer: free",
        "prog.c:7: memory error: invalid pointer: realloc",
        "failed external call: strlen",
        "prog.c:9: llvm.abs called with poison and INT_MIN",
    ] {
        assert!(log.contains(words), "{words}\n{log}");
    }
}

#[test]
fn archives_give_what_is_missing() {
    let scratch = Scratch::new();
    std::fs::rename(
        scratch.program(
            "int missing(void);\nint unused(void) { return missing(); }\nint twice(int x) { return 2 * x; }\n",
        ),
        scratch.0.path().join("l.bc"),
    )
    .unwrap();
    let ar = Command::new("llvm-ar-19").args(["rcs", "lib.a", "l.bc"]).current_dir(scratch.0.path()).status();
    assert!(ar.expect("llvm-ar-19").success());
    scratch.program("int twice(int);\nint main(void) { return twice(4) == 8 ? 0 : 1 / 0; }\n");
    let output = scratch.klee(&["--link-llvm-lib", "lib.a", "--exit-on-error", "prog.bc"]);
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn parameters_are_shown_as_they_were_passed() {
    let scratch = Scratch::new();
    scratch.program(
        "#include <assert.h>\nstatic void f(int a, int b) {\n  ++a;\n  b += a;\n  assert(b == 0);\n}\n\
         int main(void) { f(5, 12); return 0; }\n",
    );
    scratch.klee(&["prog.bc"]);
    let report = scratch.file("klee-last/test000001.assert.err");
    assert!(report.contains(" in f(5, 12) at ") || report.contains(" in f(a=5, b=12) at "), "{report}");
}

#[test]
fn large_objects_and_lanes_beyond_a_vector() {
    let scratch = Scratch::new();
    scratch.program(
        "#include <klee/klee.h>\n#include <stdlib.h>\ntypedef int four __attribute__((vector_size(16)));\nstatic char table[5000];\nint main(void) {\n\
         unsigned i = klee_range(0, 5000, \"i\");\n  four v = {1, 2, 3, 4};\n  table[i] = 1;\n  v[i] = 9;\n\
         if (i > 3) klee_assert(v[0] + v[1] + v[2] + v[3] == 10);\n  if (i == 17)\n    klee_make_symbolic(malloc(1ul << 32), 1ul << 32, \"m\");\n  return 0;\n}\n",
    );
    let log = stderr(&scratch.klee(&["prog.bc"]));
    assert!(log.contains("Symbolic memory write will send the following array of 5000 bytes"), "{log}");
    assert!(log.contains("Symbolic objects larger than 4 GiB are not allowed (requested 4294967296 bytes)."), "{log}");
    assert!(!log.contains("out of bound") && !log.contains("ASSERTION"), "{log}");
    scratch.program(
        "#include <klee/klee.h>\n#include <stdlib.h>\nint main(void) {\n  char *p = malloc((1ul << 32) + 1);\n\
         return p[klee_range(0, 9, \"i\")];\n}\n",
    );
    let log = stderr(&scratch.klee(&["prog.bc"]));
    assert!(
        log.contains("Symbolic reads from objects larger than 4 GiB are not allowed (object size: 4294967297 bytes)."),
        "{log}"
    );
}

#[test]
fn no_program_at_all() {
    let scratch = Scratch::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    let output =
        command.arg("klee").stdin(std::process::Stdio::null()).current_dir(scratch.0.path()).output().expect("pleach");
    let log = stderr(&output);
    assert!(log.contains("KLEE: WARNING: Module and host target triples do not match: '' != '"), "{log}");
    assert!(log.contains("Entry function 'main' not found in module."), "{log}");
}

#[test]
fn tables_of_distances() {
    let scratch = Scratch::new();
    let source = "#include <klee/klee.h>\nconst char *name(unsigned i) {\n  switch (i) {\n  case 0: return \"zero\";\n  case 1: return \"one\";\n\
        case 2: return \"two\";\n  case 3: return \"three\";\n  case 4: return \"four\";\n  }\n  return \"many\";\n}\n\
        int main(void) {\n  unsigned i = klee_range(0, 5, \"i\");\n  const char *n = name(i);\n  if (n[0] == 'o')\n    klee_assert(i == 1);\n\
        else if (n[1] == 'h')\n    klee_assert(i == 3);\n  else\n    klee_assert(i == 0 || i == 2 || i == 4);\n  return 0;\n}\n";
    std::fs::write(scratch.0.path().join("prog.c"), source).unwrap();
    let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/include");
    let mut clang = Command::new("clang-19");
    clang
        .args(["-emit-llvm", "-O2", "-fPIC", "-c", "prog.c", "-o", "prog.bc", "-I"])
        .arg(headers)
        .current_dir(scratch.0.path());
    assert!(clang.status().expect("clang-19").success());
    let output = scratch.klee(&["--exit-on-error", "prog.bc"]);
    let log = stderr(&output);
    assert!(scratch.file("klee-last/assembly.ll").contains("llvm.load.relative"), "the compiler makes such a table");
    assert!(output.status.success() && !log.contains("not supported"), "{log}");
}
