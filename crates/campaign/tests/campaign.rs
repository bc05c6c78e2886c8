//! A slice of the campaign, and proof that its checks can fail.

use pleach_campaign::compare::{Totals, compare};
use pleach_campaign::engine::{Bounds, MODES, explore_and_audit, explore_with};
use pleach_campaign::{batch, generate};
use pleach_prune::Interpolation;
use pleach_state::pruner::{Interpolator, PruneDecision, Pruner, Subsumption};
use pleach_state::seams::PathOracle;
use pleach_state::{NodeId, State, Status, Tree};
use std::collections::BTreeMap;
use std::time::Duration;

const BOUNDS: Bounds =
    Bounds { instructions: 40_000, time: Duration::from_secs(60), recheck: 4000, audit: 6, modes: "", some: None };

#[test]
fn pruning_finds_what_plain_exploration_finds() {
    let mut sum = Totals::default();
    let (several, sizes) = (generate::TARGETS, generate::SIZES);
    let slices = [(1..101, true), (101..151, false), (several..several + 12, true), (sizes..sizes + 8, true)];
    for (seeds, promote) in slices {
        let program = batch::compile(seeds.clone(), promote).unwrap();
        for seed in seeds {
            let (totals, differences) = compare(&program, seed, BOUNDS);
            assert!(differences.is_empty(), "seed {seed}\n{differences}{}", generate::standalone(seed));
            sum.add(&totals);
        }
    }
    assert!(sum.with_pruning * 2 > sum.programs, "pruning hardly ever takes place: {sum}");
    assert!(sum.rechecked > sum.programs, "hardly anything is checked: {sum}");
}

/// Covers every state by the first complete node at the same instruction, whatever its values are.
#[derive(Default)]
struct Careless {
    open: BTreeMap<NodeId, (u32, u32)>,
    complete: BTreeMap<(u32, u32), NodeId>,
}

impl Subsumption for Careless {
    fn check_subsumed(&mut self, state: &mut State, _: &Tree, _: &mut dyn PathOracle) -> PruneDecision {
        if !state.history.take_at_join() {
            return PruneDecision::Continue;
        }
        match self.complete.get(&(state.frame.func.0, state.inst)) {
            Some(by) => PruneDecision::Subsumed(*by),
            None => PruneDecision::NewNode,
        }
    }
}

impl Interpolator for Careless {
    fn open(&mut self, node: NodeId, state: &mut State, _: &Tree) {
        state.history.restart(state.inst);
        self.open.insert(node, (state.frame.func.0, state.inst));
    }
    fn close(&mut self, node: NodeId, tree: &Tree, _: &mut dyn PathOracle) {
        if let Some(point) = self.open.remove(&node).filter(|_| tree.node(node).status == Status::Inner) {
            self.complete.entry(point).or_insert(node);
        }
    }
}

impl Pruner for Careless {}

const TEXT: &str = "\
int matters_main(void) {
  int x = __VERIFIER_nondet_int(), v = 0, w = 0;
  if (x & 1) v = 1; else v = 2;
  if (x & 2) w = 1; else w = 2;
  if (w == 2 && v == 2) abort();
  return 0;
}
";

#[test]
fn a_careless_pruner_is_caught() {
    let program = batch::compile_text(TEXT, true).unwrap();
    let (mode, checks) = (MODES[0], pleach_campaign::compare::checks(1));
    let found = explore_with(&program, "matters_main", checks, mode, BOUNDS, &mut Careless::default()).unwrap();
    let [why] = &found.rechecked.failures[..] else { panic!("not caught: {found:?}") };
    assert!(why.contains("unsound pruning") && why.contains("matters_main"), "{why}");
    // The real one keeps both checks quiet on the same program.
    let found = pleach_campaign::engine::explore(&program, "matters_main", checks, mode, BOUNDS).unwrap();
    assert!(found.rechecked.failures.is_empty() && found.errors.len() == 1, "{found:?}");
}

#[test]
fn an_interpolant_that_is_too_weak_is_caught() {
    let program = batch::compile_text(TEXT, true).unwrap();
    let (mode, checks) = (MODES[0], pleach_campaign::compare::checks(1));
    let bounds = Bounds { audit: 60, ..BOUNDS };
    let audit = |spoil: &mut dyn FnMut(&mut Interpolation)| {
        explore_and_audit(&program, "matters_main", checks, mode, bounds, spoil).unwrap().audit
    };
    let right = audit(&mut |_| ());
    assert!(right.failures.is_empty() && right.checked > 5, "{right:?}");
    let mut caught = 0;
    for n in 0.. {
        let mut spoilt = false;
        let found = audit(&mut |pruner| {
            if let Some(a) = pruner.audit_log.iter_mut().flatten().filter(|a| !a.psi.literals.is_empty()).nth(n) {
                a.psi.literals.clear();
                spoilt = true;
            }
        });
        if !spoilt {
            break;
        }
        caught += usize::from(!found.failures.is_empty());
    }
    assert!(caught > 2, "only {caught} of the weakened interpolants were noticed");
}
