//! Reads what stands at the top: target, files, types, globals, functions.

use super::parse::{Cursor, Parsed};
use crate::ids::TypeId;
use crate::program::{Global, Init, Program, Reloc, SourceFile};
use crate::types::{DebugType, Member};

impl Cursor {
    pub(super) fn item(&mut self, p: &mut Program) -> Parsed<()> {
        match self.word("an item")?.as_str() {
            "target" => {
                p.target.triple = self.string()?;
                self.expect_word("ptr")?;
                p.target.pointer_bytes = self.int()?;
            }
            "file" => p.files.push(SourceFile { path: self.string()? }),
            "type" => p.types.push(self.debug_type()?),
            "remark" => p.remarks.push(self.string()?),
            "constructor" => p.constructors.push(self.func()?),
            "destructor" => p.destructors.push(self.func()?),
            "global" => p.globals.push(self.global()?),
            "func" => {
                let f = self.function()?;
                p.add_function(f);
            }
            other => return self.fail(format!("unknown item `{other}`")),
        }
        Ok(())
    }

    fn global(&mut self) -> Parsed<Global> {
        let name = self.new_name()?;
        self.expect_word("size")?;
        let size = self.int()?;
        self.expect_word("align")?;
        let align = self.int()?;
        let constant = self.eat_word("const");
        let thread_local = self.eat_word("tls");
        let unnamed = self.eat_word("unnamed");
        let ty = self.maybe_type_id();
        let span = self.maybe_span()?;
        self.expect('=')?;
        Ok(Global { name, size, align, constant, thread_local, unnamed, init: self.init()?, ty, span })
    }

    fn init(&mut self) -> Parsed<Init> {
        match self.word("an initialiser")?.as_str() {
            "external" => Ok(Init::External),
            "zero" => Ok(Init::Zero),
            "unsupported" => Ok(Init::Unsupported { what: self.string()? }),
            "bytes" => {
                let hex = self.string()?;
                let Some(bytes) = from_hex(&hex) else { return self.fail("bytes are pairs of hexadecimal digits") };
                let relocs = if self.eat('{') { self.list('}', Cursor::reloc)? } else { Vec::new() };
                Ok(Init::Bytes { bytes, relocs })
            }
            other => self.fail(format!("unknown initialiser `{other}`")),
        }
    }

    fn reloc(&mut self) -> Parsed<Reloc> {
        let offset = self.int()?;
        self.expect(':')?;
        let (symbol, addend) = self.address()?;
        Ok(Reloc { offset, symbol, addend })
    }

    fn debug_type(&mut self) -> Parsed<DebugType> {
        Ok(match self.word("a kind of type")?.as_str() {
            "base" => DebugType::Base { name: self.string()?, bits: self.int()?, encoding: self.op()? },
            "pointer" => DebugType::Pointer { to: self.type_or_none()? },
            "array" => DebugType::Array { element: self.type_id()?, count: self.int()? },
            "struct" => DebugType::Struct { name: self.string()?, size: self.int()?, members: self.members()? },
            "union" => DebugType::Union { name: self.string()?, size: self.int()?, members: self.members()? },
            "enum" => {
                let (name, bits) = (self.string()?, self.int()?);
                let signed = self.eat_word("signed");
                if !signed {
                    self.expect_word("unsigned")?;
                }
                self.expect('{')?;
                let variants = self.list('}', |c| Ok((c.string()?, c.int()?)))?;
                DebugType::Enum { name, bits, signed, variants }
            }
            "function" => {
                let result = self.type_or_none()?;
                self.expect('{')?;
                DebugType::Function { result, parameters: self.list('}', Cursor::type_id)? }
            }
            "named" => DebugType::Named { name: self.string()?, of: self.type_or_none()? },
            "unknown" => DebugType::Unknown { size: self.int()? },
            other => return self.fail(format!("unknown kind of type `{other}`")),
        })
    }

    fn type_or_none(&mut self) -> Parsed<Option<TypeId>> {
        if self.eat_word("none") { Ok(None) } else { self.type_id().map(Some) }
    }

    fn members(&mut self) -> Parsed<Vec<Member>> {
        self.expect('{')?;
        self.list('}', |c| {
            let (name, offset) = (c.string()?, c.int()?);
            let bits = if c.eat_word("bits") { Some((c.int()?, c.int()?)) } else { None };
            Ok(Member { name, offset, bits, ty: c.type_id()? })
        })
    }
}

fn from_hex(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let digits = digits.filter(|d| d.len() % 2 == 0)?;
    Some(digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect())
}
