//! Reads instructions: the results, then the word of the operation decides.

use super::lex::Tok;
use super::parse::{Cursor, Parsed};
use super::parse_body::{Body, push_all};
use super::words::Word;
use crate::ids::Slot;
use crate::inst::{BinOp, Callee, Case, CastOp, FBinOp, Inst, Opnd, Range, Scaled, flags};

impl Cursor {
    pub(super) fn inst(&mut self, body: &mut Body) -> Parsed<Inst> {
        let mut dsts = Vec::new();
        if let Tok::Slot(_) = self.peek() {
            dsts.push(self.slot()?);
            while self.eat(',') {
                dsts.push(self.slot()?);
            }
            self.expect('=')?;
        }
        let word = self.word("an instruction")?;
        match (word.as_str(), dsts.as_slice()) {
            ("call" | "icall" | "scalar", _) => self.many_results(&word, body, dsts),
            (_, []) => self.no_result(&word, body),
            (_, &[dst]) => self.one_result(&word, body, dst),
            _ => self.fail(format!("`{word}` has one result")),
        }
    }

    fn many_results(&mut self, word: &str, body: &mut Body, dsts: Vec<Slot>) -> Parsed<Inst> {
        let dsts = push_all(&mut body.f.dsts, dsts);
        if word == "scalar" {
            return Ok(Inst::Scalar { op: self.op()?, ty: self.ty()?, dsts, args: self.args(body)? });
        }
        let callee = if word == "call" { Callee::Direct(self.func()?) } else { Callee::Indirect(self.opnd(body)?) };
        Ok(Inst::Call { callee, dsts, args: self.args(body)? })
    }

    fn one_result(&mut self, word: &str, body: &mut Body, dst: Slot) -> Parsed<Inst> {
        if let Some(op) = BinOp::from_word(word) {
            let flags = self.promises();
            let width = self.width()?;
            let [a, b] = self.opnds(body)?;
            return Ok(Inst::Bin { op, flags, width, dst, a, b });
        }
        if let Some(op) = CastOp::from_word(word) {
            let (from, a) = (self.width()?, self.opnd(body)?);
            self.expect_word("to")?;
            return Ok(Inst::Cast { op, from, to: self.width()?, dst, a });
        }
        if let Some(op) = FBinOp::from_word(word) {
            let ty = self.op()?;
            let [a, b] = self.opnds(body)?;
            return Ok(Inst::FBin { op, ty, dst, a, b });
        }
        Ok(match word {
            "cmp" => {
                let (op, width) = (self.op()?, self.width()?);
                let [a, b] = self.opnds(body)?;
                Inst::Cmp { op, width, dst, a, b }
            }
            "select" => {
                let ty = self.ty()?;
                let [cond, a, b] = self.opnds(body)?;
                Inst::Select { ty, dst, cond, a, b }
            }
            "mov" => Inst::Mov { dst, a: self.opnd(body)? },
            "freeze" => Inst::Freeze { ty: self.ty()?, dst, a: self.opnd(body)? },
            "undef" => Inst::Undef { dst },
            "load" => {
                let (volatile, align) = self.access()?;
                Inst::Load { ty: self.ty()?, volatile, align, dst, ptr: self.opnd(body)? }
            }
            "gep" => self.gep(body, dst)?,
            "alloca" => {
                let size = self.int()?;
                self.expect(',')?;
                let (count_width, count) = (self.width()?, self.opnd(body)?);
                self.expect(',')?;
                self.expect_word("object")?;
                Inst::Alloca { dst, size, count, count_width, object: self.int()? }
            }
            "fneg" => Inst::FNeg { ty: self.op()?, dst, a: self.opnd(body)? },
            "fcmp" => {
                let (op, ty) = (self.op()?, self.op()?);
                let [a, b] = self.opnds(body)?;
                Inst::FCmp { op, ty, dst, a, b }
            }
            "fcast" => {
                let (op, from, a) = (self.op()?, self.ty()?, self.opnd(body)?);
                self.expect_word("to")?;
                Inst::FCast { op, from, to: self.ty()?, dst, a }
            }
            "va_arg" => Inst::VaArg { ty: self.ty()?, dst, list: self.opnd(body)? },
            "stack_save" => Inst::StackSave { dst },
            other => return self.fail(format!("`{other}` is no instruction with a result")),
        })
    }

    fn no_result(&mut self, word: &str, body: &mut Body) -> Parsed<Inst> {
        Ok(match word {
            "store" => {
                let (volatile, align) = self.access()?;
                let ty = self.ty()?;
                let [ptr, value] = self.opnds(body)?;
                Inst::Store { ty, volatile, align, ptr, value }
            }
            "memcpy" | "memmove" => {
                let [dst, src] = self.opnds(body)?;
                self.expect(',')?;
                Inst::MemCopy { mov: word == "memmove", dst, src, len_width: self.width()?, len: self.opnd(body)? }
            }
            "memset" => {
                let [dst, byte] = self.opnds(body)?;
                self.expect(',')?;
                Inst::MemSet { dst, byte, len_width: self.width()?, len: self.opnd(body)? }
            }
            "va_start" => Inst::VaStart { list: self.opnd(body)? },
            "va_end" => Inst::VaEnd { list: self.opnd(body)? },
            "va_copy" => {
                let [dst, src] = self.opnds(body)?;
                Inst::VaCopy { dst, src }
            }
            "stack_restore" => Inst::StackRestore { mark: self.opnd(body)? },
            "scope_end" => Inst::ScopeEnd { local: self.opnd(body)? },
            "assume" => Inst::Assume { cond: self.opnd(body)? },
            "check" => Inst::Check { kind: self.op()?, cond: self.opnd(body)? },
            "unsupported" => Inst::Unsupported { name: body.name(self.string()?) },
            "jump" => Inst::Jump { edge: self.edge(body)? },
            "branch" => {
                let cond = self.opnd(body)?;
                self.expect(',')?;
                let taken = self.edge(body)?;
                self.expect(',')?;
                let other = self.edge(body)?;
                Inst::Branch { cond, edges: push_all(&mut body.f.edges, vec![taken, other]).start }
            }
            "switch" => self.switch(body)?,
            "ijump" => {
                let target = self.opnd(body)?;
                self.expect('{')?;
                let edges = self.list('}', |c| c.edge(body))?;
                Inst::IndirectJump { target, edges: push_all(&mut body.f.edges, edges) }
            }
            "return" => Inst::Return { values: self.args(body)? },
            "unreachable" => Inst::Unreachable,
            other => return self.fail(format!("`{other}` is no instruction without a result")),
        })
    }

    fn gep(&mut self, body: &mut Body, dst: Slot) -> Parsed<Inst> {
        let base = self.opnd(body)?;
        self.expect(',')?;
        let offset = self.int()?;
        self.expect(',')?;
        self.expect('[')?;
        let parts: Vec<Scaled> = self.list(']', |c| {
            let (width, index) = (c.width()?, c.opnd(body)?);
            c.expect('*')?;
            Ok(Scaled { index, width, scale: c.int()? })
        })?;
        let parts: Range = push_all(&mut body.f.scaled, parts);
        Ok(Inst::Gep { dst, base, offset, parts })
    }

    fn switch(&mut self, body: &mut Body) -> Parsed<Inst> {
        let (width, value) = (self.width()?, self.opnd(body)?);
        self.expect(',')?;
        let default = self.edge(body)?;
        self.expect('{')?;
        let cases = self.list('}', |c| {
            let value = c.int()?;
            c.expect(':')?;
            Ok(Case { value, edge: c.edge(body)? })
        })?;
        let default = push_all(&mut body.f.edges, vec![default]).start;
        Ok(Inst::Switch { width, value, default, cases: push_all(&mut body.f.cases, cases) })
    }

    /// What an access says before its type.
    fn access(&mut self) -> Parsed<(bool, u8)> {
        let volatile = self.eat_word("volatile");
        Ok((volatile, if self.eat_word("align") { self.int()? } else { 0 }))
    }

    fn promises(&mut self) -> u8 {
        let mut set = 0;
        for (bit, word) in [(flags::NSW, "nsw"), (flags::NUW, "nuw"), (flags::EXACT, "exact"), (flags::MOVED, "moved")]
        {
            if self.eat_word(word) {
                set |= bit;
            }
        }
        set
    }

    fn opnds<const N: usize>(&mut self, body: &mut Body) -> Parsed<[Opnd; N]> {
        let mut out = [Opnd::slot(Slot(0)); N];
        for (i, o) in out.iter_mut().enumerate() {
            if i > 0 {
                self.expect(',')?;
            }
            *o = self.opnd(body)?;
        }
        Ok(out)
    }
}
