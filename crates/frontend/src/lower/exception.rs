//! Exceptions: `invoke`, `landingpad`, `resume`.
//!
//! An invoke is a call and a branch on a flag of the frame: off before the call; the engine switches it on when it
//! unwinds to this frame, and goes on after the call. A landing pad calls the runtime (`runtime/cxx`) to find the
//! clause that takes the exception.

use super::Unsupported;
use super::emit::{Leaves, Lowered, Lowering};
use crate::llvm::{Block, Inst, Shape, Value};
use pleach_ir::{self as ir, Arg, BinOp, Callee, CmpOp, Opnd, Ty};

impl<'m> Lowering<'_, 'm> {
    pub fn invoke(&mut self, inst: Inst<'m>, from: Block<'m>) -> Lowered<()> {
        let no_target = || Unsupported::new("invoke");
        let (normal, unwind) = (inst.normal_dest().ok_or_else(no_target)?, inst.unwind_dest().ok_or_else(no_target)?);
        let flag = match self.out.unwound {
            Some(flag) => flag,
            None => {
                let flag = self.slot(Ty::Int(1));
                self.mutable[flag.index()] = true;
                self.out.unwound = Some(flag);
                flag
            }
        };
        let off = self.int(1, 0);
        self.push(ir::Inst::Mov { dst: flag, a: off });
        let leaves = self.call(inst)?;
        self.bind(inst.value(), leaves);
        let unwind = self.edge(from, unwind)?;
        let normal = self.edge(from, normal)?;
        let edges = self.edges([unwind, normal]).start;
        self.push(ir::Inst::Branch { cond: Opnd::slot(flag), edges });
        Ok(())
    }

    /// The exception and the number of the clause that takes it; 0 if it only passes by.
    pub fn landing_pad(&mut self, inst: Inst<'m>) -> Lowered<Leaves> {
        let exception = self.runtime("__pleach_flying", &[], &[Ty::Ptr])[0];
        let (mut selector, mut found) = (self.int(32, 0), self.int(32, 0));
        for clause in inst.clauses() {
            let (takes, number) = match clause.ty().shape() {
                Shape::Array(_, 0) => (self.int(32, 1), self.int(32, u64::from(u32::MAX))),
                Shape::Array(..) => return Err(Unsupported::new("an exception specification")),
                _ => {
                    let (ty, number) = (self.operand(clause)?, self.unit.type_number(clause));
                    let takes =
                        self.runtime("__pleach_catches", &[(ty, Ty::Ptr), (found, Ty::Int(32))], &[Ty::Int(32)])[0];
                    (takes, self.int(32, number))
                }
            };
            let zero = self.int(32, 0);
            let hit = self.cmp(CmpOp::Ne, 32, takes, zero);
            let before = self.cmp(CmpOp::Eq, 32, found, zero);
            let first = self.bin(BinOp::And, 1, hit, before);
            selector = self.select(Ty::Int(32), first, number, selector);
            found = self.bin(BinOp::Or, 32, found, takes);
        }
        if !inst.is_cleanup() {
            let zero = self.int(32, 0);
            let none = self.cmp(CmpOp::Eq, 32, found, zero);
            self.runtime("__pleach_pass_by", &[(none, Ty::Int(1))], &[]);
        }
        Ok([exception, selector].into_iter().collect())
    }

    pub fn resume(&mut self, inst: Inst<'m>) -> Lowered<()> {
        let v = self.nth(inst.value(), 0)?;
        let leaves = self.operands(v)?;
        let exception = *leaves.first().ok_or_else(|| Unsupported::new("resume"))?;
        self.runtime("_Unwind_Resume", &[(exception, Ty::Ptr)], &[]);
        self.push(ir::Inst::Unreachable);
        Ok(())
    }

    /// What `llvm.eh.typeid.for` gives.
    pub fn type_number(&mut self, ty: Value<'m>) -> Opnd {
        let number = self.unit.type_number(ty);
        self.int(32, number)
    }

    fn runtime(&mut self, name: &str, args: &[(Opnd, Ty)], results: &[Ty]) -> Leaves {
        let callee = self.unit.declare_named(name);
        let args = args.iter().map(|(value, ty)| Arg { value: *value, ty: *ty, byval: 0 }).collect();
        self.emit_call(Callee::Direct(callee), args, results)
    }
}
