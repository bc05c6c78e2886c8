//! Tests as the corpus of a fuzzer: one file per input, the bytes as the program gets them.

use crate::Run;
use pleach_report::{EntryKind, InputOrigin, KTest, Prediction, ReportError, TestCase, environment, input_text};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

/// How a fuzzer names the files of its corpus.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Naming {
    /// `test000001`, as in the run directory.
    Raw,
    /// libFuzzer: `corpus/` and `crashes/`, named by their contents.
    LibFuzzer,
    /// AFL: `queue/` and `crashes/`, `id:000000,…`; empty files are left out, which it does not take.
    Afl,
}

/// What was written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    pub corpus: u64,
    /// Inputs that lead to an error, in a directory of their own for fuzzers.
    pub crashes: u64,
}

/// The same for a run that is on disk.
pub fn write_run(run: &Path, naming: Naming, directory: &Path) -> Result<Written, ReportError> {
    write(&Run::open(run)?, naming, directory)
}

/// Writes each distinct input into `directory`.
pub fn write(run: &Run, naming: Naming, directory: &Path) -> Result<Written, ReportError> {
    let (mut written, mut seen) = (Written::default(), BTreeSet::new());
    for test in run.tests.values() {
        let bytes = bytes(run, test);
        if naming == Naming::Afl && bytes.is_empty() || naming != Naming::Raw && !seen.insert(bytes.clone()) {
            continue;
        }
        let crashes = matches!(test.predicted, Prediction::Error { .. });
        let count = if crashes { &mut written.crashes } else { &mut written.corpus };
        let name = match naming {
            Naming::Raw => test.id.stem(),
            Naming::LibFuzzer => {
                let hash = &pleach_report::testcomp::program_hash(&bytes)[..40];
                if crashes { format!("crashes/crash-{hash}") } else { format!("corpus/{hash}") }
            }
            Naming::Afl => {
                let place = if crashes { "crashes" } else { "queue" };
                format!("{place}/id:{count:06},orig:{}", test.id.stem())
            }
        };
        *count += 1;
        let path = directory.join(name);
        let parent = path.parent().unwrap_or(directory).to_owned();
        let failed = |source| ReportError::Io { action: "create", path: parent.clone(), source };
        std::fs::create_dir_all(&parent).map_err(failed)?;
        pleach_report::write_atomically(&path, &bytes)?;
    }
    Ok(written)
}

/// The input as a fuzzer gives it: the data of `LLVMFuzzerTestOneInput`, standard input if it is symbolic, or all
/// inputs one after the other.
fn bytes(run: &Run, test: &TestCase) -> Vec<u8> {
    let is_fuzz = matches!(run.info.entry_kind, EntryKind::Fuzz)
        || test.inputs.first().is_some_and(|i| i.origin == InputOrigin::FuzzData);
    if is_fuzz {
        return input_text::fuzz_data(&test.inputs).to_vec();
    }
    if test.args.iter().any(|a| environment::symbolic_option(a).is_some())
        && let Ok(around) = environment::of(&KTest::from(test))
        && let Some(stdin) = around.stdin.or_else(|| around.files.into_iter().next())
    {
        return stdin.bytes;
    }
    test.inputs.iter().flat_map(|i| i.bytes.iter().copied()).collect()
}

/// Longer literals are no keywords.
const LONGEST_WORD: usize = 32;

/// A dictionary for fuzzers: the string literals of the program's own files.
pub fn dictionary(run: &Run) -> String {
    let mut words: BTreeSet<Vec<u8>> = BTreeSet::new();
    for name in run.coverage.files.keys() {
        if let Ok(text) = std::fs::read(run.source(name)) {
            words.extend(literals(&String::from_utf8_lossy(&text)));
        }
    }
    let mut out = String::new();
    for word in words {
        out.push('"');
        for b in word {
            match b {
                b'"' | b'\\' => drop(write!(out, "\\{}", b as char)),
                0x20..=0x7e => out.push(b as char),
                _ => drop(write!(out, "\\x{b:02X}")),
            }
        }
        out.push_str("\"\n");
    }
    out
}

/// String literals of C, at least one byte long; those of preprocessor lines and comments are left out.
fn literals(text: &str) -> BTreeSet<Vec<u8>> {
    let mut found = BTreeSet::new();
    let code: String = text.lines().filter(|l| !l.trim_start().starts_with('#')).flat_map(|l| [l, "\n"]).collect();
    let bytes = code.as_bytes();
    let mut i = 0;
    while i < bytes.len() {
        match (bytes[i], bytes.get(i + 1)) {
            (b'/', Some(b'/')) => i += bytes[i..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - i),
            (b'/', Some(b'*')) => i = code[i + 2..].find("*/").map_or(bytes.len(), |n| i + n + 4),
            (b'\'', _) => i += if bytes.get(i + 1) == Some(&b'\\') { 4 } else { 3 },
            (b'"', _) => {
                let (word, end) = literal(bytes, i + 1);
                i = end;
                if (1..=LONGEST_WORD).contains(&word.len()) {
                    found.insert(word);
                }
            }
            _ => i += 1,
        }
    }
    found
}

/// The bytes of a literal that begins here, and where it ends.
fn literal(bytes: &[u8], mut i: usize) -> (Vec<u8>, usize) {
    let mut word = Vec::new();
    while i < bytes.len() && bytes[i] != b'"' && bytes[i] != b'\n' {
        if bytes[i] != b'\\' {
            word.push(bytes[i]);
            i += 1;
            continue;
        }
        let (value, used) = escape(&bytes[i + 1..]);
        word.push(value);
        i += 1 + used;
    }
    (word, i + 1)
}

/// What follows a backslash: its value and its length.
fn escape(rest: &[u8]) -> (u8, usize) {
    let number = |radix: u32, skip: usize, most: usize| {
        let digits = rest[skip..].iter().take(most).take_while(|b| (**b as char).is_digit(radix)).count();
        let text = String::from_utf8_lossy(&rest[skip..skip + digits]).into_owned();
        (u32::from_str_radix(&text, radix).unwrap_or(0) as u8, skip + digits)
    };
    match rest.first() {
        Some(b'n') => (b'\n', 1),
        Some(b't') => (b'\t', 1),
        Some(b'r') => (b'\r', 1),
        Some(b'x') => number(16, 1, 2),
        Some(b'0'..=b'7') => number(8, 0, 3),
        Some(other) => (*other, 1),
        None => (b'\\', 0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_program() {
        let text =
            "#include \"a.h\"\n// \"no\"\nchar q = '\"'; f(\"GET \", \"a\\\"b\\x41\\101\\n\"); /* \"no\" */ g(\"\");";
        let words = literals(text);
        assert_eq!(words, BTreeSet::from([b"GET ".to_vec(), b"a\"bAA\n".to_vec()]));
        for odd in ["\"", "\"\\", "'", "/*", "\"\\x"] {
            let _ = literals(odd);
        }
    }
}
