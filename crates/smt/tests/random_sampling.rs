//! The sampling link: bytes of digests are found, small queries are handed on.

mod common;
use common::*;
use pleach_expr::{TermId, Terms};
use pleach_smt::evidence::{is_normal, satisfies};
use pleach_smt::link::random_sampling::Sample;
use pleach_smt::{Answer, Query, Solver, Stats, UnknownReason};

/// Never answers, so that what is answered is the link's own.
struct Silent;

impl Solver for Silent {
    fn check(&mut self, _: &mut Terms, _: &Query) -> Answer {
        Answer::Unknown(UnknownReason::Interrupted)
    }
    fn stats(&self, _: &mut Stats) {}
}

fn digest(terms: &mut Terms, x: TermId, rounds: u64) -> TermId {
    let mut h = x;
    for i in 0..rounds {
        let k = terms.constant(32, 0x9E37_79B9 ^ (i * 0x0101_0101));
        let sum = terms.add(h, k);
        let (high, low) = (terms.extract(sum, 7, 25), terms.extract(sum, 0, 7));
        let turned = terms.concat(low, high);
        let mixed = terms.add(h, turned);
        h = terms.xor(mixed, x);
    }
    h
}

#[test]
fn bytes_of_a_digest_are_found() {
    let mut terms = Terms::new(64);
    let x = var(&mut terms, "x", 32);
    let h = digest(&mut terms, x, 100);
    let mut s = Sample::new(Silent);
    for wanted in [0, 0x5a, 0xff] {
        let byte = terms.extract(h, 8, 8);
        let c = terms.constant(8, wanted);
        let equal = terms.eq(byte, c);
        let nibble = terms.extract(h, 28, 4);
        let zero = terms.constant(4, 0);
        let other = terms.eq(nibble, zero);
        let constraints = sorted(vec![equal, terms.not(other)]);
        let query = Query::new(&constraints);
        let Answer::Sat(model) = s.check(&mut terms, &query) else { panic!("{wanted}") };
        assert!(satisfies(&terms, &constraints, &model) && is_normal(&mut terms, &query, &model));
    }
}

#[test]
fn small_and_impossible_queries_are_handed_on() {
    let mut terms = Terms::new(64);
    let x = var(&mut terms, "x", 32);
    let mut s = Sample::new(Silent);
    for rounds in [3, 100] {
        let h = digest(&mut terms, x, rounds);
        let (one, two) = (terms.constant(32, 1), terms.constant(32, 2));
        let both = [terms.eq(h, one), terms.eq(h, two)];
        assert!(check(&mut s, &mut terms, &both).is_unknown());
    }
    let mut stats = Stats::new();
    s.stats(&mut stats);
    assert_eq!((stats.get("random-sampling.tried"), stats.get("random-sampling.sat")), (1, 0));
}
