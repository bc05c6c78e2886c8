//! Floating point: concrete values of 32 and 64 bits at native speed, everything else as terms.

use crate::flow::StepResult;
use crate::machine::Machine;
use pleach_expr::TermId;
use pleach_ir::{FloatTy, Inst};
use pleach_memory::Value;
use pleach_semantics::{float_bin, float_cast, float_cmp, float_neg};
use pleach_state::State;

impl Machine {
    pub(crate) fn float(&mut self, consts: &[Value], st: &mut State, inst: &Inst) -> StepResult<()> {
        match *inst {
            Inst::FBin { op, ty, dst, a, b } => {
                let (x, y) = self.float_operands(consts, st, ty, a, b);
                let r = float_bin(&mut self.terms, op, x, y);
                self.set_term(st, dst, r);
                Ok(())
            }
            Inst::FNeg { ty, dst, a } => {
                let w = ty.bits();
                let v = self.value(st, consts, a, w);
                let x = self.term(st, v, w);
                let r = float_neg(&mut self.terms, x);
                self.set_term(st, dst, r);
                Ok(())
            }
            Inst::FCmp { op, ty, dst, a, b } => {
                let (x, y) = self.float_operands(consts, st, ty, a, b);
                let r = float_cmp(&mut self.terms, op, x, y);
                self.set_term(st, dst, r);
                Ok(())
            }
            Inst::FCast { op, from, to, dst, a } => {
                let (wf, wt) = (self.width_of(from), self.width_of(to));
                let v = self.value(st, consts, a, wf);
                let x = self.term(st, v, wf);
                let r = float_cast(&mut self.terms, op, x, wt);
                self.set_term(st, dst, r);
                Ok(())
            }
            _ => unreachable!("dispatched by family"),
        }
    }

    fn float_operands(
        &mut self,
        consts: &[Value],
        st: &mut State,
        ty: FloatTy,
        a: pleach_ir::Opnd,
        b: pleach_ir::Opnd,
    ) -> (TermId, TermId) {
        let w = ty.bits();
        let x = self.value(st, consts, a, w);
        let y = self.value(st, consts, b, w);
        (self.term(st, x, w), self.term(st, y, w))
    }
}
