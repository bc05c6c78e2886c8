//! Functions that are made, not compiled.

use crate::claim::{Atom, Claim, Operand, Sum, Variable, mask};
use pleach_ir::{
    Arg, BinOp, Block, BlockId, Callee, CastOp, CmpOp, Const, Edge, FuncId, Function, GlobalId, Inst, InstId, Opnd,
    Range, Slot, SlotInfo, Span, Symbol, Ty,
};

/// A function that grows by instructions at its end.
pub(crate) struct FunctionBuilder {
    f: Function,
    /// of the block that grows
    first: usize,
    span: Span,
}

impl FunctionBuilder {
    pub fn new(f: Function) -> FunctionBuilder {
        let span = f.span;
        FunctionBuilder { f, first: 0, span }
    }

    pub fn slot(&mut self, ty: Ty) -> Slot {
        self.f.slots.push(SlotInfo { ty, name: None, debug_type: None });
        Slot::new(self.f.slots.len() - 1)
    }

    pub fn number(&mut self, width: u16, value: i64) -> Opnd {
        self.constant(Const::Int { width, value: value as u64 & mask(width) })
    }

    fn constant(&mut self, c: Const) -> Opnd {
        self.f.consts.push(c);
        Opnd::constant(self.f.consts.len() as u32 - 1)
    }

    fn address(&mut self, g: GlobalId) -> Opnd {
        self.constant(Const::Addr { symbol: Symbol::Global(g), addend: 0 })
    }

    /// The instruction's number.
    pub fn push(&mut self, inst: Inst) -> InstId {
        let ends = inst.is_terminator();
        self.f.insts.push(inst);
        self.f.spans.push(self.span);
        if ends {
            let len = (self.f.insts.len() - self.first) as u32;
            self.f.blocks.push(Block { first: InstId::new(self.first), len });
            self.first = self.f.insts.len();
        }
        InstId::new(self.f.insts.len() - 1)
    }

    pub fn binary(&mut self, op: BinOp, width: u16, a: Opnd, b: Opnd) -> Opnd {
        let dst = self.slot(Ty::Int(width));
        self.push(Inst::Bin { op, flags: 0, width, dst, a, b });
        Opnd::slot(dst)
    }

    /// Calls a function; its result is in the slot.
    pub fn call(&mut self, callee: FuncId, args: &[(Opnd, Ty)], result: Option<Slot>) -> InstId {
        let dsts = Range { start: self.f.dsts.len() as u32, len: u32::from(result.is_some()) };
        self.f.dsts.extend(result);
        let args = self.arguments(args);
        self.push(Inst::Call { callee: Callee::Direct(callee), dsts, args })
    }

    fn arguments(&mut self, args: &[(Opnd, Ty)]) -> Range {
        let range = Range { start: self.f.args.len() as u32, len: args.len() as u32 };
        self.f.args.extend(args.iter().map(|&(value, ty)| Arg { value, ty, byval: 0 }));
        range
    }

    pub fn give_back(&mut self, values: &[(Opnd, Ty)]) {
        let values = self.arguments(values);
        self.push(Inst::Return { values });
    }

    pub fn load(&mut self, g: GlobalId, width: u16) -> Opnd {
        let (dst, ptr) = (self.slot(Ty::Int(width)), self.address(g));
        self.push(Inst::Load { ty: Ty::Int(width), volatile: false, align: 0, dst, ptr });
        Opnd::slot(dst)
    }

    pub fn store(&mut self, g: GlobalId, width: u16, value: Opnd) {
        let ptr = self.address(g);
        self.push(Inst::Store { ty: Ty::Int(width), volatile: false, align: 0, ptr, value });
    }

    /// Goes on where the condition holds; elsewhere calls `error`. The number of that call.
    pub fn check(&mut self, cond: Opnd, error: FuncId) -> InstId {
        let edges = self.f.edges.len() as u32;
        let here = self.f.blocks.len();
        let edge = |n: usize| Edge { target: BlockId::new(n), copies: Range::default() };
        self.f.edges.extend([edge(here + 2), edge(here + 1)]);
        self.push(Inst::Branch { cond, edges });
        let at = self.call(error, &[], None);
        self.push(Inst::Unreachable);
        at
    }

    /// The conjunction, as an argument of `__VERIFIER_assume`.
    pub fn truth(&mut self, conditions: &[Opnd]) -> Opnd {
        let mut all = self.number(1, 1);
        for c in conditions {
            all = self.binary(BinOp::And, 1, all, *c);
        }
        let dst = self.slot(Ty::Int(32));
        self.push(Inst::Cast { op: CastOp::ZExt, from: 1, to: 32, dst, a: all });
        Opnd::slot(dst)
    }

    pub fn claim(&mut self, c: &Claim, value: &dyn Fn(Variable) -> Option<Opnd>) -> Option<Opnd> {
        let then = self.atom(&c.then, value)?;
        let Some(when) = &c.when else { return Some(then) };
        let (when, one) = (self.atom(when, value)?, self.number(1, 1));
        let not = self.binary(BinOp::Xor, 1, when, one);
        Some(self.binary(BinOp::Or, 1, not, then))
    }

    fn atom(&mut self, a: &Atom, value: &dyn Fn(Variable) -> Option<Opnd>) -> Option<Opnd> {
        let (left, right) = (self.sum(&a.left, a.width, value)?, self.sum(&a.right, a.width, value)?);
        let dst = self.slot(Ty::Int(1));
        let op: CmpOp = a.op;
        self.push(Inst::Cmp { op, width: a.width, dst, a: left, b: right });
        Some(Opnd::slot(dst))
    }

    fn sum(&mut self, s: &Sum, width: u16, value: &dyn Fn(Variable) -> Option<Opnd>) -> Option<Opnd> {
        let mut sum: Option<Opnd> = None;
        for (factor, o) in &s.parts {
            let part = match o {
                Operand::Whole(v) => value(*v)?,
                Operand::Low(v) => {
                    let (v, one) = (value(*v)?, self.number(width, 1));
                    self.binary(BinOp::And, width, v, one)
                }
            };
            let factor = self.number(width, *factor);
            let part = self.binary(BinOp::Mul, width, part, factor);
            sum = Some(match sum {
                Some(sum) => self.binary(BinOp::Add, width, sum, part),
                None => part,
            });
        }
        let constant = self.number(width, s.constant);
        Some(match sum {
            Some(sum) => self.binary(BinOp::Add, width, sum, constant),
            None => constant,
        })
    }

    pub fn finish(mut self) -> Function {
        self.f.block_weight = self.f.blocks.iter().map(|b| b.len).collect();
        self.f.block_spans = vec![Vec::new(); self.f.blocks.len()];
        self.f
    }
}
