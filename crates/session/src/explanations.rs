//! What the pruner learned and what was merged, for the run directory and for `pleach explain`.

use pleach::{number_format, relative};
use pleach_exec::Machine;
use pleach_ir::{Program, Span};
use pleach_merge::PatternText;
use pleach_prune::{Explanation, Interpolation, InvariantInC, LoopExplanation};
use pleach_report::{Interpolant, LoopRecord, NodeStatus, PatternRecord, Summary, TreeReader};
use std::fmt::Write;
use std::path::Path;

/// Reasons shown for interpolants that could not be made.
const REASONS: usize = 8;

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
            states: l.states,
            rounds: l.rounds,
            waiting: l.waiting,
            invariants: l.invariants,
        };
        (record, in_c)
    };
    pruner.loops(machine).into_iter().map(one).unzip()
}

/// Merges by patterns.
pub fn patterns(all: &[PatternText], directory: &Path) -> Vec<PatternRecord> {
    let one = |p: &PatternText| PatternRecord {
        file: relative(&p.file, directory).to_owned(),
        line: p.line,
        function: p.function.clone(),
        words: p.words.clone(),
        formulas: p.formulas.clone(),
        counter: p.counter.clone(),
        rounds: p.rounds.clone(),
        condition: p.condition.clone(),
    };
    all.iter().map(one).collect()
}

/// A pattern as the thesis writes it.
fn describe_pattern(out: &mut String, p: &PatternRecord) {
    let PatternRecord { file, line, function, words: [w1, w2, w3], counter, rounds, .. } = p;
    let states = number_format::count(rounds.len() as u64, "state");
    let _ = writeln!(out, "{states} that left a loop of `{function}` at {file}:{line} became one:");
    let _ = writeln!(out, "  pattern   ({w1}, {w2}, {w3})");
    let all = |f: &[String]| if f.is_empty() { "true".to_owned() } else { f.join(" && ") };
    let [f1, f2, f3] = [0, 1, 2].map(|i| all(&p.formulas[i]));
    let _ = writeln!(out, "  formulas  ({f1}, {f2}, {f3})");
    let _ = writeln!(out, "  condition {}", p.condition.join(" && "));
    let last = rounds.last().copied().unwrap_or(0);
    let _ = writeln!(out, "  rounds    {counter} from {} to {last}", rounds.first().copied().unwrap_or(0));
}

/// The tree of a run in figures, what was merged and what was pruned.
pub fn overview(tree: &TreeReader, summary: &Summary, run: &Path) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "{} in the tree:", number_format::count(tree.nodes.len() as u64, "node"));
    let kinds = [
        (NodeStatus::Inner, "with children"),
        (NodeStatus::Completed, "ended normally"),
        (NodeStatus::Errored, "ended in an error"),
        (NodeStatus::Pruned, "subsumed"),
        (NodeStatus::Merged, "merged into others"),
        (NodeStatus::Cut, "cut"),
    ];
    for (status, label) in kinds {
        let _ = writeln!(out, "{:>10} {label}", tree.count(status));
    }
    if !summary.merging.is_empty() {
        out.push_str("Merging statistics:\n");
        rows(&mut out, summary.merging.iter());
    }
    summary.patterns.iter().for_each(|p| describe_pattern(&mut out, p));
    if summary.pruning.is_empty() {
        out.push_str("The run was made without --prune.\n");
        return out;
    }
    out.push_str("Pruning statistics:\n");
    let (mut given_up, plain): (Vec<_>, Vec<_>) =
        summary.pruning.iter().partition(|(name, _)| name.starts_with("no-interpolant: "));
    rows(&mut out, plain.into_iter());
    if !given_up.is_empty() {
        out.push_str("Where no interpolant was found, and why:\n");
        given_up.sort_by_key(|(name, n)| (std::cmp::Reverse(**n), (*name).clone()));
        for (name, n) in given_up.iter().take(REASONS) {
            let _ = writeln!(out, "{n:>10} {}", name.trim_start_matches("no-interpolant: "));
        }
    }
    let _ = writeln!(out, "A node's interpolant: pleach explain {} --node N; the tree: --dot.", run.display());
    out
}

fn rows<'a>(out: &mut String, all: impl Iterator<Item = (&'a String, &'a u64)>) {
    all.for_each(|(name, value)| {
        let _ = writeln!(out, "{value:>10} {name}");
    });
}
