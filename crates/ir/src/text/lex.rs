//! Cuts text into tokens.

/// Why a text is not a program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct ParseError {
    pub line: u32,
    pub message: String,
}

/// A function or a global, by name or by number.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Ref {
    Name(String),
    Index(u32),
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Tok {
    Word(String),
    Int(i128),
    Str(String),
    Slot(u32),
    Type(u32),
    Func(Ref),
    Global(Ref),
    Arrow,
    Punct(char),
    End,
}

pub(super) fn is_name_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$')
}

/// The tokens with their lines, `End` last.
pub(super) fn lex(text: &str) -> Result<Vec<(Tok, u32)>, ParseError> {
    let mut lexer = Lexer { rest: text, line: 1 };
    let mut toks = Vec::new();
    loop {
        lexer.skip_blank();
        let line = lexer.line;
        let tok = lexer.next()?;
        let end = tok == Tok::End;
        toks.push((tok, line));
        if end {
            return Ok(toks);
        }
    }
}

struct Lexer<'a> {
    rest: &'a str,
    line: u32,
}

impl<'a> Lexer<'a> {
    fn fail<T>(&self, message: impl Into<String>) -> Result<T, ParseError> {
        Err(ParseError { line: self.line, message: message.into() })
    }

    fn skip_blank(&mut self) {
        while let Some(c) = self.rest.chars().next() {
            if c == ';' {
                self.take_while(|c| c != '\n');
            } else if c.is_whitespace() {
                self.line += u32::from(c == '\n');
                self.rest = &self.rest[c.len_utf8()..];
            } else {
                return;
            }
        }
    }

    fn take_while(&mut self, keep: impl Fn(char) -> bool) -> &'a str {
        let end = self.rest.find(|c| !keep(c)).unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at(end);
        self.rest = rest;
        taken
    }

    fn eat(&mut self, c: char) -> bool {
        let rest = self.rest.strip_prefix(c);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn next(&mut self) -> Result<Tok, ParseError> {
        let Some(c) = self.rest.chars().next() else { return Ok(Tok::End) };
        if c.is_ascii_alphabetic() || c == '_' {
            return Ok(Tok::Word(self.take_while(|c| c.is_ascii_alphanumeric() || c == '_').to_owned()));
        }
        if c.is_ascii_digit() {
            return self.number().map(Tok::Int);
        }
        if c == '"' {
            return self.string().map(Tok::Str);
        }
        self.rest = &self.rest[c.len_utf8()..];
        match c {
            '-' if self.eat('>') => Ok(Tok::Arrow),
            '-' => self.number().map(|n| Tok::Int(-n)),
            '%' => self.index().map(Tok::Slot),
            '!' => self.index().map(Tok::Type),
            '@' => self.reference().map(Tok::Func),
            '$' => self.reference().map(Tok::Global),
            '(' | ')' | '[' | ']' | '{' | '}' | ',' | ':' | '=' | '+' | '*' => Ok(Tok::Punct(c)),
            c => self.fail(format!("unexpected character {c:?}")),
        }
    }

    fn number(&mut self) -> Result<i128, ParseError> {
        let word = self.take_while(|c| c.is_ascii_alphanumeric());
        let parsed = match word.strip_prefix("0x") {
            Some(hex) => i128::from_str_radix(hex, 16),
            None => word.parse(),
        };
        parsed.or_else(|_| self.fail(format!("`{word}` is not a number")))
    }

    fn index(&mut self) -> Result<u32, ParseError> {
        let digits = self.take_while(|c| c.is_ascii_digit());
        digits.parse().or_else(|_| self.fail(format!("`{digits}` is not an index")))
    }

    fn reference(&mut self) -> Result<Ref, ParseError> {
        if self.eat('#') {
            return self.index().map(Ref::Index);
        }
        if self.rest.starts_with('"') {
            return self.string().map(Ref::Name);
        }
        match self.take_while(is_name_char) {
            "" => self.fail("a name is missing"),
            name => Ok(Ref::Name(name.to_owned())),
        }
    }

    /// A quoted string; `\"`, `\\` and `\u{…}` stand for characters.
    fn string(&mut self) -> Result<String, ParseError> {
        self.eat('"');
        let mut out = String::new();
        loop {
            out += self.take_while(|c| !matches!(c, '"' | '\\' | '\n'));
            if self.eat('"') {
                return Ok(out);
            }
            if !self.eat('\\') {
                return self.fail("a string does not end on its line");
            }
            if self.eat('u') {
                self.eat('{');
                let digits = self.take_while(|c| c.is_ascii_hexdigit());
                let code = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
                match code.filter(|_| self.eat('}')) {
                    Some(c) => out.push(c),
                    None => return self.fail("`\\u{…}` is not a character"),
                }
            } else if self.eat('"') {
                out.push('"');
            } else if self.eat('\\') {
                out.push('\\');
            } else {
                return self.fail("unknown escape in a string");
            }
        }
    }
}
