//! The condition under which a path ends as it did: where walking back begins.

use crate::failures::Failure;
use crate::pruner::Interpolation;
use pleach_ir::{Callee, Inst};
use pleach_state::seams::Logic;
use pleach_state::{End, ErrorKind, ForkKind, State};
use pleach_wp::{Condition, GiveUp, Walked};

impl Interpolation {
    /// The condition under which the path ends as it did.
    pub(crate) fn at_end(&mut self, logic: &mut dyn Logic, state: &State, end: &End, fresh: bool) -> Walked<Condition> {
        let program = logic.program();
        let f = program.function(state.frame.func);
        let inst = &f.insts[state.inst as usize];
        let callee = match inst {
            Inst::Call { callee: Callee::Direct(g), args, .. } => Some((program.function(*g).name.as_str(), *args)),
            _ => None,
        };
        let assume_fails = |this: &mut Self, logic: &mut dyn Logic, args: pleach_ir::Range| {
            let Some(a) = f.args[args.as_range()].first() else { return Err(GiveUp("no argument")) };
            let depth = state.call_depth();
            let w = program.target.bits(a.ty);
            let (v, mut c) = this.walk(logic, Condition::default(), |walker| walker.operand(f, depth, a.value, w))?;
            let zero = logic.terms().constant(w, 0);
            let fails = logic.terms().eq(v, zero);
            c.require(fails);
            Ok(c)
        };
        match (end, callee) {
            (End::Exit(_), _) => Ok(Condition::default()),
            (End::Silent | End::Error(_), Some(("__VERIFIER_assume" | "klee_assume", args))) => {
                assume_fails(self, logic, args)
            }
            (End::Silent, Some(("klee_silent_exit", _))) => Ok(Condition::default()),
            // The failing side of a check: its condition is the edge's.
            (End::Error(e), _) if fresh && state.fork == ForkKind::Check(e.kind) => Ok(Condition::default()),
            (End::Error(e), Some((name, _)))
                if matches!(e.kind, ErrorKind::Assert | ErrorKind::Abort | ErrorKind::User)
                    && matches!(
                        name,
                        "__assert_fail"
                            | "__assert"
                            | "__assert_rtn"
                            | "__assert_perror_fail"
                            | "llvm.trap"
                            | "llvm.debugtrap"
                            | "llvm.ubsantrap"
                            | "abort"
                            | "reach_error"
                            | "__VERIFIER_error"
                            | "klee_abort"
                            | "klee_report_error"
                    ) =>
            {
                Ok(Condition::default())
            }
            (End::Error(_), _) if matches!(inst, Inst::Unreachable) => Ok(Condition::default()),
            (End::Error(e), _) => {
                let condition = Condition::default();
                Failure { this: self, logic, state, f, kind: e.kind, condition }.certain(inst)
            }
            (End::Silent, _) => Err(GiveUp("a path that ended silently")),
            (End::Cut(_), _) => Err(GiveUp("a path below was lost")),
        }
    }
}
