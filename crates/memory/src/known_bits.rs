//! Where an access at a symbolic offset can be, by the low bits of the offset and by its range.
//!
//! *Idea*: in `table[i].count` the offset is a multiple of the element's size plus that of the field. Its low bits are
//! known, and the possible locations of the access have a fixed stride: the other fields are left whole. A table
//! inside a large block (`pool + 200 + (hash & 15) * 8`) is a small part of it; the rest does not count. *Invariant*:
//! under every assignment the offset has the low bits that [`low_bits`] gives, and lies in its [`Terms::range`].

use crate::object::Window;
use crate::space::ALIGN;
use pleach_expr::{INDEX_BITS, Op, TermId, Terms, mask};

/// Places `first`, `first + step`, … of which an access means one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Places {
    pub first: u64,
    pub step: u64,
    pub count: u64,
    /// The number of locations before the first that are in the window, and never accessed.
    pub skipped: u64,
}

impl Places {
    /// Those of an access of `n` bytes in a window; `None` where two of them could overlap.
    pub fn of(terms: &Terms, off: TermId, n: u64, w: Window) -> Option<Places> {
        let (bits, first) = low_bits(terms, off);
        // More than the offset's width would be a constant.
        let bits = bits.min(32).min(terms.width(off).saturating_sub(1));
        let step = 1u64 << bits;
        let first = first & (step - 1);
        let last = w.len.checked_sub(first + n)? / step;
        if !(n.is_power_of_two() && n <= 8 && step >= n) {
            return None;
        }
        // The caller knows that the offset is in the window; a range outside it is that of no path, and narrows
        // nothing.
        let (low, high) = reach(terms, off, w.len);
        let skipped = low.saturating_sub(first).div_ceil(step);
        let last = high.checked_sub(first).map_or(last, |h| last.min(h / step));
        let skipped = if skipped <= last { skipped } else { 0 };
        Some(Places { first: w.start + first + skipped * step, step, count: last - skipped + 1, skipped })
    }

    pub fn at(self, i: u64) -> u64 {
        self.first + i * self.step
    }

    /// Which of the places an offset means.
    pub fn index(self, terms: &mut Terms, off: TermId) -> TermId {
        let shift = self.step.trailing_zeros() as u16;
        let w = terms.width(off);
        let high = terms.extract(off, shift, w - shift);
        let at = terms.resize_unsigned(high, INDEX_BITS);
        let skipped = terms.constant(INDEX_BITS, self.skipped);
        terms.sub(at, skipped)
    }
}

/// The least and the greatest value of an offset that lies in a window of `len` bytes.
fn reach(terms: &Terms, off: TermId, len: u64) -> (u64, u64) {
    let n = terms.node(off);
    if n.width > 64 {
        return (0, u64::MAX);
    }
    let (low, high) = terms.range(off);
    // A window that begins within a table: `x − k` for an x below k is far behind the window.
    let constant = if n.op == Op::Add { terms.as_const(n.arg_b()) } else { None };
    let Some(k) = constant.map(|c| c.wrapping_neg() & mask(n.width)) else { return (low, high) };
    let (least, greatest) = terms.range(n.arg_a());
    if greatest < k || mask(n.width) - k < len {
        return (low, high);
    }
    (low.max(least.saturating_sub(k)), high.min(greatest - k))
}

/// A number of low bits of `t` that are known, and these bits.
pub fn low_bits(terms: &Terms, t: TermId) -> (u16, u64) {
    fn go(terms: &Terms, t: TermId, fuel: u32) -> (u16, u64) {
        let n = terms.node(t);
        if n.width > 64 || fuel == 0 {
            return (0, 0);
        }
        let of = |x: TermId| go(terms, x, fuel - 1);
        let (a, b) = (n.arg_a(), n.arg_b());
        let (bits, value) = match n.op {
            Op::Const => (n.width, n.value()),
            Op::Base => (ALIGN.trailing_zeros() as u16, 0),
            Op::Add => {
                let ((ka, x), (kb, y)) = (of(a), of(b));
                (ka.min(kb), x.wrapping_add(y))
            }
            Op::Sub => {
                let ((ka, x), (kb, y)) = (of(a), of(b));
                (ka.min(kb), x.wrapping_sub(y))
            }
            Op::Neg => {
                let (k, v) = of(a);
                (k, v.wrapping_neg())
            }
            Op::Xor => {
                let ((ka, x), (kb, y)) = (of(a), of(b));
                (ka.min(kb), x ^ y)
            }
            Op::And | Op::Or => {
                let ((ka, x), (kb, y)) = (of(a), of(b));
                // Where one side decides a bit, the other need not be known: only for the low zeros (ones) of a known
                // side.
                let deciding = |k: u16, v: u64| {
                    let run = if n.op == Op::And { v.trailing_zeros() } else { v.trailing_ones() };
                    (run as u16).min(k)
                };
                let k = ka.min(kb).max(deciding(ka, x)).max(deciding(kb, y));
                let (x, y) = (x & low(ka), y & low(kb));
                // Beyond what is known of one side the other decides.
                let value = if n.op == Op::And { x & y } else { x | y };
                (k, value)
            }
            Op::Mul => {
                let ((ka, x), (kb, y)) = (of(a), of(b));
                let zeros = |k: u16, v: u64| (v.trailing_zeros() as u16).min(k);
                let k = (zeros(ka, x) + kb).min(zeros(kb, y) + ka).min(n.width);
                (k, x.wrapping_mul(y))
            }
            Op::Shl => match terms.as_const(b) {
                Some(by) if by < u64::from(n.width) => {
                    let (k, v) = of(a);
                    ((k + by as u16).min(n.width), v << by)
                }
                _ => {
                    let (k, v) = of(a);
                    ((v.trailing_zeros() as u16).min(k), 0)
                }
            },
            Op::Concat => {
                let (k, v) = of(b);
                let w = terms.width(b);
                if k >= w {
                    let (more, u) = of(a);
                    (w + more, v & mask(w) | u << w)
                } else {
                    (k, v)
                }
            }
            Op::ZExt | Op::SExt => {
                let (k, v) = of(a);
                (k.min(terms.width(a)), v)
            }
            Op::Extract => {
                let (k, v) = of(a);
                (k.saturating_sub(n.b as u16).min(n.width), if n.b < 64 { v >> n.b } else { 0 })
            }
            Op::Ite => {
                let ((ka, x), (kb, y)) = (of(b), of(n.arg_c()));
                (ka.min(kb).min((x ^ y).trailing_zeros() as u16), x)
            }
            _ => (0, 0),
        };
        (bits, value & low(bits))
    }
    go(terms, t, 24)
}

fn low(bits: u16) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::{Model, SymbolKind};

    fn var(terms: &mut Terms, name: &str, width: u16) -> TermId {
        let s = terms.symbols.named(name, SymbolKind::Bits(width));
        terms.var(s)
    }

    #[test]
    fn fields_of_elements() {
        let mut terms = Terms::new(64);
        let i = var(&mut terms, "i", 32);
        let wide = terms.zext(i, 64);
        let (element, field) = (terms.constant(64, 24), terms.constant(64, 12));
        let scaled = terms.mul(wide, element);
        let off = terms.add(scaled, field);
        let whole = |len: u64| Window { start: 0, len };
        // Multiples of 24 are multiples of 8.
        assert_eq!(Places::of(&terms, off, 4, whole(240)), Some(Places { first: 12, step: 8, count: 29, skipped: 1 }));
        assert_eq!(Places::of(&terms, off, 8, whole(12)), Some(Places { first: 4, step: 8, count: 1, skipped: 0 }));
        assert_eq!(Places::of(&terms, off, 4, whole(7)), None);
        assert_eq!(Places::of(&terms, i, 4, whole(240)), None);
        assert_eq!(Places::of(&terms, i, 1, whole(240)), Some(Places { first: 0, step: 1, count: 240, skipped: 0 }));
    }

    #[test]
    fn a_table_in_a_block() {
        let mut terms = Terms::new(64);
        let hash = var(&mut terms, "hash", 4);
        let wide = terms.zext(hash, 64);
        let (word, at) = (terms.constant(64, 8), terms.constant(64, 204));
        let scaled = terms.mul(wide, word);
        let off = terms.add(scaled, at);
        let places = |len: u64| Places::of(&terms, off, 8, Window { start: 0, len });
        assert_eq!(places(8192), Some(Places { first: 204, step: 8, count: 16, skipped: 25 }));
        // The window ends within the table, and before it.
        assert_eq!(places(300), Some(Places { first: 204, step: 8, count: 12, skipped: 25 }));
        assert_eq!(places(100).map(|p| p.skipped), Some(0));
        let index = places(8192).unwrap().index(&mut terms, off);
        for h in 0..16 {
            let mut m = Model::new();
            m.set(terms.support(hash)[0], h);
            assert_eq!(terms.eval(index, &m), h);
        }
    }

    #[test]
    fn a_window_that_begins_within_a_table() {
        let mut terms = Terms::new(64);
        let hash = var(&mut terms, "hash", 4);
        let wide = terms.zext(hash, 64);
        let (word, back) = (terms.constant(64, 8), terms.constant(64, 16u64.wrapping_neg()));
        let scaled = terms.mul(wide, word);
        let off = terms.add(scaled, back);
        // Two of the sixteen words lie before the window, two words of the window behind the table.
        let places = Places::of(&terms, off, 8, Window { start: 256, len: 128 }).unwrap();
        assert_eq!(places, Places { first: 256, step: 8, count: 14, skipped: 0 });
        let index = places.index(&mut terms, off);
        for h in 2..16 {
            let mut m = Model::new();
            m.set(terms.support(hash)[0], h);
            assert_eq!(places.at(terms.eval(index, &m)), 256 + terms.eval(off, &m));
        }
        // Where the sum may come round into the window again, nothing is narrowed.
        let x = var(&mut terms, "x", 8);
        let (k, eight) = (terms.constant(8, 208), terms.constant(8, 0xf8));
        let multiple = terms.and(x, eight);
        let round = terms.add(multiple, k);
        let places = Places::of(&terms, round, 8, Window { start: 0, len: 256 }).unwrap();
        assert_eq!((places.count, places.skipped), (32, 0));
    }

    /// Random terms have the low bits that were found, whatever the values of their symbolic variables.
    #[test]
    fn low_bits_are_right() {
        let mut seed = 7u64;
        let mut random = move |n: u64| {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 33) % n
        };
        let mut known = 0;
        for _ in 0..2000 {
            let mut terms = Terms::new(64);
            let variables = [var(&mut terms, "x", 16), var(&mut terms, "y", 16)];
            let mut pool = variables.to_vec();
            for _ in 0..8 {
                let (a, b) = (pool[random(pool.len() as u64) as usize], pool[random(pool.len() as u64) as usize]);
                let c = terms.constant(16, random(64));
                let t = match random(11) {
                    9 => terms.neg(a),
                    10 => terms.shl(c, a),
                    0 => terms.add(a, c),
                    1 => terms.mul(a, c),
                    2 => terms.and(a, c),
                    3 => terms.or(a, c),
                    4 => terms.sub(a, b),
                    5 => terms.shl(a, c),
                    6 => {
                        let d = terms.ult(a, c);
                        terms.ite(d, a, b)
                    }
                    7 => {
                        let h = terms.extract(a, 0, 8);
                        let l = terms.constant(8, random(256));
                        terms.concat(h, l)
                    }
                    _ => terms.add(a, b),
                };
                pool.push(t);
            }
            for &t in &pool {
                let (k, v) = low_bits(&terms, t);
                known += u32::from(k > 0 && !terms.is_constant(t));
                for _ in 0..5 {
                    let mut m = Model::new();
                    for u in variables {
                        let key = terms.support(u)[0];
                        m.set(key, random(1 << 16));
                    }
                    assert_eq!(terms.eval(t, &m) & low(k), v, "{}", terms.show(t));
                }
            }
        }
        assert!(known > 1000, "{known}");
    }
}
