//! The packages: a layout that works from another place, a Debian package, and the files for pipelines.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

fn text(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

fn package(args: &[&str]) -> Output {
    let bin = Path::new(env!("CARGO_BIN_EXE_pleach")).parent().expect("a directory").to_owned();
    let mut command = Command::new(root().join("scripts/package"));
    command.args(args).arg("--bin").arg(bin).output().expect("the script runs")
}

#[test]
fn a_layout_works_where_it_is_moved_to() {
    let place = tempfile::tempdir().expect("a directory");
    let (first, moved) = (place.path().join("first"), place.path().join("somewhere else"));
    let out = package(&["--layout", &first.display().to_string()]);
    assert!(out.status.success(), "{}", text(&out));
    std::fs::rename(&first, &moved).expect("it moves");
    let run = place.path().join("run");
    // A program that needs the C library, and no cache to find it in.
    std::fs::write(place.path().join("a.c"), "#include <stdlib.h>\nint f(char *s) { return atoi(s); }\n").expect("a.c");
    let out = Command::new(moved.join("bin/pleach"))
        .args(["test", "a.c", "--entry", "f", "--param", "s:string[2]", "--libc", "musl", "--output-dir"])
        .arg(&run)
        .current_dir(place.path())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .output()
        .expect("it runs");
    assert!(out.status.success(), "{}", text(&out));
    assert!(text(&out).contains("Explored all"), "{}", text(&out));
    let klee = Command::new(moved.join("bin/klee")).arg("--version").output().expect("it runs");
    assert!(text(&klee).contains("KLEE"), "{}", text(&klee));
    for file in ["share/man/man1/pleach-replay.1", "share/bash-completion/completions/pleach"] {
        assert!(moved.join(file).metadata().is_ok_and(|m| m.len() > 100), "{file}");
    }
    let again = package(&["--layout", &moved.display().to_string()]);
    assert_eq!(again.status.code(), Some(2), "{}", text(&again));
}

#[test]
fn a_tarball_and_a_debian_package() {
    let place = tempfile::tempdir().expect("a directory");
    let out = package(&["--out", &place.path().display().to_string()]);
    assert!(out.status.success(), "{}", text(&out));
    let files: Vec<PathBuf> = String::from_utf8_lossy(&out.stdout).lines().map(PathBuf::from).collect();
    assert!(files[0].extension().is_some_and(|e| e == "gz") && files[0].is_file(), "{files:?}");
    let listed = Command::new("dpkg-deb").arg("--contents").arg(&files[1]).output().expect("dpkg-deb runs");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    for file in ["./usr/bin/pleach -> ../lib/pleach/pleach", "./usr/lib/pleach/pleach-frontend", "/libc.a"] {
        assert!(listed.contains(file), "{file}\n{listed}");
    }
    let depends = Command::new("dpkg-deb").arg("--field").arg(&files[1]).arg("Depends").output().expect("it runs");
    assert!(text(&depends).contains("clang-19"), "{}", text(&depends));
}

#[test]
fn one_job_of_a_pipeline() {
    let place = tempfile::tempdir().expect("a directory");
    std::fs::write(place.path().join("a.c"), "int f(int x) { return 10 / x; }\n").expect("a.c");
    let bin = Path::new(env!("CARGO_BIN_EXE_pleach")).parent().expect("a directory");
    let job = |files: &str, baseline: &str, to: &str| {
        Command::new(root().join("packaging/pipeline"))
            .args([to, "--junit", "junit.xml"])
            .current_dir(place.path())
            .env("PATH", format!("{}:/usr/bin:/bin", bin.display()))
            .envs([("PLEACH_FILES", files), ("PLEACH_BASELINE", baseline), ("GITHUB_OUTPUT", "output")])
            .output()
            .expect("the script runs")
    };
    let out = job("a.c --entry f", "", "results");
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    for file in ["results/run/summary.json", "results/pleach.html", "results/pleach.sarif", "junit.xml"] {
        assert!(place.path().join(file).is_file(), "{file}");
    }
    assert_eq!(std::fs::read_to_string(place.path().join("output")).expect("outputs"), "run=results/run\n");
    let again = job("a.c --entry f", "results/run", "later");
    assert!(again.status.success(), "nothing new: {}", text(&again));
    assert_eq!(job("", "", "none").status.code(), Some(2));
}

/// The commands of KLEE's tutorials, in their order, on programs of ours: a small function, a matcher with an error,
/// and a program with symbolic arguments that is built with its bitcode.
const TUTORIALS: [(&str, i32, &[&str]); 17] = [
    ("clang -I ../../include -emit-llvm -c -g -O0 -Xclang -disable-O0-optnone sign.c", 0, &[]),
    (
        "klee sign.bc",
        0,
        &["KLEE: output directory is", "KLEE: done: completed paths = 3", "KLEE: done: generated tests = 3"],
    ),
    (
        "ls klee-last/",
        0,
        &["assembly.ll", "info", "messages.txt", "run.stats", "test000001.ktest", "test000003.ktest", "warnings.txt"],
    ),
    (
        "ktest-tool klee-last/test000001.ktest",
        0,
        &[
            "ktest file : 'klee-last/test000001.ktest'",
            "args       : ['sign.bc']",
            "num objects: 1",
            "object 0: name: 'a'",
        ],
    ),
    ("gcc -I ../../include -L $KLEE/lib/ sign.c -lkleeRuntest", 0, &[]),
    ("KTEST_FILE=klee-last/test000001.ktest ./a.out; echo $?", 0, &[]),
    ("KTEST_FILE=klee-last/test000002.ktest ./a.out; echo $?", 0, &[]),
    ("KTEST_FILE=klee-last/test000003.ktest ./a.out; echo $?", 0, &[]),
    ("clang -I ../../include -emit-llvm -c -g -O0 -Xclang -disable-O0-optnone match.c", 0, &[]),
    (
        "klee --only-output-states-covering-new match.bc",
        0,
        &[
            "KLEE: ERROR: ",
            "match.c:6: memory error: out of bound pointer",
            "KLEE: NOTE: now ignoring this error at this location",
        ],
    ),
    ("cat klee-last/*.ptr.err", 0, &["Error: memory error: out of bound pointer", "Line: 6", "Stack:"]),
    ("pleach cc -g -o say say.c", 0, &[]),
    ("extract-bc say", 0, &[]),
    (
        "klee --libc=uclibc --posix-runtime ./say.bc --sym-arg 3",
        0,
        &["KLEE: done: completed paths = ", "KLEE: done: generated tests = "],
    ),
    ("klee-stats klee-last", 0, &["Path", "Instrs", "ICov(%)", "klee-last"]),
    ("ktest-tool klee-last/test000001.ktest", 0, &["args       : ['./say.bc', '--sym-arg', '3']", "name: 'arg00'"]),
    ("klee-replay ./say klee-last/test000001.ktest", 0, &["KLEE-REPLAY: NOTE: EXIT STATUS: "]),
];

const SIGN: &str = "#include <klee/klee.h>\nint sign(int x) {\n  if (x == 0)\n    return 0;\n  if (x < 0)\n    return -1;\n  return 1;\n}\n\
    int main(void) {\n  int a;\n  klee_make_symbolic(&a, sizeof(a), \"a\");\n  return sign(a);\n}\n";
const MATCH: &str = "#include <klee/klee.h>\nint matches(const char *p, const char *t) {\n  while (*t) {\n    \
    if (*p == '[')\n      p += 2;\n    if (*p != *t)\n      return 0;\n    p++, t++;\n  }\n  return 1;\n}\n\
    int main(void) {\n  char re[2];\n  klee_make_symbolic(re, sizeof re, \"re\");\n  re[1] = 0;\n  \
    return matches(re, \"hi\");\n}\n";
const SAY: &str = "#include <stdio.h>\n#include <string.h>\nint main(int argc, char **argv) {\n  \
    if (argc > 1 && strcmp(argv[1], \"-n\") == 0)\n    return 2;\n  puts(argc > 1 ? argv[1] : \"\");\n  return 0;\n}\n";

#[test]
fn the_tutorials_of_klee() {
    let place = tempfile::tempdir().expect("a directory");
    let layout = place.path().join("layout");
    let out = package(&["--layout", &layout.display().to_string()]);
    assert!(out.status.success(), "{}", text(&out));
    let klee = layout.join("lib/pleach/klee");
    let work = place.path().join("examples/one");
    std::fs::create_dir_all(&work).expect("a directory");
    std::os::unix::fs::symlink(klee.join("include"), place.path().join("include")).expect("a link");
    // The tutorials say `clang`.
    let tools = place.path().join("tools");
    std::fs::create_dir(&tools).expect("a directory");
    std::os::unix::fs::symlink("/usr/bin/clang-19", tools.join("clang")).expect("a link");
    for (name, source) in [("sign.c", SIGN), ("match.c", MATCH), ("say.c", SAY)] {
        std::fs::write(work.join(name), source).expect("a program");
    }
    let path =
        format!("{}:{}:{}:/usr/bin:/bin", klee.join("bin").display(), layout.join("bin").display(), tools.display());
    let mut statuses = Vec::new();
    for (command, status, shown) in TUTORIALS {
        let out = Command::new("sh")
            .args(["-c", command])
            .current_dir(&work)
            .env("PATH", &path)
            .env("KLEE", &klee)
            .env("LD_LIBRARY_PATH", klee.join("lib"))
            .output()
            .expect("a shell");
        let said = text(&out);
        assert_eq!(out.status.code(), Some(status), "{command}\n{said}");
        for part in shown {
            assert!(said.contains(part), "{command}: `{part}` is not in\n{said}");
        }
        if command.ends_with("echo $?") {
            statuses.push(said.trim().to_owned());
        }
    }
    // Each test drives the native program down another path.
    statuses.sort();
    assert_eq!(statuses, ["0", "1", "255"]);
}
