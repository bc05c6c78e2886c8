//! Scalar intrinsics on terms: overflow and saturating arithmetic, bit counting, minimum and maximum, and their
//! floating-point cousins.

use crate::float::float_scalar;
use crate::integer::{bin_term, overflow_term, signed_min};
use pleach_expr::{TermId, Terms};
use pleach_ir::{BinOp, ScalarFn, Ty};
use smallvec::{SmallVec, smallvec};

/// The results of a scalar intrinsic on values of type `ty`, `w` bits wide; `None` if it is not modelled.
pub fn scalar_terms(t: &mut Terms, op: ScalarFn, ty: Ty, w: u16, a: &[TermId]) -> Option<SmallVec<[TermId; 2]>> {
    use ScalarFn::*;
    if let Ty::Float(_) = ty {
        return float_scalar(t, op, w, a).map(|r| smallvec![r]);
    }
    let over = match op {
        SAddOverflow => Some((BinOp::Add, true)),
        UAddOverflow => Some((BinOp::Add, false)),
        SSubOverflow => Some((BinOp::Sub, true)),
        USubOverflow => Some((BinOp::Sub, false)),
        SMulOverflow => Some((BinOp::Mul, true)),
        UMulOverflow => Some((BinOp::Mul, false)),
        _ => None,
    };
    if let Some((bin, signed)) = over {
        let r = bin_term(t, bin, a[0], a[1]);
        let o = overflow_term(t, bin, signed, a[0], a[1]);
        return Some(smallvec![r, o]);
    }
    let r = match op {
        SMin | SMax | UMin | UMax => {
            let first = match op {
                SMin => t.slt(a[0], a[1]),
                SMax => t.slt(a[1], a[0]),
                UMin => t.ult(a[0], a[1]),
                _ => t.ult(a[1], a[0]),
            };
            t.ite(first, a[0], a[1])
        }
        Abs => {
            let zero = t.constant(w, 0);
            let neg = t.slt(a[0], zero);
            let minus = t.neg(a[0]);
            t.ite(neg, minus, a[0])
        }
        SAddSat | UAddSat | SSubSat | USubSat => {
            let bin = if matches!(op, SAddSat | UAddSat) { BinOp::Add } else { BinOp::Sub };
            let signed = matches!(op, SAddSat | SSubSat);
            let exact = bin_term(t, bin, a[0], a[1]);
            let o = overflow_term(t, bin, signed, a[0], a[1]);
            let zero = t.constant(w, 0);
            let ones = t.not(zero);
            let limit = if signed {
                // Overflow of a + b or a − b goes towards the sign of a.
                let min = signed_min(t, w);
                let max = t.not(min);
                let neg = t.slt(a[0], zero);
                t.ite(neg, min, max)
            } else if op == UAddSat {
                ones
            } else {
                zero
            };
            t.ite(o, limit, exact)
        }
        Ctpop => {
            let mut sum = t.constant(w, 0);
            for i in 0..w {
                let bit = t.extract(a[0], i, 1);
                let bit = t.zext(bit, w);
                sum = t.add(sum, bit);
            }
            sum
        }
        Ctlz | Cttz => {
            let mut r = t.constant(w, u64::from(w));
            // The bit looked at last wins: for leading zeros go upwards, for trailing downwards.
            for k in 0..w {
                let i = if op == Ctlz { k } else { w - 1 - k };
                let bit = t.extract(a[0], i, 1);
                let n = t.constant(w, u64::from(if op == Ctlz { w - 1 - i } else { i }));
                r = t.ite(bit, n, r);
            }
            r
        }
        Bswap => {
            let mut r: Option<TermId> = None;
            for i in 0..w / 8 {
                let b = t.extract(a[0], i * 8, 8);
                r = Some(match r {
                    None => b,
                    Some(high) => t.concat(high, b),
                });
            }
            r.unwrap_or(a[0])
        }
        Bitreverse => {
            let mut r: Option<TermId> = None;
            for i in 0..w {
                let b = t.extract(a[0], i, 1);
                r = Some(match r {
                    None => b,
                    Some(high) => t.concat(high, b),
                });
            }
            r.unwrap_or(a[0])
        }
        Fshl | Fshr => {
            let both = t.concat(a[0], a[1]);
            let width = t.constant(w, u64::from(w));
            let amount = t.urem(a[2], width);
            let amount = t.zext(amount, w * 2);
            if op == Fshl {
                let s = t.shl(both, amount);
                t.extract(s, w, w)
            } else {
                let s = t.lshr(both, amount);
                t.extract(s, 0, w)
            }
        }
        PtrMask => t.and(a[0], a[1]),
        _ => return None,
    };
    Some(smallvec![r])
}
