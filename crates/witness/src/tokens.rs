//! The words of a C source, with their places. Comments, lines of the preprocessor and what they leave out are no words.
//!
//! *Direction*: a condition of the preprocessor that is more than a name or a number is taken as true. Who changes the
//! source has to see whether the change was compiled.

use crate::conditions::Conditions;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// an identifier or a keyword
    Word,
    Number,
    /// a string or a character constant
    Quoted,
    Sign,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    pub start: usize,
    pub end: usize,
}

/// A source with its words.
pub struct Source {
    pub(crate) text: String,
    pub(crate) tokens: Vec<Token>,
    /// where each line begins
    lines: Vec<usize>,
}

impl Source {
    /// `defines`: as for the compiler, `NAME` or `NAME=VALUE`. Markers of other lines are dropped: places are those of
    /// this text. `None`: a comment or a string does not end.
    pub fn new(text: String, defines: &[String]) -> Option<Source> {
        let text = crate::markers::dropped(text);
        let tokens = tokens(&text, Conditions::new(defines))?;
        let starts = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(i, _)| i + 1);
        let lines = std::iter::once(0).chain(starts).collect();
        Some(Source { text, tokens, lines })
    }

    pub(crate) fn word(&self, i: usize) -> &str {
        self.tokens.get(i).map_or("", |t| &self.text[t.start..t.end])
    }

    /// Line and column of an offset, from 1; columns are bytes, as clang counts them.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let line = self.lines.partition_point(|start| *start <= offset);
        (line as u32, (offset - self.lines[line - 1]) as u32 + 1)
    }

    /// The offset of a place; `None`: there is no such place.
    pub fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let start = *self.lines.get((line as usize).checked_sub(1)?)?;
        let end = self.lines.get(line as usize).copied().unwrap_or(self.text.len() + 1);
        let at = start + (column as usize).checked_sub(1)?;
        (at < end).then_some(at)
    }

    /// The word at which the brackets close that open at word `i`; they are balanced.
    pub(crate) fn closing(&self, i: usize) -> Option<usize> {
        let mut open: Vec<&str> = Vec::new();
        for at in i..self.tokens.len() {
            match self.word(at) {
                "(" => open.push(")"),
                "[" => open.push("]"),
                "{" => open.push("}"),
                w @ (")" | "]" | "}") if open.pop() != Some(w) => return None,
                _ => {}
            }
            if open.is_empty() {
                return Some(at);
            }
        }
        None
    }
}

/// Signs of more than one character, the longer ones first.
const SIGNS: [&str; 23] = [
    "<<=", ">>=", "...", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "##",
];

pub(crate) fn tokens(text: &str, mut conditions: Conditions) -> Option<Vec<Token>> {
    let bytes = text.as_bytes();
    let (mut out, mut at, mut first) = (Vec::new(), 0, true);
    while let Some(&b) = bytes.get(at) {
        let rest = &text.as_bytes()[at..];
        if first && !conditions.are_met() && !rest.trim_ascii_start().starts_with(b"#") {
            at += rest.iter().position(|b| *b == b'\n').map_or(rest.len(), |n| n + 1);
            continue;
        }
        let (kind, len) = match b {
            b'\n' => {
                (first, at) = (true, at + 1);
                continue;
            }
            b if b.is_ascii_whitespace() => {
                at += 1;
                continue;
            }
            b'/' if rest.starts_with(b"//") => {
                at += directive(rest);
                continue;
            }
            b'/' if rest.starts_with(b"/*") => {
                at += 4 + rest[2..].windows(2).position(|w| w == b"*/")?;
                continue;
            }
            b'#' if first => {
                let len = directive(rest);
                conditions.read(&text[at..at + len]);
                at += len;
                continue;
            }
            b'"' | b'\'' => (Kind::Quoted, quoted(rest)?),
            b if is_word(b) && !b.is_ascii_digit() => (Kind::Word, rest.iter().take_while(|b| is_word(**b)).count()),
            b if b.is_ascii_digit() || b == b'.' && rest.get(1).is_some_and(u8::is_ascii_digit) => {
                (Kind::Number, number(rest))
            }
            _ => (Kind::Sign, SIGNS.iter().find(|s| rest.starts_with(s.as_bytes())).map_or(1, |s| s.len())),
        };
        first = false;
        out.push(Token { kind, start: at, end: at + len });
        at += len;
    }
    Some(out)
}

fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || b >= 0x80
}

/// A line that ends without a backslash.
fn directive(rest: &[u8]) -> usize {
    let ends = |i: &usize| rest[*i] == b'\n' && rest[i - 1] != b'\\';
    (1..rest.len()).find(ends).unwrap_or(rest.len())
}

fn quoted(rest: &[u8]) -> Option<usize> {
    let mut at = 1;
    while *rest.get(at)? != rest[0] {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    Some(at + 1)
}

/// A number, with the sign of its exponent.
fn number(rest: &[u8]) -> usize {
    let mut at = 1;
    while rest.get(at).is_some_and(|b| {
        is_word(*b) || *b == b'.' || matches!(b, b'+' | b'-') && matches!(rest[at - 1], b'e' | b'E' | b'p' | b'P')
    }) {
        // In a hexadecimal number `e` is a digit.
        if matches!(rest[at], b'+' | b'-') && rest.starts_with(b"0x") && !matches!(rest[at - 1], b'p' | b'P') {
            break;
        }
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Option<Vec<Token>> {
        super::tokens(text, Conditions::default())
    }

    fn words(text: &str) -> Vec<&str> {
        tokens(text).unwrap().iter().map(|t| &text[t.start..t.end]).collect()
    }

    #[test]
    fn words_of_c() {
        assert_eq!(words("a+++b // c\n/* d */ 'x'\"}\\\"\""), ["a", "++", "+", "b", "'x'", "\"}\\\"\""]);
        assert_eq!(words("#define x \\\n y\nz 0x1e+1 1e+1 .5"), ["z", "0x1e", "+", "1", "1e+1", ".5"]);
        assert_eq!(tokens("/* never"), None);
        assert_eq!(tokens("\"never"), None);
    }

    #[test]
    fn what_the_preprocessor_leaves_out() {
        let text = "a\n#ifdef X\nb don't\n#else\nc\n#endif\n#if 0\n#if 1\nd\n#endif\n#elif 1\ne\n#endif\nf";
        let with = |defines: &[&str]| {
            let defines: Vec<String> = defines.iter().map(|d| (*d).to_owned()).collect();
            let all = super::tokens(text, Conditions::new(&defines))?;
            Some(all.iter().map(|t| &text[t.start..t.end]).collect::<String>())
        };
        assert_eq!(with(&[]).as_deref(), Some("acef"));
        assert_eq!(with(&["X=1"]), None);
    }

    #[test]
    fn places() {
        let s = Source::new("ab\n(c[{d}])".into(), &[]).unwrap();
        assert_eq!((s.position(4), s.offset(2, 2)), ((2, 2), Some(4)));
        assert_eq!((s.offset(1, 3), s.offset(1, 4), s.offset(9, 1), s.offset(0, 1)), (Some(2), None, None, None));
        assert_eq!(s.closing(1), Some(8));
        assert_eq!(Source::new("(]".into(), &[]).unwrap().closing(0), None);
    }
}
