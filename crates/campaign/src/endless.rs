//! Random programs with loops without end, and which of their errors can happen.
//!
//! *Law*: a run that is complete finds exactly the errors that an enumeration of the program's states finds; one that
//! is not finds no others. Values are small, so that the enumeration ends although the loops do not. Under a bound on
//! rounds the enumeration counts them, too, and a run that nothing else cut is held to be complete.

mod program;
mod truth;

pub use program::{EndlessProgram, generate};

use crate::engine::{Bounds, Found, Mode, PLAIN, explore_and_audit};
use pleach_ir::Program;
use pleach_merge::{MergeMethod, MergeScope};
use pleach_prune::{Checks, Method};
use pleach_state::Leaks;
use std::collections::BTreeSet;
use std::rc::Rc;

const fn unbounded(name: &'static str, search: &'static str) -> Mode {
    Mode { name, search, prune: Some(Method::Wp), unbounded: true, ..PLAIN }
}

const fn bounded(name: &'static str, search: &'static str, rounds: u32) -> Mode {
    Mode { name, search, prune: Some(Method::Wp), unwind: Some(rounds), ..PLAIN }
}

/// The ways to explore that are compared with the enumeration.
pub const MODES: &[Mode] = &[
    unbounded("unbounded, dfs", "dfs"),
    unbounded("unbounded, bfs", "bfs"),
    unbounded("unbounded, random-path", "random-path"),
    Mode { induction: true, ..unbounded("induction, dfs", "dfs") },
    bounded("3 rounds, dfs", "dfs", 3),
    bounded("8 rounds, bfs", "bfs", 8),
    bounded("1 round, random-path", "random-path", 1),
    Mode { unbounded: true, ..bounded("8 rounds, unbounded", "dfs", 8) },
    Mode { speculate: true, ..bounded("5 rounds, speculation", "dfs", 5) },
    Mode { merge: Some((MergeMethod::Tree, MergeScope::Loops)), ..bounded("4 rounds, merging", "dfs", 4) },
];

/// What became of one program in one mode.
pub struct Comparison {
    pub decided: bool,
    /// errors can happen
    pub faulty: bool,
    pub audited: u64,
    pub wrong: Option<String>,
}

/// Explores the program in one mode and compares. Line numbers are those of `program`'s file.
pub fn check(
    program: &Rc<Program>,
    of: &EndlessProgram,
    first_line: u32,
    mode: Mode,
    bounds: Bounds,
) -> Result<Comparison, String> {
    let truth: BTreeSet<u32> =
        truth::reachable(of, mode.unwind).into_iter().map(|site| first_line + of.lines[site]).collect();
    let checks = Checks { overflow: false, leaks: Leaks::Ignored };
    let found = explore_and_audit(program, &of.entry(), checks, mode, bounds, &mut |_| ())?;
    let lines: BTreeSet<u32> = found.errors.iter().map(|e| line(program, e.1, e.2)).collect();
    Ok(Comparison {
        decided: found.complete_within_rounds,
        faulty: !truth.is_empty(),
        audited: found.audit.checked + found.audit.matched,
        wrong: difference(&truth, &lines, &found),
    })
}

fn difference(truth: &BTreeSet<u32>, lines: &BTreeSet<u32>, found: &Found) -> Option<String> {
    let missed: Vec<_> = truth.difference(lines).collect();
    let invented: Vec<_> = lines.difference(truth).collect();
    match () {
        () if !invented.is_empty() => Some(format!("errors at lines {invented:?} cannot happen")),
        () if found.complete_within_rounds && !missed.is_empty() => {
            Some(format!("errors at lines {missed:?} are missed"))
        }
        () => found.audit.failures.first().map(|f| format!("an interpolant is wrong: {f}")),
    }
}

fn line(program: &Program, func: u32, inst: u32) -> u32 {
    program.functions[func as usize].spans.get(inst as usize).map_or(0, |s| s.line)
}
