//! Errors shown the way a good compiler shows them.

use std::collections::HashMap;
use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::model::{ErrorRecord, TestCase};
use crate::{input_text, names};

/// Longer lines are not quoted.
const LONGEST_LINE: usize = 400;
/// Larger files are not read.
const LARGEST_SOURCE: u64 = 16 << 20;
/// Longer lines about inputs are shortened.
const LONGEST_VALUE: usize = 220;
/// More frames are left out in the middle of the stack.
const MAX_FRAMES: usize = 16;

/// Lines of source files, read once.
#[derive(Debug, Default)]
pub struct SourceCache {
    files: HashMap<PathBuf, Option<Vec<String>>>,
}

impl SourceCache {
    /// Line `line` (from 1) of `path`, when it can be read.
    pub fn line(&mut self, path: &Path, line: u32) -> Option<&str> {
        let lines = self.files.entry(path.to_owned()).or_insert_with(|| read_lines(path)).as_ref()?;
        let text = lines.get(line.checked_sub(1)? as usize)?;
        (text.len() <= LONGEST_LINE).then_some(text)
    }
}

fn read_lines(path: &Path) -> Option<Vec<String>> {
    if !fs::metadata(path).ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    fs::File::open(path).ok()?.take(LARGEST_SOURCE).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).lines().map(str::to_owned).collect())
}

/// An error about to be shown.
pub struct Diagnostic<'a> {
    error: &'a ErrorRecord,
    inputs: Vec<String>,
    command: Option<String>,
    run: Option<&'a str>,
    directory: &'a Path,
    colour: bool,
}

impl<'a> Diagnostic<'a> {
    /// Shows the error alone, without colour.
    pub fn new(error: &'a ErrorRecord) -> Self {
        Self { error, inputs: Vec::new(), command: None, run: None, directory: Path::new(""), colour: false }
    }

    /// Also shows the input that triggers it, and the command that gives it to the program, if there is one.
    pub fn with_test(self, test: &TestCase) -> Self {
        Self { inputs: input_text::lines(test), command: input_text::command(test), ..self }
    }

    /// Also shows the command that reproduces it, for a run in directory `run`.
    pub fn with_run(self, run: &'a str) -> Self {
        Self { run: Some(run), ..self }
    }

    /// Relative source paths are relative to `directory`.
    pub fn with_directory(self, directory: &'a Path) -> Self {
        Self { directory, ..self }
    }

    /// With terminal colours.
    pub fn with_colour(self, colour: bool) -> Self {
        Self { colour, ..self }
    }

    /// The text, ending in a newline.
    pub fn render(&self) -> String {
        self.render_with(&mut SourceCache::default())
    }

    /// The text, with source lines from `sources`.
    pub fn render_with(&self, sources: &mut SourceCache) -> String {
        let error = self.error;
        let mut out = String::new();
        let head = self.paint("1;31", &format!("error[{}]", error.kind));
        let _ =
            writeln!(out, "{head}{}", self.paint("1", &format!(": {}", printable(&names::readable(&error.message)))));
        let number = error.line.to_string();
        let margin = " ".repeat(number.len());
        if !error.file.is_empty() {
            let arrow = self.paint("1;34", "-->");
            let _ = writeln!(out, "{margin}{arrow} {}", location(&error.file, error.line, error.column));
            self.snippet(&mut out, sources, &number);
        }
        self.stack(&mut out, &margin);
        if !self.inputs.is_empty() {
            let _ = writeln!(out, "{margin} {} input:", self.paint("1;34", "="));
            for line in &self.inputs {
                let _ = writeln!(out, "{margin}     {}", shorten(&printable(line)));
            }
        }
        if let Some(command) = &self.command {
            let _ = writeln!(out, "{margin} {} by hand: {}", self.paint("1;34", "="), printable(command));
        }
        if let (Some(run), Some(test)) = (self.run, error.test) {
            let equals = self.paint("1;34", "=");
            let _ = writeln!(out, "{margin} {equals} reproduce with: pleach replay {run}/{}.ktest", test.stem());
        }
        out
    }

    fn snippet(&self, out: &mut String, sources: &mut SourceCache, number: &str) {
        let path = self.directory.join(&self.error.file);
        let Some(text) = sources.line(&path, self.error.line) else {
            return;
        };
        let margin = " ".repeat(number.len());
        let bar = self.paint("1;34", "|");
        let shown = printable(&text.replace('\t', "    "));
        let _ = writeln!(out, "{margin} {bar}\n{} {bar} {shown}", self.paint("1;34", number));
        let column = self.error.column as usize;
        if (1..=text.len() + 1).contains(&column) {
            // Columns count bytes; the caret stands below the character that starts there.
            let before = String::from_utf8_lossy(&text.as_bytes()[..column - 1]).replace('\t', "    ");
            let indent = " ".repeat(before.chars().count());
            let _ = writeln!(out, "{margin} {bar} {indent}{}", self.paint("1;31", "^"));
        } else {
            let _ = writeln!(out, "{margin} {bar}");
        }
    }

    fn stack(&self, out: &mut String, margin: &str) {
        let frames = &self.error.stack;
        let equals = self.paint("1;34", "=");
        let omitted = frames.len().saturating_sub(MAX_FRAMES);
        for (i, frame) in frames.iter().enumerate() {
            if omitted > 0 && i == MAX_FRAMES / 2 {
                let _ = writeln!(out, "{margin} {equals} note: … {omitted} more calls …");
            }
            if omitted > 0 && (MAX_FRAMES / 2..MAX_FRAMES / 2 + omitted).contains(&i) {
                continue;
            }
            let how = if i == 0 { "in" } else { "called from" };
            let at = match frame.file.is_empty() {
                true => String::new(),
                false => format!(" at {}", location(&frame.file, frame.line, frame.column)),
            };
            let _ =
                writeln!(out, "{margin} {equals} note: {how} `{}`{at}", printable(&names::readable(&frame.function)));
        }
    }

    fn paint(&self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}

fn location(file: &str, line: u32, column: u32) -> String {
    let file = printable(file);
    match (line, column) {
        (0, _) => file,
        (line, 0) => format!("{file}:{line}"),
        (line, column) => format!("{file}:{line}:{column}"),
    }
}

/// Strangers' programs must not send control codes to the terminal.
fn printable(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(LONGEST_VALUE) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
#[path = "diagnostic_tests.rs"]
mod tests;
