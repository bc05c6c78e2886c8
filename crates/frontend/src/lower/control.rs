//! Terminators.

use super::Unsupported;
use super::emit::{Lowered, Lowering};
use super::function::opcode_name;
use crate::llvm::{Block, Inst, Opcode};
use pleach_ir::{self as ir, Arg, Case, Edge, Range};
use rustc_hash::FxHashMap;

impl<'m> Lowering<'_, 'm> {
    pub fn terminator(&mut self, inst: Inst<'m>, from: Block<'m>) -> Lowered<()> {
        match inst.opcode() {
            Opcode::LLVMRet => self.ret(inst),
            Opcode::LLVMBr => self.branch(inst, from),
            Opcode::LLVMSwitch => self.switch(inst, from),
            Opcode::LLVMIndirectBr => self.indirect_branch(inst, from),
            Opcode::LLVMInvoke => self.invoke(inst, from),
            Opcode::LLVMResume => self.resume(inst),
            Opcode::LLVMUnreachable => {
                self.push(ir::Inst::Unreachable);
                Ok(())
            }
            other => Err(Unsupported::new(opcode_name(other))),
        }
    }

    fn ret(&mut self, inst: Inst<'m>) -> Lowered<()> {
        let mut values = Vec::new();
        if let Some(v) = inst.value().operand(0) {
            let types = self.leaf_types(v)?;
            let leaves = self.operands(v)?;
            values.extend(leaves.into_iter().zip(types.iter()).map(|(value, ty)| Arg { value, ty: *ty, byval: 0 }));
        }
        let values = self.args(values);
        self.push(ir::Inst::Return { values });
        Ok(())
    }

    fn branch(&mut self, inst: Inst<'m>, from: Block<'m>) -> Lowered<()> {
        if let Some(check) = super::checks::check_of(from) {
            return self.check(check);
        }
        match (inst.condition(), inst.successors().as_slice()) {
            (Some(cond), [then, otherwise]) => {
                let cond = self.operand(cond)?;
                let then = self.edge(from, *then)?;
                let otherwise = self.edge(from, *otherwise)?;
                let edges = self.edges([then, otherwise]).start;
                self.push(ir::Inst::Branch { cond, edges });
            }
            (None, [to]) => {
                let edge = self.edge(from, *to)?;
                self.push(ir::Inst::Jump { edge });
            }
            _ => return Err(Unsupported::new("br")),
        }
        Ok(())
    }

    /// Operands are the value, the default block, then pairs of constant and block.
    fn switch(&mut self, inst: Inst<'m>, from: Block<'m>) -> Lowered<()> {
        let value = self.nth(inst.value(), 0)?;
        let ty = self.unit.layouts.scalar(value.ty())?;
        let width = self.bits(ty);
        let value = self.operand(value)?;
        let successors = inst.successors();
        let mut known: FxHashMap<Block<'m>, Edge> = FxHashMap::default();
        let mut edge_to = |l: &mut Self, to: Block<'m>| -> Lowered<Edge> {
            if let Some(edge) = known.get(&to) {
                return Ok(*edge);
            }
            let edge = l.edge(from, to)?;
            known.insert(to, edge);
            Ok(edge)
        };
        let default = *successors.first().ok_or_else(|| Unsupported::new("switch"))?;
        let default = edge_to(self, default)?;
        let mut cases = Vec::new();
        for (to, i) in successors.into_iter().skip(1).zip(1..) {
            let value = self.nth(inst.value(), 2 * i)?.as_u64();
            let value = value.ok_or_else(|| Unsupported::new(format!("switch on {width} bits")))?;
            cases.push(Case { value, edge: edge_to(self, to)? });
        }
        let default = self.edges([default]).start;
        let start = self.out.cases.len() as u32;
        let len = cases.len() as u32;
        self.out.cases.extend(cases);
        self.push(ir::Inst::Switch { width, value, default, cases: Range { start, len } });
        Ok(())
    }

    fn indirect_branch(&mut self, inst: Inst<'m>, from: Block<'m>) -> Lowered<()> {
        let target = self.nth(inst.value(), 0)?;
        let target = self.operand(target)?;
        let mut edges = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        for to in inst.successors() {
            if seen.insert(to) {
                edges.push(self.edge(from, to)?);
            }
        }
        let edges = self.edges(edges);
        self.push(ir::Inst::IndirectJump { target, edges });
        Ok(())
    }

    pub fn edges(&mut self, edges: impl IntoIterator<Item = Edge>) -> Range {
        let start = self.out.edges.len();
        self.out.edges.extend(edges);
        Range { start: start as u32, len: (self.out.edges.len() - start) as u32 }
    }
}
