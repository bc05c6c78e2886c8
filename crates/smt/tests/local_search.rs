//! Local search: its models hold, and easy queries never reach the back end.

mod common;
use common::*;
use pleach_expr::Terms;
use pleach_smt::evidence::{is_normal, satisfies};
use pleach_smt::link::local_search::LocalSearch;
use pleach_smt::{Answer, Query, Solver, Stats, UnknownReason};

/// Never answers, so that what is answered is the link's own.
struct Silent;

impl Solver for Silent {
    fn check(&mut self, _: &mut Terms, _: &Query) -> Answer {
        Answer::Unknown(UnknownReason::Interrupted)
    }
    fn stats(&self, _: &mut Stats) {}
}

#[test]
fn models_hold_and_are_not_rare() {
    let (mut found, mut satisfiable) = (0, 0);
    for seed in 0..20 {
        let mut terms = Terms::new(64);
        let u = small_variables(&mut terms);
        let mut rng = Rng(seed);
        let mut s = LocalSearch::new(Silent);
        for _ in 0..30 {
            let n = 1 + rng.below(4);
            let constraints: Vec<_> = (0..n).map(|_| random_truth(&mut rng, &mut terms, &u, 2)).collect();
            let constraints: Vec<_> = sorted(constraints).into_iter().filter(|c| *c > Terms::TRUE).collect();
            let query = Query::new(&constraints);
            let expected = brute_force(&mut terms, &constraints);
            satisfiable += u32::from(expected);
            match s.check(&mut terms, &query) {
                Answer::Sat(model) => {
                    found += 1;
                    assert!(expected, "seed {seed}");
                    assert!(satisfies(&terms, &constraints, &model) && is_normal(&mut terms, &query, &model));
                }
                Answer::Unsat(core) => panic!("seed {seed}: {core:?}"),
                Answer::Unknown(_) => {}
            }
        }
    }
    assert!(found * 2 >= satisfiable, "{found} of {satisfiable}");
}

#[test]
fn a_product_near_a_constant_is_found() {
    let mut terms = Terms::new(64);
    let [x, y] = ["x", "y"].map(|n| var(&mut terms, n, 32));
    let product = terms.mul(x, y);
    let c = terms.constant(32, 12_345);
    let equal = terms.eq(product, c);
    let zero = terms.constant(32, 0);
    let positive = terms.slt(zero, y);
    let mut s = LocalSearch::new(Silent);
    assert!(check(&mut s, &mut terms, &[equal, positive]).is_sat());
    let below = terms.slt(x, zero);
    assert!(!check(&mut s, &mut terms, &[equal, positive, below]).is_unsat());
}

#[test]
fn wide_and_whole_unknowns_are_handed_on() {
    let mut terms = Terms::new(64);
    let w = var(&mut terms, "w", 80);
    let c = terms.constant(80, 5);
    let equal = terms.eq(w, c);
    let mut s = LocalSearch::new(Silent);
    assert!(check(&mut s, &mut terms, &[equal]).is_unknown());
    let m = array(&mut terms, "m", 8, 16);
    let i = var(&mut terms, "i", 32);
    let read = terms.read(m, i);
    let seven = terms.constant(8, 7);
    let equal = terms.eq(read, seven);
    assert!(check(&mut s, &mut terms, &[equal]).is_unknown());
}
