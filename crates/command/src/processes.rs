//! Processes that this one started.

use rustix::process::{Pid, Signal, kill_process};
use std::path::Path;

/// Ends all of them and what they started.
pub fn end_children() {
    let mut all = Vec::new();
    below(Path::new("/proc/self/task"), &mut all);
    for pid in all.into_iter().filter_map(Pid::from_raw) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

/// Processes that the threads listed in the directory started, parents first.
fn below(tasks: &Path, all: &mut Vec<i32>) {
    for task in std::fs::read_dir(tasks).into_iter().flatten().flatten() {
        let children = std::fs::read_to_string(task.path().join("children")).unwrap_or_default();
        for pid in children.split_ascii_whitespace().filter_map(|n| n.parse::<i32>().ok()) {
            all.push(pid);
            below(Path::new(&format!("/proc/{pid}/task")), all);
        }
    }
}
