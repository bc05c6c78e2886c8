//! From our terms to a library's terms, remembered for the life of one solver instance.
//!
//! *Booleans*: our truth values are bit-vectors of width 1; a term is translated to the sort its operator yields, and
//! to the other one on demand (`b = 1`, `ite b 1 0`). Floats likewise: to a float, and to its bit pattern on demand.
//! *Arrays*: see [`arrays`]. *Depth*: the cone of a term is sorted by id (arguments have smaller ids), so nothing
//! recurses. *Invariant*: the terms asserted here define fresh variables or follow from the semantics of reads; they
//! exclude no assignment to the symbolic variables of the query.

mod arrays;
mod floats;
mod model;

use super::effort::Effort;
use super::{Engine, Fun, Sort};
use crate::error::SmtError;
use arrays::Arrays;
use pleach_expr::{INDEX_BITS, Node, Op, SymbolId, TermId, Terms, facts};
use rustc_hash::{FxHashMap, FxHashSet};

/// The translations of one term.
#[derive(Clone, Copy)]
struct Forms<T> {
    depth: u32,
    truth: Option<T>,
    bits: Option<T>,
    float: Option<T>,
}

impl<T> Default for Forms<T> {
    fn default() -> Forms<T> {
        Forms { depth: 0, truth: None, bits: None, float: None }
    }
}

pub struct Encoder<E: Engine> {
    pub engine: E,
    forms: FxHashMap<TermId, Forms<E::Term>>,
    vars: FxHashMap<SymbolId, E::Term>,
    arrays: Arrays<E::Term>,
    /// array terms whose parts are all translated, with their depths
    visited: FxHashMap<TermId, u32>,
    /// inside a quantified constraint: nothing may be asserted about its terms
    quantified: bool,
    /// of the query at hand
    pub effort: Effort,
    /// search steps that it may be worth
    pub allowed: Option<u64>,
}

type Made<T> = Result<T, SmtError>;

/// Is `t` an array rather than a bit-vector?
fn is_array(terms: &Terms, mut t: TermId) -> bool {
    while terms.op(t) == Op::Ite {
        t = terms.node(t).arg_b();
    }
    matches!(terms.op(t), Op::ArrayVar | Op::ArrayConst | Op::Store)
}

impl<E: Engine> Encoder<E> {
    pub fn new(engine: E) -> Encoder<E> {
        Encoder {
            engine,
            forms: FxHashMap::default(),
            vars: FxHashMap::default(),
            arrays: Arrays::default(),
            visited: FxHashMap::default(),
            quantified: false,
            effort: Effort::default(),
            allowed: None,
        }
    }

    /// How much this instance has taken in: terms, and cells and levels of reads.
    pub fn size(&self) -> usize {
        self.forms.len() + self.arrays.size()
    }

    /// The Boolean translation of a constraint.
    pub fn constraint(&mut self, terms: &Terms, t: TermId) -> Made<E::Term> {
        if let Some(Forms { truth: Some(done), .. }) = self.forms.get(&t) {
            return Ok(*done);
        }
        self.translate(terms, t)?;
        self.truth(terms, t)
    }

    /// A term of any width.
    pub fn any(&mut self, terms: &Terms, t: TermId) -> Made<E::Term> {
        self.translate(terms, t)?;
        self.bits(terms, t)
    }

    /// Everything below `t`.
    fn translate(&mut self, terms: &Terms, t: TermId) -> Made<()> {
        self.quantified = terms.has(t, facts::HAS_FORALL);
        let cone = self.cone(terms, t);
        cone.iter().for_each(|x| self.effort.add(terms, *x));
        if self.allowed.is_some_and(|n| self.effort.steps() > n) {
            return Err(SmtError::Large);
        }
        for x in cone {
            let depth = self.depth(terms, x);
            if depth > E::MAX_DEPTH {
                return Err(SmtError::Unsupported(format!("a term nested more than {} deep", E::MAX_DEPTH)));
            }
            if is_array(terms, x) {
                self.visited.insert(x, depth);
            } else {
                let forms = self.node(terms, x)?;
                self.forms.insert(x, Forms { depth, ..forms });
            }
        }
        Ok(())
    }

    /// What is not translated yet below `t`, arguments first.
    fn cone(&self, terms: &Terms, t: TermId) -> Vec<TermId> {
        let mut seen = FxHashSet::default();
        let mut todo = vec![t];
        let mut cone = Vec::new();
        while let Some(x) = todo.pop() {
            if self.forms.contains_key(&x) || self.visited.contains_key(&x) || !seen.insert(x) {
                continue;
            }
            cone.push(x);
            todo.extend(terms.args(x));
        }
        cone.sort_unstable();
        cone
    }

    fn depth(&self, terms: &Terms, t: TermId) -> u32 {
        let known = |t| self.forms.get(&t).map(|f| f.depth).or_else(|| self.visited.get(&t).copied()).unwrap_or(0);
        terms.args(t).into_iter().map(known).max().map_or(0, |d| d + 1)
    }

    fn forms(&self, t: TermId) -> Made<Forms<E::Term>> {
        self.forms.get(&t).copied().ok_or_else(|| SmtError::Bug(format!("term {} used before its translation", t.0)))
    }

    /// The Boolean form of a term of width 1.
    fn truth(&mut self, terms: &Terms, t: TermId) -> Made<E::Term> {
        let forms = self.forms(t)?;
        if let Some(done) = forms.truth {
            return Ok(done);
        }
        if terms.width(t) != 1 {
            return Err(SmtError::Bug(format!("term {} of width {} as a truth value", t.0, terms.width(t))));
        }
        let bits = self.bits(terms, t)?;
        let one = self.engine.bits(1, &[1])?;
        let made = self.engine.apply(Fun::Equal, &[bits, one])?;
        self.forms.entry(t).or_default().truth = Some(made);
        Ok(made)
    }

    /// The bit-vector form.
    fn bits(&mut self, terms: &Terms, t: TermId) -> Made<E::Term> {
        let forms = self.forms(t)?;
        let made = match forms {
            Forms { bits: Some(done), .. } => return Ok(done),
            Forms { truth: Some(truth), .. } => {
                let one = self.engine.bits(1, &[1])?;
                let zero = self.engine.bits(1, &[0])?;
                self.engine.apply(Fun::Ite, &[truth, one, zero])?
            }
            Forms { float: Some(float), .. } => self.pattern(terms.width(t), float)?,
            _ => return Err(SmtError::Bug(format!("term {} has no translation", t.0))),
        };
        self.forms.entry(t).or_default().bits = Some(made);
        Ok(made)
    }

    /// Translates one node whose arguments are translated.
    fn node(&mut self, terms: &Terms, t: TermId) -> Made<Forms<E::Term>> {
        let n = terms.node(t);
        let truth = |t| Forms { truth: Some(t), ..Forms::default() };
        let bits = |t| Forms { bits: Some(t), ..Forms::default() };
        Ok(match n.op {
            Op::Const if n.width == 1 => truth(self.engine.truth(n.value() == 1)?),
            Op::Const => bits(self.engine.bits(n.width, &[n.value()])?),
            Op::Wide => bits(self.engine.bits(n.width, terms.limbs(t))?),
            Op::Var => {
                let sort = if n.width == 1 { Sort::Bool } else { Sort::Bits(n.width) };
                let made = match self.vars.get(&SymbolId(n.a)) {
                    Some(&v) => v,
                    None => self.engine.fresh(sort)?,
                };
                self.vars.insert(SymbolId(n.a), made);
                if n.width == 1 { truth(made) } else { bits(made) }
            }
            Op::Base => return Err(SmtError::Bug("a base symbol reached the solver".into())),
            Op::Read => bits(self.read(terms, n.arg_a(), n.arg_b())?),
            Op::ArrayEq => {
                let (a, b) = (self.array(terms, n.arg_a())?, self.array(terms, n.arg_b())?);
                truth(self.engine.apply(Fun::Equal, &[a, b])?)
            }
            Op::Forall => {
                let var = terms.node(n.arg_a());
                let sort = if var.width == 1 { Sort::Bool } else { Sort::Bits(var.width) };
                let bound = self.vars.get(&SymbolId(var.a)).copied();
                let bound = bound.ok_or_else(|| SmtError::Bug("bound variable without translation".into()))?;
                let (i, count) = (self.bits(terms, n.arg_a())?, self.bits(terms, n.arg_b())?);
                let beyond = self.engine.apply(Fun::BvUle, &[count, i])?;
                let body = self.truth(terms, n.arg_c())?;
                let body = self.engine.apply(Fun::Or, &[beyond, body])?;
                truth(self.engine.forall(bound, sort, body)?)
            }
            op if is_float(op) => self.float_node(terms, &n)?,
            op => match boolean(op, n.width) {
                Some(_) if is_array(terms, n.arg_a()) => {
                    return Err(SmtError::Unsupported("comparison of arrays".into()));
                }
                Some(fun) => {
                    let mut args = smallvec::SmallVec::<[E::Term; 3]>::new();
                    let as_truth = compares_truths(terms, &n);
                    for x in terms.args(t) {
                        args.push(if as_truth { self.truth(terms, x)? } else { self.bits(terms, x)? });
                    }
                    truth(self.engine.apply(fun, &args)?)
                }
                None => bits(self.bit_vector(terms, &n)?),
            },
        })
    }

    fn bit_vector(&mut self, terms: &Terms, n: &Node) -> Made<E::Term> {
        let fun = match n.op {
            Op::Not => Fun::BvNot,
            Op::And => Fun::BvAnd,
            Op::Or => Fun::BvOr,
            Op::Xor => Fun::BvXor,
            Op::Neg => Fun::BvNeg,
            Op::Add => Fun::BvAdd,
            Op::Sub => Fun::BvSub,
            Op::Mul => Fun::BvMul,
            Op::UDiv => Fun::BvUdiv,
            Op::SDiv => Fun::BvSdiv,
            Op::URem => Fun::BvUrem,
            Op::SRem => Fun::BvSrem,
            Op::Shl => Fun::BvShl,
            Op::LShr => Fun::BvLshr,
            Op::AShr => Fun::BvAshr,
            Op::Concat => Fun::Concat,
            Op::Extract => Fun::Extract { high: n.b as u16 + n.width - 1, low: n.b as u16 },
            Op::ZExt => Fun::ZeroExtend(n.width - terms.width(n.arg_a())),
            Op::SExt => Fun::SignExtend(n.width - terms.width(n.arg_a())),
            Op::Ite => {
                let args = [self.truth(terms, n.arg_a())?, self.bits(terms, n.arg_b())?, self.bits(terms, n.arg_c())?];
                return self.engine.apply(Fun::Ite, &args);
            }
            op => return Err(SmtError::Unsupported(format!("operator {op:?} of width {}", n.width))),
        };
        let a = self.bits(terms, n.arg_a())?;
        if pleach_expr::term::arity(n.op) == 1 {
            return self.engine.apply(fun, &[a]);
        }
        let b = self.bits(terms, n.arg_b())?;
        self.engine.apply(fun, &[a, b])
    }

    fn index_bits(&mut self, value: u64) -> Made<E::Term> {
        self.engine.bits(INDEX_BITS, &[value])
    }
}

/// The function if the operator at this width yields a truth value.
fn boolean(op: Op, width: u16) -> Option<Fun> {
    Some(match op {
        Op::Eq => Fun::Equal,
        Op::Ult => Fun::BvUlt,
        Op::Ule => Fun::BvUle,
        Op::Slt => Fun::BvSlt,
        Op::Sle => Fun::BvSle,
        _ if width != 1 => return None,
        Op::Not => Fun::Not,
        Op::And => Fun::And,
        Op::Or => Fun::Or,
        Op::Xor => Fun::Xor,
        Op::Ite => Fun::Ite,
        _ => return None,
    })
}

/// Do the arguments of this Boolean operator come in as truth values?
fn compares_truths(terms: &Terms, n: &Node) -> bool {
    match n.op {
        Op::Eq => terms.width(n.arg_a()) == 1,
        Op::Ult | Op::Ule | Op::Slt | Op::Sle => false,
        _ => true,
    }
}

fn is_float(op: Op) -> bool {
    op as u8 >= Op::FAdd as u8
}

/// Little-endian limbs of a number in binary digits.
pub fn limbs_of_binary(digits: &[u8]) -> Vec<u64> {
    let mut limbs = vec![0u64; digits.len().div_ceil(64).max(1)];
    for (i, _) in digits.iter().rev().enumerate().filter(|(_, d)| **d == b'1') {
        limbs[i / 64] |= 1 << (i % 64);
    }
    limbs
}
