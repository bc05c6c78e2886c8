//! Consecutive values modulo 2ʷ: what a comparison with a constant says about a term, signed or unsigned, without any
//! proviso.
//!
//! *Invariant*: an arc is never empty. It may wrap around.

use crate::term::{Op, TermId, Terms, mask};

/// `first`, and the `more` values after it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Arc {
    pub first: u64,
    pub more: u64,
}

/// What two arcs have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Meet {
    Nothing,
    Arc(Arc),
    /// two pieces
    Disjoint,
}

impl Arc {
    pub fn is_full(self, w: u16) -> bool {
        self.more >= mask(w)
    }

    pub fn last(self, w: u16) -> u64 {
        self.first.wrapping_add(self.more) & mask(w)
    }

    pub fn contains(self, v: u64, w: u16) -> bool {
        v.wrapping_sub(self.first) & mask(w) <= self.more
    }

    /// The values `v + k` for v in the arc.
    pub fn moved(self, k: u64, w: u16) -> Arc {
        Arc { first: self.first.wrapping_add(k) & mask(w), more: self.more }
    }

    /// The values `−v` for v in the arc.
    pub fn mirrored(self, w: u16) -> Arc {
        Arc { first: self.last(w).wrapping_neg() & mask(w), more: self.more }
    }

    pub fn meet(self, other: Arc, w: u16) -> Meet {
        let m = mask(w);
        if self.is_full(w) {
            return Meet::Arc(other);
        }
        // Counted from the start of `self`: self is 0..=more, other is from..=from + other.more.
        let from = other.first.wrapping_sub(self.first) & m;
        let to = u128::from(from) + u128::from(other.more);
        // The part of `other` that has gone around, from 0 on.
        let around = to.checked_sub(u128::from(m) + 1).map(|t| t as u64);
        let direct = (from <= self.more).then(|| (from, to.min(u128::from(self.more)) as u64));
        let wrapped = around.map(|t| (0, t.min(self.more)));
        let at = |(a, b): (u64, u64)| Arc { first: self.first.wrapping_add(a) & m, more: b - a };
        match (direct, wrapped) {
            (None, None) => Meet::Nothing,
            (Some(p), None) | (None, Some(p)) => Meet::Arc(at(p)),
            (Some(p), Some(q)) if q.1 >= p.0 || q.1 + 1 == p.0 => Meet::Arc(at((0, p.1.max(q.1)))),
            (Some(_), Some(_)) => Meet::Disjoint,
        }
    }

    /// The comparison `t` as `x ∈ arc`, where x is not constant.
    pub fn of(terms: &Terms, t: TermId) -> Option<(TermId, Arc)> {
        let n = terms.node(t);
        let (x, y) = (n.arg_a(), n.arg_b());
        match n.op {
            Op::Eq => {
                let (v, c) = match (terms.as_const(x), terms.as_const(y)) {
                    (None, Some(c)) => (x, c),
                    (Some(c), None) => (y, c),
                    _ => return None,
                };
                Some((v, Arc { first: c, more: 0 }))
            }
            Op::Not => {
                let (v, r) = Arc::of(terms, x)?;
                let m = mask(terms.width(v));
                (r.more < m)
                    .then(|| (v, Arc { first: r.first.wrapping_add(r.more).wrapping_add(1) & m, more: m - r.more - 1 }))
            }
            Op::Ult | Op::Ule | Op::Slt | Op::Sle => {
                let width = terms.width(x);
                if width > 64 {
                    return None;
                }
                let m = mask(width);
                let low = if matches!(n.op, Op::Slt | Op::Sle) { 1u64 << (width - 1) } else { 0 };
                let high = low.wrapping_sub(1) & m;
                let strict = u64::from(matches!(n.op, Op::Ult | Op::Slt));
                match (terms.as_const(x), terms.as_const(y)) {
                    (None, Some(c)) => {
                        let span = c.wrapping_sub(low) & m;
                        (span >= strict).then(|| (x, Arc { first: low, more: span - strict }))
                    }
                    (Some(c), None) => {
                        let span = high.wrapping_sub(c) & m;
                        (span >= strict).then(|| (y, Arc { first: c.wrapping_add(strict) & m, more: span - strict }))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// As `of`, with a constant added to x taken into the arc.
    pub fn of_unshifted(terms: &Terms, t: TermId) -> Option<(TermId, Arc)> {
        let (x, arc) = Arc::of(terms, t)?;
        let n = terms.node(x);
        if n.op != Op::Add {
            return Some((x, arc));
        }
        Some(terms.as_const(n.arg_b()).map_or((x, arc), |k| (n.arg_a(), arc.moved(k.wrapping_neg(), n.width))))
    }

    /// `x ∈ arc` as literals, in the most readable form.
    pub fn write(self, terms: &mut Terms, x: TermId) -> Vec<TermId> {
        let w = terms.width(x);
        let m = mask(w);
        if self.is_full(w) {
            return Vec::new();
        }
        let (first, last) = (self.first, self.last(w));
        let sign = 1u64 << (w - 1);
        let (a, b) = (terms.constant(w, first), terms.constant(w, last));
        if self.more == 0 {
            return vec![terms.eq(x, a)];
        }
        if self.more == m - 1 {
            let hole = terms.constant(w, last.wrapping_add(1) & m);
            return vec![terms.ne(x, hole)];
        }
        let in_order = |low: u64| self.more <= m - (first.wrapping_sub(low) & m);
        if in_order(sign) {
            let mut out = Vec::new();
            if first != sign {
                out.push(terms.sle(a, x));
            }
            if last != sign - 1 {
                out.push(terms.sle(x, b));
            }
            return out;
        }
        if in_order(0) {
            let mut out = Vec::new();
            if first != 0 {
                out.push(terms.ule(a, x));
            }
            if last != m {
                out.push(terms.ule(x, b));
            }
            return out;
        }
        vec![self.inside(terms, x)]
    }

    /// `x ∈ arc` as one literal.
    pub fn inside(self, terms: &mut Terms, x: TermId) -> TermId {
        let w = terms.width(x);
        let m = mask(w);
        if self.is_full(w) {
            return Terms::TRUE;
        }
        let (last, sign) = (self.last(w), 1u64 << (w - 1));
        if self.more == 0 {
            let k = terms.constant(w, self.first);
            return terms.eq(x, k);
        }
        // Half-open in signed order reads best; otherwise the arc is moved to 0.
        if self.first == sign {
            let k = terms.constant(w, last);
            return terms.sle(x, k);
        }
        if last == sign.wrapping_sub(1) {
            let k = terms.constant(w, self.first);
            return terms.sle(k, x);
        }
        let k = terms.constant(w, self.first.wrapping_neg() & m);
        let moved = terms.add(x, k);
        let most = terms.constant(w, self.more);
        terms.ule(moved, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Model, SymbolKind};

    #[test]
    fn arcs_meet_as_sets_do() {
        let w = 4;
        let all: Vec<Arc> = (0..16).flat_map(|first| (0..16).map(move |more| Arc { first, more })).collect();
        for &a in &all {
            for &b in &all {
                let both: Vec<u64> = (0..16).filter(|&v| a.contains(v, w) && b.contains(v, w)).collect();
                match a.meet(b, w) {
                    Meet::Nothing => assert!(both.is_empty(), "{a:?} {b:?}"),
                    Meet::Arc(c) => {
                        let got: Vec<u64> = (0..16).filter(|&v| c.contains(v, w)).collect();
                        assert_eq!(got, both, "{a:?} {b:?}");
                    }
                    Meet::Disjoint => assert!(both.len() >= 2),
                }
            }
        }
    }

    #[test]
    fn written_and_read_arcs_are_the_same() {
        let mut t = Terms::new(64);
        let s = t.symbols.named("x", SymbolKind::Bits(4));
        let x = t.var(s);
        for a in (0..16).flat_map(|first| (0..16).map(move |more| Arc { first, more })) {
            let mut literals = a.write(&mut t, x);
            literals.push(a.inside(&mut t, x));
            for v in 0..16u64 {
                let mut model = Model::new();
                model.set(Key::new(s, 0), v);
                let (last, first) = literals.split_last().unwrap();
                assert_eq!(first.iter().all(|l| t.eval(*l, &model) == 1), a.contains(v, 4), "{a:?} {v}");
                assert_eq!(t.eval(*last, &model) == 1, a.contains(v, 4), "{a:?} {v}");
                assert_eq!(a.mirrored(4).contains(v.wrapping_neg() & 15, 4), a.contains(v, 4));
            }
            for l in literals {
                let Some((y, b)) = Arc::of(&t, l) else { continue };
                for v in 0..16u64 {
                    let mut model = Model::new();
                    model.set(Key::new(s, 0), v);
                    assert_eq!(b.contains(t.eval(y, &model), 4), t.eval(l, &model) == 1);
                }
            }
        }
    }
}
