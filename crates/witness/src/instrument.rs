//! Text put into a source, so that lines stay where they are.

use crate::read::Location;
use crate::statements::{Sort, Statement, Structure};
use crate::tokens::{Kind, Source};
use std::collections::BTreeSet;
use std::path::Path;

/// A source, its structure, and what is put into it.
pub struct Instrumented<'a> {
    pub(crate) source: &'a Source,
    pub(crate) structure: Structure,
    /// what the compiler is told that the file is called
    file: String,
    insertions: Vec<(usize, String)>,
    /// conditions that were empty, behind what is put there
    empty: BTreeSet<usize>,
}

impl<'a> Instrumented<'a> {
    pub fn new(source: &'a Source, file: &Path) -> Instrumented<'a> {
        let file = file.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
        Instrumented { source, structure: Structure::of(source), file, insertions: Vec::new(), empty: BTreeSet::new() }
    }

    /// The structure of the code at this line is known.
    pub fn knows(&self, line: u32) -> bool {
        let line_of = |word: usize| self.source.position(self.source.tokens[word].start).0;
        self.structure.functions.iter().any(|f| line_of(f.from) <= line && line <= line_of(f.to - 1))
    }

    /// Puts code before the character at `offset`. What clang says about it names `from`; what follows keeps its line.
    pub(crate) fn insert(&mut self, offset: usize, code: &str, from: (&str, usize)) {
        let line = self.source.position(offset).0;
        let text = format!("\n#line {} \"{}\"\n{code}\n#line {line} \"{}\"\n", from.1, from.0, self.file);
        self.insertions.push((offset, text));
    }

    /// The source with everything in its place; `declarations` come first.
    pub fn text(&self, declarations: &str) -> String {
        let truths: Vec<(usize, String)> = self.empty.iter().map(|at| (*at, "1".to_owned())).collect();
        let mut all: Vec<&(usize, String)> = self.insertions.iter().chain(&truths).collect();
        all.sort_by_key(|i| i.0);
        let mut out = format!("{declarations}\n#line 1 \"{}\"\n", self.file);
        let mut at = 0;
        for (offset, text) in all {
            out.push_str(&self.source.text[at..*offset]);
            out.push_str(text);
            at = *offset;
        }
        out.push_str(&self.source.text[at..]);
        out
    }

    /// The statement of this sort that begins at the place.
    pub(crate) fn statement_at(&self, at: &Location, wanted: impl Fn(Sort) -> bool) -> Result<usize, String> {
        let source = self.source;
        let begins = |s: &Statement| source.position(source.tokens[s.from].start);
        let here = |s: &Statement| {
            let (line, column) = begins(s);
            line == at.line && (at.column == 0 || at.column == column)
        };
        let all = self.structure.statements.iter().enumerate();
        let found: Vec<usize> =
            all.filter(|(_, s)| wanted(s.sort) && here(s) && self.is_in(s, at)).map(|(i, _)| i).collect();
        match found[..] {
            [one] => Ok(one),
            // A block begins where its braces do, not where its first statement does.
            [first, ..] if at.column != 0 => Ok(first),
            [] => Err(format!("nothing of the kind begins at {at}")),
            _ => Err(format!("several of the kind begin at {at}; the column is missing")),
        }
    }

    fn is_in(&self, s: &Statement, at: &Location) -> bool {
        at.function.is_empty() || self.structure.functions[s.function].name == at.function
    }

    /// The words of a call, from the name to the closing parenthesis, which is at the place.
    pub(crate) fn call_at(&self, at: &Location) -> Result<(usize, usize), String> {
        let source = self.source;
        let on_line = |i: &usize| {
            let (line, column) = source.position(source.tokens[*i].start);
            line == at.line && (at.column == 0 || at.column == column)
        };
        let closes = (0..source.tokens.len()).filter(|i| source.word(*i) == ")").filter(on_line);
        let calls: Vec<(usize, usize)> = closes.filter_map(|close| Some((self.called(close)?, close))).collect();
        match calls[..] {
            [one] => Ok(one),
            [] => Err(format!("no call ends at {at}")),
            _ => Err(format!("several calls end at {at}; the column is missing")),
        }
    }

    /// The name before the parentheses that close here, inside a function.
    fn called(&self, close: usize) -> Option<usize> {
        const KEYWORDS: [&str; 8] = ["if", "while", "for", "switch", "sizeof", "return", "__attribute__", "__typeof__"];
        let mut depth = 0;
        let open = (0..=close).rev().find(|i| {
            depth += match self.source.word(*i) {
                ")" => 1,
                "(" => -1,
                _ => 0,
            };
            depth == 0
        })?;
        let name = open.checked_sub(1)?;
        self.structure.function_at(name)?;
        let is_name = self.source.tokens[name].kind == Kind::Word && !KEYWORDS.contains(&self.source.word(name));
        is_name.then_some(name)
    }

    pub(crate) fn start(&self, word: usize) -> usize {
        self.source.tokens[word].start
    }

    /// The offset behind the word.
    pub(crate) fn end(&self, word: usize) -> usize {
        self.source.tokens[word].end
    }

    /// Puts a statement before another, in braces where it needs them.
    pub(crate) fn insert_statement(&mut self, statement: usize, code: &str, from: (&str, usize)) {
        let s = self.structure.statements[statement].clone();
        if s.in_block {
            self.insert(self.start(s.from), code, from);
        } else {
            self.insert(self.start(s.from), &format!("{{ {code}"), from);
            self.insert(self.end(s.to - 1), "}", from);
        }
    }

    /// Puts an expression in front of the loop's condition, to be evaluated each time before that; into the body of
    /// `do`, as a statement.
    pub(crate) fn insert_at_head(&mut self, statement: usize, code: &str, from: (&str, usize)) {
        let s = self.structure.statements[statement].clone();
        match s.sort {
            Sort::Do if self.source.word(s.body.0) == "{" => self.insert(self.end(s.body.0), &format!("{code};"), from),
            Sort::Do => {
                self.insert(self.start(s.body.0), &format!("{{ {code};"), from);
                self.insert(self.end(s.body.1 - 1), "}", from);
            }
            _ => {
                let at = self.start(s.condition.0);
                // An empty condition is true.
                if s.condition.0 == s.condition.1 {
                    self.empty.insert(at);
                }
                self.insert(at, &format!("{code},"), from);
            }
        }
    }
}
