//! Constraints are grouped by the symbolic variables that they share.

use pleach_expr::{Model, SymbolKind, SymbolOrigin, TermId, Terms};
use pleach_state::PathConstraint;
use std::rc::Rc;

fn variable(terms: &mut Terms, number: u32) -> TermId {
    let symbol = terms.symbols.intern(SymbolOrigin::Any(number), SymbolKind::Bits(8), || format!("v{number}"));
    terms.var(symbol)
}

/// Adds `a < b`, with any model: the tests do not ask for values.
fn add_less(path: &mut PathConstraint, terms: &mut Terms, a: TermId, b: TermId) -> TermId {
    let condition = terms.ult(a, b);
    let slice = path.relevant(terms, condition);
    path.add(terms, condition, condition, &slice, Rc::new(Model::new()));
    condition
}

#[test]
fn a_query_sees_only_what_it_depends_on() {
    let (mut terms, mut path) = (Terms::new(64), PathConstraint::default());
    let v: Vec<TermId> = (0..5).map(|n| variable(&mut terms, n)).collect();
    let first = add_less(&mut path, &mut terms, v[0], v[1]);
    let second = add_less(&mut path, &mut terms, v[2], v[3]);
    assert_eq!(path.groups().count(), 2);
    let slice = |path: &PathConstraint, terms: &mut Terms, a, b| {
        let query = terms.eq(a, b);
        path.relevant(terms, query).constraints.to_vec()
    };
    assert_eq!(slice(&path, &mut terms, v[0], v[4]), [first]);
    assert_eq!(slice(&path, &mut terms, v[3], v[4]), [second]);
    assert_eq!(slice(&path, &mut terms, v[1], v[2]).len(), 2);
    let third = add_less(&mut path, &mut terms, v[1], v[2]);
    assert_eq!(path.groups().count(), 1, "it joins both groups");
    assert_eq!(path.iter().collect::<Vec<_>>(), [third, second, first], "newest first");
    assert_eq!(slice(&path, &mut terms, v[0], v[4]).len(), 3);
}

#[test]
fn true_is_no_constraint() {
    let (mut terms, mut path) = (Terms::new(64), PathConstraint::default());
    let slice = path.relevant(&mut terms, Terms::TRUE);
    path.add(&mut terms, Terms::TRUE, Terms::TRUE, &slice, Rc::new(Model::new()));
    assert!(path.is_empty() && path.iter().next().is_none());
}

#[test]
fn an_equation_decides_what_depends_on_its_variable_alone() {
    let (mut terms, mut path) = (Terms::new(64), PathConstraint::default());
    let (a, b) = (variable(&mut terms, 0), variable(&mut terms, 1));
    let three = terms.constant(8, 3);
    let fixed = terms.eq(a, three);
    let slice = path.relevant(&mut terms, fixed);
    path.add(&mut terms, fixed, fixed, &slice, Rc::new(Model::new()));
    let (of_a, of_both) = (terms.ult(a, three), terms.ult(a, b));
    assert!(path.decides(&mut terms, of_a));
    assert!(!path.decides(&mut terms, of_both));
}
