use super::program;
use crate::bitset::BitSet;
use crate::cfg::Cfg;
use crate::defs::{for_each_def, for_each_use};
use crate::liveness::Liveness;
use crate::{BlockId, InstId, Slot};

const SUM: &str = "
func @sum(%0 i32) -> (i32) {
  slot %0 i32 slot %1 i32 slot %2 i32 slot %3 i1 slot %4 i32 slot %5 i32
b0:
  jump b1 [%1 = i32 0, %2 = i32 0]
b1:
  %3 = cmp slt i32 %1, %0
  branch %3, b2, b3
b2:
  %4 = add nsw i32 %2, %1
  %5 = add nsw i32 %1, i32 1
  jump b1 [%1 = %5, %2 = %4]
b3:
  return (i32 %2)
}";

fn set(s: &BitSet) -> Vec<usize> {
    s.iter().collect()
}

#[test]
fn a_loop_keeps_what_it_carries() {
    let p = program(SUM);
    let f = &p.functions[0];
    let l = Liveness::new(f, &Cfg::new(f));
    assert_eq!(set(l.live_in(BlockId(0))), [0]);
    assert_eq!(set(l.live_in(BlockId(1))), [0, 1, 2]);
    assert_eq!(set(l.live_in(BlockId(2))), [0, 1, 2]);
    assert_eq!(set(l.live_in(BlockId(3))), [2]);
    assert_eq!(set(l.live_out(BlockId(2))), [0, 4, 5]);
}

#[test]
fn live_before_an_instruction() {
    let p = program(SUM);
    let f = &p.functions[0];
    let l = Liveness::new(f, &Cfg::new(f));
    // the second addition: the sum so far is in %4 already
    assert_eq!(set(&l.live_at(f, InstId(4))), [0, 1, 4]);
    assert_eq!(set(&l.live_at(f, InstId(5))), [0, 4, 5]);
    assert!(l.is_live_at(f, InstId(2), Slot(3)) && !l.is_live_at(f, InstId(1), Slot(3)));
    assert!(l.live_at(f, InstId(99)).is_empty());
}

#[test]
fn copies_run_one_after_the_other() {
    // %2 is read only after the first copy wrote it, so it is not live before the edge
    let p = program(
        "func @f(%0 i32) -> (i32) {
          slot %0 i32 slot %1 i32 slot %2 i32
        b0: jump b1 [%2 = %0, %1 = %2]
        b1: return (i32 %1)
        }",
    );
    let f = &p.functions[0];
    let l = Liveness::new(f, &Cfg::new(f));
    assert_eq!(set(l.live_in(BlockId(0))), [0]);
}

#[test]
fn edges_are_told_apart() {
    let p = program(
        "func @f(%0 i1, %1 i32, %2 i32) -> (i32) {
          slot %0 i1 slot %1 i32 slot %2 i32 slot %3 i32
        b0: branch %0, b1 [%3 = %1], b1 [%3 = i32 5]
        b1: %3 = add i32 %3, %3
            return (i32 %3)
        }",
    );
    let f = &p.functions[0];
    let l = Liveness::new(f, &Cfg::new(f));
    assert_eq!(set(&l.before_edge(f, f.edges[0])), [1]);
    assert!(l.before_edge(f, f.edges[1]).is_empty());
    assert_eq!(set(l.live_in(BlockId(0))), [0, 1]);
}

#[test]
fn visitors_see_the_copies() {
    let p = program(SUM);
    let f = &p.functions[0];
    let (mut uses, mut defs) = (Vec::new(), Vec::new());
    for_each_use(f, &f.insts[5], |s| uses.push(s.0));
    for_each_def(f, &f.insts[5], |s| defs.push(s.0));
    assert_eq!((uses, defs), (vec![5, 4], vec![1, 2]));
}

#[test]
fn sets_of_bits() {
    let mut s = BitSet::new(70);
    assert!(s.insert(0) && s.insert(69) && !s.insert(69) && !s.insert(70));
    assert_eq!((set(&s), s.len()), (vec![0, 69], 2));
    assert_eq!(BitSet::full(70).len(), 70);
    assert!(s.is_subset(&BitSet::full(70)) && !BitSet::full(70).is_subset(&s));
    s.subtract(&BitSet::full(70));
    assert!(s.is_empty());
}
