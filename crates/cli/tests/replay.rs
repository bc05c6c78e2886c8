//! `pleach replay`: all tests of a run, and one in a debugger.

use std::path::Path;
use std::process::{Command, Output};

fn pleach(args: &[&str], directory: &Path) -> Output {
    let out = Command::new(env!("CARGO_BIN_EXE_pleach")).args(args).current_dir(directory).output();
    out.expect("pleach runs")
}

fn text(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

const PROGRAM: &str = "#include <stdio.h>\nint f(unsigned char *s) {\n  int n = 0;\n  for (int i = 0; i < 6; i++)\n    \
    if (s[i] > 'a') n++;\n  if (n == 6)\n    __builtin_trap();\n  return n;\n}\n";

/// A run whose tests are 64; those without an error or new coverage are in the archive.
fn explored() -> tempfile::TempDir {
    let place = tempfile::tempdir().expect("a directory");
    std::fs::write(place.path().join("a.c"), PROGRAM).expect("a program");
    let args = ["test", "a.c", "--entry", "f", "--param", "s:bytes[6]", "--output-dir", "run"];
    let out = pleach(&args, place.path());
    assert_eq!(out.status.code(), Some(1), "{}", text(&out));
    place
}

#[test]
fn files_by_default_and_the_archive_on_demand() {
    let place = explored();
    let files = pleach(&["replay", "run", "--all"], place.path());
    let said = text(&files);
    assert!(files.status.success(), "{said}");
    assert!(said.contains("more in the archive: --packed replays them, too."), "{said}");
    let all = pleach(&["replay", "run", "--all", "--packed", "--json"], place.path());
    let rows: serde_json::Value = serde_json::from_slice(&all.stdout).expect("JSON");
    assert_eq!(rows["tests"].as_array().map(Vec::len), Some(64), "{}", text(&all));
    assert_eq!(rows["counts"]["agrees"], 64);
    assert_eq!(rows["not-replayed"], 0);
}

#[test]
fn a_debugger_stops_at_the_predicted_line() {
    let place = explored();
    let test = failing(place.path());
    // Stands for the debuggers: prints how it was started, and runs the program.
    let tools = place.path().join("tools");
    std::fs::create_dir(&tools).expect("a directory");
    let script = "#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\" > \"$OUT\"\nls -a > \"$OUT.work\"\n";
    for name in ["gdb", "lldb"] {
        let path = tools.join(name);
        std::fs::write(&path, script).expect("a script");
        std::fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("rights");
        let path = format!("{}:{}", tools.display(), std::env::var("PATH").unwrap_or_default());
        let out = place.path().join(format!("{name}.txt"));
        let done = Command::new(env!("CARGO_BIN_EXE_pleach"))
            .args(["replay", &test, &format!("--{name}")])
            .current_dir(place.path())
            .env("PATH", path)
            .env("OUT", &out)
            .output()
            .expect("pleach runs");
        assert!(done.status.success(), "{}", text(&done));
        let lines = std::fs::read_to_string(&out).expect("how it was started");
        let stop = if name == "gdb" { "break a.c:7" } else { "breakpoint set --file a.c --line 7" };
        assert!(lines.lines().any(|l| l == stop), "{lines}");
        assert!(lines.contains("PLEACH_KTEST"), "{lines}");
        assert_eq!(std::fs::read_to_string(format!("{}.work", out.display())).expect("a list"), ".\n..\n");
    }
    let left = std::fs::read_dir(place.path().join("run/replay")).expect("builds").flatten();
    assert!(!left.into_iter().any(|e| e.file_name().to_string_lossy().starts_with("scratch")));
}

/// The test that ends in the error.
fn failing(place: &Path) -> String {
    let names = std::fs::read_dir(place.join("run")).expect("a run").flatten();
    let name = names.map(|e| e.file_name().to_string_lossy().into_owned()).find(|n| n.ends_with(".err"));
    format!("run/{}.ktest", name.expect("an error").split('.').next().expect("a name"))
}

#[test]
fn real_debuggers_stop_there() {
    let place = explored();
    let test = failing(place.path());
    for (programs, flag, commands, seen) in [
        (&["gdb"][..], "--gdb", "print n\nkill\n", ["f (s=", "a.c:7\n", "$1 = 6"]),
        (&["lldb", "lldb-19"][..], "--lldb", "frame variable n\nkill\nquit\n", ["`f(s=", " a.c:7:", "n = 6"]),
    ] {
        let is_there = |name: &&&str| Command::new(name).arg("--version").output().is_ok_and(|o| o.status.success());
        if !programs.iter().any(|name| is_there(&name)) {
            println!("skipped: there is no {}", programs.join(" or "));
            continue;
        }
        let mut debugger = Command::new(env!("CARGO_BIN_EXE_pleach"))
            .args(["replay", &test, flag])
            .current_dir(place.path())
            .env("HOME", place.path())
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .expect("pleach runs");
        std::io::Write::write_all(&mut debugger.stdin.take().expect("its input"), commands.as_bytes())
            .expect("written");
        let out = debugger.wait_with_output().expect("it ends");
        let said = text(&out);
        assert!(out.status.success(), "{said}");
        for part in seen {
            assert!(said.contains(part), "{part} is missing in\n{said}");
        }
    }
}
