//! What each back end must take: all sorts of terms, deep ones, hard ones.

mod common;
use common::*;
use pleach_expr::{Key, TermId, Terms};
use pleach_smt::{Answer, BackendKind, Solver, SolverConfig, UnknownReason, assemble};
use std::time::{Duration, Instant};

const BOTH: [BackendKind; 2] = [BackendKind::Bitwuzla, BackendKind::Z3];

fn bare(kind: BackendKind) -> Box<dyn Solver> {
    assemble(SolverConfig { check_evidence: true, ..SolverConfig::bare(kind) })
}

/// Runs with both back ends on terms built afresh.
fn both(body: impl Fn(&mut Terms, &mut dyn Solver)) {
    for kind in BOTH {
        body(&mut Terms::new(64), &mut *bare(kind));
    }
}

fn sat(s: &mut dyn Solver, terms: &mut Terms, c: &[TermId]) {
    let answer = check(s, terms, c);
    assert!(answer.is_sat(), "{answer:?}");
}

fn unsat(s: &mut dyn Solver, terms: &mut Terms, c: &[TermId]) -> Vec<TermId> {
    let answer = check(s, terms, c);
    answer.core().unwrap_or_else(|| panic!("{answer:?}")).to_vec()
}

#[test]
fn cores_name_the_constraints_that_clash() {
    both(|terms, s| {
        let (x, y) = (var(terms, "x", 32), var(terms, "y", 32));
        let (ten, five) = (terms.constant(32, 10), terms.constant(32, 5));
        let a = terms.ult(ten, x);
        let b = terms.ult(x, five);
        let other = terms.ult(y, ten);
        assert_eq!(unsat(s, terms, &[a, b, other]), sorted(vec![a, b]));
        sat(s, terms, &[a, other]);
        sat(s, terms, &[b, other]);
    });
}

#[test]
fn wide_values_come_back_limb_by_limb() {
    both(|terms, s| {
        let x = var(terms, "x", 130);
        let c = terms.wide_constant(130, &[7, 9, 3]);
        let e = terms.eq(x, c);
        let answer = check(s, terms, &[e]);
        let model = answer.model().expect("satisfiable");
        let symbol = symbol_of(terms, x);
        let limbs: Vec<u64> = (0..3).map(|i| model.get(Key::new(symbol, i))).collect();
        assert_eq!(limbs, [7, 9, 3]);
    });
}

#[test]
fn cells_then_symbolic_reads_in_one_instance() {
    for len in [4u32, 256, 300, 100_000] {
        both(|terms, s| {
            let a = array(terms, "a", 8, len);
            let (c0, c1) = (cell(terms, a, 0), cell(terms, a, 1));
            let (seven, nine) = (terms.constant(8, 7), terms.constant(8, 9));
            let e0 = terms.eq(c0, seven);
            let e1 = terms.eq(c1, nine);
            sat(s, terms, &[e0, e1]);
            let i = var(terms, "i", 32);
            let r = terms.read(a, i);
            let two = terms.constant(32, 2);
            let low = terms.ult(i, two);
            let is_nine = terms.eq(r, nine);
            let is_eight = {
                let v = terms.constant(8, 8);
                terms.eq(r, v)
            };
            let answer = check(s, terms, &[e0, e1, low, is_nine]);
            let k = key(terms, i);
            assert_eq!(answer.model().map(|m| m.get(k)), Some(1), "length {len}: {answer:?}");
            unsat(s, terms, &[e0, e1, low, is_eight]);
            // beyond the end there are only zeros
            let end = terms.constant(32, u64::from(len));
            let beyond = terms.ule(end, i);
            unsat(s, terms, &[beyond, is_nine]);
            let zero = terms.constant(8, 0);
            let is_zero = terms.eq(r, zero);
            sat(s, terms, &[beyond, is_zero]);
        });
    }
}

#[test]
fn reads_over_stores_short_and_long() {
    for stores in [3u64, 80] {
        both(|terms, s| {
            let base = array(terms, "a", 8, 64);
            let (i, j) = (var(terms, "i", 32), var(terms, "j", 32));
            let mut a = base;
            for n in 0..stores {
                let offset = terms.constant(32, n);
                let at = terms.add(i, offset);
                let value = terms.constant(8, n % 250 + 1);
                a = terms.store(a, at, value);
            }
            let r = terms.read(a, j);
            let last = terms.constant(8, (stores - 1) % 250 + 1);
            let hit = terms.eq(r, last);
            let top = terms.constant(32, stores - 1);
            let at_top = terms.add(i, top);
            let there = terms.eq(j, at_top);
            let miss = terms.not(hit);
            sat(s, terms, &[there, hit]);
            unsat(s, terms, &[there, miss]);
            // not stored and beyond the end: 0
            let (low, high) = (terms.constant(32, 100), terms.constant(32, 1000));
            let near = terms.ule(i, low);
            let far = terms.eq(j, high);
            let zero = terms.constant(8, 0);
            let is_zero = terms.eq(r, zero);
            let not_zero = terms.not(is_zero);
            unsat(s, terms, &[far, near, not_zero]);
            sat(s, terms, &[far, near, is_zero]);
        });
    }
}

#[test]
fn tables_are_read_at_symbolic_indices() {
    both(|terms, s| {
        let table: Vec<u64> = (0..256).map(|i| (i * 37 + 11) % 251).collect();
        let t = terms.array_const(8, &table);
        let x = var(terms, "x", 8);
        let i = terms.zext(x, 32);
        let r = terms.read(t, i);
        let c = terms.constant(8, table[77]);
        let e = terms.eq(r, c);
        let answer = check(s, terms, &[e]);
        let k = key(terms, x);
        let at = answer.model().expect("satisfiable").get(k) as usize;
        assert_eq!(table[at], table[77]);
        let none = terms.constant(8, 255);
        let never = terms.eq(r, none);
        unsat(s, terms, &[never]);
    });
}

#[test]
fn quantified_queries() {
    both(|terms, s| {
        let a = array(terms, "a", 8, 16);
        let i = var(terms, "bound!i", 32);
        let n = var(terms, "n", 32);
        let r = terms.read(a, i);
        let seven = terms.constant(8, 7);
        let is_seven = terms.eq(r, seven);
        let all = terms.forall(i, n, is_seven);
        let three = terms.constant(32, 3);
        let long = terms.ult(three, n);
        let sixteen = terms.constant(32, 16);
        let fits = terms.ule(n, sixteen);
        let c2 = cell(terms, a, 2);
        let not_seven = terms.ne(c2, seven);
        unsat(s, terms, &[all, long, not_seven]);
        let answer = check(s, terms, &[all, long, fits]);
        let model = answer.model().unwrap_or_else(|| panic!("{answer:?}"));
        assert_eq!(terms.eval(c2, model), 7);
    });
}

#[test]
fn floats_follow_the_evaluator() {
    both(|terms, s| {
        let x = var(terms, "x", 32);
        let one = terms.constant(32, u64::from(1.0f32.to_bits()));
        let four = terms.constant(32, u64::from(4.0f32.to_bits()));
        let sum = terms.fadd(x, one);
        let e = terms.feq(sum, four);
        let answer = check(s, terms, &[e]);
        let k = key(terms, x);
        let v = f32::from_bits(answer.model().unwrap_or_else(|| panic!("{answer:?}")).get(k) as u32);
        assert_eq!(v + 1.0, 4.0);
        // the pattern of a result, NaN included
        let not_number = terms.fisnan(sum);
        let quiet = terms.constant(32, 0x7fc0_0000);
        let other = terms.ne(sum, quiet);
        unsat(s, terms, &[not_number, other]);
        // conversion of what does not fit
        let n = terms.fto_signed(x, 16);
        let huge = terms.constant(32, u64::from(1e9f32.to_bits()));
        let big = terms.flt(huge, x);
        let min = terms.constant(16, 0x8000);
        let is_not_min = terms.ne(n, min);
        unsat(s, terms, &[big, is_not_min]);
    });
}

#[test]
fn a_term_a_hundred_thousand_operators_deep() {
    let mut terms = Terms::new(64);
    let terms = &mut terms;
    let p: Vec<_> = (0..16).map(|i| var(terms, &format!("p{i}"), 1)).collect();
    let mut t = p[0];
    for i in 0..50_000 {
        t = terms.and(t, p[i % 13]);
        t = terms.xor(t, p[i % 16]);
    }
    sat(&mut *assemble(SolverConfig::bare(BackendKind::Bitwuzla)), terms, &[t]);
    // Z3 recurses: it must refuse, not overflow.
    let answer = check(&mut *assemble(SolverConfig::bare(BackendKind::Z3)), terms, &[t]);
    assert!(matches!(answer, Answer::Unknown(UnknownReason::Unsupported(_))), "{answer:?}");
    sat(&mut *assemble(SolverConfig::default()), terms, &[t]);
}

/// A product of two primes of 31 bits each, to be factored.
fn factoring(terms: &mut Terms) -> Vec<TermId> {
    let (x, y) = (var(terms, "x", 64), var(terms, "y", 64));
    let product = terms.mul(x, y);
    let n = terms.constant(64, 2_147_483_647 * 2_147_483_629);
    let e = terms.eq(product, n);
    let one = terms.constant(64, 1);
    let limit = terms.constant(64, 1 << 32);
    let bounds = [(one, x), (one, y)].map(|(a, b)| terms.ult(a, b));
    let tops = [x, y].map(|a| terms.ult(a, limit));
    sorted(vec![e, bounds[0], bounds[1], tops[0], tops[1]])
}

#[test]
fn hard_queries_stop_in_time() {
    for backend in BOTH {
        let mut terms = Terms::new(64);
        let query = factoring(&mut terms);
        let timeout = Some(Duration::from_millis(200));
        let mut s = assemble(SolverConfig { backend, timeout, ..SolverConfig::default() });
        let start = Instant::now();
        let answer = check(&mut *s, &mut terms, &query);
        assert!(matches!(answer, Answer::Unknown(UnknownReason::Timeout)), "{backend:?}: {answer:?}");
        assert!(start.elapsed() < Duration::from_secs(1), "{backend:?}: {:?}", start.elapsed());
        // and the next query is answered as if nothing had happened
        let easy = [query[0]];
        assert!(!check(&mut *s, &mut terms, &easy).is_unsat());
    }
}

/// A query with a small limit does not spoil the answer for others.
#[test]
fn a_search_cut_short_is_not_remembered() {
    let mut terms = Terms::new(64);
    let (x, y) = (var(&mut terms, "x", 24), var(&mut terms, "y", 24));
    let (product, n) = (terms.mul(x, y), terms.constant(24, 4_093 * 4_091));
    let (e, limit, one) = (terms.eq(product, n), terms.constant(24, 4_095), terms.constant(24, 1));
    let bounds = [terms.ult(x, limit), terms.ult(y, limit), terms.ult(one, x), terms.ult(one, y)];
    let query = sorted(vec![e, bounds[0], bounds[1], bounds[2], bounds[3]]);
    let mut s = assemble(SolverConfig::default());
    s.limit_steps(Some(1));
    let answer = check(&mut *s, &mut terms, &query);
    assert!(matches!(answer, Answer::Unknown(UnknownReason::Steps)), "{answer:?}");
    assert!(s.search_steps() > 0);
    s.limit_steps(None);
    assert!(check(&mut *s, &mut terms, &query).is_sat());
}

/// The time that a check takes with an interrupt after so long.
fn interrupted(backend: BackendKind, terms: &mut Terms, query: &[TermId], after: Duration) -> Duration {
    let flag = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(after.is_zero()));
    let mut s = assemble(SolverConfig { backend, interrupt: Some(flag.clone()), ..SolverConfig::default() });
    let start = Instant::now();
    let setter = std::thread::spawn(move || {
        std::thread::sleep(after);
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
    });
    let answer = check(&mut *s, terms, query);
    assert!(matches!(answer, Answer::Unknown(UnknownReason::Interrupted)), "{backend:?}: {answer:?}");
    let taken = start.elapsed();
    setter.join().unwrap();
    taken
}

#[test]
fn an_interrupt_ends_a_check() {
    for backend in BOTH {
        for after in [Duration::ZERO, Duration::from_millis(300)] {
            let mut terms = Terms::new(64);
            let query = factoring(&mut terms);
            let taken = interrupted(backend, &mut terms, &query, after);
            assert!(taken < after + Duration::from_secs(1), "{backend:?}: {taken:?}");
        }
    }
}

/// A query that takes long before the search begins.
fn slow_to_rewrite(terms: &mut Terms) -> [TermId; 1] {
    let x = var(terms, "x", 64);
    let (three, limit) = (terms.constant(64, 3), terms.constant(64, 12_345_678_901));
    let mut y = x;
    for i in 0..20_000 {
        let k = terms.constant(64, 3 * i);
        let (shifted, sum) = (terms.lshr(y, three), terms.add(x, k));
        let mixed = terms.xor(shifted, sum);
        y = terms.add(mixed, y);
    }
    [terms.ult(y, limit)]
}

/// Rewriting and bit-blasting poll nothing: the check is given up.
#[test]
fn an_interrupt_ends_what_comes_before_the_search() {
    let mut terms = Terms::new(64);
    let query = slow_to_rewrite(&mut terms);
    let after = Duration::from_millis(300);
    let taken = interrupted(BackendKind::Bitwuzla, &mut terms, &query, after);
    assert!(taken < after + Duration::from_secs(1), "{taken:?}");
}

#[test]
fn a_time_limit_ends_what_comes_before_the_search() {
    let mut terms = Terms::new(64);
    let query = slow_to_rewrite(&mut terms);
    let timeout = Duration::from_millis(300);
    let mut s = assemble(SolverConfig { timeout: Some(timeout), ..SolverConfig::default() });
    let start = Instant::now();
    let answer = check(&mut *s, &mut terms, &query);
    assert!(matches!(answer, Answer::Unknown(UnknownReason::Timeout)), "{answer:?}");
    assert!(start.elapsed() < timeout + Duration::from_secs(1), "{:?}", start.elapsed());
    // The next query has an instance of its own.
    let y = var(&mut terms, "y", 32);
    let seven = terms.constant(32, 7);
    let easy = [terms.eq(y, seven)];
    assert!(check(&mut *s, &mut terms, &easy).is_sat());
}

#[test]
fn bases_are_refused_not_guessed() {
    let mut terms = Terms::new(64);
    let b = terms.base(pleach_expr::BaseId(0));
    let x = var(&mut terms, "x", 64);
    let e = terms.eq(b, x);
    let mut s = assemble(SolverConfig::bare(BackendKind::Bitwuzla));
    assert!(matches!(check(&mut *s, &mut terms, &[e]), Answer::Unknown(UnknownReason::BackendError(_))));
}
