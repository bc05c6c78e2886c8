//! Long conditions: what the link refutes alone is unsatisfiable, its models are models, and it answers what it should.

mod common;
use common::*;
use pleach_expr::{TermId, Terms};
use pleach_smt::evidence::{is_subset, satisfies};
use pleach_smt::link::choices::Choices;
use pleach_smt::{Answer, Query, Solver, Stats, UnknownReason};

/// Never answers, so that what is answered is the link's own.
struct Silent;

impl Solver for Silent {
    fn check(&mut self, _: &mut Terms, _: &Query) -> Answer {
        Answer::Unknown(UnknownReason::Interrupted)
    }
    fn stats(&self, _: &mut Stats) {}
}

fn about(terms: &mut Terms, constraints: Vec<TermId>, goal: TermId) -> (Vec<TermId>, Answer) {
    let all = sorted(constraints);
    let answer = Choices::new(Silent).check(terms, &Query { goal: Some(goal), ..Query::new(&all) });
    (all, answer)
}

/// `ite(n = 1 ∨ s[0] = 0, 0, ite(n = 2 ∨ s[1] = 0, 1, …))`: the length of a string in a block of n bytes, whose last is
/// 0.
fn length(terms: &mut Terms, n: TermId, rounds: u64) -> TermId {
    let s = array(terms, "s", 8, rounds as u32);
    let zero = terms.constant(8, 0);
    let mut choice = terms.constant(64, rounds);
    for i in (0..rounds).rev() {
        let (end, at) = (terms.constant(64, i + 1), cell(terms, s, i));
        let (last, null) = (terms.eq(n, end), terms.eq(at, zero));
        let (ends, i) = (terms.or(last, null), terms.constant(64, i));
        choice = terms.ite(ends, i, choice);
    }
    choice
}

#[test]
fn a_length_is_less_than_the_size() {
    let mut t = Terms::new(64);
    let n = var(&mut t, "n", 64);
    let (one, most) = (t.constant(64, 1), t.constant(64, 40));
    let (some, few) = (t.ule(one, n), t.ule(n, most));
    let choice = length(&mut t, n, 40);
    let beyond = t.ule(n, choice);
    let (all, answer) = about(&mut t, vec![some, few, beyond], beyond);
    assert!(matches!(answer, Answer::Unsat(core) if is_subset(&core.0, &all)));
    // An empty block has no length: without the lower bound it is not so.
    let (all, answer) = about(&mut t, vec![few, beyond], beyond);
    assert!(satisfies(&t, &all, answer.model().expect("n is 0")));
    // A case of many can hold.
    let late = t.constant(64, 35);
    let is_late = t.eq(choice, late);
    let (all, answer) = about(&mut t, vec![some, few, is_late], is_late);
    assert!(satisfies(&t, &all, answer.model().expect("35 bytes are not 0")));
}

/// What a search for a byte leaves: `c0 ∨ (1 < n ∧ (c1 ∨ …))`, with ci for `s[i] = 61`; where it ended; and the
/// disjunction of all ci.
fn found(terms: &mut Terms, n: TermId, rounds: u64) -> [TermId; 3] {
    let s = array(terms, "s", 8, rounds as u32);
    let sign = terms.constant(8, 61);
    let last = cell(terms, s, rounds - 1);
    let mut condition = terms.eq(last, sign);
    let (mut place, mut any) = (terms.constant(64, rounds - 1), condition);
    for i in (0..rounds - 1).rev() {
        let (at, i, next) = (cell(terms, s, i), terms.constant(64, i), terms.constant(64, i + 1));
        let (here, further) = (terms.eq(at, sign), terms.ult(next, n));
        let later = terms.and(further, condition);
        condition = terms.or(here, later);
        place = terms.ite(here, i, place);
        any = terms.or(here, any);
    }
    [condition, place, any]
}

#[test]
fn what_was_found_is_in_the_block() {
    for rounds in [40, 4000] {
        let mut t = Terms::new(64);
        let n = var(&mut t, "n", 64);
        let (one, most) = (t.constant(64, 1), t.constant(64, rounds));
        let (some, few) = (t.ule(one, n), t.ule(n, most));
        let [condition, place, any] = found(&mut t, n, rounds);
        let outside = t.ule(n, place);
        let (all, answer) = about(&mut t, vec![some, few, condition, outside], outside);
        assert!(matches!(answer, Answer::Unsat(core) if is_subset(&core.0, &all)), "{rounds}");
        let nowhere = t.not(any);
        let (_, answer) = about(&mut t, vec![some, few, condition, nowhere], nowhere);
        assert!(
            matches!(answer, Answer::Unsat(core) if core.0[..] == sorted(vec![condition, nowhere])[..]),
            "{rounds}"
        );
        // In a larger block it can be at any place.
        let large = t.eq(n, most);
        let (all, answer) = about(&mut t, vec![some, few, condition, large], large);
        assert!(satisfies(&t, &all, answer.model().expect("it is found")), "{rounds}");
        // Without the bound nothing is known.
        let (all, answer) = about(&mut t, vec![few, condition, outside], outside);
        assert!(satisfies(&t, &all, answer.model().expect("an empty block")), "{rounds}");
    }
}

/// A comparison with a constant, mostly.
fn literal(rng: &mut Rng, terms: &mut Terms, u: &Variables) -> TermId {
    let x = match rng.below(12) {
        0 => return random_truth(rng, terms, u, 1),
        1..5 => u.vars[rng.below(3) as usize],
        n => cell(terms, u.arrays[0], n % 3),
    };
    let k = terms.constant(terms.width(x), rng.next());
    match rng.below(4) {
        0 => terms.ult(x, k),
        1 => terms.sle(x, k),
        2 => terms.ne(x, k),
        _ => terms.eq(x, k),
    }
}

/// Random conditions of many connectives over few bits.
fn long_condition(rng: &mut Rng, terms: &mut Terms, u: &Variables) -> TermId {
    let mut all = literal(rng, terms, u);
    for _ in 0..24 + rng.below(40) {
        let (x, y) = (literal(rng, terms, u), literal(rng, terms, u));
        all = match rng.below(9) {
            0..3 => terms.or(x, all),
            3..5 => {
                let z = terms.or(y, all);
                terms.and(x, z)
            }
            5 => terms.ite(x, y, all),
            6 => terms.eq(x, all),
            7 => terms.not(all),
            _ => {
                let (k, l) = (terms.constant(5, rng.next()), terms.constant(5, rng.next()));
                let more = terms.zext(all, 5);
                let (chosen, v) = (terms.ite(x, k, more), terms.ite(y, l, more));
                terms.ult(chosen, v)
            }
        };
    }
    all
}

#[test]
fn long_conditions_agree_with_brute_force() {
    let (mut unsat, mut sat) = (0, 0);
    for seed in 0..6000 {
        let mut rng = Rng(seed);
        let mut t = Terms::new(64);
        let u = small_variables(&mut t);
        let mut constraints = vec![long_condition(&mut rng, &mut t, &u)];
        for _ in 0..rng.below(5) {
            constraints.push(literal(&mut rng, &mut t, &u));
        }
        for _ in 0..rng.below(4) {
            constraints.push(long_condition(&mut rng, &mut t, &u));
        }
        if constraints.iter().any(|c| t.as_const(*c).is_some()) {
            continue;
        }
        let goal = constraints[0];
        let (all, answer) = about(&mut t, constraints, goal);
        match answer {
            Answer::Unsat(core) => {
                unsat += 1;
                assert!(is_subset(&core.0, &all), "seed {seed}");
                assert!(!brute_force(&mut t, &core.0), "seed {seed}");
            }
            Answer::Sat(model) => {
                sat += 1;
                assert!(satisfies(&t, &all, &model), "seed {seed}");
            }
            Answer::Unknown(_) => {}
        }
    }
    assert!(unsat > 150 && sat > 350, "{unsat} unsatisfiable, {sat} satisfiable");
}

#[test]
fn what_is_refuted_is_unsatisfiable() {
    let mut refuted = 0;
    for seed in 0..400 {
        let mut rng = Rng(seed);
        let mut t = Terms::new(64);
        let (a, b) = (var(&mut t, "a", 5), var(&mut t, "b", 2));
        let mut choice = t.constant(5, rng.next());
        let step = rng.below(4).min(1);
        for i in 0..20 {
            let v = if step == 0 { rng.next() } else { 20 - i };
            let (v, k) = (t.constant(5, v), t.constant(5, (20 - i) * step));
            let (mut c, side) = (t.eq(a, k), t.constant(2, rng.next()));
            if rng.below(3) == 0 {
                let other = t.eq(b, side);
                c = if rng.below(2) == 0 { t.or(c, other) } else { t.and(c, other) };
            }
            choice = if rng.below(4) == 0 {
                let n = t.not(c);
                t.ite(n, choice, v)
            } else {
                t.ite(c, v, choice)
            };
        }
        let (k, low) = (t.constant(5, rng.next()), t.constant(5, rng.next()));
        let goal = match rng.below(4) {
            0 => t.ult(choice, a),
            1 => t.ule(a, choice),
            2 => t.eq(choice, k),
            _ => t.slt(k, choice),
        };
        if t.as_const(goal).is_some() {
            continue;
        }
        let above = t.ule(low, a);
        let (all, answer) = about(&mut t, vec![above, goal], goal);
        if let Answer::Unsat(core) = answer {
            refuted += 1;
            assert!(is_subset(&core.0, &all));
            assert!(!brute_force(&mut t, &core.0), "seed {seed}");
        }
    }
    assert!(refuted > 5, "{refuted} are refuted");
}
