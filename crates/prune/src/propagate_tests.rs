//! A panic within a backward propagation leaves the machine its table of terms.

use super::*;
use crate::pruner::Checks;
use pleach_ir::{Program, Target};
use pleach_state::Leaks;
use pleach_state::seams::Effort;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

/// A machine that panics at every query.
struct Fragile(Terms);

impl Fragile {
    /// With a term that an empty table does not have.
    fn new() -> (Fragile, TermId) {
        let mut terms = Terms::new(64);
        let t = terms.constant(64, 4711);
        (Fragile(terms), t)
    }
}

impl PathOracle for Fragile {
    fn effort(&self) -> Effort {
        Effort::default()
    }
    fn terms(&mut self) -> &mut Terms {
        &mut self.0
    }
    fn program(&self) -> Rc<Program> {
        Rc::new(Program::new(Target { triple: String::new(), pointer_bytes: 8 }))
    }
    fn decided(&mut self, _: &State, _: TermId) -> Option<bool> {
        panic!("queried")
    }
    fn entails(&mut self, _: &State, _: TermId) -> bool {
        panic!("queried")
    }
    fn depends_on_layout(&mut self, _: &State, _: TermId) -> bool {
        panic!("queried")
    }
    fn is_satisfiable_with(&mut self, _: &State, _: TermId) -> bool {
        panic!("queried")
    }
    fn is_satisfiable(&mut self, _: TermId) -> bool {
        panic!("queried")
    }
    fn valid(&mut self, t: TermId) -> bool {
        assert_eq!(self.0.as_const(t), Some(4711), "the machine is queried with its own table");
        panic!("queried")
    }
    fn core(&mut self, _: &State, _: TermId, _: TermId) -> Option<Vec<TermId>> {
        panic!("queried")
    }
}

fn interpolation(logic: &Fragile) -> Interpolation {
    Interpolation::new(&logic.program(), Checks { overflow: false, leaks: Leaks::Ignored }, Method::Wp)
}

#[test]
fn a_panic_in_the_transformer() {
    let (mut logic, t) = Fragile::new();
    let mut interpolation_run = interpolation(&logic);
    let run = AssertUnwindSafe(|| {
        interpolation_run.with_transformer::<()>(&mut logic, Condition::default(), |_| panic!("a bug"))
    });
    assert!(catch_unwind(run).is_err());
    assert_eq!(logic.0.as_const(t), Some(4711));
}

#[test]
fn a_panic_of_the_machine() {
    let (mut logic, t) = Fragile::new();
    let mut spare = Terms::new(64);
    let queried = catch_unwind(AssertUnwindSafe(|| {
        let mut swapped = Swapped::new(&mut spare, &mut logic);
        let Swapped { other: terms, logic } = &mut swapped;
        OracleHook(&mut **logic).valid(terms, t)
    }));
    assert!(queried.is_err());
    assert_eq!(logic.0.as_const(t), Some(4711));
}

#[test]
fn a_propagation_that_ends() {
    let (mut logic, t) = Fragile::new();
    let mut interpolation_run = interpolation(&logic);
    assert!(interpolation_run.with_transformer(&mut logic, Condition::default(), |_| Ok(())).is_ok());
    assert_eq!(logic.0.as_const(t), Some(4711));
}
