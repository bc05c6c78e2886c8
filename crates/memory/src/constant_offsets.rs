//! Offsets that are a choice between constants.
//!
//! *Idea*: a pointer that was read from a table of pointers into one block has the offset `ite(c, 368, 408)`, and a
//! condition that counts as a number (`length + (c == 0)`) is a choice between 1 and 0. The access means one of these
//! places; a value that is read is a choice of the same shape, and a write guards each of them. Neither needs a
//! comparison with an index or an array, and pointers stay whole. *Invariant*: under every assignment the offset is the
//! leaf that the conditions lead to. *Direction*: gives up (`None`) on anything else.

use pleach_expr::{Op, TermId, Terms, mask};

/// More leaves than this are left to other ways.
const MAX_OFFSETS: u32 = 2048;
/// At most this many leaves are visited for them: those of operands count as well.
const EFFORT: u32 = 2 * MAX_OFFSETS;

/// `ite`s over constants.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Offsets {
    One(u64),
    Either(TermId, Box<Offsets>, Box<Offsets>),
}

impl Offsets {
    /// `None` also for a constant: there is nothing to choose.
    pub fn of(terms: &Terms, off: TermId) -> Option<Offsets> {
        let mut left = EFFORT;
        let taken = take_apart(terms, off, &mut left)?;
        (matches!(taken, Offsets::Either(..)) && taken.count() <= MAX_OFFSETS).then_some(taken)
    }

    /// All leaves for which `wanted` holds, in order and once each.
    pub fn leaves(&self, wanted: &dyn Fn(u64) -> bool) -> Vec<u64> {
        fn go(o: &Offsets, wanted: &dyn Fn(u64) -> bool, out: &mut Vec<u64>) {
            match o {
                Offsets::One(k) if wanted(*k) => out.push(*k),
                Offsets::One(_) => {}
                Offsets::Either(_, a, b) => {
                    go(a, wanted, out);
                    go(b, wanted, out);
                }
            }
        }
        let mut all = Vec::new();
        go(self, wanted, &mut all);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// The same choice between what `leaf` gives for each constant. A leaf that cannot be (`None`) takes the value of
    /// its neighbour; `None` if all are such.
    pub fn choose(&self, terms: &mut Terms, leaf: &mut dyn FnMut(&mut Terms, u64) -> Option<TermId>) -> Option<TermId> {
        match self {
            Offsets::One(k) => leaf(terms, *k),
            Offsets::Either(c, a, b) => match (a.choose(terms, leaf), b.choose(terms, leaf)) {
                (Some(a), Some(b)) => Some(terms.ite(*c, a, b)),
                (a, b) => a.or(b),
            },
        }
    }

    /// When the offset is `k`.
    pub fn is(&self, terms: &mut Terms, k: u64) -> TermId {
        match self {
            Offsets::One(x) => terms.constant(1, u64::from(*x == k)),
            Offsets::Either(c, a, b) => {
                let (a, b) = (a.is(terms, k), b.is(terms, k));
                terms.ite(*c, a, b)
            }
        }
    }

    /// What an operation on two choices gives: a choice between all pairs of leaves.
    fn with(self, other: &Offsets, left: &mut u32, f: &dyn Fn(u64, u64) -> u64) -> Option<Offsets> {
        Some(match self {
            Offsets::One(k) => {
                *left = left.checked_sub(other.count())?;
                other.clone().map(&|v| f(k, v))
            }
            Offsets::Either(c, a, b) => {
                Offsets::Either(c, Box::new(a.with(other, left, f)?), Box::new(b.with(other, left, f)?))
            }
        })
    }

    fn count(&self) -> u32 {
        match self {
            Offsets::One(_) => 1,
            Offsets::Either(_, a, b) => a.count() + b.count(),
        }
    }

    fn map(self, f: &dyn Fn(u64) -> u64) -> Offsets {
        match self {
            Offsets::One(k) => Offsets::One(f(k)),
            Offsets::Either(c, a, b) => Offsets::Either(c, Box::new(a.map(f)), Box::new(b.map(f))),
        }
    }
}

fn take_apart(terms: &Terms, t: TermId, left: &mut u32) -> Option<Offsets> {
    let n = terms.node(t);
    if n.width > 64 {
        return None;
    }
    let all = mask(n.width);
    if n.op == Op::Const {
        *left = left.checked_sub(1)?;
        return Some(Offsets::One(n.value()));
    }
    if n.width == 1 {
        *left = left.checked_sub(2)?;
        return Some(Offsets::Either(t, Box::new(Offsets::One(1)), Box::new(Offsets::One(0))));
    }
    let (a, b) = (n.arg_a(), n.arg_b());
    match n.op {
        Op::Ite => {
            let x = take_apart(terms, b, left)?;
            let y = take_apart(terms, n.arg_c(), left)?;
            Some(Offsets::Either(a, Box::new(x), Box::new(y)))
        }
        Op::Add | Op::Sub | Op::Mul | Op::And | Op::Or | Op::Xor => {
            let x = take_apart(terms, a, left)?;
            let y = take_apart(terms, b, left)?;
            x.with(&y, left, &|v, w| match n.op {
                Op::Add => v.wrapping_add(w) & all,
                Op::Sub => v.wrapping_sub(w) & all,
                Op::Mul => v.wrapping_mul(w) & all,
                Op::And => v & w,
                Op::Or => v | w,
                _ => v ^ w,
            })
        }
        Op::Shl => {
            let by = terms.as_const(b).filter(|by| *by < u64::from(n.width))?;
            Some(take_apart(terms, a, left)?.map(&|v| v << by & all))
        }
        Op::Concat => {
            let (low, shift) = (terms.as_const(b)?, terms.width(b));
            Some(take_apart(terms, a, left)?.map(&|v| v << shift | low))
        }
        Op::ZExt => take_apart(terms, a, left),
        Op::SExt => {
            let w = terms.width(a);
            let sign = 1u64 << (w - 1);
            Some(take_apart(terms, a, left)?.map(&|v| (v ^ sign).wrapping_sub(sign) & all))
        }
        Op::Extract => {
            let from = n.b;
            Some(take_apart(terms, a, left)?.map(&|v| v >> from & all))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::{Model, SymbolKind};

    fn var(terms: &mut Terms, name: &str, width: u16) -> TermId {
        let s = terms.symbols.named(name, SymbolKind::Bits(width));
        terms.var(s)
    }

    /// Random choices below random operations have the value that the leaf has.
    #[test]
    fn leaves_are_the_values() {
        let mut seed = 11u64;
        let mut random = move |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        let mut seen = 0;
        for _ in 0..500 {
            let mut terms = Terms::new(64);
            let x = var(&mut terms, "x", 8);
            let mut t = terms.constant(16, random(1 << 16));
            for _ in 0..6 {
                let (c, k) = (terms.constant(8, random(256)), terms.constant(16, random(1 << 16)));
                t = match random(11) {
                    0..3 => {
                        let below = terms.ult(x, c);
                        terms.ite(below, t, k)
                    }
                    3 => terms.add(t, k),
                    4 => terms.mul(t, k),
                    5 => {
                        let by = terms.constant(16, random(4));
                        terms.shl(t, by)
                    }
                    6 => {
                        let below = terms.ult(x, c);
                        let number = terms.zext(below, 16);
                        match random(3) {
                            0 => terms.add(t, number),
                            1 => terms.sub(number, t),
                            _ => terms.xor(t, number),
                        }
                    }
                    7 => {
                        let below = terms.ult(c, x);
                        let other = terms.ite(below, k, t);
                        terms.and(t, other)
                    }
                    8 => {
                        let part = terms.extract(t, 3, 9);
                        let wide = if random(2) == 0 { terms.sext(part, 12) } else { terms.zext(part, 12) };
                        let low = terms.constant(4, random(16));
                        terms.concat(wide, low)
                    }
                    _ => t,
                };
            }
            let Some(offsets) = Offsets::of(&terms, t) else { continue };
            seen += 1;
            let leaves = offsets.leaves(&|_| true);
            let same = offsets.choose(&mut terms, &mut |terms, k| Some(terms.constant(16, k)));
            let key = terms.support(x)[0];
            for v in [0, 1, 77, 128, 200, 255, random(256)] {
                let mut m = Model::new();
                m.set(key, v);
                let value = terms.eval(t, &m);
                assert!(leaves.contains(&value), "{}", terms.show(t));
                assert_eq!(same.map(|s| terms.eval(s, &m)), Some(value));
                for &k in &leaves {
                    let is = offsets.is(&mut terms, k);
                    assert_eq!(terms.eval(is, &m), u64::from(k == value));
                }
            }
        }
        assert!(seen > 200, "{seen}");
    }

    #[test]
    fn dead_leaves_take_their_neighbours_value() {
        let mut terms = Terms::new(64);
        let (c, d) = (var(&mut terms, "c", 1), var(&mut terms, "d", 1));
        let k: Vec<TermId> = [8, 16, 1 << 40].iter().map(|v| terms.constant(64, *v)).collect();
        let inner = terms.ite(d, k[1], k[2]);
        let off = terms.ite(c, k[0], inner);
        let offsets = Offsets::of(&terms, off).unwrap();
        let small = |k: u64| k < 100;
        assert_eq!(offsets.leaves(&small), [8, 16]);
        let got = offsets.choose(&mut terms, &mut |terms, k| small(k).then(|| terms.constant(64, k)));
        assert_eq!(got, Some(terms.ite(c, k[0], k[1])));
        assert_eq!(offsets.choose(&mut terms, &mut |_, _| None), None);
        assert_eq!(Offsets::of(&terms, k[0]), None);
    }
}
