//! Reads the prefix form of [`crate::print`] back. For tests and for stating rules; not for user input.

use crate::bits::{self, Limbs};
use crate::print::{has_width, name};
use crate::symbol::SymbolKind;
use crate::term::{BaseId, Op, TermId, Terms, arity};
use rustc_hash::FxHashMap;

/// What is wrong with a text, and at which byte.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ParseError {
    pub at: usize,
    pub what: &'static str,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} at byte {}", self.what, self.at)
    }
}

impl std::error::Error for ParseError {}

/// Whether the builder rewrites what is read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    Rewritten,
    /// exactly as written, for the left side of a rule
    Raw,
}

/// An open parenthesis with what was read in it so far.
struct Open {
    head: Head,
    numbers: Vec<u32>,
    args: Vec<TermId>,
}

enum Head {
    Op(Op),
    Let,
    /// `($n term)` within a `let`
    Binding(u32),
}

const OPERATORS: [Op; 46] = [
    Op::Store,
    Op::Read,
    Op::Not,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Neg,
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::UDiv,
    Op::SDiv,
    Op::URem,
    Op::SRem,
    Op::Shl,
    Op::LShr,
    Op::AShr,
    Op::Eq,
    Op::Ult,
    Op::Ule,
    Op::Slt,
    Op::Sle,
    Op::Concat,
    Op::Extract,
    Op::ZExt,
    Op::SExt,
    Op::Ite,
    Op::ArrayEq,
    Op::Forall,
    Op::FAdd,
    Op::FSub,
    Op::FMul,
    Op::FDiv,
    Op::FRem,
    Op::FSqrt,
    Op::FRound,
    Op::FFma,
    Op::FEq,
    Op::FLt,
    Op::FLe,
    Op::FIsNan,
    Op::FResize,
    Op::FToSigned,
    Op::FToUnsigned,
    Op::FFromSigned,
    Op::FFromUnsigned,
];

impl Terms {
    pub fn parse(&mut self, text: &str, mode: Mode) -> Result<TermId, ParseError> {
        let mut reader = Reader { text, at: 0 };
        let mut names: FxHashMap<u32, TermId> = FxHashMap::default();
        let mut open: Vec<Open> = Vec::new();
        loop {
            reader.skip_space();
            let term = match reader.peek() {
                None => return reader.fail("text ends within a term"),
                Some('(') => {
                    reader.at += 1;
                    open.push(reader.head()?);
                    continue;
                }
                Some(')') => {
                    reader.at += 1;
                    let Some(top) = open.pop() else { return reader.fail("closing parenthesis") };
                    match top.head {
                        Head::Binding(n) => {
                            let [t] = top.args[..] else { return reader.fail("one term in a binding") };
                            names.insert(n, t);
                            continue;
                        }
                        Head::Let => {
                            let [t] = top.args[..] else { return reader.fail("one body of a let") };
                            t
                        }
                        Head::Op(op) => self
                            .close(op, &top, mode)
                            .ok_or(ParseError { at: reader.at, what: "arguments of the operator" })?,
                    }
                }
                Some('$') => {
                    reader.at += 1;
                    let n = reader.number()?;
                    *names.get(&n).ok_or(ParseError { at: reader.at, what: "name without a binding" })?
                }
                Some(_) => match reader.atom(self)? {
                    Atom::Term(t) => t,
                    Atom::Number(n) => {
                        let Some(top) = open.last_mut() else { return reader.fail("a number is no term") };
                        top.numbers.push(n);
                        continue;
                    }
                },
            };
            match open.last_mut() {
                Some(top) => top.args.push(term),
                None => {
                    reader.skip_space();
                    return if reader.peek().is_none() { Ok(term) } else { reader.fail("text after the term") };
                }
            }
        }
    }

    fn close(&mut self, op: Op, o: &Open, mode: Mode) -> Option<TermId> {
        if o.args.len() != arity(op) {
            return None;
        }
        let expected = if op == Op::Extract { 2 } else { usize::from(has_width(op) || op == Op::FRound) };
        if o.numbers.len() != expected {
            return None;
        }
        let first = self.width(o.args[0]);
        let width = match op {
            Op::Extract => u16::try_from(o.numbers[1]).ok()?,
            op if has_width(op) => u16::try_from(o.numbers[0]).ok()?,
            Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle | Op::ArrayEq | Op::Forall => 1,
            Op::FEq | Op::FLt | Op::FLe | Op::FIsNan => 1,
            Op::Concat => first + self.width(o.args[1]),
            Op::Ite => self.width(o.args[1]),
            _ => first,
        };
        let immediate = match op {
            Op::Extract | Op::FRound => o.numbers[0],
            Op::FToSigned | Op::FToUnsigned => 4,
            _ => 0,
        };
        if mode == Mode::Raw {
            return Some(self.raw(op, width, &o.args, immediate));
        }
        let node = crate::term::Node { op, facts: 0, width, a: 0, b: immediate, c: 0 };
        Some(self.rebuild(node, &o.args))
    }
}

enum Atom {
    Term(TermId),
    Number(u32),
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }
    fn fail<T>(&self, what: &'static str) -> Result<T, ParseError> {
        Err(ParseError { at: self.at, what })
    }
    fn skip_space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }
    /// The text up to the first character that `stop` holds of.
    fn take(&mut self, stop: impl Fn(char) -> bool) -> &'a str {
        let rest = &self.text[self.at..];
        let end = rest.find(stop).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }
    fn word(&mut self) -> &'a str {
        self.take(|c| c.is_whitespace() || "():[]{}".contains(c))
    }
    fn number(&mut self) -> Result<u32, ParseError> {
        self.word().parse().or_else(|_| self.fail("a number"))
    }
    fn expect(&mut self, c: char) -> Result<(), ParseError> {
        if self.peek() == Some(c) {
            self.at += c.len_utf8();
            return Ok(());
        }
        self.fail("another character")
    }
    fn width(&mut self) -> Result<u16, ParseError> {
        self.expect(':')?;
        match self.word().parse() {
            Ok(w) if w > 0 => Ok(w),
            _ => self.fail("a width"),
        }
    }

    fn head(&mut self) -> Result<Open, ParseError> {
        self.skip_space();
        if self.peek() == Some('$') {
            self.at += 1;
            let n = self.number()?;
            return Ok(Open { head: Head::Binding(n), numbers: Vec::new(), args: Vec::new() });
        }
        let word = self.word();
        let head = match OPERATORS.iter().find(|&&op| !word.is_empty() && name(op) == word) {
            Some(&op) => Head::Op(op),
            None if word == "let" => Head::Let,
            None => return self.fail("an operator"),
        };
        Ok(Open { head, numbers: Vec::new(), args: Vec::new() })
    }

    fn atom(&mut self, terms: &mut Terms) -> Result<Atom, ParseError> {
        let Some(c) = self.peek() else { return self.fail("a term") };
        if c == '@' {
            self.at += 1;
            let n = self.number()?;
            return Ok(Atom::Term(terms.base(BaseId(n))));
        }
        if c == '{' {
            return self.table(terms);
        }
        if c.is_ascii_digit() || c == '-' {
            return self.constant(terms);
        }
        let name = if c == '|' {
            self.at += 1;
            let s = self.take(|c| c == '|');
            self.expect('|')?;
            s
        } else {
            self.word()
        };
        if self.peek() == Some('[') {
            self.at += 1;
            let len = self.number()?;
            self.expect(']')?;
            let element = self.width()?;
            let symbol = terms.symbols.named(name, SymbolKind::Array { element, len });
            return Ok(Atom::Term(terms.array_var(symbol)));
        }
        let width = self.width()?;
        let symbol = terms.symbols.named(name, SymbolKind::Bits(width));
        Ok(Atom::Term(terms.var(symbol)))
    }

    fn table(&mut self, terms: &mut Terms) -> Result<Atom, ParseError> {
        self.at += 1;
        let mut values = Vec::new();
        loop {
            self.skip_space();
            if self.peek() == Some('}') {
                self.at += 1;
                break;
            }
            values.push(self.word().parse().or_else(|_| self.fail("an element"))?);
        }
        let element = self.width()?;
        Ok(Atom::Term(terms.array_const(element, &values)))
    }

    fn constant(&mut self, terms: &mut Terms) -> Result<Atom, ParseError> {
        let word = self.word();
        if self.peek() != Some(':') {
            return match word.parse() {
                Ok(n) => Ok(Atom::Number(n)),
                Err(_) => self.fail("a number"),
            };
        }
        let width = self.width()?;
        let digits = word.trim_start_matches('-');
        let value: Limbs = match digits.strip_prefix("0x") {
            Some(hex) => {
                let mut v = bits::zero(width);
                for d in hex.chars() {
                    let Some(d) = d.to_digit(16) else { return self.fail("a hexadecimal digit") };
                    v = bits::shl(&v, 4, width);
                    v[0] |= bits::from_u64(u64::from(d), width)[0];
                }
                v
            }
            None => match digits.parse() {
                Ok(n) => bits::from_u64(n, width),
                Err(_) => return self.fail("a constant"),
            },
        };
        let value = if word.starts_with('-') { bits::neg(&value, width) } else { value };
        Ok(Atom::Term(terms.wide_constant(width, &value)))
    }
}
