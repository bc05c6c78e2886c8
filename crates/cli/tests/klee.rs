//! `pleach klee` from outside: command lines, messages and files as KLEE has them.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let dir = std::env::temp_dir().join(format!("pleach-klee-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&dir);
        std::fs::create_dir_all(&dir).expect("scratch directory");
        Scratch(dir)
    }

    /// A program as bitcode, with its line numbers.
    fn program(&self, source: &str) -> PathBuf {
        let (c, bc) = (self.0.join("prog.c"), self.0.join("prog.bc"));
        std::fs::write(&c, source).expect("write");
        let headers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime/include");
        let mut clang = Command::new("clang-19");
        clang.args(["-emit-llvm", "-g", "-O0", "-c", "-I"]).arg(headers).arg("-o").arg(&bc).arg(&c);
        assert!(clang.status().expect("clang-19").success());
        bc
    }

    fn klee(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
        command.arg("klee").args(args).current_dir(&self.0).output().expect("pleach")
    }

    fn file(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_else(|why| panic!("{name}: {why}"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const ASSERTS: &str = "#include <assert.h>\n#include <klee/klee.h>\n\
    int main(void) {\n  int x;\n  klee_make_symbolic(&x, sizeof x, \"x\");\n  assert(x != 7);\n  return 0;\n}\n";

#[test]
fn messages_and_files() {
    let scratch = Scratch::new("files");
    scratch.program(ASSERTS);
    let output = scratch.klee(&["-search=dfs", "--write-smt2s", "prog.bc"]);
    let said = stderr(&output);
    assert!(output.status.success(), "errors alone are no failure: {said}");
    for words in [
        "KLEE: output directory is \"",
        "prog.c:6: ASSERTION FAIL: x != 7",
        "KLEE: NOTE: now ignoring this error at this location",
        "KLEE: done: completed paths = 1",
        "KLEE: done: partially completed paths = 1",
        "KLEE: done: generated tests = 2",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    assert_eq!(std::fs::read_link(scratch.0.join("klee-last")).unwrap(), Path::new("klee-out-0"));
    let failing =
        (1..=2).find(|n| scratch.0.join(format!("klee-last/test00000{n}.assert.err")).exists()).expect("an error");
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
    let scratch = Scratch::new("replay");
    scratch.program(ASSERTS);
    let output = scratch.klee(&["--output-dir=out", "--exit-on-error", "prog.bc"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("KLEE: ERROR: EXITING ON ERROR:\nError: ASSERTION FAIL: x != 7\n"));
    let output = scratch.klee(&["--output-dir=again", "--replay-ktest-dir", "out", "prog.bc"]);
    let said = stderr(&output);
    assert!(said.contains("KLEE: replaying: out/test000001.ktest (4 bytes) (1/"), "{said}");
    assert!(said.contains("ASSERTION FAIL: x != 7"), "{said}");
}

#[test]
fn options_without_effect_are_named_once() {
    let scratch = Scratch::new("options");
    scratch.program("int main(int argc, char **argv) { return argc == 3 && argv[1][1] == 's' ? 0 : 1; }\n");
    let output =
        scratch.klee(&["--no-such-option", "--use-merge", "--optimize", "--exit-on-error", "prog.bc", "-search", "x"]);
    let said = stderr(&output);
    let warnings: Vec<&str> = said.lines().filter(|l| l.contains("WARNING")).collect();
    assert_eq!(
        warnings,
        [
            "KLEE: WARNING: options that are unknown: --no-such-option; options that are without effect here: --use-merge"
        ]
    );
    assert!(output.status.success(), "{said}");
}

#[test]
fn other_functions_in_place_of_main_and_of_each_other() {
    let scratch = Scratch::new("alias");
    scratch.program(
        "#include <assert.h>\nint two(int x) { return 2 * x; }\nint three(int x) { return 3 * x; }\n\
         int start(void) { assert(two(7) == 21); return 0; }\n",
    );
    let output = scratch.klee(&["--entry-point=start", "--function-alias=two:three", "--exit-on-error", "prog.bc"]);
    let said = stderr(&output);
    assert!(output.status.success() && said.contains("KLEE: function-alias: replaced @two with @three"), "{said}");
    let output = scratch.klee(&["--entry-point=start", "--function-alias=t.*o:start", "prog.bc"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains("KLEE: ERROR: function-alias: no (replacable) match for 't.*o' found"));
    let output = scratch.klee(&["prog.bc"]);
    assert!(stderr(&output).contains("KLEE: ERROR: Entry function 'main' not found in module."));
}

#[test]
fn wishes_for_tests() {
    let scratch = Scratch::new("prefer");
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
    let scratch = Scratch::new("pointer");
    scratch.program(
        "#include <klee/klee.h>\nstatic int one(void) { return 1; }\nstatic int two(void) { return 2; }\n\
         int main(void) {\n  int (*f)(void);\n  klee_make_symbolic(&f, sizeof f, \"f\");\n\
         if (f != one && f != two)\n    klee_assume(f == 0);\n  return f();\n}\n",
    );
    let said = stderr(&scratch.klee(&["prog.bc"]));
    assert!(said.contains("prog.c:9: invalid function pointer") && said.contains("completed paths = 2"), "{said}");
}
