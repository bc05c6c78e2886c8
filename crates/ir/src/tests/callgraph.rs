use super::program;
use crate::callgraph::CallGraph;
use crate::{FuncId, InstId, Program};

const CALLS: &str = "
global $table size 8 align 8 = bytes \"0000000000000000\" { 0: @twice }
func @main() -> (i32) {
  slot %0 i32 slot %1 ptr
b0:
  %0 = call @even(i32 i32 4)
  %1 = load ptr $table
  %0 = icall %1(i32 %0)
  icall %1(double i64 0)
  return (i32 %0)
}
func @even(%0 i32) -> (i32) { slot %0 i32 b0: %0 = call @odd(i32 %0) return (i32 %0) }
func @odd(%0 i32) -> (i32) { slot %0 i32 b0: %0 = call @even(i32 %0) return (i32 %0) }
func @twice(%0 i32) -> (i32) { slot %0 i32 b0: return (i32 %0) }
func @none(%0 i32) -> () { slot %0 i32 slot %1 ptr b0: %1 = mov @none jump b1 b1: return () }
func @self() -> () { b0: call @self() call @printf(ptr @printf, i32 i32 1) return () }
func @printf(%0 ptr) -> (i32) variadic { }
func @leaf(%0 i32) -> (i32) { slot %0 i32 b0: return (i32 %0) }
";

fn ids(p: &Program, names: &[&str]) -> Vec<FuncId> {
    names.iter().map(|n| p.function_named(n).unwrap()).collect()
}

#[test]
fn calls_by_name_and_through_pointers() {
    let p = program(CALLS);
    let g = CallGraph::new(&p);
    let f = |n: &str| p.function_named(n).unwrap();
    assert_eq!(g.direct(f("main")), ids(&p, &["even"]));
    assert_eq!(g.address_taken(), ids(&p, &["twice", "none", "printf"]));
    // `none` gives no result, `leaf` is never a value
    assert_eq!(g.candidates(f("main"), InstId(2)), ids(&p, &["twice"]));
    assert_eq!(g.candidates(f("main"), InstId(3)), []);
    assert_eq!(g.indirect(f("main")).len(), 2);
    assert_eq!(g.callees(f("main")), ids(&p, &["even", "twice"]));
    assert_eq!(g.callers(f("odd")), ids(&p, &["even"]));
}

#[test]
fn recursion() {
    let p = program(CALLS);
    let g = CallGraph::new(&p);
    let f = |n: &str| p.function_named(n).unwrap();
    assert_eq!(
        ["main", "even", "odd", "twice", "self"].map(|n| g.is_recursive(f(n))),
        [false, true, true, false, true]
    );
    assert_eq!(g.component(f("even")), g.component(f("odd")));
    assert!(g.component(f("even")) < g.component(f("main")), "callees come first");
    assert_eq!(g.components().iter().map(Vec::len).sum::<usize>(), p.functions.len());
    assert_eq!(g.reachable([f("main")]), ids(&p, &["main", "even", "odd", "twice"]));
}
