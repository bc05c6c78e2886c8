//! Building blocks of a function's code: slots, constants, instructions.

use super::Unsupported;
use super::constant;
use super::lines::Lines;
use super::unit::Unit;
use crate::llvm::{Block, Function, Value, ValueKind};
use pleach_ir::{self as ir, Arg, BinOp, BlockId, CastOp, CmpOp, Const, Inst, Opnd, Range, Slot, SlotInfo, Span, Ty};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::rc::Rc;

/// The scalar leaves of one value.
pub(crate) type Leaves = SmallVec<[Opnd; 2]>;
pub(crate) type Lowered<T> = Result<T, Unsupported>;

/// A block under construction.
#[derive(Default)]
pub(crate) struct Code {
    pub insts: Vec<Inst>,
    pub spans: Vec<Span>,
}

/// A function under construction.
pub(crate) struct Lowering<'u, 'm> {
    pub unit: &'u mut Unit<'m>,
    pub function: Function<'m>,
    pub out: ir::Function,
    pub code: Vec<Code>,
    /// the block that instructions go to
    pub current: usize,
    pub span: Span,
    pub lines: Lines,
    pub blocks: FxHashMap<Block<'m>, BlockId>,
    pub values: FxHashMap<Value<'m>, Leaves>,
    /// values used before they were lowered: their slots are fixed
    pub ahead: FxHashSet<Value<'m>>,
    /// locals that live in slots
    pub promoted: FxHashMap<Value<'m>, Slot>,
    /// locals whose scope is marked: the slot of their address, and how they are made
    pub scoped: FxHashMap<Value<'m>, (Slot, Option<Inst>)>,
    /// slots written more than once: promoted and scoped locals, phi nodes
    pub mutable: Vec<bool>,
    /// computed only for checks that are dropped
    pub dropped: FxHashSet<Value<'m>>,
    /// arithmetic whose check is dropped
    pub unchecked: FxHashSet<Value<'m>>,
    /// whether an optimiser was at work
    pub optimised: bool,
    consts: FxHashMap<Const, u32>,
}

impl<'u, 'm> Lowering<'u, 'm> {
    pub fn new(unit: &'u mut Unit<'m>, function: Function<'m>, out: ir::Function) -> Lowering<'u, 'm> {
        let blocks = unit.block_ids(function).clone();
        let count = blocks.values().map(|b| b.index() + 1).max().unwrap_or(0);
        let code = (0..count).map(|_| Code::default()).collect();
        let mutable = vec![false; out.slots.len()];
        Lowering {
            span: out.span,
            lines: Lines::default(),
            unit,
            function,
            out,
            code,
            current: 0,
            blocks,
            values: FxHashMap::default(),
            ahead: FxHashSet::default(),
            promoted: FxHashMap::default(),
            scoped: FxHashMap::default(),
            mutable,
            dropped: FxHashSet::default(),
            unchecked: FxHashSet::default(),
            optimised: false,
            consts: FxHashMap::default(),
        }
    }

    pub fn push(&mut self, inst: Inst) {
        let code = &mut self.code[self.current];
        code.insts.push(inst);
        code.spans.push(self.span);
    }

    /// How far everything has grown, to go back to when an instruction cannot be lowered after all.
    pub fn mark(&self) -> [usize; 7] {
        let f = &self.out;
        let code = self.code[self.current].insts.len();
        [code, f.args.len(), f.dsts.len(), f.copies.len(), f.edges.len(), f.cases.len(), f.scaled.len()]
    }

    pub fn undo_to(&mut self, [code, args, dsts, copies, edges, cases, scaled]: [usize; 7]) {
        self.code[self.current].insts.truncate(code);
        self.code[self.current].spans.truncate(code);
        self.out.args.truncate(args);
        self.out.dsts.truncate(dsts);
        self.out.copies.truncate(copies);
        self.out.edges.truncate(edges);
        self.out.cases.truncate(cases);
        self.out.scaled.truncate(scaled);
    }

    pub fn slot(&mut self, ty: Ty) -> Slot {
        let slot = Slot::new(self.out.slots.len());
        self.out.slots.push(SlotInfo { ty, name: None, debug_type: None });
        self.mutable.push(false);
        slot
    }

    pub fn bits(&self, ty: Ty) -> u16 {
        self.unit.program.target.bits(ty)
    }

    pub fn constant(&mut self, c: Const) -> Opnd {
        if let Some(&i) = self.consts.get(&c) {
            return Opnd::constant(i);
        }
        let i = self.out.consts.len() as u32;
        self.out.consts.push(c.clone());
        self.consts.insert(c, i);
        Opnd::constant(i)
    }

    pub fn int(&mut self, width: u16, value: u64) -> Opnd {
        self.constant(constant::int(width, value))
    }

    pub fn undef(&mut self, ty: Ty) -> Opnd {
        let width = self.bits(ty);
        self.constant(Const::Undef { width })
    }

    /// The leaves of an operand; constants that are not known before the run are computed here.
    pub fn operands(&mut self, v: Value<'m>) -> Lowered<Leaves> {
        if let Some(known) = self.values.get(&v) {
            return Ok(known.clone());
        }
        match v.kind() {
            ValueKind::Inst | ValueKind::Argument => {
                let leaves = self.leaf_types(v)?;
                let slots: Leaves = leaves.iter().map(|ty| Opnd::slot(self.slot(*ty))).collect();
                self.ahead.insert(v);
                self.values.insert(v, slots.clone());
                Ok(slots)
            }
            ValueKind::Metadata | ValueKind::Asm => Err(Unsupported::new("metadata as an operand")),
            _ => self.constant_leaves(v),
        }
    }

    fn constant_leaves(&mut self, v: Value<'m>) -> Lowered<Leaves> {
        if let Some(c) = self.unit.evaluate(v) {
            return Ok(SmallVec::from_elem(self.constant(c), 1));
        }
        match v.kind() {
            ValueKind::Expr => self.computation(v),
            ValueKind::ZeroAggregate => {
                let leaves = self.leaf_types(v)?;
                Ok(leaves.iter().map(|ty| self.int(self.unit.program.target.bits(*ty), 0)).collect())
            }
            ValueKind::Undef => {
                let leaves = self.leaf_types(v)?;
                Ok(leaves.iter().map(|ty| self.undef(*ty)).collect())
            }
            ValueKind::Aggregate => {
                // Bounds the number of elements before walking them.
                let expected = self.leaf_types(v)?.len();
                let mut out = Leaves::new();
                for i in 0.. {
                    let Some(element) = v.element(i) else { break };
                    out.extend(self.operands(element)?);
                }
                if out.len() == expected { Ok(out) } else { Err(Unsupported::new("an incomplete constant")) }
            }
            _ => Err(Unsupported::new(format!("the constant {}", v.print()))),
        }
    }

    /// The operand of a scalar value.
    pub fn operand(&mut self, v: Value<'m>) -> Lowered<Opnd> {
        match self.operands(v)?.as_slice() {
            [one] => Ok(*one),
            _ => Err(Unsupported::new(format!("type {} in place of a scalar", v.ty()))),
        }
    }

    pub fn leaf_types(&mut self, v: Value<'m>) -> Lowered<Rc<[Ty]>> {
        self.leaf_types_of(v.ty())
    }

    pub fn leaf_types_of(&mut self, ty: crate::llvm::Type<'m>) -> Lowered<Rc<[Ty]>> {
        let leaves = self.unit.layouts.leaves(ty)?;
        Ok(leaves.iter().map(|l| l.ty).collect())
    }

    /// Operand `i` of a user.
    pub fn nth(&self, v: Value<'m>, i: u32) -> Lowered<Value<'m>> {
        v.operand(i).ok_or_else(|| Unsupported::new("an instruction without its operand"))
    }

    /// Gives a lowered instruction its leaves.
    pub fn bind(&mut self, v: Value<'m>, leaves: Leaves) {
        if self.ahead.contains(&v) {
            let fixed = self.values[&v].clone();
            for (dst, a) in fixed.into_iter().zip(leaves) {
                if let Some(dst) = dst.as_slot() {
                    self.push(Inst::Mov { dst, a });
                }
            }
        } else if !leaves.is_empty() {
            self.values.insert(v, leaves);
        }
    }

    pub fn bin(&mut self, op: BinOp, width: u16, a: Opnd, b: Opnd) -> Opnd {
        self.bin_into(op, 0, Ty::Int(width), a, b)
    }

    pub fn bin_into(&mut self, op: BinOp, flags: u8, ty: Ty, a: Opnd, b: Opnd) -> Opnd {
        let (dst, width) = (self.slot(ty), self.bits(ty));
        self.push(Inst::Bin { op, flags, width, dst, a, b });
        Opnd::slot(dst)
    }

    pub fn cmp(&mut self, op: CmpOp, width: u16, a: Opnd, b: Opnd) -> Opnd {
        let dst = self.slot(Ty::Int(1));
        self.push(Inst::Cmp { op, width, dst, a, b });
        Opnd::slot(dst)
    }

    pub fn cast(&mut self, op: CastOp, from: Ty, to: Ty, a: Opnd) -> Opnd {
        let dst = self.slot(to);
        let (from, to) = (self.bits(from), self.bits(to));
        self.push(Inst::Cast { op, from, to, dst, a });
        Opnd::slot(dst)
    }

    pub fn select(&mut self, ty: Ty, cond: Opnd, a: Opnd, b: Opnd) -> Opnd {
        let dst = self.slot(ty);
        self.push(Inst::Select { ty, dst, cond, a, b });
        Opnd::slot(dst)
    }

    /// `base + offset`; nothing is computed for offset 0.
    pub fn offset(&mut self, base: Opnd, offset: u64) -> Opnd {
        if offset == 0 {
            return base;
        }
        let dst = self.slot(Ty::Ptr);
        let parts = Range { start: self.out.scaled.len() as u32, len: 0 };
        self.push(Inst::Gep { dst, base, offset: offset as i64, parts });
        Opnd::slot(dst)
    }

    pub fn args(&mut self, args: impl IntoIterator<Item = Arg>) -> Range {
        let start = self.out.args.len();
        self.out.args.extend(args);
        Range { start: start as u32, len: (self.out.args.len() - start) as u32 }
    }

    pub fn dsts(&mut self, slots: impl IntoIterator<Item = Slot>) -> Range {
        let start = self.out.dsts.len();
        self.out.dsts.extend(slots);
        Range { start: start as u32, len: (self.out.dsts.len() - start) as u32 }
    }

    pub fn unsupported(&mut self, why: Unsupported) {
        let name = self.out.names.iter().position(|n| *n == why.0).unwrap_or(self.out.names.len());
        if name == self.out.names.len() {
            self.out.names.push(why.0);
        }
        self.push(Inst::Unsupported { name: name as u32 });
    }
}

/// The leaves of a scalar.
pub(crate) fn one(a: Opnd) -> Leaves {
    SmallVec::from_elem(a, 1)
}
