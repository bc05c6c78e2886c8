//! What the pruner learned, for the run directory.

use pleach::relative;
use pleach_exec::Machine;
use pleach_ir::Program;
use pleach_prune::{Explanation, Interpolation, LoopExplanation};
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

/// The loops that states came back to.
pub fn loops(pruner: &Interpolation, machine: &mut Machine, program: &Program, directory: &Path) -> Vec<LoopRecord> {
    let one = |l: LoopExplanation| LoopRecord {
        file: relative(program.path(l.span), directory).to_owned(),
        line: l.span.line,
        function: program.function(l.func).name.clone(),
        unrolled: l.unrolled,
        rounds: l.rounds,
        waiting: l.waiting,
        invariants: l.invariants,
    };
    pruner.loops(machine).into_iter().map(one).collect()
}
