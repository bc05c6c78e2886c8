//! How many bytes an object has: a number, or a term.
//!
//! *Paper*: Memory §5.2.1. *Idea*: an object of symbolic size has room for `capacity` bytes, of which the program may
//! touch the first σ. The contents and the address space have the whole capacity; bounds checks use σ. *Invariant*:
//! σ ≤ capacity holds on every path that has the object, and σ is as wide as a pointer.

use pleach_expr::{TermId, Terms};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Size {
    Fixed(u64),
    Symbolic { size: TermId, capacity: u64 },
}

impl Size {
    /// Bytes that are reserved: no object is larger than this on its path.
    pub fn capacity(self) -> u64 {
        match self {
            Size::Fixed(n) => n,
            Size::Symbolic { capacity, .. } => capacity,
        }
    }

    /// The size, where it is a number.
    pub fn fixed(self) -> Option<u64> {
        match self {
            Size::Fixed(n) => Some(n),
            Size::Symbolic { .. } => None,
        }
    }

    pub fn is_symbolic(self) -> bool {
        self.fixed().is_none()
    }

    /// The size as a term of this width.
    pub fn term(self, terms: &mut Terms, width: u16) -> TermId {
        match self {
            Size::Fixed(n) => terms.constant(width, n),
            Size::Symbolic { size, .. } => terms.resize_unsigned(size, width),
        }
    }

    /// `off + n ≤ size`, no wrap-around: an access of `n` bytes at this offset is within bounds.
    pub fn within(self, terms: &mut Terms, off: TermId, n: u64) -> TermId {
        let Some(last) = self.capacity().checked_sub(n) else { return Terms::FALSE };
        let w = terms.width(off);
        let last = terms.constant(w, last);
        let fits = terms.ule(off, last);
        let Size::Symbolic { .. } = self else { return fits };
        // SOUND: σ ≤ capacity, so that `off + n` does not wrap around where it is compared.
        let size = self.term(terms, w);
        if n == 1 {
            return terms.ult(off, size);
        }
        let n = terms.constant(w, n);
        let end = terms.add(off, n);
        let inside = terms.ule(end, size);
        terms.and(fits, inside)
    }

    /// The object has at least `n` bytes.
    pub fn at_least(self, terms: &mut Terms, n: u64) -> TermId {
        match self {
            Size::Fixed(size) => truth(n <= size),
            Size::Symbolic { capacity, .. } if n > capacity => Terms::FALSE,
            Size::Symbolic { size, .. } => {
                let n = terms.constant(terms.width(size), n);
                terms.ule(n, size)
            }
        }
    }

    /// The object has at most `n` bytes.
    pub fn at_most(self, terms: &mut Terms, n: u64) -> TermId {
        match self {
            _ if self.capacity() <= n => Terms::TRUE,
            Size::Fixed(_) => Terms::FALSE,
            Size::Symbolic { size, .. } => {
                let n = terms.constant(terms.width(size), n);
                terms.ule(size, n)
            }
        }
    }

    /// The object has exactly `n` bytes.
    pub fn is(self, terms: &mut Terms, n: u64) -> TermId {
        match self {
            Size::Fixed(size) => truth(n == size),
            Size::Symbolic { capacity, .. } if n > capacity => Terms::FALSE,
            Size::Symbolic { size, .. } => {
                let n = terms.constant(terms.width(size), n);
                terms.eq(size, n)
            }
        }
    }
}

fn truth(b: bool) -> TermId {
    if b { Terms::TRUE } else { Terms::FALSE }
}

impl From<u64> for Size {
    fn from(n: u64) -> Size {
        Size::Fixed(n)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::{Key, Model, SymbolKind};

    /// A size and an offset as symbolic variables of 8 bits, and a model to give them values.
    fn variables(terms: &mut Terms) -> [(Key, TermId); 2] {
        ["size", "off"].map(|name| {
            let symbol = terms.symbols.named(name, SymbolKind::Bits(8));
            (Key::new(symbol, 0), terms.var(symbol))
        })
    }

    #[test]
    fn bounds_do_not_wrap_around() {
        let mut terms = Terms::new(64);
        let [(size_key, size), (off_key, off)] = variables(&mut terms);
        let capacity = 5;
        let symbolic = Size::Symbolic { size, capacity };
        for n in [0, 1, 2, 4, 5, 6] {
            let within = symbolic.within(&mut terms, off, n);
            for s in 0..=capacity {
                let fixed = Size::Fixed(s).within(&mut terms, off, n);
                for o in 0..=255 {
                    let mut model = Model::default();
                    model.set(size_key, s);
                    model.set(off_key, o);
                    let inside = u64::from(o + n <= s);
                    assert_eq!(terms.try_eval(within, &model), Some(inside), "{n} bytes at {o} of {s}");
                    assert_eq!(terms.try_eval(fixed, &model), Some(inside), "{n} bytes at {o} of exactly {s}");
                }
            }
        }
    }

    #[test]
    fn sizes_are_compared_with_numbers() {
        let mut terms = Terms::new(64);
        let [(key, size), _] = variables(&mut terms);
        let symbolic = Size::Symbolic { size, capacity: 5 };
        for n in 0..8 {
            let [least, most, is] =
                [symbolic.at_least(&mut terms, n), symbolic.at_most(&mut terms, n), symbolic.is(&mut terms, n)];
            for s in 0..=5 {
                let mut model = Model::default();
                model.set(key, s);
                let value = |t| terms.try_eval(t, &model).map(|v| v != 0);
                assert_eq!([least, most, is].map(value), [Some(n <= s), Some(s <= n), Some(s == n)], "{n} and {s}");
                let fixed = Size::Fixed(s);
                let of_fixed = [fixed.at_least(&mut terms, n), fixed.at_most(&mut terms, n), fixed.is(&mut terms, n)];
                assert_eq!(of_fixed, [n <= s, s <= n, s == n].map(truth));
            }
        }
    }
}
