//! An independent check of interpolants: the Hoare triple of every edge of the explored tree.
//!
//! *Idea*: the pruner propagates conditions backward over recorded traces. The audit goes the other way and shares
//! none of that code: from a node's state everything that Ψ does not determine is forgotten, Ψ is assumed, and the
//! executor runs *forward* to the next node, with the other solver. *Invariant* checked: {Ψ} edge {Ψ of the child}, no
//! way out of a fork that the tree does not have, no error that it does not have. *Direction*: a failure is a bug (of
//! the pruner, or of the audit); no failure means that the edges counted as checked are correct, for states with the
//! node's objects: their number, sizes and kinds are kept, and a valid pointer points to the object it pointed to.
//!
//! Of an exploration whose pruner kept nothing ([`Interpolation::audit_log`]) nothing is checked:
//!
//! ```
//! let report = pleach_audit::AuditReport::default();
//! assert_eq!(report.statistics()[0], ("audit: checked".to_owned(), 0));
//! ```

mod abstract_state;
mod hoare_triple;
mod induction;
mod known_sides;
mod satisfaction;
#[cfg(test)]
mod tests;

use pleach_exec::Machine;
use pleach_prune::{AuditOutcome, AuditRecord, Interpolation};
use pleach_smt::{BackendKind, SolverConfig};
use pleach_state::NodeId;
use pleach_state::seams::PathOracle;
use std::collections::BTreeMap;
use std::time::Duration;

/// What the audit found.
#[derive(Clone, Default, Debug)]
pub struct AuditReport {
    /// nodes whose way to the next nodes was checked
    pub checked: u64,
    /// nodes whose interpolant no state satisfies
    pub vacuous: u64,
    /// subsumed states that were matched again
    pub matched: u64,
    /// why others were not checked
    pub unchecked: BTreeMap<&'static str, u64>,
    pub failures: Vec<String>,
}

impl AuditReport {
    pub fn statistics(&self) -> Vec<(String, u64)> {
        let mut v = vec![
            ("audit: checked".to_string(), self.checked),
            ("audit: vacuous".into(), self.vacuous),
            ("audit: matched".into(), self.matched),
            ("audit: failures".into(), self.failures.len() as u64),
        ];
        v.extend(self.unchecked.iter().map(|(k, n)| (format!("audit: not checked: {k}"), *n)));
        v
    }
}

/// Why a node could not be audited, or what is wrong with it.
pub(crate) enum AuditError {
    Unchecked(&'static str),
    Wrong(String),
}

/// Checks everything that the pruner kept ([`Interpolation::audit_log`]), up to `limit` nodes. The machine's solver is
/// the other one meanwhile.
pub fn audit(machine: &mut Machine, pruner: &mut Interpolation, limit: usize) -> AuditReport {
    let mut report = AuditReport::default();
    let Some(audit_log) = &pruner.audit_log else { return report };
    let other = pleach_smt::assemble(SolverConfig {
        backend: BackendKind::Z3,
        timeout: Some(Duration::from_secs(2)),
        use_fallback: false,
        use_domain: false,
        use_independence: false,
        use_difference: false,
        cache: pleach_smt::QueryCache::Exact,
        use_models: false,
        use_local_search: false,
        use_rewrite: false,
        ..SolverConfig::default()
    });
    // Objects are whole in a general state. Nothing of what a path does depends on it but its forks over pieces, which
    // count as decided.
    let aside = machine.set_aside(other);
    let mut below: BTreeMap<NodeId, Vec<&AuditRecord>> = BTreeMap::new();
    // A root is its own parent.
    for a in audit_log.iter().filter(|a| a.parent != a.node) {
        below.entry(a.parent).or_default().push(a);
    }
    let sides = known_sides::KnownSides::new(audit_log, pruner, &machine.program());
    for (n, a) in audit_log.iter().enumerate() {
        if n >= limit {
            *report.unchecked.entry("more nodes than the limit").or_default() += 1;
            continue;
        }
        if let AuditOutcome::Subsumed { at, psi, by } = &a.outcome {
            match satisfaction::holds(machine, pruner.locs(), at, psi) {
                Ok(()) => report.matched += 1,
                Err(AuditError::Unchecked(why)) => *report.unchecked.entry(why).or_default() += 1,
                Err(AuditError::Wrong(what)) => report.failures.push(format!(
                    "the state below node {} subsumed by node {} does not satisfy its interpolant: {what}",
                    a.node.0, by.0
                )),
            }
        }
        if a.by_edge() {
            continue;
        }
        let children = below.get(&a.node).map(Vec::as_slice).unwrap_or_default();
        match hoare_triple::check(machine, pruner.locs(), a, children, &sides) {
            Ok(true) => report.checked += 1,
            Ok(false) => report.vacuous += 1,
            Err(AuditError::Unchecked(why)) => *report.unchecked.entry(why).or_default() += 1,
            // Such a literal holds for all values of a symbolic variable. Here it is assumed for one value, which may
            // not be enough.
            Err(AuditError::Wrong(_)) if satisfaction::is_open(machine.terms(), pruner.locs(), &a.psi) => {
                *report.unchecked.entry("a literal for any value of a symbolic variable").or_default() += 1;
            }
            // That some input satisfies an assumption cannot be required of a state with more inputs.
            Err(AuditError::Wrong(_)) if !a.psi.satisfiable.is_empty() => {
                *report.unchecked.entry("an assumption that must be possible").or_default() += 1;
            }
            Err(AuditError::Wrong(what)) => {
                let describe = satisfaction::describe(machine, &a.psi);
                let program = machine.program();
                let line = a.state.stack(&program).first().map_or(0, |l| l.span.line);
                report.failures.push(format!("node {} at line {line}: {what}\n  with {describe}", a.node.0));
            }
        }
    }
    induction::check(machine, pruner, &mut report);
    machine.take_back(aside);
    report
}
