//! Operands and results have the bits their instruction says. Only bits count: floats and pointers may lie in integer
//! slots of their size, as bitcasts are copies.

use super::{Checker, SourcePlace};
use crate::defs::{edge_copies, for_each_edge};
use crate::ids::Slot;
use crate::inst::{BinOp, Callee, CastOp, Inst, Opnd, OpndKind, Range, ScalarFn, Ty, flags};
use crate::program::Const;

impl Checker<'_> {
    pub(super) fn widths(&mut self) {
        for at in self.places() {
            self.width(at);
        }
    }

    fn slot_bits(&self, s: Slot) -> u16 {
        self.p.target.bits(self.f.slots[s.index()].ty)
    }

    fn opnd_bits(&self, o: Opnd) -> u16 {
        match o.kind() {
            OpndKind::Slot(s) => self.slot_bits(s),
            OpndKind::Const(c) => match &self.f.consts[c as usize] {
                Const::Int { width, .. } | Const::Wide { width, .. } | Const::Undef { width } => *width,
                Const::Addr { .. } => self.p.target.pointer_bits(),
            },
        }
    }

    fn reads(&mut self, at: SourcePlace, o: Opnd, bits: u16) {
        let found = self.opnd_bits(o);
        if found != bits {
            self.report_at(at, format!("operand {o:?} has {found} bits, not {bits}"));
        }
    }

    fn writes(&mut self, at: SourcePlace, s: Slot, bits: u16) {
        let found = self.slot_bits(s);
        if found != bits {
            self.report_at(at, format!("result %{} has {found} bits, not {bits}", s.0));
        }
    }

    fn require(&mut self, at: SourcePlace, ok: bool, message: &str) {
        if !ok {
            self.report_at(at, message);
        }
    }

    fn same(&mut self, at: SourcePlace, bits: u16, dst: Slot, reads: &[Opnd]) {
        reads.iter().for_each(|&o| self.reads(at, o, bits));
        self.writes(at, dst, bits);
    }

    fn width(&mut self, at: SourcePlace) {
        let f = self.f;
        let ptr = self.p.target.pointer_bits();
        let bits = |ty| self.p.target.bits(ty);
        match f.insts[at.inst.index()] {
            Inst::Bin { op, flags, width, dst, a, b } => {
                self.require(at, flags & !allowed(op) == 0, "the operation has no such promise");
                self.same(at, width, dst, &[a, b]);
            }
            Inst::Cmp { width, dst, a, b, .. } => {
                self.reads(at, a, width);
                self.reads(at, b, width);
                self.writes(at, dst, 1);
            }
            Inst::Cast { op, from, to, dst, a } => {
                let way = match op {
                    CastOp::Trunc => to < from,
                    CastOp::ZExt | CastOp::SExt => to > from,
                    CastOp::PtrToInt | CastOp::IntToPtr => true,
                };
                self.require(at, way, "the cast goes the wrong way");
                self.reads(at, a, from);
                self.writes(at, dst, to);
            }
            Inst::Select { ty, dst, cond, a, b } => {
                self.reads(at, cond, 1);
                self.same(at, bits(ty), dst, &[a, b]);
            }
            Inst::Mov { dst, a } => self.same(at, self.slot_bits(dst), dst, &[a]),
            Inst::Freeze { ty, dst, a } => self.same(at, bits(ty), dst, &[a]),
            Inst::Undef { .. } | Inst::Unsupported { .. } | Inst::Unreachable => {}
            Inst::Load { ty, dst, ptr: from, .. } => {
                self.reads(at, from, ptr);
                self.writes(at, dst, bits(ty));
            }
            Inst::Store { ty, ptr: to, value, .. } => {
                self.reads(at, to, ptr);
                self.reads(at, value, bits(ty));
            }
            Inst::Gep { dst, base, parts, .. } => {
                self.same(at, ptr, dst, &[base]);
                f.scaled[parts.as_range()].iter().for_each(|s| self.reads(at, s.index, s.width));
            }
            Inst::Alloca { dst, count, count_width, .. } => {
                self.reads(at, count, count_width);
                self.writes(at, dst, ptr);
            }
            Inst::Call { callee, args, .. } => {
                if let Callee::Indirect(target) = callee {
                    self.reads(at, target, ptr);
                }
                self.args(at, args);
            }
            Inst::Scalar { op, ty, dsts, args } => {
                self.args(at, args);
                self.scalar(at, op, ty, dsts, args);
            }
            Inst::FBin { ty, dst, a, b, .. } => self.same(at, ty.bits(), dst, &[a, b]),
            Inst::FNeg { ty, dst, a } => self.same(at, ty.bits(), dst, &[a]),
            Inst::FCmp { ty, dst, a, b, .. } => {
                self.reads(at, a, ty.bits());
                self.reads(at, b, ty.bits());
                self.writes(at, dst, 1);
            }
            Inst::FCast { from, to, dst, a, .. } => {
                self.reads(at, a, bits(from));
                self.writes(at, dst, bits(to));
            }
            Inst::MemCopy { dst, src, len, len_width, .. } => {
                self.reads(at, dst, ptr);
                self.reads(at, src, ptr);
                self.reads(at, len, len_width);
            }
            Inst::MemSet { dst, byte, len, len_width } => {
                self.reads(at, dst, ptr);
                self.reads(at, byte, 8);
                self.reads(at, len, len_width);
            }
            Inst::VaStart { list } | Inst::VaEnd { list } => self.reads(at, list, ptr),
            Inst::VaCopy { dst, src } => {
                self.reads(at, dst, ptr);
                self.reads(at, src, ptr);
            }
            Inst::VaArg { ty, dst, list } => {
                self.reads(at, list, ptr);
                self.writes(at, dst, bits(ty));
            }
            Inst::StackSave { dst } => self.writes(at, dst, ptr),
            Inst::StackRestore { mark } | Inst::ScopeEnd { local: mark } => self.reads(at, mark, ptr),
            Inst::Assume { cond } | Inst::Check { cond, .. } | Inst::Branch { cond, .. } => self.reads(at, cond, 1),
            Inst::Jump { .. } => {}
            Inst::Switch { width, value, cases, .. } => {
                self.reads(at, value, width);
                let mut values: Vec<u64> = f.cases[cases.as_range()].iter().map(|c| c.value).collect();
                self.require(at, width >= 64 || values.iter().all(|v| v >> width == 0), "a case is too wide");
                values.sort_unstable();
                self.require(at, values.windows(2).all(|w| w[0] != w[1]), "a case occurs twice");
            }
            Inst::IndirectJump { target, .. } => self.reads(at, target, ptr),
            Inst::Return { values } => {
                self.args(at, values);
                let found = f.args[values.as_range()].iter().map(|v| bits(v.ty));
                let fits = found.eq(f.results.iter().map(|&r| bits(r)));
                self.require(at, fits, "the values are not what the function returns");
            }
        }
        for_each_edge(f, &f.insts[at.inst.index()], |e| {
            edge_copies(f, e).iter().for_each(|c| self.same(at, self.slot_bits(c.dst), c.dst, &[c.src]));
        });
    }

    fn args(&mut self, at: SourcePlace, args: Range) {
        for a in &self.f.args[args.as_range()] {
            self.reads(at, a.value, self.p.target.bits(a.ty));
            self.require(at, a.byval == 0 || a.ty == Ty::Ptr, "only a pointer passes by value");
        }
    }

    fn scalar(&mut self, at: SourcePlace, op: ScalarFn, ty: Ty, dsts: Range, args: Range) {
        use ScalarFn::*;
        let wide = self.p.target.bits(ty);
        let (arity, results): (u32, &[u16]) = match op {
            SAddOverflow | UAddOverflow | SSubOverflow | USubOverflow | SMulOverflow | UMulOverflow => (2, &[wide, 1]),
            SAddSat | UAddSat | SSubSat | USubSat | SMin | SMax | UMin | UMax => (2, &[wide]),
            Abs | Ctpop | Ctlz | Cttz | Bswap | Bitreverse => (1, &[wide]),
            FAbs | FSqrt | FFloor | FCeil | FTrunc | FRint | FRound => (1, &[wide]),
            FMinNum | FMaxNum | FCopySign | PtrMask => (2, &[wide]),
            Fshl | Fshr | Fma => (3, &[wide]),
            IsFpClass => (2, &[1]),
        };
        if args.len != arity || dsts.len as usize != results.len() {
            return self.report_at(at, format!("takes {arity} arguments and gives {} results", results.len()));
        }
        // The mask of a class test is an integer of its own width; all other operands are of the type.
        let of_type = if op == IsFpClass { 1 } else { arity as usize };
        let f = self.f;
        for a in &f.args[args.as_range()][..of_type] {
            self.reads(at, a.value, wide);
        }
        for (&d, &w) in f.dsts[dsts.as_range()].iter().zip(results) {
            self.writes(at, d, w);
        }
    }
}

fn allowed(op: BinOp) -> u8 {
    match op {
        BinOp::Add | BinOp::Sub | BinOp::Mul => flags::NSW | flags::NUW,
        BinOp::Shl => flags::NSW | flags::NUW | flags::MOVED,
        BinOp::UDiv | BinOp::SDiv => flags::EXACT,
        BinOp::LShr | BinOp::AShr => flags::EXACT | flags::MOVED,
        BinOp::URem | BinOp::SRem | BinOp::And | BinOp::Or | BinOp::Xor => 0,
    }
}
