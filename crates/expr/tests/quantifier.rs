//! Bounded quantifiers against the expansion of their range.

use pleach_expr::symbol::SymbolKind;
use pleach_expr::{Key, Model, TermId, Terms};
use proptest::prelude::*;
use rustc_hash::FxHashMap;

/// The longest range.
const MAX_RANGE: u64 = 9;

/// Conditions over x, y, the cells of a, and the variables that are bound around them.
#[derive(Clone, Debug)]
enum Formula {
    /// a[i + plus] compared with a number
    Cell {
        of: usize,
        plus: u8,
        with: u8,
        op: u8,
    },
    /// i + x compared with y
    Sum {
        of: usize,
        op: u8,
    },
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Choice(Box<Formula>, Box<Formula>, Box<Formula>),
    /// for all values below y, x or a number
    All {
        count: u8,
        body: Box<Formula>,
    },
}

fn formula() -> impl Strategy<Value = Formula> {
    let leaf = prop_oneof![
        (0..3usize, 0..4u8, 0..4u8, 0..4u8).prop_map(|(of, plus, with, op)| Formula::Cell { of, plus, with, op }),
        (0..3usize, 0..4u8).prop_map(|(of, op)| Formula::Sum { of, op }),
    ];
    leaf.prop_recursive(4, 16, 3, |inner| {
        let part = || inner.clone().prop_map(Box::new);
        prop_oneof![
            part().prop_map(Formula::Not),
            (part(), part()).prop_map(|(a, b)| Formula::And(a, b)),
            (part(), part(), part()).prop_map(|(a, b, c)| Formula::Choice(a, b, c)),
            (0..6u8, part()).prop_map(|(count, body)| Formula::All { count, body }),
            (0..6u8, part()).prop_map(|(count, body)| Formula::All { count, body }),
        ]
    })
}

struct Maker {
    terms: Terms,
    fresh: u32,
}

impl Maker {
    fn new() -> Maker {
        Maker { terms: Terms::new(64), fresh: 0 }
    }

    fn named(&mut self, name: &str) -> TermId {
        let s = self.terms.symbols.named(name, SymbolKind::Bits(32));
        self.terms.var(s)
    }

    fn compare(&mut self, a: TermId, b: TermId, op: u8) -> TermId {
        match op {
            0 => self.terms.eq(a, b),
            1 => self.terms.ult(a, b),
            2 => self.terms.slt(a, b),
            _ => self.terms.ne(a, b),
        }
    }

    /// The condition; `expand`: with conjunctions in place of quantifiers.
    fn make(&mut self, f: &Formula, bound: &mut Vec<TermId>, expand: bool) -> TermId {
        match f {
            Formula::Cell { of, plus, with, op } => {
                let s = self.terms.symbols.named("a", SymbolKind::Array { element: 8, len: 12 });
                let a = self.terms.array_var(s);
                let i = self.variable(*of, bound);
                let plus = self.terms.constant(32, u64::from(*plus));
                let i = self.terms.add(i, plus);
                let cell = self.terms.read(a, i);
                let with = self.terms.constant(8, u64::from(*with));
                self.compare(cell, with, *op)
            }
            Formula::Sum { of, op } => {
                let (i, x, y) = (self.variable(*of, bound), self.named("x"), self.named("y"));
                let sum = self.terms.add(i, x);
                self.compare(sum, y, *op)
            }
            Formula::Not(a) => {
                let a = self.make(a, bound, expand);
                self.terms.not(a)
            }
            Formula::And(a, b) => {
                let (a, b) = (self.make(a, bound, expand), self.make(b, bound, expand));
                self.terms.and(a, b)
            }
            Formula::Choice(a, b, c) => {
                let [a, b, c] = [a, b, c].map(|f| self.make(f, bound, expand));
                self.terms.ite(a, b, c)
            }
            Formula::All { count, body } => {
                let count = match count {
                    0 => self.named("y"),
                    1 => self.named("x"),
                    n => self.terms.constant(32, u64::from(*n)),
                };
                if expand {
                    let mut all = Terms::TRUE;
                    for c in 0..MAX_RANGE {
                        let c = self.terms.constant(32, c);
                        bound.push(c);
                        let body = self.make(body, bound, true);
                        bound.pop();
                        let inside = self.terms.ult(c, count);
                        let instance = self.terms.implies(inside, body);
                        all = self.terms.and(all, instance);
                    }
                    return all;
                }
                self.fresh += 1;
                let i = self.named(&format!("bound{}", self.fresh));
                bound.push(i);
                let body = self.make(body, bound, false);
                bound.pop();
                self.terms.forall(i, count, body)
            }
        }
    }

    fn variable(&mut self, of: usize, bound: &[TermId]) -> TermId {
        bound.iter().rev().nth(of).copied().unwrap_or_else(|| self.named("x"))
    }

    fn key(&mut self, name: &str) -> Key {
        Key::new(self.terms.symbols.named(name, SymbolKind::Bits(32)), 0)
    }
}

/// x, y and the cells.
fn model(m: &mut Maker, x: u64, y: u64, cells: &[u8]) -> Model {
    let mut model = Model::new();
    model.set(m.key("x"), x);
    model.set(m.key("y"), y);
    let a = m.terms.symbols.named("a", SymbolKind::Array { element: 8, len: 12 });
    cells.iter().enumerate().for_each(|(i, v)| model.set(Key::new(a, i as u32), u64::from(*v)));
    model
}

proptest! {
    #[test]
    fn a_quantifier_is_the_conjunction_over_its_range(
        f in formula(), x in 0..MAX_RANGE, y in 0..MAX_RANGE, cells in proptest::collection::vec(0..4u8, 12)
    ) {
        let mut m = Maker::new();
        let (all, expanded) = (m.make(&f, &mut Vec::new(), false), m.make(&f, &mut Vec::new(), true));
        let model = model(&mut m, x, y, &cells);
        let wanted = m.terms.try_eval(expanded, &model);
        prop_assert_eq!(m.terms.try_eval(all, &model), wanted, "{}", m.terms.show(all));
        // What it depends on is in what its expansion may depend on: whole arrays, and the two variables.
        let free: Vec<Key> = m.terms.support(all).to_vec();
        let allowed = [m.key("x"), m.key("y")];
        let a = m.terms.symbols.named("a", SymbolKind::Array { element: 8, len: 12 });
        prop_assert!(free.iter().all(|k| allowed.contains(k) || k.symbol() == a));
        // The text reads back as the same term.
        let text = m.terms.show(all);
        prop_assert_eq!(m.terms.parse(&text, pleach_expr::parse::Mode::Rewritten), Ok(all), "{}", text);
    }

    #[test]
    fn substitution_goes_into_quantifiers_and_captures_nothing(
        f in formula(), g in formula(), y in 0..MAX_RANGE, cells in proptest::collection::vec(0..4u8, 12)
    ) {
        let mut m = Maker::new();
        // x becomes a term with quantifiers of its own.
        let condition = m.make(&g, &mut Vec::new(), false);
        let by = m.terms.zext(condition, 32);
        let x = m.named("x");
        let all = m.make(&f, &mut Vec::new(), false);
        let replaced = m.terms.substitute(all, &FxHashMap::from_iter([(x, by)]));
        let before = model(&mut m, 3, y, &cells);
        let value = m.terms.try_eval(by, &before).unwrap_or(0);
        let after = model(&mut m, value, y, &cells);
        let wanted = m.terms.try_eval(all, &after);
        prop_assert_eq!(m.terms.try_eval(replaced, &before), wanted, "{}", m.terms.show(replaced));
    }
}

#[test]
fn names_of_bound_variables_do_not_matter() {
    let mut m = Maker::new();
    let n = m.named("n");
    let mut all = |name: &str| {
        let i = m.named(name);
        let seven = m.terms.constant(32, 7);
        let body = m.terms.ult(i, seven);
        m.terms.forall(i, n, body)
    };
    assert_eq!(all("i"), all("j"));
}

#[test]
fn a_range_need_not_begin_at_zero() {
    let mut m = Maker::new();
    let (i, lo, hi) = (m.named("i"), m.named("x"), m.named("y"));
    let three = m.terms.constant(32, 3);
    let body = m.terms.ult(three, i);
    let all = m.terms.forall_in(i, lo, hi, body);
    for (lo, hi, holds) in [(4, 9, 1), (3, 9, 0), (9, 4, 1), (3, 3, 1), (0, 1, 0)] {
        let model = model(&mut m, lo, hi, &[]);
        assert_eq!(m.terms.try_eval(all, &model), Some(holds), "[{lo}, {hi})");
    }
}
