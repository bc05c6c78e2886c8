//! Locals that live shorter than their function: they come into being where their scope begins and end where it ends.
//!
//! Only marks of unoptimised code count: an optimiser may move reads out of the scope.

use super::emit::{Leaves, Lowered, Lowering};
use super::promote::lifetime_mark;
use crate::llvm::{Function, Inst, Opcode, Value};
use pleach_ir::{self as ir, Opnd, Slot, Ty};
use rustc_hash::FxHashSet;

impl<'m> Lowering<'_, 'm> {
    /// Finds the locals of the function whose marks count.
    pub fn find_scopes(&mut self) {
        let Some(entry) = self.function.blocks().next() else { return };
        let early = ending_early(self.function);
        for inst in entry.insts().filter(|i| i.opcode() == Opcode::LLVMAlloca) {
            let local = inst.value();
            if !self.promoted.contains_key(&local) && early.contains(&local) {
                let slot = self.slot(Ty::Ptr);
                self.mutable[slot.index()] = true;
                self.scoped.insert(local, (slot, None));
            }
        }
    }

    /// The place of a local that is not there yet.
    pub fn before_scope(&mut self, local: Value<'m>, size: u64, count: (Opnd, u16), object: u32) -> Option<Slot> {
        let (dst, made) = self.scoped.get_mut(&local)?;
        let (dst, (count, count_width)) = (*dst, count);
        *made = Some(ir::Inst::Alloca { dst, size, count, count_width, object });
        self.push(ir::Inst::Undef { dst });
        Some(dst)
    }

    /// `llvm.lifetime.start` and `llvm.lifetime.end`.
    pub fn scope_mark(&mut self, local: Value<'m>, begins: bool) -> Lowered<Leaves> {
        if let Some(&dst) = self.promoted.get(&local).filter(|_| begins && !self.optimised) {
            // In each round a new variable, which may hold anything.
            self.push(ir::Inst::Undef { dst });
        }
        if let Some((slot, Some(made))) = self.scoped.get(&local) {
            let inst = if begins { made.clone() } else { ir::Inst::ScopeEnd { local: Opnd::slot(*slot) } };
            self.push(inst);
        }
        Ok(Leaves::new())
    }
}

/// The locals whose scope ends while their function goes on.
fn ending_early<'m>(f: Function<'m>) -> FxHashSet<Value<'m>> {
    let mut early = FxHashSet::default();
    for block in f.blocks() {
        let mut insts: Vec<Inst<'m>> = block.insts().collect();
        let mut returns = insts.pop().is_some_and(|i| i.opcode() == Opcode::LLVMRet);
        for inst in insts.into_iter().rev() {
            let ends = lifetime_mark(inst) == Some(false);
            returns &= ends || reads_local(inst);
            if ends && !returns {
                early.extend(inst.call_args().get(1));
            }
        }
    }
    early
}

fn reads_local(inst: Inst<'_>) -> bool {
    let place = if inst.opcode() == Opcode::LLVMLoad { inst.value().operand(0) } else { None };
    place.is_some_and(|p| p.opcode() == Some(Opcode::LLVMAlloca))
}
