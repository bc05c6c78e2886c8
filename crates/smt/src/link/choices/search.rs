//! Searching through long conditions: propagation over `and`, `or` and choices, with what is left of each term.
//!
//! *Idea*: only what is asserted is looked into. An asserted disjunction or choice is an item with two ways; it is looked
//! at again when something that it depends on changes. The condition of a merged scan is one disjunction within the
//! other, so one item is active at a time, and the work is linear in the number of rounds. *Invariant*: every fact
//! follows from the constraints in its reasons and from the decisions above it. *Direction*: `Unsat` only if every case
//! is refuted; a model is a guess that the caller checks.

use pleach_expr::arc::{Arc, Meet};
use pleach_expr::{Op, TermId, Terms, facts, mask};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};

/// Constraints, by their place in the query; the last bit stands for all others.
pub(super) type Reasons = u64;

/// Terms of a comparison above its choice that are looked at.
const MAX_ABOVE: usize = 32;
/// How deep conditions are evaluated without being asserted.
const LOOK: u32 = 3;

/// A condition, and whether it holds.
type Literal = (TermId, bool);
/// What holds together.
type Way = SmallVec<[Literal; 2]>;

struct Item {
    ways: [Way; 2],
    reasons: Reasons,
    /// what it depends on
    watched: SmallVec<[TermId; 4]>,
    /// one way is asserted or holds
    done: bool,
    /// made by a decision that was taken back
    gone: bool,
}

enum Undo {
    Fact(TermId),
    Arc(TermId, Option<(Arc, Reasons)>),
    Done(usize),
    Made(usize),
    Closed(usize),
    Unwatched(TermId, usize),
}

struct Decision {
    item: usize,
    way: usize,
    mark: usize,
}

pub(super) enum SearchResult {
    /// what is left of terms
    Open(Vec<(TermId, Arc)>),
    Unsat(Reasons),
    GivenUp,
}

/// Why a search does not go on.
enum Stop {
    Conflict(Reasons),
    Effort,
}

pub(super) struct Search<'t> {
    terms: &'t mut Terms,
    arcs: FxHashMap<TermId, (Arc, Reasons)>,
    facts: FxHashMap<TermId, (bool, Reasons)>,
    items: Vec<Item>,
    /// items that may have to be decided, newest last
    open: Vec<usize>,
    watch: FxHashMap<TermId, Vec<usize>>,
    dirty: Vec<usize>,
    trail: Vec<Undo>,
    decisions: Vec<Decision>,
    effort: u32,
}

impl<'t> Search<'t> {
    pub fn new(terms: &'t mut Terms, effort: u32) -> Search<'t> {
        Search {
            terms,
            arcs: FxHashMap::default(),
            facts: FxHashMap::default(),
            items: Vec::new(),
            open: Vec::new(),
            watch: FxHashMap::default(),
            dirty: Vec::new(),
            trail: Vec::new(),
            decisions: Vec::new(),
            effort,
        }
    }

    pub fn run(&mut self, constraints: &[TermId]) -> SearchResult {
        let mut step = Ok(());
        for (i, &c) in constraints.iter().enumerate() {
            step = step.and_then(|()| self.assert((c, true), 1 << i.min(63)));
        }
        loop {
            match step.and_then(|()| self.propagate()) {
                Ok(()) => match self.undecided() {
                    Some(item) => step = self.decide(item),
                    None => return SearchResult::Open(self.left()),
                },
                Err(Stop::Effort) => return SearchResult::GivenUp,
                Err(Stop::Conflict(reasons)) => match self.decisions.pop() {
                    Some(refuted) => step = self.otherwise(&refuted, reasons),
                    None => return SearchResult::Unsat(reasons),
                },
            }
        }
    }

    /// What is left of terms, and of conditions.
    fn left(&self) -> Vec<(TermId, Arc)> {
        let arcs = self.arcs.iter().map(|(x, (arc, _))| (*x, *arc));
        arcs.chain(self.facts.iter().map(|(t, (v, _))| (*t, Arc { first: u64::from(*v), more: 0 }))).collect()
    }

    fn spend(&mut self) -> Result<(), Stop> {
        self.effort = self.effort.checked_sub(1).ok_or(Stop::Effort)?;
        Ok(())
    }

    fn log(&mut self, undo: Undo) {
        if !self.decisions.is_empty() {
            self.trail.push(undo);
        }
    }

    /// The newest item of which neither way is known to hold.
    fn undecided(&mut self) -> Option<usize> {
        while let Some(&i) = self.open.last() {
            if !self.items[i].done {
                return Some(i);
            }
            self.open.pop();
            self.log(Undo::Closed(i));
        }
        None
    }

    /// Tries the way that is the simpler one.
    fn decide(&mut self, item: usize) -> Result<(), Stop> {
        let connective = |way: &Way| way.iter().filter(|l| is_connective(self.terms, l.0)).count();
        let ways = &self.items[item].ways;
        let way = usize::from(connective(&ways[1]) < connective(&ways[0]));
        self.decisions.push(Decision { item, way, mark: self.trail.len() });
        self.take(item, way, self.items[item].reasons)
    }

    /// A decision is refuted: the other way holds.
    fn otherwise(&mut self, refuted: &Decision, reasons: Reasons) -> Result<(), Stop> {
        self.undo(refuted.mark);
        self.dirty.clear();
        let item = &self.items[refuted.item];
        let all = reasons | item.reasons;
        if let [(t, holds)] = item.ways[refuted.way][..] {
            self.assert((t, !holds), reasons)?;
        }
        self.take(refuted.item, 1 - refuted.way, all)
    }

    fn take(&mut self, item: usize, way: usize, reasons: Reasons) -> Result<(), Stop> {
        self.finish(item);
        let way = self.items[item].ways[way].clone();
        way.into_iter().try_for_each(|literal| self.assert(literal, reasons))
    }

    fn finish(&mut self, item: usize) {
        if !std::mem::replace(&mut self.items[item].done, true) {
            self.log(Undo::Done(item));
        }
    }

    fn undo(&mut self, mark: usize) {
        while self.trail.len() > mark {
            match self.trail.pop() {
                Some(Undo::Fact(t)) => {
                    self.facts.remove(&t);
                }
                Some(Undo::Arc(x, Some(before))) => {
                    self.arcs.insert(x, before);
                }
                Some(Undo::Arc(x, None)) => {
                    self.arcs.remove(&x);
                }
                Some(Undo::Done(i)) => self.items[i].done = false,
                Some(Undo::Made(i)) => {
                    self.items[i].gone = true;
                    self.open.pop();
                }
                Some(Undo::Closed(i)) => self.open.push(i),
                Some(Undo::Unwatched(x, i)) => self.watch.entry(x).or_default().push(i),
                None => {}
            }
        }
    }

    /// Takes a literal for true, with what follows from its connectives at once.
    fn assert(&mut self, literal: Literal, reasons: Reasons) -> Result<(), Stop> {
        let mut todo: SmallVec<[Literal; 8]> = smallvec![literal];
        while let Some((t, holds)) = todo.pop() {
            self.spend()?;
            let n = self.terms.node(t);
            match n.op {
                Op::Const if (n.value() == 1) == holds => continue,
                Op::Const => return Err(Stop::Conflict(reasons)),
                Op::Not => {
                    todo.push((n.arg_a(), !holds));
                    continue;
                }
                _ => {}
            }
            match self.facts.get(&t) {
                Some((known, _)) if *known == holds => continue,
                Some((_, why)) => return Err(Stop::Conflict(reasons | why)),
                None => {}
            }
            self.facts.insert(t, (holds, reasons));
            self.log(Undo::Fact(t));
            self.changed(t);
            let (a, b) = (n.arg_a(), n.arg_b());
            match (n.op, holds) {
                (Op::And, true) | (Op::Or, false) => todo.extend([(b, holds), (a, holds)]),
                (Op::And, false) | (Op::Or, true) => self.make([smallvec![(a, holds)], smallvec![(b, holds)]], reasons),
                (Op::Ite, _) => {
                    let ways = [smallvec![(a, true), (b, holds)], smallvec![(a, false), (n.arg_c(), holds)]];
                    self.make(ways, reasons);
                }
                (Op::Eq | Op::Xor, _) if self.terms.width(a) == 1 => {
                    let same = (n.op == Op::Eq) == holds;
                    self.make([smallvec![(a, true), (b, same)], smallvec![(a, false), (b, !same)]], reasons);
                }
                _ => self.compare(t, holds, reasons)?,
            }
        }
        Ok(())
    }

    /// A comparison: what is left of its term, and the cases of a choice in it.
    fn compare(&mut self, t: TermId, holds: bool, reasons: Reasons) -> Result<(), Stop> {
        if let Some((x, arc)) = arc_of(self.terms, t, holds) {
            let before = self.arcs.get(&x).copied();
            let (left, why) = before.unwrap_or((arc, 0));
            let common = match left.meet(arc, self.terms.width(x)) {
                Meet::Nothing => return Err(Stop::Conflict(reasons | why)),
                Meet::Arc(common) => common,
                // SOUND: two pieces are no arc; the one before contains them.
                Meet::Disjoint => left,
            };
            if before.is_none_or(|(left, _)| left != common) {
                self.arcs.insert(x, (common, reasons | why));
                self.log(Undo::Arc(x, before));
                self.changed(x);
            }
        }
        if let Some(choice) = choice_in(self.terms, t) {
            let n = self.terms.node(choice);
            let [yes, no] =
                [n.arg_b(), n.arg_c()].map(|arm| self.terms.substitute(t, &FxHashMap::from_iter([(choice, arm)])));
            let c = n.arg_a();
            self.make([smallvec![(c, true), (yes, holds)], smallvec![(c, false), (no, holds)]], reasons);
        }
        Ok(())
    }

    fn make(&mut self, ways: [Way; 2], reasons: Reasons) {
        let i = self.items.len();
        self.items.push(Item { ways, reasons, watched: SmallVec::new(), done: false, gone: false });
        self.open.push(i);
        self.log(Undo::Made(i));
        self.dirty.push(i);
    }

    /// Items that depend on it are looked at again.
    fn changed(&mut self, x: TermId) {
        let Some(mut watching) = self.watch.remove(&x) else { return };
        let (items, dirty, trail) = (&self.items, &mut self.dirty, &mut self.trail);
        let logged = !self.decisions.is_empty();
        watching.retain(|&i| {
            if items[i].gone {
                return false;
            }
            if items[i].done {
                if logged {
                    trail.push(Undo::Unwatched(x, i));
                }
                return false;
            }
            dirty.push(i);
            true
        });
        if !watching.is_empty() {
            self.watch.insert(x, watching);
        }
    }

    fn propagate(&mut self) -> Result<(), Stop> {
        while let Some(i) = self.dirty.pop() {
            if !self.items[i].done && !self.items[i].gone {
                self.examine(i)?;
            }
        }
        Ok(())
    }

    /// Does one of the ways follow?
    fn examine(&mut self, i: usize) -> Result<(), Stop> {
        let mut depends: SmallVec<[TermId; 8]> = SmallVec::new();
        let ways = self.items[i].ways.clone();
        let mut refuted: [Option<Reasons>; 2] = [None, None];
        for (way, refuted) in ways.iter().zip(&mut refuted) {
            let mut all = true;
            for &(t, holds) in way {
                match self.evaluate(t, LOOK, &mut depends)? {
                    Some((v, why)) if v != holds => {
                        *refuted = Some(why);
                        break;
                    }
                    Some(_) => {}
                    None => all = false,
                }
            }
            if all && refuted.is_none() {
                self.finish(i);
                return Ok(());
            }
        }
        let reasons = self.items[i].reasons;
        match refuted {
            [Some(a), Some(b)] => Err(Stop::Conflict(reasons | a | b)),
            [Some(why), None] => self.take(i, 1, reasons | why),
            [None, Some(why)] => self.take(i, 0, reasons | why),
            [None, None] => {
                for x in depends {
                    if !self.items[i].watched.contains(&x) {
                        self.items[i].watched.push(x);
                        self.watch.entry(x).or_default().push(i);
                    }
                }
                Ok(())
            }
        }
    }

    /// What is known of a condition, and why; and what that depends on.
    fn evaluate(
        &mut self,
        t: TermId,
        depth: u32,
        depends: &mut SmallVec<[TermId; 8]>,
    ) -> Result<Option<(bool, Reasons)>, Stop> {
        self.spend()?;
        let n = self.terms.node(t);
        if n.op == Op::Const {
            return Ok(Some((n.value() == 1, 0)));
        }
        if n.op == Op::Not {
            return Ok(self.evaluate(n.arg_a(), depth, depends)?.map(|(v, why)| (!v, why)));
        }
        if let Some(known) = self.facts.get(&t) {
            return Ok(Some(*known));
        }
        depends.push(t);
        if matches!(n.op, Op::And | Op::Or) && depth > 0 {
            let decisive = n.op == Op::Or;
            let a = self.evaluate(n.arg_a(), depth - 1, depends)?;
            if let Some((v, _)) = a
                && v == decisive
            {
                return Ok(a);
            }
            let b = self.evaluate(n.arg_b(), depth - 1, depends)?;
            return Ok(match (a, b) {
                (_, Some((v, _))) if v == decisive => b,
                (Some((_, why)), Some((_, too))) => Some((!decisive, why | too)),
                _ => None,
            });
        }
        let Some((x, arc)) = arc_of(self.terms, t, true) else { return Ok(None) };
        depends.push(x);
        let Some(&(left, why)) = self.arcs.get(&x) else { return Ok(None) };
        Ok(match left.meet(arc, self.terms.width(x)) {
            Meet::Nothing => Some((false, why)),
            Meet::Arc(common) if common == left => Some((true, why)),
            _ => None,
        })
    }
}

fn is_connective(terms: &Terms, t: TermId) -> bool {
    let t = if terms.op(t) == Op::Not { terms.node(t).arg_a() } else { t };
    matches!(terms.op(t), Op::And | Op::Or | Op::Ite | Op::Xor)
}

/// The comparison as `x ∈ arc`, or its negation.
fn arc_of(terms: &Terms, t: TermId, holds: bool) -> Option<(TermId, Arc)> {
    let (x, arc) = Arc::of_unshifted(terms, t)?;
    let all = mask(terms.width(x));
    match holds {
        true => Some((x, arc)),
        false if arc.more >= all => None,
        false => {
            let first = arc.first.wrapping_add(arc.more).wrapping_add(1) & all;
            Some((x, Arc { first, more: all - arc.more - 1 }))
        }
    }
}

/// A choice between numbers in a comparison: of several the one made last, which no other contains.
fn choice_in(terms: &Terms, t: TermId) -> Option<TermId> {
    // SOUND: what depends on a bound variable is not the same in all instances.
    if terms.has(t, facts::HAS_FORALL) {
        return None;
    }
    let (mut todo, mut seen) = (terms.args(t), FxHashSet::default());
    let mut found: Option<TermId> = None;
    while let Some(t) = todo.pop() {
        let n = terms.node(t);
        if terms.has(t, facts::IS_ARRAY) || seen.len() == MAX_ABOVE {
            continue;
        }
        if n.op == Op::Ite && n.width > 1 {
            found = found.max(Some(t));
        } else if seen.insert(t) {
            todo.extend(terms.args(t));
        }
    }
    found
}
