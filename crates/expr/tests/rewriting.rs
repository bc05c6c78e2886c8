//! The rewriting builder against the evaluator: a random term built with and without rewriting has one value.

use pleach_expr::symbol::SymbolKind;
use pleach_expr::{BaseId, Key, Limbs, Model, Op, TermId, Terms};
use proptest::prelude::*;

const WIDTHS: [u16; 9] = [1, 7, 8, 16, 32, 33, 64, 65, 128];

/// A term twice: as the operators say, and as the builder makes it.
#[derive(Clone, Copy)]
struct Pair {
    raw: TermId,
    built: TermId,
}

struct Pool {
    terms: Terms,
    pairs: Vec<Pair>,
    arrays: Vec<Pair>,
}

type Step = (u8, u16, u16, u16);

impl Pool {
    fn new() -> Pool {
        let mut terms = Terms::new(64);
        let symbol = terms.symbols.named("a", SymbolKind::Array { element: 8, len: 16 });
        let a = terms.array_var(symbol);
        let t = terms.array_const(8, &[3, 1, 4, 1, 5, 9, 2, 6]);
        let z = terms.array_const(8, &[7; 16]);
        let arrays = [a, t, z].map(|x| Pair { raw: x, built: x }).to_vec();
        Pool { terms, pairs: Vec::new(), arrays }
    }

    /// A term of `width` bits: an earlier one, or a new leaf.
    fn pick(&mut self, width: u16, choice: u16) -> Pair {
        let fitting: Vec<Pair> = self.pairs.iter().copied().filter(|p| self.terms.width(p.raw) == width).collect();
        let n = fitting.len() + 3;
        let i = usize::from(choice) % n;
        if i < fitting.len() {
            return fitting[fitting.len() - 1 - i];
        }
        let leaf = match i - fitting.len() {
            0 => {
                let value = match choice % 7 {
                    0 => 0,
                    1 => 1,
                    2 => u64::MAX,
                    3 => 1 << (choice % 64),
                    4 => (1 << (choice % 64)) - 1,
                    5 => u64::from(choice) % 16,
                    _ => u64::from(choice).wrapping_mul(0x9e37_79b9_7f4a_7c15),
                };
                let high = if choice % 7 == 2 { u64::MAX } else { value.rotate_left(u32::from(choice) % 3) };
                self.terms.wide_constant(width, &[value, if choice & 8 == 0 { 0 } else { high }])
            }
            i => {
                let symbol = self.terms.symbols.named(["x", "y"][i - 1], SymbolKind::Bits(width));
                self.terms.var(symbol)
            }
        };
        Pair { raw: leaf, built: leaf }
    }

    fn operator(&mut self, op: Op, width: u16, args: &[Pair], immediate: u32) -> Pair {
        let raw: Vec<TermId> = args.iter().map(|p| p.raw).collect();
        let built: Vec<TermId> = args.iter().map(|p| p.built).collect();
        let raw = self.terms.raw(op, width, &raw, immediate);
        let mut node = self.terms.node(raw);
        node.b = immediate;
        let built = self.terms.rebuild(node, &built);
        Pair { raw, built }
    }

    fn step(&mut self, (what, a, b, c): Step) {
        let width = WIDTHS[usize::from(a) % WIDTHS.len()];
        let pair = match what % 36 {
            k @ 0..=1 => {
                let x = self.pick(width, b);
                self.operator([Op::Not, Op::Neg][usize::from(k)], width, &[x], 0)
            }
            k @ 2..=17 => {
                const OPS: [Op; 16] = [
                    Op::And,
                    Op::Or,
                    Op::Xor,
                    Op::Add,
                    Op::Sub,
                    Op::Mul,
                    Op::UDiv,
                    Op::SDiv,
                    Op::URem,
                    Op::SRem,
                    Op::Shl,
                    Op::LShr,
                    Op::AShr,
                    Op::Add,
                    Op::Sub,
                    Op::And,
                ];
                let (x, y) = (self.pick(width, b), self.pick(width, c));
                self.operator(OPS[usize::from(k) - 2], width, &[x, y], 0)
            }
            k @ 18..=24 => {
                const OPS: [Op; 7] = [Op::Eq, Op::Ult, Op::Ule, Op::Slt, Op::Sle, Op::Eq, Op::Eq];
                let (x, y) = (self.pick(width, b), self.pick(width, c));
                self.operator(OPS[usize::from(k) - 18], 1, &[x, y], 0)
            }
            25..=26 => {
                // only some sums of widths are in the list; the others are reached by extracts and extensions
                let low = WIDTHS[usize::from(c) % WIDTHS.len()];
                let (x, y) = (self.pick(width, b), self.pick(low, c));
                self.operator(Op::Concat, width + low, &[x, y], 0)
            }
            27..=29 => {
                let n = self.pairs.len().max(1);
                let x = match self.pairs.get(usize::from(b) % n) {
                    Some(&p) => p,
                    None => self.pick(width, b),
                };
                let from = self.terms.width(x.raw);
                if from <= width {
                    return;
                }
                let lo = c % (from - width + 1);
                self.operator(Op::Extract, width, &[x], u32::from(lo))
            }
            k @ 30..=31 => {
                let from = WIDTHS[usize::from(c) % WIDTHS.len()];
                if from >= width {
                    return;
                }
                let x = self.pick(from, b);
                self.operator(if k == 30 { Op::ZExt } else { Op::SExt }, width, &[x], 0)
            }
            32..=33 => {
                let (x, y, z) = (self.pick(1, b ^ c), self.pick(width, b), self.pick(width, c));
                self.operator(Op::Ite, width, &[x, y, z], 0)
            }
            34 => {
                let array = self.arrays[usize::from(b) % self.arrays.len()];
                let index = self.pick(32, c);
                self.operator(Op::Read, 8, &[array, index], 0)
            }
            _ => {
                let array = self.arrays[usize::from(b) % self.arrays.len()];
                let (index, value) = (self.pick(32, c), self.pick(8, b ^ c));
                let stored = self.operator(Op::Store, 8, &[array, index, value], 0);
                self.arrays.push(stored);
                return;
            }
        };
        self.pairs.push(pair);
    }

    fn model(&mut self, seed: u64) -> Model {
        let mut model = Model::new();
        let mut state = seed | 1;
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            match state % 5 {
                0 => 0,
                1 => u64::MAX,
                2 => state >> 40 & 0xf,
                _ => state,
            }
        };
        for i in 0..self.terms.symbols.len() {
            let id = pleach_expr::SymbolId(i as u32);
            let cells = match self.terms.symbols.kind(id) {
                SymbolKind::Bits(w) => u32::from(w).div_ceil(64),
                SymbolKind::Array { len, .. } => len,
            };
            for cell in 0..cells {
                model.set(Key::new(id, cell), next());
            }
        }
        model
    }
}

fn compare(terms: &Terms, pair: Pair, model: &Model) -> Result<(), TestCaseError> {
    let value = |t: TermId| -> Option<Limbs> { terms.try_eval_wide(t, model) };
    let (raw, built) = (value(pair.raw), value(pair.built));
    prop_assert_eq!(raw, built, "{}\n  became {}", terms.show(pair.raw), terms.show(pair.built));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6000, ..ProptestConfig::default() })]

    #[test]
    fn rewriting_keeps_the_value(steps in proptest::collection::vec(any::<Step>(), 1..24), seeds in any::<[u64; 4]>()) {
        let mut pool = Pool::new();
        for s in steps {
            pool.step(s);
        }
        let models: Vec<Model> = seeds.iter().map(|s| pool.model(*s)).collect();
        for &pair in &pool.pairs {
            prop_assert_eq!(pool.terms.width(pair.raw), pool.terms.width(pair.built));
            for m in &models {
                compare(&pool.terms, pair, m)?;
            }
        }
    }

    /// What the builder made is final: its operators on its arguments give the same terms again.
    #[test]
    fn building_again_changes_nothing(steps in proptest::collection::vec(any::<Step>(), 1..24)) {
        let mut pool = Pool::new();
        for s in steps {
            pool.step(s);
        }
        let roots: Vec<TermId> = pool.pairs.iter().map(|p| p.built).collect();
        for t in pool.terms.reachable(&roots) {
            let args = pool.terms.args(t);
            let again = pool.terms.rebuild(pool.terms.node(t), &args);
            prop_assert_eq!(again, t, "{}\n  became {}", pool.terms.show(t), pool.terms.show(again));
        }
    }

    /// Pointers: sums and differences of bases and offsets, then compared, with addresses substituted.
    #[test]
    fn rewriting_pointers_keeps_the_value(steps in proptest::collection::vec(any::<(u8, u8, u8)>(), 1..16), seed in any::<u64>()) {
        let mut pool = Pool::new();
        for base in 0..3 {
            let t = pool.terms.base(BaseId(base));
            pool.pairs.push(Pair { raw: t, built: t });
        }
        for name in ["i", "j"] {
            let symbol = pool.terms.symbols.named(name, SymbolKind::Bits(64));
            let t = pool.terms.var(symbol);
            pool.pairs.push(Pair { raw: t, built: t });
        }
        for k in [4u64, u64::MAX] {
            let t = pool.terms.constant(64, k);
            pool.pairs.push(Pair { raw: t, built: t });
        }
        let mut conditions = vec![Pair { raw: Terms::TRUE, built: Terms::TRUE }];
        for (what, a, b) in steps {
            let n = pool.pairs.len();
            let (x, y) = (pool.pairs[usize::from(a) % n], pool.pairs[usize::from(b) % n]);
            let p = match what % 6 {
                0 | 1 => pool.operator(Op::Add, 64, &[x, y], 0),
                2 => pool.operator(Op::Sub, 64, &[x, y], 0),
                3 => {
                    let c = conditions[usize::from(a ^ b) % conditions.len()];
                    pool.operator(Op::Ite, 64, &[c, x, y], 0)
                }
                k => {
                    let p = pool.operator(if k == 4 { Op::Eq } else { Op::Ult }, 1, &[x, y], 0);
                    conditions.push(p);
                    continue;
                }
            };
            pool.pairs.push(p);
        }
        let model = pool.model(seed);
        let (first, last) = pleach_expr::base_range(64);
        let address = |b: BaseId| (first + seed.wrapping_mul(u64::from(b.0) + 1) % (last - first)) & !0xf;
        for p in pool.pairs.iter().chain(&conditions) {
            let raw = pool.terms.eval_with_bases(p.raw, &model, &address);
            let built = pool.terms.eval_with_bases(p.built, &model, &address);
            prop_assert_eq!(raw, built, "{}\n  became {}", pool.terms.show(p.raw), pool.terms.show(p.built));
        }
    }
}
