//! Does a query mean the same wherever its objects lie?
//!
//! *Paper*: Memory §4.4. *Idea*: every part of the query that contains a base is a *number* (the same in every layout),
//! a *pointer* `β + k` into one of some objects, or the distance of a pointer from a base. Pointers may be tested for
//! equality, ordered and subtracted within one object, and compared with null; a guard `p − β ≤ s` may stand anywhere,
//! and one that is a constraint of the query makes p a pointer into β for the rest of it (Lemma 4.4.14). *Invariant*:
//! if the answer is yes, then for every two layouts in which objects do not overlap or touch and lie above [`FIRST`]
//! and below the end of [`base_range`], and for every assignment to the symbolic variables, the query is true in both
//! or in neither. *Deviations*: the paper assumes that pointers stay within their objects; here offsets are bounded by
//! their terms and by the query's own comparisons, and what cannot be bounded is not agnostic. *Direction*: may say no
//! where yes is right (bytes of pointers, alignment, hashes of addresses). *Checked by*: `--check-cache`;
//! `tests/address.rs` moves the objects of random queries.

use crate::query::BasedQueryRef;
use pleach_expr::arc::Arc;
use pleach_expr::{BaseId, Op, TermId, Terms, base_range, facts, mask, sign_extend};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// No object lies below this address.
const FIRST: i128 = 0x10000;
/// Pointers into more objects are not compared.
const MAX_PAIRS: usize = 1 << 16;
/// How deep the bounds of an offset are looked for.
const DEPTH: u32 = 16;

pub fn is_agnostic(terms: &Terms, query: &BasedQueryRef) -> bool {
    let mut analysis = Analysis { terms, query, bounds: FxHashMap::default(), kinds: FxHashMap::default() };
    analysis.collect_bounds();
    analysis.apply_guards();
    query.constraints.iter().all(|&c| analysis.is_number(c))
}

/// A pointer into `base` at an offset from `low` to `high`; without a base, a number in this range.
#[derive(Clone, Copy, PartialEq)]
struct Leaf {
    base: Option<BaseId>,
    low: i128,
    high: i128,
}

type Leaves = Rc<[Leaf]>;

#[derive(Clone)]
enum Kind {
    Number,
    Pointer(Leaves),
    /// an array of pointers
    Cells(Leaves),
    /// a pointer minus a base that it need not be derived from
    Distance(Leaves, BaseId),
}

struct Analysis<'a> {
    terms: &'a Terms,
    query: &'a BasedQueryRef<'a>,
    /// what comparisons with constants say
    bounds: FxHashMap<TermId, (u64, u64)>,
    /// of terms with bases
    kinds: FxHashMap<TermId, Kind>,
}

impl Analysis<'_> {
    fn collect_bounds(&mut self) {
        for &c in self.query.constraints {
            let Some((x, arc)) = Arc::of_unshifted(self.terms, c) else { continue };
            let all = mask(self.terms.width(x));
            if let Some(last) = arc.first.checked_add(arc.more).filter(|l| *l <= all) {
                let b = self.bounds.entry(x).or_insert((0, all));
                *b = (b.0.max(arc.first), b.1.min(last));
            }
        }
    }

    /// Pointers that a constraint of the query ties to one object.
    fn apply_guards(&mut self) {
        let mut tied: Vec<(TermId, Leaf)> = Vec::new();
        for &c in self.query.constraints {
            let Some((x, arc)) = Arc::of(self.terms, c) else { continue };
            let (distance, plus) = self.plus_constant(x);
            let n = self.terms.node(distance);
            if n.op != Op::Sub || self.terms.op(n.arg_b()) != Op::Base {
                continue;
            }
            let base = BaseId(self.terms.node(n.arg_b()).a);
            if self.is_number(c) && self.within(arc, base) {
                let low = i128::from(arc.first) - plus;
                tied.push((n.arg_a(), Leaf { base: Some(base), low, high: low + i128::from(arc.more) }));
            }
        }
        if tied.is_empty() {
            return;
        }
        // SOUND: where the guard is false the query is, in every layout; where it is true the pointer is into this
        // object.
        self.kinds.clear();
        for (pointer, leaf) in tied {
            self.kinds.insert(pointer, Kind::Pointer([leaf].into()));
        }
    }

    /// `x + c` as x and c, signed.
    fn plus_constant(&self, t: TermId) -> (TermId, i128) {
        let n = self.terms.node(t);
        match (n.op, self.terms.as_const(n.arg_b())) {
            (Op::Add, Some(c)) => (n.arg_a(), i128::from(sign_extend(c, n.width))),
            _ => (t, 0),
        }
    }

    /// The values of the arc are offsets into the object, or the position one past it.
    fn within(&self, arc: Arc, base: BaseId) -> bool {
        self.query.size(base).is_some_and(|size| arc.first.checked_add(arc.more).is_some_and(|last| last <= size))
    }

    /// Works out the kinds of `t` and of all below it.
    fn is_number(&mut self, t: TermId) -> bool {
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        let mut todo = vec![t];
        while let Some(x) = todo.pop() {
            if self.terms.has(x, facts::HAS_BASE) && !self.kinds.contains_key(&x) && seen.insert(x) {
                todo.extend(self.terms.args(x));
            }
        }
        let mut order: Vec<TermId> = seen.into_iter().collect();
        order.sort_unstable();
        for x in order {
            let Some(kind) = self.kind(x) else { return false };
            self.kinds.insert(x, kind);
        }
        self.number(t)
    }

    fn number(&self, t: TermId) -> bool {
        !self.terms.has(t, facts::HAS_BASE) || matches!(self.kinds.get(&t), Some(Kind::Number))
    }

    fn kind(&self, t: TermId) -> Option<Kind> {
        let n = self.terms.node(t);
        let (a, b) = (n.arg_a(), n.arg_b());
        if n.op != Op::Base && self.terms.args(t).iter().all(|x| self.number(*x)) {
            return Some(Kind::Number);
        }
        match n.op {
            Op::Base => Some(Kind::Pointer([Leaf { base: Some(BaseId(n.a)), low: 0, high: 0 }].into())),
            Op::Add if self.number(b) => self.shifted(a, b, false),
            Op::Add if self.number(a) => self.shifted(b, a, false),
            Op::Sub if self.number(b) => self.shifted(a, b, true),
            Op::Sub => self.difference(a, b),
            Op::Ite if self.number(a) => {
                let array = self.terms.has(t, facts::IS_ARRAY);
                let all = self.union(&self.leaves(b)?, &self.leaves(n.arg_c())?);
                Some(if array { Kind::Cells(all) } else { Kind::Pointer(all) })
            }
            Op::Store if self.number(b) && n.width == self.terms.pointer_bits => {
                Some(Kind::Cells(self.union(&self.leaves(a)?, &self.leaves(n.arg_c())?)))
            }
            Op::Read if self.number(b) => match self.kinds.get(&a) {
                Some(Kind::Cells(leaves)) => Some(Kind::Pointer(leaves.clone())),
                _ => None,
            },
            Op::Eq | Op::Ult | Op::Ule | Op::Slt | Op::Sle => self.comparison(t).then_some(Kind::Number),
            _ => None,
        }
    }

    /// The leaves of a pointer, or of the cells of an array.
    fn leaves(&self, t: TermId) -> Option<Leaves> {
        let n = self.terms.node(t);
        let number = |low: u64, high: u64| {
            let leaf = Leaf { base: None, low: i128::from(low), high: i128::from(high) };
            Some(Leaves::from([leaf]))
        };
        if self.number(t) {
            return match n.op {
                Op::ArrayConst => number(0, self.terms.table(t).iter().copied().max().unwrap_or(0)),
                _ if self.terms.has(t, facts::IS_ARRAY) => number(0, u64::MAX),
                _ if n.width > 64 => None,
                _ => {
                    let (low, high) = self.range(t, DEPTH);
                    number(low, high)
                }
            };
        }
        match self.kinds.get(&t)? {
            Kind::Pointer(l) | Kind::Cells(l) => Some(l.clone()),
            _ => None,
        }
    }

    fn union(&self, a: &Leaves, b: &Leaves) -> Leaves {
        let mut all: Vec<Leaf> = a.iter().chain(b.iter()).copied().collect();
        all.sort_by_key(|l| l.base);
        all.dedup_by(|x, kept| {
            let same = x.base == kept.base;
            if same {
                (kept.low, kept.high) = (kept.low.min(x.low), kept.high.max(x.high));
            }
            same
        });
        all.into()
    }

    /// A pointer or a distance plus (or minus) a number: (p − β) + k is (p + k) − β.
    fn shifted(&self, pointer: TermId, by: TermId, minus: bool) -> Option<Kind> {
        let w = self.terms.width(by);
        let modulus = 1i128 << w;
        let (low, high) = self.range(by, DEPTH);
        let (low, high) = (i128::from(low), i128::from(high));
        let half = modulus / 2;
        let (low, high) = match (low < half, high < half) {
            (true, true) => (low, high),
            (false, false) => (low - modulus, high - modulus),
            _ => (-modulus, modulus),
        };
        let (low, high) = if minus { (-high, -low) } else { (low, high) };
        let moved = |l: &Leaf| {
            let (low, high) = (l.low + low, l.high + high);
            match l.base {
                Some(_) => Leaf { base: l.base, low: low.max(-modulus), high: high.min(modulus) },
                None if low >= 0 && high < modulus => Leaf { base: None, low, high },
                None => Leaf { base: None, low: 0, high: modulus - 1 },
            }
        };
        Some(match self.kinds.get(&pointer) {
            Some(Kind::Distance(leaves, base)) => Kind::Distance(leaves.iter().map(moved).collect(), *base),
            _ => Kind::Pointer(self.leaves(pointer)?.iter().map(moved).collect()),
        })
    }

    fn difference(&self, a: TermId, b: TermId) -> Option<Kind> {
        let (p, q) = (self.leaves(a)?, self.leaves(b)?);
        let [one] = q[..] else { return None };
        if p.iter().all(|l| l.base == one.base) {
            return Some(Kind::Number);
        }
        (self.terms.op(b) == Op::Base).then_some(Kind::Distance(p, one.base?))
    }

    /// Is the truth of this comparison the same in every layout?
    fn comparison(&self, t: TermId) -> bool {
        let n = self.terms.node(t);
        let distance = |x: TermId| matches!(self.kinds.get(&x), Some(Kind::Distance(..)));
        if distance(n.arg_a()) || distance(n.arg_b()) {
            return self.guard(t);
        }
        // Addresses of 32 bits may be negative.
        if matches!(n.op, Op::Slt | Op::Sle) && self.terms.pointer_bits < 64 {
            return false;
        }
        let (Some(p), Some(q)) = (self.leaves(n.arg_a()), self.leaves(n.arg_b())) else { return false };
        let order = n.op != Op::Eq;
        p.len() * q.len() <= MAX_PAIRS && p.iter().all(|x| q.iter().all(|y| self.comparable(x, y, order)))
    }

    fn comparable(&self, x: &Leaf, y: &Leaf, order: bool) -> bool {
        match (x.base, y.base) {
            (None, None) => true,
            // β + m = β + n is m = n; the order needs that neither wraps around.
            (Some(a), Some(b)) if a == b => !order || self.inside(x) && self.inside(y),
            // Positions in different objects, or just past them, are different.
            (Some(_), Some(_)) => !order && self.inside(x) && self.inside(y),
            (Some(_), None) => self.inside(x) && self.elsewhere(y),
            (None, Some(_)) => self.inside(y) && self.elsewhere(x),
        }
    }

    /// `p − β` compared with a constant: true for a range of offsets into β only, or for all but these.
    fn guard(&self, t: TermId) -> bool {
        let Some((x, arc)) = Arc::of(self.terms, t) else { return false };
        let Some(Kind::Distance(leaves, base)) = self.kinds.get(&x) else { return false };
        let all = mask(self.terms.width(x));
        let after = arc.last(self.terms.width(x)).wrapping_add(1) & all;
        let rest = Arc { first: after, more: (all - arc.more).saturating_sub(1) };
        if !self.within(arc, *base) && !self.within(rest, *base) {
            return false;
        }
        leaves.iter().all(|l| match l.base {
            None => self.elsewhere(l),
            Some(b) => b == *base || self.inside(l),
        })
    }

    /// No object lies at such a number.
    fn elsewhere(&self, number: &Leaf) -> bool {
        number.high < FIRST || number.low > i128::from(base_range(self.terms.pointer_bits).1)
    }

    /// The offset lies in its object, or just past it.
    fn inside(&self, l: &Leaf) -> bool {
        let Some(size) = l.base.and_then(|b| self.query.size(b)) else { return false };
        l.low >= 0 && l.high <= i128::from(size)
    }

    /// The least and the greatest value of a number, by its term and by the query's comparisons.
    fn range(&self, t: TermId, depth: u32) -> (u64, u64) {
        let (mut low, mut high) = self.terms.range(t);
        let mut meet = |(l, h): (u64, u64)| (low, high) = (low.max(l), high.min(h));
        if let Some(&b) = self.bounds.get(&t) {
            meet(b);
        }
        if depth > 0 && self.terms.width(t) <= 64 {
            let n = self.terms.node(t);
            let all = mask(n.width);
            let of = |x: TermId| self.range(x, depth - 1);
            let fits = |l: Option<u64>, h: Option<u64>| Some((l?, h.filter(|h| *h <= all)?));
            let inner = match n.op {
                Op::ZExt => Some(of(n.arg_a())),
                Op::SExt => Some(of(n.arg_a())).filter(|r| r.1 <= mask(self.terms.width(n.arg_a())) / 2),
                Op::Extract if n.b == 0 => Some(of(n.arg_a())).filter(|r| r.1 <= all),
                Op::Concat if self.terms.as_const(n.arg_a()) == Some(0) => Some(of(n.arg_b())),
                Op::Concat => {
                    let (h, l) = (of(n.arg_a()), of(n.arg_b()));
                    let by = u32::from(self.terms.width(n.arg_b()));
                    Some((h.0 << by | l.0, h.1 << by | l.1))
                }
                Op::Add => {
                    let (x, y) = (of(n.arg_a()), of(n.arg_b()));
                    fits(x.0.checked_add(y.0), x.1.checked_add(y.1))
                }
                Op::Mul => {
                    let (x, y) = (of(n.arg_a()), of(n.arg_b()));
                    fits(x.0.checked_mul(y.0), x.1.checked_mul(y.1))
                }
                Op::Ite => {
                    let (x, y) = (of(n.arg_b()), of(n.arg_c()));
                    Some((x.0.min(y.0), x.1.max(y.1)))
                }
                _ => None,
            };
            if let Some(r) = inner {
                meet(r);
            }
        }
        // Contradictory comparisons: the query is false in every layout, any range will do.
        (low, high.max(low))
    }
}
