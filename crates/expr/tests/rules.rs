//! Every rule of the builder has an instance in the catalogue; each instance does what it states and keeps the value.

use pleach_expr::simplify::catalogue::{catalogue, rules};
use pleach_expr::symbol::SymbolKind;
use pleach_expr::{BaseId, Key, Model, SymbolId, Terms};
use std::collections::BTreeSet;

const SOURCES: &[&str] = &[
    include_str!("../src/simplify/arith.rs"),
    include_str!("../src/simplify/array.rs"),
    include_str!("../src/simplify/bitwise.rs"),
    include_str!("../src/simplify/compare.rs"),
    include_str!("../src/simplify/concat.rs"),
    include_str!("../src/simplify/condition.rs"),
    include_str!("../src/simplify/div.rs"),
    include_str!("../src/simplify/equality.rs"),
    include_str!("../src/simplify/extend.rs"),
    include_str!("../src/simplify/extract.rs"),
    include_str!("../src/simplify/float.rs"),
    include_str!("../src/simplify/ite.rs"),
    include_str!("../src/simplify/mul.rs"),
    include_str!("../src/simplify/quantifier.rs"),
    include_str!("../src/simplify/shift.rs"),
];

fn named_in_sources() -> BTreeSet<&'static str> {
    let lines = SOURCES.iter().flat_map(|s| s.lines());
    lines
        .filter_map(|l| l.trim().trim_start_matches('/').trim().strip_prefix("rule "))
        .filter_map(|l| l.split_once(": ").map(|(name, _)| name))
        .collect()
}

#[test]
fn every_rule_has_an_instance_and_every_instance_a_rule() {
    let stated = named_in_sources();
    let listed: BTreeSet<&str> = rules().map(|r| r.name).collect();
    assert_eq!(stated.difference(&listed).collect::<Vec<_>>(), Vec::<&&str>::new(), "rules without an instance");
    assert_eq!(listed.difference(&stated).collect::<Vec<_>>(), Vec::<&&str>::new(), "instances without a rule");
    assert!(stated.len() > 200);
}

#[test]
fn every_instance_gives_what_it_states() {
    let mut terms = Terms::new(64);
    let all = catalogue(&mut terms).expect("the catalogue parses");
    let mut wrong = Vec::new();
    for i in &all {
        if i.lhs == i.rhs {
            wrong.push(format!("{} at {}: {} does not match", i.name, i.width, terms.show(i.lhs)));
        } else if i.rhs != i.stated {
            let (l, r, s) = (terms.show(i.lhs), terms.show(i.rhs), terms.show(i.stated));
            wrong.push(format!("{} at {}: {l}\n    gives  {r}\n    stated {s}", i.name, i.width));
        }
    }
    assert!(wrong.is_empty(), "{} instances:\n{}", wrong.len(), wrong.join("\n"));
}

/// Values at the edges and in between.
fn sample(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    match *state % 6 {
        0 => 0,
        1 => u64::MAX,
        2 => *state >> 60,
        3 => (*state >> 60).wrapping_neg(),
        4 => 1 << (*state >> 58),
        _ => *state,
    }
}

#[test]
fn every_instance_keeps_the_value() {
    let mut terms = Terms::new(64);
    let all = catalogue(&mut terms).expect("the catalogue parses");
    let mut state = 0x1234_5678_9abc_def1;
    for _ in 0..200 {
        let mut model = Model::new();
        for i in 0..terms.symbols.len() {
            let id = SymbolId(i as u32);
            let cells = match terms.symbols.kind(id) {
                SymbolKind::Bits(w) => u32::from(w).div_ceil(64),
                SymbolKind::Array { len, .. } => len,
            };
            for cell in 0..cells {
                model.set(Key::new(id, cell), sample(&mut state));
            }
        }
        let address = sample(&mut state);
        for i in &all {
            let array = terms.has(i.lhs, pleach_expr::facts::IS_ARRAY);
            let (l, r) = if array {
                // arrays are equal if they are at some index
                let index = terms.constant(32, sample(&mut state) % 16);
                let l = terms.raw(pleach_expr::Op::Read, 8, &[i.lhs, index], 0);
                (l, terms.read(i.rhs, index))
            } else {
                (i.lhs, i.rhs)
            };
            if terms.width(l) > 64 {
                let (x, y) = (terms.try_eval_wide(l, &model), terms.try_eval_wide(r, &model));
                assert_eq!(x, y, "{} at {}", i.name, i.width);
                continue;
            }
            let (first, last) = pleach_expr::base_range(64);
            let bases = |b: BaseId| first + address.wrapping_add(u64::from(b.0) * 64) % (last - first);
            let (x, y) = (terms.eval_with_bases(l, &model, &bases), terms.eval_with_bases(r, &model, &bases));
            assert_eq!(x, y, "{} at {}", i.name, i.width);
            assert!(x.is_some());
        }
    }
}
