//! Small domains: a constraint on one symbolic variable of at most 8 bits is the set of values that make it true.
//!
//! *Idea*: queries of programs that read bytes are mostly about one byte. The truth set of a constraint (a bitmap of
//! 256 bits) is computed once, by evaluation; a query is then an intersection of bitmaps per variable. *Invariant*: v ∈
//! truth(c) ⇔ c[k := v], so ⋀Q on one variable is satisfiable iff ⋂ truth(c) ≠ ∅. The model takes the smallest values;
//! the core is minimal.

use super::decided::Decided;
use crate::answer::{Answer, Core};
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::{Key, Lanes, Model, Op, SymbolKind, TermId, Terms, facts};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::cell::RefCell;
use std::rc::Rc;

/// Terms of more operators than this are left to the back end.
const MAX_OPERATORS: usize = 2_000;

const VALUES: usize = 256;

/// Up to this many variables are looked for one after the other.
const FEW: usize = 8;

/// A set of values below 256.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Set([u64; 4]);

impl Set {
    const EMPTY: Set = Set([0; 4]);
    pub const ALL: Set = Set([u64::MAX; 4]);
    fn below(n: usize) -> Set {
        let mut s = Set::EMPTY;
        for (i, word) in s.0.iter_mut().enumerate() {
            *word = match n.saturating_sub(64 * i) {
                0 => 0,
                m if m >= 64 => u64::MAX,
                m => (1 << m) - 1,
            };
        }
        s
    }
    fn has(self, v: usize) -> bool {
        self.0[v / 64] >> (v % 64) & 1 == 1
    }
    fn insert(&mut self, v: usize) {
        self.0[v / 64] |= 1 << (v % 64);
    }
    #[inline]
    fn zip(self, other: Set, f: impl Fn(u64, u64) -> u64) -> Set {
        let (a, b) = (self.0, other.0);
        Set([f(a[0], b[0]), f(a[1], b[1]), f(a[2], b[2]), f(a[3], b[3])])
    }
    #[inline]
    pub fn and(self, other: Set) -> Set {
        self.zip(other, |a, b| a & b)
    }
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == [0; 4]
    }
    pub fn first(self) -> Option<u64> {
        let i = self.0.iter().position(|&w| w != 0)?;
        Some(64 * i as u64 + u64::from(self.0[i].trailing_zeros()))
    }
}

/// What is known about constraints; the domain links of one chain share it.
#[derive(Default)]
pub struct TruthTables {
    /// `None`: not a constraint on one small variable
    truth: FxHashMap<TermId, Option<(Key, Set)>>,
    models: FxHashMap<(Key, u64), Rc<Model>>,
    made: u64,
}

pub struct Domain<S> {
    next: S,
    truths: Rc<RefCell<TruthTables>>,
    statistics: Decided,
}

/// The values a variable can take, if they are few.
fn domain(terms: &Terms, key: Key) -> Option<Set> {
    match terms.symbols.kind(key.symbol()) {
        SymbolKind::Bits(w) if w <= 8 => Some(Set::below(1 << w)),
        SymbolKind::Array { len, .. } if key.cell() >= len => None,
        SymbolKind::Array { element, .. } if element <= 8 => Some(Set::below(1 << element)),
        _ => None,
    }
}

/// The truth of `c` for each value of `key`, its only variable. `None` if an operator is not supported.
fn truth_column(terms: &Terms, c: TermId, key: Key, all: Set) -> Option<Vec<u64>> {
    let mut lanes = Lanes::new(terms, &[c], &[key], VALUES, u64::MAX)?;
    for (v, slot) in lanes.key_mut(0).iter_mut().enumerate() {
        // Values outside the variable's width stand for 0.
        *slot = if all.has(v) { v as u64 } else { 0 };
    }
    lanes.root(terms, 0).map(<[u64]>::to_vec)
}

fn few_operators(terms: &Terms, t: TermId) -> bool {
    let mut seen = FxHashSet::default();
    let mut todo = vec![t];
    while let Some(x) = todo.pop() {
        if seen.insert(x) {
            if seen.len() > MAX_OPERATORS {
                return false;
            }
            todo.extend(terms.args(x));
        }
    }
    true
}

impl TruthTables {
    #[inline]
    pub(super) fn truth(&mut self, terms: &mut Terms, c: TermId) -> Option<(Key, Set)> {
        match self.truth.get(&c) {
            Some(&known) => known,
            None => {
                let made = self.make(terms, c);
                self.truth.insert(c, made);
                made
            }
        }
    }

    fn make(&mut self, terms: &mut Terms, c: TermId) -> Option<(Key, Set)> {
        let &[key] = &*terms.support(c) else { return None };
        let all = domain(terms, key)?;
        if terms.has(c, facts::HAS_FORALL) {
            return None;
        }
        self.made += 1;
        let n = terms.node(c);
        match n.op {
            Op::Not => {
                let (_, set) = self.truth(terms, n.arg_a())?;
                return Some((key, all.zip(set, |a, b| a & !b)));
            }
            Op::And | Op::Or => {
                let known = |t| self.truth.get(&t).copied().flatten();
                if let (Some((_, a)), Some((_, b))) = (known(n.arg_a()), known(n.arg_b())) {
                    let set = if n.op == Op::And { a.and(b) } else { a.zip(b, |a, b| a | b) };
                    return Some((key, set));
                }
            }
            _ => {}
        }
        if !few_operators(terms, c) {
            return None;
        }
        let mut set = Set::EMPTY;
        if let Some(column) = truth_column(terms, c, key, all) {
            for v in (0..VALUES).filter(|&v| column[v] == 1) {
                set.insert(v);
            }
            return Some((key, set.and(all)));
        }
        let mut model = Model::new();
        for v in 0..VALUES {
            if all.has(v) {
                model.set(key, v as u64);
                if terms.try_eval(c, &model)? == 1 {
                    set.insert(v);
                }
            }
        }
        Some((key, set))
    }

    /// The values that constraints on this variable alone leave it, and those constraints; `None` if it is not small.
    pub(super) fn left_to(
        &mut self,
        terms: &mut Terms,
        constraints: &[TermId],
        key: Key,
    ) -> Option<(Vec<u64>, Vec<TermId>)> {
        let Some(mut left) = domain(terms, key) else {
            let n = match terms.symbols.kind(key.symbol()) {
                SymbolKind::Bits(w @ 9..=16) => 1 << w,
                SymbolKind::Array { element: w @ 9..=16, len } if key.cell() < len => 1 << w,
                _ => return None,
            };
            return Some(((0..n).collect(), Vec::new()));
        };
        let mut used = Vec::new();
        for &c in constraints {
            if let Some((k, set)) = self.truth(terms, c)
                && k == key
            {
                left = left.and(set);
                used.push(c);
            }
        }
        Some(((0..VALUES).filter(|&v| left.has(v)).map(|v| v as u64).collect(), used))
    }

    fn model(&mut self, found: &[(Key, Set)]) -> Rc<Model> {
        let value = |set: Set| set.first().unwrap_or(0);
        if let &[(key, set)] = found {
            let v = value(set);
            return self.models.entry((key, v)).or_insert_with(|| single(key, v)).clone();
        }
        let mut model = Model::new();
        for &(key, set) in found {
            model.set(key, value(set));
        }
        Rc::new(model)
    }

    /// The answer, if some constraints contradict each other or all are on symbolic variables with few values.
    fn decide(&mut self, terms: &mut Terms, constraints: &[TermId]) -> Option<Answer> {
        let mut found: SmallVec<[(Key, Set); 4]> = SmallVec::new();
        let mut places: FxHashMap<Key, usize> = FxHashMap::default();
        let mut empty = None;
        let mut complete = true;
        for &c in constraints.iter().rev() {
            let Some((key, set)) = self.truth(terms, c) else {
                complete = false;
                break;
            };
            let place = match found.len() {
                n if n <= FEW => found.iter().position(|(k, _)| *k == key),
                _ => places.get(&key).copied(),
            };
            let left = match place {
                Some(i) => {
                    found[i].1 = found[i].1.and(set);
                    found[i].1
                }
                None => {
                    found.push((key, set));
                    match found.len() {
                        n if n == FEW + 1 => places.extend(found.iter().enumerate().map(|(i, f)| (f.0, i))),
                        n if n > FEW => drop(places.insert(key, n - 1)),
                        _ => {}
                    }
                    set
                }
            };
            if left.is_empty() {
                empty = Some(key);
                break;
            }
        }
        // SOUND: an empty intersection of some constraints is enough, whatever the others say.
        if let Some(key) = empty {
            return Some(Answer::Unsat(self.core(terms, constraints, key)));
        }
        complete.then(|| Answer::Sat(self.model(&found)))
    }

    /// A minimal core on `key`: the constraint that empties the intersection belongs to it; repeat with it up front.
    fn core(&mut self, terms: &mut Terms, constraints: &[TermId], key: Key) -> Core {
        let mut on_key: Vec<(TermId, Set)> = Vec::new();
        for &c in constraints {
            if let Some((k, set)) = self.truth(terms, c)
                && k == key
            {
                on_key.push((c, set));
            }
        }
        let mut kept = Set::ALL;
        let mut core = Vec::new();
        let mut end = on_key.len();
        while !kept.is_empty() && end > 0 {
            let mut set = kept;
            let last = on_key[..end].iter().position(|(_, s)| {
                set = set.and(*s);
                set.is_empty()
            });
            let Some(last) = last else { break };
            core.push(on_key[last].0);
            kept = kept.and(on_key[last].1);
            end = last;
        }
        Core::new(core)
    }
}

fn single(key: Key, value: u64) -> Rc<Model> {
    let mut model = Model::new();
    model.set(key, value);
    Rc::new(model)
}

impl<S: Solver> Domain<S> {
    pub fn new(next: S) -> Domain<S> {
        Domain::sharing(&Rc::default(), next)
    }

    pub fn sharing(truths: &Rc<RefCell<TruthTables>>, next: S) -> Domain<S> {
        Domain { next, truths: truths.clone(), statistics: Decided::default() }
    }
}

impl<S: Solver> Solver for Domain<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        let found = self.truths.borrow_mut().decide(terms, query.constraints);
        self.statistics.count(found).unwrap_or_else(|| self.next.check(terms, query))
    }

    fn stats(&self, out: &mut Stats) {
        self.statistics.stats(["domain.queries", "domain.sat", "domain.unsat"], out);
        // counted by whichever link comes first
        out.set("domain.truth-sets", self.truths.borrow().made);
        self.next.stats(out);
    }
}
