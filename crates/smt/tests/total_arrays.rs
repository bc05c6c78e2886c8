//! Total arrays and their equality: both back ends and the evaluator agree.

use pleach_expr::{INDEX_BITS, SymbolKind, TermId, Terms};
use pleach_smt::{Answer, BackendKind, Query, Satisfiability, Session, SolverConfig, assemble};

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// Conditions over three arrays, four indices and three values.
fn conditions(terms: &mut Terms, random: &mut Random) -> Vec<TermId> {
    let array = |terms: &mut Terms, name: &str| {
        let s = terms.symbols.named(name, SymbolKind::total(8));
        terms.array_var(s)
    };
    let var = |terms: &mut Terms, name: &str, width| {
        let s = terms.symbols.named(name, SymbolKind::Bits(width));
        terms.var(s)
    };
    let arrays = [array(terms, "a"), array(terms, "b"), array(terms, "c")];
    let mut indices = vec![var(terms, "i", INDEX_BITS), var(terms, "j", INDEX_BITS)];
    indices.extend([terms.constant(INDEX_BITS, 0), terms.constant(INDEX_BITS, 0xffff_fff0)]);
    let values = [var(terms, "v", 8), terms.constant(8, 7), terms.constant(8, 0)];
    let mut out = Vec::new();
    for _ in 0..2 + random.below(5) {
        let pick = |random: &mut Random, n: usize| random.below(n as u64) as usize;
        let (a, b) = (arrays[pick(random, 3)], arrays[pick(random, 3)]);
        let (i, j) = (indices[pick(random, 4)], indices[pick(random, 4)]);
        let v = values[pick(random, 3)];
        out.push(match random.below(5) {
            0 => {
                let stored = terms.store(b, i, v);
                terms.array_eq(a, stored)
            }
            1 => terms.array_eq(a, b),
            2 => {
                let (x, y) = (terms.read(a, i), terms.read(b, j));
                terms.ne(x, y)
            }
            3 => {
                let x = terms.read(a, i);
                terms.eq(x, v)
            }
            _ => {
                let chosen = var(terms, "c0", 1);
                let (stored, same) = (terms.store(a, j, v), terms.array_eq(a, b));
                let either = terms.array_eq(stored, b);
                let other = terms.not(chosen);
                let (yes, no) = (terms.or(other, same), terms.or(chosen, either));
                terms.and(yes, no)
            }
        });
    }
    out.sort_unstable();
    out.dedup();
    out.retain(|t| *t != Terms::TRUE);
    out
}

#[test]
fn back_ends_sessions_and_the_evaluator_agree() {
    let (mut sat, mut unsat) = (0, 0);
    for seed in 0..400 {
        let mut terms = Terms::new(64);
        let all = conditions(&mut terms, &mut Random(seed));
        let mut verdicts = Vec::new();
        for kind in [BackendKind::Bitwuzla, BackendKind::Z3] {
            // Bitwuzla does not always have a model of arrays that are equal; then the other one answers.
            let config = SolverConfig { use_fallback: true, ..SolverConfig::bare(kind) };
            match assemble(config).check(&mut terms, &Query::new(&all)) {
                // A model is checked by evaluation before it is an answer.
                Answer::Sat(model) => {
                    assert!(all.iter().all(|&t| terms.try_eval(t, &model) == Some(1)), "seed {seed} {kind:?}");
                    verdicts.push("sat");
                }
                Answer::Unsat(_) => verdicts.push("unsat"),
                Answer::Unknown(why) => panic!("seed {seed} {kind:?}: {why}"),
            }
            let mut session = Session::open(kind, &SolverConfig::default()).unwrap();
            let (asserted, assumed) = all.split_at(all.len() / 2);
            asserted.iter().for_each(|&t| session.assert(&terms, t).unwrap());
            verdicts.push(match session.check(&terms, assumed) {
                Satisfiability::Sat => "sat",
                Satisfiability::Unsat => "unsat",
                Satisfiability::Unknown(why) => panic!("seed {seed} {kind:?}: {why}"),
            });
        }
        assert!(verdicts.windows(2).all(|w| w[0] == w[1]), "seed {seed}: {verdicts:?}");
        *(if verdicts[0] == "sat" { &mut sat } else { &mut unsat }) += 1;
    }
    assert!(sat > 50 && unsat > 20, "{sat} sat, {unsat} unsat");
}

#[test]
fn arrays_differ_only_where_they_were_written() {
    let mut terms = Terms::new(64);
    let s = terms.symbols.named("a", SymbolKind::total(8));
    let a = terms.array_var(s);
    let (i, v) = (terms.constant(INDEX_BITS, 5), terms.constant(8, 1));
    let b = terms.store(a, i, v);
    assert_eq!(terms.array_eq(a, a), Terms::TRUE);
    let same = terms.array_eq(a, b);
    let mut model = pleach_expr::Model::new();
    assert_eq!(terms.try_eval(same, &model), Some(0));
    model.set(pleach_expr::Key::new(s, 5), 1);
    assert_eq!(terms.try_eval(same, &model), Some(1));
}
