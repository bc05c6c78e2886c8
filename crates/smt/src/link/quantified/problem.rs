//! A query without its quantifiers: clauses that follow from it, and the quantifiers to make more of.

use super::{MAX_INSTANCES, MAX_VALUES, is_scalar};
use crate::evidence;
use pleach_expr::arc::{Arc, Meet};
use pleach_expr::{Key, Model, Op, Quantifier, SymbolId, SymbolKind, SymbolOrigin, TermId, Terms, facts};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// Symbolic indices for which instances are made at first.
const MAX_INDICES: usize = 32;
/// The same for cells at a number, the last ones.
const MAX_ENDS: usize = 2;

type Origins = SmallVec<[TermId; 2]>;

/// A condition without quantifiers that follows from constraints of the query.
#[derive(Clone, Debug)]
pub(super) struct Clause {
    pub term: TermId,
    pub origins: Origins,
}

/// A quantifier that is true where `holds` is.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub quantifier: Quantifier,
    pub holds: TermId,
    origins: Origins,
    /// reads of array variables at an index with the bound variable: array and index
    pub reads: Vec<(TermId, TermId)>,
}

#[derive(Default)]
pub(super) struct Problem {
    pub clauses: Vec<Clause>,
    pub quantifiers: Vec<Kept>,
    /// cells that instances with a number read
    pub instantiated: FxHashSet<Key>,
    done: FxHashSet<(TermId, TermId)>,
    /// Boolean variables in place of quantifiers
    named: FxHashMap<TermId, TermId>,
    fresh: u32,
}

impl Problem {
    pub fn new(terms: &mut Terms, constraints: &[TermId]) -> Problem {
        let mut p = Problem::default();
        for &c in constraints {
            p.add(terms, c, smallvec![c]);
        }
        let mut next = 0;
        while next < p.quantifiers.len() {
            p.instance(terms, next, TermOrNumber::Number(0));
            p.add_last(terms, next);
            next += 1;
        }
        p.add_indices(terms);
        p
    }

    fn variable(&mut self, terms: &mut Terms, width: u16) -> TermId {
        let number = self.fresh;
        self.fresh += 1;
        let s = terms.symbols.intern(SymbolOrigin::Link(number), SymbolKind::Bits(width), || format!("q{number}"));
        terms.var(s)
    }

    /// Adds a condition, in parts without quantifiers.
    fn add(&mut self, terms: &mut Terms, condition: TermId, origins: Origins) {
        let mut todo = terms.conjuncts(condition);
        while let Some(part) = todo.pop() {
            if !terms.has(part, facts::HAS_FORALL) {
                self.clauses.push(Clause { term: part, origins: origins.clone() });
                continue;
            }
            if let Some(quantifier) = terms.as_forall(part) {
                self.keep(terms, quantifier, Terms::TRUE, origins.clone());
                continue;
            }
            let n = terms.node(part);
            if n.op == Op::Not
                && let Some(q) = terms.as_forall(n.arg_a())
            {
                let counterexample = self.counterexample(terms, q);
                todo.extend(terms.conjuncts(counterexample));
                continue;
            }
            let quantifiers = terms.outer_quantifiers(&[part]);
            let map: FxHashMap<TermId, TermId> = quantifiers.into_iter().map(|q| (q, self.name(terms, q))).collect();
            let replaced = terms.substitute(part, &map);
            todo.extend(terms.conjuncts(replaced));
        }
    }

    /// `w < n ∧ ¬p(w)` with a new w.
    fn counterexample(&mut self, terms: &mut Terms, q: Quantifier) -> TermId {
        let w = self.variable(terms, terms.width(q.var));
        let body = terms.substitute(q.body, &FxHashMap::from_iter([(q.var, w)]));
        let (inside, not) = (terms.ult(w, q.count), terms.not(body));
        terms.and(inside, not)
    }

    /// A Boolean variable that is true just where the quantifier is.
    fn name(&mut self, terms: &mut Terms, t: TermId) -> TermId {
        if let Some(&known) = self.named.get(&t) {
            return known;
        }
        let holds = self.variable(terms, 1);
        self.named.insert(t, holds);
        if let Some(q) = terms.as_forall(t) {
            // SOUND: a definition of new variables excludes no assignment to those of the query.
            self.keep(terms, q, holds, Origins::new());
            let counterexample = self.counterexample(terms, q);
            let otherwise = terms.or(holds, counterexample);
            self.add(terms, otherwise, Origins::new());
        }
        holds
    }

    fn keep(&mut self, terms: &Terms, quantifier: Quantifier, holds: TermId, origins: Origins) {
        let mut varying = FxHashSet::from_iter([quantifier.var]);
        let mut reads = Vec::new();
        for t in terms.reachable(&[quantifier.body]) {
            if terms.args(t).iter().any(|a| varying.contains(a)) {
                varying.insert(t);
                let n = terms.node(t);
                if n.op == Op::Read && terms.op(n.arg_a()) == Op::ArrayVar {
                    reads.push((n.arg_a(), n.arg_b()));
                }
            }
        }
        self.quantifiers.push(Kept { quantifier, holds, origins, reads });
    }

    /// Adds `holds ∧ t < n → p(t)`.
    fn instance(&mut self, terms: &mut Terms, which: usize, at: TermOrNumber) {
        let Kept { quantifier: Quantifier { var, count, body }, holds, ref origins, ref reads } =
            self.quantifiers[which];
        let origins = origins.clone();
        let t = match at {
            TermOrNumber::Term(t) => t,
            TermOrNumber::Number(n) => terms.constant(terms.width(var), n),
        };
        let map = FxHashMap::from_iter([(var, t)]);
        if terms.is_constant(t) {
            for (a, index) in reads.clone() {
                let index = terms.substitute(index, &map);
                if let Some(i) = terms.as_const(index) {
                    self.instantiated.insert(Key::new(SymbolId(terms.node(a).a), i as u32));
                }
            }
        }
        let inside = terms.ult(t, count);
        let given = terms.and(holds, inside);
        let body = terms.substitute(body, &map);
        let instance = terms.implies(given, body);
        if self.done.insert((holds, instance)) {
            self.add(terms, instance, origins);
        }
    }

    /// The instance for the last value, if a part of the body bounds the variable: `n > i` is strongest there.
    fn add_last(&mut self, terms: &mut Terms, which: usize) {
        let Quantifier { var, count, body } = self.quantifiers[which].quantifier;
        if terms.is_constant(count) {
            return;
        }
        let bounds = |terms: &Terms, part: TermId| {
            let all = terms.reachable(&[part]);
            all.contains(&var) && all.iter().all(|t| terms.op(*t) != Op::Read)
        };
        if terms.conjuncts(body).into_iter().any(|part| bounds(terms, part)) {
            let one = terms.constant(terms.width(count), 1);
            let last = terms.sub(count, one);
            self.instance(terms, which, TermOrNumber::Term(last));
        }
    }

    /// Instances for the indices at which clauses read what a quantifier reads.
    fn add_indices(&mut self, terms: &mut Terms) {
        let roots: Vec<TermId> = self.clauses.iter().map(|c| c.term).collect();
        let reads = |t: &TermId| {
            let n = terms.node(*t);
            (n.op == Op::Read && terms.op(n.arg_a()) == Op::ArrayVar).then_some((n.arg_a(), n.arg_b()))
        };
        let all: Vec<(TermId, TermId)> = terms.reachable(&roots).iter().filter_map(reads).collect();
        let (mut ends, mut found): (Vec<_>, Vec<_>) = all.into_iter().partition(|r| terms.is_constant(r.1));
        found.truncate(MAX_INDICES);
        // A scan ends at the last cell at the latest.
        ends.sort_unstable_by_key(|r| std::cmp::Reverse(terms.as_const(r.1)));
        found.extend(ends.into_iter().take(MAX_ENDS));
        for which in 0..self.quantifiers.len() {
            let var = self.quantifiers[which].quantifier.var;
            for (array, index) in self.quantifiers[which].reads.clone() {
                let Some(plus) = distance(terms, index, var) else { continue };
                for &(_, at) in found.iter().filter(|f| f.0 == array) {
                    let t = terms.sub(at, plus);
                    self.instance(terms, which, TermOrNumber::Term(t));
                }
            }
        }
    }

    /// How many values the variable of a quantifier has under the model, if it has to be true.
    pub fn range(&self, terms: &Terms, kept: &Kept, model: &Model) -> u64 {
        if terms.try_eval(kept.holds, model) != Some(1) {
            return 0;
        }
        terms.try_eval(kept.quantifier.count, model).unwrap_or(0).min(MAX_VALUES)
    }

    /// Adds violated instances; false if there are none.
    pub fn add_violated(&mut self, terms: &mut Terms, model: &Model) -> bool {
        let before = self.clauses.len();
        for which in 0..self.quantifiers.len() {
            let kept = &self.quantifiers[which];
            let violated: Vec<u64> = self.violated(terms, kept, model).take(MAX_INSTANCES).collect();
            for n in violated {
                self.instance(terms, which, TermOrNumber::Number(n));
            }
        }
        self.clauses.len() > before
    }

    /// Values for which the body of a quantifier is false.
    pub fn violated<'a>(&self, terms: &'a Terms, kept: &Kept, model: &Model) -> impl Iterator<Item = u64> + 'a {
        let Quantifier { var, body, .. } = kept.quantifier;
        let range = self.range(terms, kept, model);
        let key = Key::new(SymbolId(terms.node(var).a), 0);
        let mut inside = model.clone();
        (0..range).filter(move |n| {
            inside.set(key, *n);
            terms.try_eval(body, &inside) != Some(1)
        })
    }

    /// Instances that read one of the cells.
    pub fn instances_on(&self, terms: &mut Terms, model: &Model, cells: &FxHashSet<Key>) -> Vec<Clause> {
        let mut found = Vec::new();
        for kept in &self.quantifiers {
            let Quantifier { var, count, body } = kept.quantifier;
            for n in 0..self.range(terms, kept, model) {
                if !kept.cells(terms, model, n).any(|c| cells.contains(&c)) {
                    continue;
                }
                let number = terms.constant(terms.width(var), n);
                let inside = terms.ult(number, count);
                let given = terms.and(kept.holds, inside);
                let body = terms.instance(var, body, n);
                let term = terms.implies(given, body);
                // Quantifiers inside are left to the other stages.
                if !terms.has(term, facts::HAS_FORALL) {
                    found.push(Clause { term, origins: kept.origins.clone() });
                }
            }
        }
        found
    }

    /// Everything but the arrays that quantifiers read is as the model says; nothing if that is too much.
    pub fn fixed(&self, terms: &mut Terms, of: &[TermId], model: &Model, most: usize) -> Option<Vec<Clause>> {
        let arrays: FxHashSet<TermId> = self.quantifiers.iter().flat_map(|q| q.reads.iter().map(|r| r.0)).collect();
        let arrays: FxHashSet<SymbolId> = arrays.into_iter().map(|a| SymbolId(terms.node(a).a)).collect();
        let mut all = Vec::new();
        for key in evidence::support(terms, of) {
            let kind = terms.symbols.kind(key.symbol());
            if key.is_whole() || arrays.contains(&key.symbol()) {
                continue;
            }
            let (t, width) = match kind {
                SymbolKind::Bits(w) if is_scalar(kind) => (terms.var(key.symbol()), w),
                SymbolKind::Bits(_) => continue,
                SymbolKind::Array { element, .. } => {
                    let (a, i) = (terms.array_var(key.symbol()), terms.constant(32, u64::from(key.cell())));
                    (terms.read(a, i), element)
                }
            };
            let value = terms.constant(width, model.get(key));
            all.push(Clause { term: terms.eq(t, value), origins: Origins::new() });
        }
        (all.len() <= most).then_some(all)
    }
}

impl Kept {
    /// The cells that the instance for `n` reads under the model.
    pub fn cells<'a>(&'a self, terms: &'a Terms, model: &Model, n: u64) -> impl Iterator<Item = Key> + 'a {
        let mut inside = model.clone();
        inside.set(Key::new(SymbolId(terms.node(self.quantifier.var).a), 0), n);
        self.reads.iter().filter_map(move |&(a, index)| {
            let i = terms.try_eval(index, &inside)?;
            Some(Key::new(SymbolId(terms.node(a).a), i as u32))
        })
    }
}

enum TermOrNumber {
    Term(TermId),
    Number(u64),
}

/// `index - var`, if the variable is not in it.
fn distance(terms: &mut Terms, index: TermId, var: TermId) -> Option<TermId> {
    if terms.width(index) != terms.width(var) {
        return None;
    }
    let plus = terms.sub(index, var);
    let key = Key::new(SymbolId(terms.node(var).a), 0);
    (!terms.depends_on(plus, &[key])).then_some(plus)
}

/// How far a quantifier is written out whose range has no end that the constraints say.
const WITHOUT_END: u64 = 64;

/// The constraints with every quantifier written out. Where the constraints do not say where its range ends, that is
/// only a part of it: what is returned follows from the constraints, and may allow more. Nothing if that is not so.
pub(super) fn expanded(terms: &mut Terms, constraints: &[TermId], most: u64) -> Option<Vec<TermId>> {
    let mut arcs: FxHashMap<TermId, Arc> = FxHashMap::default();
    for &c in constraints {
        let Some((x, arc)) = Arc::of_unshifted(terms, c) else { continue };
        let before = arcs.entry(x).or_insert(arc);
        // `0 < x` and `x < 11`, both signed, are a range only together.
        match before.meet(arc, terms.width(x)) {
            Meet::Arc(common) => *before = common,
            // `x < 11` next to `x != 3`
            Meet::Disjoint if arc.more < before.more => *before = arc,
            Meet::Nothing | Meet::Disjoint => {}
        }
    }
    let lasts: FxHashMap<TermId, u64> = arcs.into_iter().map(|(x, a)| (x, a.first.saturating_add(a.more))).collect();
    let mut all = constraints.to_vec();
    loop {
        let quantifiers = terms.outer_quantifiers(&all);
        if quantifiers.is_empty() {
            all.retain(|c| *c != Terms::TRUE);
            all.sort_unstable();
            all.dedup();
            return (!all.is_empty()).then_some(all);
        }
        let mut map = FxHashMap::default();
        let parts: FxHashSet<TermId> = all.iter().flat_map(|c| terms.conjuncts(*c)).collect();
        for q in quantifiers {
            let count = terms.as_forall(q)?.count;
            let end = terms.as_const(count).or_else(|| lasts.get(&count).copied()).filter(|n| *n <= most);
            // SOUND: a conjunct is weaker if less of it is written out.
            let end = end.or_else(|| parts.contains(&q).then_some(WITHOUT_END))?;
            map.insert(q, terms.expanded(q, end));
        }
        all.iter_mut().for_each(|c| *c = terms.substitute(*c, &map));
    }
}
