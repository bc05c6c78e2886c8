//! Comparisons with long choices: what the link refutes alone is unsatisfiable, and it refutes what it should.

mod common;
use common::*;
use pleach_expr::{TermId, Terms};
use pleach_smt::evidence::is_subset;
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
    assert!(about(&mut t, vec![few, beyond], beyond).1.is_unknown());
    // A case of many can hold.
    let five = t.constant(64, 5);
    let is_five = t.eq(choice, five);
    assert!(about(&mut t, vec![some, few, is_five], is_five).1.is_unknown());
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
