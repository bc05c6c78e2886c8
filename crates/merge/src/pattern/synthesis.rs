//! Formulas of which given ones are instances.
//!
//! *Paper*: Memory §6.2.3. *Idea*: two instances are compared operator by operator; numerals that differ become `a·x +
//! b`. What that gives is then instantiated for every number, by the rewriting builder, and compared with what is there.
//! So it does not matter that the builder writes a first round otherwise than later ones: `0 < n` is `n ≠ 0`.

use super::COUNTER_BITS;
use pleach_expr::term::arity;
use pleach_expr::{Node, Op, TermId, Terms, mask, sign_extend};
use rustc_hash::FxHashMap;

/// Pairs of terms that are compared for one formula.
const MAX_PAIRS: usize = 4_096;
const MAX_DEPTH: u32 = 128;

/// A formula over `x` with these instances, by their numbers in increasing order; at least two.
pub(super) fn formula(terms: &mut Terms, x: TermId, instances: &[(u64, TermId)]) -> Option<TermId> {
    let found = candidate(terms, x, instances)?;
    let fits = instances.iter().all(|&(n, t)| terms.instance(x, found, n) == t);
    fits.then_some(found)
}

/// One of which the last two are instances, if any is.
pub(super) fn candidate(terms: &mut Terms, x: TermId, instances: &[(u64, TermId)]) -> Option<TermId> {
    let [.., (m, s), (n, t)] = *instances else { return None };
    if instances.iter().all(|i| i.1 == s) {
        return Some(s);
    }
    Comparison { x, m, n, known: FxHashMap::default() }.both(terms, s, t, 0)
}

/// Compares instances for m and n.
struct Comparison {
    x: TermId,
    m: u64,
    n: u64,
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
            return self.linear(terms, a.width, a.value(), b.value());
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
