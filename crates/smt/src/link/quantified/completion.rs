//! Models of a query without its quantifiers, completed: copies of cells, and what they are in conflict with.

use super::is_scalar;
use super::problem::Problem;
use crate::answer::Answer;
use crate::evidence;
use crate::query::Query;
use pleach_expr::arc::Arc;
use pleach_expr::{Key, Model, Op, Quantifier, SymbolId, SymbolKind, TermId, Terms, facts, mask};
use rustc_hash::FxHashSet;

/// Terms of a constraint that a patch is tried for.
const MAX_PATCHED: usize = 64;
/// How often all constraints are looked at to make a model without quantified cells.
const EMPTIED_ROUNDS: usize = 3;
/// The same for a model that is put right.
const CONSTRUCTED_ROUNDS: usize = 5;

impl Problem {
    /// Copies the value of the first cell that a quantifier reads to the others in its range, but not to `conflicts`.
    pub fn duplicate(&self, terms: &Terms, model: &Model, conflicts: &FxHashSet<Key>) -> Model {
        let mut made = model.clone();
        for kept in &self.quantifiers {
            let range = self.range(terms, kept, model);
            if range < 2 {
                continue;
            }
            let first: Vec<Key> = kept.cells(terms, model, 0).collect();
            if first.len() != kept.reads.len() {
                continue;
            }
            let values: Vec<u64> = first.iter().map(|c| model.get(*c)).collect();
            for n in 1..range {
                for (cell, value) in kept.cells(terms, model, n).zip(&values) {
                    if !conflicts.contains(&cell) && is_inside(terms, cell) {
                        made.set(cell, *value);
                    }
                }
            }
        }
        made
    }

    /// The cells that violated instances and violated clauses read.
    pub fn conflicts(&self, terms: &Terms, model: &Model) -> FxHashSet<Key> {
        let mut all = FxHashSet::default();
        for kept in &self.quantifiers {
            let violated: Vec<u64> = self.violated(terms, kept, model).collect();
            all.extend(violated.into_iter().flat_map(|n| kept.cells(terms, model, n).collect::<Vec<Key>>()));
        }
        for clause in self.clauses.iter().filter(|c| evidence::violates(terms, &[c.term], model)) {
            for t in terms.reachable(&[clause.term]) {
                let n = terms.node(t);
                if n.op == Op::Read
                    && terms.op(n.arg_a()) == Op::ArrayVar
                    && let Some(i) = terms.try_eval(n.arg_b(), model)
                {
                    all.insert(Key::new(SymbolId(terms.node(n.arg_a()).a), i as u32));
                }
            }
        }
        all
    }
}

/// A model with one cell changed, if that satisfies the query: the cell that the only violated constraint reads.
pub(super) fn patched(terms: &mut Terms, query: &Query, model: &Model) -> Option<Answer> {
    let holds = |c: &&TermId| terms.try_eval(**c, model) != Some(1);
    let mut violated = query.constraints.iter().rev().filter(holds);
    let (&first, None) = (violated.next()?, violated.next()) else { return None };
    if terms.has(first, facts::HAS_FORALL) {
        return None;
    }
    changes(terms, model, first).into_iter().find_map(|changed| super::accepted(terms, query, &changed))
}

/// The model with one cell changed such that the condition, which has no quantifier, holds: all that there are.
fn changes(terms: &Terms, model: &Model, condition: TermId) -> Vec<Model> {
    let parts = terms.reachable(&[condition]);
    if parts.len() > MAX_PATCHED {
        return Vec::new();
    }
    let mut values: Vec<u64> = parts.iter().filter_map(|t| terms.as_const(*t)).flat_map(|v| [v, v ^ 1]).collect();
    values.push(1);
    let mut found = Vec::new();
    for &t in &parts {
        let n = terms.node(t);
        if n.op != Op::Read || terms.op(n.arg_a()) != Op::ArrayVar {
            continue;
        }
        let Some(i) = terms.try_eval(n.arg_b(), model) else { continue };
        let cell = Key::new(SymbolId(terms.node(n.arg_a()).a), i as u32);
        if !is_inside(terms, cell) {
            continue;
        }
        for &v in &values {
            let mut changed = model.clone();
            changed.set(cell, v & mask(n.width));
            if terms.try_eval(condition, &changed) == Some(1) {
                found.push(changed);
            }
        }
    }
    found
}

/// A model in which quantifiers are about nothing: their counts are 0, and the cells that other constraints read are
/// changed one after the other. A scan that comes after others then has the most room.
pub(super) fn emptied(terms: &mut Terms, query: &Query, model: &Model) -> Option<Answer> {
    let mut made = model.clone();
    for q in terms.outer_quantifiers(query.constraints) {
        let count = terms.as_forall(q)?.count;
        for &key in terms.support(count).iter() {
            if is_scalar(terms.symbols.kind(key.symbol())) {
                made.set(key, 0);
            }
        }
    }
    for _ in 0..EMPTIED_ROUNDS {
        let mut violated = false;
        for &c in query.constraints {
            if terms.try_eval(c, &made) == Some(1) {
                continue;
            }
            violated = true;
            if terms.has(c, facts::HAS_FORALL) {
                return None;
            }
            made = changes(terms, &made, c).into_iter().next()?;
        }
        if !violated {
            return super::accepted(terms, query, &made);
        }
    }
    None
}

/// A model that is put right where it violates something, one constraint after the other: a cell is changed, or a
/// number is moved to the end of the range that the constraint allows; a quantifier is put right for each value of its
/// variable. So another number of rounds takes the cells of these rounds along.
pub(super) fn constructed(terms: &mut Terms, query: &Query, model: &Model) -> Option<Answer> {
    let mut made = model.clone();
    for _ in 0..CONSTRUCTED_ROUNDS {
        let mut violated = false;
        for &c in query.constraints {
            if terms.try_eval(c, &made) == Some(1) {
                continue;
            }
            violated = true;
            put_right(terms, &mut made, c)?;
        }
        if !violated {
            return super::accepted(terms, query, &made);
        }
    }
    None
}

fn put_right(terms: &mut Terms, model: &mut Model, condition: TermId) -> Option<()> {
    let Some(Quantifier { var, count, body }) = terms.as_forall(condition) else {
        for part in terms.conjuncts(condition) {
            if terms.has(part, facts::HAS_FORALL) {
                return None;
            }
            if terms.try_eval(part, model) != Some(1) {
                *model = changes(terms, model, part).into_iter().next().or_else(|| moved(terms, model, part))?;
            }
        }
        return Some(());
    };
    let range = terms.try_eval(count, model).filter(|n| *n <= super::MAX_VALUES)?;
    for n in 0..range {
        let instance = terms.instance(var, body, n);
        if terms.try_eval(instance, model) != Some(1) {
            put_right(terms, model, instance)?;
        }
    }
    Some(())
}

/// The model with one number changed such that the condition holds, which bounds a sum.
fn moved(terms: &mut Terms, model: &Model, condition: TermId) -> Option<Model> {
    let (x, arc) = Arc::of_unshifted(terms, condition)?;
    let now = terms.try_eval(x, model)?;
    for &key in terms.support(x).iter() {
        let SymbolKind::Bits(width) = terms.symbols.kind(key.symbol()) else { continue };
        for end in [arc.first, arc.first.wrapping_add(arc.more)].into_iter().filter(|_| width <= 64) {
            let mut changed = model.clone();
            changed.set(key, model.get(key).wrapping_add(end.wrapping_sub(now)) & mask(width));
            if terms.try_eval(condition, &changed) == Some(1) {
                return Some(changed);
            }
        }
    }
    None
}

/// Cells beyond the end of an array are 0.
fn is_inside(terms: &Terms, cell: Key) -> bool {
    matches!(terms.symbols.kind(cell.symbol()), SymbolKind::Array { len, .. } if cell.cell() < len)
}
