//! Expressions of witnesses: one C expression without effects, which cannot leave the place where it is put.

use crate::conditions::Conditions;
use crate::tokens::{Kind, tokens};

/// Words that begin no expression, or one with an effect.
const STATEMENTS: [&str; 16] = [
    "asm", "break", "case", "continue", "default", "do", "else", "for", "goto", "if", "return", "switch", "typedef",
    "while", "extern", "static",
];
/// Words of types and operators, which may stand before a parenthesis.
const BEFORE_PARENTHESES: [&str; 3] = ["sizeof", "_Alignof", "__alignof__"];
const EFFECTS: [&str; 16] =
    ["=", "++", "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", ";", "{", "}"];

/// Why a text is no such expression.
pub fn refused(text: &str) -> Option<String> {
    let Some(all) = tokens(text, Conditions::default()) else {
        return Some("a comment or a string does not end".into());
    };
    if all.is_empty() {
        return Some("it is empty".into());
    }
    if text.contains('\n') && text.lines().any(|l| l.trim_start().starts_with('#')) {
        return Some("it has a line of the preprocessor".into());
    }
    let word = |i: usize| all.get(i).map_or("", |t| &text[t.start..t.end]);
    let mut open: Vec<&str> = Vec::new();
    for (i, token) in all.iter().enumerate() {
        match (token.kind, word(i)) {
            (Kind::Word, w) if STATEMENTS.contains(&w) || w.starts_with("__builtin_") => {
                return Some(format!("`{w}` is not allowed in it"));
            }
            (Kind::Word, w) if word(i + 1) == "(" && !BEFORE_PARENTHESES.contains(&w) => {
                return Some(format!("it calls `{w}`"));
            }
            (Kind::Sign, w) if EFFECTS.contains(&w) => return Some(format!("`{w}` is not allowed in it")),
            (Kind::Sign, "(") => open.push(")"),
            (Kind::Sign, "[") => open.push("]"),
            (Kind::Sign, w @ (")" | "]")) if open.pop() != Some(w) => return Some("its brackets do not match".into()),
            (Kind::Sign, w @ ("#" | "##" | "\\" | "@" | "`" | "...")) => {
                return Some(format!("`{w}` is not allowed in it"));
            }
            (Kind::Sign, ",") if open.is_empty() => return Some("it has a comma outside parentheses".into()),
            _ => {}
        }
    }
    (!open.is_empty()).then(|| "its brackets do not match".into())
}

/// What a function returned: the expression over `\result`, with that replaced.
pub(crate) fn of_result(text: &str, by: &str) -> Result<String, String> {
    let replaced = text.replace("\\result", by);
    match refused(&replaced) {
        Some(why) => Err(why),
        None => Ok(replaced),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_expressions_without_effects() {
        for good in ["1", "x >= 0 && (long long)y - x == 5LL", "a[i] == 'x'", "sizeof(int) == 4", "p->q != (void *)0"] {
            assert_eq!(refused(good), None, "{good}");
        }
        let bad = ["", "x = 1", "x++", "f(x)", "(x", "x)", "1), f((2", "x; y", "({ 1; })", "a, b", "x /*", "x\n#if 1"];
        for bad in bad.iter().chain(&["__builtin_trap()", "return 1", "\\result == 1", "\\at(x, Pre)"]) {
            assert!(refused(bad).is_some(), "{bad}");
        }
        assert_eq!(of_result("\\result == -1", "r").as_deref(), Ok("r == -1"));
    }
}
