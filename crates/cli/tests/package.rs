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
