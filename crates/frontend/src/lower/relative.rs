//! Tables of distances from themselves (`llvm.load.relative`), which optimisers make of tables of addresses in code
//! that can lie anywhere: next to each one a table of the addresses themselves, to load from.

use super::unit::Unit;
use crate::llvm::{Opcode, Value, ValueKind};
use pleach_ir::{Const, Global, GlobalId, Init, Reloc, Symbol};

/// Bytes of a distance, and of an address.
const DISTANCE: u64 = 4;
pub(crate) const ADDRESS: u64 = 8;

impl<'m> Unit<'m> {
    /// The table of addresses that belongs to a constant that consists of distances from itself.
    pub fn addresses_of(&mut self, table: Value<'m>) -> Option<GlobalId> {
        let mut table = table;
        while let Some(same) = table.operand(0).filter(|_| table.opcode() == Some(Opcode::LLVMBitCast)) {
            table = same;
        }
        if let Some(known) = self.tables.get(&table) {
            return *known;
        }
        let made = self.make_addresses(table);
        self.tables.insert(table, made);
        made
    }

    fn make_addresses(&mut self, table: Value<'m>) -> Option<GlobalId> {
        if table.kind() != ValueKind::Global
            || !table.is_constant_global()
            || u64::from(self.pointer_bits()) != 8 * ADDRESS
        {
            return None;
        }
        let (id, list) = (self.global_id(table)?, table.initializer()?);
        let count = self.program.globals[id.index()].size / DISTANCE;
        let mut relocs = Vec::new();
        for i in 0..count {
            let (symbol, addend) = self.distant(list.element(i)?, id)?;
            relocs.push(Reloc { offset: i * ADDRESS, symbol, addend });
        }
        let of = &self.program.globals[id.index()];
        let addresses = Global {
            name: format!("{}.addresses", of.name),
            size: count * ADDRESS,
            align: ADDRESS as u32,
            constant: true,
            thread_local: false,
            unnamed: false,
            init: Init::Bytes { bytes: vec![0; (count * ADDRESS) as usize], relocs },
            ty: None,
            span: of.span,
        };
        // The distances themselves are not known: nobody else looks at them.
        self.program.globals[id.index()].init = Init::External;
        self.program.globals.push(addresses);
        Some(GlobalId::new(self.program.globals.len() - 1))
    }

    /// What `trunc (sub (ptrtoint x) (ptrtoint table))` is the distance to.
    fn distant(&mut self, entry: Value<'m>, table: GlobalId) -> Option<(Symbol, i64)> {
        let difference = entry.operand(0).filter(|_| entry.opcode() == Some(Opcode::LLVMTrunc))?;
        if difference.opcode() != Some(Opcode::LLVMSub) {
            return None;
        }
        let (to, from) = (self.evaluate(difference.operand(0)?)?, self.evaluate(difference.operand(1)?)?);
        match (to, from) {
            (Const::Addr { symbol, addend }, Const::Addr { symbol: Symbol::Global(g), addend: 0 }) if g == table => {
                Some((symbol, addend))
            }
            _ => None,
        }
    }
}
