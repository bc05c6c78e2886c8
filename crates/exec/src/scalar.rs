//! Scalar intrinsics: overflow and saturating arithmetic, bit counting, minimum and maximum, and their float cousins.

use crate::flow::{Flow, StepResult};
use crate::machine::Machine;
use pleach_expr::TermId;
use pleach_ir::{Function, Inst, Ty};
use pleach_memory::Value;
use pleach_semantics::scalar_terms;
use pleach_state::{Cut, State};
use smallvec::SmallVec;

impl Machine {
    pub(crate) fn scalar(&mut self, f: &Function, consts: &[Value], st: &mut State, inst: &Inst) -> StepResult<()> {
        let &Inst::Scalar { op, ty, dsts, args } = inst else { unreachable!("dispatched by family") };
        let mut a: SmallVec<[TermId; 3]> = SmallVec::new();
        for x in &f.args[args.as_range()] {
            let w = self.width_of(x.ty);
            let v = self.value(st, consts, x.value, w);
            a.push(self.term(st, v, w));
        }
        let w = self.width_of(ty);
        let Some(results) = scalar_terms(&mut self.terms, op, ty, w, &a) else {
            let what = if matches!(ty, Ty::Float(_)) { "floating-point intrinsic" } else { "intrinsic" };
            return Err(Flow::cut(Cut::Unsupported(format!("{what} {op:?}"))));
        };
        for (d, r) in f.dsts[dsts.as_range()].iter().zip(results) {
            self.set_term(st, *d, r);
        }
        Ok(())
    }
}
