//! Reads functions: the header, the declarations, the blocks, and what instructions keep in the pools.

use super::lex::Tok;
use super::parse::{Cursor, Parsed};
use crate::ids::{BlockId, InstId};
use crate::inst::{Arg, Copy, Edge, Opnd, Range};
use crate::program::{Block, Const, Function, Param, SlotInfo, StackObject};
use rustc_hash::FxHashMap;

/// The function under construction.
#[derive(Default)]
pub(super) struct Body {
    pub(super) f: Function,
    consts: FxHashMap<Const, u32>,
    names: FxHashMap<String, u32>,
}

impl Body {
    fn constant(&mut self, c: Const) -> Opnd {
        let index = *self.consts.entry(c).or_insert_with_key(|c| {
            self.f.consts.push(c.clone());
            self.f.consts.len() as u32 - 1
        });
        Opnd::constant(index)
    }

    pub(super) fn name(&mut self, n: String) -> u32 {
        *self.names.entry(n).or_insert_with_key(|n| {
            self.f.names.push(n.clone());
            self.f.names.len() as u32 - 1
        })
    }
}

/// Appends to a pool.
pub(super) fn push_all<T>(pool: &mut Vec<T>, items: Vec<T>) -> Range {
    let r = Range { start: pool.len() as u32, len: items.len() as u32 };
    pool.extend(items);
    r
}

impl Cursor {
    pub(super) fn function(&mut self) -> Parsed<Function> {
        let mut body = Body::default();
        body.f.name = self.new_name()?;
        self.expect('(')?;
        body.f.params = self.list(')', Cursor::param)?;
        self.expect_arrow()?;
        self.expect('(')?;
        body.f.results = self.list(')', Cursor::ty)?;
        body.f.variadic = self.eat_word("variadic");
        body.f.noreturn = self.eat_word("noreturn");
        body.f.span = self.maybe_span()?;
        self.expect('{')?;
        self.declarations(&mut body.f)?;
        while !self.eat('}') {
            self.one_block(&mut body)?;
        }
        Ok(body.f)
    }

    fn param(&mut self) -> Parsed<Param> {
        let (slot, ty) = (self.slot()?, self.ty()?);
        let byval = if self.eat_word("byval") { Some((self.int()?, self.int()?)) } else { None };
        Ok(Param { slot, ty, byval, name: self.maybe_string(), debug_type: self.maybe_type_id() })
    }

    fn declarations(&mut self, f: &mut Function) -> Parsed<()> {
        loop {
            if self.eat_word("slot") {
                if self.slot()?.index() != f.slots.len() {
                    return self.fail("slots are declared in order");
                }
                let ty = self.ty()?;
                f.slots.push(SlotInfo { ty, name: self.maybe_string(), debug_type: self.maybe_type_id() });
            } else if self.eat_word("object") {
                if self.int::<usize>()? != f.objects.len() {
                    return self.fail("objects are declared in order");
                }
                let name = self.string()?;
                self.expect_word("align")?;
                f.objects.push(StackObject { name, align: self.int()?, ty: self.maybe_type_id() });
            } else if self.eat_word("label") {
                f.labels.push((self.string()?, self.block()?));
            } else {
                return Ok(());
            }
        }
    }

    fn one_block(&mut self, body: &mut Body) -> Parsed<()> {
        if self.block()? != BlockId::new(body.f.blocks.len()) {
            return self.fail("blocks are numbered in order");
        }
        body.f.block_weight.push(if self.eat_word("weight") { self.int()? } else { 0 });
        let spans = if self.eat_word("spans") {
            self.expect('[')?;
            self.list(']', Cursor::span)?
        } else {
            Vec::new()
        };
        body.f.block_spans.push(spans);
        self.expect(':')?;
        let first = InstId::new(body.f.insts.len());
        while !self.at_block_end() {
            let inst = self.inst(body)?;
            body.f.insts.push(inst);
            let span = self.maybe_span()?;
            body.f.spans.push(span);
        }
        let len = body.f.insts.len() as u32 - first.0;
        body.f.blocks.push(Block { first, len });
        Ok(())
    }

    fn at_block_end(&self) -> bool {
        match self.peek() {
            Tok::Punct('}') | Tok::End => true,
            Tok::Word(w) => super::words::numbered(w, 'b').is_some(),
            _ => false,
        }
    }

    pub(super) fn opnd(&mut self, body: &mut Body) -> Parsed<Opnd> {
        if let Tok::Slot(_) = self.peek() {
            let slot = self.slot()?;
            // Operands tell slots from constants by their top bit.
            return if slot.0 >> 31 == 0 { Ok(Opnd::slot(slot)) } else { self.fail("the slot number is too large") };
        }
        let c = if self.eat_word("undef") {
            Const::Undef { width: self.width()? }
        } else if self.eat_word("wide") {
            let width = self.width()?;
            self.expect('[')?;
            Const::Wide { width, limbs: self.list(']', Cursor::int)? }
        } else if matches!(self.peek(), Tok::Word(w) if w.starts_with('i')) {
            Const::Int { width: self.width()?, value: self.int()? }
        } else {
            let (symbol, addend) = self.address()?;
            Const::Addr { symbol, addend }
        };
        Ok(body.constant(c))
    }

    /// After the opening parenthesis.
    pub(super) fn args(&mut self, body: &mut Body) -> Parsed<Range> {
        self.expect('(')?;
        let args = self.list(')', |c| {
            let (ty, value) = (c.ty()?, c.opnd(body)?);
            let byval = if c.eat_word("byval") { c.int()? } else { 0 };
            Ok(Arg { value, ty, byval })
        })?;
        Ok(push_all(&mut body.f.args, args))
    }

    pub(super) fn edge(&mut self, body: &mut Body) -> Parsed<Edge> {
        let target = self.block()?;
        let copies = if self.eat('[') {
            self.list(']', |c| {
                let dst = c.slot()?;
                c.expect('=')?;
                Ok(Copy { dst, src: c.opnd(body)? })
            })?
        } else {
            Vec::new()
        };
        Ok(Edge { target, copies: push_all(&mut body.f.copies, copies) })
    }
}
