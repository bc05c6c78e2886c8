//! The address-aware cache: what it takes for the same, and what not.

mod common;
use common::*;
use pleach_expr::{BaseId, Model, TermId, Terms};
use pleach_smt::link::address::{AddressAware, is_agnostic};
use pleach_smt::{
    Answer, BasedQuery, BasedQueryRef, LazyBasedQuery, Query, QueryCache, Solver, SolverConfig, Stats, assemble,
};
use rustc_hash::FxHashMap;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Objects by base, address and size; disjoint.
#[derive(Clone)]
struct Layout(Vec<(BaseId, u64, u64)>);

impl Layout {
    /// `sizes` in a random order of addresses, with random gaps of at least a red zone.
    fn random(rng: &mut Rng, sizes: &[(BaseId, u64)]) -> Layout {
        let mut order = sizes.to_vec();
        for i in (1..order.len()).rev() {
            order.swap(i, rng.below(i as u64 + 1) as usize);
        }
        let mut next = 0x10000;
        let mut all = Vec::new();
        for (base, size) in order {
            next += 16 * rng.below(20);
            all.push((base, next, size));
            next = (next + size + 32).next_multiple_of(16);
        }
        all.sort_unstable();
        Layout(all)
    }

    fn sizes(&self) -> Vec<(BaseId, u64)> {
        self.0.iter().map(|o| (o.0, o.2)).collect()
    }

    fn plain(&self, terms: &mut Terms, t: TermId) -> TermId {
        let mut map = FxHashMap::default();
        for &(base, address, _) in &self.0 {
            let (b, a) = (terms.base(base), terms.constant(64, address));
            map.insert(b, a);
        }
        terms.substitute(t, &map)
    }
}

fn used(terms: &Terms, constraints: &[TermId], sizes: &[(BaseId, u64)]) -> Vec<(BaseId, u64)> {
    sizes.iter().copied().filter(|(b, _)| constraints.iter().any(|&c| terms.bases(c).contains(b))).collect()
}

fn solve(solver: &mut dyn Solver, terms: &mut Terms, layout: &Layout, constraints: &[TermId]) -> Answer {
    ask_counting(solver, terms, layout, constraints, &Cell::new(0))
}

/// As `solve`, counting how often the form with bases is made.
fn ask_counting(
    solver: &mut dyn Solver,
    terms: &mut Terms,
    layout: &Layout,
    of: &[TermId],
    made: &Cell<u32>,
) -> Answer {
    let based = sorted(of.to_vec());
    let plain = sorted(based.iter().map(|&c| layout.plain(terms, c)).collect());
    let sizes = used(terms, &based, &layout.sizes());
    let make = |_: &mut Terms| {
        made.set(made.get() + 1);
        Some(BasedQuery { constraints: based.clone(), sizes: sizes.clone() })
    };
    solver.check(terms, &Query { based: Some(LazyBasedQuery(&make)), ..Query::new(&plain) })
}

fn figure(solver: &dyn Solver, name: &str) -> u64 {
    let mut stats = Stats::new();
    solver.stats(&mut stats);
    stats.get(name)
}

fn renamed(terms: &mut Terms, t: TermId, by: u32) -> TermId {
    let mut map = FxHashMap::default();
    for b in terms.bases(t) {
        let (from, to) = (terms.base(b), terms.base(BaseId(b.0 + by)));
        map.insert(from, to);
    }
    terms.substitute(t, &map)
}

/// The queries that went past the cache.
type Seen = Rc<RefCell<Vec<Vec<TermId>>>>;

fn cache() -> (AddressAware<Counting>, Seen) {
    let (counting, seen) = Counting::new();
    (AddressAware::new(counting, None), seen)
}

/// `select(store(store(0, 0, β2), 1, β3), i) + j`, the symbolic pointer of Memory Table 4.1.
fn pointer(terms: &mut Terms, first: u32) -> TermId {
    let (i, j) = (var(terms, "i", 32), var(terms, "j", 64));
    let mut a = terms.array_const(64, &[0, 0]);
    for k in 0..2 {
        let (at, b) = (terms.constant(32, k), terms.base(BaseId(first + k as u32)));
        a = terms.store(a, at, b);
    }
    let p = terms.read(a, i);
    terms.add(p, j)
}

/// The queries q5 to q8 of Memory Table 4.1: the pointer is into object `into`, whose byte there is 7.
fn table_4_1(terms: &mut Terms, first: u32, into: u32) -> Vec<TermId> {
    let p = pointer(terms, first);
    let (i, j) = (var(terms, "i", 32), var(terms, "j", 64));
    let (two, wide_two, seven) = (terms.constant(32, 2), terms.constant(64, 2), terms.constant(8, 7));
    let b = terms.base(BaseId(into));
    let off = terms.sub(p, b);
    let contents = terms.array_const(8, if into == first { &[0, 7] } else { &[0, 0] });
    let at = terms.extract(off, 0, 32);
    let byte = terms.read(contents, at);
    vec![terms.ult(i, two), terms.ult(j, wide_two), terms.ult(off, wide_two), terms.eq(byte, seven)]
}

#[test]
fn the_queries_of_table_4_1_meet() {
    let mut terms = Terms::new(64);
    let (mut cache, seen) = cache();
    let layout = |at: [u64; 2], first: u32| Layout(vec![(BaseId(first), at[0], 2), (BaseId(first + 1), at[1], 2)]);
    let one = layout([0x20000, 0x30000], 2);
    let other = layout([0x60000, 0x50000], 5);
    let q5 = table_4_1(&mut terms, 2, 2);
    let q6 = table_4_1(&mut terms, 2, 3);
    assert!(solve(&mut cache, &mut terms, &one, &q5).is_sat());
    assert!(solve(&mut cache, &mut terms, &one, &q6).is_unsat());
    assert_eq!(seen.borrow().len(), 2);
    let q7 = table_4_1(&mut terms, 5, 5);
    let q8 = table_4_1(&mut terms, 5, 6);
    assert!(solve(&mut cache, &mut terms, &other, &q7).is_sat());
    assert!(solve(&mut cache, &mut terms, &other, &q8).is_unsat());
    assert_eq!(seen.borrow().len(), 2, "both are renamed hits");
    assert_eq!(figure(&cache, "address.renamed"), 2);
    // Objects of another size are other objects.
    let larger = Layout(vec![(BaseId(5), 0x60000, 2), (BaseId(6), 0x50000, 3)]);
    assert!(solve(&mut cache, &mut terms, &larger, &q7).is_sat());
    assert_eq!(seen.borrow().len(), 3);
}

#[test]
fn the_order_of_objects_is_not_agnostic() {
    let mut terms = Terms::new(64);
    let (mut cache, seen) = cache();
    let c = var(&mut terms, "c", 1);
    let (b1, b2, b3) = (terms.base(BaseId(1)), terms.base(BaseId(2)), terms.base(BaseId(3)));
    let p = terms.ite(c, b1, b2);
    let below = terms.ult(p, b3);
    let up = Layout(vec![(BaseId(1), 0x10000, 8), (BaseId(2), 0x20000, 8), (BaseId(3), 0x30000, 8)]);
    let down = Layout(vec![(BaseId(1), 0x30000, 8), (BaseId(2), 0x20000, 8), (BaseId(3), 0x10000, 8)]);
    assert!(solve(&mut cache, &mut terms, &up, &[below]).is_sat());
    assert!(solve(&mut cache, &mut terms, &down, &[below]).is_unsat());
    assert_eq!(seen.borrow().len(), 2);
    assert_eq!(figure(&cache, "address.dependent"), 2);
}

#[test]
fn the_form_with_bases_is_made_once_for_a_query_word_for_word() {
    let mut terms = Terms::new(64);
    let (mut cache, seen) = cache();
    let c = var(&mut terms, "c", 1);
    let (b2, b3, b4) = (terms.base(BaseId(2)), terms.base(BaseId(3)), terms.base(BaseId(4)));
    let p = terms.ite(c, b2, b3);
    let (dependent, agnostic) = ([terms.ult(p, b4)], table_4_1(&mut terms, 2, 2));
    let here = Layout(vec![(BaseId(2), 0x10000, 2), (BaseId(3), 0x30000, 2), (BaseId(4), 0x20000, 2)]);
    let made = Cell::new(0);
    for _ in 0..3 {
        assert!(ask_counting(&mut cache, &mut terms, &here, &dependent, &made).is_sat());
    }
    assert_eq!((made.get(), seen.borrow().len()), (1, 3), "it is for the links behind to know it");
    assert_eq!(figure(&cache, "address.dependent"), 3);
    for _ in 0..3 {
        assert!(ask_counting(&mut cache, &mut terms, &here, &agnostic, &made).is_sat());
    }
    assert_eq!((made.get(), seen.borrow().len()), (2, 4));
    assert_eq!((figure(&cache, "address.exact"), figure(&cache, "address.queries")), (2, 6));
    let there = Layout(vec![(BaseId(2), 0x70000, 2), (BaseId(3), 0x50000, 2)]);
    assert!(ask_counting(&mut cache, &mut terms, &there, &agnostic, &made).is_sat());
    assert_eq!((made.get(), seen.borrow().len()), (3, 4), "a hit under other names");
    assert_eq!(figure(&cache, "address.renamed"), 1);
}

#[test]
fn what_a_link_before_the_cache_decides_has_no_form_with_bases() {
    let mut terms = Terms::new(64);
    let mut chain = assemble(SolverConfig { cache: QueryCache::AddressAware, ..SolverConfig::default() });
    let c = var(&mut terms, "c", 8);
    let (zero, b1, b2) = (terms.constant(8, 0), terms.base(BaseId(1)), terms.base(BaseId(2)));
    let null = terms.eq(c, zero);
    let p = terms.ite(null, b1, b2);
    let up = Layout(vec![(BaseId(1), 0x10000, 8), (BaseId(2), 0x30000, 8)]);
    let (made, first) = (Cell::new(0), [terms.eq(p, b1)]);
    assert!(ask_counting(&mut *chain, &mut terms, &up, &first, &made).is_sat());
    assert_eq!(made.get(), 0, "the truth set of a byte decides it");
}

#[test]
fn pointers_beyond_their_object_are_not_agnostic() {
    let mut terms = Terms::new(64);
    let (c, k) = (var(&mut terms, "c", 1), var(&mut terms, "k", 64));
    let (b1, b2, b3) = (terms.base(BaseId(1)), terms.base(BaseId(2)), terms.base(BaseId(3)));
    let choice = terms.ite(c, b1, b2);
    let sizes = [(BaseId(1), 10), (BaseId(2), 10), (BaseId(3), 50)];
    let agnostic = |terms: &mut Terms, offset: TermId, more: &[TermId]| {
        let p = terms.add(choice, offset);
        let mut all = vec![terms.eq(p, b3)];
        all.extend(more);
        is_agnostic(terms, &BasedQueryRef { constraints: &sorted(all), sizes: &sizes })
    };
    let (ten, eleven) = (terms.constant(64, 10), terms.constant(64, 11));
    assert!(agnostic(&mut terms, ten, &[]));
    assert!(!agnostic(&mut terms, eleven, &[]));
    assert!(!agnostic(&mut terms, k, &[]));
    let bounded = terms.ult(k, eleven);
    assert!(agnostic(&mut terms, k, &[bounded]));
}

/// Memory §4.3.3: the query by which a search for objects ends early, `p < β + s`, depends on where the object lies;
/// the one by which an object is found, `β ≤ p < β + s`, does not.
#[test]
fn the_end_of_a_search_is_not_agnostic() {
    let mut terms = Terms::new(64);
    let p = pointer(&mut terms, 2);
    let sizes = [(BaseId(2), 2), (BaseId(3), 2), (BaseId(7), 2)];
    let (i, j) = (var(&mut terms, "i", 32), var(&mut terms, "j", 64));
    let (two, wide_two) = (terms.constant(32, 2), terms.constant(64, 2));
    let known = [terms.ult(i, two), terms.ult(j, wide_two)];
    let agnostic = |terms: &Terms, more: &[TermId]| {
        let all = sorted(known.iter().chain(more).copied().collect());
        let sizes = used(terms, &all, &sizes);
        is_agnostic(terms, &BasedQueryRef { constraints: &all, sizes: &sizes })
    };
    let b = terms.base(BaseId(7));
    let end = terms.add(b, wide_two);
    let below = terms.ult(p, end);
    assert!(!agnostic(&terms, &[below]));
    let past = terms.not(below);
    assert!(!agnostic(&terms, &[past]));
    let off = terms.sub(p, b);
    let within = terms.ult(off, wide_two);
    assert!(agnostic(&terms, &[within]));
    let outside = terms.not(within);
    assert!(agnostic(&terms, &[outside]), "the negation of a guard (Lemma 4.4.8)");
    let own = terms.base(BaseId(2));
    let off = terms.sub(p, own);
    let own = terms.ult(off, wide_two);
    let either = terms.or(own, within);
    assert!(agnostic(&terms, &[either]), "a disjunction of guards (the remark of Memory §4.4)");
}

/// The example of Memory §4.5: `select(store(a, 1, β2), i) = 0` and the same with β3 have one hash, and are one entry.
#[test]
fn queries_that_differ_in_a_base_have_one_hash() {
    let mut terms = Terms::new(64);
    let (mut cache, seen) = cache();
    let (i, one, two) = (var(&mut terms, "i", 32), terms.constant(32, 1), terms.constant(32, 2));
    let (a, zero) = (terms.array_const(64, &[0, 0]), terms.constant(64, 0));
    let query = |terms: &mut Terms, base: u32| {
        let b = terms.base(BaseId(base));
        let cells = terms.store(a, one, b);
        let cell = terms.read(cells, i);
        [terms.ult(i, two), terms.eq(cell, zero)]
    };
    let (q2, q3) = (query(&mut terms, 2), query(&mut terms, 3));
    assert!(solve(&mut cache, &mut terms, &Layout(vec![(BaseId(2), 0x20000, 8)]), &q2).is_sat());
    assert!(solve(&mut cache, &mut terms, &Layout(vec![(BaseId(3), 0x30000, 8)]), &q3).is_sat());
    assert_eq!(seen.borrow().len(), 1);
    assert_eq!((figure(&cache, "address.renamed"), figure(&cache, "address.entries")), (1, 1));
}

/// A random pointer into `objects`, rarely beyond its end.
fn random_pointer(rng: &mut Rng, terms: &mut Terms, objects: &[(BaseId, u64)], depth: u32) -> TermId {
    let u = small_variables(terms);
    if depth > 0 && rng.below(2) == 0 {
        let c = random_truth(rng, terms, &u, 1);
        let (a, b) = (random_pointer(rng, terms, objects, depth - 1), random_pointer(rng, terms, objects, depth - 1));
        return terms.ite(c, a, b);
    }
    if rng.below(8) == 0 {
        return terms.constant(64, 0);
    }
    let (base, size) = objects[rng.below(objects.len() as u64) as usize];
    let b = terms.base(base);
    let offset = match rng.below(12) {
        0 | 2 => {
            let x = u.vars[usize::from(rng.below(4) == 0)];
            terms.zext(x, 64)
        }
        1 => terms.constant(64, size + rng.below(40)),
        _ => terms.constant(64, rng.below(size + 1)),
    };
    terms.add(b, offset)
}

fn random_constraint(rng: &mut Rng, terms: &mut Terms, objects: &[(BaseId, u64)]) -> TermId {
    let (p, q) = (random_pointer(rng, terms, objects, 2), random_pointer(rng, terms, objects, 2));
    let t = match rng.below(10) {
        0..4 => terms.eq(p, q),
        4 => terms.ult(p, q),
        5 => {
            let d = terms.sub(p, q);
            let k = terms.constant(64, rng.below(12));
            terms.ule(d, k)
        }
        6 | 7 => {
            let (base, size) = objects[rng.below(objects.len() as u64) as usize];
            let (b, plus) = (terms.base(base), terms.constant(64, rng.below(3)));
            let d = terms.sub(p, b);
            let d = terms.add(d, plus);
            let k = terms.constant(64, rng.below(size + 4));
            terms.ule(d, k)
        }
        _ => {
            let u = small_variables(terms);
            random_truth(rng, terms, &u, 2)
        }
    };
    if rng.below(3) == 0 { terms.not(t) } else { t }
}

/// Every assignment to the variables of `small_variables`, except the last cell, gives the same truth in both layouts.
fn same_everywhere(terms: &mut Terms, constraints: &[TermId], layouts: [&Layout; 2]) -> bool {
    let plain = layouts.map(|l| constraints.iter().map(|&c| l.plain(terms, c)).collect::<Vec<_>>());
    let u = small_variables(terms);
    let (a, b, p) = (key(terms, u.vars[0]), key(terms, u.vars[1]), key(terms, u.vars[2]));
    let symbol = symbol_of(terms, u.arrays[0]);
    (0..1u64 << 11).all(|bits| {
        let mut m = Model::new();
        m.set(a, bits & 7);
        m.set(b, bits >> 3 & 15);
        m.set(p, bits >> 7 & 1);
        (0..2).for_each(|i| m.set(pleach_expr::Key::new(symbol, i), bits >> (8 + 2 * i) & 3));
        let truth = |cs: &Vec<TermId>| cs.iter().all(|&c| terms.eval(c, &m) == 1);
        truth(&plain[0]) == truth(&plain[1])
    })
}

/// What is called agnostic does not change when objects move; and it is not for nothing that other queries are refused.
#[test]
fn agnostic_queries_mean_the_same_in_every_layout() {
    let (mut agnostic, mut dependent, mut changed) = (0, 0, 0);
    for seed in 0..150 {
        let mut terms = Terms::new(64);
        let mut rng = Rng(seed);
        let objects = [(BaseId(1), 8), (BaseId(2), 8), (BaseId(3), 24)];
        let n = 1 + rng.below(3);
        let constraints = sorted((0..n).map(|_| random_constraint(&mut rng, &mut terms, &objects)).collect());
        let sizes = used(&terms, &constraints, &objects);
        let yes = is_agnostic(&terms, &BasedQueryRef { constraints: &constraints, sizes: &sizes });
        let one = Layout::random(&mut rng, &objects);
        let two = Layout::random(&mut rng, &objects);
        let same = same_everywhere(&mut terms, &constraints, [&one, &two]);
        assert!(same || !yes, "seed {seed}");
        agnostic += u32::from(yes && !sizes.is_empty());
        dependent += u32::from(!yes);
        changed += u32::from(!same);
    }
    assert!(agnostic > 30 && dependent > 30 && changed > 3, "{agnostic} {dependent} {changed}");
}

/// Random queries under other names and in other layouts: the answer is the back end's; equal sizes hit, unequal ones
/// do not.
#[test]
fn renamed_queries_hit_and_are_right() {
    let (mut hits, mut solved) = (0, 0);
    for seed in 0..60 {
        let mut terms = Terms::new(64);
        let mut rng = Rng(1000 + seed);
        let objects = [(BaseId(1), 8), (BaseId(2), 8), (BaseId(3), 24)];
        let n = 1 + rng.below(3);
        let constraints = sorted((0..n).map(|_| random_constraint(&mut rng, &mut terms, &objects)).collect());
        if used(&terms, &constraints, &objects).is_empty() {
            continue;
        }
        let (mut cache, seen) = cache();
        let here = Layout::random(&mut rng, &objects);
        solve(&mut cache, &mut terms, &here, &constraints);
        let others: Vec<TermId> = constraints.iter().map(|&c| renamed(&mut terms, c, 10)).collect();
        let moved = objects.map(|(b, size)| (BaseId(b.0 + 10), size));
        let there = Layout::random(&mut rng, &moved);
        let answer = solve(&mut cache, &mut terms, &there, &others);
        let plain: Vec<TermId> = others.iter().map(|&c| there.plain(&mut terms, c)).collect();
        let expected = brute_force(&mut terms, &plain);
        assert_eq!((answer.is_sat(), answer.is_unsat()), (expected, !expected), "seed {seed}: {answer:?}");
        let agnostic = figure(&cache, "address.dependent") == 0;
        if agnostic {
            hits += 1;
            assert_eq!(seen.borrow().len(), 1, "seed {seed}: an agnostic query must hit under other names");
            // One object larger: not the same query.
            let grown = moved.map(|(b, size)| (b, size + 1));
            let elsewhere = Layout::random(&mut rng, &grown);
            solve(&mut cache, &mut terms, &elsewhere, &others);
            let words =
                |terms: &mut Terms, l: &Layout, of: &[TermId]| sorted(of.iter().map(|&c| l.plain(terms, c)).collect());
            let same = words(&mut terms, &here, &constraints) == words(&mut terms, &elsewhere, &others);
            assert_eq!(seen.borrow().len(), if same { 1 } else { 2 }, "seed {seed}: sizes differ");
        } else {
            solved += 1;
            assert_eq!(seen.borrow().len(), 2, "seed {seed}: depends on addresses");
        }
    }
    assert!(hits > 10 && solved > 10, "{hits} {solved}");
}
