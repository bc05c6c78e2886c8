//! Statements that jump, in the text of a C source.

/// The name, keyword or number that the text begins with.
pub(super) fn word(text: &[u8]) -> &[u8] {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$') || !b.is_ascii();
    &text[..text.iter().take_while(|b| is_word(b)).count()]
}

/// Statements that go elsewhere, and words after which it is not known what is executed next.
const JUMPS: [&[u8]; 4] = [b"break", b"continue", b"goto", b"return"];
const OTHERS: [&[u8]; 9] = [b"if", b"else", b"for", b"while", b"do", b"switch", b"case", b"default", b"asm"];

/// What comes next behind a piece of code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Next<Place> {
    /// a jump, there
    Jump(Place),
    /// the end of the scope
    End,
    Unknown,
}

/// What comes next in a text that begins at the code that was executed last, or at the end of a scope, and ends where
/// the scope around it does. `called` is the function that this code calls, if it is a call.
// SOUND: a jump that is found is executed whenever the block is. From the first statement to the end of the scope there
// is one straight piece of code, and whatever could leave it before is refused: other statements, and names that may be
// macros with a jump inside.
pub(super) fn next(text: &[u8], called: Option<&str>) -> Next<usize> {
    find(text, called).unwrap_or(Next::Unknown)
}

fn find(text: &[u8], called: Option<&str>) -> Option<Next<usize>> {
    let first = word(text);
    let behind = text.get(skip_space(text, first.len()));
    let is_macro = !first.is_empty()
        && match behind {
            Some(b'(') => called.map(str::as_bytes) != Some(first),
            Some(b';') => true,
            _ => false,
        };
    if is_macro || JUMPS.contains(&first) {
        return None;
    }
    let mut at = if text.first() == Some(&b'}') { 1 } else { end_of_statement(text, 0)? };
    loop {
        at = skip_space(text, at);
        match text.get(at) {
            None => return Some(Next::End),
            Some(b';' | b'{') => at += 1,
            Some(b'#' | b'}') => return None,
            Some(_) => {
                let first = word(&text[at..]);
                if JUMPS.contains(&first) {
                    return Some(Next::Jump(at));
                }
                if first.is_empty() || OTHERS.contains(&first) || first[0].is_ascii_digit() {
                    return None;
                }
                let behind = skip_space(text, at + first.len());
                match text.get(behind)? {
                    // A name alone: a macro.
                    b';' => return Some(Next::Jump(at)),
                    // A label, or perhaps a call or an assignment, which would have code.
                    b':' | b'(' | b'=' | b'+' | b'-' | b'[' | b'.' => return None,
                    _ => at = end_of_statement(text, behind)?,
                }
            }
        }
    }
}

/// Behind the semicolon or brace that ends the statement.
fn end_of_statement(text: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0i32;
    loop {
        at = skip_space(text, at);
        match text.get(at)? {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b';' if depth <= 0 => return Some(at + 1),
            // The end of a list of values is none of the statement.
            b'{' | b'}' => return None,
            quote @ (b'"' | b'\'') => {
                let mut inner = at + 1;
                while text.get(inner)? != quote {
                    inner += if text[inner] == b'\\' { 2 } else { 1 };
                }
                at = inner;
            }
            _ => {}
        }
        at += 1;
    }
}

/// Behind white space and comments.
fn skip_space(text: &[u8], mut at: usize) -> usize {
    let find = |from: usize, what: &[u8]| text[from..].windows(what.len()).position(|w| w == what).map(|i| from + i);
    loop {
        let rest = &text[at.min(text.len())..];
        if rest.starts_with(b"//") {
            at = find(at, b"\n").unwrap_or(text.len());
        } else if rest.starts_with(b"/*") {
            at = find(at + 2, b"*/").map_or(text.len(), |end| end + 2);
        } else if rest.first().is_some_and(u8::is_ascii_whitespace) {
            at += 1;
        } else {
            return at.min(text.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_jump_is_what_comes_next() {
        let found = |text: &str| match next(text.as_bytes(), Some("f")) {
            Next::Jump(at) => text[at..].to_owned(),
            other => format!("{other:?}"),
        };
        assert_eq!(found("g += w;\n  break;\n"), "break;\n");
        assert_eq!(found("f(';', \"a;\\\"\"); // break;\n /* x */ goto out;\n"), "goto out;\n");
        assert_eq!(found("g += w; LEAVE;"), "LEAVE;");
        assert_eq!(found("g += w; int unused; ; continue;"), "continue;");
        assert_eq!(found("} return;"), "return;");
        assert_eq!(found("g += w; // break;\n"), "End");
        let others = ["g += w; if (0) break;", "g += w; f(); break;", "g += w; out: break;", "g +="];
        let macros = ["return x; break;", "BAIL(x); break;", "BAIL; break;"];
        for other in others.into_iter().chain(macros) {
            assert_eq!(found(other), "Unknown", "{other}");
        }
    }
}
