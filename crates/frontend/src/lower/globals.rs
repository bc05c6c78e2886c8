//! Global variables: initialisers as bytes and relocations, constructors and destructors.

use super::unit::Unit;
use crate::llvm::{Shape, Value, ValueKind};
use pleach_ir::{Const, FuncId, Global, Init, Reloc, Symbol};

/// Initialisers above this size are not materialised, unless all zero.
const MAX_BYTES: u64 = 1 << 30;

#[derive(Default)]
struct Image {
    bytes: Vec<u8>,
    relocs: Vec<Reloc>,
}

impl<'m> Unit<'m> {
    pub fn global_header(&mut self, g: Value<'m>) -> Global {
        let ty = g.value_type();
        let (debug_type, span) = self.debug.global(g);
        Global {
            name: g.name(),
            size: self.module.alloc_size(ty).unwrap_or(0),
            align: g.alignment().max(self.module.alignment(ty)),
            constant: g.is_constant_global(),
            thread_local: g.is_thread_local(),
            unnamed: g.is_unnamed_global(),
            init: Init::External,
            ty: debug_type,
            span,
        }
    }

    /// Evaluates all initialisers.
    pub fn initialise(&mut self) {
        for g in self.module.globals() {
            let name = g.name();
            match (self.global_id(g), g.initializer()) {
                (Some(id), Some(value)) => {
                    let size = self.program.globals[id.index()].size;
                    self.program.globals[id.index()].init = self.initial(value, size);
                }
                (None, Some(value)) if name == "llvm.global_ctors" => {
                    self.program.constructors = self.prioritised(value, false);
                }
                (None, Some(value)) if name == "llvm.global_dtors" => {
                    self.program.destructors = self.prioritised(value, true);
                }
                _ => {}
            }
        }
    }

    fn initial(&mut self, value: Value<'m>, size: u64) -> Init {
        if value.is_zero() || value.kind() == ValueKind::Undef {
            return Init::Zero;
        }
        if size > MAX_BYTES {
            return Init::Unsupported { what: format!("an initialiser of {size} bytes") };
        }
        let mut image = Image { bytes: vec![0; size as usize], relocs: Vec::new() };
        match self.fill(value, 0, &mut image) {
            Ok(()) => Init::Bytes { bytes: image.bytes, relocs: image.relocs },
            Err(what) => Init::Unsupported { what },
        }
    }

    fn fill(&mut self, v: Value<'m>, at: u64, image: &mut Image) -> Result<(), String> {
        if v.kind() == ValueKind::Undef || v.is_zero() {
            return Ok(());
        }
        if let Some(text) = v.string_bytes() {
            return image.write(at, text);
        }
        if v.kind() != ValueKind::Aggregate {
            return self.fill_scalar(v, at, image);
        }
        let ty = v.ty();
        let missing = || format!("an element of {ty} without a value");
        match ty.shape() {
            Shape::Struct => {
                for field in 0..ty.field_count() {
                    let offset = self.module.field_offset(ty, field);
                    self.fill(v.element(field.into()).ok_or_else(missing)?, at + offset, image)?;
                }
            }
            Shape::Array(of, n) | Shape::Vector(of, n) => {
                let stride = if ty.is_vector() {
                    self.module.size_in_bits(of).filter(|b| b % 8 == 0).map(|b| b / 8)
                } else {
                    self.module.alloc_size(of)
                };
                let stride = stride.ok_or_else(|| format!("a constant of type {ty}"))?;
                for i in 0..n {
                    self.fill(v.element(i).ok_or_else(missing)?, at + i * stride, image)?;
                }
            }
            _ => return Err(format!("a constant of type {ty}")),
        }
        Ok(())
    }

    fn fill_scalar(&mut self, v: Value<'m>, at: u64, image: &mut Image) -> Result<(), String> {
        match self.evaluate(v) {
            Some(Const::Int { width, value }) => {
                image.write(at, &value.to_le_bytes()[..usize::from(width.div_ceil(8))])
            }
            Some(Const::Wide { width, limbs }) => {
                let bytes: Vec<u8> = limbs.iter().flat_map(|l| l.to_le_bytes()).collect();
                image.write(at, &bytes[..usize::from(width.div_ceil(8))])
            }
            Some(Const::Addr { symbol, addend }) => {
                image.relocs.push(Reloc { offset: at, symbol, addend });
                Ok(())
            }
            Some(Const::Undef { .. }) => Ok(()),
            None => Err(format!("the constant expression {}", v.print())),
        }
    }

    /// The functions of a list of `{ priority, function, data }`, by priority; ties keep their order.
    fn prioritised(&mut self, list: Value<'m>, descending: bool) -> Vec<FuncId> {
        let mut found: Vec<(u64, FuncId)> = Vec::new();
        for i in 0.. {
            let Some(entry) = list.element(i) else { break };
            let priority = entry.element(0).and_then(Value::as_u64).unwrap_or(65535);
            if let Some(Symbol::Function(f)) = entry.element(1).and_then(|f| self.symbol(f)) {
                found.push((priority, f));
            }
        }
        found.sort_by_key(|(priority, _)| *priority);
        if descending {
            found.reverse();
        }
        found.into_iter().map(|(_, f)| f).collect()
    }
}

impl Image {
    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), String> {
        let at = usize::try_from(at).map_err(|_| "an offset that does not fit".to_owned())?;
        let room = at.checked_add(bytes.len()).and_then(|end| self.bytes.get_mut(at..end));
        room.ok_or("a constant larger than its variable")?.copy_from_slice(bytes);
        Ok(())
    }
}
