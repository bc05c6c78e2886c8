//! What the pruner learned, for the run directory.

use pleach::relative;
use pleach_exec::Machine;
use pleach_ir::{Program, Span};
use pleach_prune::{Explanation, Interpolation, InvariantInC, LoopExplanation};
use pleach_report::{Interpolant, LoopRecord};
use std::path::Path;

pub fn of(pruner: &Interpolation, machine: &mut Machine, program: &Program, directory: &Path) -> Vec<Interpolant> {
    let one = |e: Explanation| Interpolant {
        node: e.node.0,
        file: relative(program.path(e.span), directory).to_owned(),
        line: e.span.line,
        stack: e.stack,
        subsumed_by: e.by.map(|n| n.0),
        no_interpolant: e.no_interpolant.map(str::to_owned),
        conjuncts: e.conjuncts,
    };
    pruner.explanations(machine).into_iter().map(one).collect()
}

/// What of the invariants of a loop can be said in C.
#[derive(Clone, Debug)]
pub struct LoopInC {
    pub file: String,
    pub span: Span,
    pub function: String,
    pub invariants: Vec<InvariantInC>,
}

/// The loops that states came back to.
pub fn loops(
    pruner: &Interpolation,
    machine: &mut Machine,
    program: &Program,
    directory: &Path,
) -> (Vec<LoopRecord>, Vec<LoopInC>) {
    let one = |l: LoopExplanation| {
        let file = relative(program.path(l.span), directory).to_owned();
        let function = program.function(l.func).name.clone();
        let in_c = LoopInC { file: file.clone(), span: l.span, function: function.clone(), invariants: l.in_c };
        let record = LoopRecord {
            file,
            line: l.span.line,
            function,
            unrolled: l.unrolled,
            rounds: l.rounds,
            waiting: l.waiting,
            invariants: l.invariants,
        };
        (record, in_c)
    };
    pruner.loops(machine).into_iter().map(one).unzip()
}
