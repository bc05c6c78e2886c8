//! Reading a model: the values of exactly the symbolic variables that the query depends on.

use super::arrays::{TREE_CELLS, array_kind};
use super::{Encoder, Engine, Made};
use crate::evidence;
use pleach_expr::{Key, Model, Op, SymbolId, SymbolKind, TermId, Terms};
use rustc_hash::FxHashSet;

impl<E: Engine> Encoder<E> {
    /// After `Sat` for `constraints`; the model is in normal form.
    pub fn model(&mut self, terms: &mut Terms, constraints: &[TermId]) -> Made<Model> {
        let keys = evidence::support(terms, constraints);
        let mut model = Model::new();
        for &key in &keys {
            if key.is_whole() {
                self.whole_values(terms, constraints, key.symbol(), &mut model)?;
                continue;
            }
            let known = match terms.symbols.kind(key.symbol()) {
                SymbolKind::Bits(_) => self.vars.get(&key.symbol()).copied(),
                SymbolKind::Array { .. } => self.arrays.cells.get(&key).copied(),
            };
            let Some(known) = known else { continue };
            for (limb, value) in self.engine.value(known)?.into_iter().enumerate() {
                model.set(Key::new(key.symbol(), key.cell() + limb as u32), value);
            }
        }
        Ok(evidence::project(terms, &keys, &model))
    }

    fn whole_values(&mut self, terms: &Terms, constraints: &[TermId], symbol: SymbolId, model: &mut Model) -> Made<()> {
        let len = array_kind(terms, symbol).1;
        if len <= TREE_CELLS {
            for i in 0..len {
                let key = Key::new(symbol, i);
                if let Some(&cell) = self.arrays.cells.get(&key) {
                    model.set(key, self.engine.value(cell)?[0]);
                }
            }
            return Ok(());
        }
        for index in indices(terms, constraints, symbol) {
            if let Some(i) = terms.as_const(index)
                && let Some(&cell) = self.arrays.cells.get(&Key::new(symbol, i as u32))
            {
                model.set(Key::new(symbol, i as u32), self.engine.value(cell)?[0]);
                continue;
            }
            let Some(&whole) = self.arrays.wholes.get(&symbol) else { continue };
            let i = self.bits(terms, index)?;
            let at = self.engine.value(i)?[0];
            if at < u64::from(len) {
                let read = self.engine.apply(super::Fun::Select, &[whole, i])?;
                model.set(Key::new(symbol, at as u32), self.engine.value(read)?[0]);
            }
        }
        Ok(())
    }
}

/// The index terms of all reads that may reach the array variable `symbol`. Its other cells do not matter.
fn indices(terms: &Terms, constraints: &[TermId], symbol: SymbolId) -> Vec<TermId> {
    let mut seen = FxHashSet::default();
    let mut found = Vec::new();
    let mut compared = false;
    let mut todo = constraints.to_vec();
    while let Some(t) = todo.pop() {
        if !seen.insert(t) {
            continue;
        }
        let n = terms.node(t);
        if n.op == Op::Read && reaches(terms, n.arg_a(), symbol) {
            found.push(n.arg_b());
        }
        compared |= n.op == Op::ArrayEq;
        todo.extend(terms.args(t));
    }
    if compared {
        // A cell of one array may be the cell of another that is equal to it.
        let at = |t: &TermId| matches!(terms.op(*t), Op::Read | Op::Store).then(|| terms.node(*t).arg_b());
        found.extend(seen.iter().filter_map(at));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// May a read of `array` get to the array variable `symbol`?
fn reaches(terms: &Terms, array: TermId, symbol: SymbolId) -> bool {
    let mut todo = vec![array];
    while let Some(t) = todo.pop() {
        let n = terms.node(t);
        match n.op {
            Op::ArrayVar if n.a == symbol.0 => return true,
            Op::Store => todo.push(n.arg_a()),
            Op::Ite => todo.extend([n.arg_b(), n.arg_c()]),
            _ => {}
        }
    }
    false
}
