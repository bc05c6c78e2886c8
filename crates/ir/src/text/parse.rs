//! Reads the text form: the cursor over tokens shared by the parsers of items, bodies and instructions.

use super::lex::{ParseError, Ref, Tok, lex};
use super::words::{Word, numbered, ty_from_word, width_from_word};
use crate::ids::{BlockId, FuncId, GlobalId, Slot, TypeId};
use crate::inst::Ty;
use crate::program::{Program, Span, Symbol, Target};
use rustc_hash::FxHashMap;

pub(super) type Parsed<T> = Result<T, ParseError>;

/// Reads a whole program. Checks the grammar and names; `verify` checks the rest.
pub fn parse(text: &str) -> Parsed<Program> {
    let toks = lex(text)?;
    let mut c = Cursor { toks, pos: 0, funcs: FxHashMap::default(), globals: FxHashMap::default(), counts: (0, 0) };
    c.collect_names();
    let mut p = Program::new(Target { triple: String::new(), pointer_bytes: 8 });
    while *c.peek() != Tok::End {
        c.item(&mut p)?;
    }
    Ok(p)
}

pub(super) struct Cursor {
    toks: Vec<(Tok, u32)>,
    pos: usize,
    funcs: FxHashMap<String, u32>,
    globals: FxHashMap<String, u32>,
    counts: (u32, u32),
}

impl Cursor {
    /// Items may refer to later ones. `func` and `global` before a name occur at the top only.
    fn collect_names(&mut self) {
        for pair in self.toks.windows(2) {
            let Tok::Word(word) = &pair[0].0 else { continue };
            let (table, count, name) = match (word.as_str(), &pair[1].0) {
                ("func", Tok::Func(Ref::Name(n))) => (&mut self.funcs, &mut self.counts.0, n),
                ("global", Tok::Global(Ref::Name(n))) => (&mut self.globals, &mut self.counts.1, n),
                _ => continue,
            };
            table.insert(name.clone(), *count);
            *count += 1;
        }
    }

    pub(super) fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(ParseError { line: self.toks[self.pos].1, message: message.into() })
    }

    fn expected<T>(&self, what: &str) -> Parsed<T> {
        let found = match self.peek() {
            Tok::Word(w) => format!("`{w}`"),
            Tok::Punct(c) => format!("`{c}`"),
            Tok::End => "the end".to_owned(),
            other => format!("{other:?}"),
        };
        self.fail(format!("expected {what}, found {found}"))
    }

    pub(super) fn peek(&self) -> &Tok {
        &self.toks[self.pos].0
    }

    /// Moves on; stays at the end.
    pub(super) fn advance(&mut self) {
        self.pos = (self.pos + 1).min(self.toks.len() - 1);
    }

    pub(super) fn eat(&mut self, c: char) -> bool {
        let found = *self.peek() == Tok::Punct(c);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect(&mut self, c: char) -> Parsed<()> {
        if self.eat(c) { Ok(()) } else { self.expected(&format!("`{c}`")) }
    }

    pub(super) fn expect_arrow(&mut self) -> Parsed<()> {
        match self.peek() {
            Tok::Arrow => {
                self.advance();
                Ok(())
            }
            _ => self.expected("`->`"),
        }
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Tok::Word(w) if w == word);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.eat_word(word) { Ok(()) } else { self.expected(&format!("`{word}`")) }
    }

    /// A word that means something.
    fn meaning<T>(&mut self, what: &str, of: impl Fn(&str) -> Option<T>) -> Parsed<T> {
        let found = match self.peek() {
            Tok::Word(w) => of(w),
            _ => None,
        };
        match found {
            Some(t) => {
                self.advance();
                Ok(t)
            }
            None => self.expected(what),
        }
    }

    pub(super) fn word(&mut self, what: &str) -> Parsed<String> {
        self.meaning(what, |w| Some(w.to_owned()))
    }
    pub(super) fn op<T: Word>(&mut self) -> Parsed<T> {
        self.meaning("an operation", T::from_word)
    }
    pub(super) fn ty(&mut self) -> Parsed<Ty> {
        self.meaning("a type", ty_from_word)
    }
    /// `i32` as a width.
    pub(super) fn width(&mut self) -> Parsed<u16> {
        self.meaning("an integer type", width_from_word)
    }
    pub(super) fn block(&mut self) -> Parsed<BlockId> {
        self.meaning("a block", |w| numbered(w, 'b').map(BlockId))
    }

    pub(super) fn int<T: TryFrom<i128>>(&mut self) -> Parsed<T> {
        let Tok::Int(n) = *self.peek() else { return self.expected("a number") };
        let Ok(n) = T::try_from(n) else { return self.fail(format!("{n} is out of range")) };
        self.advance();
        Ok(n)
    }

    pub(super) fn string(&mut self) -> Parsed<String> {
        match self.maybe_string() {
            Some(s) => Ok(s),
            None => self.expected("a string"),
        }
    }

    pub(super) fn maybe_string(&mut self) -> Option<String> {
        let Tok::Str(s) = self.peek() else { return None };
        let s = s.clone();
        self.advance();
        Some(s)
    }

    pub(super) fn slot(&mut self) -> Parsed<Slot> {
        let Tok::Slot(s) = *self.peek() else { return self.expected("a slot") };
        self.advance();
        Ok(Slot(s))
    }

    pub(super) fn type_id(&mut self) -> Parsed<TypeId> {
        match self.maybe_type_id() {
            Some(t) => Ok(t),
            None => self.expected("a type number"),
        }
    }

    pub(super) fn maybe_type_id(&mut self) -> Option<TypeId> {
        let Tok::Type(t) = *self.peek() else { return None };
        self.advance();
        Some(TypeId(t))
    }

    /// The name an item introduces.
    pub(super) fn new_name(&mut self) -> Parsed<String> {
        let (Tok::Func(Ref::Name(n)) | Tok::Global(Ref::Name(n))) = self.peek() else { return self.expected("a name") };
        let n = n.clone();
        self.advance();
        Ok(n)
    }

    fn resolve(&mut self, r: &Ref, global: bool) -> Parsed<u32> {
        let (table, count) = if global { (&self.globals, self.counts.1) } else { (&self.funcs, self.counts.0) };
        let found = match r {
            Ref::Name(n) => table.get(n).copied(),
            Ref::Index(i) => Some(*i).filter(|i| *i < count),
        };
        match found {
            Some(index) => {
                self.advance();
                Ok(index)
            }
            None => self.fail(format!("nothing is named {r:?}")),
        }
    }

    pub(super) fn func(&mut self) -> Parsed<FuncId> {
        let Tok::Func(r) = self.peek().clone() else { return self.expected("a function") };
        self.resolve(&r, false).map(FuncId)
    }

    /// `$g + 4`, `@f`, `block @f b2`
    pub(super) fn address(&mut self) -> Parsed<(Symbol, i64)> {
        let symbol = if self.eat_word("block") {
            Symbol::Block(self.func()?, self.block()?)
        } else if let Tok::Global(r) = self.peek().clone() {
            Symbol::Global(GlobalId(self.resolve(&r, true)?))
        } else {
            Symbol::Function(self.func()?)
        };
        let addend = if self.eat('+') { self.int()? } else { 0 };
        Ok((symbol, addend))
    }

    /// `0:12:5`
    pub(super) fn span(&mut self) -> Parsed<Span> {
        let file = self.int()?;
        self.expect(':')?;
        let line = self.int()?;
        self.expect(':')?;
        Ok(Span { file, line, column: self.int()? })
    }

    pub(super) fn maybe_span(&mut self) -> Parsed<Span> {
        if self.eat_word("at") { self.span() } else { Ok(Span::default()) }
    }

    /// Items between commas up to `close`, which is taken too.
    pub(super) fn list<T>(&mut self, close: char, mut item: impl FnMut(&mut Cursor) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut out = Vec::new();
        if self.eat(close) {
            return Ok(out);
        }
        loop {
            out.push(item(self)?);
            if self.eat(close) {
                return Ok(out);
            }
            self.expect(',')?;
        }
    }
}
