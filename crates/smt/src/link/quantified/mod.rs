//! Queries with bounded quantifiers, answered without a solver for quantifiers where that is possible.
//!
//! *Paper*: Memory §6.4, Alg. 7. *Idea*: the quantifiers are dropped but for a few instances (*strip*). A model of that
//! is completed: the value of the first cell that a quantifier reads is copied over its range (*duplicate*); where that
//! conflicts with something, just the cells in conflict are solved again (*repair*). *Invariant*: every model is
//! checked by evaluation against the query; an unsatisfiable weakening has a core of constraints of the query, as each
//! clause knows the constraints that it follows from. *Deviations*: instances are also made for the symbolic indices at
//! which other constraints read the same array, which includes the paper's bounds by negated instances. Before the
//! query goes to a full solver, violated instances are added in rounds (*instances*): ranges are finite, so that this
//! ends with an answer if it is given the time. Quantifiers under other operators become Boolean variables. Before all
//! that, a model of an earlier query is tried with one cell changed: most branches of a scan are about one more cell.
//! Then a model is tried in which the quantifiers are about nothing (*empty*). Then what earlier queries have proved is
//! tried together with the newest constraints (*lemmas*): a bounds check of a scan follows from the one in the round
//! before. Then a model is put right constraint by constraint (*construct*). *Direction*: gives up to the next link; never a wrong answer.

mod completion;
mod lemmas;
mod problem;

use crate::answer::{Answer, Core, UnknownReason};
use crate::evidence;
use crate::query::{Query, Solver};
use crate::stats::Stats;
use lemmas::{Lemmas, NEWEST};
use pleach_expr::{Model, SymbolKind, TermId, Terms, facts};
use problem::{Clause, Problem};
use rustc_hash::FxHashSet;
use std::cell::Cell;
use std::collections::VecDeque;
use std::rc::Rc;

/// Models of earlier queries that are tried.
const MAX_RECENT: usize = 4;
/// Rounds in which violated instances are added.
const MAX_ROUNDS: usize = 48;
/// Values of one quantifier's variable that are looked at.
const MAX_VALUES: u64 = 4_096;
/// Instances that one round adds for one quantifier.
const MAX_INSTANCES: usize = 64;
/// Variables up to this width are fixed by a repair.
const MAX_FIXED: usize = 4_096;

/// How queries were answered (Memory, Table 6.7).
#[derive(Default)]
struct Statistics {
    queries: u64,
    patched: u64,
    lemmas: u64,
    emptied: u64,
    constructed: u64,
    stripped_unsat: u64,
    stripped: u64,
    duplicated: u64,
    repaired: u64,
    instances: u64,
    instances_unsat: u64,
    full: u64,
    checked: u64,
    /// not compared: a range without an end that is known, below another operator
    no_range: u64,
    /// one of the two has no answer
    no_answer: u64,
    /// a range is only partly written out, and that has other models
    partly: u64,
    wrong: u64,
}

pub struct Quantified<S> {
    next: S,
    /// models of the last queries
    recent: VecDeque<Rc<Model>>,
    lemmas: Lemmas,
    /// expand every quantifier and query again
    check: bool,
    /// queries of the chain that are hard
    hard: Rc<Cell<u64>>,
    statistics: Statistics,
}

impl<S: Solver> Quantified<S> {
    pub fn new(next: S, check: bool) -> Quantified<S> {
        Quantified {
            next,
            recent: VecDeque::new(),
            lemmas: Lemmas::default(),
            check,
            hard: Rc::default(),
            statistics: Statistics::default(),
        }
    }

    /// Counts each query with quantifiers as one that is hard.
    pub fn counting(self, hard: &Rc<Cell<u64>>) -> Quantified<S> {
        Quantified { hard: Rc::clone(hard), ..self }
    }

    fn stages(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        if let Some(m) = self.recent.iter().find_map(|m| completion::patched(terms, query, m)) {
            self.statistics.patched += 1;
            return m;
        }
        let start = self.recent.front().cloned().unwrap_or_default();
        if let Some(m) = completion::emptied(terms, query, &start) {
            self.statistics.emptied += 1;
            return m;
        }
        if let Some(core) = self.by_lemmas(terms, query) {
            self.statistics.lemmas += 1;
            return Answer::Unsat(core);
        }
        let last = self.recent.front().cloned();
        if let Some(m) = last.and_then(|m| completion::constructed(terms, query, &m)) {
            self.statistics.constructed += 1;
            return m;
        }
        let mut problem = Problem::new(terms, query.constraints);
        let stripped = match self.solve(terms, query, &problem.clauses) {
            Answer::Sat(model) => model,
            Answer::Unsat(core) => {
                self.statistics.stripped_unsat += 1;
                return Answer::Unsat(core);
            }
            Answer::Unknown(_) => return self.full(terms, query),
        };
        if let Some(m) = accepted(terms, query, &stripped) {
            self.statistics.stripped += 1;
            return m;
        }
        let copied = problem.duplicate(terms, &stripped, &FxHashSet::default());
        if let Some(m) = accepted(terms, query, &copied) {
            self.statistics.duplicated += 1;
            return m;
        }
        if let Some(m) = self.repair(terms, query, &problem, &copied) {
            self.statistics.repaired += 1;
            return m;
        }
        self.instances(terms, query, &mut problem, stripped)
    }

    /// Refutes the query by its newest constraints and what is known to follow from others of them.
    fn by_lemmas(&mut self, terms: &mut Terms, query: &Query) -> Option<Core> {
        for newest in NEWEST {
            let attempt = self.lemmas.attempt(terms, query, newest)?;
            let found = attempt.contradiction(terms).or_else(|| {
                let answer = self.next.check(terms, &query.with(&attempt.constraints));
                let Answer::Unsat(core) = answer else { return None };
                Some(attempt.core(&core))
            });
            if found.is_some() {
                self.lemmas.tried(true);
                return found;
            }
        }
        self.lemmas.tried(false);
        None
    }

    /// A model of the clauses, or a core of the query's constraints.
    fn solve(&mut self, terms: &mut Terms, query: &Query, clauses: &[Clause]) -> Answer {
        let mut all: Vec<TermId> = clauses.iter().map(|c| c.term).filter(|t| *t != Terms::TRUE).collect();
        all.sort_unstable();
        all.dedup();
        let answer = match all[..] {
            [] => return Answer::Sat(Rc::new(Model::new())),
            [Terms::FALSE, ..] => Answer::Unsat(Core::new(vec![Terms::FALSE])),
            _ => self.next.check(terms, &query.with(&all)),
        };
        let Answer::Unsat(core) = answer else { return answer };
        // SOUND: a clause follows from its origins, up to the definition of variables that only this link knows.
        let of =
            |t: TermId| clauses.iter().filter(move |c| c.term == t).take(1).flat_map(|c| c.origins.iter().copied());
        Answer::Unsat(Core::new(core.0.iter().flat_map(|t| of(*t)).collect()))
    }

    /// Solves again what the copies are in conflict with, everything else as it is.
    fn repair(&mut self, terms: &mut Terms, query: &Query, problem: &Problem, model: &Model) -> Option<Answer> {
        let conflicts = problem.conflicts(terms, model);
        if conflicts.is_empty() {
            return None;
        }
        let mut clauses = problem.clauses.clone();
        clauses.extend(problem.instances_on(terms, model, &conflicts));
        clauses.extend(problem.fixed(terms, query.constraints, model, MAX_FIXED)?);
        let Answer::Sat(solved) = self.solve(terms, query, &clauses) else { return None };
        let copied = problem.duplicate(terms, &solved, &conflicts);
        accepted(terms, query, &copied)
    }

    /// Adds violated instances until there is an answer.
    fn instances(&mut self, terms: &mut Terms, query: &Query, problem: &mut Problem, first: Rc<Model>) -> Answer {
        let mut model = first;
        for _ in 0..MAX_ROUNDS {
            if !problem.add_violated(terms, &model) {
                break;
            }
            match self.solve(terms, query, &problem.clauses) {
                Answer::Unsat(core) => {
                    self.statistics.instances_unsat += 1;
                    return Answer::Unsat(core);
                }
                Answer::Unknown(_) => break,
                Answer::Sat(next) => {
                    let copied = problem.duplicate(terms, &next, &problem.instantiated);
                    let found = accepted(terms, query, &next).or_else(|| accepted(terms, query, &copied));
                    if let Some(m) = found {
                        self.statistics.instances += 1;
                        return m;
                    }
                    model = next;
                }
            }
        }
        self.full(terms, query)
    }

    fn full(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        self.statistics.full += 1;
        self.next.check(terms, query)
    }

    /// Queries again with every quantifier written out, and compares.
    fn compare(&mut self, terms: &mut Terms, query: &Query, answer: Answer) -> Answer {
        let Some(expanded) = problem::expanded(terms, query.constraints, MAX_VALUES) else {
            self.statistics.no_range += 1;
            return answer;
        };
        let other = self.next.check(terms, &query.with(&expanded));
        if answer.is_unknown() || other.is_unknown() {
            self.statistics.no_answer += 1;
            return answer;
        }
        // A range that is only partly written out allows what the quantifier does not.
        if let Answer::Sat(model) = &other
            && !answer.is_sat()
            && accepted(terms, query, model).is_none()
        {
            self.statistics.partly += 1;
            return answer;
        }
        self.statistics.checked += 1;
        if answer.is_sat() == other.is_sat() {
            return answer;
        }
        self.statistics.wrong += 1;
        Answer::Unknown(UnknownReason::BackendError("quantified query and its expansion disagree".into()))
    }
}

/// The model, in the normal form of the query, if it satisfies it.
fn accepted(terms: &mut Terms, query: &Query, model: &Model) -> Option<Answer> {
    let keys = evidence::support(terms, query.constraints);
    let model = evidence::project(terms, &keys, model);
    evidence::satisfies(terms, query.constraints, &model).then(|| Answer::Sat(Rc::new(model)))
}

/// A symbol that is one number of at most 64 bits.
fn is_scalar(kind: SymbolKind) -> bool {
    matches!(kind, SymbolKind::Bits(w) if w <= 64)
}

impl<S: Solver> Solver for Quantified<S> {
    fn check(&mut self, terms: &mut Terms, query: &Query) -> Answer {
        if !query.constraints.iter().any(|c| terms.has(*c, facts::HAS_FORALL)) {
            return self.next.check(terms, query);
        }
        self.statistics.queries += 1;
        self.hard.set(self.hard.get() + 1);
        let answer = self.stages(terms, query);
        if let Answer::Sat(model) = &answer {
            self.recent.push_front(model.clone());
            self.recent.truncate(MAX_RECENT);
        }
        if let Answer::Unsat(core) = &answer {
            self.lemmas.learn(terms, query, core);
        }
        if self.check { self.compare(terms, query, answer) } else { answer }
    }

    fn stats(&self, out: &mut Stats) {
        let s = &self.statistics;
        out.add("quantified.queries", s.queries);
        out.add("quantified.patch", s.patched);
        out.add("quantified.lemmas", s.lemmas);
        out.add("quantified.empty", s.emptied);
        out.add("quantified.construct", s.constructed);
        out.add("quantified.strip-unsat", s.stripped_unsat);
        out.add("quantified.strip-sat", s.stripped);
        out.add("quantified.duplicate", s.duplicated);
        out.add("quantified.repair", s.repaired);
        out.add("quantified.instances-sat", s.instances);
        out.add("quantified.instances-unsat", s.instances_unsat);
        out.add("quantified.full", s.full);
        if self.check {
            out.add("quantified.checked", s.checked);
            out.add("quantified.unchecked", s.no_range + s.no_answer + s.partly);
            out.add("quantified.unchecked-range", s.no_range);
            out.add("quantified.unchecked-unknown", s.no_answer);
            out.add("quantified.unchecked-partly", s.partly);
            out.add("quantified.wrong", s.wrong);
        }
        self.next.stats(out);
    }
}
