//! The least solution, by repeating every inclusion until nothing changes.

use super::inclusions::{Inclusions, Node};
use std::collections::BTreeSet;

enum Constraint {
    Add(Node, u32),
    Include(Node, Node),
    Load(Node, Node),
    Store(Node, Node),
}
use Constraint::*;

fn repeat(variables: usize, contents: Node, all: &[Constraint]) -> Vec<BTreeSet<u32>> {
    let mut sets = vec![BTreeSet::new(); variables];
    loop {
        let before: usize = sets.iter().map(BTreeSet::len).sum();
        let include = |from: Node, to: Node, sets: &mut Vec<BTreeSet<u32>>| {
            let more = sets[from as usize].clone();
            sets[to as usize].extend(more);
        };
        for c in all {
            match *c {
                Add(n, o) => drop(sets[n as usize].insert(o)),
                Include(from, to) => include(from, to, &mut sets),
                Load(p, to) => sets[p as usize].clone().iter().for_each(|o| include(contents + o, to, &mut sets)),
                Store(p, from) => sets[p as usize].clone().iter().for_each(|o| include(from, contents + o, &mut sets)),
            }
        }
        if before == sets.iter().map(BTreeSet::len).sum() {
            return sets;
        }
    }
}

fn enter(i: &mut Inclusions, c: &Constraint) {
    match *c {
        Add(n, o) => i.add(n, o),
        Include(from, to) => i.include(from, to),
        Load(p, to) => i.load(p, to),
        Store(p, from) => i.store(p, from),
    }
}

#[test]
fn random_graphs_have_their_least_solution() {
    let mut joined = 0;
    for seed in 1..200u64 {
        let mut x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut below = |n: u32| {
            x = x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (x >> 33) as u32 % n
        };
        // Object numbers beyond one block of a set.
        let (contents, objects) = (4 + below(20), 1 + below(90));
        let variables = contents + objects;
        let all: Vec<Constraint> = (0..below(3 * variables))
            .map(|_| match below(8) {
                0..2 => Add(below(variables), below(objects)),
                2..6 => Include(below(variables), below(variables)),
                6 => Load(below(contents), below(variables)),
                _ => Store(below(contents), below(variables)),
            })
            .collect();
        // Some come after the others have been solved, as those of calls through pointers do.
        let late = all.len() - below(1 + all.len() as u32 / 3) as usize;
        let mut i = Inclusions::new(variables as usize, contents);
        let watched = below(variables);
        i.watch(watched);
        let mut told = BTreeSet::new();
        for part in [&all[..late], &all[late..]] {
            part.iter().for_each(|c| enter(&mut i, c));
            loop {
                let news = i.solve();
                if news.is_empty() {
                    break;
                }
                for (n, new) in news {
                    assert_eq!(n, watched);
                    new.into_iter().for_each(|o| assert!(told.insert(o), "seed {seed}: {o} is told twice"));
                }
            }
        }
        let expected = repeat(variables as usize, contents, &all);
        for n in 0..variables {
            let found: BTreeSet<u32> = i.points_to(n).iter().collect();
            assert_eq!(found, expected[n as usize], "seed {seed}, variable {n}");
        }
        assert_eq!(told, expected[watched as usize], "seed {seed}");
        joined += (0..variables).filter(|&n| i.root(n) != n).count();
    }
    assert!(joined > 1000, "{joined} variables were on cycles");
}
