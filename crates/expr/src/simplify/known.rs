//! What is known of a term without a solver: constants, ranges, known-zero ends. All inspections are bounded in depth,
//! so a rule that uses them costs a constant amount of work.

use crate::bits;
use crate::term::{Op, TermId, Terms, base_range, mask};

/// How deep [`Terms::range`] looks.
const DEPTH: u32 = 4;

impl Terms {
    pub(crate) fn zero(&mut self, width: u16) -> TermId {
        self.constant(width, 0)
    }
    pub(crate) fn one(&mut self, width: u16) -> TermId {
        self.constant(width, 1)
    }
    pub(crate) fn ones(&mut self, width: u16) -> TermId {
        if width <= 64 { self.constant(width, u64::MAX) } else { self.wide_constant(width, &bits::ones(width)) }
    }
    /// The least signed value.
    pub(crate) fn signed_min(&mut self, width: u16) -> TermId {
        if width <= 64 {
            return self.constant(width, 1 << (width - 1));
        }
        let mut v = bits::zero(width);
        bits::set_bit(&mut v, usize::from(width) - 1);
        self.wide_constant(width, &v)
    }
    pub(crate) fn is_zero(&self, t: TermId) -> bool {
        let n = self.node(t);
        match n.op {
            Op::Const => n.value() == 0,
            Op::Wide => bits::is_zero(self.limbs(t)),
            _ => false,
        }
    }
    pub(crate) fn is_one(&self, t: TermId) -> bool {
        let n = self.node(t);
        match n.op {
            Op::Const => n.value() == 1,
            Op::Wide => bits::to_u64(self.limbs(t)) == Some(1),
            _ => false,
        }
    }
    pub(crate) fn is_ones(&self, t: TermId) -> bool {
        let n = self.node(t);
        match n.op {
            Op::Const => n.value() == mask(n.width),
            Op::Wide => *self.limbs(t) == *bits::ones(n.width),
            _ => false,
        }
    }
    /// A constant with the top bit set.
    pub(crate) fn is_negative_constant(&self, t: TermId) -> bool {
        let n = self.node(t);
        match n.op {
            Op::Const => n.value() >> (n.width - 1) & 1 == 1,
            Op::Wide => bits::is_negative(self.limbs(t), n.width),
            _ => false,
        }
    }

    /// The bit a constant has set if it is a power of two.
    pub(crate) fn power_of_two(&self, t: TermId) -> Option<u16> {
        let v = self.constant_limbs(t)?;
        let low = bits::trailing_zeros(&v);
        if bits::length(&v) == low + 1 { Some(low as u16) } else { None }
    }

    /// The bits `lo .. hi` of a constant that is one run of ones there and zero elsewhere.
    pub(crate) fn run_of_ones(&self, t: TermId) -> Option<(u16, u16)> {
        let v = self.constant_limbs(t)?;
        let (lo, hi) = (bits::trailing_zeros(&v), bits::length(&v));
        let set: u32 = v.iter().map(|l| l.count_ones()).sum();
        if set > 0 && set == hi - lo { Some((lo as u16, hi as u16)) } else { None }
    }

    /// `a` is the negation of `b`, as far as one look tells.
    pub(crate) fn is_complement(&self, a: TermId, b: TermId) -> bool {
        let (x, y) = (self.node(a), self.node(b));
        match (x.op, y.op) {
            (Op::Not, _) if x.arg_a() == b => true,
            (_, Op::Not) if y.arg_a() == a => true,
            (Op::Ult, Op::Ule) | (Op::Ule, Op::Ult) | (Op::Slt, Op::Sle) | (Op::Sle, Op::Slt) => {
                x.a == y.b && x.b == y.a
            }
            (Op::Ult, Op::Ult) | (Op::Slt, Op::Slt) => self.meet(x.arg_a(), x.arg_b(), y.arg_a(), y.arg_b()),
            _ => false,
        }
    }

    /// `x < c` and `c - 1 < x`, in either order. The builder writes no other comparison with a constant.
    fn meet(&self, xa: TermId, xb: TermId, ya: TermId, yb: TermId) -> bool {
        let next = |below: TermId, above: TermId| match (self.as_const(below), self.as_const(above)) {
            (Some(l), Some(u)) => l.wrapping_add(1) & mask(self.width(below)) == u && u != 0,
            _ => false,
        };
        (xa == yb && next(ya, xb)) || (xb == ya && next(xa, yb))
    }

    /// The base and the offset of `β` or `β + offset`.
    pub fn base_and_offset(&self, t: TermId) -> Option<(TermId, Option<TermId>)> {
        let n = self.node(t);
        match n.op {
            Op::Base => Some((t, None)),
            Op::Add if self.op(n.arg_a()) == Op::Base => Some((n.arg_a(), Some(n.arg_b()))),
            _ => None,
        }
    }

    /// The condition and the arms of an `Ite` with constant arms, or of a one-bit value extended to more.
    pub(crate) fn choice(&mut self, t: TermId) -> Option<(TermId, TermId, TermId)> {
        let n = self.node(t);
        match n.op {
            Op::Ite if self.is_constant(n.arg_b()) && self.is_constant(n.arg_c()) => {
                Some((n.arg_a(), n.arg_b(), n.arg_c()))
            }
            Op::ZExt if self.width(n.arg_a()) == 1 => Some((n.arg_a(), self.one(n.width), self.zero(n.width))),
            Op::SExt if self.width(n.arg_a()) == 1 => Some((n.arg_a(), self.ones(n.width), self.zero(n.width))),
            _ => None,
        }
    }

    /// The least and greatest unsigned value of a term of at most 64 bits, as far as a bounded look tells.
    pub fn range(&self, t: TermId) -> (u64, u64) {
        self.range_to(t, DEPTH)
    }

    fn range_to(&self, t: TermId, depth: u32) -> (u64, u64) {
        let n = self.node(t);
        let all = (0, mask(n.width));
        if n.op == Op::Const {
            return (n.value(), n.value());
        }
        if n.op == Op::Base {
            return base_range(self.pointer_bits);
        }
        if depth == 0 || n.width > 64 {
            return all;
        }
        let of = |x: TermId| self.range_to(x, depth - 1);
        match n.op {
            Op::ZExt => of(n.arg_a()),
            Op::SExt => {
                let (lo, hi) = of(n.arg_a());
                if hi >> (self.width(n.arg_a()) - 1) == 0 { (lo, hi) } else { all }
            }
            Op::Concat => {
                let ((hl, hh), (ll, lh)) = (of(n.arg_a()), of(n.arg_b()));
                let s = self.width(n.arg_b());
                (hl << s | ll, hh << s | lh)
            }
            Op::Extract if self.width(n.arg_a()) <= 64 => {
                let (lo, hi) = of(n.arg_a());
                if hi >> n.b <= mask(n.width) { (lo >> n.b, hi >> n.b) } else { all }
            }
            Op::And => (0, of(n.arg_a()).1.min(of(n.arg_b()).1)),
            Op::Or => {
                let ((al, ah), (bl, bh)) = (of(n.arg_a()), of(n.arg_b()));
                (al.max(bl), mask((64 - (ah | bh).leading_zeros()) as u16))
            }
            Op::URem => {
                let (bl, bh) = of(n.arg_b());
                let a = of(n.arg_a()).1;
                if bl > 0 { (0, a.min(bh - 1)) } else { (0, a) }
            }
            Op::UDiv => {
                let ((al, ah), (bl, bh)) = (of(n.arg_a()), of(n.arg_b()));
                match ah.checked_div(bl) {
                    Some(high) => (al / bh, high),
                    None => all,
                }
            }
            Op::LShr => (0, of(n.arg_a()).1),
            Op::Ite => {
                let ((al, ah), (bl, bh)) = (of(n.arg_b()), of(n.arg_c()));
                (al.min(bl), ah.max(bh))
            }
            Op::Add | Op::Mul => {
                let ((al, ah), (bl, bh)) = (of(n.arg_a()), of(n.arg_b()));
                let high = if n.op == Op::Add { ah.checked_add(bh) } else { ah.checked_mul(bh) };
                match high {
                    Some(h) if h <= mask(n.width) => (if n.op == Op::Add { al + bl } else { al * bl }, h),
                    _ => all,
                }
            }
            _ => all,
        }
    }

    /// How many low bits of `t` may be other than 0.
    pub(crate) fn active_bits(&self, t: TermId) -> u16 {
        let n = self.node(t);
        if n.width <= 64 {
            return (64 - self.range(t).1.leading_zeros()) as u16;
        }
        match n.op {
            Op::Wide => bits::length(self.limbs(t)) as u16,
            Op::ZExt => self.width(n.arg_a()),
            _ => n.width,
        }
    }

    /// The top bit of `t` is known to be 0.
    pub(crate) fn is_nonnegative(&self, t: TermId) -> bool {
        self.active_bits(t) < self.width(t)
    }

    /// How many low bits of `t` are known to be 0.
    pub(crate) fn trailing_zeros(&self, t: TermId) -> u16 {
        let mut t = t;
        let mut below = 0;
        for _ in 0..8 {
            let n = self.node(t);
            t = match n.op {
                Op::Const | Op::Wide => {
                    let Some(v) = self.constant_limbs(t) else { return below };
                    return below + (bits::trailing_zeros(&v) as u16).min(n.width);
                }
                Op::ZExt | Op::SExt => n.arg_a(),
                Op::Concat if self.is_zero(n.arg_b()) => {
                    below += self.width(n.arg_b());
                    n.arg_a()
                }
                Op::Concat => n.arg_b(),
                _ => return below,
            };
        }
        below
    }
}
