//! The normal form of models, and checking evidence.
//!
//! *Normal form*: a model of a query lists exactly the symbolic variables in the query's support: each variable (all
//! limbs of a wide one), each cell, and for a whole array every cell up to [`DENSE_CELLS`]; of longer arrays the cells
//! that matter. What is not listed is 0. So the models of queries without common symbolic variables can be joined by
//! listing both.

use crate::query::Query;
use pleach_expr::{Key, Model, Op, SymbolId, SymbolKind, TermId, Terms};

/// Whole arrays up to this length are listed cell by cell.
pub const DENSE_CELLS: u32 = 4096;

/// The symbolic variables of all constraints, sorted.
pub fn support(terms: &mut Terms, constraints: &[TermId]) -> Vec<Key> {
    let mut keys = Vec::new();
    for &c in constraints {
        keys.extend_from_slice(&terms.support(c));
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// How many 64-bit limbs a variable has.
pub fn limbs(terms: &Terms, key: Key) -> u32 {
    match terms.symbols.kind(key.symbol()) {
        SymbolKind::Bits(w) => u32::from(w).div_ceil(64).max(1),
        SymbolKind::Array { .. } => 1,
    }
}

fn array_len(terms: &Terms, key: Key) -> u32 {
    match terms.symbols.kind(key.symbol()) {
        SymbolKind::Array { len, .. } => len,
        SymbolKind::Bits(_) => 0,
    }
}

/// A cell beyond the end of its array: always 0, never listed.
fn out_of_range(terms: &Terms, key: Key) -> bool {
    match terms.symbols.kind(key.symbol()) {
        SymbolKind::Array { len, .. } => key.cell() >= len,
        SymbolKind::Bits(_) => false,
    }
}

/// `model` restricted to, and spelled out over, the symbolic variables `keys`.
pub fn project(terms: &Terms, keys: &[Key], model: &Model) -> Model {
    let mut out = Model::new();
    let mut entries = None;
    for &key in keys {
        if key.is_whole() {
            let len = array_len(terms, key);
            if len <= DENSE_CELLS {
                for i in 0..len {
                    let cell = Key::new(key.symbol(), i);
                    out.set(cell, model.get(cell));
                }
            } else {
                let all = entries.get_or_insert_with(|| model.entries());
                for &(k, v) in all.iter().filter(|(k, _)| k.symbol() == key.symbol()) {
                    out.set(k, v);
                }
            }
        } else if !out_of_range(terms, key) {
            for limb in 0..limbs(terms, key) {
                let k = Key::new(key.symbol(), key.cell() + limb);
                out.set(k, model.get(k));
            }
        }
    }
    out
}

/// `base` with the symbolic variables of `constraints` taken from `update`, a model of these constraints.
///
/// If `base` satisfies constraints that share no symbolic variable with `constraints`, the result satisfies both.
pub fn overlay(terms: &mut Terms, base: &Model, constraints: &[TermId], update: &Model) -> Model {
    let keys = support(terms, constraints);
    let mut out = base.clone();
    for key in keys.iter().filter(|k| k.is_whole()) {
        for (k, _) in base.entries().into_iter().filter(|(k, _)| k.symbol() == key.symbol()) {
            out.set(k, 0);
        }
    }
    for (k, v) in project(terms, &keys, update).entries() {
        out.set(k, v);
    }
    out
}

/// Does `model` make every constraint true? The newest constraint, which decides most often, comes first. Constraints
/// that cannot be evaluated (quantifiers) count as not satisfied.
#[inline]
pub fn satisfies(terms: &Terms, constraints: &[TermId], model: &Model) -> bool {
    constraints.iter().rev().all(|&c| terms.try_eval(c, model) == Some(1))
}

/// Does `model` make some constraint false?
pub fn violates(terms: &Terms, constraints: &[TermId], model: &Model) -> bool {
    constraints.iter().any(|&c| terms.try_eval(c, model) == Some(0))
}

/// Is every element of `core` a constraint of the query? Both are sorted.
pub fn is_subset(core: &[TermId], constraints: &[TermId]) -> bool {
    let mut rest = constraints.iter();
    core.iter().all(|c| rest.any(|x| x == c))
}

/// Does the model list what the normal form requires?
pub fn is_normal(terms: &mut Terms, query: &Query, model: &Model) -> bool {
    let keys = support(terms, query.constraints);
    project(terms, &keys, model) == *model
}

/// The symbolic variable of at most 64 bits that a term is.
pub fn variable(terms: &Terms, t: TermId) -> Option<Key> {
    let n = terms.node(t);
    match n.op {
        Op::Var if n.width <= 64 => Some(Key::new(SymbolId(n.a), 0)),
        Op::Read if terms.op(n.arg_a()) == Op::ArrayVar => {
            let symbol = SymbolId(terms.node(n.arg_a()).a);
            let cell = terms.as_const(n.arg_b())?;
            let SymbolKind::Array { len, .. } = terms.symbols.kind(symbol) else { return None };
            (cell < u64::from(len)).then(|| Key::new(symbol, cell as u32))
        }
        _ => None,
    }
}
