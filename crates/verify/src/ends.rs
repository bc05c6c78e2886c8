//! What the end of a path means for a property. The table is in `docs/verify.md`.

use crate::property::{Goal, Property};
use pleach_ir::{Callee, FuncId, Inst, OpndKind, Program};
use pleach_memory::Value;
use pleach_state::{ErrorKind, State};

/// What an error is to a property.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Class {
    /// It violates the property: this goal, where SV-COMP has a name for it.
    Violation(Option<Goal>),
    /// The program ends there, and that is all: `abort`, a failed assertion that the property does not cover.
    End,
    /// What the program does from there on is not defined, so that nothing can be said about it.
    Undefined,
}

impl Property {
    /// `called`: the function that the path was about to enter.
    pub fn class(&self, kind: ErrorKind, called: Option<&str>) -> Class {
        let goal = goal_of(kind);
        if self.is_everything() {
            return Class::Violation(goal);
        }
        match (kind, goal) {
            (ErrorKind::Assert, _) => {
                let named = called.is_some_and(|f| self.functions.iter().any(|g| g == f));
                match self.has(Goal::UnreachCall) {
                    true if named || self.asserts => Class::Violation(Some(Goal::UnreachCall)),
                    // SOUND: through a pointer it may have been the target function.
                    true if called.is_none() => Class::Undefined,
                    _ => Class::End,
                }
            }
            (ErrorKind::Abort, _) => Class::End,
            // One check looks for both: with the stricter goal requested, it is the stricter check.
            (ErrorKind::Leak, _) if self.has(Goal::ValidMemcleanup) => Class::Violation(Some(Goal::ValidMemcleanup)),
            (_, Some(goal)) if self.has(goal) => Class::Violation(Some(goal)),
            _ => Class::Undefined,
        }
    }
}

/// The goal that an error of this kind violates.
fn goal_of(kind: ErrorKind) -> Option<Goal> {
    use ErrorKind::*;
    match kind {
        Assert => Some(Goal::UnreachCall),
        OobRead | OobWrite | Null | UseAfterFree | Readonly => Some(Goal::ValidDeref),
        DoubleFree | BadFree => Some(Goal::ValidFree),
        Leak => Some(Goal::ValidMemtrack),
        SignedOverflow => Some(Goal::NoOverflow),
        Misaligned | Overlap | InvalidValue | FloatCast | InvalidBuiltin | VlaBound | Poison | Uninit => None,
        Abort | DivZero | Overshift | Unreachable | StackOverflow | BadCall | LoopLimit | User => None,
    }
}

/// The function called by the instruction that the state is at.
pub fn called<'a>(program: &'a Program, state: &State) -> Option<&'a str> {
    let f = program.function(state.frame.func);
    let Inst::Call { callee, .. } = f.insts.get(state.inst as usize)? else { return None };
    let id = match callee {
        Callee::Direct(id) => *id,
        Callee::Indirect(pointer) => match pointer.kind() {
            OpndKind::Slot(s) => {
                let obj = match state.frame.regs.get(s.index())? {
                    Value::Ptr { obj, off: 0 } => *obj,
                    Value::Term(t) => state.decided.get(t)?.0,
                    _ => return None,
                };
                // Objects are made for globals first, then for functions.
                FuncId(obj.0.checked_sub(program.globals.len() as u32)?)
            }
            OpndKind::Const(_) => return None,
        },
    };
    program.functions.get(id.index()).map(|f| f.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ErrorKind::*;

    fn class(property: &str, kind: ErrorKind) -> Class {
        Property::parse(property).unwrap().class(kind, None)
    }

    #[test]
    fn kinds_and_properties() {
        use Goal::*;
        let violates = |g| Class::Violation(Some(g));
        assert_eq!(class("unreach-call", Assert), violates(UnreachCall));
        assert_eq!(class("memsafety", Assert), Class::End);
        for p in ["unreach-call", "memsafety", "valid-memcleanup", "no-overflow"] {
            assert_eq!(class(p, Abort), Class::End);
            for kind in [DivZero, Overshift, Unreachable, BadCall, StackOverflow, User] {
                assert_eq!(class(p, kind), Class::Undefined, "{p} {kind:?}");
            }
        }
        for kind in [OobRead, OobWrite, Null, UseAfterFree, Readonly] {
            assert_eq!(class("memsafety", kind), violates(ValidDeref));
            for p in ["unreach-call", "valid-free", "no-overflow", "valid-memcleanup"] {
                assert_eq!(class(p, kind), Class::Undefined, "{p} {kind:?}");
            }
        }
        assert_eq!(class("memsafety", DoubleFree), violates(ValidFree));
        assert_eq!(class("valid-deref", BadFree), Class::Undefined);
        assert_eq!(class("memsafety", Leak), violates(ValidMemtrack));
        assert_eq!(class("valid-memcleanup", Leak), violates(ValidMemcleanup));
        assert_eq!(class("no-overflow", SignedOverflow), violates(NoOverflow));
        assert_eq!(class("unreach-call", SignedOverflow), Class::Undefined);
        assert_eq!(class("errors", Abort), Class::Violation(None));
        assert_eq!(class("errors", Null), violates(ValidDeref));
    }

    #[test]
    fn a_property_file_means_its_function_alone() {
        let text = "CHECK( init(main()), LTL(G ! call(reach_error())) )";
        let p = crate::prp::parse(text, std::path::Path::new("a.prp")).unwrap();
        assert_eq!(p.class(Assert, Some("reach_error")), Class::Violation(Some(Goal::UnreachCall)));
        assert_eq!(p.class(Assert, Some("__assert_fail")), Class::End);
        assert_eq!(p.class(Assert, None), Class::Undefined);
    }
}
