//! Each link: what it answers itself, what it passes on, and that its evidence holds.

mod common;
use common::*;
use pleach_expr::{Model, TermId, Terms};
use pleach_smt::link::cache::Cache;
use pleach_smt::link::checking::Checking;
use pleach_smt::link::cores::Cores;
use pleach_smt::link::domain::Domain;
use pleach_smt::link::enumerate::Enumerate;
use pleach_smt::link::fallback::Fallback;
use pleach_smt::link::independence::Independence;
use pleach_smt::link::log::Log;
use pleach_smt::link::models::Models;
use pleach_smt::link::rewrite::Rewrite;
use pleach_smt::link::trivial::Trivial;
use pleach_smt::link::validate::Validate;
use pleach_smt::{Answer, BackendKind, Core, Query, Solver, SolverConfig, Stats, UnknownReason, assemble, overlay};
use std::rc::Rc;

fn figure(s: &dyn Solver, name: &str) -> u64 {
    let mut stats = Stats::new();
    s.stats(&mut stats);
    stats.get(name)
}

/// Says always the same.
struct Always(Answer);

impl Solver for Always {
    fn check(&mut self, _: &mut Terms, _: &Query) -> Answer {
        self.0.clone()
    }
    fn stats(&self, _: &mut Stats) {}
}

fn byte_is(terms: &mut Terms, b: TermId, v: u64) -> TermId {
    let c = terms.constant(8, v);
    terms.eq(b, c)
}

#[test]
fn trivial_drops_true_and_stops_at_false() {
    let mut terms = Terms::new(64);
    let (next, seen) = Counting::new();
    let mut s = Trivial::new(next);
    let x = var(&mut terms, "x", 8);
    let c = byte_is(&mut terms, x, 3);
    assert!(check(&mut s, &mut terms, &[]).is_sat());
    assert!(check(&mut s, &mut terms, &[Terms::TRUE]).is_sat());
    assert_eq!(check(&mut s, &mut terms, &[Terms::FALSE, c]).core(), Some(&[Terms::FALSE][..]));
    assert!(seen.borrow().is_empty());
    assert!(check(&mut s, &mut terms, &[Terms::TRUE, c]).is_sat());
    assert_eq!(*seen.borrow(), [[c]]);
}

#[test]
fn domain_answers_byte_queries_itself() {
    let mut terms = Terms::new(64);
    let (next, seen) = Counting::new();
    let mut s = Domain::new(next);
    let a = array(&mut terms, "in", 8, 4);
    let (b0, b1) = (cell(&mut terms, a, 0), cell(&mut terms, a, 1));
    let (lo, hi) = (terms.constant(8, 10), terms.constant(8, 20));
    let above = terms.ult(lo, b0);
    let below = terms.ult(b0, hi);
    let other = byte_is(&mut terms, b1, 99);
    let answer = check(&mut s, &mut terms, &[above, below, other]);
    let model = answer.model().expect("satisfiable");
    assert_eq!((terms.eval(b0, model), terms.eval(b1, model), model.len()), (11, 99, 2));
    // the core is minimal: `above` does not belong to it
    let five = byte_is(&mut terms, b0, 25);
    let answer = check(&mut s, &mut terms, &[above, below, other, five]);
    assert_eq!(answer.core(), Some(&sorted(vec![below, five])[..]));
    assert!(seen.borrow().is_empty());
    // constraints on two bytes go on
    let two = terms.ult(b0, b1);
    assert!(check(&mut s, &mut terms, &[above, two]).is_sat());
    assert_eq!(seen.borrow().len(), 1);
}

#[test]
fn truth_sets_agree_with_the_evaluator() {
    let mut terms = Terms::new(64);
    let mut rng = Rng(3);
    let x = var(&mut terms, "x", 8);
    let table: Vec<u64> = (0..100).map(|i| i * i % 251).collect();
    let t = terms.array_const(8, &table);
    let k = key(&mut terms, x);
    let u = Variables { vars: vec![x], arrays: vec![t], tables: vec![t] };
    let mut s = Domain::new(Always(Answer::Unknown(UnknownReason::Timeout)));
    let mut answered = 0;
    for _ in 0..300 {
        let c = random_truth(&mut rng, &mut terms, &u, 4);
        if *terms.support(c) != [k] {
            continue;
        }
        let mut m = Model::new();
        let first = (0..256).find(|&v| {
            m.set(k, v);
            terms.eval(c, &m) == 1
        });
        match check(&mut s, &mut terms, &[c]) {
            Answer::Sat(m) => assert_eq!(Some(m.get(k)), first, "{}", terms.show(c)),
            Answer::Unsat(_) => assert_eq!(None, first, "{}", terms.show(c)),
            Answer::Unknown(why) => panic!("{why}"),
        }
        answered += 1;
    }
    assert!(answered > 100, "{answered}");
}

#[test]
fn enumeration_decides_divisions_of_bytes() {
    let mut terms = Terms::new(64);
    let (next, seen) = Counting::new();
    let mut s = Enumerate::new(&Rc::default(), next);
    let (x, y) = (var(&mut terms, "x", 8), var(&mut terms, "y", 8));
    let (a, b) = (terms.sext(x, 32), terms.sext(y, 32));
    let zero = terms.constant(8, 0);
    let nonzero = terms.ne(y, zero);
    let (q, r) = (terms.sdiv(a, b), terms.srem(a, b));
    let product = terms.mul(q, b);
    let again = terms.add(product, r);
    let differs = terms.ne(again, a);
    let ten = terms.constant(32, 10);
    let large = terms.slt(ten, q);
    // The law of division does not need that the quotient is large.
    let answer = check(&mut s, &mut terms, &[nonzero, differs, large]);
    assert_eq!(answer.core(), Some(&sorted(vec![nonzero, differs])[..]));
    let answer = check(&mut s, &mut terms, &[nonzero, large]);
    let model = answer.model().expect("satisfiable");
    assert_eq!((terms.eval(large, model), model.len()), (1, 2));
    assert!(seen.borrow().is_empty());
    // Variables with too many values are passed on.
    let z = var(&mut terms, "z", 32);
    let wide = terms.sdiv(z, a);
    let equal = terms.eq(wide, b);
    check(&mut s, &mut terms, &[equal]);
    assert_eq!(seen.borrow().len(), 1);
}

#[test]
fn enumeration_takes_parts_wider_than_a_word() {
    let mut terms = Terms::new(64);
    let (next, seen) = Counting::new();
    let mut s = Enumerate::new(&Rc::default(), next);
    let x = var(&mut terms, "x", 8);
    let wide = terms.zext(x, 128);
    let square = terms.mul(wide, wide);
    let k = terms.constant(8, 25);
    let low = terms.extract(square, 0, 8);
    let is = terms.eq(low, k);
    let high = terms.extract(square, 64, 64);
    let zero = terms.constant(64, 0);
    let none = terms.ne(high, zero);
    assert!(check(&mut s, &mut terms, &[is]).is_sat());
    assert!(check(&mut s, &mut terms, &[is, none]).is_unsat());
    assert!(seen.borrow().is_empty());
}

#[test]
fn independence_splits_and_joins() {
    let mut terms = Terms::new(64);
    let (next, seen) = Counting::new();
    let mut s = Independence::new(next);
    let [x, y, z] = ["x", "y", "z"].map(|n| var(&mut terms, n, 16));
    let xy = terms.ult(x, y);
    let c = terms.constant(16, 7);
    let z7 = terms.eq(z, c);
    let answer = check(&mut s, &mut terms, &[xy, z7]);
    let model = answer.model().expect("satisfiable");
    assert!(model.len() == 3 && terms.eval(xy, model) == 1 && terms.eval(z7, model) == 1);
    assert_eq!(seen.borrow().len(), 2);
    // one chain of overlaps is one group
    let yz = terms.ult(y, z);
    seen.borrow_mut().clear();
    assert!(check(&mut s, &mut terms, &[xy, yz, z7]).is_sat());
    assert_eq!(seen.borrow().len(), 1);
    // the core comes from the failing group
    let yx = terms.ult(y, x);
    assert_eq!(check(&mut s, &mut terms, &[xy, yx, z7]).core(), Some(&sorted(vec![xy, yx])[..]));
}

#[test]
fn a_whole_array_overlaps_with_its_cells() {
    let mut terms = Terms::new(64);
    let (next, seen) = Counting::new();
    let mut s = Independence::new(next);
    let a = array(&mut terms, "m", 8, 4);
    let i = var(&mut terms, "i", 2);
    let i = terms.zext(i, 32);
    let r = terms.read(a, i);
    let whole = byte_is(&mut terms, r, 1);
    let cells: Vec<_> = (0..4)
        .map(|n| {
            let b = cell(&mut terms, a, n);
            byte_is(&mut terms, b, 2)
        })
        .collect();
    let all: Vec<_> = cells.iter().copied().chain([whole]).collect();
    assert!(check(&mut s, &mut terms, &all).is_unsat());
    assert_eq!(seen.borrow().len(), 1);
    seen.borrow_mut().clear();
    assert!(check(&mut s, &mut terms, &cells).is_sat());
    assert_eq!(seen.borrow().len(), 4);
}

#[test]
fn cache_answers_the_second_time() {
    let mut terms = Terms::new(64);
    let (next, seen) = Counting::new();
    let mut s = Cache::new(next);
    let (x, y) = (var(&mut terms, "x", 32), var(&mut terms, "y", 32));
    let c = terms.ult(x, y);
    let d = terms.ult(y, x);
    for _ in 0..3 {
        assert!(check(&mut s, &mut terms, &[c]).is_sat());
        assert!(check(&mut s, &mut terms, &[c, d]).is_unsat());
    }
    assert_eq!(seen.borrow().len(), 2);
    assert_eq!(figure(&s, "cache.hits"), 4);
}

#[test]
fn models_are_tried_and_cores_found_in_larger_queries() {
    let mut terms = Terms::new(64);
    let (next, seen) = Counting::new();
    let mut s = Cores::new(Models::new(next));
    let [x, y, z] = ["x", "y", "z"].map(|n| var(&mut terms, n, 32));
    let xy = terms.ult(x, y);
    let yx = terms.ult(y, x);
    let c = terms.constant(32, 1 << 31);
    let small = terms.ule(z, c);
    assert!(check(&mut s, &mut terms, &[xy, small]).is_sat());
    // a subset is satisfied by the same model, restricted to its symbolic variables
    let answer = check(&mut s, &mut terms, &[xy]);
    assert_eq!(answer.model().map(|m| m.len()), Some(2));
    assert_eq!(seen.borrow().len(), 1);
    assert!(check(&mut s, &mut terms, &[xy, yx]).is_unsat());
    assert_eq!(check(&mut s, &mut terms, &[xy, yx, small]).core(), Some(&sorted(vec![xy, yx])[..]));
    assert_eq!(seen.borrow().len(), 2);
    assert_eq!((figure(&s, "models.sat"), figure(&s, "cores.unsat")), (1, 1));
}

#[test]
fn rewrite_puts_constants_in_and_keeps_the_evidence() {
    let mut terms = Terms::new(64);
    let (next, seen) = Counting::new();
    let mut s = Rewrite::new(next);
    let a = array(&mut terms, "in", 8, 4);
    let b: Vec<_> = (0..4).map(|i| cell(&mut terms, a, i)).collect();
    let word = terms.concat(b[1], b[0]);
    let v = terms.constant(16, 0x0305);
    let pin = terms.eq(word, v);
    let sum = terms.add(b[0], b[2]);
    let nine = byte_is(&mut terms, sum, 9);
    let answer = check(&mut s, &mut terms, &[pin, nine]);
    let model = answer.model().expect("satisfiable");
    assert_eq!(b[..3].iter().map(|&t| terms.eval(t, model)).collect::<Vec<_>>(), [5, 3, 4]);
    // the clash needs the pin, the sum, and what follows from both
    let not_four = {
        let e = byte_is(&mut terms, b[2], 4);
        terms.not(e)
    };
    let unrelated = byte_is(&mut terms, b[3], 1);
    let answer = check(&mut s, &mut terms, &[pin, nine, not_four, unrelated]);
    assert_eq!(answer.core(), Some(&sorted(vec![pin, nine, not_four])[..]));
    assert!(seen.borrow().iter().all(|q| !q.contains(&pin)), "the pin itself is never passed on");
    // two fixed values of one byte
    let one = byte_is(&mut terms, b[0], 1);
    assert_eq!(check(&mut s, &mut terms, &[pin, one]).core(), Some(&sorted(vec![pin, one])[..]));
}

#[test]
fn cells_beyond_the_end_are_not_unknown() {
    let mut terms = Terms::new(64);
    let mut s = assemble(SolverConfig { check_evidence: true, ..SolverConfig::default() });
    let a = array(&mut terms, "m", 8, 4);
    let b = cell(&mut terms, a, 4);
    let three = byte_is(&mut terms, b, 3);
    let zero = byte_is(&mut terms, b, 0);
    assert!(check(&mut *s, &mut terms, &[three]).is_unsat());
    assert!(check(&mut *s, &mut terms, &[zero]).is_sat());
}

#[test]
fn validate_reports_a_contradiction_as_an_engine_bug() {
    let mut terms = Terms::new(64);
    let x = var(&mut terms, "x", 8);
    let c = byte_is(&mut terms, x, 1);
    let (next, _) = Counting::new();
    let liar = Always(Answer::Unsat(Core::new(vec![c])));
    let mut s = Validate::new(next, liar);
    assert!(matches!(check(&mut s, &mut terms, &[c]), Answer::Unknown(UnknownReason::BackendError(_))));
    assert_eq!(figure(&s, "validate.disagreements"), 1);
}

#[test]
fn checking_catches_wrong_evidence() {
    let mut terms = Terms::new(64);
    let x = var(&mut terms, "x", 8);
    let c = byte_is(&mut terms, x, 1);
    let oracle = || assemble(SolverConfig::bare(BackendKind::Z3));
    let liars =
        [Answer::Sat(Rc::new(Model::new())), Answer::Unsat(Core::new(vec![c])), Answer::Unsat(Core::new(vec![x]))];
    for lie in liars {
        let mut s = Checking::new(Always(lie), oracle());
        assert!(check(&mut s, &mut terms, &[c]).is_unknown());
        assert_eq!(figure(&s, "checking.failures"), 1);
    }
}

#[test]
fn fallback_asks_the_other_one() {
    let mut terms = Terms::new(64);
    let x = var(&mut terms, "x", 8);
    let c = byte_is(&mut terms, x, 1);
    let (next, seen) = Counting::new();
    let mut s = Fallback::new(Always(Answer::Unknown(UnknownReason::Unsupported("no".into()))), next, false);
    assert!(check(&mut s, &mut terms, &[c]).is_sat());
    assert_eq!(seen.borrow().len(), 1);
    let (next, seen) = Counting::new();
    let mut s = Fallback::new(Always(Answer::Unknown(UnknownReason::Timeout)), next, false);
    assert!(check(&mut s, &mut terms, &[c]).is_unknown());
    assert!(seen.borrow().is_empty());
}

#[test]
fn the_log_holds_every_query_and_its_answer() {
    let dir = std::env::temp_dir().join(format!("pleach-smt-log-{}", std::process::id()));
    std::fs::create_dir_all(&dir).expect("temporary directory");
    let path = dir.join("queries.smt2");
    let mut terms = Terms::new(64);
    let (x, y) = (var(&mut terms, "x", 32), var(&mut terms, "y", 32));
    let (c, d) = (terms.ult(x, y), terms.ult(y, x));
    let (next, _) = Counting::new();
    let mut s = Log::new(path.clone(), next);
    check(&mut s, &mut terms, &[c]);
    check(&mut s, &mut terms, &[c, d]);
    let text = std::fs::read_to_string(&path).expect("the log");
    std::fs::remove_dir_all(&dir).expect("cleaning up");
    assert_eq!(text.matches("; answer sat").count(), 1, "{text}");
    assert_eq!(text.matches("; answer unsat").count(), 1, "{text}");
    assert_eq!((figure(&s, "log.written"), figure(&s, "log.failed")), (2, 0));
}

#[test]
fn a_log_that_cannot_be_written_is_counted_not_fatal() {
    let mut terms = Terms::new(64);
    let x = var(&mut terms, "x", 8);
    let c = byte_is(&mut terms, x, 1);
    let (next, _) = Counting::new();
    let mut s = Log::new("/nonexistent/directory/log.smt2".into(), next);
    assert!(check(&mut s, &mut terms, &[c]).is_sat());
    assert_eq!(figure(&s, "log.failed"), 1);
}

#[test]
fn overlay_replaces_the_unknowns_of_a_query_only() {
    let mut terms = Terms::new(64);
    let (x, y) = (var(&mut terms, "x", 8), var(&mut terms, "y", 8));
    let (kx, ky) = (key(&mut terms, x), key(&mut terms, y));
    let c = byte_is(&mut terms, x, 0);
    let mut base = Model::new();
    base.set(kx, 5);
    base.set(ky, 6);
    let out = overlay(&mut terms, &base, &[c], &Model::new());
    assert_eq!((out.get(kx), out.get(ky)), (0, 6));
}
