//! Weakest preconditions of instructions that only compute: the result is replaced by the term the machine would build.

use crate::transformer::{NoInterpolant, WpResult, WpTransformer};
use pleach_expr::{TermId, mask};
use pleach_ir::{Arg, BinOp, CastOp, Function, Inst, Opnd, flags};
use pleach_semantics::{
    bin_term, cmp_term, float_bin, float_cast, float_cmp, float_neg, overflow_term, scalar_terms, signed_min,
};
use rustc_hash::FxHashMap;

impl WpTransformer<'_> {
    /// What must hold for the instruction itself not to be an error, as far as that is a condition on numbers; in the
    /// order in which the machine checks.
    pub fn check_of(&mut self, f: &Function, depth: u32, inst: &Inst) -> WpResult<Vec<TermId>> {
        let mut out = Vec::new();
        if let Inst::Check { cond, .. } = *inst {
            out.push(self.operand(f, depth, cond, 1)?);
        }
        let Inst::Bin { op, flags: fl, width, a, b, .. } = *inst else { return Ok(out) };
        let overflow = self.check_overflow && fl & flags::NSW != 0;
        match op {
            BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem => {
                let y = self.operand(f, depth, b, width)?;
                let zero = self.terms.constant(width, 0);
                out.push(self.terms.ne(y, zero));
                if matches!(op, BinOp::SDiv | BinOp::SRem) {
                    let x = self.operand(f, depth, a, width)?;
                    let minus_one = self.terms.not(zero);
                    let min = signed_min(self.terms, width);
                    let (at_min, by) = (self.terms.eq(x, min), self.terms.eq(y, minus_one));
                    let both = self.terms.and(at_min, by);
                    out.push(self.terms.not(both));
                }
            }
            BinOp::Shl | BinOp::LShr | BinOp::AShr => {
                let y = self.operand(f, depth, b, width)?;
                if fl & flags::MOVED == 0 && (width >= 64 || u64::from(width) <= mask(width)) {
                    let w = self.terms.constant(width, u64::from(width));
                    out.push(self.terms.ult(y, w));
                }
                if overflow && op == BinOp::Shl {
                    let x = self.operand(f, depth, a, width)?;
                    let shifted = self.terms.shl(x, y);
                    let back = self.terms.ashr(shifted, y);
                    out.push(self.terms.eq(back, x));
                }
            }
            BinOp::Add | BinOp::Sub | BinOp::Mul if overflow => {
                let x = self.operand(f, depth, a, width)?;
                let y = self.operand(f, depth, b, width)?;
                let over = overflow_term(self.terms, op, true, x, y);
                out.push(self.terms.not(over));
            }
            _ => {}
        }
        Ok(out)
    }

    pub(crate) fn plain(&mut self, f: &Function, depth: u32, inst: &Inst) -> WpResult<()> {
        let checks = self.check_of(f, depth, inst)?;
        let mut needed = false;
        pleach_ir::defs::for_each_result(f, inst, |s| needed |= self.needs(f, depth, s));
        if needed {
            self.computed(f, depth, inst)?;
        } else if matches!(inst, Inst::Unsupported { .. } | Inst::StackRestore { .. } | Inst::VaArg { .. }) {
            return Err(NoInterpolant::UnsupportedInstruction);
        }
        for c in checks {
            self.require(c);
        }
        Ok(())
    }

    /// The condition mentions a result of the instruction.
    fn computed(&mut self, f: &Function, depth: u32, inst: &Inst) -> WpResult<()> {
        let (dst, t) = match *inst {
            Inst::Bin { op, width, dst, a, b, .. } => {
                let (x, y) = self.both(f, depth, a, b, width)?;
                (dst, bin_term(self.terms, op, x, y))
            }
            Inst::Cmp { op, width, dst, a, b } => {
                let (x, y) = self.both(f, depth, a, b, width)?;
                (dst, cmp_term(self.terms, op, x, y))
            }
            Inst::Cast { op, from, to, dst, a } => {
                let x = self.operand(f, depth, a, from)?;
                let t = match op {
                    CastOp::Trunc => self.terms.extract(x, 0, to),
                    CastOp::SExt => self.terms.sext(x, to),
                    CastOp::ZExt => self.terms.zext(x, to),
                    CastOp::PtrToInt | CastOp::IntToPtr => self.terms.resize_unsigned(x, to),
                };
                (dst, t)
            }
            Inst::Select { ty, dst, cond, a, b } => {
                let c = self.operand(f, depth, cond, 1)?;
                let (x, y) = self.both(f, depth, a, b, self.width(ty))?;
                (dst, self.terms.ite(c, x, y))
            }
            Inst::Mov { dst, a } | Inst::Freeze { dst, a, .. } => return self.assign_operand(f, depth, dst, a),
            Inst::Gep { dst, base, offset, parts } => {
                let w = self.terms.pointer_bits;
                let mut sum = self.operand(f, depth, base, w)?;
                let k = self.terms.constant(w, offset as u64);
                sum = self.terms.add(sum, k);
                for s in &f.scaled[parts.as_range()] {
                    let i = self.operand(f, depth, s.index, s.width)?;
                    let i = self.terms.resize_signed(i, w);
                    let scale = self.terms.constant(w, s.scale as u64);
                    let part = self.terms.mul(i, scale);
                    sum = self.terms.add(sum, part);
                }
                (dst, sum)
            }
            Inst::Undef { dst } => {
                let r = self.register(f, depth, dst);
                return self.forall(r);
            }
            Inst::FBin { op, ty, dst, a, b } => {
                let (x, y) = self.both(f, depth, a, b, ty.bits())?;
                (dst, float_bin(self.terms, op, x, y))
            }
            Inst::FNeg { ty, dst, a } => {
                let x = self.operand(f, depth, a, ty.bits())?;
                (dst, float_neg(self.terms, x))
            }
            Inst::FCmp { op, ty, dst, a, b } => {
                let (x, y) = self.both(f, depth, a, b, ty.bits())?;
                (dst, float_cmp(self.terms, op, x, y))
            }
            Inst::FCast { op, from, to, dst, a } => {
                let x = self.operand(f, depth, a, self.width(from))?;
                let to = self.width(to);
                (dst, float_cast(self.terms, op, x, to))
            }
            Inst::Scalar { op, ty, dsts, args } => {
                let list: &[Arg] = &f.args[args.as_range()];
                let mut values = Vec::with_capacity(list.len());
                for a in list {
                    let w = self.width(a.ty);
                    values.push(self.operand(f, depth, a.value, w)?);
                }
                let results = scalar_terms(self.terms, op, ty, self.width(ty), &values)
                    .ok_or(NoInterpolant::UnsupportedInstruction)?;
                let mut map = FxHashMap::default();
                for (&d, r) in f.dsts[dsts.as_range()].iter().zip(results) {
                    let var = self.register(f, depth, d);
                    map.insert(var, self.terms.resize_unsigned(r, self.terms.width(var)));
                }
                self.replace_all(&map);
                return Ok(());
            }
            _ => return Err(NoInterpolant::UnsupportedInstruction),
        };
        self.assign(f, depth, dst, t);
        Ok(())
    }

    fn both(&mut self, f: &Function, depth: u32, a: Opnd, b: Opnd, width: u16) -> WpResult<(TermId, TermId)> {
        Ok((self.operand(f, depth, a, width)?, self.operand(f, depth, b, width)?))
    }
}
