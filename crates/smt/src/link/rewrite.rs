//! `variable = constant` is substituted into the other constraints.
//!
//! *Idea*: such a constraint fixes its symbolic variables; the others become smaller, often constant or about a single
//! byte. *Invariant*: the rest together with the fixed values is equivalent to the query. Each rewritten constraint
//! knows its *origins*, the constraints of the query it follows from, so a core of the rest gives a core of the query;
//! the fixed values complete models.

use crate::answer::{Answer, Core};
use crate::evidence;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::{Key, Model, Op, SymbolId, SymbolKind, TermId, Terms};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use std::rc::Rc;

/// Fixed values found in rewritten constraints are substituted as well, in at most this many rounds.
const ROUNDS: usize = 4;

type Origins = SmallVec<[TermId; 4]>;

struct Item {
    term: TermId,
    origins: Origins,
}

struct FixedValue {
    value: u64,
    origins: Origins,
}

pub struct Rewrite<S> {
    next: S,
    statistics: Statistics,
}

#[derive(Default)]
struct Statistics {
    queries: u64,
    rewritten: u64,
    answered: u64,
}

/// The result of substituting the fixed values.
enum RewriteResult {
    /// no constraint fixes anything
    Nothing,
    Unsat(Origins),
    Rest(Vec<Item>, FxHashMap<Key, FixedValue>),
}

impl<S: Solver> Rewrite<S> {
    pub fn new(next: S) -> Rewrite<S> {
        Rewrite { next, statistics: Statistics::default() }
    }
}

/// The symbolic variable of a leaf, if it is one.
fn unknown(terms: &Terms, t: TermId) -> Option<Key> {
    let n = terms.node(t);
    match n.op {
        Op::Var if n.width <= 64 => Some(Key::new(SymbolId(n.a), 0)),
        Op::Read if terms.op(n.arg_a()) == Op::ArrayVar => {
            let symbol = SymbolId(terms.node(n.arg_a()).a);
            let cell = terms.as_const(n.arg_b())?;
            // A cell beyond the end is 0, not symbolic.
            let SymbolKind::Array { len, .. } = terms.symbols.kind(symbol) else { return None };
            if cell < u64::from(len) { Some(Key::new(symbol, cell as u32)) } else { None }
        }
        _ => None,
    }
}

/// What the constraint fixes: leaves and their values, if it says nothing else.
fn pins(terms: &Terms, constraint: TermId) -> Option<SmallVec<[(TermId, Key, u64); 8]>> {
    let n = terms.node(constraint);
    let (term, value) = match n.op {
        Op::Eq => match (terms.as_const(n.arg_a()), terms.as_const(n.arg_b())) {
            (Some(v), None) => (n.arg_b(), v),
            (None, Some(v)) => (n.arg_a(), v),
            _ => return None,
        },
        Op::Var => (constraint, 1),
        Op::Not => (n.arg_a(), 0),
        _ => return None,
    };
    let mut found = SmallVec::new();
    let mut todo: SmallVec<[(TermId, u64); 8]> = smallvec![(term, value)];
    while let Some((t, v)) = todo.pop() {
        if let Some(key) = unknown(terms, t) {
            found.push((t, key, v));
            continue;
        }
        let n = terms.node(t);
        match n.op {
            Op::Concat => {
                let low = terms.width(n.arg_b());
                todo.push((n.arg_a(), v >> low));
                todo.push((n.arg_b(), v & pleach_expr::mask(low)));
            }
            Op::ZExt if v & !pleach_expr::mask(terms.width(n.arg_a())) == 0 => todo.push((n.arg_a(), v)),
            _ => return None,
        }
    }
    Some(found)
}

/// Arrays that some constraint reads as a whole; their cells cannot be substituted.
fn whole_arrays(terms: &mut Terms, constraints: &[TermId]) -> FxHashSet<SymbolId> {
    let mut whole = FxHashSet::default();
    for &c in constraints {
        whole.extend(terms.support(c).iter().filter(|k| k.is_whole()).map(|k| k.symbol()));
    }
    whole
}

fn union(a: &mut Origins, b: &Origins) {
    for &x in b {
        if !a.contains(&x) {
            a.push(x);
        }
    }
}

/// Conjunctions are split: one of their parts may fix something.
fn push_parts(terms: &mut Terms, items: &mut Vec<Item>, item: Item) {
    let n = terms.node(item.term);
    if n.op == Op::And || n.op == Op::Not && terms.op(n.arg_a()) == Op::Or {
        let parts = terms.conjuncts(item.term);
        items.extend(parts.into_iter().map(|term| Item { term, origins: item.origins.clone() }));
    } else {
        items.push(item);
    }
}

fn put_in(terms: &mut Terms, constraints: &[TermId]) -> RewriteResult {
    let mut items: Vec<Item> = Vec::with_capacity(constraints.len());
    for &c in constraints {
        push_parts(terms, &mut items, Item { term: c, origins: smallvec![c] });
    }
    if !items.iter().any(|i| pins(terms, i.term).is_some()) {
        return RewriteResult::Nothing;
    }
    let whole = whole_arrays(terms, constraints);
    let mut known: FxHashMap<Key, FixedValue> = FxHashMap::default();
    for _ in 0..ROUNDS {
        let mut map: FxHashMap<TermId, TermId> = FxHashMap::default();
        let mut fresh: FxHashSet<Key> = FxHashSet::default();
        let mut rest = Vec::with_capacity(items.len());
        for item in items {
            match pins(terms, item.term) {
                Some(found) if found.iter().all(|(_, k, _)| !whole.contains(&k.symbol())) => {
                    for (leaf, key, value) in found {
                        if let Some(old) = known.get(&key) {
                            if old.value != value {
                                let mut origins = item.origins;
                                union(&mut origins, &old.origins);
                                return RewriteResult::Unsat(origins);
                            }
                            continue;
                        }
                        let constant = terms.constant(terms.width(leaf), value);
                        map.insert(leaf, constant);
                        fresh.insert(key);
                        known.insert(key, FixedValue { value, origins: item.origins.clone() });
                    }
                }
                _ => rest.push(item),
            }
        }
        items = rest;
        if map.is_empty() {
            break;
        }
        let mut kept = Vec::with_capacity(items.len());
        for mut item in items {
            let support = terms.support(item.term);
            let mut touched = false;
            for key in support.iter().filter(|k| fresh.contains(k)) {
                touched = true;
                union(&mut item.origins, &known[key].origins);
            }
            if touched {
                item.term = terms.substitute(item.term, &map);
            }
            match item.term {
                Terms::FALSE => return RewriteResult::Unsat(item.origins),
                Terms::TRUE => {}
                _ if touched => push_parts(terms, &mut kept, item),
                _ => kept.push(item),
            }
        }
        items = kept;
    }
    if known.is_empty() {
        return RewriteResult::Nothing;
    }
    items.sort_by_key(|i| i.term);
    items.dedup_by_key(|i| i.term);
    RewriteResult::Rest(items, known)
}

impl<S: Solver> Solver for Rewrite<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.statistics.queries += 1;
        let (items, known) = match put_in(terms, query.constraints) {
            RewriteResult::Nothing => return self.next.check(terms, query),
            RewriteResult::Unsat(origins) => {
                self.statistics.answered += 1;
                return Answer::Unsat(Core::new(origins.into_vec()));
            }
            RewriteResult::Rest(items, known) => (items, known),
        };
        self.statistics.rewritten += 1;
        let rest: Vec<TermId> = items.iter().map(|i| i.term).collect();
        let answer = if rest.is_empty() {
            self.statistics.answered += 1;
            Answer::Sat(Rc::new(Model::new()))
        } else {
            self.next.check(terms, &query.with(&rest))
        };
        match answer {
            Answer::Sat(model) => {
                let mut full = (*model).clone();
                for (&key, pin) in &known {
                    full.set(key, pin.value);
                }
                // Symbolic variables that the rewriting removed may have any value, but are listed.
                let keys = evidence::support(terms, query.constraints);
                Answer::Sat(Rc::new(evidence::project(terms, &keys, &full)))
            }
            Answer::Unsat(core) => {
                let mut origins = Vec::new();
                for c in core.0.iter() {
                    if let Ok(i) = items.binary_search_by_key(c, |i| i.term) {
                        origins.extend_from_slice(&items[i].origins);
                    }
                }
                Answer::Unsat(Core::new(origins))
            }
            unknown @ Answer::Unknown(_) => unknown,
        }
    }

    fn stats(&self, out: &mut Stats) {
        out.add("rewrite.queries", self.statistics.queries);
        out.add("rewrite.rewritten", self.statistics.rewritten);
        out.add("rewrite.answered", self.statistics.answered);
        self.next.stats(out);
    }
}
