//! Bounded quantifiers: `∀ i < n. p(i)`.
//!
//! *Paper*: Memory §6.2 has `∀ i. 1 ≤ i ≤ k → p(i)`; here rounds are counted from 0. *Idea*: the range is part of the
//! operator, so that a quantifier has a value under a model, and so that it can be expanded where the range is small.
//! *Invariant*: the number of a bound variable is larger than those of all quantifiers inside, so that no substitution
//! captures a variable; a bound variable occurs nowhere outside of its quantifier.

use crate::symbol::{SymbolId, SymbolKind, SymbolOrigin};
use crate::term::{Op, TermId, Terms, facts};
use rustc_hash::FxHashMap;

/// `∀ var < count. body`
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quantifier {
    pub var: TermId,
    pub count: TermId,
    pub body: TermId,
}

impl Terms {
    /// The parts of a quantifier.
    pub fn as_forall(&self, t: TermId) -> Option<Quantifier> {
        let n = self.node(t);
        (n.op == Op::Forall).then(|| Quantifier { var: n.arg_a(), count: n.arg_b(), body: n.arg_c() })
    }

    /// `body` with a number in place of the variable.
    pub fn instance(&mut self, var: TermId, body: TermId, value: u64) -> TermId {
        let value = self.constant(self.width(var), value);
        self.substitute(body, &FxHashMap::from_iter([(var, value)]))
    }

    /// `∀ var in [lo, hi). body`, empty where `hi` is not above `lo`.
    pub fn forall_in(&mut self, var: TermId, lo: TermId, hi: TermId, body: TermId) -> TermId {
        let (distance, empty) = (self.sub(hi, lo), self.ule(hi, lo));
        let zero = self.constant(self.width(var), 0);
        let count = self.ite(empty, zero, distance);
        let shifted = self.add(var, lo);
        let body = self.substitute(body, &FxHashMap::from_iter([(var, shifted)]));
        self.forall(var, count, body)
    }

    /// A variable of this width for a new quantifier, which gives it another name.
    pub fn variable_to_bind(&mut self, width: u16) -> TermId {
        self.bound_variable(width, 0)
    }

    fn bound_variable(&mut self, width: u16, number: u32) -> TermId {
        let name = || if number <= 1 { "i".to_owned() } else { format!("i{number}") };
        let s = self.symbols.intern(SymbolOrigin::Bound(number), SymbolKind::Bits(width), name);
        self.var(s)
    }

    fn bound_number(&self, var: TermId) -> Option<u32> {
        match self.symbols.origin(SymbolId(self.node(var).a)) {
            SymbolOrigin::Bound(n) => Some(n),
            _ => None,
        }
    }

    /// The variable and the body, with the variable that a quantifier over it has.
    pub(crate) fn with_own_variable(&mut self, var: TermId, body: TermId) -> (TermId, TermId) {
        let inside = self.bound_inside(body);
        if self.bound_number(var).is_some_and(|n| n > inside) {
            return (var, body);
        }
        // Variables of quantifiers around this one are free in the body: they keep their names.
        let own = SymbolId(self.node(var).a);
        let free = self.support(body);
        let free = free.iter().map(|k| k.symbol()).filter(|s| *s != own).filter_map(|s| match self.symbols.origin(s) {
            SymbolOrigin::Bound(n) => Some(n),
            _ => None,
        });
        let number = free.max().unwrap_or(0).max(inside) + 1;
        let renamed = self.bound_variable(self.width(var), number);
        let body = self.substitute(body, &FxHashMap::from_iter([(var, renamed)]));
        (renamed, body)
    }

    /// `t` with its bound variables renamed, so that their numbers are higher than those in the others.
    pub(crate) fn with_higher_variables(&mut self, t: TermId, others: Vec<TermId>) -> TermId {
        let by = others.into_iter().map(|o| self.bound_inside(o)).max().unwrap_or(0);
        let bound: Vec<TermId> =
            self.reachable(&[t]).into_iter().filter_map(|x| Some(self.as_forall(x)?.var)).collect();
        let mut map = FxHashMap::default();
        for var in bound {
            if let Some(number) = self.bound_number(var) {
                map.insert(var, self.bound_variable(self.width(var), number + by));
            }
        }
        self.substitute(t, &map)
    }

    /// The highest number of a variable that is bound inside `t`.
    fn bound_inside(&mut self, t: TermId) -> u32 {
        let mut todo = vec![t];
        while let Some(&x) = todo.last() {
            if !self.has(x, facts::HAS_FORALL) || self.bound_inside.contains_key(&x) {
                todo.pop();
                continue;
            }
            let args = self.args(x);
            let unknown = |a: &&TermId| self.has(**a, facts::HAS_FORALL) && !self.bound_inside.contains_key(*a);
            let before = todo.len();
            todo.extend(args.iter().filter(unknown));
            if todo.len() > before {
                continue;
            }
            let below = args.iter().filter_map(|a| self.bound_inside.get(a)).copied().max().unwrap_or(0);
            let own = self.as_forall(x).and_then(|q| self.bound_number(q.var)).unwrap_or(0);
            self.bound_inside.insert(x, below.max(own));
            todo.pop();
        }
        self.bound_inside.get(&t).copied().unwrap_or(0)
    }

    /// All quantifiers in these terms that stand in no other quantifier, in the order of their ids.
    pub fn outer_quantifiers(&self, roots: &[TermId]) -> Vec<TermId> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut todo: Vec<TermId> = roots.to_vec();
        let mut found = Vec::new();
        while let Some(x) = todo.pop() {
            if !self.has(x, facts::HAS_FORALL) || !seen.insert(x) {
                continue;
            }
            match self.op(x) {
                Op::Forall => found.push(x),
                _ => todo.extend(self.args(x)),
            }
        }
        found.sort_unstable();
        found
    }

    /// The quantifier as a conjunction over all values of its variable, if its count is at most `most` whatever the
    /// model: `⋀ c < count → body[c]`.
    pub fn expanded(&mut self, quantifier: TermId, most: u64) -> TermId {
        let Some(Quantifier { var, count, body }) = self.as_forall(quantifier) else { return quantifier };
        let mut all = Terms::TRUE;
        for c in 0..most {
            let number = self.constant(self.width(var), c);
            let inside = self.ult(number, count);
            if inside == Terms::FALSE {
                break;
            }
            let body = self.instance(var, body, c);
            let instance = self.implies(inside, body);
            all = self.and(all, instance);
        }
        all
    }
}
