//! One function: visits blocks in an order that puts definitions before uses, dispatches on the opcode.

use super::emit::{Leaves, Lowered, Lowering};
use super::lines::{Jump, LeftOut};
use super::unit::Unit;
use super::{Unsupported, compact, forward, promote, retarget};
use crate::Options;
use crate::llvm::{Block, Function, Inst, Opcode, Value};
use pleach_ir::{self as ir, BlockId, InstId, Opnd};
use rustc_hash::FxHashSet;

/// Lowers the body of `f` into the program.
pub(crate) fn lower<'m>(unit: &mut Unit<'m>, f: Function<'m>, options: &Options) {
    let Some(id) = unit.function_id(f.value()) else { return };
    let header = std::mem::take(&mut unit.program.functions[id.index()]);
    let mut lowering = Lowering::new(unit, f, header);
    lowering.bind_params();
    let variables = lowering.read_variables(options.passed_params);
    // Rust's libraries are, even where they are written for types of the program: their marks of scopes do not count.
    lowering.optimised = promote::is_optimised(f) || crate::rust::is_library(f);
    lowering.find_dropped_checks();
    // What a function that calls `setjmp` changes must be found changed after the jump.
    if options.promote && !f.blocks().flat_map(|b| b.insts()).any(|i| i.returns_twice()) {
        promote::promote(&mut lowering, &variables, !options.passed_params);
        if !lowering.optimised {
            lowering.find_scopes();
        }
    }
    lowering.bind_phis();
    for block in visiting_order(f) {
        lowering.block(block, &variables);
    }
    lowering.finish_lines();
    forward::forward(&mut lowering);
    retarget::retarget(&mut lowering);
    let mut out = lowering.assemble();
    compact::compact(&mut out);
    unit.forget_blocks(f);
    unit.program.functions[id.index()] = out;
}

/// Reverse postorder from the entry, then what cannot be reached.
fn visiting_order<'m>(f: Function<'m>) -> Vec<Block<'m>> {
    let mut seen = FxHashSet::default();
    let mut order = Vec::new();
    let mut stack: Vec<(Block<'m>, Vec<Block<'m>>)> = Vec::new();
    let successors = |b: Block<'m>| b.terminator().map(Inst::successors).unwrap_or_default();
    if let Some(entry) = f.blocks().next() {
        seen.insert(entry);
        stack.push((entry, successors(entry)));
    }
    while let Some((block, left)) = stack.last_mut() {
        match left.pop() {
            Some(next) if seen.insert(next) => stack.push((next, successors(next))),
            Some(_) => {}
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order.extend(f.blocks().filter(|b| !seen.contains(b)));
    order
}

impl<'m> Lowering<'_, 'm> {
    fn bind_params(&mut self) {
        let mut slots = self.out.params.iter().map(|p| p.slot).collect::<Vec<_>>().into_iter();
        for p in self.function.params() {
            let Ok(leaves) = self.leaf_types(p) else { continue };
            let own: Leaves = slots.by_ref().take(leaves.len()).map(Opnd::slot).collect();
            self.values.insert(p, own);
        }
    }

    fn bind_phis(&mut self) {
        for block in self.function.blocks() {
            for phi in block.insts().take_while(|i| i.is_phi()) {
                let Ok(types) = self.leaf_types(phi.value()) else { continue };
                let slots: Leaves = types.iter().map(|ty| Opnd::slot(self.slot(*ty))).collect();
                for slot in slots.iter().filter_map(|o| o.as_slot()) {
                    self.mutable[slot.index()] = true;
                }
                self.values.insert(phi.value(), slots);
            }
        }
    }

    fn block(&mut self, block: Block<'m>, variables: &super::promote::Variables<'m>) {
        let Some(id) = self.blocks.get(&block).copied() else { return };
        self.current = id.index();
        let mut weight = 0;
        // Where the last instruction stands.
        let mut last = None;
        for inst in block.insts() {
            if self.debug_only(inst, id) {
                continue;
            }
            if self.dropped.contains(&inst.value()) {
                continue;
            }
            // Marks of scopes and checks are no code of the program.
            let mark = promote::lifetime_mark(inst).is_some() || inst.is_nosanitize() && !checked_arithmetic(inst);
            if let Some(span) = self.unit.debug.span(inst) {
                self.span = span;
                let ends_scope = promote::lifetime_mark(inst) == Some(false) && !self.optimised;
                if let (Some((after, before)), true) = (last.replace((span, inst)), ends_scope) {
                    let called = Inst::called(before).and_then(Value::as_function).map(|f| f.name());
                    self.lines.left_out(LeftOut { block: id, after, called, until: span });
                }
                if inst.is_jump() || promote::leaves_scope(inst, variables) {
                    self.lines.jump(Jump { block: id, span, inlined_at: inst.inlined_at() });
                } else if !mark {
                    self.lines.code(id, span);
                }
            }
            if inst.is_phi() {
                continue;
            }
            weight += u32::from(!mark);
            self.instruction(inst, block, variables);
        }
        self.out.block_weight.resize(self.code.len(), 0);
        self.out.block_weight[id.index()] += weight;
    }

    fn finish_lines(&mut self) {
        let Unit { debug, sources, .. } = &mut *self.unit;
        let lines = std::mem::take(&mut self.lines);
        self.out.block_spans = lines.finish(self.code.len(), self.optimised, |file| debug.path(file), sources);
    }

    /// Debug intrinsics leave no code; labels are noted.
    fn debug_only(&mut self, inst: Inst<'m>, block: BlockId) -> bool {
        if !inst.is_debug_intrinsic() {
            return false;
        }
        let node = inst.call_args().first().copied().and_then(Value::as_meta);
        if let Some(label) = node.and_then(|n| self.unit.debug.label(n)) {
            self.out.labels.push((label, block));
        }
        true
    }

    /// Lowers one instruction; what cannot be lowered becomes the end of the paths that reach it.
    fn instruction(&mut self, inst: Inst<'m>, block: Block<'m>, variables: &super::promote::Variables<'m>) {
        self.check_poison(inst, block);
        let mark = self.mark();
        let result = if inst.is_terminator() {
            self.terminator(inst, block)
        } else {
            self.operation(inst, variables).map(|leaves| self.bind(inst.value(), leaves))
        };
        if let Err(why) = result {
            self.undo_to(mark);
            self.unsupported(why);
            if inst.is_terminator() {
                self.push(ir::Inst::Unreachable);
            } else if let Ok(types) = self.leaf_types(inst.value()) {
                // Never reached, but every slot that is read is written.
                let leaves = types.iter().map(|ty| self.undef(*ty)).collect();
                self.bind(inst.value(), leaves);
            }
        }
    }

    fn operation(&mut self, inst: Inst<'m>, variables: &super::promote::Variables<'m>) -> Lowered<Leaves> {
        use Opcode::*;
        match inst.opcode() {
            LLVMAlloca => self.alloca(inst, variables),
            LLVMLoad => self.load(inst),
            LLVMStore => self.store(inst),
            LLVMFence => Ok(Leaves::new()),
            LLVMAtomicRMW => self.atomic_rmw(inst),
            LLVMAtomicCmpXchg => self.compare_exchange(inst),
            LLVMICmp => self.int_comparison(inst),
            LLVMFCmp => self.float_comparison(inst),
            LLVMExtractValue => self.extract_value(inst),
            LLVMInsertValue => self.insert_value(inst),
            LLVMShuffleVector => self.shuffle_vector(inst),
            LLVMCall => self.call(inst),
            LLVMVAArg => self.va_arg(inst),
            LLVMLandingPad => self.landing_pad(inst),
            _ => self.computation(inst.value()),
        }
    }

    /// What instructions and constant expressions have in common.
    pub fn computation(&mut self, v: Value<'m>) -> Lowered<Leaves> {
        use Opcode::*;
        let opcode = v.opcode().ok_or_else(|| Unsupported::new("an unknown constant"))?;
        match opcode {
            LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl | LLVMLShr | LLVMAShr
            | LLVMAnd | LLVMOr | LLVMXor => self.arithmetic(v, opcode),
            LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem => self.float_arithmetic(v, opcode),
            LLVMFNeg => self.float_negation(v),
            LLVMTrunc | LLVMZExt | LLVMSExt | LLVMPtrToInt | LLVMIntToPtr => self.int_cast(v, opcode),
            LLVMFPTrunc | LLVMFPExt | LLVMFPToSI | LLVMFPToUI | LLVMSIToFP | LLVMUIToFP => self.float_cast(v, opcode),
            LLVMBitCast => self.bit_cast(v),
            LLVMAddrSpaceCast => {
                let a = self.nth(v, 0)?;
                self.operands(a)
            }
            LLVMGetElementPtr => self.gep(v),
            LLVMSelect => self.selection(v),
            LLVMFreeze => self.freeze(v),
            LLVMExtractElement => self.extract_element(v),
            LLVMInsertElement => self.insert_element(v),
            other => Err(Unsupported::new(opcode_name(other))),
        }
    }

    /// Lays the blocks out one after the other.
    fn assemble(mut self) -> ir::Function {
        for code in self.code {
            let first = InstId::new(self.out.insts.len());
            self.out.blocks.push(ir::Block { first, len: code.insts.len() as u32 });
            self.out.insts.extend(code.insts);
            self.out.spans.extend(code.spans);
        }
        self.out
    }
}

/// An addition, subtraction or multiplication that a sanitizer checks.
fn checked_arithmetic(inst: Inst<'_>) -> bool {
    let called = if inst.opcode() == Opcode::LLVMCall { inst.called() } else { None };
    called.and_then(Value::as_function).is_some_and(|f| f.name().contains(".with.overflow."))
}

/// `LLVMCallBr` → `callbr`
pub(crate) fn opcode_name(opcode: Opcode) -> String {
    format!("{opcode:?}").trim_start_matches("LLVM").to_lowercase()
}
