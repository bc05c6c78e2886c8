//! The example of the thesis (Fig. 5.3 and 5.4): a loop up to a symbolic size n ≤ 3 that breaks where z = 0.

use super::*;
use pleach_expr::{SymbolKind, SymbolOrigin};
use pleach_ir::Program;
use pleach_state::State;
use pleach_state::seams::{Effort, TermOracle};
use std::rc::Rc;

/// Knows terms only.
pub(crate) struct TermsOnly(pub Terms);

impl TermOracle for TermsOnly {
    fn valid(&mut self, terms: &mut Terms, condition: TermId) -> bool {
        terms.as_const(condition) == Some(1)
    }
    fn is_satisfiable(&mut self, _: &mut Terms, _: TermId) -> bool {
        true
    }
}

impl PathOracle for TermsOnly {
    fn effort(&self) -> Effort {
        Effort::default()
    }
    fn terms(&mut self) -> &mut Terms {
        &mut self.0
    }
    fn program(&self) -> Rc<Program> {
        unreachable!("terms only")
    }
    fn decided(&mut self, _: &State, _: TermId) -> Option<bool> {
        None
    }
    fn entails(&mut self, _: &State, _: TermId) -> bool {
        false
    }
    fn is_satisfiable_with(&mut self, _: &State, _: TermId) -> bool {
        false
    }
    fn split(&mut self) -> (&mut Terms, Box<dyn TermOracle + '_>) {
        (&mut self.0, Box::new(TermsOnly(Terms::new(64))))
    }
    fn constrain(&mut self, _: &mut State, _: TermId, _: &Rc<pleach_expr::Model>) {}
    fn depends_on_layout(&mut self, _: &State, _: TermId) -> bool {
        false
    }
    fn core(&mut self, _: &State, _: TermId, _: TermId) -> Option<Vec<TermId>> {
        None
    }
}

fn variable(terms: &mut Terms, number: u32, bits: u16) -> TermId {
    let s = terms.symbols.intern(SymbolOrigin::Undefined(number), SymbolKind::Bits(bits), || format!("v{number}"));
    terms.var(s)
}

/// `n > k` and its negation.
fn above(terms: &mut Terms, n: TermId, k: u64) -> (TermId, TermId) {
    let k = terms.constant(64, k);
    let yes = terms.ult(k, n);
    (yes, terms.not(yes))
}

struct Example {
    oracle: TermsOnly,
    /// s1, s5, s7, s8: those that leave by the loop's condition
    normal: Vec<Vec<TermId>>,
    /// s3: leaves by the break
    broken: Vec<TermId>,
    none: TermId,
    nonzero: TermId,
}

fn example() -> Example {
    let mut t = Terms::new(64);
    let (n, z) = (variable(&mut t, 0, 64), variable(&mut t, 1, 64));
    let zero = t.constant(64, 0);
    let is_zero = t.eq(z, zero);
    let nonzero = t.not(is_zero);
    let [(a, not_a), (b, not_b), (c, not_c)] = [0, 1, 2].map(|k| above(&mut t, n, k));
    let normal = vec![vec![not_a], vec![a, nonzero, not_b], vec![a, nonzero, b, not_c], vec![a, nonzero, b, c]];
    Example { oracle: TermsOnly(t), normal, broken: vec![a, is_zero], none: not_a, nonzero }
}

#[test]
fn a_complete_subtree_leaves_nothing_in_the_condition() {
    let Example { mut oracle, normal, none, nonzero, .. } = example();
    let tree = GuardTree::new(Suffixes::of_lists(&normal), MergeMethod::Tree, &mut oracle).expect("exclusive");
    // n ≤ 0 ∨ (n > 0 ∧ z ≠ 0), and no larger.
    let wanted = oracle.0.or(none, nonzero);
    assert_eq!(tree.constraints(&mut oracle.0), [wanted]);
}

#[test]
fn with_all_members_there_is_no_condition_left() {
    let Example { mut oracle, mut normal, broken, .. } = example();
    normal.push(broken);
    let tree = GuardTree::new(Suffixes::of_lists(&normal), MergeMethod::Tree, &mut oracle).expect("exclusive");
    assert_eq!(tree.constraints(&mut oracle.0), []);
}

#[test]
fn values_are_nested_choices() {
    let Example { mut oracle, normal, .. } = example();
    let tree = GuardTree::new(Suffixes::of_lists(&normal), MergeMethod::Tree, &mut oracle).expect("exclusive");
    // p[2]: written in the last member only.
    let old = variable(&mut oracle.0, 2, 8);
    let old = Value::Term(old);
    let made = (&tree).choose(&mut oracle.0, &[old, old, old, Value::Int(2)], 8);
    let Value::Term(t) = made else { panic!("{made:?} is a choice") };
    assert_eq!(oracle.0.op(t), Op::Ite);
    // One choice per fork, however many members: the conditions are not repeated.
    assert!(oracle.0.support(t).len() <= 2, "z decides nothing here");
    assert_eq!((&tree).choose(&mut oracle.0, &[old; 4], 8), old);
}

#[test]
fn members_that_nothing_tells_apart_are_refused() {
    let Example { mut oracle, mut normal, .. } = example();
    let same = normal[0].clone();
    normal.push(same);
    let refused = GuardTree::new(Suffixes::of_lists(&normal), MergeMethod::Tree, &mut oracle);
    assert_eq!(refused.err(), Some(NotExclusive));
    // x > 1 and x > 2 may both be true.
    let x = variable(&mut oracle.0, 3, 64);
    let sides = [1, 2].map(|k| vec![above(&mut oracle.0, x, k).0]);
    let refused = GuardTree::new(Suffixes::of_lists(&sides), MergeMethod::Tree, &mut oracle);
    assert_eq!(refused.err(), Some(NotExclusive));
}
