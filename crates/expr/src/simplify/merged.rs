//! Values that merging made: long chains of choices.
//!
//! *Idea*: what leaves a loop after any number of rounds is a chain `ite(c0, 0, ite(c1, 1, …))`. A comparison with it is
//! one comparison with a constant per round, chosen by the same conditions: those are the comparisons that the loop has
//! made, so that the path constraint decides them without any arithmetic. And the range of a long sum over such chains
//! is found once for each of its parts. *Direction*: both are equivalences; short chains stay as they are.

use crate::term::{Op, TermId, Terms, mask};

/// A shorter chain of choices is compared as it is.
const LONG_CHAIN: usize = 16;
/// A longer one, too.
const MAX_CHAIN: usize = 2048;

/// `compare(t)` with `other` for a long chain of choices with constants on one side each, as the same chain of the
/// comparisons. Not where the conditions speak of the other side themselves: they are then no comparisons with
/// constants, and what follows from them together is easier to see in one comparison.
pub(super) fn compare_chain(
    terms: &mut Terms,
    t: TermId,
    other: TermId,
    compare: impl Fn(&mut Terms, TermId) -> TermId,
) -> Option<TermId> {
    let mut links: smallvec::SmallVec<[(TermId, TermId, bool); 16]> = Default::default();
    let mut rest = t;
    loop {
        let n = terms.node(rest);
        if n.op != Op::Ite || links.len() > MAX_CHAIN {
            break;
        }
        match (terms.is_constant(n.arg_b()), terms.is_constant(n.arg_c())) {
            (true, _) => {
                links.push((n.arg_a(), n.arg_b(), true));
                rest = n.arg_c();
            }
            (false, true) => {
                links.push((n.arg_a(), n.arg_c(), false));
                rest = n.arg_b();
            }
            _ => break,
        }
    }
    if !(LONG_CHAIN..=MAX_CHAIN).contains(&links.len()) || !terms.is_constant(rest) {
        return None;
    }
    let about = terms.support(other);
    for condition in [links[0].0, links[links.len() - 1].0] {
        if terms.support(condition).iter().any(|k| about.contains(k)) {
            return None;
        }
    }
    let mut result = compare(terms, rest);
    for (condition, arm, then) in links.into_iter().rev() {
        let here = compare(terms, arm);
        let (a, b) = if then { (here, result) } else { (result, here) };
        result = terms.ite(condition, a, b);
    }
    Some(result)
}

impl Terms {
    /// The range of a choice, however deep: of choices, sums and extensions each part is looked at once and for all.
    pub(super) fn range_of_choice(&mut self, t: TermId) -> (u64, u64) {
        let mut todo = vec![t];
        while let Some(&x) = todo.last() {
            let n = self.node(x);
            if self.ranges.contains_key(&x) {
                todo.pop();
                continue;
            }
            let parts: smallvec::SmallVec<[TermId; 2]> = match n.op {
                Op::Ite => [n.arg_b(), n.arg_c()].into(),
                Op::Add => [n.arg_a(), n.arg_b()].into(),
                Op::ZExt => [n.arg_a()].as_slice().into(),
                _ => {
                    let shallow = self.range(x);
                    self.ranges.insert(x, shallow);
                    continue;
                }
            };
            let missing = parts.iter().filter(|p| !self.ranges.contains_key(p)).count();
            if missing > 0 {
                todo.extend(parts.iter().filter(|p| !self.ranges.contains_key(p)));
                continue;
            }
            let of = |i: usize| self.ranges[&parts[i]];
            let range = match n.op {
                Op::Ite => (of(0).0.min(of(1).0), of(0).1.max(of(1).1)),
                Op::Add => match of(0).1.checked_add(of(1).1).filter(|h| *h <= mask(n.width)) {
                    Some(high) => (of(0).0 + of(1).0, high),
                    None => (0, mask(n.width)),
                },
                _ => of(0),
            };
            self.ranges.insert(x, range);
        }
        self.ranges[&t]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Key, Model, SymbolKind};

    /// `ite(x < 1, 0, ite(x < 2, 1, …))`, and the keys of `x` and `y`.
    fn chain(terms: &mut Terms, rounds: u64) -> (TermId, TermId, [Key; 2]) {
        let [x, y] = ["x", "y"].map(|name| terms.symbols.named(name, SymbolKind::Bits(8)));
        let keys = [x, y].map(|s| Key::new(s, 0));
        let (x, y) = (terms.var(x), terms.var(y));
        let last = terms.constant(8, rounds);
        let chain = (0..rounds).rev().fold(last, |rest, i| {
            let (k, next) = (terms.constant(8, i), terms.constant(8, i + 1));
            let left = terms.ult(x, next);
            terms.ite(left, k, rest)
        });
        (chain, y, keys)
    }

    #[test]
    fn a_comparison_with_a_long_chain_is_the_chain_of_comparisons() {
        let mut terms = Terms::new(64);
        let (chain, y, keys) = chain(&mut terms, 20);
        let made = [terms.ult(chain, y), terms.ule(y, chain), terms.slt(y, chain), terms.eq(chain, y)];
        assert!(made.iter().all(|t| !terms.args(*t).contains(&chain)), "no comparison of the chain as a whole");
        for x in 0..40 {
            for v in (0..40).chain(200..210) {
                let mut model = Model::default();
                model.set(keys[0], x);
                model.set(keys[1], v);
                let c = x.min(20);
                let signed = |v: u64| v as u8 as i8;
                let expected = [c < v, v <= c, signed(v) < signed(c), c == v];
                let found = made.map(|t| terms.try_eval(t, &model).map(|v| v != 0));
                assert_eq!(found, expected.map(Some), "x {x}, y {v}");
            }
        }
    }

    #[test]
    fn the_range_of_a_deep_sum_is_known() {
        let mut terms = Terms::new(64);
        let zero = terms.constant(32, 0);
        let mut sum = zero;
        for i in 0..100 {
            let s = terms.symbols.named(&format!("b{i}"), SymbolKind::Bits(8));
            let byte = terms.var(s);
            let none = terms.constant(8, 0);
            let skip = terms.eq(byte, none);
            let wide = terms.zext(byte, 32);
            let more = terms.add(sum, wide);
            sum = terms.ite(skip, sum, more);
        }
        assert_eq!(terms.range_of_choice(sum), (0, 25_500));
        let limit = terms.constant(32, 25_500);
        assert_eq!(terms.ule(sum, limit), Terms::TRUE);
        let less = terms.constant(32, 25_499);
        assert_ne!(terms.ule(sum, less), Terms::TRUE);
    }
}
