use super::{blocks, graph};
use crate::cfg::{Cfg, block_of};
use crate::dominators::{Dominators, PostDominators};
use crate::{BlockId, Function, InstId, Program};

fn cfg(p: &Program) -> Cfg {
    Cfg::new(&p.functions[0])
}

#[test]
fn neighbours_are_listed_once() {
    let p = graph(&[&[1, 2, 1, 2], &[2], &[]]);
    let c = cfg(&p);
    assert_eq!(c.succs(BlockId(0)), blocks(&[1, 2]));
    assert_eq!(c.preds(BlockId(2)), blocks(&[0, 1]));
    assert_eq!(c.reverse_post_order(), blocks(&[0, 1, 2]));
}

#[test]
fn unreachable_blocks_are_outside() {
    let p = graph(&[&[2], &[2], &[]]);
    let c = cfg(&p);
    assert!(!c.is_reachable(BlockId(1)));
    assert_eq!(c.position(BlockId(1)), None);
    assert_eq!(c.position(BlockId(2)), Some(1));
    let d = Dominators::new(&c);
    assert_eq!(d.immediate(BlockId(2)), Some(BlockId(0)));
    assert_eq!(d.immediate(BlockId(1)), None);
    assert!(!d.dominates(BlockId(1), BlockId(2)) && !d.dominates(BlockId(0), BlockId(1)));
}

#[test]
fn a_declaration_has_an_empty_graph() {
    let c = Cfg::new(&Function::default());
    assert!(c.is_empty() && c.reverse_post_order().is_empty());
    Dominators::new(&c);
    PostDominators::new(&c);
}

#[test]
fn dominators_of_a_diamond() {
    let p = graph(&[&[1, 2], &[3], &[3], &[]]);
    let (c, b) = (cfg(&p), BlockId);
    let (d, pd) = (Dominators::new(&c), PostDominators::new(&c));
    assert_eq!([1, 2, 3].map(|i| d.immediate(b(i))), [Some(b(0)); 3]);
    assert_eq!(d.immediate(b(0)), None);
    assert!(d.dominates(b(0), b(3)) && d.dominates(b(3), b(3)) && !d.dominates(b(1), b(3)));
    assert_eq!([0, 1, 2].map(|i| pd.immediate(b(i))), [Some(b(3)); 3]);
    assert_eq!(pd.immediate(b(3)), None);
    assert!(pd.post_dominates(b(3), b(0)) && !pd.post_dominates(b(1), b(0)));
}

/// Dominance by its definition: `a` dominates `b` when the entry does not reach `b` without `a`.
fn dominates_by_definition(c: &Cfg, a: BlockId, b: BlockId) -> bool {
    let mut seen = vec![false; c.len()];
    let mut work = vec![BlockId(0)];
    while let Some(x) = work.pop() {
        if x != a && !std::mem::replace(&mut seen[x.index()], true) {
            work.extend(c.succs(x));
        }
    }
    !seen[b.index()]
}

#[test]
fn dominators_agree_with_their_definition() {
    // A fixed linear congruential sequence: the graphs are the same on every run.
    let mut seed = 12345u64;
    let mut next = |n: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        ((seed >> 33) % n) as u32
    };
    for _ in 0..60 {
        let n = 2 + u64::from(next(9));
        let edges: Vec<Vec<u32>> = (0..n).map(|_| (0..next(4)).map(|_| next(n)).collect()).collect();
        let p = graph(&edges.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let c = cfg(&p);
        let d = Dominators::new(&c);
        for &a in c.reverse_post_order() {
            for &b in c.reverse_post_order() {
                assert_eq!(d.dominates(a, b), dominates_by_definition(&c, a, b), "{a:?} {b:?} in {edges:?}");
            }
        }
    }
}

#[test]
fn post_dominators_skip_endless_loops() {
    let p = graph(&[&[1, 2], &[1], &[]]);
    let pd = PostDominators::new(&cfg(&p));
    assert_eq!(pd.immediate(BlockId(1)), None);
    assert_eq!(pd.immediate(BlockId(0)), Some(BlockId(2)));
    assert!(!pd.post_dominates(BlockId(2), BlockId(1)));
}

#[test]
fn instructions_know_their_block() {
    let p = graph(&[&[1], &[]]);
    let f = &p.functions[0];
    assert_eq!(block_of(f, InstId(0)), Some(BlockId(0)));
    assert_eq!(block_of(f, InstId(1)), Some(BlockId(1)));
    assert_eq!(block_of(f, InstId(2)), None);
}
