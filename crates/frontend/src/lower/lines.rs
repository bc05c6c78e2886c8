//! Which lines of the source a block has code of.
//!
//! A jump from one block to the next stands for no code of the source, but the compiler gives it a line: the end of the
//! statement that is left, or whatever came last. Such a line was not executed. Only a jump that the source has as a
//! statement of its own (`break`, `continue`, `goto`, `return`, the head of a loop, a macro for one of them) counts.
//! What stands at its place in the source tells; where the source is not there to be read, a jump counts if nothing
//! else has code of its line. The compiler leaves the place of such a statement on jumps that it makes after it (from
//! `default:` to the case behind it), so that only the first jump at a place counts, unless an optimiser has copied it.
//!
//! A jump out of a scope with locals that goes where control would go anyway leaves nothing with its place. What is
//! left is that the scope ends behind some other statement, in the same block: if a jump comes next in the source, it
//! was executed. One that follows the end of a branch, with no code before it in its block, is not found.

use super::jumps::{self, Next};
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
    jumps: Vec<Jump>,
    left_out: Vec<LeftOut>,
}

/// A jump without a place, perhaps: behind the code at `after`, in a scope that ends at `until`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LeftOut {
    pub block: BlockId,
    pub after: Span,
    /// the function that the code at `after` calls
    pub called: Option<String>,
    pub until: Span,
}

/// A jump, or what the compiler notes for one out of a scope; its place, and a number for the call that it was inlined
/// at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Jump {
    pub block: BlockId,
    pub span: Span,
    pub inlined_at: usize,
}

impl Lines {
    pub fn code(&mut self, block: BlockId, span: Span) {
        if self.code.last() != Some(&(block, span)) {
            self.code.push((block, span));
        }
    }

    pub fn jump(&mut self, jump: Jump) {
        self.jumps.push(jump);
    }

    pub fn left_out(&mut self, jump: LeftOut) {
        self.left_out.push(jump);
    }

    /// The spans of each of the `count` blocks, in order and without repetition.
    pub fn finish(
        mut self,
        count: usize,
        optimised: bool,
        mut path: impl FnMut(u32) -> String,
        sources: &mut Sources,
    ) -> Vec<Vec<Span>> {
        let lines: FxHashSet<(u32, u32)> = self.code.iter().map(|(_, s)| (s.file, s.line)).collect();
        self.jumps.sort_by_key(|j| j.block);
        let mut seen = FxHashSet::default();
        let mut counts = |j: &Jump| {
            let s = j.span;
            (seen.insert((s.file, s.line, s.column, j.inlined_at)) || optimised)
                && match sources.at(s, || path(s.file)) {
                    Found::Jump => true,
                    Found::Name | Found::Nothing => !lines.contains(&(s.file, s.line)),
                    Found::Other => false,
                }
        };
        let jumps: Vec<_> = self.jumps.into_iter().filter(|j| counts(j)).map(|j| (j.block, j.span)).collect();
        let (mut left_out, mut ended) = (Vec::new(), None);
        for j in self.left_out {
            let (next, inner) = sources.next(&j, || path(j.after.file));
            // Behind a scope within, nothing is known unless its own end was come to.
            let next = if inner && ended != Some((j.block, j.after)) { Next::Unknown } else { next };
            ended = (next == Next::End).then_some((j.block, j.until));
            if let Next::Jump(span) = next {
                left_out.push((j.block, span));
            }
        }
        let mut spans = vec![Vec::new(); count];
        for (block, span) in self.code.into_iter().chain(jumps).chain(left_out) {
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
    fn text(&mut self, file: u32, path: impl FnOnce() -> String) -> Option<&Text> {
        let text = self.files.entry(file).or_insert_with(|| {
            let path = path();
            // Statements of other languages begin in other ways.
            let is_c = !path.ends_with(".rs");
            std::fs::read(path).ok().filter(|_| is_c).map(Text::new)
        });
        text.as_ref()
    }

    fn at(&mut self, span: Span, path: impl FnOnce() -> String) -> Found {
        self.text(span.file, path).map_or(Found::Nothing, |t| t.at(span.line, span.column))
    }

    /// What comes next behind the code, and whether this code is the end of a scope.
    fn next(&mut self, jump: &LeftOut, path: impl FnOnce() -> String) -> (Next<Span>, bool) {
        let (after, until) = (jump.after, jump.until);
        let Some(text) = self.text(after.file, path) else { return (Next::Unknown, false) };
        let places = (text.offset(after.line, after.column), text.offset(until.line, until.column));
        let (Some(from), Some(to)) = places else { return (Next::Unknown, false) };
        if after.file != until.file || from > to {
            return (Next::Unknown, false);
        }
        let between = &text.bytes[from..to];
        let next = match jumps::next(between, jump.called.as_deref()) {
            Next::Jump(at) => {
                let (line, column) = text.place(from + at);
                Next::Jump(Span { file: after.file, line, column })
            }
            Next::End => Next::End,
            Next::Unknown => Next::Unknown,
        };
        (next, between.first() == Some(&b'}'))
    }
}

impl Text {
    fn new(bytes: Vec<u8>) -> Text {
        let starts = bytes.iter().enumerate().filter(|(_, b)| **b == b'\n').map(|(i, _)| i + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        Text { bytes, lines }
    }

    fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let start = (line as usize).checked_sub(1).and_then(|l| self.lines.get(l))?;
        Some(start + (column as usize).saturating_sub(1)).filter(|at| *at < self.bytes.len())
    }

    fn place(&self, at: usize) -> (u32, u32) {
        let line = self.lines.partition_point(|start| *start <= at);
        (line as u32, (at - self.lines[line - 1] + 1) as u32)
    }

    fn at(&self, line: u32, column: u32) -> Found {
        const JUMPS: [&[u8]; 8] = [b"break", b"continue", b"goto", b"return", b"while", b"for", b"do", b"co_return"];
        let Some(at) = self.offset(line, column) else { return Found::Nothing };
        let word = jumps::word(&self.bytes[at..]);
        if JUMPS.contains(&word) {
            Found::Jump
        } else if !word.is_empty() && !word[0].is_ascii_digit() && self.begins_statement(at) {
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
        let spans = |optimised| {
            let mut lines = Lines::default();
            lines.code(BlockId(0), span(1));
            // As they are visited, not as they lie.
            for (block, line) in [(2, 2), (1, 1), (1, 2)] {
                lines.jump(Jump { block: BlockId(block), span: span(line), inlined_at: 0 });
            }
            lines.finish(3, optimised, |_| "/nowhere/at/all.c".into(), &mut Sources::default())
        };
        assert_eq!(spans(false), [vec![span(1)], vec![span(2)], vec![]]);
        assert_eq!(spans(true), [vec![span(1)], vec![span(2)], vec![span(2)]]);
    }
}
