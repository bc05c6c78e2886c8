//! The value of a term under a model.
//!
//! *Idea*: one explicit stack, one memo; of an `Ite` only the chosen arm is visited, and the memo lives in the model,
//! so a branch condition that grew by one operator since the last branch costs one operator. *Semantics*: SMT-LIB for
//! integers and arrays, [`crate::float`] for floats. Terms with a part wider than 64 bits take a slower path on limbs.

use crate::bits::{self, Limbs};
use crate::fold::{self, Shape};
use crate::model::{Memo, Model};
use crate::support::Key;
use crate::symbol::SymbolId;
use crate::term::{BaseId, Node, Op, TermId, Terms, arity, facts, mask};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

type Bases<'a> = &'a dyn Fn(BaseId) -> Option<u64>;

impl Terms {
    /// The value of `t` (at most 64 bits wide) under `model`.
    ///
    /// # Panics
    /// Engine bug: `t` has a base, a quantifier over a long range, or floats of a width the machine lacks. Use [`Terms::try_eval`] for
    /// terms that may have those.
    #[inline]
    pub fn eval(&self, t: TermId, model: &Model) -> u64 {
        match self.try_eval(t, model) {
            Some(v) => v,
            None => panic!("engine bug: evaluation of a term with a base, a quantifier or a foreign float"),
        }
    }

    /// An operator with arguments, without them.
    pub(crate) fn operator_shape(&self, n: Node) -> Shape {
        let b = if arity(n.op) >= 2 { self.width(n.arg_b()) } else { 0 };
        Shape { op: n.op, width: n.width, a: self.width(n.arg_a()), b, immediate: n.b }
    }

    /// As [`Terms::eval`], or `None` where the value cannot be computed.
    pub fn try_eval(&self, t: TermId, model: &Model) -> Option<u64> {
        let n = self.node(t);
        if n.op == Op::Const {
            return Some(n.value());
        }
        let memo = &mut *model.memo.borrow_mut();
        Evaluator::new(self, model, &|_| None).run(t, memo)
    }

    /// The value of `t` with the given addresses for its bases. `None` as in [`Terms::try_eval`].
    pub fn eval_with_bases(&self, t: TermId, model: &Model, bases: &dyn Fn(BaseId) -> u64) -> Option<u64> {
        if !self.has(t, facts::HAS_BASE) {
            return self.try_eval(t, model);
        }
        Evaluator::new(self, model, &|b| Some(bases(b))).run(t, &mut Memo::default())
    }

    /// The value of a term of any width, as little-endian limbs.
    ///
    /// # Panics
    /// As [`Terms::eval`].
    pub fn eval_wide(&self, t: TermId, model: &Model) -> Limbs {
        match self.try_eval_wide(t, model) {
            Some(v) => v,
            None => panic!("engine bug: evaluation of a term with a base, a quantifier or a foreign float"),
        }
    }

    /// As [`Terms::eval_wide`], or `None` where the value cannot be computed.
    pub fn try_eval_wide(&self, t: TermId, model: &Model) -> Option<Limbs> {
        if self.width(t) <= 64 {
            return self.try_eval(t, model).map(|v| bits::from_u64(v, self.width(t)));
        }
        let memo = &mut *model.memo.borrow_mut();
        Evaluator::new(self, model, &|_| None).run_wide(t, memo)
    }
}

struct Evaluator<'a> {
    terms: &'a Terms,
    model: &'a Model,
    bases: Bases<'a>,
    /// values of bound variables, inside quantifiers
    bound: SmallVec<[(u32, u64); 2]>,
}

/// A quantifier over more values has none, unless one of the first is a counterexample.
const MAX_RANGE: u64 = 1 << 16;

/// What a step of evaluation came to.
enum Step<V> {
    Value(V),
    /// arguments were pushed; come back when they are known
    Wait,
    /// the value cannot be computed
    Stuck,
}

impl<'a> Evaluator<'a> {
    fn new(terms: &'a Terms, model: &'a Model, bases: Bases<'a>) -> Evaluator<'a> {
        Evaluator { terms, model, bases, bound: SmallVec::new() }
    }

    fn run(&self, t: TermId, memo: &mut Memo) -> Option<u64> {
        if let Some(v) = self.known(t, &memo.values) {
            return Some(v);
        }
        if self.terms.has(t, facts::HAS_WIDE) {
            return self.run_wide(t, memo).map(|v| v[0]);
        }
        let Memo { values, stack } = memo;
        stack.clear();
        stack.push(t);
        while let Some(&x) = stack.last() {
            if values.contains_key(&x) {
                stack.pop();
                continue;
            }
            match self.step(x, values, stack) {
                Step::Value(v) => {
                    values.insert(x, v);
                    stack.pop();
                }
                Step::Wait => {}
                Step::Stuck => return None,
            }
        }
        values.get(&t).copied()
    }

    /// The value of a leaf, or a remembered one.
    #[inline]
    fn known(&self, t: TermId, values: &FxHashMap<TermId, u64>) -> Option<u64> {
        let n = self.terms.node(t);
        match n.op {
            Op::Const => Some(n.value()),
            Op::Var => Some(self.variable(n)),
            Op::Read => match self.constant_cell(n) {
                Some(v) => Some(v),
                None => values.get(&t).copied(),
            },
            _ => values.get(&t).copied(),
        }
    }

    #[inline]
    fn variable(&self, n: Node) -> u64 {
        match self.bound.iter().rev().find(|b| b.0 == n.a) {
            Some(b) => b.1,
            None => self.model.get(Key::new(SymbolId(n.a), 0)) & mask(n.width),
        }
    }

    /// The cell of an array variable at a constant index.
    #[inline]
    fn constant_cell(&self, n: Node) -> Option<u64> {
        let array = self.terms.node(n.arg_a());
        if array.op != Op::ArrayVar {
            return None;
        }
        let index = self.terms.as_const(n.arg_b())?;
        Some(self.model.get(Key::new(SymbolId(array.a), index as u32)) & mask(n.width))
    }

    fn step(&self, x: TermId, values: &FxHashMap<TermId, u64>, stack: &mut Vec<TermId>) -> Step<u64> {
        let n = self.terms.node(x);
        match n.op {
            Op::Base => match (self.bases)(BaseId(n.a)) {
                Some(v) => Step::Value(v & mask(n.width)),
                None => Step::Stuck,
            },
            Op::Ite => {
                let Some(c) = self.known(n.arg_a(), values) else {
                    stack.push(n.arg_a());
                    return Step::Wait;
                };
                let arm = if c != 0 { n.arg_b() } else { n.arg_c() };
                match self.known(arm, values) {
                    Some(v) => Step::Value(v),
                    None => {
                        stack.push(arm);
                        Step::Wait
                    }
                }
            }
            Op::And | Op::Or => {
                let Some(a) = self.known(n.arg_a(), values) else {
                    stack.push(n.arg_a());
                    return Step::Wait;
                };
                let absorbing = if n.op == Op::And { 0 } else { mask(n.width) };
                if a == absorbing {
                    return Step::Value(a);
                }
                match self.known(n.arg_b(), values) {
                    Some(b) => Step::Value(if n.op == Op::And { a & b } else { a | b }),
                    None => {
                        stack.push(n.arg_b());
                        Step::Wait
                    }
                }
            }
            Op::Read => {
                let Some(index) = self.known(n.arg_b(), values) else {
                    stack.push(n.arg_b());
                    return Step::Wait;
                };
                match self.cell(n.arg_a(), index, stack, |t| self.known(t, values)) {
                    Cell::Value(v) => Step::Value(v),
                    Cell::Term(t) => match self.known(t, values) {
                        Some(v) => Step::Value(v),
                        None => {
                            stack.push(t);
                            Step::Wait
                        }
                    },
                    Cell::Wait => Step::Wait,
                }
            }
            Op::ArrayEq => self.array_eq(n, values, stack),
            Op::Forall => match self.known(n.arg_b(), values) {
                Some(count) => self.forall(n, count, values),
                None => {
                    stack.push(n.arg_b());
                    Step::Wait
                }
            },
            _ => {
                let mut v = [0u64; 3];
                let depth = stack.len();
                for (slot, t) in v.iter_mut().zip([n.arg_a(), n.arg_b(), n.arg_c()]).take(arity(n.op)) {
                    match self.known(t, values) {
                        Some(x) => *slot = x,
                        None => stack.push(t),
                    }
                }
                if stack.len() > depth {
                    return Step::Wait;
                }
                match fold::narrow(self.terms.operator_shape(n), v[0], v[1], v[2]) {
                    Some(v) => Step::Value(v),
                    None => Step::Stuck,
                }
            }
        }
    }

    /// The body for each value of the variable. What does not depend on the variable is computed once.
    fn forall(&self, n: Node, count: u64, values: &FxHashMap<TermId, u64>) -> Step<u64> {
        let (var, body) = (self.terms.node(n.arg_a()), n.arg_c());
        let mut memo = Memo::default();
        let varying = self.varying(n.arg_a(), body, values, &mut memo.values);
        let mut inside =
            Evaluator { terms: self.terms, model: self.model, bases: self.bases, bound: self.bound.clone() };
        inside.bound.push((var.a, 0));
        for i in 0..count.min(MAX_RANGE) {
            if let Some(last) = inside.bound.last_mut() {
                last.1 = i;
            }
            match inside.run(body, &mut memo) {
                Some(0) => return Step::Value(0),
                Some(_) => memo.values.retain(|t, _| !varying.contains(t)),
                None => return Step::Stuck,
            }
        }
        if count > MAX_RANGE { Step::Stuck } else { Step::Value(1) }
    }

    /// The terms of the body that contain the variable. Of those that do not, what is known is noted.
    fn varying(
        &self,
        var: TermId,
        body: TermId,
        values: &FxHashMap<TermId, u64>,
        known: &mut FxHashMap<TermId, u64>,
    ) -> FxHashSet<TermId> {
        let mut varying = FxHashSet::from_iter([var]);
        for t in self.terms.reachable(&[body]) {
            if self.terms.args(t).iter().any(|a| varying.contains(a)) {
                varying.insert(t);
            } else if let Some(&v) = values.get(&t) {
                known.insert(t, v);
            }
        }
        varying
    }

    /// Arrays are equal if they agree in the cells that a store or the model lists: all others are 0.
    fn array_eq(&self, n: Node, values: &FxHashMap<TermId, u64>, stack: &mut Vec<TermId>) -> Step<u64> {
        let known = |t: TermId| self.known(t, values);
        let mut indices = std::collections::BTreeSet::new();
        let depth = stack.len();
        let mut todo = vec![n.arg_a(), n.arg_b()];
        while let Some(array) = todo.pop() {
            let n = self.terms.node(array);
            match n.op {
                Op::Store => {
                    match known(n.arg_b()) {
                        Some(i) => drop(indices.insert(i)),
                        None => stack.push(n.arg_b()),
                    }
                    todo.push(n.arg_a());
                }
                Op::Ite => match known(n.arg_a()) {
                    Some(c) => todo.push(if c != 0 { n.arg_b() } else { n.arg_c() }),
                    None => stack.push(n.arg_a()),
                },
                Op::ArrayConst => indices.extend(0..self.terms.table(array).len() as u64),
                _ => {
                    let own = self.model.entries().into_iter().filter(|(k, _)| k.symbol() == SymbolId(n.a));
                    indices.extend(own.map(|(k, _)| u64::from(k.cell())));
                }
            }
        }
        if stack.len() > depth {
            return Step::Wait;
        }
        for i in indices {
            let mut at = |array| match self.cell(array, i, stack, known) {
                Cell::Value(v) => Some(v),
                Cell::Term(t) => known(t).or_else(|| {
                    stack.push(t);
                    None
                }),
                Cell::Wait => None,
            };
            match (at(n.arg_a()), at(n.arg_b())) {
                (Some(a), Some(b)) if a == b => {}
                (Some(_), Some(_)) => return Step::Value(0),
                _ => return Step::Wait,
            }
        }
        Step::Value(1)
    }

    /// What stands at `index` of an array: the store that wrote it, or the cell of the array below all stores.
    fn cell(
        &self,
        mut array: TermId,
        index: u64,
        stack: &mut Vec<TermId>,
        known: impl Fn(TermId) -> Option<u64>,
    ) -> Cell {
        let depth = stack.len();
        loop {
            let n = self.terms.node(array);
            match n.op {
                Op::Store => {
                    match known(n.arg_b()) {
                        Some(i) if i == index && stack.len() == depth => return Cell::Term(n.arg_c()),
                        Some(i) if i == index => return Cell::Wait,
                        Some(_) => {}
                        // All pending indices of the chain are requested at once: a long chain is walked twice, not n
                        // times.
                        None => stack.push(n.arg_b()),
                    }
                    array = n.arg_a();
                }
                Op::Ite => match known(n.arg_a()) {
                    Some(c) => array = if c != 0 { n.arg_b() } else { n.arg_c() },
                    None => {
                        stack.push(n.arg_a());
                        return Cell::Wait;
                    }
                },
                _ if stack.len() > depth => return Cell::Wait,
                Op::ArrayConst => {
                    return Cell::Value(self.terms.table(array).get(index as usize).copied().unwrap_or(0));
                }
                _ => return Cell::Value(self.model.get(Key::new(SymbolId(n.a), index as u32)) & mask(n.width)),
            }
        }
    }

    /// Any width. Parts without a wide term are left to [`Evaluator::run`]; values of at most 64 bits are remembered.
    fn run_wide(&self, t: TermId, memo: &mut Memo) -> Option<Limbs> {
        let mut values: FxHashMap<TermId, Limbs> = FxHashMap::default();
        let mut stack = vec![t];
        while let Some(&x) = stack.last() {
            if values.contains_key(&x) {
                stack.pop();
                continue;
            }
            let width = self.terms.width(x);
            let remembered = if self.terms.has(x, facts::HAS_WIDE) {
                memo.values.get(&x).copied()
            } else {
                Some(self.run(x, memo)?)
            };
            if let Some(v) = remembered {
                values.insert(x, bits::from_u64(v, width));
                stack.pop();
                continue;
            }
            match self.step_wide(x, &values, &mut stack) {
                Step::Value(v) => {
                    if width <= 64 {
                        memo.values.insert(x, v[0]);
                    }
                    values.insert(x, v);
                    stack.pop();
                }
                Step::Wait => {}
                Step::Stuck => return None,
            }
        }
        values.remove(&t)
    }

    fn step_wide(&self, x: TermId, values: &FxHashMap<TermId, Limbs>, stack: &mut Vec<TermId>) -> Step<Limbs> {
        let n = self.terms.node(x);
        let small = |v: u64| Step::Value(bits::from_u64(v, n.width));
        let known = |t: TermId| values.get(&t).map(|v| v[0]);
        let arguments: &[TermId] = match n.op {
            Op::Const => return small(n.value()),
            Op::Wide => return Step::Value(Limbs::from_slice(self.terms.limbs(x))),
            Op::Var if self.bound.iter().any(|b| b.0 == n.a) => return small(self.variable(n)),
            Op::Var => {
                let limbs: Limbs =
                    (0..bits::limb_count(n.width)).map(|i| self.model.get(Key::new(SymbolId(n.a), i as u32))).collect();
                return Step::Value(bits::resize(&limbs, n.width));
            }
            Op::Base => return (self.bases)(BaseId(n.a)).map_or(Step::Stuck, small),
            Op::ArrayEq => return Step::Stuck,
            Op::Read | Op::Forall => &[n.arg_b()],
            Op::Ite => {
                let next = match known(n.arg_a()) {
                    None => n.arg_a(),
                    Some(0) => n.arg_c(),
                    Some(_) => n.arg_b(),
                };
                // a known condition and a known arm: done; else the condition or the arm is what is missing
                return match values.get(&next) {
                    Some(v) => Step::Value(v.clone()),
                    None => {
                        stack.push(next);
                        Step::Wait
                    }
                };
            }
            op => &[n.arg_a(), n.arg_b(), n.arg_c()][..arity(op)],
        };
        let depth = stack.len();
        stack.extend(arguments.iter().filter(|t| !values.contains_key(t)));
        if stack.len() > depth {
            return Step::Wait;
        }
        match n.op {
            Op::Forall => match self.forall(n, values[&n.arg_b()][0], &FxHashMap::default()) {
                Step::Value(v) => small(v),
                Step::Wait | Step::Stuck => Step::Stuck,
            },
            Op::Read => match self.cell(n.arg_a(), values[&n.arg_b()][0], stack, known) {
                Cell::Value(v) => small(v),
                Cell::Term(t) => match values.get(&t) {
                    Some(v) => Step::Value(v.clone()),
                    None => {
                        stack.push(t);
                        Step::Wait
                    }
                },
                Cell::Wait => Step::Wait,
            },
            op => {
                let empty = Limbs::new();
                let at = |i: usize, t: TermId| if i < arity(op) { &values[&t] } else { &empty };
                let (a, b, c) = (at(0, n.arg_a()), at(1, n.arg_b()), at(2, n.arg_c()));
                fold::wide(self.terms.operator_shape(n), a, b, c).map_or(Step::Stuck, Step::Value)
            }
        }
    }
}

/// Where a read of an array ends.
enum Cell {
    Value(u64),
    Term(TermId),
    Wait,
}
