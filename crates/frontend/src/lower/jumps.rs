//! Statements that jump, in the text of a C source.

/// The name, keyword or number that the text begins with.
pub(super) fn word(text: &[u8]) -> &[u8] {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$') || !b.is_ascii();
    &text[..text.iter().take_while(|b| is_word(b)).count()]
}

/// Statements that go elsewhere, and words after which it is not known what is executed next.
const JUMPS: [&[u8]; 4] = [b"break", b"continue", b"goto", b"return"];
const OTHERS: [&[u8]; 9] = [b"if", b"else", b"for", b"while", b"do", b"switch", b"case", b"default", b"asm"];

/// Where the jump is in a text that begins within a statement or at the end of a scope, which is executed last, and ends where the scope around it does.
/// It must be the only thing that comes next: nothing if there is another statement that could have code, or if the first is a jump itself.
pub(super) fn between(text: &[u8]) -> Option<usize> {
    if JUMPS.contains(&word(text)) {
        return None;
    }
    let ends_scope = text.first() == Some(&b'}');
    let mut at = if ends_scope { 1 } else { end_of_statement(text, 0)? };
    loop {
        at = skip_space(text, at);
        match text.get(at)? {
            b';' | b'{' | b'}' => at += 1,
            b'#' => return None,
            _ => {
                let first = word(&text[at..]);
                if JUMPS.contains(&first) {
                    return Some(at);
                }
                if first.is_empty() || OTHERS.contains(&first) || first[0].is_ascii_digit() {
                    return None;
                }
                let behind = skip_space(text, at + first.len());
                match text.get(behind)? {
                    // A name alone: a macro.
                    b';' => return Some(at),
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
        let found = |text: &str| {
            between(text.as_bytes()).map(|at| String::from_utf8_lossy(&text.as_bytes()[at..]).into_owned())
        };
        assert_eq!(found("g += w;\n  break;\n"), Some("break;\n".into()));
        assert_eq!(found("f(';', \"a;\\\"\"); // break;\n /* x */ goto out;\n"), Some("goto out;\n".into()));
        assert_eq!(found("g += w; LEAVE;"), Some("LEAVE;".into()));
        assert_eq!(found("g += w; int unused; ; continue;"), Some("continue;".into()));
        assert_eq!(found("} return;"), Some("return;".into()));
        for other in [
            "g += w;",
            "g += w; if (0) break;",
            "g += w; f(); break;",
            "g += w; out: break;",
            "g +=",
            "return x; break;",
        ] {
            assert_eq!(found(other), None, "{other}");
        }
    }
}
