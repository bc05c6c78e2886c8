//! Conditions of the preprocessor, as far as they are names and numbers.

use std::collections::BTreeSet;

/// Names that are defined, and the conditions that are open.
#[derive(Default)]
pub(crate) struct Conditions {
    defined: BTreeSet<String>,
    open: Vec<Branches>,
}

#[derive(Clone, Copy)]
struct Branches {
    /// this branch is compiled
    now: bool,
    /// one was
    taken: bool,
}

impl Conditions {
    pub fn new(defines: &[String]) -> Conditions {
        let name = |d: &String| d.split(['=', '(']).next().unwrap_or_default().to_owned();
        Conditions { defined: defines.iter().map(name).collect(), open: Vec::new() }
    }

    pub fn are_met(&self) -> bool {
        self.open.iter().all(|b| b.now)
    }

    /// A line that begins with `#`.
    pub fn read(&mut self, line: &str) {
        let text = line.trim_start_matches('#').trim_start();
        let end = text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (word, rest) = (&text[..end], text[end..].trim());
        match word {
            "ifdef" => self.open(self.is_defined(name(rest))),
            "ifndef" => self.open(!self.is_defined(name(rest))),
            "if" => self.open(self.holds(rest)),
            "elif" | "elifdef" | "elifndef" => {
                let holds = match word {
                    "elif" => self.holds(rest),
                    "elifdef" => self.is_defined(name(rest)),
                    _ => !self.is_defined(name(rest)),
                };
                self.next(holds);
            }
            "else" => self.next(true),
            "endif" => drop(self.open.pop()),
            "define" if self.are_met() => drop(self.defined.insert(name(rest).to_owned())),
            "undef" if self.are_met() => drop(self.defined.remove(name(rest))),
            _ => {}
        }
    }

    fn open(&mut self, holds: bool) {
        self.open.push(Branches { now: holds, taken: holds });
    }

    fn next(&mut self, holds: bool) {
        if let Some(b) = self.open.last_mut() {
            b.now = holds && !b.taken;
            b.taken |= holds;
        }
    }

    /// The compiler defines many names with two underscores.
    fn is_defined(&self, name: &str) -> bool {
        self.defined.contains(name) || name.starts_with("__") && name != "__cplusplus"
    }

    fn holds(&self, text: &str) -> bool {
        let (text, wanted) = match text.strip_prefix('!') {
            Some(rest) => (rest.trim(), false),
            None => (text, true),
        };
        let holds = match text.strip_prefix("defined") {
            Some(rest) if !rest.contains(['&', '|']) => {
                self.is_defined(name(rest.trim_matches(|c: char| c == '(' || c == ')' || c.is_whitespace())))
            }
            _ => text != "0",
        };
        holds == wanted
    }
}

fn name(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}
