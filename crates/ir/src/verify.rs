//! Checks that a program is what the rest of the engine takes it for.
//!
//! The analyses and the interpreter index without looking: everything they index is checked here once. A function
//! whose shape is broken is not looked at further, since the later checks index too.

mod init;
mod items;
mod shape;
mod widths;

use crate::ids::{BlockId, InstId};
use crate::program::{Function, Program};
use crate::text::print_inst;

/// Every rule broken, each named with its function, block and instruction.
pub fn verify(p: &Program) -> Result<(), Vec<String>> {
    let mut errors = Vec::new();
    items::check(p, &mut errors);
    for f in &p.functions {
        let mut c = Checker { p, f, errors: &mut errors };
        if c.shape() {
            c.widths();
            c.initialised();
        }
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

struct Checker<'a> {
    p: &'a Program,
    f: &'a Function,
    errors: &'a mut Vec<String>,
}

impl<'a> Checker<'a> {
    fn report(&mut self, message: impl std::fmt::Display) {
        self.errors.push(format!("function @{}: {message}", self.f.name));
    }

    fn report_at(&mut self, at: SourcePlace, message: impl std::fmt::Display) {
        let text = print_inst(self.p, self.f, at.inst);
        self.report(format!("block b{}, instruction {} `{text}`: {message}", at.block.0, at.inst.0));
    }

    /// Every instruction with its place; only once the blocks are known to tile the instructions.
    fn places(&self) -> impl Iterator<Item = SourcePlace> + use<'a> {
        let blocks = self.f.blocks.iter().enumerate();
        blocks.flat_map(|(b, block)| {
            let insts = block.first.0..block.first.0 + block.len;
            insts.map(move |i| SourcePlace { block: BlockId::new(b), inst: InstId(i) })
        })
    }
}

#[derive(Clone, Copy)]
struct SourcePlace {
    block: BlockId,
    inst: InstId,
}
