//! Which of Bitwuzla's kinds a function is.
#![allow(unsafe_code)]

use super::super::{Fun, Round};
use super::{Bitwuzla, ffi, some};
use crate::error::SmtError;
use ffi::Kind;

fn mode(round: Round) -> ffi::RoundingMode {
    match round {
        Round::NearestEven => ffi::RoundingMode::RNE,
        Round::NearestAway => ffi::RoundingMode::RNA,
        Round::Up => ffi::RoundingMode::RTP,
        Round::Down => ffi::RoundingMode::RTN,
        Round::ToZero => ffi::RoundingMode::RTZ,
    }
}

/// Kinds without index and rounding mode.
fn plain(fun: Fun) -> Option<Kind> {
    Some(match fun {
        Fun::Not => Kind::NOT,
        Fun::And => Kind::AND,
        Fun::Or => Kind::OR,
        Fun::Xor => Kind::XOR,
        Fun::Equal => Kind::EQUAL,
        Fun::Ite => Kind::ITE,
        Fun::BvNot => Kind::BV_NOT,
        Fun::BvNeg => Kind::BV_NEG,
        Fun::BvAnd => Kind::BV_AND,
        Fun::BvOr => Kind::BV_OR,
        Fun::BvXor => Kind::BV_XOR,
        Fun::BvAdd => Kind::BV_ADD,
        Fun::BvSub => Kind::BV_SUB,
        Fun::BvMul => Kind::BV_MUL,
        Fun::BvUdiv => Kind::BV_UDIV,
        Fun::BvSdiv => Kind::BV_SDIV,
        Fun::BvUrem => Kind::BV_UREM,
        Fun::BvSrem => Kind::BV_SREM,
        Fun::BvShl => Kind::BV_SHL,
        Fun::BvLshr => Kind::BV_SHR,
        Fun::BvAshr => Kind::BV_ASHR,
        Fun::BvUlt => Kind::BV_ULT,
        Fun::BvUle => Kind::BV_ULE,
        Fun::BvSlt => Kind::BV_SLT,
        Fun::BvSle => Kind::BV_SLE,
        Fun::Concat => Kind::BV_CONCAT,
        Fun::Select => Kind::ARRAY_SELECT,
        Fun::Store => Kind::ARRAY_STORE,
        Fun::FpEq => Kind::FP_EQUAL,
        Fun::FpLt => Kind::FP_LT,
        Fun::FpLe => Kind::FP_LEQ,
        Fun::FpIsNan => Kind::FP_IS_NAN,
        _ => return None,
    })
}

impl Bitwuzla {
    /// May be null, after a complaint.
    pub(super) fn make(&mut self, fun: Fun, args: &[ffi::Term]) -> Result<ffi::Term, SmtError> {
        let tm = self.manager;
        if let Some(kind) = plain(fun) {
            // SAFETY: all arguments are live terms of this manager.
            return Ok(unsafe { ffi::bitwuzla_mk_term(tm, kind, args.len() as u32, args.as_ptr()) });
        }
        let rounded = |kind: Kind, round: Round| -> Result<ffi::Term, SmtError> {
            // SAFETY: as above; the mode is a term of this manager too.
            unsafe {
                let mut all = vec![some(ffi::bitwuzla_mk_rm_value(tm, mode(round)), "rounding mode")?];
                all.extend_from_slice(args);
                Ok(ffi::bitwuzla_mk_term(tm, kind, all.len() as u32, all.as_ptr()))
            }
        };
        let indexed = |kind: Kind, index: &[u64]| -> ffi::Term {
            // SAFETY: as above.
            unsafe {
                match *index {
                    [i] => ffi::bitwuzla_mk_term1_indexed1(tm, kind, args[0], i),
                    [i, j] => ffi::bitwuzla_mk_term1_indexed2(tm, kind, args[0], i, j),
                    _ => std::ptr::null_mut(),
                }
            }
        };
        let both = |kind: Kind, round: Round, index: &[u64]| -> Result<ffi::Term, SmtError> {
            // SAFETY: as above.
            unsafe {
                let rm = some(ffi::bitwuzla_mk_rm_value(tm, mode(round)), "rounding mode")?;
                Ok(match *index {
                    [i] => ffi::bitwuzla_mk_term2_indexed1(tm, kind, rm, args[0], i),
                    [i, j] => ffi::bitwuzla_mk_term2_indexed2(tm, kind, rm, args[0], i, j),
                    _ => std::ptr::null_mut(),
                })
            }
        };
        match fun {
            Fun::Extract { high, low } => Ok(indexed(Kind::BV_EXTRACT, &[high.into(), low.into()])),
            Fun::ZeroExtend(n) => Ok(indexed(Kind::BV_ZERO_EXTEND, &[n.into()])),
            Fun::SignExtend(n) => Ok(indexed(Kind::BV_SIGN_EXTEND, &[n.into()])),
            Fun::FpFromBits(f) => Ok(indexed(Kind::FP_TO_FP_FROM_BV, &[f.exponent.into(), f.significand.into()])),
            Fun::FpAdd(r) => rounded(Kind::FP_ADD, r),
            Fun::FpSub(r) => rounded(Kind::FP_SUB, r),
            Fun::FpMul(r) => rounded(Kind::FP_MUL, r),
            Fun::FpDiv(r) => rounded(Kind::FP_DIV, r),
            Fun::FpFma(r) => rounded(Kind::FP_FMA, r),
            Fun::FpSqrt(r) => rounded(Kind::FP_SQRT, r),
            Fun::FpToIntegral(r) => rounded(Kind::FP_RTI, r),
            Fun::FpFromFp(r, f) => both(Kind::FP_TO_FP_FROM_FP, r, &[f.exponent.into(), f.significand.into()]),
            Fun::FpFromSigned(r, f) => both(Kind::FP_TO_FP_FROM_SBV, r, &[f.exponent.into(), f.significand.into()]),
            Fun::FpFromUnsigned(r, f) => both(Kind::FP_TO_FP_FROM_UBV, r, &[f.exponent.into(), f.significand.into()]),
            Fun::FpToSigned(r, w) => both(Kind::FP_TO_SBV, r, &[w.into()]),
            Fun::FpToUnsigned(r, w) => both(Kind::FP_TO_UBV, r, &[w.into()]),
            other => Err(SmtError::Unsupported(format!("bitwuzla: {other:?}"))),
        }
    }
}
