//! Operations that can fail, as targets.

use pleach_backward::{Failure, Goal, ends_program};
use pleach_ir::{BinOp, Callee, CheckKind, FuncId, Inst, InstId, Program, Span};
use pleach_report::ErrorKind;

pub struct ErrorTarget {
    pub name: String,
    pub span: Span,
    pub function: FuncId,
    pub goal: Goal,
    /// what forward execution calls it; an access has three ways to fail
    pub kinds: Vec<ErrorKind>,
}

/// Assertions, divisions, shifts, accesses and inserted checks of the program's own functions.
pub fn all_errors(program: &Program) -> Vec<ErrorTarget> {
    let mut all = Vec::new();
    for (i, f) in program.functions.iter().enumerate() {
        let function = FuncId::new(i);
        if !program.is_own(function) {
            continue;
        }
        for (at, inst) in f.insts.iter().enumerate() {
            let kinds = kinds(program, inst);
            if kinds.is_empty() {
                continue;
            }
            let span = f.spans.get(at).copied().unwrap_or_default();
            let path = program.path(span);
            let file = path.rsplit('/').next().unwrap_or(path);
            let name = format!("{file}:{}:{} {}", span.line, span.column, kinds[0].as_str());
            let inst = InstId::new(at);
            let goal = match kinds[0] {
                ErrorKind::Assert => Goal::At(function, inst),
                _ => Goal::Fails(function, inst, Failure::Any),
            };
            all.push(ErrorTarget { name, span, function, goal, kinds });
        }
    }
    all
}

fn kinds(program: &Program, inst: &Inst) -> Vec<ErrorKind> {
    match inst {
        Inst::Load { .. } => vec![ErrorKind::Null, ErrorKind::OobRead, ErrorKind::UseAfterFree],
        Inst::Store { .. } => vec![ErrorKind::Null, ErrorKind::OobWrite, ErrorKind::UseAfterFree],
        Inst::Bin { op: BinOp::UDiv | BinOp::SDiv | BinOp::URem | BinOp::SRem, .. } => vec![ErrorKind::DivZero],
        Inst::Bin { op: BinOp::Shl | BinOp::LShr | BinOp::AShr, flags, b, .. }
            if flags & pleach_ir::flags::MOVED == 0 && b.as_slot().is_some() =>
        {
            vec![ErrorKind::Overshift]
        }
        Inst::Check { kind: CheckKind::DivZero, .. } => vec![ErrorKind::DivZero],
        Inst::Check { kind: CheckKind::Overshift, .. } => vec![ErrorKind::Overshift],
        Inst::Call { callee: Callee::Direct(g), .. } if is_failure(&program.function(*g).name) => {
            vec![ErrorKind::Assert]
        }
        Inst::Call { callee: Callee::Direct(g), .. } if program.function(*g).name == "free" => {
            vec![ErrorKind::DoubleFree, ErrorKind::BadFree]
        }
        _ => Vec::new(),
    }
}

fn is_failure(name: &str) -> bool {
    matches!(name, "__assert_fail" | "reach_error" | "__VERIFIER_error" | "klee_report_error")
}

/// The instruction is a call that reports a failed assertion.
pub fn fails_assertion(program: &Program, f: FuncId, i: InstId) -> bool {
    match program.function(f).insts.get(i.index()) {
        Some(Inst::Call { callee: Callee::Direct(g), .. }) => {
            let g = program.function(*g);
            ends_program(g) && is_failure(&g.name)
        }
        _ => false,
    }
}
