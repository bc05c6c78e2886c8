//! Are two queries equal up to names of bases?
//!
//! *Paper*: Memory §4.3.2, Algorithm 2. *Idea*: an equality check that builds a bijection of bases as it goes; matched
//! bases have objects of equal size. The hash by which candidates are found gives all bases the same value.
//! *Invariant*: `Renaming::of(q, r)` succeeds only if some bijection of bases with equal sizes maps the constraints of
//! q to those of r, operators and constants alike. *Direction*: may miss a bijection where several constraints differ
//! in their bases only and come in another order.

use crate::query::BasedQueryRef;
use pleach_expr::term::arity;
use pleach_expr::{BaseId, Op, TermId, Terms, facts};
use rustc_hash::{FxHashMap, FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};

/// Hashes of terms with all bases erased, remembered.
#[derive(Default)]
pub struct NormalizedTerm {
    of: FxHashMap<TermId, u64>,
}

impl NormalizedTerm {
    pub fn hash(&mut self, terms: &Terms, t: TermId) -> u64 {
        if let Some(h) = self.known(terms, t) {
            return h;
        }
        let mut todo = vec![t];
        let mut seen: FxHashSet<TermId> = FxHashSet::default();
        while let Some(x) = todo.pop() {
            if self.known(terms, x).is_none() && seen.insert(x) {
                todo.extend(terms.args(x));
            }
        }
        let mut order: Vec<TermId> = seen.into_iter().collect();
        // Arguments have smaller ids than their operators.
        order.sort_unstable();
        for x in order {
            let h = self.of_node(terms, x);
            self.of.insert(x, h);
        }
        self.known(terms, t).unwrap_or_default()
    }

    fn known(&self, terms: &Terms, t: TermId) -> Option<u64> {
        if terms.has(t, facts::HAS_BASE) { self.of.get(&t).copied() } else { Some(hash_of((0u8, t))) }
    }

    fn of_node(&self, terms: &Terms, t: TermId) -> u64 {
        let n = terms.node(t);
        if n.op == Op::Base {
            return hash_of((1u8, n.width));
        }
        let mut args: Vec<u64> = terms.args(t).iter().map(|&a| self.known(terms, a).unwrap_or_default()).collect();
        // The order of these arguments goes by ids, which renaming changes.
        if n.op.is_commutative() {
            args.sort_unstable();
        }
        hash_of((n.op as u8, n.width, immediate(terms, t), args))
    }

    pub fn entries(&self) -> usize {
        self.of.len()
    }
    pub fn clear(&mut self) {
        self.of.clear();
    }
}

pub fn hash_of(x: impl Hash) -> u64 {
    let mut h = FxHasher::default();
    x.hash(&mut h);
    h.finish()
}

/// What an operator with one argument has besides it: where an extraction begins, how to round.
fn immediate(terms: &Terms, t: TermId) -> u32 {
    let n = terms.node(t);
    if arity(n.op) == 1 { n.b } else { 0 }
}

/// The constraints of a query in an order that does not depend on its bases: those without bases by id, then those
/// with.
pub struct Form {
    pub free: Box<[TermId]>,
    pub based: Box<[TermId]>,
    pub hash: u64,
}

impl Form {
    pub fn of(terms: &Terms, erased: &mut NormalizedTerm, query: &BasedQueryRef) -> Form {
        let (mut based, free): (Vec<TermId>, Vec<TermId>) =
            query.constraints.iter().partition(|&&c| terms.has(c, facts::HAS_BASE));
        based.sort_by_cached_key(|&c| (erased.hash(terms, c), c));
        let hashes: Vec<u64> = based.iter().map(|&c| erased.hash(terms, c)).collect();
        let hash = hash_of((&free, hashes));
        Form { free: free.into(), based: based.into(), hash }
    }
}

/// A bijection of bases, as far as it is known.
#[derive(Default)]
pub struct Renaming {
    forward: FxHashMap<BaseId, BaseId>,
    backward: FxHashMap<BaseId, BaseId>,
    done: FxHashSet<(TermId, TermId)>,
}

impl Renaming {
    /// `from` and `to` with the sizes of their objects.
    pub fn of(
        terms: &Terms,
        erased: &mut NormalizedTerm,
        from: (&Form, &BasedQueryRef),
        to: (&Form, &BasedQueryRef),
    ) -> Option<Renaming> {
        if from.0.free != to.0.free || from.0.based.len() != to.0.based.len() {
            return None;
        }
        let mut renaming = Renaming::default();
        for (&a, &b) in from.0.based.iter().zip(&*to.0.based) {
            if !renaming.matches(terms, erased, a, b, from.1, to.1) {
                return None;
            }
        }
        Some(renaming)
    }

    /// `add-pair` of Algorithm 2.
    fn pair(&mut self, a: BaseId, b: BaseId, from: &BasedQueryRef, to: &BasedQueryRef) -> bool {
        let fits = *self.forward.entry(a).or_insert(b) == b && *self.backward.entry(b).or_insert(a) == a;
        fits && from.size(a).is_some() && from.size(a) == to.size(b)
    }

    /// `equi-sat` of Algorithm 2, without recursion.
    fn matches(
        &mut self,
        terms: &Terms,
        erased: &mut NormalizedTerm,
        a: TermId,
        b: TermId,
        from: &BasedQueryRef,
        to: &BasedQueryRef,
    ) -> bool {
        let mut todo = vec![(a, b)];
        while let Some((a, b)) = todo.pop() {
            let based = terms.has(a, facts::HAS_BASE);
            if !based || !terms.has(b, facts::HAS_BASE) {
                // Terms are hash-consed.
                if a != b {
                    return false;
                }
                continue;
            }
            if !self.done.insert((a, b)) {
                continue;
            }
            let (m, n) = (terms.node(a), terms.node(b));
            if m.op != n.op || m.width != n.width || immediate(terms, a) != immediate(terms, b) {
                return false;
            }
            if m.op == Op::Base {
                if !self.pair(BaseId(m.a), BaseId(n.a), from, to) {
                    return false;
                }
                continue;
            }
            let (xs, mut ys) = (terms.args(a), terms.args(b));
            if m.op.is_commutative() && erased.hash(terms, xs[0]) != erased.hash(terms, ys[0]) {
                ys.swap(0, 1);
            }
            todo.extend(xs.into_iter().zip(ys).rev());
        }
        true
    }
}
