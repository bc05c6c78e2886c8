//! Memory Fig. 6.2 and Table 6.1: `memspn` with "a", n ≤ 3.

use super::*;
use crate::guard::tests::TermsOnly;
use crate::pattern::detect::Found;
use pleach_expr::SymbolId;

struct Example {
    oracle: TermsOnly,
    n: TermId,
    s: TermId,
}

impl Example {
    fn new() -> Example {
        let mut terms = Terms::new(64);
        let n = terms.symbols.named("n", SymbolKind::Bits(64));
        let n = terms.var(n);
        let s = terms.symbols.named("s", SymbolKind::Array { element: 8, len: 3 });
        let s = terms.array_var(s);
        Example { oracle: TermsOnly(terms), n, s }
    }

    /// `n > x`, with a number
    fn longer(&mut self, x: u64) -> TermId {
        let x = self.oracle.0.constant(64, x);
        self.oracle.0.ult(x, self.n)
    }

    /// `s[x] = 97`, with a number
    fn is_a(&mut self, x: u64) -> TermId {
        let terms = &mut self.oracle.0;
        let x = terms.constant(32, x);
        let cell = terms.read(self.s, x);
        let a = terms.constant(8, 97);
        terms.eq(cell, a)
    }

    fn not(&mut self, t: TermId) -> TermId {
        self.oracle.0.not(t)
    }

    /// Constraints of k rounds.
    fn rounds(&mut self, k: u64) -> Vec<TermId> {
        (0..k).flat_map(|i| [self.longer(i), self.is_a(i)]).collect()
    }

    /// n5, n9, n13
    fn stopped(&mut self, k: u64) -> Vec<TermId> {
        let mut all = self.rounds(k);
        all.push(self.longer(k));
        let a = self.is_a(k);
        all.push(self.not(a));
        all
    }

    /// n2, n6, n10, n14
    fn at_end(&mut self, k: u64) -> Vec<TermId> {
        let mut all = self.rounds(k);
        let longer = self.longer(k);
        all.push(self.not(longer));
        all
    }

    fn patterns(&mut self, suffixes: &[Vec<TermId>]) -> Found {
        Words::default().patterns(suffixes, 8, &mut self.oracle, &|_, _, _| false)
    }
}

#[test]
fn table_6_1() {
    let mut e = Example::new();
    let mut suffixes: Vec<Vec<TermId>> = (0..3).map(|k| e.stopped(k)).collect();
    suffixes.extend((0..4).map(|k| e.at_end(k)));
    let found = e.patterns(&suffixes);
    assert_eq!((found.patterns.len(), found.rest.len()), (2, 0));
    let [end, stopped] = &found.patterns[..] else { panic!("two patterns") };
    assert_eq!(end.members, [(3, 0), (4, 1), (5, 2), (6, 3)]);
    assert_eq!(stopped.members, [(0, 0), (1, 1), (2, 2)]);
    let stopped = Counted::new(stopped.clone(), 0, &mut e.oracle.0);
    // k ≤ 2 ∧ (∀ i < k. n > i ∧ s[i] = 97) ∧ n > k ∧ s[k] ≠ 97
    let terms = &mut e.oracle.0;
    let two = terms.constant(32, 2);
    let in_range = terms.ule(stopped.k, two);
    let over = |terms: &mut Terms, x: TermId| {
        let wide = terms.zext(x, 64);
        let longer = terms.ult(wide, e.n);
        let cell = terms.read(e.s, x);
        let a = terms.constant(8, 97);
        (longer, terms.eq(cell, a))
    };
    let i = terms.variable_to_bind(32);
    let (longer, is_a) = over(terms, i);
    let body = terms.and(longer, is_a);
    let all = terms.forall(i, stopped.k, body);
    let (longer, is_a) = over(terms, stopped.k);
    let stops = terms.not(is_a);
    assert_eq!(stopped.constraints(terms), [in_range, all, longer, stops]);
    // Row 2: k ≤ 3 ∧ (the same) ∧ n ≤ k
    let end = Counted::new(end.clone(), 0, terms);
    let three = terms.constant(32, 3);
    let (in_range, ends) = (terms.ule(end.k, three), terms.not(longer));
    let made = end.constraints(terms);
    assert_eq!(made, [in_range, all, ends], "{} {}", terms.show(made[2]), terms.show(ends));
    // count is k, in its own width; chars + 1 is as it was.
    let values = [0, 1, 2].map(pleach_memory::Value::Int);
    let mut choice = PatternChoice { counted: &stopped, obligations: Some(Vec::new()), linear: 0, choices: 0 };
    let count = pleach_memory::merge::Choice::choose(&mut choice, terms, &values, 32);
    assert_eq!(count, pleach_memory::Value::Term(stopped.k));
    assert!(choice.obligations.iter().flatten().count() == 3);
}

#[test]
fn the_condition_of_each_member_is_an_instance() {
    let mut e = Example::new();
    let suffixes: Vec<Vec<TermId>> = (0..6).map(|k| e.stopped(k)).collect();
    let found = e.patterns(&suffixes);
    let counted = Counted::new(found.patterns[0].clone(), 3, &mut e.oracle.0);
    let keys: Vec<pleach_expr::Key> = {
        let (n, s) = (e.oracle.0.node(e.n).a, e.oracle.0.node(e.s).a);
        let cells = (0..3).map(|i| pleach_expr::Key::new(SymbolId(s), i));
        cells.chain([pleach_expr::Key::new(SymbolId(n), 0)]).collect()
    };
    for (m, s) in suffixes.iter().enumerate() {
        let same = counted.is_condition_of(m, s, &mut e.oracle.0);
        for (n, cells) in (0..8).flat_map(|n| (0..8).map(move |cells| (n, cells))) {
            let mut model = Model::new();
            model.set(keys[3], n);
            (0..3).for_each(|i| model.set(keys[i], 97 * (cells >> i & 1)));
            assert_eq!(e.oracle.0.try_eval(same, &model), Some(1), "{m}");
        }
    }
    let mut model = Model::new();
    counted.complete(&mut model, &e.oracle.0);
    let key = pleach_expr::Key::new(SymbolId(e.oracle.0.node(counted.k).a), 0);
    assert_eq!(model.get(key), 0);
}

#[test]
fn a_last_round_without_a_branch_belongs_to_the_others() {
    let mut e = Example::new();
    let mut suffixes: Vec<Vec<TermId>> = (0..3).map(|k| e.at_end(k)).collect();
    // n ≤ 3 is known before the loop: there is no branch.
    suffixes.push(e.rounds(3));
    let implied = e.longer(3);
    let implied = e.not(implied);
    let found = Words::default().patterns(&suffixes, 8, &mut e.oracle, &|_, m, c| m == 3 && c == implied);
    assert_eq!(found.patterns[0].members, [(0, 0), (1, 1), (2, 2), (3, 3)]);
    assert!(found.rest.is_empty());
    let found = Words::default().patterns(&suffixes, 8, &mut e.oracle, &|_, _, _| false);
    assert_eq!((found.patterns[0].members.len(), &found.rest[..]), (3, &[3][..]));
}

/// Rounds with `n > a number` for the first k numbers, then not.
fn bounds(e: &mut Example, numbers: &[u64]) -> Vec<Vec<TermId>> {
    let one = |k: usize| {
        let mut all: Vec<TermId> = (0..k).map(|i| e.longer(numbers[i])).collect();
        let last = e.longer(numbers[k]);
        all.push(e.not(last));
        all
    };
    (0..numbers.len()).map(one).collect()
}

#[test]
fn powers_of_two_are_shifts_by_the_number_of_the_round() {
    for numbers in [[3, 6, 12, 24, 48], [2, 5, 11, 23, 47], [1, 4, 16, 64, 256], [128, 64, 32, 16, 8]] {
        let mut e = Example::new();
        let suffixes = bounds(&mut e, &numbers);
        let found = e.patterns(&suffixes);
        assert_eq!((found.patterns.len(), found.rest.len()), (1, 0), "{numbers:?} {:?}", found.refused);
        let counted = Counted::new(found.patterns[0].clone(), 0, &mut e.oracle.0);
        for (m, s) in suffixes.iter().enumerate() {
            let same = counted.is_condition_of(m, s, &mut e.oracle.0);
            for n in 0..300 {
                let mut model = Model::new();
                model.set(pleach_expr::Key::new(SymbolId(e.oracle.0.node(e.n).a), 0), n);
                assert_eq!(e.oracle.0.try_eval(same, &model), Some(1), "{numbers:?} {m} {n}");
            }
        }
    }
}

#[test]
fn what_is_not_linear_has_no_pattern() {
    let mut e = Example::new();
    let suffixes = bounds(&mut e, &[1, 4, 9, 16, 25]);
    let found = e.patterns(&suffixes);
    assert!(found.patterns.is_empty() && found.rest.len() == 5);
    assert!(found.refused.contains(&NoPattern::Rounds), "{:?}", found.refused);
}

#[test]
fn sides_of_a_switch_look_alike_and_are_no_rounds() {
    let mut e = Example::new();
    let is = |e: &mut Example, v: u64| {
        let v = e.oracle.0.constant(64, v);
        e.oracle.0.eq(e.n, v)
    };
    // Three sides of a switch behind the same rounds: one for each number of rounds is taken.
    let mut suffixes = Vec::new();
    for k in 0..4 {
        for side in 0..3 {
            let mut all: Vec<TermId> = (0..k).map(|i| e.is_a(i)).collect();
            let last = e.is_a(k);
            all.push(e.not(last));
            all.push(is(&mut e, 10 + side));
            suffixes.push(all);
        }
    }
    let found = e.patterns(&suffixes);
    assert_eq!(found.patterns.len(), 3, "{:?}", found.refused);
    assert!(found.patterns.iter().all(|p| p.members.len() == 4) && found.rest.is_empty());
    let limited = Words::default().patterns(&suffixes, 2, &mut e.oracle, &|_, _, _| false);
    assert!(limited.patterns.is_empty() && limited.refused == [NoPattern::TooMany]);
    assert_eq!(limited.rest.len(), suffixes.len());
}
