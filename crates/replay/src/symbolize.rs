//! Program counters to source locations, by the packaged symbolizer.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::outcome::Location;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Mutex;

const SYMBOLIZERS: [&str; 3] = ["llvm-symbolizer-19", "llvm-symbolizer", "addr2line"];

/// Stacks that were asked for before: many tests of a run end at the same place.
#[derive(Default)]
pub(crate) struct Cache(Mutex<BTreeMap<PathBuf, Stacks>>);

/// By the program counters of their frames.
type Stacks = BTreeMap<Vec<u64>, Vec<Location>>;

impl Cache {
    /// As [`locations`].
    pub fn locations(&self, binary: &Path, frames: &[u64]) -> Vec<Location> {
        let lock = || self.0.lock().unwrap_or_else(|e| e.into_inner());
        if let Some(known) = lock().get(binary).and_then(|of| of.get(frames)) {
            return known.clone();
        }
        let found = locations(binary, frames);
        lock().entry(binary.to_owned()).or_default().insert(frames.to_vec(), found.clone());
        found
    }
}

/// Locations in the program for `frames`, innermost first; addresses outside it (libraries, the replay library
/// itself) are left out. Empty when no symbolizer is installed.
pub(crate) fn locations(binary: &Path, frames: &[u64]) -> Vec<Location> {
    if frames.is_empty() {
        return Vec::new();
    }
    // The first is exact; the others are return addresses, and the call is just before. After a signal the first
    // appears again among them.
    let (first, rest) = (frames[0], &frames[1..]);
    let calls = rest.iter().filter(|f| **f != first).map(|f| f.wrapping_sub(1));
    let addresses: Vec<u64> = std::iter::once(first).chain(calls).collect();
    for tool in SYMBOLIZERS {
        let mut command = Command::new(tool);
        // The output style of addr2line is understood by all of them.
        let style: &[&str] = if tool.starts_with("llvm") { &["--output-style=GNU", "--no-demangle"] } else { &[] };
        command.args(style).args(["-f", "-e"]).arg(binary);
        command.args(addresses.iter().map(|a| format!("{a:#x}")));
        let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output();
        if let Ok(output) = output
            && output.status.success()
        {
            return parse(&String::from_utf8_lossy(&output.stdout));
        }
    }
    Vec::new()
}

/// Pairs of lines: function, then `file:line`.
fn parse(text: &str) -> Vec<Location> {
    let mut all: Vec<Location> = Vec::new();
    let mut lines = text.lines().filter(|l| !l.is_empty());
    while let (Some(function), Some(place)) = (lines.next(), lines.next()) {
        let place = place.split(" (discriminator").next().unwrap_or(place);
        let Some((file, line)) = place.rsplit_once(':') else {
            continue;
        };
        let Ok(line) = line.parse::<u32>() else {
            continue;
        };
        let ours = file.ends_with("/replay.c") && (function.starts_with("__") || is_ours(function))
            || file.ends_with("/driver.c") && function == "pleach_entry";
        // What a Rust program calls on its way to an end is no place of its own.
        if line == 0 || file.starts_with('?') || ours || pleach_load::rust::is_library_file(file) {
            continue;
        }
        let location = Location { function: function.to_owned(), file: file.to_owned(), line };
        if all.last() != Some(&location) {
            all.push(location);
        }
    }
    all
}

fn is_ours(function: &str) -> bool {
    function.starts_with("klee_")
        || matches!(function, "frames" | "end" | "on_signal" | "reach_error" | "fetch" | "load" | "pleach_parameter")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_program_counts() {
        let text = "frames\n/r/replay.c:70\n__assert_fail\n/r/replay.c:9\n??\n??:0\nf\na.c:7 (discriminator 2)\n\
            main\n/x/a.c:12\npleach_entry\n/r/driver.c:3\n__wrap_main\n/r/replay.c:4\n";
        let found: Vec<_> = parse(text).into_iter().map(|l| (l.function, l.line)).collect();
        assert_eq!(found, [("f".to_owned(), 7), ("main".to_owned(), 12)]);
    }
}
