//! Terms a hundred thousand operators deep, and terms with exponentially many paths: no stack overflow, linear time.

use pleach_expr::parse::Mode;
use pleach_expr::symbol::SymbolKind;
use pleach_expr::{BaseId, Key, Model, Op, SymbolId, TermId, Terms};
use rustc_hash::FxHashMap;

const DEPTH: usize = 100_000;

fn variable(terms: &mut Terms, name: &str, width: u16) -> (SymbolId, TermId) {
    let symbol = terms.symbols.named(name, SymbolKind::Bits(width));
    (symbol, terms.var(symbol))
}

/// `((x * y) ^ y) * y …`: nothing the builder could undo.
fn tower(terms: &mut Terms, x: TermId, y: TermId, depth: usize) -> TermId {
    let mut t = x;
    for i in 0..depth {
        t = if i % 2 == 0 { terms.mul(t, y) } else { terms.xor(t, y) };
    }
    t
}

#[test]
fn a_deep_term_is_evaluated_substituted_printed_and_read() {
    let mut terms = Terms::new(64);
    let ((sx, x), (sy, y)) = (variable(&mut terms, "x", 32), variable(&mut terms, "y", 32));
    let t = tower(&mut terms, x, y, DEPTH);

    let mut model = Model::new();
    model.set(Key::new(sx, 0), 12345);
    model.set(Key::new(sy, 0), 67891);
    let mut expected = 12345u32;
    for i in 0..DEPTH {
        expected = if i % 2 == 0 { expected.wrapping_mul(67891) } else { expected ^ 67891 };
    }
    assert_eq!(terms.eval(t, &model), u64::from(expected));

    assert_eq!(terms.support(t).len(), 2);
    let mut map = FxHashMap::default();
    map.insert(x, terms.constant(32, 12345));
    map.insert(y, terms.constant(32, 67891));
    let constant = terms.substitute(t, &map);
    assert_eq!(terms.as_const(constant), Some(u64::from(expected)));

    let text = terms.show(t);
    assert_eq!(terms.parse(&text, Mode::Rewritten), Ok(t));
    assert_eq!(terms.shape(t), terms.shape(t));
    let zero = terms.constant(32, 0);
    let condition = terms.eq(t, zero);
    assert!(terms.smtlib(&[condition]).ends_with("(check-sat)\n"));
}

#[test]
fn a_deep_wide_term_is_evaluated() {
    let mut terms = Terms::new(64);
    let ((sx, x), (_, y)) = (variable(&mut terms, "x", 128), variable(&mut terms, "y", 128));
    let t = tower(&mut terms, x, y, 20_000);
    let low = terms.extract(t, 0, 64);
    let mut model = Model::new();
    model.set(Key::new(sx, 1), 3);
    assert_eq!(terms.eval(low, &model), 0);
}

#[test]
fn a_deep_pointer_gets_its_base() {
    let mut terms = Terms::new(64);
    let (_, y) = variable(&mut terms, "y", 64);
    let base = terms.base(BaseId(7));
    let t = tower(&mut terms, base, y, DEPTH);
    assert_eq!(terms.bases(t), vec![BaseId(7)]);
    let address = terms.constant(64, 0x1000);
    let bound = terms.substitute_bases(t, &mut |_| address);
    assert_eq!(terms.bases(bound), vec![]);
}

#[test]
fn deep_conditions_and_choices_are_built_and_evaluated() {
    let mut terms = Terms::new(64);
    let (sx, x) = variable(&mut terms, "x", 32);
    let (_, z) = variable(&mut terms, "z", 32);
    let mut all = Vec::new();
    let mut choice = z;
    for i in 0..DEPTH {
        let (_, v) = variable(&mut terms, &format!("v{i}"), 32);
        let c = terms.ult(x, v);
        let n = terms.not(c);
        all.push(n);
        let k = terms.constant(32, i as u64);
        choice = terms.ite(c, k, choice);
    }
    let t = terms.and_all(&all);
    let model = Model::new();
    assert_eq!(terms.eval(t, &model), 1);
    assert_eq!(terms.conjuncts(t).len(), DEPTH);
    let nine = terms.constant(32, 9);
    let e = terms.eq(choice, nine);
    assert_eq!(terms.eval(e, &model), 0);
    let mut other = Model::new();
    other.set(Key::new(sx, 0), 5);
    let zero = terms.constant(32, 0);
    let below = terms.ult(zero, choice);
    assert_eq!(terms.eval(below, &other), 0);
}

#[test]
fn a_long_chain_of_stores_is_read_in_linear_time() {
    let mut terms = Terms::new(64);
    let symbol = terms.symbols.named("a", SymbolKind::Array { element: 8, len: 64 });
    let mut array = terms.array_var(symbol);
    let one = terms.constant(8, 1);
    for i in 0..20_000 {
        let (_, index) = variable(&mut terms, &format!("i{i}"), 32);
        array = terms.store(array, index, one);
    }
    let five = terms.constant(32, 5);
    let r = terms.read(array, five);
    assert_eq!(terms.op(r), Op::Read);
    let mut model = Model::new();
    model.set(Key::new(symbol, 5), 77);
    assert_eq!(terms.eval(r, &model), 77);
}

#[test]
fn sharing_is_printed_once() {
    let mut terms = Terms::new(64);
    let (_, x) = variable(&mut terms, "x", 32);
    let (_, y) = variable(&mut terms, "y", 32);
    let mut t = x;
    for _ in 0..200 {
        let p = terms.mul(t, y);
        let q = terms.udiv(t, y);
        t = terms.xor(p, q);
    }
    let text = terms.show(t);
    assert!(text.len() < 20_000, "{} bytes", text.len());
    assert_eq!(terms.parse(&text, Mode::Rewritten), Ok(t));
    let c = terms.eq(t, y);
    assert!(terms.smtlib(&[c]).len() < 40_000);
    assert_eq!(terms.eval(t, &Model::new()), terms.eval(t, &Model::new()));
}
