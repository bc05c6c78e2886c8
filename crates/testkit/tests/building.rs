//! Programs built by a build system with `pleach cc`.

use pleach_testkit::engine::{self, Finished, pleach};
use pleach_testkit::scratch::Scratch;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const TIME: Duration = Duration::from_secs(60);

fn shell(line: &str, at: &Path) -> Finished {
    let bin = engine::binary().unwrap();
    let path = format!("{}:{}", bin.parent().unwrap().display(), std::env::var("PATH").unwrap());
    engine::run(Command::new("sh").args(["-c", line]).env("PATH", path).current_dir(at), TIME).unwrap()
}

#[track_caller]
fn done(finished: &Finished, code: i32) {
    assert_eq!(finished.code, Some(code), "{}", finished.output());
}

/// The project in `tests/projects`, built where it can be changed.
fn built() -> Scratch {
    let scratch = Scratch::new("project");
    let project = pleach_testkit::root().join("tests/projects/wordcount");
    done(&shell(&format!("cp -r {}/. .", project.display()), scratch.path()), 0);
    let made = shell("make CC='pleach cc'", scratch.path());
    done(&made, 0);
    assert!(!made.output().contains("warning"), "{}", made.output());
    scratch
}

#[test]
fn a_project_with_a_static_library() {
    if std::env::var_os("PLEACH_WITHOUT_LIBC").is_some() {
        return;
    }
    let project = built();
    // It is an ordinary program.
    let native = shell("./words ' two '", project.path());
    done(&native, 0);
    assert_eq!(native.stdout, "1\n");
    done(&shell("test -s build/words.d", project.path()), 0);

    let args = ["test", "./words", "--output-dir", "run", "--json", "--sym-arg", "3"];
    let tested = pleach(args, project.path(), TIME).unwrap();
    done(&tested, 1);
    let summary: serde_json::Value = serde_json::from_str(&tested.stdout).unwrap();
    assert_eq!(summary["complete"], true, "{}", tested.output());
    assert_eq!(summary["errors"].as_array().unwrap().len(), 1);
    assert_eq!(summary["errors"][0]["file"], "lib/words.c");
    assert_eq!(summary["sources"][0], "./words");

    // Replay needs nothing but the run.
    done(&shell("rm -r words build", project.path()), 0);
    let replayed = pleach(["replay", "--all", "run"], project.path(), TIME).unwrap();
    done(&replayed, 0);
    assert!(replayed.stdout.contains(" 0 disagree, 0 undetermined"), "{}", replayed.output());
}

#[test]
fn objects_are_programs_too() {
    let project = built();
    let tested = pleach(
        ["test", "build/words.o", "--entry", "words", "--param", "text:string[2]", "--libc=none", "-q"],
        project.path(),
        TIME,
    )
    .unwrap();
    done(&tested, 0);
}

#[test]
fn what_makes_no_code_is_the_compilers_business() {
    let scratch = Scratch::new("plain");
    let at = scratch.path();
    std::fs::write(scratch.file("a.c"), "int main(void) { return X; }\n").unwrap();
    std::fs::write(scratch.file("bad.c"), "int main(void) { return 0 }\n").unwrap();
    assert!(shell("pleach cc -DX=7 -E a.c", at).stdout.contains("return 7;"));
    assert!(shell("pleach cc --version", at).stdout.contains("clang version 19"));
    done(&shell("echo 'int main(void) { return 4; }' | pleach cc -x c - -o piped", at), 0);
    done(&shell("./piped", at), 4);
    done(&shell("pleach cc -DX=7 -S a.c && test -s a.s && pleach cc -c a.s && pleach cc a.o -o prog && ./prog", at), 7);
    // One complaint, the compiler's, and its status.
    let complaint = shell("pleach cc -c bad.c", at);
    done(&complaint, 1);
    assert_eq!(complaint.stderr.matches("error:").count(), 1, "{}", complaint.stderr);
    // Several at once.
    done(
        &shell("cp a.c b.c; pleach cc -c -DX=1 a.c b.c && pleach ir a.o >/dev/null && pleach ir b.o >/dev/null", at),
        0,
    );
}

#[test]
fn a_program_without_bitcode() {
    let scratch = Scratch::new("without");
    std::fs::write(scratch.file("a.c"), "int main(void) { return 0; }\n").unwrap();
    done(&shell("clang-19 a.c -o prog", scratch.path()), 0);
    let refused = pleach(["test", "prog"], scratch.path(), TIME).unwrap();
    done(&refused, 2);
    assert!(refused.stderr.contains("prog: it has no bitcode in it; build it with"), "{}", refused.stderr);
    done(&shell("head -c 3000 prog > cut", scratch.path()), 0);
    done(&pleach(["test", "cut"], scratch.path(), TIME).unwrap(), 2);
}

#[test]
fn paths_of_bitcode_as_other_wrappers_leave_them() {
    let scratch = Scratch::new("paths");
    let at = scratch.path();
    std::fs::write(scratch.file("a.c"), "int f(void);\nint main(void) { return f(); }\n").unwrap();
    std::fs::write(scratch.file("b.c"), "int f(void) { return 5; }\n").unwrap();
    let each = "for f in a b; do clang-19 -c -emit-llvm -g $f.c -o .$f.o.bc && clang-19 -c $f.c && echo $PWD/.$f.o.bc > paths && \
                objcopy --add-section .llvm_bc=paths $f.o; done && clang-19 a.o b.o -o prog";
    done(&shell(each, at), 0);
    let tested = pleach(["test", "prog", "--output-dir", "run"], at, TIME).unwrap();
    done(&tested, 0);
    let replayed = pleach(["replay", "--all", "run"], at, TIME).unwrap();
    assert!(replayed.stdout.contains("it exited with 5"), "{}", replayed.output());
    done(&shell("rm .b.o.bc", at), 0);
    let refused = pleach(["test", "prog"], at, TIME).unwrap();
    done(&refused, 2);
    assert!(refused.stderr.contains(".b.o.bc cannot be read"), "{}", refused.stderr);
}

#[test]
fn objects_programs_and_archives_alike() {
    let scratch = Scratch::new("alike");
    let main = "int f(int);\nint klee_int(const char *);\nvoid __assert_fail(const char *, const char *, unsigned, const char *);\n\
                int main(void) {\n  if (f(klee_int(\"x\")) == 5) __assert_fail(\"\", \"main.c\", 5, \"\");\n  return 0;\n}\n";
    std::fs::write(scratch.path().join("main.c"), main).unwrap();
    std::fs::write(scratch.path().join("f.c"), "int f(int x) { return x + 1; }\n").unwrap();
    std::fs::write(scratch.path().join("stub.c"), "int klee_int(const char *n) { return !n; }\n").unwrap();
    let build = "for f in main f stub; do pleach cc -g -c $f.c || exit 1; done; ar rcs libf.a f.o; \
                 pleach cc main.o f.o stub.o -o program";
    done(&shell(build, scratch.path()), 0);
    for files in ["program", "main.o libf.a", "main.o f.o"] {
        let tested = shell(&format!("rm -rf run; pleach test {files} --json --output-dir run"), scratch.path());
        done(&tested, 1);
        assert!(tested.stdout.contains("\"assert\""), "{files}: {}", tested.output());
        let verified = shell(&format!("pleach verify {files} --no-replay"), scratch.path());
        assert!(verified.output().contains("FALSE") || verified.output().contains("false"), "{}", verified.output());
    }
    for files in ["program", "--link-llvm-lib=libf.a main.o"] {
        let run = shell(&format!("pleach klee {files}"), scratch.path());
        done(&run, 0);
        assert!(run.output().contains("ASSERTION FAIL"), "{files}: {}", run.output());
    }
}
