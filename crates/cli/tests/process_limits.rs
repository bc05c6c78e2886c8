//! What the system around a run does to it: limits, and readers that go away.

use std::path::PathBuf;
use std::process::{Command, Output};

/// Runs `script` with the program as `prog.c` and `pleach` as `$0`; the output and the run's summary.
fn run(name: &str, prog: &str, script: &str) -> (Output, String) {
    let dir: PathBuf = std::env::temp_dir().join(format!("pleach-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("scratch directory");
    std::fs::write(dir.join("prog.c"), prog).expect("write");
    let sh = Command::new("sh").args(["-c", script, env!("CARGO_BIN_EXE_pleach")]).current_dir(&dir).output();
    let summary = std::fs::read_to_string(dir.join("run/summary.json"));
    let _ = std::fs::remove_dir_all(&dir);
    (sh.expect("sh"), summary.expect("summary.json"))
}

/// A soft limit on processor time ends a run as `--max-time` does: with its results, and a cut that names the reason.
#[test]
fn processor_time_that_is_used_up_is_a_limit() {
    let script = "ulimit -S -t 1; exec \"$0\" test --quiet --max-time=300s --output-dir run prog.c";
    let (output, summary) = run("limits", "volatile unsigned n;\nint main(void) { for (;;) n++; }\n", script);
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(summary.contains("max-time"), "{summary}");
}

/// Nobody reads what it says: the run goes on to its end and keeps its exit code.
#[test]
fn a_reader_that_goes_away_ends_no_run() {
    let prog =
        "#include <assert.h>\nint klee_int(const char *);\nint main(void) { assert(klee_int(\"x\")); return 0; }\n";
    // The reader is gone before the writer begins.
    let script = "{ sleep 1; \"$0\" test --output-dir run prog.c 2>&1; echo $? >code; } | true; cat code";
    let (output, summary) = run("reader", prog, script);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "1");
    assert!(summary.contains("assert"), "{summary}");
}

/// The disk is full where its output goes: the run goes on to its end, and then says so.
#[test]
fn output_that_cannot_be_written_is_an_error_at_the_end() {
    let script = "exec \"$0\" verify --output-dir run prog.c >/dev/full";
    let (output, summary) = run("full", "int main(void) { return 0; }\n", script);
    let told = String::from_utf8_lossy(&output.stderr);
    assert!(told.contains("the output cannot be written"), "{told}");
    assert_eq!(output.status.code(), Some(2), "{told}");
    assert!(summary.contains("safe"), "{summary}");
}
