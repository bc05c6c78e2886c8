//! Which lines of the source a block has code of.
//!
//! A jump from one block to the next stands for no code of the source, but the compiler gives it a line: the end of the statement that is
//! left, or whatever came last. Such a line was not executed. Only a jump that the source has as a statement of its own (`break`, `continue`,
//! `goto`, `return`, the head of a loop, a macro for one of them) counts. What stands at its place in the source tells; where the source is
//! not there to be read, a jump counts if nothing else has code of its line.

use pleach_ir::{BlockId, Span};
use rustc_hash::{FxHashMap, FxHashSet};

/// What stands at the place of a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Found {
    /// a statement that jumps
    Jump,
    /// a name at the start of a statement, perhaps a macro for one
    Name,
    Other,
    /// there is no such place
    Nothing,
}

/// Source files, each read once.
#[derive(Default)]
pub(crate) struct Sources {
    files: FxHashMap<u32, Option<Text>>,
}

struct Text {
    bytes: Vec<u8>,
    /// where each line begins
    lines: Vec<usize>,
}

/// The lines of a function's blocks, as they become known.
#[derive(Default)]
pub(crate) struct Lines {
    code: Vec<(BlockId, Span)>,
    jumps: Vec<(BlockId, Span)>,
}

impl Lines {
    pub fn code(&mut self, block: BlockId, span: Span) {
        if self.code.last() != Some(&(block, span)) {
            self.code.push((block, span));
        }
    }

    pub fn jump(&mut self, block: BlockId, span: Span) {
        self.jumps.push((block, span));
    }

    /// The spans of each of the `count` blocks, in order and without repetition.
    pub fn finish(self, count: usize, mut path: impl FnMut(u32) -> String, sources: &mut Sources) -> Vec<Vec<Span>> {
        let lines: FxHashSet<(u32, u32)> = self.code.iter().map(|(_, s)| (s.file, s.line)).collect();
        let counts = |(_, s): &(BlockId, Span)| match sources.at(*s, || path(s.file)) {
            Found::Jump => true,
            Found::Name | Found::Nothing => !lines.contains(&(s.file, s.line)),
            Found::Other => false,
        };
        let jumps: Vec<_> = self.jumps.into_iter().filter(counts).collect();
        let mut spans = vec![Vec::new(); count];
        for (block, span) in self.code.into_iter().chain(jumps) {
            spans[block.index()].push(span);
        }
        for own in &mut spans {
            own.sort_unstable_by_key(|s| (s.file, s.line, s.column));
            own.dedup();
        }
        spans
    }
}

impl Sources {
    fn at(&mut self, span: Span, path: impl FnOnce() -> String) -> Found {
        let text = self.files.entry(span.file).or_insert_with(|| {
            let path = path();
            // Statements of other languages begin in other ways.
            let is_c = !path.ends_with(".rs");
            std::fs::read(path).ok().filter(|_| is_c).map(Text::new)
        });
        text.as_ref().map_or(Found::Nothing, |t| t.at(span.line, span.column))
    }
}

impl Text {
    fn new(bytes: Vec<u8>) -> Text {
        let starts = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        Text { bytes, lines }
    }

    fn at(&self, line: u32, column: u32) -> Found {
        const JUMPS: [&[u8]; 8] = [b"break", b"continue", b"goto", b"return", b"while", b"for", b"do", b"co_return"];
        let start = (line as usize).checked_sub(1).and_then(|l| self.lines.get(l));
        let Some(at) = start.map(|s| s + (column as usize).saturating_sub(1)).filter(|a| *a < self.bytes.len()) else {
            return Found::Nothing;
        };
        let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$') || !b.is_ascii();
        let len = self.bytes[at..].iter().take_while(|b| is_word(b)).count();
        let word = &self.bytes[at..at + len];
        if JUMPS.contains(&word) {
            Found::Jump
        } else if len > 0 && !word[0].is_ascii_digit() && self.begins_statement(at) {
            Found::Name
        } else {
            Found::Other
        }
    }

    /// What comes before ends another statement, or opens a block or a body.
    fn begins_statement(&self, at: usize) -> bool {
        let before = self.bytes[..at].trim_ascii_end();
        let keyword = |word: &[u8]| before.ends_with(word);
        matches!(before.last(), None | Some(b';' | b'{' | b'}' | b')' | b':' | b'/'))
            || keyword(b"else")
            || keyword(b"do")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_statements_that_jump_count() {
        let text =
            Text::new(b"void f(void) {\n  for (;;) {\n    if (x) break;\n    BAIL;\n    y = Z;\n  }\n}".to_vec());
        let found = [(2, 3), (3, 12), (4, 5), (5, 9), (6, 3), (9, 1)].map(|(l, c)| text.at(l, c));
        assert_eq!(found, [Found::Jump, Found::Jump, Found::Name, Found::Other, Found::Other, Found::Nothing]);
    }

    #[test]
    fn without_source_a_jump_counts_if_it_is_alone_on_its_line() {
        let span = |line| Span { file: 0, line, column: 1 };
        let mut lines = Lines::default();
        lines.code(BlockId(0), span(1));
        lines.jump(BlockId(1), span(1));
        lines.jump(BlockId(1), span(2));
        let spans = lines.finish(2, |_| "/nowhere/at/all.c".into(), &mut Sources::default());
        assert_eq!(spans, [vec![span(1)], vec![span(2)]]);
    }
}
