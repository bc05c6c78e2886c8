//! The last pass of a proof by induction, again, with the other solver.
//!
//! *Invariant* checked: on entry to each loop and whenever it comes back all candidates that the proof kept hold,
//! memory and registers differ in nothing that was not made general, and no path ends in harm.

use crate::AuditReport;
use pleach_exec::Machine;
use pleach_prune::Interpolation;
use pleach_state::pruner::{Induction as _, InductionStep};
use pleach_state::seams::PathOracle as _;
use pleach_state::{End, History, State, Step};

/// Steps of the check.
const STEPS: u64 = 200_000;

pub(crate) fn check(machine: &mut Machine, pruner: &mut Interpolation, report: &mut AuditReport) {
    let mut waiting: Vec<State> = pruner.begin_check_of_induction();
    if waiting.is_empty() {
        return;
    }
    waiting.iter_mut().for_each(|s| s.history = History::beginning(s.inst));
    machine.weaken_quantifiers(true);
    let (mut steps, mut covered) = (0, 0);
    let mut open = None;
    let mut harmful = Vec::new();
    while let Some(mut state) = waiting.pop() {
        steps += 1;
        if steps > STEPS {
            open = Some("a proof by induction of many steps");
            break;
        }
        match pruner.arrive(&mut state, machine) {
            InductionStep::Continue => {}
            InductionStep::Covered => {
                covered += 1;
                continue;
            }
            InductionStep::GiveUp => {
                open = Some("a proof by induction without an answer");
                break;
            }
        }
        let ends: Vec<End> = match machine.step(&mut state, 4096) {
            Step::Next => {
                waiting.push(state);
                Vec::new()
            }
            Step::End(end) => vec![end],
            Step::Deferred => {
                open = Some("a query without an answer");
                break;
            }
            Step::Fork(children) => {
                let (ended, going): (Vec<_>, Vec<_>) = children.into_iter().partition(|c| c.end.is_some());
                waiting.extend(going.into_iter().map(|c| c.state));
                ended.into_iter().filter_map(|c| c.end).collect()
            }
        };
        for end in ends.into_iter().filter(|e| !pruner.is_harmless(e)) {
            match end {
                End::Cut(_) => open = Some("a path was cut"),
                end => harmful.push(format!("a proof by induction leaves a path that ends so: {end:?}")),
            }
        }
    }
    machine.weaken_quantifiers(false);
    let (wrong, unanswered) = pruner.end_check_of_induction();
    if unanswered > 0 {
        open = Some("a proof by induction without an answer");
    }
    // Without a candidate that had no answer, a path may go on where it cannot.
    match open {
        Some(why) => *report.unchecked.entry(why).or_default() += 1,
        None => report.failures.extend(harmful),
    }
    if wrong > 0 {
        report.failures.push(format!("{wrong} candidates of a proof by induction do not hold"));
    }
    report.matched += covered;
}
