//! Loops of a source by places inside them.

use crate::expression::refused;
use crate::statements::{Sort, Statement, Structure};
use crate::tokens::Source;

/// A loop as its keyword shows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LoopPlace {
    /// of the keyword
    pub line: u32,
    pub column: u32,
    /// the condition, if evaluating it has no effect; `for (;;)`: 1
    pub condition: Option<String>,
    /// the condition is evaluated before the body
    pub tests_first: bool,
}

/// The innermost loop whose keyword, condition or body has the place.
pub fn around(source: &Source, structure: &Structure, line: u32, column: u32) -> Option<LoopPlace> {
    let offset = source.offset(line, column.max(1))?;
    let start = |word: usize| source.tokens.get(word).map_or(usize::MAX, |t| t.start);
    let within = |r: (usize, usize)| r.0 < r.1 && start(r.0) <= offset && offset < start(r.1);
    // What `for` does first belongs to what is around it.
    let all = structure.statements.iter().filter(|s| s.sort.is_loop());
    let inside = |s: &&Statement| offset == start(s.from) || within(s.condition) || within(s.body);
    let inner = all.filter(inside).min_by_key(|s| s.to - s.from)?;
    let (line, column) = source.position(start(inner.from));
    let text = match inner.condition {
        (from, to) if from == to => "1".to_owned(),
        (from, to) => source.text[start(from)..source.tokens[to - 1].end].to_owned(),
    };
    let condition = refused(&text).is_none().then_some(text);
    Some(LoopPlace { line, column, condition, tests_first: inner.sort != Sort::Do })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_innermost_loop() {
        let text = "int f(int x) {\n while (x > 1)\n  for (int i = 0; g(i); i++)\n   do x--; while (x);\n}\n";
        let source = Source::new(text.into(), &[]).unwrap();
        let structure = Structure::of(&source);
        let at = |line, column| around(&source, &structure, line, column).map(|l| (l.line, l.column, l.condition));
        assert_eq!(at(2, 9), Some((2, 2, Some("x > 1".into()))));
        assert_eq!(at(3, 12), Some((2, 2, Some("x > 1".into()))));
        assert_eq!((at(3, 19), at(3, 3)), (Some((3, 3, None)), Some((3, 3, None))));
        assert_eq!(at(4, 7), Some((4, 4, Some("x".into()))));
        assert_eq!(at(1, 1), None);
    }
}
