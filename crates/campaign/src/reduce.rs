//! Makes a failing program small: lines are left out as long as the modes still differ.

use crate::compare::compare_program;
use crate::engine::Bounds;
use crate::{batch, generate};

/// The text of a seed's program without the lines that the difference does not need.
pub fn reduce(seed: u64, promote: bool, bounds: Bounds) -> String {
    let different = |lines: &[String]| {
        let text = lines.join("\n");
        batch::compile_text(&text, promote).is_ok_and(|p| {
            let (_, differences) =
                compare_program(&p, &generate::entry(seed), crate::compare::checks(seed), bounds, &bounds.modes(seed));
            differences.contains(": lost ")
                || differences.contains("does not reach")
                || differences.contains("made up")
                || differences.contains("audit: node")
                || differences.contains("unsound")
        })
    };
    let mut lines: Vec<String> = generate::program(seed).lines().map(str::to_owned).collect();
    if !different(&lines) {
        return format!("seed {seed} does not fail\n");
    }
    loop {
        let before = lines.len();
        for size in [16, 8, 4, 2, 1] {
            let mut at = 0;
            while at < lines.len() {
                let mut fewer = lines.clone();
                fewer.drain(at..(at + size).min(lines.len()));
                if different(&fewer) { lines = fewer } else { at += size.div_ceil(2) }
            }
        }
        for at in (0..lines.len()).rev() {
            if let Some(fewer) = unwrapped(&lines, at).filter(|f| different(f)) {
                lines = fewer;
            }
        }
        if lines.len() == before {
            return lines.join("\n") + "\n";
        }
    }
}

/// Without the line that opens a block and the one that closes it.
fn unwrapped(lines: &[String], at: usize) -> Option<Vec<String>> {
    let line = lines.get(at)?;
    let depth = |l: &str| l.len() - l.trim_start().len();
    if !line.ends_with('{') {
        return None;
    }
    let end =
        (at + 1..lines.len()).find(|&i| depth(&lines[i]) <= depth(line) && lines[i].trim_start().starts_with('}'))?;
    let kept = lines.iter().enumerate().filter(|(i, _)| *i != at && *i != end);
    Some(kept.map(|(_, l)| l.clone()).collect())
}
