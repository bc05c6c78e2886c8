//! Queries with bounded quantifiers: the stages of Memory §6.4, and all answers against expansion.

mod common;
use common::*;
use pleach_expr::{Key, Model, SymbolId, TermId, Terms};
use pleach_smt::link::quantified::Quantified;
use pleach_smt::{Answer, BackendKind, Query, Solver, SolverConfig, Stats, assemble};
use std::cell::RefCell;
use std::rc::Rc;

fn figure(s: &dyn Solver, name: &str) -> u64 {
    let mut stats = Stats::new();
    s.stats(&mut stats);
    stats.get(name)
}

type Seen = Rc<RefCell<Vec<Vec<TermId>>>>;

/// Gives these models, one after the other, and notes the queries.
struct Scripted {
    models: Vec<Model>,
    seen: Seen,
}

impl Solver for Scripted {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.seen.borrow_mut().push(query.constraints.to_vec());
        let model = self.models.remove(0);
        for &c in query.constraints {
            assert_eq!(terms.try_eval(c, &model), Some(1), "no model of {}", terms.show(c));
        }
        Answer::Sat(Rc::new(model))
    }
    fn stats(&self, _: &mut Stats) {}
}

/// Example 6.4.1: s[n] = 0 ∧ 1 ≤ k ≤ 10 ∧ s[k - 1] = 8 ∧ ∀ i < k. s[i] ≠ 0
struct Example {
    terms: Terms,
    s: TermId,
    n: TermId,
    k: TermId,
    query: Vec<TermId>,
}

impl Example {
    fn new() -> Example {
        let mut t = Terms::new(64);
        let (s, n, k) = (array(&mut t, "s", 8, 16), var(&mut t, "n", 32), var(&mut t, "k", 32));
        let [zero, eight] = [0, 8].map(|v| t.constant(8, v));
        let [one, ten] = [1, 10].map(|v| t.constant(32, v));
        let at_n = t.read(s, n);
        let ends = t.eq(at_n, zero);
        let (some, few) = (t.ule(one, k), t.ule(k, ten));
        let last = t.sub(k, one);
        let at_last = t.read(s, last);
        let is_eight = t.eq(at_last, eight);
        let i = t.variable_to_bind(32);
        let cell = t.read(s, i);
        let body = t.ne(cell, zero);
        let all = t.forall(i, k, body);
        let query = sorted(vec![ends, some, few, is_eight, all]);
        Example { terms: t, s, n, k, query }
    }

    fn symbol(&self, t: TermId) -> SymbolId {
        SymbolId(self.terms.node(t).a)
    }

    fn model(&self, n: u64, k: u64, cells: &[u64]) -> Model {
        let mut m = Model::new();
        m.set(Key::new(self.symbol(self.n), 0), n);
        m.set(Key::new(self.symbol(self.k), 0), k);
        cells.iter().enumerate().for_each(|(i, v)| m.set(Key::new(self.symbol(self.s), i as u32), *v));
        m
    }

    /// The cells of the model that the stages find if the solver gives these, and who was asked what.
    fn solve(&mut self, models: Vec<Model>) -> (Vec<u64>, Vec<Vec<TermId>>, Quantified<Scripted>) {
        let seen = Seen::default();
        let mut solver = Quantified::new(Scripted { models, seen: seen.clone() }, false);
        let answer = solver.check(&mut self.terms, &Query::new(&self.query));
        let model = answer.model().expect("a model").clone();
        for &c in &self.query {
            assert_eq!(self.terms.try_eval(c, &model), Some(1));
        }
        let cells = (0..8).map(|i| model.get(Key::new(self.symbol(self.s), i))).collect();
        let seen = seen.borrow().clone();
        (cells, seen, solver)
    }
}

#[test]
fn example_6_4_1_strip() {
    let mut e = Example::new();
    let good = e.model(1, 1, &[8, 0]);
    let (cells, seen, solver) = e.solve(vec![good]);
    assert_eq!(cells[..2], [8, 0]);
    assert_eq!(figure(&solver, "quantified.strip-sat"), 1);
    // k ≥ 1 → s[0] ≠ 0, and s[n] = 0 keeps n out of the range: n < k → s[n] ≠ 0.
    let t = &mut e.terms;
    let zero = t.constant(8, 0);
    let [none, first] = [0, 0].map(|v| t.constant(32, v));
    let (some, cell) = (t.ult(none, e.k), t.read(e.s, first));
    let nonzero = t.ne(cell, zero);
    let first = t.implies(some, nonzero);
    let (inside, at_n) = (t.ult(e.n, e.k), t.read(e.s, e.n));
    let nonzero = t.ne(at_n, zero);
    let outside = t.implies(inside, nonzero);
    assert!(seen[0].contains(&first) && seen[0].contains(&outside));
}

#[test]
fn example_6_4_2_duplicate() {
    let mut e = Example::new();
    let m = e.model(7, 7, &[8, 0, 0, 0, 0, 0, 8, 0]);
    let (cells, _, solver) = e.solve(vec![m]);
    assert_eq!(cells, [8, 8, 8, 8, 8, 8, 8, 0]);
    assert_eq!(figure(&solver, "quantified.duplicate"), 1);
}

#[test]
fn example_6_4_3_repair() {
    let mut e = Example::new();
    let first = e.model(7, 7, &[1, 0, 0, 0, 0, 0, 8, 0]);
    let second = first.clone();
    let (cells, seen, solver) = e.solve(vec![first, second]);
    assert_eq!(cells, [1, 1, 1, 1, 1, 1, 8, 0]);
    assert_eq!(figure(&solver, "quantified.repair"), 1);
    // s[6] ≠ 0, n = 7 and k = 7 are added.
    let t = &mut e.terms;
    let [six, seven] = [6, 7].map(|v| t.constant(32, v));
    let (zero, cell) = (t.constant(8, 0), t.read(e.s, six));
    let nonzero = t.ne(cell, zero);
    let inside = t.ult(six, e.k);
    let instance = t.implies(inside, nonzero);
    for wanted in [instance, t.eq(e.n, seven), t.eq(e.k, seven)] {
        assert!(seen[1].contains(&wanted) && !seen[0].contains(&wanted), "{}", t.show(wanted));
    }
}

#[test]
fn unsatisfiable_queries_have_a_core() {
    for links in [true, false] {
        let mut e = Example::new();
        let mut solver = assemble(SolverConfig { use_quantified: links, ..SolverConfig::default() });
        let t = &mut e.terms;
        let [three, five] = [3, 5].map(|v| t.constant(32, v));
        let (zero, cell) = (t.constant(8, 0), t.read(e.s, three));
        let (gone, long) = (t.eq(cell, zero), t.ult(five, e.k));
        let other = var(t, "other", 8);
        let other = t.eq(other, zero);
        let all = *e.query.iter().find(|c| t.as_forall(**c).is_some()).expect("a quantifier");
        let answer = check(&mut solver, t, &[&e.query[..], &[gone, long, other]].concat());
        let core = answer.core().expect("unsatisfiable");
        assert!(core.contains(&all) && core.contains(&gone) && !core.contains(&other), "{core:?}");
    }
}

/// Conditions with quantifiers over two arrays and two variables, whose ranges end at 5.
struct Random {
    rng: Rng,
    terms: Terms,
}

impl Random {
    fn index(&mut self, bound: &[TermId]) -> TermId {
        let plus = self.rng.below(3);
        let plus = self.terms.constant(32, plus);
        let i = match bound {
            [] => var(&mut self.terms, ["x", "y"][self.rng.below(2) as usize], 32),
            all => all[self.rng.below(all.len() as u64) as usize],
        };
        self.terms.add(i, plus)
    }

    fn atom(&mut self, bound: &[TermId]) -> TermId {
        let a = array(&mut self.terms, ["a", "b"][self.rng.below(2) as usize], 8, 8);
        let i = self.index(bound);
        let cell = self.terms.read(a, i);
        let other = match self.rng.below(3) {
            0 => {
                let j = self.index(&[]);
                self.terms.read(a, j)
            }
            n => self.terms.constant(8, n),
        };
        match self.rng.below(3) {
            0 => self.terms.eq(cell, other),
            1 => self.terms.ne(cell, other),
            _ => self.terms.ult(cell, other),
        }
    }

    fn condition(&mut self, bound: &mut Vec<TermId>, depth: u64) -> TermId {
        match self.rng.below(if depth == 0 { 1 } else { 6 }) {
            0 => self.atom(bound),
            1 => {
                let c = self.condition(bound, depth - 1);
                self.terms.not(c)
            }
            2 => {
                let (c, d) = (self.condition(bound, depth - 1), self.condition(bound, depth - 1));
                self.terms.or(c, d)
            }
            _ => {
                let count = var(&mut self.terms, ["x", "y"][self.rng.below(2) as usize], 32);
                let i = var(&mut self.terms, &format!("i{}", bound.len()), 32);
                bound.push(i);
                let body = self.condition(bound, depth - 1);
                bound.pop();
                self.terms.forall(i, count, body)
            }
        }
    }

    fn query(&mut self) -> Vec<TermId> {
        let five = self.terms.constant(32, 5);
        let mut all = Vec::new();
        for name in ["x", "y"] {
            let x = var(&mut self.terms, name, 32);
            all.push(self.terms.ule(x, five));
        }
        let two = self.terms.constant(32, 2);
        let x = var(&mut self.terms, "x", 32);
        all.push(self.terms.ule(two, x));
        all.extend((0..4 + self.rng.below(9)).map(|_| self.condition(&mut Vec::new(), 2)));
        sorted(all)
    }

    fn expanded(&mut self, query: &[TermId]) -> Vec<TermId> {
        let mut all = query.to_vec();
        loop {
            let quantifiers = self.terms.outer_quantifiers(&all);
            if quantifiers.is_empty() {
                return sorted(all);
            }
            let map = quantifiers.into_iter().map(|q| (q, self.terms.expanded(q, 5))).collect();
            all.iter_mut().for_each(|c| *c = self.terms.substitute(*c, &map));
        }
    }
}

#[test]
fn answers_are_those_of_the_expansion() {
    let mut chain = assemble(SolverConfig { check_evidence: true, check_quantified: true, ..SolverConfig::default() });
    let mut plain = assemble(SolverConfig { use_quantified: false, ..SolverConfig::default() });
    let mut z3 = assemble(SolverConfig { check_evidence: true, ..SolverConfig::bare(BackendKind::Z3) });
    let mut bitwuzla = assemble(SolverConfig { check_evidence: true, ..SolverConfig::bare(BackendKind::Bitwuzla) });
    let mut r = Random { rng: Rng(19), terms: Terms::new(64) };
    let (mut sat, mut unsat) = (0, 0);
    for round in 0..250 {
        let query = r.query();
        let expanded = r.expanded(&query);
        let wanted = check(&mut plain, &mut r.terms, &expanded).verdict();
        let found = check(&mut chain, &mut r.terms, &query);
        assert_eq!(found.verdict(), wanted, "query {round}");
        match wanted {
            "sat" => sat += 1,
            _ => unsat += 1,
        }
        // With the quantifiers as they are; not all of these have an answer.
        if round % 5 == 0 {
            for solver in [&mut z3, &mut bitwuzla] {
                let answer = check(solver, &mut r.terms, &query);
                assert!(answer.is_unknown() || answer.verdict() == wanted, "query {round}");
            }
        }
    }
    assert!(sat > 50 && unsat > 50, "{sat} {unsat}");
    for name in ["checking.failures", "quantified.wrong"] {
        assert_eq!(figure(&chain, name), 0, "{name}");
    }
    assert!(figure(&chain, "quantified.queries") > 20);
    assert_eq!(figure(&chain, "quantified.full"), 0);
}
