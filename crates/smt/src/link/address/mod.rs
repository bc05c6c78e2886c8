//! Answers by query, up to a renaming of bases.
//!
//! *Paper*: Memory ch. 4. *Idea*: a query that mentions addresses is looked up as it was before they were substituted.
//! A remembered query that is equal up to names of bases ([`matching`]) has the same answer, provided it is the same
//! wherever its objects lie ([`agnostic`]); other queries go on as they are. *Invariant*: an entry is agnostic;
//! therefore so is each query that matches it, and under every assignment to the symbolic variables both are true or
//! both are false. *Deviations*: the answer carries its evidence (the paper's cache has none): a model is evaluated on
//! the new query before it is used, the core is the whole query. *Cost*: the form with bases is made once per query
//! word for word. `known` says of one that came before that it is an entry, or that it depends on addresses and the
//! links behind know it. *Direction*: misses hits, see the two parts. *Checked by*: `--check-cache` solves every
//! renamed query again.

pub mod agnostic;
mod matching;

use crate::answer::{Answer, Core, UnknownReason};
use crate::evidence;
use crate::link::cache::bytes;
use crate::query::{BasedQueryRef, Query, Solver};
use crate::stats::Stats;
pub use agnostic::is_agnostic;
use matching::{Form, NormalizedTerm, Renaming, hash_of};
use pleach_expr::{BaseId, TermId, Terms};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Ids kept in one generation.
const GENERATION: usize = 1 << 20;
/// Hashes of terms kept.
const HASHES: usize = 1 << 21;
/// Queries kept word for word.
const KNOWN: usize = 1 << 18;

struct TableEntry {
    form: Form,
    sizes: Box<[(BaseId, u64)]>,
    /// with the addresses substituted
    plain: Box<[TermId]>,
    answer: Answer,
}

impl TableEntry {
    fn weight(&self) -> usize {
        self.form.free.len() + self.form.based.len() + self.plain.len() + 2 * self.sizes.len() + 16
    }
    fn bytes(&self) -> u64 {
        bytes(self.weight(), &self.answer)
    }
}

type Generation = FxHashMap<u64, Vec<Rc<TableEntry>>>;

pub struct AddressAware<S> {
    next: S,
    young: Generation,
    old: Generation,
    weight: usize,
    /// of `young` and `old`
    entries: [u64; 2],
    bytes: [u64; 2],
    erased: NormalizedTerm,
    /// by the hash of a query with its addresses: its entry, or nothing if it depends on them
    known: FxHashMap<u64, Option<Rc<TableEntry>>>,
    /// solves renamed queries again
    oracle: Option<Box<dyn Solver>>,
    statistics: Statistics,
}

#[derive(Default)]
struct Statistics {
    queries: u64,
    /// queries whose form with bases was made
    made: u64,
    exact: u64,
    renamed: u64,
    /// a model did not fit the renamed query
    refused: u64,
    /// queries that depend on addresses
    dependent: u64,
    checked: u64,
    failures: u64,
}

impl<S: Solver> AddressAware<S> {
    pub fn new(next: S, oracle: Option<Box<dyn Solver>>) -> AddressAware<S> {
        AddressAware {
            next,
            young: Generation::default(),
            old: Generation::default(),
            weight: 0,
            entries: [0; 2],
            bytes: [0; 2],
            erased: NormalizedTerm::default(),
            known: FxHashMap::default(),
            oracle,
            statistics: Statistics::default(),
        }
    }

    fn find(&mut self, terms: &Terms, form: &Form, query: &BasedQueryRef) -> Option<Rc<TableEntry>> {
        let AddressAware { young, old, erased, .. } = self;
        let fits = |erased: &mut NormalizedTerm, e: &TableEntry| {
            let known = BasedQueryRef { constraints: &[], sizes: &e.sizes };
            Renaming::of(terms, erased, (&e.form, &known), (form, query)).is_some()
        };
        let found = young.get(&form.hash).and_then(|b| b.iter().find(|e| fits(erased, e)).cloned());
        if found.is_some() {
            return found;
        }
        let bucket = old.get_mut(&form.hash)?;
        let at = bucket.iter().position(|e| fits(erased, e))?;
        let entry = bucket.swap_remove(at);
        self.entries[1] -= 1;
        self.bytes[1] -= entry.bytes();
        self.insert(form.hash, entry.clone());
        Some(entry)
    }

    fn insert(&mut self, hash: u64, entry: Rc<TableEntry>) {
        self.weight += entry.weight();
        self.entries[0] += 1;
        self.bytes[0] += entry.bytes();
        self.young.entry(hash).or_default().push(entry);
        if self.weight > GENERATION {
            self.weight = 0;
            self.entries = [0, self.entries[0]];
            self.bytes = [0, self.bytes[0]];
            self.old = std::mem::take(&mut self.young);
            self.known.clear();
        }
        if self.erased.entries() > HASHES {
            self.erased.clear();
        }
    }

    fn remember(&mut self, exact: u64, entry: Option<Rc<TableEntry>>) {
        if self.known.len() >= KNOWN {
            self.known.clear();
        }
        self.known.insert(exact, entry);
    }

    /// The answer of an entry, made to fit the query; nothing if its model does not.
    fn transfer(&mut self, terms: &mut Terms, entry: &TableEntry, query: &Query) -> Option<Answer> {
        if *entry.plain == *query.constraints {
            self.statistics.exact += 1;
            return Some(entry.answer.clone());
        }
        let answer = match &entry.answer {
            Answer::Sat(model) => {
                let keys = evidence::support(terms, query.constraints);
                let model = evidence::project(terms, &keys, model);
                if !evidence::satisfies(terms, query.constraints, &model) {
                    self.statistics.refused += 1;
                    return None;
                }
                Answer::Sat(Rc::new(model))
            }
            // SOUND: the entry is agnostic and equal to the query up to a bijection of bases with equal sizes (Memory
            // §4.4).
            Answer::Unsat(_) => Answer::Unsat(Core::new(query.constraints.to_vec())),
            Answer::Unknown(why) => Answer::Unknown(why.clone()),
        };
        self.statistics.renamed += 1;
        Some(self.checked(terms, query, answer))
    }

    fn checked(&mut self, terms: &mut Terms, query: &Query, answer: Answer) -> Answer {
        let Some(oracle) = &mut self.oracle else { return answer };
        self.statistics.checked += 1;
        let again = oracle.check(terms, &query.with(query.constraints));
        if again.is_sat() && answer.is_unsat() || again.is_unsat() && answer.is_sat() {
            self.statistics.failures += 1;
            return again;
        }
        answer
    }
}

impl<S: Solver> Solver for AddressAware<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        let Some(lazy) = query.based else { return self.next.check(terms, query) };
        let exact = hash_of(query.constraints);
        match self.known.get(&exact) {
            Some(Some(entry)) if *entry.plain == *query.constraints => {
                self.statistics.queries += 1;
                self.statistics.exact += 1;
                return entry.answer.clone();
            }
            // Should it be another one with the same hash, a hit is missed.
            Some(None) => {
                self.statistics.queries += 1;
                self.statistics.dependent += 1;
                return self.next.check(terms, query);
            }
            _ => {}
        }
        let Some(based) = (lazy.0)(terms) else { return self.next.check(terms, query) };
        let based = &based.based();
        self.statistics.queries += 1;
        self.statistics.made += 1;
        let form = Form::of(terms, &mut self.erased, based);
        if let Some(entry) = self.find(terms, &form, based)
            && let Some(answer) = self.transfer(terms, &entry, query)
        {
            return answer;
        }
        let answer = self.next.check(terms, query);
        if !is_agnostic(terms, based) {
            self.statistics.dependent += 1;
            self.remember(exact, None);
        } else if matches!(answer, Answer::Sat(_) | Answer::Unsat(_) | Answer::Unknown(UnknownReason::Timeout)) {
            let hash = form.hash;
            let (sizes, plain) = (based.sizes.into(), query.constraints.into());
            let entry = Rc::new(TableEntry { form, sizes, plain, answer: answer.clone() });
            self.insert(hash, entry.clone());
            self.remember(exact, Some(entry));
        }
        answer
    }

    fn stats(&self, out: &mut Stats) {
        out.add("address.queries", self.statistics.queries);
        out.add("address.made", self.statistics.made);
        out.add("address.exact", self.statistics.exact);
        out.add("address.renamed", self.statistics.renamed);
        out.add("address.refused", self.statistics.refused);
        out.add("address.dependent", self.statistics.dependent);
        out.add("address.checked", self.statistics.checked);
        out.add("address.failures", self.statistics.failures);
        out.add("address.entries", self.entries.iter().sum());
        out.add("address.bytes", self.bytes.iter().sum());
        self.next.stats(out);
    }
}
