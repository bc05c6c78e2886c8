//! The pieces of big objects.
//!
//! *Paper*: Memory §3.2.4. *Idea*: an object that is accessed at a symbolic offset and is larger than the threshold
//! gets pieces, each with contents of its own (`Contents::split`), so that terms speak of one piece only. The piece is
//! read off an offset that is a choice between constants, and named by the high bits of one whose low bits are known.
//! *Invariant*: pieces are adjacent and together the object: addresses, bounds and concrete accesses are as before.

use crate::constant_offsets::Offsets;
use crate::known_bits::low_bits;
use crate::model::ResolvedLocation;
use crate::object::Window;
use crate::size::Size;
use crate::value::ObjId;
use pleach_expr::{TermId, Terms};

/// Objects larger than the threshold that are accessed at a symbolic offset are split into pieces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Splitting {
    /// bytes
    pub threshold: u64,
    /// bytes of a piece, a multiple of 8
    pub piece: u64,
}

/// An access of `n` bytes at a symbolic offset of an object that is to be split.
#[derive(Clone, Copy, Debug)]
pub struct SplitAccess {
    pub obj: ObjId,
    pub off: TermId,
    pub n: u64,
    /// bytes of a piece
    pub piece: u64,
    /// bytes of the object
    pub size: u64,
}

impl SplitAccess {
    /// The piece with the offset `at`, or that offset alone where the access would straddle two; when, and the place.
    pub fn at(self, terms: &mut Terms, at: u64) -> (TermId, ResolvedLocation) {
        let SplitAccess { obj, off, n, .. } = self;
        let w = terms.width(off);
        let piece = self.window(at);
        if at + n > piece.start + piece.len {
            let k = terms.constant(w, at);
            return (terms.eq(off, k), ResolvedLocation::At { obj, off: at });
        }
        let k = terms.constant(w, piece.start);
        let inner = terms.sub(off, k);
        let here = match self.number(terms) {
            Some(number) => {
                let k = terms.constant(terms.width(number), piece.start / self.piece);
                terms.eq(number, k)
            }
            None => Size::Fixed(piece.len).within(terms, inner, n),
        };
        (here, ResolvedLocation::Piece { obj, piece, off: inner })
    }

    /// The piece of an offset that is a choice between constants, of which those within the object lie in one.
    pub fn by_shape(self, terms: &mut Terms) -> Option<ResolvedLocation> {
        let SplitAccess { obj, off, n, size, .. } = self;
        let leaves = Offsets::of(terms, off)?.leaves(&|k| k.checked_add(n).is_some_and(|end| end <= size));
        let piece = self.window(*leaves.first()?);
        if leaves.iter().any(|k| *k < piece.start || k + n > piece.start + piece.len) {
            return None;
        }
        let k = terms.constant(terms.width(off), piece.start);
        let off = terms.sub(off, k);
        Some(ResolvedLocation::Piece { obj, piece, off })
    }

    fn window(self, at: u64) -> Window {
        let start = at - at % self.piece;
        Window { start, len: self.piece.min(self.size - start) }
    }

    /// The high bits of an offset say which piece it lies in, where its low bits keep the access from lying in two.
    /// They are the same term for all fields of an element, so that the path decides once for all of them.
    fn number(self, terms: &mut Terms) -> Option<TermId> {
        let SplitAccess { off, n, piece, .. } = self;
        let w = terms.width(off);
        let (bits, low) = low_bits(terms, off);
        let step = 1u64 << bits.min(32);
        let low = low & (step - 1);
        let shift = piece.trailing_zeros() as u16;
        if !piece.is_power_of_two() || step > piece || low + n > step || shift >= w {
            return None;
        }
        let k = terms.constant(w, low);
        let element = terms.sub(off, k);
        Some(terms.extract(element, shift, w - shift))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleach_expr::{Model, SymbolKind, SymbolOrigin};

    fn access(terms: &mut Terms, scale: u64, n: u64) -> SplitAccess {
        let s = terms.symbols.intern(SymbolOrigin::Undefined(0), SymbolKind::Bits(8), || "i".into());
        let (i, k) = (terms.var(s), terms.constant(64, scale));
        let wide = terms.resize_unsigned(i, 64);
        SplitAccess { obj: ObjId(1), off: terms.mul(wide, k), n, piece: 16, size: 100 }
    }

    /// For each offset within the object exactly the place of that offset has a condition that holds.
    #[test]
    fn places_are_exact() {
        for (scale, n) in [(1, 1), (1, 4), (4, 4), (8, 8), (3, 2)] {
            let mut terms = Terms::new(64);
            let access = access(&mut terms, scale, n);
            for i in (0..=255u64).filter(|i| i * scale + n <= access.size) {
                let mut model = Model::default();
                model.set(pleach_expr::Key::new(pleach_expr::SymbolId(0), 0), i);
                for at in 0..=access.size - n {
                    let (here, place) = access.at(&mut terms, at);
                    let holds = terms.try_eval(here, &model) == Some(1);
                    match place {
                        ResolvedLocation::At { off, .. } => assert_eq!(holds, i * scale == off),
                        ResolvedLocation::Piece { piece, off, .. } => {
                            let inside = i * scale >= piece.start && i * scale + n <= piece.start + piece.len;
                            assert_eq!(holds, inside, "{i} * {scale}, {n} bytes, {piece:?}");
                            assert!(!holds || terms.try_eval(off, &model) == Some(i * scale - piece.start));
                        }
                        ResolvedLocation::Symbolic { .. } => panic!("no piece"),
                    }
                }
            }
        }
    }
}
