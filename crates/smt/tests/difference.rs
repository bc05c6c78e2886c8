//! The difference link: what it answers alone is right, with evidence, by brute force; and it answers what it should.

mod common;
use common::*;
use pleach_expr::{TermId, Terms};
use pleach_smt::evidence::{is_normal, is_subset, satisfies};
use pleach_smt::link::difference::Difference;
use pleach_smt::{Answer, Query, Solver, Stats, UnknownReason};

/// Never answers, so that what is answered is the link's own.
struct Silent;

impl Solver for Silent {
    fn check(&mut self, _: &mut Terms, _: &Query) -> Answer {
        Answer::Unknown(UnknownReason::Interrupted)
    }
    fn stats(&self, _: &mut Stats) {}
}

fn assert_evidence(terms: &mut Terms, constraints: &[TermId], answer: &Answer) {
    match answer {
        Answer::Sat(model) => {
            assert!(satisfies(terms, constraints, model));
            assert!(is_normal(terms, &Query::new(constraints), model));
        }
        Answer::Unsat(core) => {
            assert!(is_subset(&core.0, constraints));
            assert!(!brute_force(terms, &core.0), "core {:?}", core.0);
        }
        Answer::Unknown(_) => {}
    }
}

/// A variable or a constant, perhaps moved by a constant and extended.
fn side(rng: &mut Rng, terms: &mut Terms, vars: &[TermId], width: u16) -> TermId {
    let mut t = vars[rng.below(vars.len() as u64) as usize];
    match rng.below(5) {
        0 => {
            let c = rng.next();
            return terms.constant(width, c);
        }
        1 => {
            let (w, c) = (terms.width(t), rng.next());
            let c = terms.constant(w, c);
            t = terms.add(t, c);
        }
        _ => {}
    }
    if rng.below(2) == 0 { terms.resize_signed(t, width) } else { terms.resize_unsigned(t, width) }
}

fn comparison(rng: &mut Rng, terms: &mut Terms, vars: &[TermId]) -> TermId {
    let own = terms.width(vars[0]);
    // Wider than the variables, or their lower bits only.
    let width = match rng.below(6) {
        0 | 1 => own + 2,
        2 if own > 2 => own - 1,
        _ => own,
    };
    let (mut a, b) = (side(rng, terms, vars, width), side(rng, terms, vars, width));
    if width > own && rng.below(2) == 0 {
        let c = side(rng, terms, vars, width);
        a = terms.sub(a, c);
    }
    let t = match rng.below(6) {
        0 | 1 => terms.eq(a, b),
        2 => terms.ult(a, b),
        3 => terms.ule(a, b),
        4 => terms.slt(a, b),
        _ => terms.sle(a, b),
    };
    if rng.below(2) == 0 { terms.not(t) } else { t }
}

fn literal(rng: &mut Rng, terms: &mut Terms, vars: &[TermId]) -> TermId {
    let a = comparison(rng, terms, vars);
    if rng.below(4) > 0 {
        return a;
    }
    let b = comparison(rng, terms, vars);
    match rng.below(5) {
        0 | 1 => terms.or(a, b),
        2 => terms.and(a, b),
        3 => terms.xor(a, b),
        _ => {
            let c = comparison(rng, terms, vars);
            terms.ite(c, a, b)
        }
    }
}

/// Random queries; how many were answered, of how many.
fn against_brute_force(seed: u64, names: &[&str], width: u16, queries: usize, most: u64) -> (usize, usize) {
    let mut terms = Terms::new(64);
    let vars: Vec<_> = names.iter().map(|n| var(&mut terms, n, width)).collect();
    let mut rng = Rng(seed);
    let mut s = Difference::new(Silent);
    let pool: Vec<_> = (0..40).map(|_| literal(&mut rng, &mut terms, &vars)).collect();
    let mut answered = 0;
    for i in 0..queries {
        let n = 1 + rng.below(most);
        let picked: Vec<_> = (0..n).map(|_| pool[rng.below(pool.len() as u64) as usize]).collect();
        let constraints = sorted(picked);
        let answer = s.check(&mut terms, &Query::new(&constraints));
        let expected = brute_force(&mut terms, &constraints);
        match &answer {
            Answer::Unknown(_) => continue,
            a => assert_eq!(a.is_sat(), expected, "seed {seed} query {i}: {a:?}"),
        }
        assert_evidence(&mut terms, &constraints, &answer);
        answered += 1;
    }
    (answered, queries)
}

#[test]
fn one_unknown_of_eight_bits() {
    let (mut answered, mut all) = (0, 0);
    for seed in 0..60 {
        let (a, n) = against_brute_force(seed, &["x"], 8, 40, 6);
        answered += a;
        all += n;
    }
    // three readings in one comparison are not looked into
    assert!(answered * 10 >= all * 9, "{answered} of {all}");
}

#[test]
fn three_unknowns_of_three_bits() {
    for seed in 100..160 {
        let (answered, all) = against_brute_force(seed, &["x", "y", "z"], 3, 40, 8);
        assert!(answered * 10 >= all * 6, "seed {seed}: {answered} of {all}");
    }
}

#[test]
fn four_unknowns_of_two_bits() {
    for seed in 200..230 {
        against_brute_force(seed, &["x", "y", "z", "u"], 2, 40, 10);
    }
}

#[test]
fn any_terms_are_handed_on_or_answered_rightly() {
    for seed in 300..330 {
        let mut terms = Terms::new(64);
        let u = small_variables(&mut terms);
        let mut rng = Rng(seed);
        let mut s = Difference::new(Silent);
        for _ in 0..30 {
            let n = 1 + rng.below(4);
            let constraints: Vec<_> = (0..n).map(|_| random_truth(&mut rng, &mut terms, &u, 3)).collect();
            let constraints = sorted(constraints);
            let answer = s.check(&mut terms, &Query::new(&constraints));
            if !answer.is_unknown() {
                let expected = brute_force(&mut terms, &constraints);
                assert_eq!(answer.is_sat(), expected, "seed {seed}: {answer:?}");
            }
            assert_evidence(&mut terms, &constraints, &answer);
        }
    }
}

#[test]
fn a_cycle_of_comparisons_is_the_core() {
    let mut terms = Terms::new(64);
    let v: Vec<_> = (0..6).map(|i| var(&mut terms, &format!("v{i}"), 32)).collect();
    let mut s = Difference::new(Silent);
    let chain: Vec<_> = (0..5).map(|i| terms.sle(v[i], v[i + 1])).collect();
    let answer = check(&mut s, &mut terms, &chain);
    assert!(answer.is_sat(), "{answer:?}");
    let back = terms.slt(v[4], v[2]);
    let mut all = chain.clone();
    all.push(back);
    let answer = check(&mut s, &mut terms, &all);
    assert_eq!(answer.core(), Some(&sorted(vec![chain[2], chain[3], back])[..]));
}

#[test]
fn sums_do_not_wrap_within_bounds() {
    let mut terms = Terms::new(64);
    let n = var(&mut terms, "n", 32);
    let c = |terms: &mut Terms, v: i64| terms.constant(32, v as u64);
    let mut s = Difference::new(Silent);
    let (minus, thousand, two, large) =
        (c(&mut terms, -1), c(&mut terms, 1000), c(&mut terms, 2), c(&mut terms, 2_147_483_610));
    let low = terms.slt(minus, n);
    let high = terms.slt(n, thousand);
    let more = terms.add(n, two);
    let huge = terms.slt(large, more);
    let answer = check(&mut s, &mut terms, &[low, high, huge]);
    assert_eq!(answer.core(), Some(&sorted(vec![high, huge])[..]));
    // without the bounds it may wrap around
    let below = terms.slt(more, n);
    assert!(check(&mut s, &mut terms, &[below]).is_sat());
    assert!(check(&mut s, &mut terms, &[below, high]).is_unsat());
}

#[test]
fn signed_and_unsigned_readings_meet() {
    let mut terms = Terms::new(64);
    let x = var(&mut terms, "x", 64);
    let zero = terms.constant(64, 0);
    let ten = terms.constant(64, 10);
    let mut s = Difference::new(Silent);
    let small = terms.ult(x, ten);
    let negative = terms.slt(x, zero);
    assert!(check(&mut s, &mut terms, &[small, negative]).is_unsat());
    assert!(check(&mut s, &mut terms, &[negative]).is_sat());
    assert!(check(&mut s, &mut terms, &[small]).is_sat());
}
