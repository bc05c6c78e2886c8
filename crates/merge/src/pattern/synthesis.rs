//! Formulas of which given ones are instances.
//!
//! *Paper*: Memory §6.2.3. *Idea*: two instances are compared operator by operator; numerals that differ become `a·x +
//! b`. What that gives is then instantiated for every number, by the rewriting builder, and compared with what is there.
//! So it does not matter that the builder writes a first round otherwise than later ones: `0 < n` is `n ≠ 0`.
//! *Deviations*: where `a·x + b` does not fit, a constant that is shifted by a multiple of x is tried: a loop over bits
//! has `v & (1 << x)`.

use super::COUNTER_BITS;
use pleach_expr::term::arity;
use pleach_expr::{Node, Op, TermId, Terms, mask, sign_extend};
use rustc_hash::FxHashMap;

/// Pairs of terms that are compared for one formula.
const MAX_PAIRS: usize = 4_096;
const MAX_DEPTH: u32 = 128;

/// A formula over `x` with these instances, by their numbers in increasing order; at least two.
pub(super) fn formula(terms: &mut Terms, x: TermId, instances: &[(u64, TermId)]) -> Option<TermId> {
    [Numerals::Linear, Numerals::Shifted].into_iter().find_map(|numerals| {
        let found = one_of(terms, x, instances, numerals)?;
        instances.iter().all(|&(n, t)| terms.instance(x, found, n) == t).then_some(found)
    })
}

/// One of which all are instances, or else one of which the last two are, if any is.
pub(super) fn candidate(terms: &mut Terms, x: TermId, instances: &[(u64, TermId)]) -> Option<TermId> {
    formula(terms, x, instances).or_else(|| one_of(terms, x, instances, Numerals::Linear))
}

/// How numerals depend on the number of the round.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Numerals {
    /// `a·x + b`
    Linear,
    /// `c << a·x` or `c >> a·x`, or next to it
    Shifted,
}

fn one_of(terms: &mut Terms, x: TermId, instances: &[(u64, TermId)], numerals: Numerals) -> Option<TermId> {
    let [.., (m, s), (n, t)] = *instances else { return None };
    if instances.iter().all(|i| i.1 == s) {
        return Some(s);
    }
    Comparison { x, m, n, numerals, known: FxHashMap::default() }.both(terms, s, t, 0)
}

/// Compares instances for m and n.
struct Comparison {
    x: TermId,
    m: u64,
    n: u64,
    numerals: Numerals,
    known: FxHashMap<(TermId, TermId), Option<TermId>>,
}

impl Comparison {
    fn both(&mut self, terms: &mut Terms, s: TermId, t: TermId, depth: u32) -> Option<TermId> {
        if s == t {
            return Some(s);
        }
        if let Some(&known) = self.known.get(&(s, t)) {
            return known;
        }
        if depth > MAX_DEPTH || self.known.len() > MAX_PAIRS {
            return None;
        }
        let made = self.compare(terms, s, t, depth);
        self.known.insert((s, t), made);
        made
    }

    fn compare(&mut self, terms: &mut Terms, s: TermId, t: TermId, depth: u32) -> Option<TermId> {
        let (a, b) = (terms.node(s), terms.node(t));
        if a.width != b.width {
            return None;
        }
        if a.op == Op::Const && b.op == Op::Const {
            let (v, w) = (a.value(), b.value());
            let next_to = [0, 1, mask(a.width)].into_iter().filter(|_| self.numerals == Numerals::Shifted);
            let shifted = next_to.into_iter().find_map(|more| self.shifted(terms, a.width, v, w, more));
            return shifted.or_else(|| self.linear(terms, a.width, v, w));
        }
        if a.op == b.op && arity(a.op) > 0 && (arity(a.op) > 1 || a.b == b.b) {
            let (left, right) = (terms.args(s), terms.args(t));
            if let Some(args) = self.arguments(terms, &left, &right, depth) {
                return Some(at_most(terms, a, &args).unwrap_or_else(|| terms.rebuild(a, &args)));
            }
            // The order of arguments goes by ids.
            if a.op.is_commutative() {
                let swapped = [right[1], right[0]];
                let args = self.arguments(terms, &left, &swapped, depth)?;
                return Some(terms.rebuild(a, &args));
            }
            return None;
        }
        for (op, args) in readings(terms, s) {
            if op == b.op {
                let right = terms.args(t);
                if let Some(args) = self.arguments(terms, &args, &right, depth) {
                    return Some(terms.rebuild(b, &args));
                }
            }
        }
        None
    }

    fn arguments(&mut self, terms: &mut Terms, s: &[TermId], t: &[TermId], depth: u32) -> Option<Vec<TermId>> {
        s.iter().zip(t).map(|(s, t)| self.both(terms, *s, *t, depth + 1)).collect()
    }

    /// `a·x + b` that is v for m and w for n.
    fn linear(&self, terms: &mut Terms, width: u16, v: u64, w: u64) -> Option<TermId> {
        let steps = i64::try_from(self.n.checked_sub(self.m)?).ok().filter(|s| *s > 0)?;
        let distance = sign_extend(w.wrapping_sub(v) & mask(width), width);
        if distance % steps != 0 {
            return None;
        }
        let a = (distance / steps) as u64;
        let b = v.wrapping_sub(a.wrapping_mul(self.m));
        let x = counted(terms, self.x, width);
        let (a, b) = (terms.constant(width, a), terms.constant(width, b));
        let product = terms.mul(a, x);
        Some(terms.add(product, b))
    }
}

impl Comparison {
    /// `(c << a·x) - more` or `(c >> a·x) - more` that is v for m and w for n: the builder writes `3 ≤ y` as `2 < y`.
    fn shifted(&self, terms: &mut Terms, width: u16, v: u64, w: u64, more: u64) -> Option<TermId> {
        let [v, w] = [v, w].map(|n| n.wrapping_add(more) & mask(width));
        let steps = u32::try_from(self.n.checked_sub(self.m)?).ok().filter(|s| *s > 0)?;
        let up = v < w;
        let (low, high) = if up { (v, w) } else { (w, v) };
        if width > 64 || low == 0 || low == high {
            return None;
        }
        let distance = high.leading_zeros().abs_diff(low.leading_zeros());
        let by = u64::from(distance / steps);
        let before = u32::try_from(by.checked_mul(self.m)?).ok().filter(|b| *b < 64)?;
        let c = if up { v >> before } else { v << before & mask(width) };
        let again = if up { c << before } else { c >> before };
        if by == 0 || !distance.is_multiple_of(steps) || low << distance != high || again != v {
            return None;
        }
        let x = counted(terms, self.x, width);
        let (c, by) = (terms.constant(width, c), terms.constant(width, by));
        let by = terms.mul(by, x);
        let shifted = if up { terms.shl(c, by) } else { terms.lshr(c, by) };
        let more = terms.constant(width, more);
        Some(terms.sub(shifted, more))
    }
}

/// `y ≤ a·x + b` for what the builder writes as `y < a·x + b + 1`, if it writes that for all numbers.
fn at_most(terms: &mut Terms, n: Node, args: &[TermId]) -> Option<TermId> {
    let [y, end] = *args else { return None };
    let sum = terms.node(end);
    let by_one = n.op == Op::Ult && sum.op == Op::Add && terms.as_const(sum.arg_b()) == Some(1);
    by_one.then(|| terms.ule(y, sum.arg_a()))
}

/// A counter in another width. Counters are small: nothing is lost where it is wider.
fn counted(terms: &mut Terms, x: TermId, width: u16) -> TermId {
    debug_assert_eq!(terms.width(x), COUNTER_BITS);
    terms.resize_unsigned(x, width)
}

/// What the builder has written in a shorter way, as others are written.
fn readings(terms: &mut Terms, t: TermId) -> Vec<(Op, Vec<TermId>)> {
    let n = terms.node(t);
    let is_zero = |terms: &Terms, t: TermId| {
        let n = terms.node(t);
        let zero = n.op == Op::Eq && terms.as_const(n.arg_b()) == Some(0) && terms.width(n.arg_a()) > 1;
        zero.then(|| n.arg_a())
    };
    if let Some(y) = is_zero(terms, t) {
        let w = terms.width(y);
        let (zero, one) = (terms.constant(w, 0), terms.constant(w, 1));
        return vec![(Op::Ule, vec![y, zero]), (Op::Ult, vec![y, one])];
    }
    if n.op == Op::Not
        && let Some(y) = is_zero(terms, n.arg_a())
    {
        let w = terms.width(y);
        let (zero, one) = (terms.constant(w, 0), terms.constant(w, 1));
        return vec![(Op::Ult, vec![zero, y]), (Op::Ule, vec![one, y])];
    }
    if n.width > 1 && n.width <= 64 {
        let zero = terms.constant(n.width, 0);
        return vec![(Op::Add, vec![t, zero])];
    }
    Vec::new()
}

/// The shapes of a constraint in all readings: those of one round may be written otherwise than those of the next.
pub(super) fn shapes(terms: &mut Terms, t: TermId) -> smallvec::SmallVec<[u64; 3]> {
    let mut all = smallvec::smallvec![terms.shape(t)];
    if terms.width(t) == 1 {
        for (op, args) in readings(terms, t) {
            let read = terms.raw(op, 1, &args, 0);
            all.push(terms.shape(read));
        }
    }
    all
}
