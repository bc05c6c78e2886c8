use super::{blocks, graph};
use crate::cfg::Cfg;
use crate::dominators::Dominators;
use crate::loops::{Loop, LoopId, Loops};
use crate::{BlockId, Program};

fn loops(edges: &[&[u32]]) -> Loops {
    let p: Program = graph(edges);
    let cfg = Cfg::new(&p.functions[0]);
    Loops::new(&cfg, &Dominators::new(&cfg))
}

fn body(l: &Loop) -> Vec<usize> {
    l.body.iter().collect()
}

#[test]
fn a_while_loop() {
    let l = loops(&[&[1], &[2, 3], &[1], &[]]);
    assert_eq!(l.len(), 1);
    let inner = l.get(LoopId(0));
    assert_eq!((inner.header, inner.latches.clone()), (BlockId(1), blocks(&[2])));
    assert_eq!(body(inner), [1, 2]);
    assert_eq!(inner.exits, [(BlockId(1), BlockId(3))]);
    assert_eq!([0, 1, 2, 3].map(|b| l.depth(BlockId(b))), [0, 1, 1, 0]);
    assert_eq!(l.headed_by(BlockId(1)), Some(LoopId(0)));
    assert_eq!(l.headed_by(BlockId(2)), None);
}

#[test]
fn a_block_that_loops_on_itself() {
    let l = loops(&[&[0, 1], &[]]);
    assert_eq!(body(l.get(LoopId(0))), [0]);
    assert_eq!(l.get(LoopId(0)).exits, [(BlockId(0), BlockId(1))]);
}

#[test]
fn nested_loops() {
    // 1 is the outer header, 2 the inner one
    let l = loops(&[&[1], &[2, 5], &[3, 4], &[2], &[1], &[]]);
    assert_eq!(l.len(), 2);
    let (outer, inner) = (l.get(LoopId(0)), l.get(LoopId(1)));
    assert_eq!((outer.header, inner.header), (BlockId(1), BlockId(2)));
    assert_eq!(body(outer), [1, 2, 3, 4]);
    assert_eq!(body(inner), [2, 3]);
    assert_eq!((outer.parent, inner.parent), (None, Some(LoopId(0))));
    assert_eq!(outer.children, [LoopId(1)]);
    assert_eq!((outer.depth, inner.depth), (1, 2));
    assert_eq!(inner.exits, [(BlockId(2), BlockId(4))]);
    assert_eq!(l.innermost(BlockId(4)), Some(LoopId(0)));
    assert_eq!(l.cut_points(), blocks(&[1, 2]));
}

#[test]
fn two_back_edges_make_one_loop() {
    let l = loops(&[&[1], &[2, 3], &[1], &[1, 4], &[]]);
    assert_eq!(l.len(), 1);
    let only = l.get(LoopId(0));
    assert_eq!(only.latches, blocks(&[2, 3]));
    assert_eq!(body(only), [1, 2, 3]);
    assert_eq!(only.exits, [(BlockId(3), BlockId(4))]);
}

#[test]
fn a_cycle_with_two_entries_is_marked() {
    let l = loops(&[&[1, 2], &[2], &[1, 3], &[]]);
    assert!(l.is_empty());
    assert_eq!(l.irreducible().len(), 1);
    let (from, to) = l.irreducible()[0];
    assert!([(1, 2), (2, 1)].contains(&(from.0, to.0)));
    assert_eq!(l.cut_points(), [to]);
}

#[test]
fn an_irreducible_cycle_inside_a_loop() {
    let l = loops(&[&[1], &[2, 3], &[3], &[2, 4], &[1, 5], &[]]);
    assert_eq!(l.len(), 1);
    assert_eq!(body(l.get(LoopId(0))), [1, 2, 3, 4]);
    assert_eq!(l.irreducible().len(), 1);
}

#[test]
fn unreachable_blocks_are_in_no_loop() {
    let l = loops(&[&[1], &[1, 3], &[1], &[], &[4]]);
    assert_eq!(l.len(), 1);
    assert_eq!(body(l.get(LoopId(0))), [1]);
    assert_eq!(l.get(LoopId(0)).latches, blocks(&[1]));
}
