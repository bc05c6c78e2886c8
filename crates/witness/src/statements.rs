//! The statements of a C source: where each begins and ends, its condition and its body.
//!
//! *Direction*: macros are not expanded. A source that hides brackets in them has no structure here, and a place in it
//! is not found.

use crate::tokens::{Kind, Source};

/// Statements inside statements, at most.
const DEPTH: u32 = 400;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sort {
    Plain,
    Block,
    If,
    Switch,
    While,
    For,
    Do,
}

impl Sort {
    pub fn is_loop(self) -> bool {
        matches!(self, Sort::While | Sort::For | Sort::Do)
    }
}

/// A statement; ranges are of words, the end excluded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    pub(crate) sort: Sort,
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// empty: `for (;;)`
    pub(crate) condition: (usize, usize),
    pub(crate) body: (usize, usize),
    /// of the list of functions
    pub(crate) function: usize,
    /// another statement may stand before it without braces
    pub(crate) in_block: bool,
}

pub struct Function {
    pub name: String,
    /// its body, braces included
    pub(crate) from: usize,
    pub(crate) to: usize,
}

#[derive(Default)]
pub struct Structure {
    pub functions: Vec<Function>,
    pub(crate) statements: Vec<Statement>,
}

impl Structure {
    pub fn of(source: &Source) -> Structure {
        let mut parser = Parser { source, found: Structure::default() };
        parser.functions();
        parser.found
    }

    /// The innermost statement of a function whose words these are.
    pub(crate) fn function_at(&self, word: usize) -> Option<usize> {
        self.functions.iter().position(|f| f.from <= word && word < f.to)
    }
}

struct Parser<'a> {
    source: &'a Source,
    found: Structure,
}

impl Parser<'_> {
    fn functions(&mut self) {
        let mut at = 0;
        while at < self.source.tokens.len() {
            if self.source.word(at) != "{" {
                at += 1;
                continue;
            }
            let Some(end) = self.source.closing(at) else { return };
            if let Some(name) = self.function_name(at) {
                let (before, known) = (self.found.statements.len(), self.found.functions.len());
                self.found.functions.push(Function { name, from: at, to: end + 1 });
                if self.statement(at, true, 0) != Some(end + 1) {
                    self.found.statements.truncate(before);
                    self.found.functions.truncate(known);
                }
            }
            at = end + 1;
        }
    }

    /// The name of the function whose body begins here: the word before the parameters.
    fn function_name(&self, body: usize) -> Option<String> {
        let mut close = body.checked_sub(1)?;
        // Parameters may be declared behind their names.
        if self.source.word(close) == ";" {
            close = (0..close).rev().find(|i| self.source.word(*i) == ")")?;
        }
        while self.source.word(close) == ")" {
            let open = self.opening(close)?;
            let name = open.checked_sub(1)?;
            match self.source.word(name) {
                "__attribute__" | "__asm__" | "asm" => close = name.checked_sub(1)?,
                word if self.source.tokens[name].kind == Kind::Word => return Some(word.to_owned()),
                _ => return None,
            }
        }
        None
    }

    fn opening(&self, close: usize) -> Option<usize> {
        let mut depth = 0;
        for i in (0..=close).rev() {
            match self.source.word(i) {
                ")" => depth += 1,
                "(" if depth == 1 => return Some(i),
                "(" => depth -= 1,
                _ => {}
            }
        }
        None
    }

    fn push(&mut self, sort: Sort, from: usize, in_block: bool) -> usize {
        let function = self.found.functions.len() - 1;
        let none = (from, from);
        self.found.statements.push(Statement { sort, from, to: from, condition: none, body: none, function, in_block });
        self.found.statements.len() - 1
    }

    /// The word after the statement that begins here.
    fn statement(&mut self, at: usize, in_block: bool, depth: u32) -> Option<usize> {
        if depth > DEPTH {
            return None;
        }
        let source = self.source;
        match source.word(at) {
            "{" => self.block(at, in_block, depth),
            "if" => self.branches(at, in_block, depth),
            "switch" => self.with_condition(Sort::Switch, at, in_block, depth),
            "while" => self.with_condition(Sort::While, at, in_block, depth),
            "for" => self.with_condition(Sort::For, at, in_block, depth),
            "do" => self.do_while(at, in_block, depth),
            "case" => {
                let colon = (at..source.tokens.len()).find(|i| matches!(source.word(*i), ":" | ";" | "{"))?;
                self.labelled(colon, in_block, depth)
            }
            "default" => self.labelled(at + 1, in_block, depth),
            _ if source.tokens.get(at)?.kind == Kind::Word && source.word(at + 1) == ":" => {
                self.labelled(at + 1, in_block, depth)
            }
            "else" => None,
            _ => self.plain(at, in_block),
        }
    }

    fn labelled(&mut self, colon: usize, in_block: bool, depth: u32) -> Option<usize> {
        match (self.source.word(colon), self.source.word(colon + 1)) {
            (":", "}") => Some(colon + 1),
            (":", _) => self.statement(colon + 1, in_block, depth + 1),
            _ => None,
        }
    }

    fn block(&mut self, at: usize, in_block: bool, depth: u32) -> Option<usize> {
        let own = self.push(Sort::Block, at, in_block);
        let mut next = at + 1;
        while self.source.word(next) != "}" {
            next = self.statement(next, true, depth + 1)?;
        }
        self.found.statements[own].to = next + 1;
        Some(next + 1)
    }

    fn plain(&mut self, at: usize, in_block: bool) -> Option<usize> {
        let own = self.push(Sort::Plain, at, in_block);
        let mut next = at;
        loop {
            match self.source.word(next) {
                "" | ")" | "]" | "}" => return None,
                ";" => break,
                "(" | "[" | "{" => next = self.source.closing(next)? + 1,
                _ => next += 1,
            }
        }
        self.found.statements[own].to = next + 1;
        Some(next + 1)
    }

    /// Long chains of `else if` are no deep nesting.
    fn branches(&mut self, at: usize, in_block: bool, depth: u32) -> Option<usize> {
        let (mut at, mut in_block, mut chain) = (at, in_block, Vec::new());
        let end = loop {
            let close = self.parenthesis(at + 1)?;
            let own = self.push(Sort::If, at, in_block);
            chain.push(own);
            self.found.statements[own].condition = (at + 2, close);
            let next = self.statement(close + 1, false, depth + 1)?;
            self.found.statements[own].body = (close + 1, next);
            match (self.source.word(next), self.source.word(next + 1)) {
                ("else", "if") => (at, in_block) = (next + 1, false),
                ("else", _) => break self.statement(next + 1, false, depth + 1)?,
                _ => break next,
            }
        };
        chain.into_iter().for_each(|s| self.found.statements[s].to = end);
        Some(end)
    }

    fn with_condition(&mut self, sort: Sort, at: usize, in_block: bool, depth: u32) -> Option<usize> {
        let close = self.parenthesis(at + 1)?;
        let own = self.push(sort, at, in_block);
        self.found.statements[own].condition = match sort {
            Sort::For => {
                let first = self.semicolon(at + 2, close)?;
                (first + 1, self.semicolon(first + 1, close)?)
            }
            _ => (at + 2, close),
        };
        let next = self.statement(close + 1, false, depth + 1)?;
        let statement = &mut self.found.statements[own];
        (statement.body, statement.to) = ((close + 1, next), next);
        Some(next)
    }

    fn do_while(&mut self, at: usize, in_block: bool, depth: u32) -> Option<usize> {
        let own = self.push(Sort::Do, at, in_block);
        let next = self.statement(at + 1, false, depth + 1)?;
        if self.source.word(next) != "while" {
            return None;
        }
        let close = self.parenthesis(next + 1)?;
        let statement = &mut self.found.statements[own];
        statement.condition = (next + 2, close);
        (statement.body, statement.to) = ((at + 1, next), close + 2);
        (self.source.word(close + 1) == ";").then_some(close + 2)
    }

    fn parenthesis(&self, open: usize) -> Option<usize> {
        if self.source.word(open) == "(" { self.source.closing(open) } else { None }
    }

    /// The first semicolon outside further brackets.
    fn semicolon(&self, from: usize, to: usize) -> Option<usize> {
        let mut at = from;
        while at < to {
            match self.source.word(at) {
                ";" => return Some(at),
                "(" | "[" | "{" => at = self.source.closing(at)? + 1,
                _ => at += 1,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(Sort, String, bool)> {
        let source = Source::new(text.into(), &[]).unwrap();
        let text = |r: (usize, usize)| (r.0..r.1).map(|i| source.word(i)).collect::<Vec<_>>().join(" ");
        Structure::of(&source).statements.iter().map(|s| (s.sort, text(s.condition), s.in_block)).collect()
    }

    #[test]
    fn loops_and_branches() {
        let text = "struct s { int a; } x = {1};\nint f(a) int a; { for (int i = 0; i < f(1); i++) do a--; while (a > 1);\n\
                    again: while (1) { if (a) x.a = 1; else if (a > 1) ; else { goto again; } } for (;;) break; }";
        let all = shown(text);
        let sorts: Vec<Sort> = all.iter().map(|s| s.0).collect();
        use Sort::*;
        assert_eq!(sorts, [Block, For, Do, Plain, While, Block, If, Plain, If, Plain, Block, Plain, For, Plain]);
        let conditions: Vec<&str> = all.iter().map(|s| s.1.as_str()).collect();
        assert_eq!(conditions[1..3], ["i < f ( 1 )", "a > 1"]);
        assert_eq!((conditions[4], conditions[8], conditions[12]), ("1", "a > 1", ""));
        assert!(all[1].2 && !all[2].2 && all[4].2 && all[6].2 && !all[8].2);
    }

    #[test]
    fn functions_have_names() {
        let text =
            "int g[] = {1}; static int (*p)(void); int f(void) __attribute__((noreturn)) { ; }\nint h() { BROKEN( }";
        let source = Source::new(text.into(), &[]).unwrap();
        let names: Vec<String> = Structure::of(&source).functions.into_iter().map(|f| f.name).collect();
        assert_eq!(names, ["f"]);
    }

    #[test]
    fn long_chains_and_deep_nesting() {
        let chain = format!("int f(int x) {{ {} ; }}", "if (x) ; else ".repeat(20_000));
        assert_eq!(shown(&chain).iter().filter(|s| s.0 == Sort::If).count(), 20_000);
        let deep = format!("int f(int x) {{ {} ; }}", "while (x) ".repeat(20_000));
        assert_eq!(shown(&deep), []);
    }
}
