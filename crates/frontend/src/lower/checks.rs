//! Checks of undefined behaviour that clang inserts: a branch around a trap becomes one [`ir::Inst::Check`], and the
//! blocks on both sides of it stay one block.
//!
//! *Idea*: clang folds `7 % 0` to a constant without a value before anyone sees it, but not the check that it puts
//! before. *Deviations*: where the operation itself is checked when it is executed, the check that clang inserted is
//! dropped, unless it was folded too.

use super::emit::{Lowered, Lowering};
use crate::llvm::{Block, Function, Inst, Opcode, Shape, Value, ValueKind};
use pleach_ir::{self as ir, BlockId, CheckKind};
use rustc_hash::{FxHashMap, FxHashSet};

/// A branch that goes on if `cond` holds, and else ends the program.
#[derive(Clone, Copy)]
pub(crate) struct Check<'m> {
    kind: CheckKind,
    /// the operation that is checked fails by itself
    repeated: bool,
    cond: Value<'m>,
    /// where the program goes on
    next: Block<'m>,
    trap: Block<'m>,
}

impl Check<'_> {
    fn is_dropped(&self, optimised: bool) -> bool {
        self.repeated && !optimised && !self.cond.is_constant()
    }
}

/// The check that ends a block.
pub(crate) fn check_of<'m>(block: Block<'m>) -> Option<Check<'m>> {
    let branch = block.terminator().filter(|i| i.is_nosanitize())?;
    let cond = branch.condition()?;
    let [next, trap] = branch.successors()[..] else { return None };
    let mut insts = trap.insts();
    let call = insts.next().filter(|i| i.opcode() == Opcode::LLVMCall)?;
    if next == trap || insts.next()?.opcode() != Opcode::LLVMUnreachable || !next.has_one_use() {
        return None;
    }
    let callee = call.called().and_then(Value::as_function)?.name();
    let (kind, repeated) = kind_of(&callee, call)?;
    let repeated = repeated && !(kind == CheckKind::Overshift && is_cut_down(cond));
    Some(Check { kind, repeated, cond, next, trap })
}

/// Whether a shift is by fewer bits of its count than the check of it looks at: the count is of a wider type than the
/// value, and `count <= width - 1` is asked about all of it.
fn is_cut_down(check: Value<'_>) -> bool {
    let (Some(count), Some(last)) = (check.operand(0), check.operand(1)) else { return false };
    match (count.ty().shape(), last.as_u64()) {
        (Shape::Int(width), Some(last)) => u64::from(width) > last + 1,
        // Too wide to tell, or a vector.
        _ => true,
    }
}

/// What a call that ends the program says it is about.
pub(crate) fn kind_of_trap(call: Inst<'_>) -> Option<CheckKind> {
    let callee = call.called().and_then(Value::as_function)?.name();
    kind_of(&callee, call).map(|(kind, _)| kind)
}

/// What a trap or a handler says; the numbers are those of clang's `SanitizerHandler`.
fn kind_of(callee: &str, call: Inst<'_>) -> Option<(CheckKind, bool)> {
    Some(match callee {
        "__ubsan_handle_divrem_overflow_minimal_abort" => (CheckKind::DivZero, true),
        "__ubsan_handle_shift_out_of_bounds_minimal_abort" => (CheckKind::Overshift, true),
        "llvm.ubsantrap" => match call.call_args().first().copied().and_then(Value::as_u64)? {
            // addition, division, multiplication, negation, subtraction
            0 | 3 | 12 | 13 | 21 => (CheckKind::SignedOverflow, true),
            5 => (CheckKind::FloatCast, true),
            8 => (CheckKind::Builtin, false),
            10 => (CheckKind::InvalidValue, false),
            20 => (CheckKind::ShiftBase, false),
            24 => (CheckKind::VlaBound, false),
            _ => return None,
        },
        _ => return None,
    })
}

/// Numbers the blocks of a function: what follows a check belongs to the block before, and its trap to none.
pub(crate) fn number_blocks<'m>(f: Function<'m>) -> FxHashMap<Block<'m>, BlockId> {
    let mut heads: FxHashMap<Block<'m>, Block<'m>> = FxHashMap::default();
    let mut traps: FxHashSet<Block<'m>> = FxHashSet::default();
    for block in f.blocks() {
        if let Some(check) = check_of(block) {
            heads.insert(check.next, block);
            if check.trap.has_one_use() {
                traps.insert(check.trap);
            }
        }
    }
    let mut ids: FxHashMap<Block<'m>, BlockId> = FxHashMap::default();
    let own = f.blocks().filter(|b| !heads.contains_key(b) && !traps.contains(b));
    ids.extend(own.enumerate().map(|(i, b)| (b, BlockId::new(i))));
    for block in f.blocks().filter(|b| heads.contains_key(b)) {
        let mut head = block;
        // A cycle of checks alone is never reached, and gets no number.
        for _ in 0..=heads.len() {
            head = heads.get(&head).copied().unwrap_or(head);
        }
        if let Some(id) = ids.get(&head).copied() {
            ids.insert(block, id);
        }
    }
    ids
}

impl<'m> Lowering<'_, 'm> {
    /// Finds what only checks compute that are dropped.
    pub fn find_dropped_checks(&mut self) {
        for block in self.function.blocks() {
            if let Some(check) = check_of(block).filter(|c| c.is_dropped(self.optimised)) {
                let mut todo = vec![check.cond];
                while let Some(v) = todo.pop() {
                    let Some(inst) = v.as_inst().filter(|i| i.is_nosanitize() && !i.is_phi()) else { continue };
                    if inst.opcode() == Opcode::LLVMCall {
                        self.unchecked.insert(v);
                    } else if v.users().take(2).count() == 1 {
                        self.dropped.insert(v);
                        todo.extend((0..v.operand_count()).filter_map(|i| v.operand(i)));
                    }
                }
            }
        }
    }

    /// The check at the end of a block; what follows it goes on in the same block.
    pub fn check(&mut self, check: Check<'m>) -> Lowered<()> {
        if !check.is_dropped(self.optimised) && check.cond.as_u64() != Some(1) {
            let cond = self.operand(check.cond)?;
            self.push(ir::Inst::Check { kind: check.kind, cond });
        }
        Ok(())
    }

    /// Whether a number whose zeros are counted is checked not to be 0, or 0 has a result of its own, as in `ffs`.
    pub fn is_nonzero(&self, count: Inst<'m>, of: Value<'m>) -> bool {
        let is_zero = |test: Value<'m>, other: bool| {
            let predicate = test.as_inst().and_then(Inst::int_predicate);
            let wanted =
                if other { crate::llvm::IntPredicate::LLVMIntNE } else { crate::llvm::IntPredicate::LLVMIntEQ };
            predicate == Some(wanted) && test.operand(0) == Some(of) && test.operand(1).is_some_and(Value::is_zero)
        };
        let checked = of.users().any(|test| {
            is_zero(test, true)
                && test.as_inst().is_some_and(Inst::is_nosanitize)
                && test.users().any(|user| user.as_inst().is_some_and(|i| i.is_nosanitize() && i.is_terminator()))
        });
        let selected = |v: Value<'m>| {
            let condition = |s: Value<'m>| s.opcode() == Some(Opcode::LLVMSelect) && s.operand(2) == Some(v);
            v.users().all(|s| condition(s) && s.operand(0).is_some_and(|c| is_zero(c, false)))
        };
        let plus_one = |v: Value<'m>| v.users().all(|sum| sum.opcode() == Some(Opcode::LLVMAdd) && selected(sum));
        checked || selected(count.value()) || plus_one(count.value())
    }

    /// An operand without a value: the compiler folded it from an operation whose behaviour is undefined.
    pub fn check_poison(&mut self, inst: Inst<'m>, block: Block<'m>) {
        if !inst.is_nosanitize() && self.takes_poison(inst, block) {
            let cond = self.int(1, 0);
            self.push(ir::Inst::Check { kind: CheckKind::Poison, cond });
        }
    }

    fn takes_poison(&self, inst: Inst<'m>, block: Block<'m>) -> bool {
        use Opcode::*;
        let is_poison = |i: u32| inst.value().operand(i).is_some_and(Value::is_scalar_poison);
        let any = || (0..inst.value().operand_count()).any(is_poison);
        match inst.opcode() {
            LLVMBr if inst.condition().is_some() => inst.condition().is_some_and(Value::is_scalar_poison),
            LLVMSwitch | LLVMIndirectBr | LLVMLoad => is_poison(0),
            LLVMStore if is_poison(1) => true,
            // An optimiser leaves such operands where nobody looks at the result.
            _ if self.optimised => false,
            LLVMBr => {
                let phis = inst.successors().into_iter().flat_map(|to| to.insts().take_while(|i| i.is_phi()));
                phis.filter(|phi| !phi.is_nosanitize())
                    .filter_map(|phi| phi.incoming(block))
                    .any(Value::is_scalar_poison)
            }
            LLVMCall | LLVMInvoke => inst.call_args().into_iter().any(Value::is_scalar_poison),
            LLVMPHI | LLVMInsertValue | LLVMInsertElement | LLVMShuffleVector | LLVMExtractElement | LLVMFreeze => {
                false
            }
            _ => any(),
        }
    }
}

impl Value<'_> {
    fn is_scalar_poison(self) -> bool {
        self.kind() == ValueKind::Undef && self.is_poison() && super::layout::scalar(self.ty()).is_some()
    }
}
