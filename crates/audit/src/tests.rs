//! Ψ of a state: what is wrong is found, and what cannot be checked is not called right.

use crate::AuditError;
use crate::satisfaction::{describe, holds, is_open, register, target};
use pleach_exec::{ExecConfig, Machine};
use pleach_expr::TermId;
use pleach_memory::{ObjId, Value};
use pleach_state::seams::PathOracle;
use pleach_state::{SizeBound, State};
use pleach_wp::{Condition, Dangling, Dereferenceable, Loc, Locs, PointsTo, Rounds};
use std::collections::BTreeSet;
use std::rc::Rc;

const TEXT: &str = "target \"x86_64-pc-linux-gnu\" ptr 8\nglobal $g size 8 align 8 = zero\n\
    func @main() -> (i32) {\n  slot %0 i32\n  slot %1 ptr\nb0:\n  return (i32 i32 0)\n}\n";
const VALUE: Loc = Loc::Reg { depth: 0, slot: 0 };
const POINTER: Loc = Loc::Reg { depth: 0, slot: 1 };
/// the global
const OBJECT: ObjId = ObjId(0);

/// A state whose first register is 5 and whose second points to the third byte of the global.
fn start() -> (Machine, State, Locs) {
    let program = Rc::new(pleach_ir::text::parse(TEXT).expect("it is a program"));
    let solver = pleach_smt::assemble(pleach_smt::SolverConfig::default());
    let mut machine = Machine::new(program, solver, ExecConfig::default()).expect("it can be run");
    let mut state = machine.initial_states().expect("it has a state").remove(0);
    state.frame.regs[0] = Value::Int(5);
    state.frame.regs[1] = Value::ptr(OBJECT, 2);
    (machine, state, Locs::default())
}

fn is_wrong(machine: &mut Machine, locs: &Locs, state: &State, psi: &Condition) -> bool {
    match holds(machine, locs, state, psi) {
        Ok(()) => false,
        Err(AuditError::Wrong(_)) => true,
        Err(AuditError::Unchecked(why)) => panic!("not checked: {why}"),
    }
}

fn equals(machine: &mut Machine, locs: &mut Locs, loc: Loc, value: u64) -> TermId {
    let var = locs.term(machine.terms(), loc, 32);
    let value = machine.terms().constant(32, value);
    machine.terms().eq(var, value)
}

#[test]
fn a_literal_is_judged_by_the_states_values() {
    let (mut machine, state, mut locs) = start();
    assert_eq!(register(&state, 0, 0), Some(Value::Int(5)));
    assert_eq!(register(&state, 3, 0), None, "there is no such frame");
    for (value, wrong) in [(5, false), (6, true)] {
        let literal = equals(&mut machine, &mut locs, VALUE, value);
        let psi = Condition { literals: vec![literal], ..Condition::default() };
        assert_eq!(is_wrong(&mut machine, &locs, &state, &psi), wrong);
    }
    let literal = equals(&mut machine, &mut locs, Loc::Reg { depth: 3, slot: 0 }, 5);
    let psi = Condition { literals: vec![literal], ..Condition::default() };
    assert!(is_wrong(&mut machine, &locs, &state, &psi), "the state has no such location");
}

#[test]
fn a_pointer_points_where_it_should() {
    let (mut machine, state, mut locs) = start();
    let ptr = locs.term(machine.terms(), POINTER, 64);
    let right = PointsTo { bytes: 6, ..PointsTo::new(ptr, OBJECT, Some(2)) };
    let cases = [
        (right, false),
        (PointsTo { off: Some(3), bytes: 1, ..right }, true),
        (PointsTo { bytes: 7, ..right }, true),
        (PointsTo { obj: ObjId(1), ..right }, true),
        (PointsTo { size: Some(SizeBound::Exactly(9)), ..right }, true),
        (PointsTo { align: 4, ..right }, true),
    ];
    for (points_to, wrong) in cases {
        let psi = Condition { points_to: vec![points_to], ..Condition::default() };
        assert_eq!(is_wrong(&mut machine, &locs, &state, &psi), wrong, "{points_to:?}");
    }
}

#[test]
fn an_access_has_room_and_what_is_there_is_not_dangling() {
    let (mut machine, state, mut locs) = start();
    let ptr = locs.term(machine.terms(), POINTER, 64);
    for (bytes, wrong) in [(6, false), (7, true), (9, true)] {
        let access = Dereferenceable { bytes, ..Dereferenceable::new(ptr, OBJECT, Some(2)) };
        let psi = Condition { dereferenceable: vec![access], ..Condition::default() };
        assert_eq!(is_wrong(&mut machine, &locs, &state, &psi), wrong, "{bytes} bytes");
    }
    let dangling = Dangling { ptr, obj: OBJECT, freed: true, at: None };
    let psi = Condition { dangling: vec![dangling], ..Condition::default() };
    assert!(is_wrong(&mut machine, &locs, &state, &psi));
    let psi = Condition { blocks: Some(BTreeSet::new()), ..Condition::default() };
    assert!(!is_wrong(&mut machine, &locs, &state, &psi), "there is no heap block");
}

#[test]
fn a_state_with_more_rounds_left_does_not_satisfy_a_need_of_rounds() {
    let (mut machine, mut state, locs) = start();
    let header = pleach_ir::BlockId(0);
    state.frame.visits.insert(header, 2);
    for (depth, at_least, wrong) in [(0, 1, false), (0, 2, false), (0, 3, true), (1, 1, true)] {
        let psi = Condition { rounds: vec![Rounds { depth, header, at_least }], ..Condition::default() };
        assert_eq!(is_wrong(&mut machine, &locs, &state, &psi), wrong, "{at_least} at depth {depth}");
    }
}

#[test]
fn a_variable_of_no_location_leaves_a_literal_open() {
    let (mut machine, _, mut locs) = start();
    let closed = equals(&mut machine, &mut locs, VALUE, 1);
    let free = locs.fresh_variable(machine.terms(), 32);
    let one = machine.terms().constant(32, 1);
    let open = machine.terms().eq(free, one);
    for (literal, is) in [(closed, false), (open, true)] {
        let psi = Condition { literals: vec![literal], ..Condition::default() };
        assert_eq!(is_open(machine.terms(), &locs, &psi), is);
    }
    assert_eq!(describe(&mut machine, &Condition::default()), "true");
}

#[test]
fn the_target_of_a_pointer_is_one_object() {
    let (mut machine, ..) = start();
    let terms = machine.terms();
    let (a, b, four) = (terms.base(ObjId(0)), terms.base(ObjId(1)), terms.constant(64, 4));
    let inside = terms.add(a, four);
    assert_eq!(target(terms, inside), Some((ObjId(0), four)));
    let difference = terms.sub(a, b);
    assert_eq!(target(terms, difference), None);
    assert_eq!(target(terms, four), None);
}
