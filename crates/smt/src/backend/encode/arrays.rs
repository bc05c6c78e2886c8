//! Reads.
//!
//! *Idea*: the encoding of a table lookup matters more than the solver behind it.
//! - A cell of an array variable at a constant index is a variable of its own.
//! - A read of a constant table, or of a variable of at most [`TREE_CELLS`] cells, at a symbolic index is a balanced
//!   tree of `ite`s over the bits of the index; equal halves are merged. With quantifiers it stays a read.
//! - Longer array variables become arrays of the library; cells made before that are tied to it by equalities.
//! - A read over stores is a chain of `ite`s on index equality. Over more than [`LONG_CHAIN`] stores that are not
//!   translated yet it becomes a library array with stores. A read of an `ite` of arrays is an `ite` of reads.
//!
//! Reads beyond the end of an array give 0, as in the evaluator.

use super::{Encoder, Engine, Fun, Made, Sort};
use crate::error::SmtError;
use pleach_expr::{INDEX_BITS, Key, Op, SymbolId, SymbolKind, TermId, Terms};
use rustc_hash::FxHashMap;

/// Array variables up to this length are read by trees over their cells.
pub const TREE_CELLS: u32 = 256;
/// Reads over more stores than this use the library's arrays.
pub const LONG_CHAIN: usize = 64;
/// Arrays chosen by `ite`s nested deeper than this are not taken.
const MAX_NESTED: usize = 1000;

pub(super) struct Arrays<T> {
    pub(super) cells: FxHashMap<Key, T>,
    /// array symbols that became arrays of the library
    pub(super) wholes: FxHashMap<SymbolId, T>,
    /// library arrays of stores and constant tables
    chains: FxHashMap<TermId, T>,
    /// (array, index) to the value read
    reads: FxHashMap<(TermId, TermId), T>,
    /// nodes made for trees
    made: usize,
}

impl<T> Default for Arrays<T> {
    fn default() -> Arrays<T> {
        Arrays {
            cells: FxHashMap::default(),
            wholes: FxHashMap::default(),
            chains: FxHashMap::default(),
            reads: FxHashMap::default(),
            made: 0,
        }
    }
}

impl<T> Arrays<T> {
    pub(super) fn size(&self) -> usize {
        self.cells.len() + self.reads.len() + self.chains.len() + self.made
    }
}

pub(super) fn array_kind(terms: &Terms, symbol: SymbolId) -> (u16, u32) {
    match terms.symbols.kind(symbol) {
        SymbolKind::Array { element, len } => (element, len),
        SymbolKind::Bits(w) => (w, 0),
    }
}

impl<E: Engine> Encoder<E> {
    /// `array[index]`, as bits.
    pub(super) fn read(&mut self, terms: &Terms, array: TermId, index: TermId) -> Made<E::Term> {
        self.read_nested(terms, array, index, 0)
    }

    fn read_nested(&mut self, terms: &Terms, array: TermId, index: TermId, depth: usize) -> Made<E::Term> {
        if depth > MAX_NESTED {
            return Err(SmtError::Unsupported("arrays in deeply nested choices".into()));
        }
        let mut stores = Vec::new();
        let mut at = array;
        let mut value = loop {
            if let Some(&known) = self.arrays.reads.get(&(at, index)) {
                break known;
            }
            let n = terms.node(at);
            match n.op {
                Op::Store => {
                    stores.push(at);
                    at = n.arg_a();
                }
                Op::ArrayVar => break self.read_var(terms, SymbolId(n.a), index)?,
                Op::ArrayConst => break self.read_table(terms, at, index)?,
                Op::Ite => {
                    let condition = self.truth(terms, n.arg_a())?;
                    let yes = self.read_nested(terms, n.arg_b(), index, depth + 1)?;
                    let no = self.read_nested(terms, n.arg_c(), index, depth + 1)?;
                    break self.engine.apply(Fun::Ite, &[condition, yes, no])?;
                }
                op => return Err(SmtError::Unsupported(format!("read of an array made by {op:?}"))),
            }
            if stores.len() > LONG_CHAIN && !self.quantified {
                return self.read_long(terms, array, index);
            }
        };
        self.arrays.reads.insert((at, index), value);
        for store in stores.into_iter().rev() {
            let n = terms.node(store);
            value = match (terms.as_const(n.arg_b()), terms.as_const(index)) {
                (Some(i), Some(j)) if i != j => value,
                (Some(_), Some(_)) => self.bits(terms, n.arg_c())?,
                _ => {
                    let i = self.bits(terms, n.arg_b())?;
                    let j = self.bits(terms, index)?;
                    let same = self.engine.apply(Fun::Equal, &[i, j])?;
                    let stored = self.bits(terms, n.arg_c())?;
                    self.engine.apply(Fun::Ite, &[same, stored, value])?
                }
            };
            self.arrays.reads.insert((store, index), value);
        }
        Ok(value)
    }

    fn read_var(&mut self, terms: &Terms, symbol: SymbolId, index: TermId) -> Made<E::Term> {
        let (element, len) = array_kind(terms, symbol);
        if let Some(i) = terms.as_const(index) {
            return if i < u64::from(len) {
                self.cell(Key::new(symbol, i as u32), element)
            } else {
                self.engine.bits(element, &[0])
            };
        }
        // A tree of choices has nothing that a solver could match a quantified index with.
        if len <= TREE_CELLS && !self.quantified {
            let cells = (0..len).map(|i| self.cell(Key::new(symbol, i), element)).collect::<Result<Vec<_>, _>>()?;
            return self.tree(terms, index, cells, element);
        }
        let whole = self.whole(terms, symbol)?;
        let i = self.bits(terms, index)?;
        let value = self.engine.apply(Fun::Select, &[whole, i])?;
        if len == SymbolKind::TOTAL {
            return Ok(value);
        }
        let end = self.index_bits(len.into())?;
        let inside = self.engine.apply(Fun::BvUlt, &[i, end])?;
        let zero = self.engine.bits(element, &[0])?;
        self.engine.apply(Fun::Ite, &[inside, value, zero])
    }

    fn read_table(&mut self, terms: &Terms, table: TermId, index: TermId) -> Made<E::Term> {
        let element = terms.width(table);
        if let Some(i) = terms.as_const(index) {
            let value = usize::try_from(i).ok().and_then(|i| terms.table(table).get(i).copied()).unwrap_or(0);
            return self.engine.bits(element, &[value]);
        }
        let mut known = FxHashMap::default();
        let mut leaves = Vec::with_capacity(terms.table(table).len());
        for &v in terms.table(table) {
            let leaf = match known.get(&v) {
                Some(&t) => t,
                None => {
                    let t = self.engine.bits(element, &[v])?;
                    known.insert(v, t);
                    t
                }
            };
            leaves.push(leaf);
        }
        self.tree(terms, index, leaves, element)
    }

    /// The solver variable that stands for one cell.
    fn cell(&mut self, key: Key, element: u16) -> Made<E::Term> {
        if let Some(&known) = self.arrays.cells.get(&key) {
            return Ok(known);
        }
        let cell = match self.arrays.wholes.get(&key.symbol()).copied() {
            Some(whole) => {
                let i = self.index_bits(key.cell().into())?;
                self.engine.apply(Fun::Select, &[whole, i])?
            }
            None => self.engine.fresh(Sort::Bits(element))?,
        };
        self.arrays.cells.insert(key, cell);
        Ok(cell)
    }

    /// `leaves[index]`, or 0 beyond them: one layer of `ite`s per bit of the index, lowest bit first.
    fn tree(&mut self, terms: &Terms, index: TermId, mut leaves: Vec<E::Term>, element: u16) -> Made<E::Term> {
        let zero = self.engine.bits(element, &[0])?;
        if leaves.is_empty() {
            return Ok(zero);
        }
        let i = self.bits(terms, index)?;
        let one = self.engine.bits(1, &[1])?;
        let mut bit = 0u16;
        while leaves.len() > 1 {
            let taken = self.engine.apply(Fun::Extract { high: bit, low: bit }, &[i])?;
            let taken = self.engine.apply(Fun::Equal, &[taken, one])?;
            let mut layer = Vec::with_capacity(leaves.len().div_ceil(2));
            for pair in leaves.chunks(2) {
                let high = pair.get(1).copied().unwrap_or(zero);
                if pair[0] == high {
                    layer.push(high);
                } else {
                    self.arrays.made += 1;
                    layer.push(self.engine.apply(Fun::Ite, &[taken, high, pair[0]])?);
                }
            }
            leaves = layer;
            bit += 1;
        }
        // A short index cannot lie beyond the tree.
        let n = terms.node(index);
        if n.op == Op::ZExt && terms.width(n.arg_a()) <= bit || bit >= INDEX_BITS {
            return Ok(leaves[0]);
        }
        let rest = self.engine.apply(Fun::Extract { high: INDEX_BITS - 1, low: bit }, &[i])?;
        let none = self.engine.bits(INDEX_BITS - bit, &[0])?;
        let inside = self.engine.apply(Fun::Equal, &[rest, none])?;
        self.engine.apply(Fun::Ite, &[inside, leaves[0], zero])
    }

    /// The library array of a symbol, with the cells known so far tied to it.
    fn whole(&mut self, terms: &Terms, symbol: SymbolId) -> Made<E::Term> {
        if let Some(&known) = self.arrays.wholes.get(&symbol) {
            return Ok(known);
        }
        let (element, len) = array_kind(terms, symbol);
        let whole = self.engine.fresh(Sort::Array { index: INDEX_BITS, element })?;
        let mut tied: Vec<_> =
            self.arrays.cells.iter().filter(|(k, _)| k.symbol() == symbol).map(|(k, c)| (*k, *c)).collect();
        tied.sort_unstable_by_key(|(k, _)| *k);
        if len <= TREE_CELLS {
            // trees read every cell, now or later
            for i in 0..len {
                let key = Key::new(symbol, i);
                if !self.arrays.cells.contains_key(&key) {
                    tied.push((key, self.cell(key, element)?));
                }
            }
        }
        for (key, cell) in tied {
            self.tie(whole, key.cell().into(), cell)?;
        }
        self.arrays.wholes.insert(symbol, whole);
        Ok(whole)
    }

    fn tie(&mut self, whole: E::Term, index: u64, value: E::Term) -> Made<()> {
        let i = self.index_bits(index)?;
        let read = self.engine.apply(Fun::Select, &[whole, i])?;
        let equal = self.engine.apply(Fun::Equal, &[read, value])?;
        self.engine.assert(equal)
    }

    /// The library array of an array term whose parts are translated.
    pub(super) fn array(&mut self, terms: &Terms, array: TermId) -> Made<E::Term> {
        let mut todo = vec![array];
        while let Some(&at) = todo.last() {
            if self.arrays.chains.contains_key(&at) {
                todo.pop();
                continue;
            }
            let n = terms.node(at);
            let below: &[TermId] = match n.op {
                Op::Store => &[n.arg_a()],
                Op::Ite => &[n.arg_b(), n.arg_c()],
                _ => &[],
            };
            let missing: Vec<TermId> = below.iter().copied().filter(|t| !self.arrays.chains.contains_key(t)).collect();
            if !missing.is_empty() {
                todo.extend(missing);
                continue;
            }
            let made = match n.op {
                Op::ArrayVar => {
                    let symbol = SymbolId(n.a);
                    if array_kind(terms, symbol).1 != SymbolKind::TOTAL {
                        return Err(SmtError::Unsupported("comparison of arrays that end".into()));
                    }
                    self.whole(terms, symbol)?
                }
                Op::Store => {
                    let (i, v) = (self.bits(terms, n.arg_b())?, self.bits(terms, n.arg_c())?);
                    self.engine.apply(Fun::Store, &[self.arrays.chains[&n.arg_a()], i, v])?
                }
                Op::Ite => {
                    let condition = self.truth(terms, n.arg_a())?;
                    let arms = [self.arrays.chains[&n.arg_b()], self.arrays.chains[&n.arg_c()]];
                    self.engine.apply(Fun::Ite, &[condition, arms[0], arms[1]])?
                }
                op => return Err(SmtError::Unsupported(format!("comparison of an array made by {op:?}"))),
            };
            self.arrays.chains.insert(at, made);
            todo.pop();
        }
        Ok(self.arrays.chains[&array])
    }

    /// A read over many stores: the library's arrays, with the one fact they do not know, that cells beyond the end are
    /// 0.
    fn read_long(&mut self, terms: &Terms, array: TermId, index: TermId) -> Made<E::Term> {
        let mut stores = Vec::new();
        let mut at = array;
        while terms.op(at) == Op::Store {
            stores.push(at);
            at = terms.node(at).arg_a();
        }
        let element = terms.width(at);
        let (base, len) = match terms.op(at) {
            Op::ArrayVar => {
                let symbol = SymbolId(terms.node(at).a);
                (self.whole(terms, symbol)?, u64::from(array_kind(terms, symbol).1))
            }
            Op::ArrayConst => (self.table_array(terms, at)?, terms.table(at).len() as u64),
            // INCOMPLETE: many stores over a choice between arrays
            op => return Err(SmtError::Unsupported(format!("read of an array made by {op:?}"))),
        };
        let mut chain = base;
        for store in stores.into_iter().rev() {
            chain = match self.arrays.chains.get(&store) {
                Some(&known) => known,
                None => {
                    let n = terms.node(store);
                    let i = self.bits(terms, n.arg_b())?;
                    let v = self.bits(terms, n.arg_c())?;
                    let made = self.engine.apply(Fun::Store, &[chain, i, v])?;
                    self.arrays.chains.insert(store, made);
                    made
                }
            };
        }
        let i = self.bits(terms, index)?;
        let end = self.index_bits(len)?;
        let inside = self.engine.apply(Fun::BvUlt, &[i, end])?;
        let below = self.engine.apply(Fun::Select, &[base, i])?;
        let zero = self.engine.bits(element, &[0])?;
        let nothing = self.engine.apply(Fun::Equal, &[below, zero])?;
        let fact = self.engine.apply(Fun::Or, &[inside, nothing])?;
        self.engine.assert(fact)?;
        let value = self.engine.apply(Fun::Select, &[chain, i])?;
        self.arrays.reads.insert((array, index), value);
        Ok(value)
    }

    /// A table as an array variable with one equality per element.
    fn table_array(&mut self, terms: &Terms, table: TermId) -> Made<E::Term> {
        if let Some(&known) = self.arrays.chains.get(&table) {
            return Ok(known);
        }
        let element = terms.width(table);
        let whole = self.engine.fresh(Sort::Array { index: INDEX_BITS, element })?;
        for (i, &v) in terms.table(table).iter().enumerate() {
            let value = self.engine.bits(element, &[v])?;
            self.tie(whole, i as u64, value)?;
        }
        self.arrays.chains.insert(table, whole);
        Ok(whole)
    }
}
