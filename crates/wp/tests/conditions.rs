//! Conditions over locations: what is required twice is said once, and substitution acts on every part.

use pleach_expr::arc::Arc;
use pleach_expr::{SymbolKind, SymbolOrigin, TermId, Terms};
use pleach_memory::ObjId;
use pleach_wp::{Condition, Dereferenceable, Loc, Locs, OwningFrame, PointsTo, Sum};
use std::collections::BTreeSet;

fn register(terms: &mut Terms, locs: &mut Locs, slot: u32) -> TermId {
    locs.term(terms, Loc::Reg { depth: 0, slot }, 32)
}

fn cell(terms: &mut Terms, locs: &mut Locs, off: u64) -> TermId {
    locs.term(terms, Loc::Cell { obj: ObjId(9), off, bytes: 4 }, 32)
}

#[test]
fn a_location_is_one_variable_for_each_width() {
    let (mut terms, mut locs) = (Terms::new(64), Locs::default());
    let loc = Loc::Reg { depth: 1, slot: 2 };
    let (wide, narrow) = (locs.term(&mut terms, loc, 64), locs.term(&mut terms, loc, 8));
    assert_eq!(locs.term(&mut terms, loc, 64), wide);
    assert_ne!(wide, narrow);
    let symbols: Vec<_> = [wide, narrow].iter().map(|t| terms.support(*t)[0].symbol()).collect();
    assert!(symbols.iter().all(|s| locs.get(*s) == Some(loc)));
    let free = locs.fresh_variable(&mut terms, 8);
    assert_eq!(locs.get(terms.support(free)[0].symbol()), None, "it stands for nothing in the state");
}

#[test]
fn literals_are_said_once_and_true_is_none() {
    let (mut terms, mut locs) = (Terms::new(64), Locs::default());
    let x = register(&mut terms, &mut locs, 0);
    let seven = terms.constant(32, 7);
    let is_seven = terms.eq(x, seven);
    let mut condition = Condition::default();
    condition.require(Terms::TRUE);
    assert!(condition.is_true());
    condition.require(is_seven);
    condition.require(is_seven);
    assert_eq!(condition.literals, [is_seven]);
    condition.substitute(&mut terms, &locs, &[(x, seven)].into_iter().collect());
    assert!(condition.is_true(), "7 = 7");
}

#[test]
fn a_weaker_access_adds_nothing() {
    let mut terms = Terms::new(64);
    let p = terms.base(pleach_expr::BaseId(3));
    let read = |bytes| Dereferenceable { bytes, ..Dereferenceable::new(p, ObjId(3), Some(0)) };
    let mut condition = Condition::default();
    condition.require_dereferenceable(read(8));
    condition.require_dereferenceable(read(4));
    assert_eq!(condition.dereferenceable.len(), 1);
    condition.require_dereferenceable(Dereferenceable { write: true, ..read(4) });
    condition.require_dereferenceable(Dereferenceable { align: 3, ..read(4) });
    condition.require_dereferenceable(read(16));
    assert_eq!(condition.dereferenceable.len(), 4, "each says something that none before it says");
}

#[test]
fn both_owners_at_once() {
    use OwningFrame::{Any, LocalOf, Outlives};
    assert_eq!(Any.and(LocalOf(2)), Some(LocalOf(2)));
    assert_eq!(Outlives(3).and(Outlives(1)), Some(Outlives(1)));
    assert_eq!(LocalOf(2).and(LocalOf(2)), Some(LocalOf(2)));
    assert_eq!(LocalOf(2).and(Outlives(1)), None, "that cannot be said");
}

#[test]
fn heap_blocks_of_both_conditions() {
    let blocks = |ids: &[u32]| Some(ids.iter().map(|i| ObjId(*i)).collect::<BTreeSet<_>>());
    let mut one = Condition { blocks: blocks(&[1, 2]), ..Condition::default() };
    one.and(Condition::default());
    assert_eq!(one.blocks, blocks(&[1, 2]));
    one.and(Condition { blocks: blocks(&[2, 3]), ..Condition::default() });
    assert_eq!(one.blocks, blocks(&[2]));
}

#[test]
fn substitution_reaches_pointers_and_assumptions() {
    let (mut terms, mut locs) = (Terms::new(64), Locs::default());
    let p = locs.term(&mut terms, Loc::Reg { depth: 0, slot: 4 }, 64);
    let other = locs.term(&mut terms, Loc::Reg { depth: 0, slot: 5 }, 64);
    let zero = terms.constant(64, 0);
    let null = terms.eq(p, zero);
    let mut condition = Condition::default();
    condition.require_points_to(PointsTo::new(p, ObjId(1), Some(0)));
    condition.require_satisfiable(vec![null, Terms::TRUE]);
    assert!(condition.has(p) && condition.has(null));
    condition.substitute(&mut terms, &locs, &[(p, other)].into_iter().collect());
    assert_eq!(condition.points_to[0].ptr, other);
    let null = terms.eq(other, zero);
    assert_eq!(condition.satisfiable, [vec![null]]);
    assert!(!condition.has(p));
}

#[test]
fn a_sum_takes_values_and_ends_as_a_truth() {
    let (mut terms, mut locs) = (Terms::new(64), Locs::default());
    let (x, y) = (register(&mut terms, &mut locs, 0), cell(&mut terms, &mut locs, 8));
    // 3·x + y ∈ 10…12
    let sum = Sum::new(&terms, &locs, 32, &[(x, 3), (y, 1)], Arc { first: 10, more: 2 }).unwrap();
    assert!(sum.mentions_memory() && sum.mentions(Loc::Reg { depth: 0, slot: 0 }));
    let mut condition = Condition::default();
    condition.require_sum(sum.clone());
    // x := 2, so y ∈ 4…6
    let two = terms.constant(32, 2);
    condition.substitute(&mut terms, &locs, &[(x, two)].into_iter().collect());
    assert_eq!((condition.sums[0].parts.len(), condition.sums[0].arc), (1, Arc { first: 4, more: 2 }));
    for (value, holds) in [(4, true), (6, true), (7, false)] {
        let mut ends = condition.clone();
        let value = terms.constant(32, value);
        ends.substitute(&mut terms, &locs, &[(y, value)].into_iter().collect());
        assert_eq!((ends.is_true(), ends.literals == [Terms::FALSE]), (holds, !holds));
    }
}

#[test]
fn two_sums_of_the_same_locations_meet() {
    let (mut terms, mut locs) = (Terms::new(64), Locs::default());
    let x = register(&mut terms, &mut locs, 0);
    let sum = |first, more| Sum::new(&terms, &locs, 32, &[(x, 1)], Arc { first, more }).unwrap();
    let mut condition = Condition::default();
    condition.require_sum(sum(0, 9));
    condition.require_sum(sum(5, 20));
    assert_eq!(condition.sums.iter().map(|s| s.arc).collect::<Vec<_>>(), [Arc { first: 5, more: 4 }]);
    condition.require_sum(sum(100, 1));
    assert_eq!(condition.literals, [Terms::FALSE], "nothing is in both");
}

#[test]
fn a_sum_is_of_locations_only() {
    let (mut terms, locs) = (Terms::new(64), Locs::default());
    let symbol = terms.symbols.intern(SymbolOrigin::Any(0), SymbolKind::Bits(32), || "input".into());
    let input = terms.var(symbol);
    assert_eq!(Sum::new(&terms, &locs, 32, &[(input, 1)], Arc { first: 0, more: 0 }), None);
}
