//! Integers, pointers as numbers, selects, addresses: the symbolic and checked cases.

use crate::flow::{Flow, StepResult};
use crate::machine::{Code, Machine};
use pleach_expr::{TermId, Terms, mask};
use pleach_ir::{BinOp, CastOp, Function, Inst, Slot, Ty, flags};
use pleach_memory::Value;
use pleach_state::{ErrorKind, State};

impl Machine {
    pub(crate) fn set(&mut self, st: &mut State, dst: Slot, v: Value) {
        st.frame.regs[dst.index()] = v;
    }

    pub(crate) fn set_term(&mut self, st: &mut State, dst: Slot, t: TermId) {
        st.frame.regs[dst.index()] = Value::from_term(&self.terms, t);
    }

    pub(crate) fn width_of(&self, ty: Ty) -> u16 {
        self.program.target.bits(ty)
    }

    pub(crate) fn integer(
        &mut self,
        _code: &Code,
        f: &Function,
        consts: &[Value],
        st: &mut State,
        inst: &Inst,
    ) -> StepResult<()> {
        match *inst {
            Inst::Bin { op, flags: fl, width, dst, a, b } => {
                let x = self.value(st, consts, a, width);
                let y = self.value(st, consts, b, width);
                self.binary(st, op, fl, width, dst, x, y)
            }
            Inst::Cmp { op, width, dst, a, b } => {
                let x = self.value(st, consts, a, width);
                let y = self.value(st, consts, b, width);
                if width <= 64
                    && let (Some(p), Some(q)) = (self.concrete_number(st, x), self.concrete_number(st, y))
                {
                    self.check_pointer_order_dependence(st, op, x, y)?;
                    self.pin_compared(st, op, x, y);
                    self.set(st, dst, Value::Int(u64::from(pleach_semantics::compare(op, width, p, q))));
                    return Ok(());
                }
                let x = self.term(st, x, width);
                let y = self.term(st, y, width);
                let t = pleach_semantics::cmp_term(&mut self.terms, op, x, y);
                self.set_term(st, dst, t);
                Ok(())
            }
            Inst::Cast { op, from, to, dst, a } => {
                let x = self.value(st, consts, a, from);
                let t = self.term(st, x, from);
                let r = match op {
                    CastOp::Trunc => self.terms.extract(t, 0, to),
                    CastOp::SExt => self.terms.sext(t, to),
                    CastOp::ZExt => self.terms.zext(t, to),
                    CastOp::PtrToInt | CastOp::IntToPtr => self.terms.resize_unsigned(t, to),
                };
                self.set_term(st, dst, r);
                Ok(())
            }
            Inst::Select { ty, dst, cond, a, b } => {
                let c = self.value(st, consts, cond, 1);
                let w = self.width_of(ty);
                let x = self.value(st, consts, a, w);
                let y = self.value(st, consts, b, w);
                let c = self.term(st, c, 1);
                let x = self.term(st, x, w);
                let y = self.term(st, y, w);
                let t = self.terms.ite(c, x, y);
                self.set_term(st, dst, t);
                Ok(())
            }
            Inst::Freeze { ty, dst, a } => {
                let w = self.width_of(ty);
                let v = self.value(st, consts, a, w);
                self.set(st, dst, v);
                Ok(())
            }
            Inst::Gep { dst, base, offset, parts } => {
                let w = self.pointer_bits();
                let b = self.value(st, consts, base, w);
                let mut sum = self.term(st, b, w);
                let k = self.terms.constant(w, offset as u64);
                sum = self.terms.add(sum, k);
                for s in &f.scaled[parts.as_range()] {
                    let i = self.value(st, consts, s.index, s.width);
                    let i = self.term(st, i, s.width);
                    let i = self.terms.resize_signed(i, w);
                    let scale = self.terms.constant(w, s.scale as u64);
                    let part = self.terms.mul(i, scale);
                    sum = self.terms.add(sum, part);
                }
                self.set_term(st, dst, sum);
                Ok(())
            }
            _ => unreachable!("dispatched by family"),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn binary(
        &mut self,
        st: &mut State,
        op: BinOp,
        fl: u8,
        width: u16,
        dst: Slot,
        x: Value,
        y: Value,
    ) -> StepResult<()> {
        if let Some(v) = self.pointer_bin(op, width, x, y).or_else(|| self.low_bits(st, op, width, x, y)) {
            self.set(st, dst, v);
            return Ok(());
        }
        let a = self.term(st, x, width);
        let b = self.term(st, y, width);
        match op {
            BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem => {
                let zero = self.terms.constant(width, 0);
                let ok = self.terms.ne(b, zero);
                self.require(st, ok, ErrorKind::DivZero, || "division by zero".into())?;
                if matches!(op, BinOp::SDiv | BinOp::SRem) && self.config.rules.check_min_division {
                    let min = pleach_semantics::signed_min(&mut self.terms, width);
                    let minus_one = self.terms.not(zero);
                    let is_min = self.terms.eq(a, min);
                    let is_minus_one = self.terms.eq(b, minus_one);
                    let both = self.terms.and(is_min, is_minus_one);
                    let ok = self.terms.not(both);
                    self.require(st, ok, ErrorKind::SignedOverflow, || {
                        "division of the smallest number by -1, whose result does not fit".into()
                    })?;
                }
            }
            BinOp::Shl | BinOp::LShr | BinOp::AShr => {
                let w = self.terms.constant(width, u64::from(width));
                // A width that does not fit into its own bits (i1) is reached by no amount.
                let fits = width >= 64 || u64::from(width) <= mask(width);
                let checked = fits && fl & flags::MOVED == 0 && self.config.check_overshift;
                let ok = if checked { self.terms.ult(b, w) } else { Terms::TRUE };
                self.require(st, ok, ErrorKind::Overshift, || {
                    format!("shift of a {width}-bit value by {width} or more")
                })?;
                if op == BinOp::Shl && fl & flags::NSW != 0 && self.config.check_signed_overflow {
                    let r = self.terms.shl(a, b);
                    let back = self.terms.ashr(r, b);
                    let ok = self.terms.eq(back, a);
                    self.require(st, ok, ErrorKind::SignedOverflow, || "signed overflow in a left shift".into())?;
                }
            }
            BinOp::Add | BinOp::Sub | BinOp::Mul if fl & flags::NSW != 0 && self.config.check_signed_overflow => {
                let over = pleach_semantics::overflow_term(&mut self.terms, op, true, a, b);
                let ok = self.terms.not(over);
                let what = match op {
                    BinOp::Add => "an addition",
                    BinOp::Sub => "a subtraction",
                    _ => "a multiplication",
                };
                self.require(st, ok, ErrorKind::SignedOverflow, || format!("signed overflow in {what}"))?;
            }
            _ => {}
        }
        let t = pleach_semantics::bin_term(&mut self.terms, op, a, b);
        self.set_term(st, dst, t);
        Ok(())
    }
}

impl From<Flow> for StepResult<()> {
    fn from(f: Flow) -> Self {
        match f {
            Flow::Next => Ok(()),
            other => Err(other),
        }
    }
}
