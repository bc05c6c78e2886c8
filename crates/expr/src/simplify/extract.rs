//! Extraction.

use crate::term::{Op, TermId, Terms, arity};

/// How many operators an extract may be pushed through at once.
const BUDGET: u32 = 12;

pub(crate) fn extract(terms: &mut Terms, t: TermId, lo: u16, width: u16) -> Option<TermId> {
    let n = terms.node(t);
    let x = n.arg_a();
    match n.op {
        // rule extract-extract: x[i..][j..] → x[i + j..]
        Op::Extract => Some(terms.extract(x, n.b as u16 + lo, width)),
        Op::Concat => Some(of_concat(terms, x, n.arg_b(), lo, width)),
        Op::ZExt => Some(of_zext(terms, x, lo, width)),
        Op::SExt => Some(of_sext(terms, x, lo, width)),
        // rule extract-ite: ite(c, k, l)[i..] → ite(c, k[i..], l[i..])
        Op::Ite if terms.is_constant(n.arg_b()) && terms.is_constant(n.arg_c()) => {
            let (k, l) = (terms.extract(n.arg_b(), lo, width), terms.extract(n.arg_c(), lo, width));
            Some(terms.ite(x, k, l))
        }
        Op::And | Op::Or | Op::Xor if terms.is_constant(n.arg_b()) => {
            let c = terms.extract(n.arg_b(), lo, width);
            // rule extract-masked: (x & k)[i..], bits of k there all 0 or all 1 → 0 or x[i..]; dually for | and ^
            if terms.is_zero(c) || terms.is_ones(c) || friendly(terms, x, lo, &mut BUDGET.clone()) {
                let x = terms.extract(x, lo, width);
                return Some(terms.rebuild(n, &[x, c]));
            }
            None
        }
        _ => pushed(terms, t, lo, width),
    }
}

fn of_concat(terms: &mut Terms, high: TermId, low: TermId, lo: u16, width: u16) -> TermId {
    let split = terms.width(low);
    // rule extract-concat-high: (x . y)[i..] above y → x[i..]
    if lo >= split {
        return terms.extract(high, lo - split, width);
    }
    // rule extract-concat-low: (x . y)[i..] within y → y[i..]
    if lo + width <= split {
        return terms.extract(low, lo, width);
    }
    // rule extract-concat-both: (x . y)[i..j] across → x[..j] . y[i..]
    let h = terms.extract(high, 0, lo + width - split);
    let l = terms.extract(low, lo, split - lo);
    terms.concat(h, l)
}

fn of_zext(terms: &mut Terms, x: TermId, lo: u16, width: u16) -> TermId {
    let inner = terms.width(x);
    // rule extract-zext-high: zext(x)[i..] above x → 0
    if lo >= inner {
        return terms.zero(width);
    }
    // rule extract-zext-low: zext(x)[i..] within x → x[i..]
    if lo + width <= inner {
        return terms.extract(x, lo, width);
    }
    // rule extract-zext-both: zext(x)[i..] across → zext(x[i..])
    let part = terms.extract(x, lo, inner - lo);
    terms.zext(part, width)
}

fn of_sext(terms: &mut Terms, x: TermId, lo: u16, width: u16) -> TermId {
    let inner = terms.width(x);
    // rule extract-sext-low: sext(x)[i..] within x → x[i..]
    if lo + width <= inner {
        return terms.extract(x, lo, width);
    }
    // rule extract-sext: sext(x)[i..] beyond x → sext(x[i..]), at least the sign bit
    let from = lo.min(inner - 1);
    let part = terms.extract(x, from, inner - from);
    terms.sext(part, width)
}

/// An extract of `t` costs no operator that was not there. Low bits of sums and products need only low bits.
fn friendly(terms: &Terms, t: TermId, lo: u16, budget: &mut u32) -> bool {
    if *budget == 0 {
        return false;
    }
    *budget -= 1;
    let n = terms.node(t);
    match n.op {
        Op::Const | Op::Wide | Op::ZExt | Op::SExt | Op::Extract | Op::Concat => true,
        Op::Not | Op::And | Op::Or | Op::Xor => terms.args(t).iter().all(|&a| friendly(terms, a, lo, budget)),
        Op::Neg | Op::Add | Op::Sub | Op::Mul if lo == 0 => {
            terms.args(t).iter().all(|&a| friendly(terms, a, lo, budget))
        }
        Op::Ite => friendly(terms, n.arg_b(), lo, budget) && friendly(terms, n.arg_c(), lo, budget),
        _ => false,
    }
}

/// rule extract-push: (x op y)[..j], op one of ~ & | ^ - + - * ite, arguments that narrow → x[..j] op y[..j]
fn pushed(terms: &mut Terms, t: TermId, lo: u16, width: u16) -> Option<TermId> {
    if !friendly(terms, t, lo, &mut BUDGET.clone()) {
        return None;
    }
    let n = terms.node(t);
    let first = usize::from(n.op == Op::Ite);
    let mut args = terms.args(t);
    for a in &mut args[first..arity(n.op)] {
        *a = terms.extract(*a, lo, width);
    }
    Some(terms.rebuild(n, &args))
}
