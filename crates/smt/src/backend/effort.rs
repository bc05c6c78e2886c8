//! About what a library does with a term before it searches: gates of the circuit that it makes of it, and sums that it
//! puts in order.
//!
//! *Idea*: rewriting and bit-blasting are not polled, so that a budget of search steps does not end them. They are counted before the query is
//! handed over, from the terms alone: the same in every run. Up to [`FREE`] gates cost nothing, which is what most
//! queries need; beyond, a query that needs more than its budget is not handed over. *Direction*: an estimate; it
//! decides when a query is asked, never what the answer is.

use pleach_expr::{Node, Op, TermId, Terms};

/// A query with fewer new gates is handed over whatever its budget: about a tenth of a second.
const FREE: u64 = 100_000;
/// Measured: a gate takes one to three microseconds to make and to encode, a step about 40 of search.
const PER_STEP: u64 = 20;

/// What the terms of one query that are new to an instance cost.
#[derive(Clone, Copy, Default)]
pub struct Effort {
    gates: u64,
    sums: u64,
}

impl Effort {
    pub fn add(&mut self, terms: &Terms, t: TermId) {
        let n = terms.node(t);
        self.gates = self.gates.saturating_add(gates(terms, &n));
        self.sums += u64::from(matches!(n.op, Op::Add | Op::Sub | Op::Mul));
    }

    /// In search steps.
    pub fn steps(self) -> u64 {
        // Bitwuzla brings sums into a normal form, each with all that are above it.
        let all = self.gates.saturating_add(self.sums.saturating_mul(self.sums) / 8);
        all.saturating_sub(FREE) / PER_STEP
    }
}

fn gates(terms: &Terms, n: &Node) -> u64 {
    let w = u64::from(n.width);
    let of = |t: TermId| u64::from(terms.width(t));
    let constant = |t: TermId| terms.as_const(t);
    match n.op {
        Op::Const | Op::Wide | Op::Var | Op::Base | Op::Concat | Op::Extract | Op::ZExt | Op::SExt | Op::Not => 0,
        Op::ArrayVar | Op::ArrayConst | Op::Store | Op::ArrayEq | Op::Forall | Op::And | Op::Or => w,
        Op::Xor | Op::Ite => 3 * w,
        Op::Eq => 4 * of(n.arg_a()),
        Op::Ult | Op::Ule | Op::Slt | Op::Sle => 6 * of(n.arg_a()),
        Op::Neg | Op::Add | Op::Sub => 7 * w,
        Op::Mul => match constant(n.arg_a()).or(constant(n.arg_b())) {
            Some(k) => 7 * w * u64::from(k.count_ones()),
            None => 7 * w * w,
        },
        Op::UDiv | Op::URem | Op::SDiv | Op::SRem => 10 * w * w,
        Op::Shl | Op::LShr | Op::AShr if constant(n.arg_b()).is_some() => 0,
        Op::Shl | Op::LShr | Op::AShr => 3 * w * u64::from(w.ilog2() + 1),
        // A tree over the index, or a comparison for each store.
        Op::Read => 64 * w,
        // Shifts to align, an operation of the significands, rounding.
        Op::FMul | Op::FFma | Op::FDiv | Op::FSqrt | Op::FRem => 12 * of(n.arg_a()) * of(n.arg_a()),
        _ => 64 * w.max(8),
    }
}
