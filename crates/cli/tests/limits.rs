//! Limits that the system sets.

use std::process::Command;

/// A soft limit on processor time ends a run as `--max-time` does: with its results, and a cut that names the reason.
#[test]
fn processor_time_that_is_used_up_is_a_limit() {
    let dir = std::env::temp_dir().join(format!("pleach-limits-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("scratch directory");
    let source = dir.join("forever.c");
    std::fs::write(&source, "volatile unsigned n;\nint main(void) { for (;;) n++; }\n").expect("write");
    let run = "ulimit -S -t 1; exec \"$0\" test --quiet --max-time=300s --output-dir run forever.c";
    let output =
        Command::new("sh").args(["-c", run, env!("CARGO_BIN_EXE_pleach")]).current_dir(&dir).output().expect("sh");
    let summary = std::fs::read_to_string(dir.join("run/summary.json"));
    let _ = std::fs::remove_dir_all(&dir);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let summary = summary.expect("summary.json");
    assert!(summary.contains("max-time"), "{summary}");
}
