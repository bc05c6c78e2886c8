//! Reads at symbolic indices, decided value by value.
//!
//! *Idea*: a scan over an input of unknown size makes constraints about single cells, `s[n - 1] = 0`, and bounds on
//! `n`. For each value of `n` that is a query about single cells. So the numbers in indices, which have few values, are
//! tried one after the other; the truth sets of the other constraints refute nearly all of them. *Invariant*: `Sat`
//! after every constraint evaluated to true; `Unsat` after each assignment to the numbers was refuted by a bound, by
//! the truth sets of a cell or by the rest of the chain, all of which are in the core. *Direction*: gives up to the
//! next link where there is too much to try.

use super::decided::Decided;
use super::domain::{Set, TruthTables};
use crate::answer::{Answer, Core};
use crate::evidence;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use pleach_expr::arc::{Arc, Meet};
use pleach_expr::{Key, Model, SymbolKind, TermId, Terms, facts};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Numbers in indices.
const MAX_NUMBERS: usize = 3;
/// Values of one number.
const MAX_VALUES: u64 = 1 << 12;
/// Values that are tried in one query.
const MAX_TRIED: usize = 1 << 13;
/// Assignments that are left to the rest of the chain.
const MAX_PASSED: usize = 2;
/// Constraints with numbers for variables that are remembered.
const MAX_REMEMBERED: usize = 1 << 17;

type Values = [u64; MAX_NUMBERS];

pub struct Indices<S> {
    next: S,
    truths: Rc<RefCell<TruthTables>>,
    /// a constraint with its variables replaced by numbers
    made: FxHashMap<(TermId, Values), TermId>,
    /// queries of the chain that are hard
    hard: Rc<Cell<u64>>,
    statistics: Decided,
}

/// A constraint about numbers, and which of them.
struct Indexed {
    constraint: TermId,
    numbers: Vec<usize>,
}

/// A query, sorted by what its constraints are about.
struct Split {
    numbers: Vec<(Key, Arc, u16)>,
    indexed: Vec<Indexed>,
    /// what single cells may be, and the constraints that say so
    cells: FxHashMap<Key, (Set, Vec<(TermId, Set)>)>,
    /// all others
    has_rest: bool,
}

/// The search for an assignment.
struct Search<'a> {
    split: &'a Split,
    query: &'a Query<'a>,
    core: FxHashSet<TermId>,
    tried: usize,
    passed: usize,
}

enum Found {
    /// nothing below this assignment
    Refuted,
    Model(Answer),
    GivenUp,
}

/// The numbers that are in an index of an array, if they are few.
fn numbers(terms: &mut Terms, constraints: &[TermId]) -> Option<Vec<Key>> {
    let mut found: Vec<Key> = Vec::new();
    for &c in constraints {
        let support = terms.support(c);
        if !support.iter().any(|k| k.is_whole()) || terms.has(c, facts::HAS_FORALL) {
            continue;
        }
        for &k in support.iter().filter(|k| !k.is_whole()) {
            let is_number = matches!(terms.symbols.kind(k.symbol()), SymbolKind::Bits(9..=64));
            if is_number && !found.contains(&k) {
                found.push(k);
            }
        }
        if found.len() > MAX_NUMBERS {
            return None;
        }
    }
    // A constraint with some of them has them in the same order in every query.
    found.sort_unstable();
    (!found.is_empty()).then_some(found)
}

impl Split {
    fn of(terms: &mut Terms, constraints: &[TermId], truths: &mut TruthTables) -> Option<Split> {
        let keys = numbers(terms, constraints)?;
        let mut arcs: Vec<Option<Arc>> = vec![None; keys.len()];
        let mut split =
            Split { numbers: Vec::new(), indexed: Vec::new(), cells: FxHashMap::default(), has_rest: false };
        for &constraint in constraints {
            let support = terms.support(constraint);
            let of = |k: &Key| keys.iter().position(|n| n == k);
            let mut numbers: Vec<usize> = support.iter().filter_map(of).collect();
            if numbers.is_empty() {
                match truths.truth(terms, constraint) {
                    Some((key, set)) => {
                        let (left, by) = split.cells.entry(key).or_insert_with(|| (Set::ALL, Vec::new()));
                        *left = left.and(set);
                        by.push((constraint, set));
                    }
                    None => split.has_rest = true,
                }
                continue;
            }
            numbers.sort_unstable();
            if let &[key] = &*support
                && let Some((x, arc)) = Arc::of_unshifted(terms, constraint)
                && evidence::variable(terms, x) == Some(key)
            {
                let known = &mut arcs[numbers[0]];
                *known = Some(match *known {
                    None => arc,
                    Some(before) => match before.meet(arc, terms.width(x)) {
                        Meet::Arc(common) => common,
                        // Whichever is smaller: the other is tested for each value.
                        Meet::Nothing | Meet::Disjoint if arc.more < before.more => arc,
                        Meet::Nothing | Meet::Disjoint => before,
                    },
                });
            }
            let opaque = terms.has(constraint, facts::HAS_FORALL)
                || support
                    .iter()
                    .any(|k| of(k).is_none() && matches!(terms.symbols.kind(k.symbol()), SymbolKind::Bits(_)));
            split.has_rest |= opaque;
            if !opaque {
                split.indexed.push(Indexed { constraint, numbers });
            }
        }
        for (key, arc) in keys.into_iter().zip(arcs) {
            let SymbolKind::Bits(width) = terms.symbols.kind(key.symbol()) else { return None };
            split.numbers.push((key, arc.filter(|a| a.more < MAX_VALUES)?, width));
        }
        Some(split)
    }
}

impl Split {
    /// Each cell has a value that its constraints allow, the others are 0.
    fn by_cells(
        &self,
        terms: &mut Terms,
        constraints: &[TermId],
        values: &Values,
        cell_sets: &[(Key, Set, TermId)],
    ) -> Option<Answer> {
        if self.has_rest {
            return None;
        }
        let mut cells: FxHashMap<Key, Set> = self.cells.iter().map(|(key, (set, _))| (*key, *set)).collect();
        for &(key, set, _) in cell_sets {
            let left = cells.entry(key).or_insert(Set::ALL);
            *left = left.and(set);
        }
        let mut model = Model::new();
        for (key, set) in cells {
            model.set(key, set.first()?);
        }
        self.accepted(terms, constraints, values, model)
    }

    /// The model with these numbers, in the normal form of the query, if it satisfies it.
    fn accepted(&self, terms: &mut Terms, constraints: &[TermId], values: &Values, mut model: Model) -> Option<Answer> {
        for (&(key, ..), &v) in self.numbers.iter().zip(values) {
            model.set(key, v);
        }
        let keys = evidence::support(terms, constraints);
        let model = evidence::project(terms, &keys, &model);
        evidence::satisfies(terms, constraints, &model).then(|| Answer::Sat(Rc::new(model)))
    }
}

/// The constraints on a cell that leave it nothing together with `set`: one if that is enough.
fn refuting(by: &[(TermId, Set)], set: Set) -> Vec<TermId> {
    match by.iter().find(|(_, s)| s.and(set).is_empty()) {
        Some((c, _)) => vec![*c],
        None => by.iter().map(|(c, _)| *c).collect(),
    }
}

impl<S: Solver> Indices<S> {
    pub fn new(truths: &Rc<RefCell<TruthTables>>, next: S) -> Indices<S> {
        Indices {
            next,
            truths: truths.clone(),
            made: FxHashMap::default(),
            hard: Rc::default(),
            statistics: Decided::default(),
        }
    }

    /// Counts each query that is decided here as one that is hard: it costs about as much.
    pub fn counting(self, hard: &Rc<Cell<u64>>) -> Indices<S> {
        Indices { hard: Rc::clone(hard), ..self }
    }

    fn decide(&mut self, terms: &mut Terms, query: &Query) -> Option<Answer> {
        let split = Split::of(terms, query.constraints, &mut self.truths.borrow_mut())?;
        if self.made.len() > MAX_REMEMBERED {
            self.made.clear();
        }
        let mut search = Search { split: &split, query, core: FxHashSet::default(), tried: 0, passed: 0 };
        let mut values = [0; MAX_NUMBERS];
        match self.below(terms, &mut search, &mut values, 0, &mut Vec::new()) {
            Found::Model(answer) => Some(answer),
            Found::GivenUp => None,
            // SOUND: what a number cannot be is said by constraints about it alone, all of which are in the core.
            Found::Refuted => {
                let alone = split.indexed.iter().map(|i| i.constraint).filter(|c| terms.support(*c).len() == 1);
                search.core.extend(alone);
                Some(Answer::Unsat(Core::new(search.core.into_iter().collect())))
            }
        }
    }

    /// Tries the values of the numbers from `depth` on; `cell_sets` is what those before say about cells.
    fn below(
        &mut self,
        terms: &mut Terms,
        search: &mut Search,
        values: &mut Values,
        depth: usize,
        cell_sets: &mut Vec<(Key, Set, TermId)>,
    ) -> Found {
        let split = search.split;
        let Some(&(_, arc, width)) = split.numbers.get(depth) else {
            return self.complete(terms, search, values, cell_sets);
        };
        let mask = pleach_expr::mask(width);
        // The last ones first: what was read up to now is mostly below.
        for more in (0..=arc.more).rev() {
            search.tried += 1;
            if search.tried > MAX_TRIED {
                return Found::GivenUp;
            }
            values[depth] = arc.first.wrapping_add(more) & mask;
            let before = cell_sets.len();
            let found = match self.is_refuted(terms, search, values, depth, cell_sets) {
                true => Found::Refuted,
                false => self.below(terms, search, values, depth + 1, cell_sets),
            };
            cell_sets.truncate(before);
            if !matches!(found, Found::Refuted) {
                return found;
            }
        }
        Found::Refuted
    }

    /// Some constraint that is about the numbers up to `depth` cannot be true; what others say is noted.
    fn is_refuted(
        &mut self,
        terms: &mut Terms,
        search: &mut Search,
        values: &Values,
        depth: usize,
        cell_sets: &mut Vec<(Key, Set, TermId)>,
    ) -> bool {
        let split = search.split;
        for indexed in split.indexed.iter().filter(|i| i.numbers.last() == Some(&depth)) {
            let constraint = indexed.constraint;
            let made = self.put_in(terms, split, indexed, values);
            if made == Terms::TRUE {
                continue;
            }
            if made == Terms::FALSE {
                search.core.insert(constraint);
                return true;
            }
            let Some((key, set)) = self.truths.borrow_mut().truth(terms, made) else { continue };
            let others: Vec<(TermId, Set)> = cell_sets.iter().filter(|b| b.0 == key).map(|b| (b.2, b.1)).collect();
            let (left, by) = split.cells.get(&key).map_or((Set::ALL, &[][..]), |(left, by)| (*left, &by[..]));
            let now = others.iter().fold(left.and(set), |s, o| s.and(o.1));
            if now.is_empty() {
                search.core.insert(constraint);
                if left.and(set).is_empty() {
                    search.core.extend(refuting(by, set));
                } else {
                    search.core.extend(by.iter().map(|b| b.0).chain(others.iter().map(|o| o.0)));
                }
                return true;
            }
            cell_sets.push((key, set, constraint));
        }
        false
    }

    /// The constraint with numbers for its variables.
    fn put_in(&mut self, terms: &mut Terms, split: &Split, indexed: &Indexed, values: &Values) -> TermId {
        let mut own = [0; MAX_NUMBERS];
        for (slot, &n) in own.iter_mut().zip(&indexed.numbers) {
            *slot = values[n];
        }
        *self.made.entry((indexed.constraint, own)).or_insert_with(|| {
            let number = |&n: &usize| {
                let (key, _, width) = split.numbers[n];
                (terms.var(key.symbol()), terms.constant(width, values[n]))
            };
            let map: FxHashMap<TermId, TermId> = indexed.numbers.iter().map(number).collect();
            terms.substitute(indexed.constraint, &map)
        })
    }

    /// All numbers have a value: what is left is about cells, or is solved without the numbers.
    fn complete(
        &mut self,
        terms: &mut Terms,
        search: &mut Search,
        values: &Values,
        cell_sets: &[(Key, Set, TermId)],
    ) -> Found {
        let split = search.split;
        if let Some(answer) = split.by_cells(terms, search.query.constraints, values, cell_sets) {
            return Found::Model(answer);
        }
        search.passed += 1;
        if search.passed > MAX_PASSED {
            return Found::GivenUp;
        }
        let number =
            |((key, _, width), v): (&(Key, Arc, u16), &u64)| (terms.var(key.symbol()), terms.constant(*width, *v));
        let map: FxHashMap<TermId, TermId> = split.numbers.iter().zip(values).map(number).collect();
        let all = search.query.constraints;
        let made: Vec<(TermId, TermId)> = all.iter().map(|c| (terms.substitute(*c, &map), *c)).collect();
        let mut left: Vec<TermId> = made.iter().map(|m| m.0).filter(|t| *t != Terms::TRUE).collect();
        left.sort_unstable();
        left.dedup();
        let answer = match left.first() {
            None => Answer::Sat(Rc::new(Model::new())),
            Some(&Terms::FALSE) => Answer::Unsat(Core::new(vec![Terms::FALSE])),
            Some(_) => self.next.check(terms, &search.query.with(&left)),
        };
        match answer {
            Answer::Sat(model) => {
                split.accepted(terms, all, values, (*model).clone()).map_or(Found::GivenUp, Found::Model)
            }
            // SOUND: these constraints refute the assignment.
            Answer::Unsat(core) => {
                search.core.extend(made.iter().filter(|m| core.0.contains(&m.0)).map(|m| m.1));
                Found::Refuted
            }
            Answer::Unknown(_) => Found::GivenUp,
        }
    }
}

impl<S: Solver> Solver for Indices<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        let found = self.decide(terms, query);
        self.hard.set(self.hard.get() + u64::from(found.is_some()));
        self.statistics.count(found).unwrap_or_else(|| self.next.check(terms, query))
    }

    fn stats(&self, out: &mut Stats) {
        self.statistics.stats(["indices.queries", "indices.sat", "indices.unsat"], out);
        self.next.stats(out);
    }
}
