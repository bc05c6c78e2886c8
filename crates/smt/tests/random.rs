//! Random queries: the chain, both back ends and brute force agree, and all evidence holds.

mod common;
use common::*;
use pleach_expr::Terms;
use pleach_smt::{BackendKind, QueryCache, SolverConfig, Stats, assemble};

fn assert_no_failures(solver: &dyn pleach_smt::Solver) {
    let mut stats = Stats::new();
    solver.stats(&mut stats);
    for name in ["checking.failures", "validate.disagreements", "bitwuzla.bad-models", "z3.bad-models"] {
        assert_eq!(stats.get(name), 0, "{name}: {stats:?}");
    }
}

/// All queries of one seed share the chain, so that caches and cores are at work.
fn against_brute_force(seed: u64, queries: usize, config: SolverConfig) {
    let mut terms = Terms::new(64);
    let u = small_variables(&mut terms);
    let mut rng = Rng(seed);
    let mut solver = assemble(SolverConfig { check_evidence: true, ..config });
    let pool: Vec<_> = (0..60).map(|_| random_truth(&mut rng, &mut terms, &u, 3)).collect();
    for i in 0..queries {
        let n = 1 + rng.below(5);
        let constraints: Vec<_> = (0..n).map(|_| pool[rng.below(pool.len() as u64) as usize]).collect();
        let answer = check(&mut *solver, &mut terms, &constraints);
        let expected = brute_force(&mut terms, &constraints);
        assert_eq!(answer.is_sat(), expected, "seed {seed} query {i}: {answer:?}");
        assert_eq!(answer.is_unsat(), !expected, "seed {seed} query {i}: {answer:?}");
    }
    assert_no_failures(&*solver);
}

#[test]
fn chain_agrees_with_brute_force() {
    for seed in 0..6 {
        against_brute_force(seed, 40, SolverConfig::default());
    }
}

#[test]
fn bitwuzla_agrees_with_brute_force() {
    for seed in 10..14 {
        against_brute_force(seed, 40, SolverConfig::bare(BackendKind::Bitwuzla));
    }
}

#[test]
fn z3_agrees_with_brute_force() {
    for seed in 20..24 {
        against_brute_force(seed, 40, SolverConfig::bare(BackendKind::Z3));
    }
}

#[test]
fn every_link_alone_agrees_with_brute_force() {
    let bare = || SolverConfig::bare(BackendKind::Bitwuzla);
    against_brute_force(30, 40, SolverConfig { use_domain: true, ..bare() });
    against_brute_force(29, 200, SolverConfig { use_enumerate: true, ..bare() });
    against_brute_force(31, 40, SolverConfig { use_independence: true, ..bare() });
    against_brute_force(32, 40, SolverConfig { cache: QueryCache::Exact, ..bare() });
    against_brute_force(33, 40, SolverConfig { use_models: true, ..bare() });
    against_brute_force(34, 40, SolverConfig { use_rewrite: true, ..bare() });
    against_brute_force(36, 40, SolverConfig { use_difference: true, ..bare() });
    against_brute_force(37, 40, SolverConfig { use_local_search: true, ..bare() });
    against_brute_force(35, 40, SolverConfig { validate: true, ..bare() });
}

#[test]
fn back_ends_agree_on_larger_queries() {
    for seed in 40..46 {
        let mut terms = Terms::new(64);
        let u = large_variables(&mut terms);
        let mut rng = Rng(seed);
        let timeout = Some(std::time::Duration::from_secs(10));
        let mut solver =
            assemble(SolverConfig { validate: true, check_evidence: true, timeout, ..SolverConfig::default() });
        for _ in 0..15 {
            let n = 1 + rng.below(4);
            let constraints: Vec<_> = (0..n).map(|_| random_truth(&mut rng, &mut terms, &u, 3)).collect();
            let answer = check(&mut *solver, &mut terms, &constraints);
            assert!(!answer.is_unknown(), "seed {seed}: {answer:?}");
        }
        assert_no_failures(&*solver);
    }
}

#[test]
fn equal_runs_give_equal_answers() {
    let run = || {
        let mut terms = Terms::new(64);
        let u = large_variables(&mut terms);
        let mut rng = Rng(7);
        let mut solver = assemble(SolverConfig::default());
        let mut text = String::new();
        for _ in 0..20 {
            let constraints: Vec<_> = (0..3).map(|_| random_truth(&mut rng, &mut terms, &u, 3)).collect();
            let answer = check(&mut *solver, &mut terms, &constraints);
            text += &format!("{:?} {:?} {:?}\n", answer.verdict(), answer.core(), answer.model().map(|m| m.entries()));
        }
        text
    };
    assert_eq!(run(), run());
}
