//! Terms under many assignments at once: a column of values per operator.
//!
//! *Semantics*: [`crate::fold`], as in the evaluator; one loop per operator, so that the compiler makes vector
//! instructions of it. Not covered: parts wider than 64 bits, bases, quantifiers, arrays that are written or read at a
//! symbolic index (constant tables are).

use crate::fold::{self, Shape};
use crate::support::Key;
use crate::symbol::SymbolId;
use crate::term::{Node, Op, TermId, Terms, arity, facts};
use rustc_hash::FxHashMap;

type Column = Box<[u64]>;

struct Step {
    shape: Shape,
    args: [usize; 3],
    to: usize,
    /// a constant array that is read
    table: Option<TermId>,
}

/// Terms made ready to be evaluated on columns.
pub struct Lanes {
    steps: Vec<Step>,
    columns: Vec<Column>,
    /// assignments that are evaluated at a time
    len: usize,
    /// by root: its column, and how many steps it takes to get there
    roots: Vec<(usize, usize)>,
    done: usize,
    /// what one assignment costs, about, in simple operators
    weight: u64,
    /// has operators that are dear to solve: products, quotients, floats, large tables
    hard: bool,
}

struct Builder<'a> {
    terms: &'a Terms,
    keys: &'a [Key],
    at: FxHashMap<TermId, usize>,
    lanes: Lanes,
}

impl Lanes {
    /// The roots as functions of `keys`, which must be all their symbolic variables, for a fixed number of assignments
    /// at a time. `None` where an operator is not covered, or the weight is larger than that.
    pub fn new(terms: &Terms, roots: &[TermId], keys: &[Key], len: usize, max_weight: u64) -> Option<Lanes> {
        let columns = keys.iter().map(|_| vec![0; len].into()).collect();
        let lanes = Lanes { steps: Vec::new(), columns, len, roots: Vec::new(), done: 0, weight: 0, hard: false };
        let mut builder = Builder { terms, keys, at: FxHashMap::default(), lanes };
        for &root in roots {
            if terms.has(root, facts::HAS_WIDE | facts::HAS_FORALL | facts::HAS_BASE) {
                return None;
            }
            builder.add(root)?;
            if builder.lanes.weight > max_weight {
                return None;
            }
        }
        Some(builder.lanes)
    }

    pub fn weight(&self) -> u64 {
        self.weight
    }

    pub fn is_hard(&self) -> bool {
        self.hard
    }

    /// The column of a symbolic variable, to be filled before a round.
    pub fn key_mut(&mut self, key: usize) -> &mut [u64] {
        self.done = 0;
        &mut self.columns[key]
    }

    /// The values of a root for the assignments of this round; roots are read in order.
    pub fn root(&mut self, terms: &Terms, root: usize) -> Option<&[u64]> {
        let (at, end) = self.roots[root];
        for i in self.done..end {
            self.step(terms, i)?;
        }
        self.done = self.done.max(end);
        Some(&self.columns[at])
    }

    fn step(&mut self, terms: &Terms, i: usize) -> Option<()> {
        let Step { shape, args: [a, b, c], to, table } = self.steps[i];
        let mut out = std::mem::take(&mut self.columns[to]);
        let (a, b, c) = (&self.columns[a], &self.columns[b], &self.columns[c]);
        match table {
            Some(table) => {
                let table = terms.table(table);
                for (o, &i) in out.iter_mut().zip(a) {
                    *o = table.get(i as usize).copied().unwrap_or(0);
                }
            }
            None => apply(shape, &mut out, a, b, c)?,
        }
        self.columns[to] = out;
        Some(())
    }
}

/// One loop per operator; those that are not listed are looked up value by value.
fn apply(shape: Shape, out: &mut [u64], a: &[u64], b: &[u64], c: &[u64]) -> Option<()> {
    macro_rules! each {
        ($($op:ident)*) => {
            match shape.op {
                $(Op::$op => {
                    let shape = Shape { op: Op::$op, ..shape };
                    for (((o, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
                        *o = fold::narrow(shape, a, b, c)?;
                    }
                })*
                _ => {
                    for (((o, &a), &b), &c) in out.iter_mut().zip(a).zip(b).zip(c) {
                        *o = fold::narrow(shape, a, b, c)?;
                    }
                }
            }
        };
    }
    each!(Not And Or Xor Neg Add Sub Mul UDiv URem SDiv SRem Shl LShr AShr Eq Ult Ule Slt Sle Concat Extract ZExt SExt Ite);
    Some(())
}

/// What an operator costs against a simple one.
fn weight(op: Op) -> u64 {
    match op {
        Op::UDiv | Op::URem | Op::SDiv | Op::SRem => 8,
        op if op.is_float() => 16,
        _ => 1,
    }
}

/// A table that a solver has to make many terms of.
const LARGE_TABLE: usize = 256;

impl Builder<'_> {
    fn add(&mut self, root: TermId) -> Option<()> {
        for t in self.terms.reachable(&[root]) {
            let n = self.terms.node(t);
            if self.at.contains_key(&t) || matches!(n.op, Op::ArrayVar | Op::ArrayConst) {
                continue;
            }
            let at = match n.op {
                Op::Const => self.push(n.value()),
                Op::Var => self.key(SymbolId(n.a), 0)?,
                Op::Read => self.read(n)?,
                _ => self.operator(n)?,
            };
            self.at.insert(t, at);
        }
        let at = *self.at.get(&root)?;
        self.lanes.roots.push((at, self.lanes.steps.len()));
        Some(())
    }

    fn push(&mut self, value: u64) -> usize {
        self.lanes.columns.push(vec![value; self.lanes.len].into());
        self.lanes.columns.len() - 1
    }

    fn key(&self, symbol: SymbolId, cell: u32) -> Option<usize> {
        self.keys.iter().position(|k| *k == Key::new(symbol, cell))
    }

    fn read(&mut self, n: Node) -> Option<usize> {
        let array = self.terms.node(n.arg_a());
        match array.op {
            Op::ArrayVar => {
                let cell = self.terms.as_const(n.arg_b())?;
                self.key(SymbolId(array.a), u32::try_from(cell).ok()?)
            }
            Op::ArrayConst => {
                let index = *self.at.get(&n.arg_b())?;
                self.lanes.hard |= self.terms.table(n.arg_a()).len() > LARGE_TABLE;
                Some(self.step(n, [index, index, index], Some(n.arg_a())))
            }
            _ => None,
        }
    }

    fn operator(&mut self, n: Node) -> Option<usize> {
        let terms = [n.arg_a(), n.arg_b(), n.arg_c()];
        let count = arity(n.op);
        let mut args = [0; 3];
        for (i, slot) in args.iter_mut().enumerate() {
            // What an operator does not have is not looked at.
            *slot = *self.at.get(&terms[if i < count { i } else { 0 }])?;
        }
        let open = |t: TermId| self.terms.as_const(t).is_none();
        self.lanes.hard |= match n.op {
            Op::Mul => open(terms[0]) && open(terms[1]),
            Op::UDiv | Op::URem | Op::SDiv | Op::SRem => true,
            op => op.is_float(),
        };
        Some(self.step(n, args, None))
    }

    fn step(&mut self, n: Node, args: [usize; 3], table: Option<TermId>) -> usize {
        let to = self.push(0);
        self.lanes.weight += weight(n.op);
        self.lanes.steps.push(Step { shape: self.terms.operator_shape(n), args, to, table });
        to
    }
}
