//! Whether a native run comes to a line of the source.
//!
//! *Idea*: the line tables of the plain build give the addresses of a line's code; the replay library sets a breakpoint
//! at each, in its own process, and notes the first time that one is met. The program is otherwise the one that is
//! replayed anyway, so that nothing else changes.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

const READERS: [&str; 2] = ["llvm-dwarfdump-19", "llvm-dwarfdump"];
/// More breakpoints are not set.
const MAX_ADDRESSES: usize = 4096;

/// A line of the source.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Line {
    /// File; may leave out leading directories.
    pub file: String,
    /// 1-based line.
    pub line: u32,
}

/// The addresses of each line's code; none where there is no code, or no tool to find it.
pub(crate) fn addresses(binary: &Path, lines: &[Line]) -> Vec<BTreeSet<u64>> {
    for tool in READERS {
        let output = Command::new(tool).arg("--debug-line").arg(binary).stdin(Stdio::null()).output();
        if let Ok(output) = output
            && output.status.success()
        {
            return parse(&String::from_utf8_lossy(&output.stdout), lines);
        }
    }
    vec![BTreeSet::new(); lines.len()]
}

/// Tables one after the other: directories and files by number, then rows of address, line, column and file.
fn parse(text: &str, lines: &[Line]) -> Vec<BTreeSet<u64>> {
    let mut found = vec![BTreeSet::new(); lines.len()];
    let (mut directories, mut files): (Vec<(u32, String)>, Vec<File>) = (Vec::new(), Vec::new());
    for row in text.lines() {
        let row = row.trim();
        if row.starts_with("Line table prologue") {
            (directories, files) = (Vec::new(), Vec::new());
        } else if let Some((number, name)) = numbered(row, "include_directories[") {
            directories.push((number, quoted(name).to_owned()));
        } else if let Some((number, _)) = numbered(row, "file_names[") {
            files.push(File { number, ..File::default() });
        } else if let (Some(name), Some(file)) = (row.strip_prefix("name: "), files.last_mut()) {
            file.name = quoted(name).to_owned();
        } else if let (Some(number), Some(file)) = (row.strip_prefix("dir_index: "), files.last_mut()) {
            let directory = directories.iter().find(|d| Ok(d.0) == number.parse());
            if let Some((_, directory)) = directory.filter(|_| !file.name.starts_with('/')) {
                file.name = format!("{directory}/{}", file.name);
            }
        } else if let Some(row) = row.strip_prefix("0x").filter(|r| !r.contains("end_sequence")) {
            let mut cells = row.split_whitespace();
            let address = cells.next().and_then(|a| u64::from_str_radix(a, 16).ok());
            let line = cells.next().and_then(|n| n.parse::<u32>().ok());
            let file =
                cells.nth(1).and_then(|n| n.parse::<u32>().ok()).and_then(|n| files.iter().find(|f| f.number == n));
            let (Some(address), Some(line), Some(file)) = (address, line, file) else { continue };
            for (wanted, set) in lines.iter().zip(&mut found) {
                if wanted.line == line && same_path(&wanted.file, &file.name) && set.len() < MAX_ADDRESSES {
                    set.insert(address);
                }
            }
        }
    }
    found
}

#[derive(Default)]
struct File {
    number: u32,
    name: String,
}

/// `tag[  3] rest`
fn numbered<'a>(row: &'a str, tag: &str) -> Option<(u32, &'a str)> {
    let (number, rest) = row.strip_prefix(tag)?.split_once(']')?;
    Some((number.trim().parse().ok()?, rest))
}

fn quoted(text: &str) -> &str {
    text.trim_start_matches([' ', '=']).trim().trim_matches('"')
}

/// One may leave out leading directories that the other has.
fn same_path(a: &str, b: &str) -> bool {
    let clean = |p: &str| -> Vec<String> {
        let all = Path::new(p).components().filter(|c| !matches!(c, std::path::Component::CurDir));
        all.map(|c| c.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let (a, b) = (clean(a), clean(b));
    !a.is_empty() && !b.is_empty() && (a.ends_with(&b) || b.ends_with(&a))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_found_by_line_and_file() {
        let text = "Line table prologue:\ninclude_directories[  0] = \"/x\"\ninclude_directories[  1] = \"/x/inc\"\n\
            file_names[  0]:\n name: \"a.c\"\n dir_index: 0\nfile_names[  1]:\n name: \"a.c\"\n dir_index: 1\n\
            0x0000000000001130      3      0      0   0             0       0  is_stmt\n\
            0x0000000000001137      3      7      1   0             0       0  is_stmt prologue_end\n\
            0x0000000000001140      4      7      0   0             0       0\n\
            0x0000000000001150      4      7      0   0             0       0  end_sequence\n";
        let line = |file: &str, line| Line { file: file.into(), line };
        let found = parse(text, &[line("/x/a.c", 3), line("inc/a.c", 3), line("a.c", 4), line("a.c", 5)]);
        let found: Vec<Vec<u64>> = found.into_iter().map(|s| s.into_iter().collect()).collect();
        assert_eq!(found, [vec![0x1130], vec![0x1137], vec![0x1140], vec![]]);
    }
}
