use super::program;
use crate::callgraph::CallGraph;
use crate::distance::{Distances, UNREACHABLE};
use crate::{BlockId, FuncId, InstId, Program};

const CODE: &str = "
func @main(%0 i1) -> () {
  slot %0 i1
b0:
  call @work(i1 %0)
  branch %0, b1, b2
b1:
  call @stop()
  jump b2
b2:
  return ()
}
func @work(%0 i1) -> () {
  slot %0 i1
b0:
  branch %0, b1, b2
b1:
  call @work(i1 %0)
  jump b2
b2:
  return ()
}
func @stop() -> () noreturn { }
func @spin() -> () { b0: jump b0 }
";
const MAIN: FuncId = FuncId(0);
const WORK: FuncId = FuncId(1);

fn distances(p: &Program) -> Distances {
    Distances::new(p, &CallGraph::new(p))
}

#[test]
fn ways_to_the_return() {
    let p = program(CODE);
    let d = distances(&p);
    assert_eq!([0, 1, 2].map(|b| d.to_return(WORK, BlockId(b))), [2, 5, 1]);
    assert_eq!(d.through(WORK), 2);
    // the call costs 1 + 2, the branch and the return one each
    assert_eq!(d.to_return(MAIN, BlockId(0)), 5);
    assert_eq!(d.to_return(MAIN, BlockId(1)), UNREACHABLE);
    assert_eq!(d.to_return_at(MAIN, InstId(1)), 2);
    assert_eq!(d.through(FuncId(2)), UNREACHABLE);
    assert_eq!(d.through(FuncId(3)), UNREACHABLE);
    assert_eq!(d.to_return_at(MAIN, InstId(99)), UNREACHABLE);
}

#[test]
fn ways_to_uncovered_code() {
    let p = program(CODE);
    let d = distances(&p);
    let u = d.to_uncovered(|f, b| !(f == WORK && b == BlockId(1)));
    assert_eq!(u.from_block(&d, WORK, BlockId(1)), 0);
    assert_eq!(u.from_block(&d, WORK, BlockId(0)), 1);
    assert_eq!(u.from_block(&d, WORK, BlockId(2)), UNREACHABLE);
    assert_eq!(u.from_block(&d, MAIN, BlockId(0)), 2);
    // past the call there is no way back
    assert_eq!(u.from_inst(&d, MAIN, InstId(1)), UNREACHABLE);
    // within the uncovered block only what comes next counts: its recursive call
    assert_eq!(u.from_inst(&d, WORK, InstId(1)), 2);
    assert!(!u.is_exhausted());
}

#[test]
fn uncovered_code_beyond_the_return() {
    let p = program(CODE);
    let d = distances(&p);
    let u = d.to_uncovered(|f, b| !(f == MAIN && b == BlockId(2)));
    // from the start of `work`: two instructions to its return, then the branch of `main`
    assert_eq!(u.along_stack(&d, [(MAIN, InstId(1)), (WORK, InstId(0))]), 3);
    assert_eq!(u.along_stack(&d, [(WORK, InstId(0))]), UNREACHABLE);
}

#[test]
fn nothing_behind_a_call_that_does_not_return() {
    let p = program(CODE);
    let d = distances(&p);
    let u = d.to_uncovered(|f, b| !(f == MAIN && b == BlockId(2)));
    assert_eq!(u.from_block(&d, MAIN, BlockId(1)), UNREACHABLE);
    assert_eq!(u.from_block(&d, MAIN, BlockId(0)), 4);
}

#[test]
fn everything_covered() {
    let p = program(CODE);
    let d = distances(&p);
    let u = d.to_uncovered(|_, _| true);
    assert!(u.is_exhausted());
    assert_eq!(u.from_block(&d, MAIN, BlockId(0)), UNREACHABLE);
}
